"""Many requests and sockets, slow ones and silent ones: all are answered, or hung up on, in turn."""

from __future__ import annotations

import asyncio
import resource
import socket
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import patch

from dpselect.studio.pages import LOG_IN_BURST
from dpselect.studio.refusals import Refused
from dpselect.studio.turns import AT_ONCE_OF_ONE, MOST_OF_ONE, Turns
from tests.studio.running import VOTE, WAIT_SECONDS, Running, furnish, running, write_meals


def allow_many_files() -> None:
    """Let this process have both ends of a thousand sockets."""
    least, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(least, min(4096, most)), most))


def test_f9_a_slow_body_and_a_slow_head_are_ended_and_others_are_answered(tmp_path: Path) -> None:
    with running(tmp_path.resolve(), body_seconds=0.3) as run:
        furnish(run, write_meals(tmp_path.resolve() / "meals.csv"))
        head = (
            f"POST /api/quotes HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {run.keys['ada']}\r\n"
            "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
        ).encode()
        with socket.create_connection(("127.0.0.1", run.port)) as slow:
            slow.sendall(head)
            assert run.anyone.get("/health").status == 200
            slow.settimeout(10)
            assert slow.recv(4096).split()[1] == b"408"
        with socket.create_connection(("127.0.0.1", run.port)) as silent:
            silent.sendall(b"GET /health HT")
            silent.settimeout(10)
            assert silent.recv(4096) == b""  # ended without a word
        assert run.anyone.get("/health").status == 200


def test_f9_a_thousand_open_sockets_leave_the_studio_alive(shared: Running) -> None:
    allow_many_files()
    sockets = [socket.create_connection(("127.0.0.1", shared.port)) for _ in range(1_000)]
    slow = (
        b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        b"Content-Length: 50\r\n\r\nkey="
    )
    try:
        for each in sockets[:300]:
            each.sendall(b"POST /login HTTP/1.1\r\nHost: localhost\r\n")
        for each in sockets[300:]:  # their bodies never end
            each.sendall(slow)
        assert shared.anyone.get("/health").status == 200
        assert shared.as_("ada").post("/api/quotes", VOTE).status == 200
    finally:
        for each in sockets:
            each.close()


def test_f9_who_reads_no_answer_is_hung_up_on_and_others_are_answered(tmp_path: Path) -> None:
    """Each asks for megabytes, and reads none: neither an answer nor a socket waits for it for long."""
    asked = b"GET /static/htmx.min.js HTTP/1.1\r\nHost: localhost\r\n\r\n" * 200
    with running(tmp_path.resolve(), body_seconds=0.5) as run:
        deaf = []
        for _ in range(20):
            made = socket.socket()
            made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            made.connect(("127.0.0.1", run.port))
            made.sendall(asked)
            deaf.append(made)
        try:
            assert {run.anyone.get("/health").status for _ in range(10)} == {200}
            until = time.monotonic() + WAIT_SECONDS
            while run.sockets:
                assert time.monotonic() < until
                time.sleep(0.1)
        finally:
            for each in deaf:
                each.close()


def test_f12_a_key_that_asks_too_often_waits_and_others_do_not(tmp_path: Path) -> None:
    with running(tmp_path.resolve(), requests_per_second=1.0) as run:
        furnish(run, write_meals(tmp_path.resolve() / "meals.csv"))
        told = [run.as_("ada").get("/api/ledger").status for _ in range(12)]
        assert (told[0], told[-1]) == (200, 429)
        assert run.as_("bob").get("/api/ledger").status == 200


def test_f12_many_questions_of_one_key_at_once_leave_others_their_turn(tmp_path: Path) -> None:
    """Forty threads answer; those of one key hold eight of them, however many it asks at once."""
    with running(tmp_path.resolve()) as run:
        furnish(run, write_meals(tmp_path.resolve() / "meals.csv"))
        studio, at_once, most = run.studio, 0, 0
        lock, look = threading.Lock(), studio.data_sets.for_analyst

        def slowly(name: str, analyst: str) -> object:
            nonlocal at_once, most
            with lock:
                at_once += 1
                most = max(most, at_once)
            time.sleep(0.2)
            with lock:
                at_once -= 1
            return look(name, analyst)

        with patch.object(studio.data_sets, "for_analyst", slowly), ThreadPoolExecutor(60) as pool:
            asked = [pool.submit(run.as_("ada").post, "/api/quotes", VOTE) for _ in range(60)]
            assert run.as_("bob").get("/api/ledger").status == 200
            assert {each.result().status for each in asked} == {200}
        assert 1 < most <= AT_ONCE_OF_ONE


def test_f12_more_than_can_wait_are_told_to_come_again() -> None:
    async def asked() -> list[int]:
        turns, told = Turns(), []

        async def one(name: str) -> None:
            try:
                async with turns.turn_of(name):
                    await asyncio.sleep(0.01)
                told.append(200)
            except Refused as refused:
                told.append(refused.status)

        await asyncio.gather(*(one("ada") for _ in range(MOST_OF_ONE + 5)), one("bob"))
        await one("ada")
        return told

    told = asyncio.run(asked())
    assert Counter(told) == {429: 5, 200: MOST_OF_ONE + 2}


def test_f12_attempts_that_come_at_once_are_counted_each_and_right_keys_are_not(tmp_path: Path) -> None:
    with running(tmp_path.resolve()) as run:
        furnish(run, write_meals(tmp_path.resolve() / "meals.csv"))
        for _ in range(30):
            assert run.anyone.send("/login", key=run.keys["ada"]).status == 303
        with ThreadPoolExecutor(30) as at_once:
            told = Counter(at_once.map(lambda _: run.anyone.send("/login", key="A" * 43).status, range(30)))
        assert told[401] <= LOG_IN_BURST + 1
        assert told[401] + told[429] == 30


def test_f12_attempts_to_log_in_are_limited(tmp_path: Path) -> None:
    with running(tmp_path.resolve()) as run:
        furnish(run, write_meals(tmp_path.resolve() / "meals.csv"))
        told = [run.anyone.send("/login", key="A" * 43).status for _ in range(15)]
        assert (told[0], told[-1]) == (401, 429)
        assert run.anyone.send("/login", key=run.keys["ada"]).status == 429
        assert run.as_("ada").get("/api/ledger").status == 200
