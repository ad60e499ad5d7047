"""A studio that runs, on a socket of this machine, with real ledgers; and a client of it."""

from __future__ import annotations

import asyncio
import http.client
import json
import re
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import uvicorn

from dpselect.studio.app import Studio
from dpselect.studio.data_sets import NewDataSet
from dpselect.studio.server import bound_socket, server_of
from dpselect.studio.sessions import COOKIE
from dpselect.studio.settings import Settings

TICK = 0.05
NAMES = ["tea", "soup", "pie"]
VOTE = {"data_set": "meals", "question": "vote", "column": "dish", "epsilon": "1/8"}
WAIT_SECONDS = 30


@dataclass(frozen=True)
class Told:
    """A response."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)

    @property
    def token(self) -> str:
        """What the forms of a page carry."""
        found = re.search(r'name="token" value="([^"]*)"', self.text)
        assert found is not None, self.text
        return found[1]


@dataclass
class Client:
    """Asks one studio, as a program with a key or as a browser with a cookie."""

    port: int
    key: str | None = None
    cookie: str | None = None
    headers: dict[str, str] = field(default_factory=dict)

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Told:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT_SECONDS)
        given = {**self.headers, **(headers or {})}
        if self.key is not None:
            given.setdefault("Authorization", f"Bearer {self.key}")
        if self.cookie is not None:
            given.setdefault("Cookie", f"{COOKIE}={self.cookie}")
        try:
            connection.request(method, path, body, given)
            response = connection.getresponse()
            text = response.read().decode("utf-8", "replace")
            return Told(response.status, {k.lower(): v for k, v in response.getheaders()}, text)
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Told:
        return self.ask("GET", path, headers=headers)

    def post(self, path: str, words: Mapping[str, Any] | None = None) -> Told:
        """Send JSON."""
        return self.ask("POST", path, json.dumps(words or {}), {"Content-Type": "application/json"})

    def send(self, path: str, **words: str) -> Told:
        """Send a form, as the page of this studio does."""
        origin = {"Origin": f"http://127.0.0.1:{self.port}", "Sec-Fetch-Site": "same-origin"}
        return self.ask(
            "POST", path, urlencode(words), {"Content-Type": "application/x-www-form-urlencoded", **origin}
        )

    def logged_in(self, key: str) -> Client:
        """Log in; give the browser."""
        told = self.send("/login", key=key)
        assert told.status == 303, told.text
        cookie = told.headers["set-cookie"].partition("=")[2].partition(";")[0]
        return Client(self.port, cookie=cookie)

    def answer(self, request: str) -> Told:
        """Wait for the answer of a question."""
        until = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < until:
            told = self.get(f"/api/releases/{request}")
            if told.status != 202:
                return told
            time.sleep(TICK / 2)
        raise AssertionError("no answer came")


@dataclass
class Running:
    """A studio that runs, and the keys to it."""

    studio: Studio
    port: int
    keys: dict[str, str]
    server: uvicorn.Server

    @property
    def sockets(self) -> int:
        """How many connections the studio holds open."""
        return len(self.server.server_state.connections)

    @property
    def anyone(self) -> Client:
        return Client(self.port)

    def as_(self, name: str) -> Client:
        """A program with the key of this name."""
        return Client(self.port, key=self.keys[name])

    def browser(self, name: str) -> Client:
        """A browser that logged in with the key of this name."""
        return self.anyone.logged_in(self.keys[name])


def write_meals(place: Path, *, people: int = 60) -> Path:
    """A table of who named which dish and would pay what; tea is far ahead."""
    rows = [f"p{person:03},{'tea' if person % 3 else 'soup'},{person % 7}" for person in range(people)]
    place.write_text("\n".join(["guest,dish,pays", *rows]) + "\n", encoding="utf-8")
    return place


@contextmanager
def running(folder: Path, **settings: Any) -> Iterator[Running]:
    """Run a studio in a thread of this process."""
    given = {"tick": TICK, "requests_per_second": 1e6, "allowed_roots": (folder,), **settings}
    made = Settings(folder=folder / "studio", port=0, **given)
    ready = threading.Event()
    with bound_socket(made) as bound, Studio(made) as studio:
        server = server_of(studio, ready.set)
        thread = threading.Thread(target=lambda: asyncio.run(_served(server, bound)))
        thread.start()
        try:
            assert ready.wait(WAIT_SECONDS)
            yield Running(studio, bound.getsockname()[1], {}, server)
        finally:
            server.should_exit = True
            thread.join()


async def _served(server: Any, bound: socket.socket) -> None:
    await server.serve(sockets=[bound])


def furnish(run: Running, table: Path, *, budget: str = "1000", share: str = "500") -> None:
    """Register a table, and make a key of each kind: live, expired and revoked."""
    studio = run.studio
    for name, role in (("ada", "analyst"), ("bob", "analyst"), ("cleo", "curator"), ("otto", "auditor")):
        run.keys[name] = studio.keys.create(name, role)
    for name in ("expired", "revoked"):
        run.keys[name] = studio.keys.create(name, "analyst", days=1)
    studio.state.write("update keys set expires = 1 where name = 'expired'")
    (revoked,) = (key.id for key in studio.keys.all() if key.name == "revoked")
    assert studio.keys.revoke(revoked)
    made = studio.data_sets.register(
        NewDataSet(name="meals", path=str(table), unit="guest", epsilon=budget, about="Who eats what?")
    )
    studio.data_sets.set_list(made, "dish", NAMES)
    studio.data_sets.share(made, "ada", share)
