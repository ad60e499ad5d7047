"""Killed at any moment and started again, a studio charges once, draws at most once, overspends nothing."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import pytest

from dpselect import Ledger
from tests.studio.running import TICK, WAIT_SECONDS, Client, write_meals

ASK = {"data_set": "mascots", "question": "vote", "column": "name", "epsilon": "1/1000"}


@dataclass
class Started:
    """A studio in a process of its own, which can be killed."""

    folder: Path
    keys: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[str] | None = None
    port: int = 0

    def start(self) -> None:
        words = [
            "studio",
            "--demo",
            "--json",
            "--port",
            "0",
            "--tick",
            str(TICK),
            "--folder",
            str(self.folder),
        ]
        words += ["--allowed-root", str(self.folder.parent)]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "dpselect", *words],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        assert self.process.stdout is not None
        told = json.loads(self.process.stdout.readline())
        self.port = int(told["address"].rpartition(":")[2])
        self.keys.update({name: key for name, key in told.items() if name != "address" and key is not None})

    def kill(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()

    @property
    def ada(self) -> Client:
        return Client(self.port, key=self.keys["analyst_key"])

    @property
    def curator(self) -> Client:
        return Client(self.port, key=self.keys["curator_key"])

    def charges(self, name: str) -> Counter[str | None]:
        """How often each request was charged, as a program of the curator's reads it."""
        with Ledger.open(self.folder / "ledgers" / f"{name}.ledger") as ledger:
            return Counter(each.request_id for each in ledger.entries() if each.act == "charge")


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Started]:
    studio = Started(tmp_path.resolve() / "studio")
    studio.start()
    yield studio
    studio.kill()


def test_a_curators_key_is_told_at_the_first_start_alone(started: Started) -> None:
    first = dict(started.keys)
    assert set(first) == {"curator_key", "analyst_key"}
    started.keys.clear()
    started.kill()
    started.start()
    assert started.keys == {}
    assert Client(started.port, key=first["curator_key"]).get("/api/keys").status == 200


def test_e7_killed_between_charge_and_answer_a_question_is_not_drawn_again(started: Started) -> None:
    """The rows take a while to read: as soon as the charge is on disk, the process is killed."""
    table = write_meals(started.folder.parent / "big.csv", people=400_000)
    words = {"name": "big", "path": str(table), "unit": "guest", "epsilon": "10"}
    assert started.curator.post("/api/data", words).status == 201
    assert started.curator.post("/api/data/big/shares", {"analyst": "ada", "epsilon": "5"}).status == 201
    ask = {**ASK, "data_set": "big", "column": "dish", "epsilon": "1", "candidates": ["tea", "soup"]}
    lost, number = 0, 0
    while not lost and number < 5:
        number += 1
        name = f"killed{number}"
        request = {**ask, "request_id": name}
        assert started.ada.post("/api/releases", request).status == 202
        until = time.monotonic() + WAIT_SECONDS
        while not started.charges("big")[name]:
            assert time.monotonic() < until
        started.kill()
        with Ledger.open(started.folder / "ledgers" / "big.ledger") as ledger:
            before = ledger.answer(name, "ada")
        started.start()
        told = started.ada.answer(name)
        assert started.ada.post("/api/releases", request).status == 202
        again = started.ada.answer(name)
        assert (told.status, told.text) == (again.status, again.text)
        assert started.charges("big")[name] == 1
        assert told.status == (503 if before is None else 200)
        lost += before is None
    assert lost, "the table was too small for this test to say anything"


def asks(studio: Started, name: str, told: dict[str, str], stop: threading.Event) -> None:
    """Ask again and again under one id until it is answered, whatever becomes of the connection."""
    number = 0
    while not stop.is_set():
        time.sleep(TICK)
        request = f"{name}-{number}"
        with contextlib.suppress(OSError, http.client.HTTPException):
            if studio.ada.post("/api/releases", {**ASK, "request_id": request}).status != 202:
                continue
            answer = studio.ada.get(f"/api/releases/{request}")
            while answer.status == 202 and not stop.is_set():
                time.sleep(TICK)
                answer = studio.ada.get(f"/api/releases/{request}")
            if answer.status in (200, 503):
                assert told.setdefault(request, answer.text) == answer.text
                number += 1


def kill_often(studio: Started, kills: int) -> None:
    """Eight clients ask while the process is killed and started again."""
    told: dict[str, str] = {}
    stop = threading.Event()
    clients = [threading.Thread(target=asks, args=(studio, f"c{i}", told, stop)) for i in range(8)]
    for client in clients:
        client.start()
    try:
        for number in range(kills):
            known, until = len(told), time.monotonic() + WAIT_SECONDS
            while len(told) == known and time.monotonic() < until:
                time.sleep(TICK / 5)
            time.sleep((number * 37 % 100) / 500)
            studio.kill()
            studio.start()
    finally:
        stop.set()
        for client in clients:
            client.join()
    until = time.monotonic() + WAIT_SECONDS
    while any(each["state"] == "computing" for each in studio.ada.get("/api/releases").json["releases"]):
        assert time.monotonic() < until
        time.sleep(TICK)
    charged = studio.charges("mascots")
    assert told
    assert set(charged.values()) == {1}
    for request, text in told.items():
        assert charged[request] == 1
        again = studio.ada.answer(request)
        assert again.text == text
    (ledger,) = (
        each for each in studio.ada.get("/api/ledger").json["ledgers"] if each["data_set"] == "mascots"
    )
    assert Fraction(ledger["spent"]) == Fraction(len(charged), 1000)
    checked = studio.curator.get("/api/audit").json["ledgers"]
    assert all(each["verified"] for each in checked)


def test_e4_killed_at_a_few_random_moments_every_answer_is_charged_once(started: Started) -> None:
    kill_often(started, 2)


@pytest.mark.slow
def test_e4_killed_at_500_random_moments_every_answer_is_charged_once(started: Started) -> None:
    kill_often(started, 500)
