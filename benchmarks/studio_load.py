"""How a studio bears a hundred analysts at once, one of them a person at a browser; and its memory."""

from __future__ import annotations

import contextlib
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from benchmarks.studio_service import Service

ANALYSTS = 100
QUOTES_OF_EACH = 5
EPSILON = "1/1000"
WORDS = {"data_set": "mascots", "column": "name", "epsilon": EPSILON}
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
]

Asking = Callable[[], float]
"""Asks for a quote; gives the seconds until it is there."""


class Load(NamedTuple):
    """What a hundred analysts saw."""

    first: float
    """The 95th percentile of quotes that all ask for at the same moment."""
    following: float
    """That of the quotes that each asks for after another."""
    browser: float | None
    """The slowest one of the browser."""
    answers: float
    """Seconds until all of them had an answer, in the order in which they had asked."""


def load(run: Service) -> Load:
    """Let a hundred analysts quote at once, again and again, and then ask."""
    keys = {}
    for name in (f"a{number}" for number in range(ANALYSTS)):
        keys[name] = run.must(201, run.curator, "POST", "/api/keys", {"name": name, "role": "analyst"})["key"]
        share = {"analyst": name, "epsilon": "1/50"}
        run.must(201, run.curator, "POST", "/api/data/mascots/shares", share)
    quotes: dict[str, list[float]] = {name: [] for name in keys}
    together, in_turn, order = threading.Barrier(ANALYSTS), threading.Lock(), list[str]()

    def analyst(name: str, quoted: Asking) -> None:
        together.wait()
        quotes[name] = [quoted() for _ in range(QUOTES_OF_EACH)]
        together.wait()
        with in_turn:
            told = run.must(202, keys[name], "POST", "/api/releases", WORDS)
            order.append(name)
        run.wait_for(keys[name], told["id"])

    def program(name: str) -> None:
        run.call(keys[name], "GET", "/api/ledger")  # opens the connection
        analyst(name, lambda: run.quoted(keys[name], WORDS))

    names = [*keys]
    threads = [threading.Thread(target=program, args=(name,)) for name in names[1:]]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    with browser(run, keys[names[0]]) as asking:
        analyst(names[0], asking or (lambda: run.quoted(keys[names[0]], WORDS)))
    for thread in threads:
        thread.join()
    answers = time.perf_counter() - began
    (ledger,) = run.must(200, run.curator, "GET", "/api/ledger?data_set=mascots")["ledgers"]
    if [each["account"] for each in ledger["entries"] if each["act"] == "charge"] != order:
        raise RuntimeError("answers must be given in the order of the questions.")
    each_first = [those[0] for those in quotes.values()]
    others = [quote for those in quotes.values() for quote in those[1:]]
    return Load(
        first=float(np.quantile(each_first, 0.95)),
        following=float(np.quantile(others, 0.95)),
        browser=max(quotes[names[0]]) if asking else None,
        answers=answers,
    )


@contextlib.contextmanager
def browser(run: Service, key: str) -> Iterator[Asking | None]:
    """Log a person in at a real browser; None where there is none."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        print("  no browser among them: apt-get install chromium", flush=True)
        yield None
        return
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        page = playwright.chromium.launch(executable_path=path, args=FLAGS).new_page()
        page.goto(f"http://{run.host}/login")
        page.get_by_label("Key").fill(key)
        page.get_by_role("button", name="Log in").click()
        page.goto(f"http://{run.host}/ask?data_set=mascots&column=name&epsilon={EPSILON}")
        typed = iter(range(1, QUOTES_OF_EACH + 1))

        def quoted() -> float:
            with page.expect_response(lambda response: "/quote?" in response.url) as told:
                page.get_by_label("Epsilon").fill(f"0.00{next(typed)}")
            told.value.finished()
            return float(told.value.request.timing["responseEnd"]) / 1000

        yield quoted


def memory(run: Service, questions: int) -> tuple[float, float]:
    """Give the memory after a tenth of the quotes, and after all."""
    early = 0.0
    for number in range(questions):
        run.must(200, run.analyst, "POST", "/api/quotes", {**WORDS, "epsilon": f"0.{number + 1:05}"})
        if number == questions // 10:
            early = run.memory
    return early, run.memory
