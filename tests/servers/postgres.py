"""A real PostgreSQL server for tests: made in a folder of its own, on a free loopback port, gone afterwards.

PostgreSQL refuses to run as root, so a root who tests lends the folder to an unprivileged user.
"""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

MISSING = "PostgreSQL's server is not installed. On Debian and Ubuntu: sudo apt install postgresql."
SUPERUSER = "tester"


def binaries() -> Path | None:
    """Find the folder of initdb and pg_ctl."""
    on_path = shutil.which("initdb")
    folders = [*sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True), Path("/usr/local/bin")]
    folders += sorted(Path("/usr").glob("pgsql-*/bin"), reverse=True)
    if on_path:
        folders.append(Path(on_path).parent)
    return next((each for each in folders if (each / "initdb").exists() and (each / "pg_ctl").exists()), None)


def unprivileged() -> str | None:
    """Name a user to run as; None if this one will do."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in ("postgres", "nobody") if name in names)


class Server:
    """A server in a folder: started, stopped, crashed and started again."""

    def __init__(self, folder: Path, programs: Path, user: str | None) -> None:
        self._folder, self._programs, self._user = folder, programs, user
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self._run(
            "initdb", "-D", "data", "-U", SUPERUSER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"
        )
        self.start()

    def url(self, database: str = "postgres", user: str = SUPERUSER) -> str:
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        # No test turns the power off, so no commit waits for the disk: killed processes lose nothing by it.
        options = f"-p {self.port} -h 127.0.0.1 -k {self._folder} -c max_connections=200 -c fsync=off"
        self._run("pg_ctl", "start", "-D", "data", "-w", "-t", "60", "-l", "log", "-o", options)

    def crash(self) -> None:
        """Stop it at once, without a word to anybody: it recovers when it is started again."""
        self._run("pg_ctl", "stop", "-D", "data", "-w", "-t", "60", "-m", "immediate")

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [self._programs / program, *arguments],
            cwd=self._folder,
            check=False,
            # A server that inherited a pipe would keep it open for ever, so what is said goes to a file.
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            user=self._user,
            extra_groups=[] if self._user else None,
            env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C"},
        )
        if done.returncode:
            log = self._folder / "log"
            said = log.read_text(encoding="utf-8", errors="replace")[-2000:] if log.exists() else ""
            raise RuntimeError(f"{program} failed with {done.returncode}. {said}")


@contextmanager
def running() -> Iterator[Server]:
    """Run a server; skip the test where no server can be run."""
    programs = binaries()
    if programs is None:
        pytest.skip(MISSING)
    folder = Path(tempfile.mkdtemp(prefix="dpselect-postgres-"))
    try:
        user = unprivileged()
        if user:
            shutil.chown(folder, user)
        server = Server(folder, programs, user)
        try:
            yield server
        finally:
            server.crash()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """One server for all tests of a process."""
    with running() as server:
        yield server
