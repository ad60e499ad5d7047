"""A real PostgreSQL server for tests: made in a folder of its own, on a free loopback port, gone afterwards.

PostgreSQL refuses to run as root, so a root who tests lends the folder to an unprivileged user.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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

    def __init__(self, folder: Path, programs: Path, user: str | None, shim: Path | None = None) -> None:
        """Make the server and start it; a shim is a library that is loaded before the C library."""
        self.folder, self._programs, self._user = folder, programs, user
        self.records = folder / "records"
        """Where a shim writes, once the folder is there."""
        self._more: dict[str, str] = {}
        if shim is not None:
            copied = Path(shutil.copy(shim, folder))  # where the server's user may read it
            copied.chmod(0o755)
            self._more = {
                "LD_PRELOAD": str(copied),
                "DISK": str(folder),
                "RECORDED_FOLDER": str(folder / "data"),
                "RECORD": str(self.records / "record"),
            }
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self._run(
            *(
                "initdb",
                "-D",
                "data",
                "-U",
                SUPERUSER,
                "-A",
                "trust",
                "-E",
                "UTF8",
                "--locale=C",
                "--no-sync",
            ),
            *(["--wal-segsize=1"] if shim else []),
        )
        self.start()

    def url(self, database: str = "postgres", user: str = SUPERUSER) -> str:
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def start(self, *settings: str) -> None:
        # Few tests turn the power off, so no commit waits for the disk: killed processes lose nothing by it.
        given = " ".join(f"-c {each}" for each in ("max_connections=200", "fsync=off", *settings))
        options = f"-p {self.port} -h 127.0.0.1 -k {self.folder} {given}"
        self._run("pg_ctl", "start", "-D", "data", "-w", "-t", "60", "-l", "log", "-o", options)

    def own(self, path: Path) -> None:
        """Give a file or a folder with all that it holds to the server's user."""
        if self._user:
            for each in (path, *path.rglob("*")):
                shutil.chown(each, self._user)

    def crash(self) -> None:
        """Stop it at once, without a word to anybody: it recovers when it is started again."""
        self._run("pg_ctl", "stop", "-D", "data", "-w", "-t", "60", "-m", "immediate")

    def stop(self) -> None:
        """Let it write everything down and stop."""
        self._run("pg_ctl", "stop", "-D", "data", "-w", "-t", "60", "-m", "fast")

    def kill(self) -> None:
        """Kill all its processes with signal 9, and wait until they are gone."""
        first = int((self.folder / "data/postmaster.pid").read_text(encoding="ascii").split()[0])
        every = [first, *_children_of(first)]
        for process in every:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        until = time.monotonic() + 30
        while any(map(_runs, every)) and time.monotonic() < until:
            time.sleep(0.005)
        # Where no process collects the dead, the next server would take the first for one that runs.
        for mark in [self.folder / "data/postmaster.pid", *self.folder.glob(".s.PGSQL.*.lock")]:
            mark.unlink()

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [self._programs / program, *arguments],
            cwd=self.folder,
            check=False,
            # A server that inherited a pipe would keep it open for ever, so what is said goes to a file.
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            user=self._user,
            extra_groups=[] if self._user else None,
            env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", **self._more},
        )
        if done.returncode:
            log = self.folder / "log"
            said = log.read_text(encoding="utf-8", errors="replace")[-2000:] if log.exists() else ""
            raise RuntimeError(f"{program} failed with {done.returncode}. {said}")


def _children_of(process: int) -> list[int]:
    """Find the processes that a process started: on Linux, which tells it in /proc."""
    processes = [int(each.name) for each in Path("/proc").iterdir() if each.name.isdigit()]
    return [each for each in processes if (facts := _facts_of(each)) and int(facts[1]) == process]


def _facts_of(process: int) -> list[str]:
    """Read the state of a process, its parent, and more; nothing if it is gone."""
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    except OSError:
        return []


def _runs(process: int) -> bool:
    """Say whether a process is there and not dead; the dead stay listed until they are collected."""
    return _facts_of(process)[:1] not in ([], ["Z"])


@contextmanager
def running(shim: Path | None = None) -> Iterator[Server]:
    """Run a server; skip the test where no server can be run."""
    programs = binaries()
    if programs is None:
        pytest.skip(MISSING)
    folder = Path(tempfile.mkdtemp(prefix="dpselect-postgres-"))
    try:
        user = unprivileged()
        if user:
            shutil.chown(folder, user)
        server = Server(folder, programs, user, shim)
        try:
            yield server
        finally:
            with suppress(RuntimeError):  # a test may have stopped it
                server.crash()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """One server for all tests of a process."""
    with running() as server:
        yield server
