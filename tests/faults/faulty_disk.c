/*
 * A disk that fails on purpose. Preload it (LD_PRELOAD) into a process and call faulty_disk_arm(): from then on every
 * call that changes a file whose path begins with the given prefix is counted, and at the chosen one the process dies,
 * or the call fails. With a log, every change is also written down, so that a test can work out what a power cut would
 * have left behind.
 *
 * Only calls on the prefix are touched; everything else goes straight through.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* The kinds of change, as bits: which ones are counted is the caller's choice. The Python side names them alike. */
enum kind { CREATE = 1, WRITE = 2, SYNC = 4, TRUNCATE = 8, UNLINK = 16, RENAME = 32, MARK = 64 };

/* What happens at the chosen call. */
enum how { NOTHING = 0, DIE_BEFORE = 1, DIE_AFTER = 2, DIE_HALFWAY = 3, FAIL_ONCE = 4, FAIL_FROM_HERE = 5, FAIL_HALFWAY = 6 };

static char prefix[PATH_MAX];
static size_t prefix_length; /* 0: not armed */
static int counted_kinds, chosen_how, chosen_errno, log_fd = -1;
static long chosen_call;
static atomic_long calls;

static int (*real_open64)(const char *, int, ...);
static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite64)(int, const void *, size_t, off64_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_ftruncate64)(int, off64_t);
static int (*real_unlink)(const char *);
static int (*real_rename)(const char *, const char *);

__attribute__((constructor)) static void find_the_real_ones(void)
{
    real_open64 = dlsym(RTLD_NEXT, "open64");
    real_write = dlsym(RTLD_NEXT, "write");
    real_pwrite64 = dlsym(RTLD_NEXT, "pwrite64");
    real_fsync = dlsym(RTLD_NEXT, "fsync");
    real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
    real_ftruncate64 = dlsym(RTLD_NEXT, "ftruncate64");
    real_unlink = dlsym(RTLD_NEXT, "unlink");
    real_rename = dlsym(RTLD_NEXT, "rename");
}

/* ── what the tests call ─────────────────────────────────────────────────────────────────────────────────────────── */

/* Begin: count calls of these kinds on paths with this prefix, and let `how` happen at call number `call` (from 1). */
void faulty_disk_arm(const char *path_prefix, int kinds, int how, long call, int error, const char *log_path)
{
    snprintf(prefix, sizeof prefix, "%s", path_prefix);
    counted_kinds = kinds;
    chosen_how = how;
    chosen_call = call;
    chosen_errno = error;
    atomic_store(&calls, 0);
    log_fd = log_path ? real_open64(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    prefix_length = strlen(prefix);
}

/* End: nothing is counted and nothing fails any more. Returns how many calls there were. */
long faulty_disk_disarm(void)
{
    prefix_length = 0;
    return atomic_load(&calls);
}

/* ── whose file is it, and what shall happen ─────────────────────────────────────────────────────────────────────── */

static int is_ours(const char *path)
{
    return prefix_length && path && strncmp(path, prefix, prefix_length) == 0;
}

/* The path behind a descriptor, in `path`; true if it is one of ours. Keeps errno. */
static int fd_is_ours(int fd, char *path)
{
    char link[64];
    int saved = errno;
    if (!prefix_length)
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    errno = saved;
    path[length < 0 ? 0 : length] = 0;
    return is_ours(path);
}

static _Noreturn void die(void)
{
    for (;;)
        kill(getpid(), SIGKILL);
}

/* Count a call; what is to happen to it, or NOTHING. */
static int verdict(int kind)
{
    if (!(kind & counted_kinds))
        return NOTHING;
    long number = atomic_fetch_add(&calls, 1) + 1;
    if (chosen_how == FAIL_FROM_HERE)
        return number >= chosen_call ? FAIL_ONCE : NOTHING;
    if (chosen_how == FAIL_HALFWAY)
        return number == chosen_call ? FAIL_HALFWAY : number > chosen_call ? FAIL_ONCE : NOTHING;
    return number == chosen_call ? chosen_how : NOTHING;
}

/* For calls that cannot be done by halves: true if the call must not be made. */
static int stopped(int happens)
{
    if (happens == DIE_BEFORE || happens == DIE_HALFWAY)
        die();
    if (happens == FAIL_ONCE || happens == FAIL_HALFWAY) {
        errno = chosen_errno;
        return 1;
    }
    return 0;
}

static int done(int happens, int result)
{
    if (happens == DIE_AFTER)
        die();
    return result;
}

/* ── the log ─────────────────────────────────────────────────────────────────────────────────────────────────────── */

struct record {
    int64_t kind, inode, offset, path_length, data_length;
};

static uint64_t inode_of_fd(int fd)
{
    struct stat64 s;
    return fstat64(fd, &s) == 0 ? s.st_ino : 0;
}

/* Write one change down, in a single write so that records of threads do not mix. */
static void note(int kind, uint64_t inode, const char *path, int64_t offset, const void *data, size_t length)
{
    if (log_fd < 0)
        return;
    int saved = errno;
    struct record head = {kind, (int64_t)inode, offset, (int64_t)strlen(path), (int64_t)length};
    size_t total = sizeof head + head.path_length + length;
    char *whole = malloc(total);
    memcpy(whole, &head, sizeof head);
    memcpy(whole + sizeof head, path, head.path_length);
    if (length)
        memcpy(whole + sizeof head + head.path_length, data, length);
    if (real_write(log_fd, whole, total) != (ssize_t)total)
        abort();
    free(whole);
    errno = saved;
}

/* A remark of the test's own between two changes, such as "operation 7 was acknowledged". */
void faulty_disk_mark(const char *words)
{
    note(MARK, 0, words, 0, NULL, 0);
}

/* ── the calls ───────────────────────────────────────────────────────────────────────────────────────────────────── */

static ssize_t put(int fd, const void *data, size_t length, off64_t offset, int positioned)
{
    char path[PATH_MAX];
    if (!fd_is_ours(fd, path))
        return positioned ? real_pwrite64(fd, data, length, offset) : real_write(fd, data, length);
    int happens = verdict(WRITE);
    size_t wanted = length;
    if (happens == DIE_HALFWAY || happens == FAIL_HALFWAY)
        length /= 2;
    else if (stopped(happens))
        return -1;
    if (!positioned)
        offset = fcntl(fd, F_GETFL) & O_APPEND ? lseek64(fd, 0, SEEK_END) : lseek64(fd, 0, SEEK_CUR);
    ssize_t written = positioned ? real_pwrite64(fd, data, length, offset) : real_write(fd, data, length);
    if (written > 0)
        note(WRITE, inode_of_fd(fd), path, offset, data, (size_t)written);
    if (happens == DIE_HALFWAY || happens == DIE_AFTER)
        die();
    if (happens == FAIL_HALFWAY && wanted && !written) {
        errno = chosen_errno;
        return -1;
    }
    return written;
}

ssize_t write(int fd, const void *data, size_t length) { return put(fd, data, length, 0, 0); }
ssize_t pwrite(int fd, const void *data, size_t length, off_t at) { return put(fd, data, length, at, 1); }
ssize_t pwrite64(int fd, const void *data, size_t length, off64_t at) { return put(fd, data, length, at, 1); }

static ssize_t put_vector(int fd, const struct iovec *parts, int count, off64_t offset, int positioned)
{
    size_t total = 0, filled = 0;
    for (int i = 0; i < count; i++)
        total += parts[i].iov_len;
    char *whole = malloc(total ? total : 1);
    for (int i = 0; i < count; filled += parts[i++].iov_len)
        memcpy(whole + filled, parts[i].iov_base, parts[i].iov_len);
    ssize_t written = put(fd, whole, total, offset, positioned);
    free(whole);
    return written;
}

ssize_t writev(int fd, const struct iovec *parts, int count) { return put_vector(fd, parts, count, 0, 0); }
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) { return put_vector(fd, parts, count, at, 1); }
ssize_t pwritev64(int fd, const struct iovec *parts, int n, off64_t at) { return put_vector(fd, parts, n, at, 1); }

