"""PostgreSQL: Debian's programs, else those inside the package pgserver."""

from __future__ import annotations

import contextlib
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

from servers.failure import ServerFailure
from servers.installed import installed, run
from servers.ports import HOST, free_ports
from servers.server import Server

DEBIAN = Path("/usr/lib/postgresql")
OLDEST = 15
PACKAGE, PACKAGE_VERSION = "pgserver", "0.1.4"
USER, PASSWORD, DATABASE = "eunoe", "eunoe-of-the-tests", "eunoe"
NOT_ROOT = ("postgres", "nobody")
NOT_BYTES = ("--locale-provider=icu", "--icu-locale=en-US")
"""Words in the order of a language, as on most servers, so that tests see whether the tables depend on it."""
MEMORY = ("shared_buffers=64MB", "max_connections=120", "max_wal_size=256MB")


class Postgres(Server):
    """One cluster with one database. What was committed survives `kill`: fsync is on."""

    name = "postgres"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        (self.port,) = free_ports(1)
        self._programs = Path()

    @property
    def data(self) -> Path:
        """The cluster."""
        return self.folder / "data"

    def user(self) -> str | None:
        """PostgreSQL refuses to run as root."""
        if os.geteuid() != 0:
            return None
        known = {each.pw_name for each in pwd.getpwall()}
        for each in NOT_ROOT:
            if each in known:
                return each
        raise ServerFailure("PostgreSQL does not run as root, and there is no user `nobody` either; run the tests as another user")

    def prepare(self) -> None:
        """See `Server.prepare`."""
        self._let_through()
        self._programs = self._found()
        if (self.data / "PG_VERSION").exists():
            return
        self.data.mkdir(mode=0o700)
        secret = self.folder / "password"
        secret.write_text(PASSWORD, encoding="utf-8")
        if user := self.user():
            for each in (self.data, secret):
                shutil.chown(each, user)
        try:
            self._initialise(NOT_BYTES)
        except ServerFailure:  # built without ICU
            self._initialise(("--locale=C.UTF-8",))
        secret.unlink()

    def start(self) -> None:
        """See `Server.start`."""
        super().start()
        if not self.sql(f"SELECT 1 FROM pg_database WHERE datname = '{DATABASE}'", database="postgres"):  # noqa: S608 - a constant
            self.sql(f"CREATE DATABASE {DATABASE}", database="postgres")

    def command(self) -> Sequence[str]:
        """See `Server.command`."""
        settings = (f"listen_addresses={HOST}", f"port={self.port}", "unix_socket_directories=", "timezone=UTC", *MEMORY)
        return [str(self._programs / "postgres"), "-D", str(self.data), *(part for each in settings for part in ("-c", each))]

    def is_ready(self) -> bool:
        """See `Server.is_ready`: while it recovers, it takes connections and refuses them."""
        import psycopg  # the programs of pgserver lack pg_isready

        try:
            psycopg.connect(self._address("postgres"), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def settings(self) -> Mapping[str, str]:
        """See `Server.settings`."""
        return {
            "EUNOE_POSTGRES__HOST": HOST,
            "EUNOE_POSTGRES__PORT": str(self.port),
            "EUNOE_POSTGRES__DATABASE": DATABASE,
            "EUNOE_POSTGRES__USER": USER,
            "EUNOE_POSTGRES__PASSWORD": PASSWORD,
        }

    def sql(self, statement: str, *, database: str = DATABASE) -> list[tuple[object, ...]]:
        """Run a statement as the superuser, outside a transaction; returns the rows."""
        import psycopg

        with psycopg.connect(self._address(database), autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return list(cursor.fetchall()) if cursor.description else []

    def _signal(self, number: signal.Signals) -> None:
        """Each backend has a process group of its own, so a signal to the first process alone would kill or freeze only that one."""
        if self.process is None or self.process.poll() is not None:
            return
        first = psutil.Process(self.process.pid)
        if number is signal.SIGTERM:
            first.send_signal(signal.SIGINT)  # SIGTERM would wait until the last client has gone
            return
        for each in (first, *first.children(recursive=True)):
            with contextlib.suppress(psutil.NoSuchProcess):
                each.send_signal(number)

    def _address(self, database: str) -> str:
        return f"host={HOST} port={self.port} dbname={database} user={USER} password={PASSWORD}"

    def _initialise(self, locale: Sequence[str]) -> None:
        command = [str(self._programs / "initdb"), "-D", str(self.data), "-U", USER, "-A", "scram-sha-256", "-E", "UTF8", "--no-sync"]
        done = subprocess.run(
            [*command, "--pwfile", str(self.folder / "password"), *locale],
            cwd=self.folder,
            user=self.user(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode:
            raise ServerFailure(f"initdb ended with {done.returncode}:\n{done.stdout[-2000:]}")

    def _let_through(self) -> None:
        """Another user must reach its data: folders of ours above them may be passed through (not read)."""
        if self.user() is None:
            return
        for each in (self.folder, *self.folder.parents):
            state = each.stat()
            if state.st_uid == os.geteuid() and not state.st_mode & 0o001:
                each.chmod(state.st_mode | 0o011)

    def _found(self) -> Path:
        """The folder of `initdb` and `postgres`."""
        versions = [int(each.name) for each in DEBIAN.glob("*") if re.fullmatch(r"\d+", each.name) and (each / "bin" / "initdb").exists()]
        if newest := max((each for each in versions if each >= OLDEST), default=None):
            return DEBIAN / str(newest) / "bin"
        command = [sys.executable, "-m", "uv", "pip", "install", "--no-deps", "--target", ".", f"{PACKAGE}=={PACKAGE_VERSION}"]
        try:
            package = installed(PACKAGE, PACKAGE_VERSION, lambda folder: run(command, folder=folder))
        except ServerFailure as failure:
            raise ServerFailure(f"PostgreSQL is missing; on Debian: apt-get install postgresql\n{failure}") from failure
        return self._reachable(package / PACKAGE / "pginstall")

    def _reachable(self, package: Path) -> Path:
        """A copy beside the data when another user runs it: the cache may lie in a home that is closed to others."""
        if self.user() is None:
            return package / "bin"
        copy = self.folder / "program"
        if not copy.exists():
            shutil.copytree(package, copy, symlinks=True)
        return copy / "bin"
