"""A studio in a process of its own, for what is measured over HTTP."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dpselect.studio.app import Studio
from dpselect.studio.server import address_of, bound_socket, serve_studio
from dpselect.studio.settings import Settings

TICK = 0.05
POLL_SECONDS = 0.002


class Service:
    """A studio in a process of its own, and a connection to it for each thread."""

    def __init__(self, folder: Path) -> None:
        """Start it."""
        self.process = subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-m", "benchmarks.studio_service", str(folder)],
            stdout=subprocess.PIPE,
            text=True,
        )
        told = json.loads(self.process.stdout.readline() if self.process.stdout else "")
        self.host, self.curator = told["address"].partition("//")[2], told["curator_key"]
        self.analyst, self._own = told["analyst_key"], threading.local()

    def must(self, status: int, *asked: Any) -> Any:
        """Ask, and read the answer, which must have a status."""
        found, told = self.call(*asked)
        if found != status:
            raise RuntimeError(told)
        return told

    def call(self, key: str, method: str, path: str, words: Any = None) -> tuple[int, Any]:
        """Ask, and read the answer."""
        connection = getattr(self._own, "connection", None)
        if connection is None:
            connection = self._own.connection = http.client.HTTPConnection(self.host, timeout=60)
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        body = None if words is None else json.dumps(words)
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
        except (OSError, http.client.HTTPException):  # the studio closes what is idle
            connection.close()
            connection.request(method, path, body, headers)
            response = connection.getresponse()
        return response.status, json.loads(response.read() or b"null")

    def answered(self, key: str, words: dict[str, Any]) -> float:
        """Ask a question; give the seconds until its answer is seen."""
        began = time.perf_counter()
        self.wait_for(key, self.must(202, key, "POST", "/api/releases", words)["id"])
        return time.perf_counter() - began

    def wait_for(self, key: str, request: str) -> None:
        """Wait until a question has an answer."""
        while (found := self.call(key, "GET", f"/api/releases/{request}"))[0] == 202:
            time.sleep(POLL_SECONDS)
        if found[0] != 200:
            raise RuntimeError(found)

    def quoted(self, key: str, words: dict[str, Any]) -> float:
        """Ask for a quote; give the seconds until it is there."""
        began = time.perf_counter()
        self.must(200, key, "POST", "/api/quotes", words)
        return time.perf_counter() - began

    def register(self, name: str, path: Path) -> None:
        """Register a table, and give the analyst of the demonstration a share."""
        words = {"name": name, "path": str(path), "unit": "person", "epsilon": "1000"}
        self.must(201, self.curator, "POST", "/api/data", words)
        share = {"analyst": "ada", "epsilon": "1000"}
        self.must(201, self.curator, "POST", f"/api/data/{name}/shares", share)

    @property
    def memory(self) -> float:
        """The resident memory of the process, in megabytes."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def serve(folder: Path) -> None:
    """Run a studio whose keys may ask as often as they like: its buckets would hide what time tells."""
    tables = folder / "tables"
    tables.mkdir()
    settings = Settings(
        folder=folder / "state", port=0, tick=TICK, requests_per_second=1e6, allowed_roots=(tables,)
    )
    with contextlib.closing(bound_socket(settings)) as bound:
        studio = Studio(settings)
        told = {
            "address": address_of(settings, bound),
            "curator_key": studio.keys.create("curator", "curator"),
            "analyst_key": studio.keys.create("ada", "analyst"),
        }
        serve_studio(studio, bound, lambda: print(json.dumps(told), flush=True))


@contextlib.contextmanager
def service() -> Iterator[tuple[Service, Path]]:
    """Run a studio for a while; give the folder of its tables too."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder).resolve()
        made = Service(place)
        try:
            yield made, place / "tables"
        finally:
            made.process.kill()
            made.process.wait()


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