static int sync_with(int (*real)(int), int fd)
{
    char path[PATH_MAX];
    if (!fd_is_ours(fd, path))
        return real(fd);
    int happens = verdict(SYNC);
    if (stopped(happens))
        return -1;
    int result = real(fd);
    if (result == 0)
        note(SYNC, inode_of_fd(fd), path, 0, NULL, 0);
    return done(happens, result);
}

int fsync(int fd) { return sync_with(real_fsync, fd); }
int fdatasync(int fd) { return sync_with(real_fdatasync, fd); }

int ftruncate64(int fd, off64_t length)
{
    char path[PATH_MAX];
    if (!fd_is_ours(fd, path))
        return real_ftruncate64(fd, length);
    int happens = verdict(TRUNCATE);
    if (stopped(happens))
        return -1;
    int result = real_ftruncate64(fd, length);
    if (result == 0)
        note(TRUNCATE, inode_of_fd(fd), path, length, NULL, 0);
    return done(happens, result);
}

int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }

int unlink(const char *path)
{
    if (!is_ours(path))
        return real_unlink(path);
    int happens = verdict(UNLINK);
    if (stopped(happens))
        return -1;
    int result = real_unlink(path);
    if (result == 0)
        note(UNLINK, 0, path, 0, NULL, 0);
    return done(happens, result);
}

int rename(const char *from, const char *to)
{
    if (!is_ours(from) && !is_ours(to))
        return real_rename(from, to);
    int happens = verdict(RENAME);
    if (stopped(happens))
        return -1;
    int result = real_rename(from, to);
    if (result == 0)
        note(RENAME, 0, from, 0, to, strlen(to));
    return done(happens, result);
}

/* Opening changes the disk only when it makes a file, or empties one. */
static int open_with(const char *path, int flags, mode_t mode)
{
    struct stat64 before;
    int there = is_ours(path) ? stat64(path, &before) == 0 : 1;
    if (!is_ours(path) || (there ? !(flags & O_TRUNC) : !(flags & O_CREAT)))
        return real_open64(path, flags, mode);
    int happens = verdict(there ? TRUNCATE : CREATE);
    if (stopped(happens))
        return -1;
    int fd = real_open64(path, flags, mode);
    if (fd >= 0)
        note(there ? TRUNCATE : CREATE, inode_of_fd(fd), path, 0, NULL, 0);
    return done(happens, fd);
}

#define MODE(flags, last)                                                                                              \
    mode_t mode = 0;                                                                                                   \
    if ((flags) & (O_CREAT | O_TMPFILE)) {                                                                             \
        va_list rest;                                                                                                  \
        va_start(rest, last);                                                                                          \
        mode = va_arg(rest, mode_t);                                                                                   \
        va_end(rest);                                                                                                  \
    }

int open(const char *path, int flags, ...)
{
    MODE(flags, flags)
    return open_with(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    MODE(flags, flags)
    return open_with(path, flags, mode);
}
