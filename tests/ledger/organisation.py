"""An organisation on one ledger: a curator and analysts act at the same time, and are killed in the middle.

python -m tests.ledger.organisation PLACE MEASURE PEOPLE KILLS

Every person is a process that acts at random and says each act that was acknowledged. One after the other is
killed with signal 9, and another one takes the place. In the end the ledger is held against what was said,
and against an auditor who knows the page of exports alone. Prints how many were killed, and how many charges,
answers, changes of the budget and refusals were said.
"""

from __future__ import annotations

import collections
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from dpselect import ZCDP, ApproxDP, ApproxZCDP, BudgetExhausted, Ledger, PureDP
from dpselect.errors import InvalidParameter
from dpselect.ledger.budget import CURRENCIES, Currency
from dpselect.ledger.entries import Entry
from tests.ledger.auditor import audit

NAMES = ("ada", "bob", "cleo", "dan")
LIMIT = Fraction(2)
"""The first budget, and the most that a change sets."""
DELTA = Fraction(1, 1_000)
"""Of every part of epsilon or rho, this much of delta."""
ACTS_BEFORE = 20
"""The first is killed when this number of entries is there, on however slow a machine."""


def loss(kind: type[Currency], amount: Fraction) -> Currency:
    match kind.__name__:
        case "PureDP":
            return PureDP(amount)
        case "ZCDP":
            return ZCDP(amount)
        case "ApproxDP":
            return ApproxDP(amount, amount * DELTA)
        case _:
            return ApproxZCDP(amount, amount * DELTA)


class Person:
    """Acts at random, and says what was acknowledged: the number and the digest of each entry."""

    def __init__(self, place: str, number: int, writer: int) -> None:
        self.ledger, self.number, self.writer = Ledger.open(place), number, writer
        self.kind = type(self.ledger.budget)
        self.chance = random.Random(number)
        self.done = 0

    def amount(self, most: int) -> Currency:
        return loss(self.kind, Fraction(self.chance.randint(0, most), 64))

    def act(self) -> None:
        """Do one thing, which the ledger may refuse."""
        name = self.chance.choice([*NAMES, None])
        acts: list[Callable[[], object]] = [
            *[lambda: self.charge(name)] * 12,
            lambda: self.ledger.open_account(
                self.chance.choice(NAMES), share=self.amount(32), reserve=self.chance.random() < 1 / 2
            ),
            lambda: self.ledger.change_share(self.chance.choice(NAMES), self.amount(64), reason="share"),
            lambda: self.ledger.change_budget(
                loss(self.kind, LIMIT * self.chance.randint(1, 8) / 8), reason="budget"
            ),
        ]
        if self.chance.random() < 1 / 100:
            acts = [lambda: self.ledger.close_account(self.chance.choice(NAMES))]
        try:
            found = self.chance.choice(acts)()
        except (BudgetExhausted, InvalidParameter):
            self.say("refused", 0, "-")
            return
        if isinstance(found, Entry):
            self.say(found.act, found.number, found.digest)

    def charge(self, name: str | None) -> Entry:
        request = f"{self.number}-{self.done}"
        self.done += 1
        price = loss(self.kind, Fraction(self.chance.randint(0, 4), 1024))
        entry = self.ledger.charge(price, reason="a question", request_id=request, account=name)
        if self.chance.random() < 1 / 3:
            self.ledger.store(request, f"answer to {request}", account=name)
            self.say(f"answer {request} {name or ''}", entry.number, entry.digest)
        return entry

    def say(self, what: str, number: int, digest: str) -> None:
        os.write(self.writer, f"{what}\t{number}\t{digest}\n".encode())


def started(place: str, number: int) -> tuple[int, int]:
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            if "://" in place:  # each has an anchor of their own: no lock of a file helps
                os.environ["XDG_STATE_HOME"] = f"{os.environ['XDG_STATE_HOME']}/{number}"
            person = Person(place, number, writer)
            while True:
                person.act()
        finally:
            os._exit(1)
    os.close(writer)
    return reader, child


def heard(reader: int) -> list[str]:
    with os.fdopen(reader, "rb") as file:
        return file.read().decode().splitlines()


def storm(place: str, measure: str, people: int, kills: int) -> None:
    kind = CURRENCIES[measure]
    Ledger.create(place, budget=loss(kind, LIMIT)).close()
    said: list[str] = []
    there = [started(place, number) for number in range(people)]
    with Ledger.open(place) as ledger:
        while ledger.verify() < ACTS_BEFORE:
            time.sleep(0.05)
    chance = random.Random(kills)
    for killed in range(kills + people):
        time.sleep(chance.random() / 5)
        reader, child = there.pop(chance.randrange(len(there)))
        os.kill(child, signal.SIGKILL)
        said += heard(reader)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL, "a person failed"
        if killed < kills:
            there.append(started(place, people + killed))
    check(place, said)
    acts = collections.Counter(line.split("\t")[0].split(" ")[0] for line in said)
    print(kills + people, *(acts[act] for act in ("charge", "answer", "budget", "refused")))


def check(place: str, said: list[str]) -> None:
    """Hold the ledger against what was said, and against an auditor."""
    with Ledger.open(place) as ledger:
        entries = {entry.number: entry for entry in ledger.entries()}
        head = entries[len(entries)].digest
        assert audit("".join(ledger.export(answers=True)).encode()) == f"{len(entries)} entries, head {head}"
        for line in said:
            what, number, digest = line.split("\t")
            if what == "refused":
                continue
            assert entries[int(number)].digest == digest, line
            if what.startswith("answer "):
                _, request, name = what.split(" ")
                assert ledger.answer(request, name or None) == f"answer to {request}"
        spent = {account.name: account.spent for account in ledger.accounts()}
        sums: dict[str | None, Any] = collections.defaultdict(ledger.budget.zero)
        for entry in entries.values():
            sums[entry.account] += entry.loss
        assert all(spent[name] == sums[name] for name in spent)
        assert ledger.spent == sum(sums.values(), start=ledger.budget.zero())


if __name__ == "__main__":
    given_place, given_measure, given_people, given_kills = sys.argv[1:]
    storm(given_place, given_measure, int(given_people), int(given_kills))
