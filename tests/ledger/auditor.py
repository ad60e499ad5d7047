"""Checks an export as docs/reference/ledger-export.md says, with Python's own modules alone.

It was written from that page before anything else was read, so it knows of the format what the page says, and
shares no line with the code that it checks.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

KEYS = {
    "header": [
        "version",
        "measure",
        "budget",
        "neighbours",
        "dataset",
        "unit",
        "anchor",
        "created",
        "digest",
    ],
    "entry": [
        "number",
        "loss",
        "total",
        "reason",
        "request_id",
        "time",
        "account",
        "act",
        "amount",
        "digest",
    ],
    "answer": ["number", "entry", "answer", "digest", "sha256"],
    "end": ["entries", "head", "answers", "answers_head", "sha256"],
}
PARTS = {"PureDP": 1, "ZCDP": 1, "ApproxDP": 2, "ApproxZCDP": 2}
NUMBERS = ("version", "number", "entry", "entries", "answers")
DIGESTS = ("digest", "sha256", "head", "answers_head")
NULLABLE = ("dataset", "unit", "anchor", "request_id", "account", "act", "amount", "answer")
HEXADECIMAL = re.compile(r"[0-9a-f]{64}", re.ASCII)
AMOUNT = re.compile(r"\d{1,4000}(/[1-9]\d{0,3999})?", re.ASCII)
TIME = re.compile(r"\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\dZ", re.ASCII)
Pair = tuple[Fraction, ...]


class WrongExport(Exception):
    """The export does not hold."""


def must(holds: object, otherwise: str) -> None:
    if not holds:
        raise WrongExport(otherwise)


def digest(*parts: object) -> str:
    return hashlib.sha256(json.dumps(list(parts), separators=(",", ":")).encode("ascii")).hexdigest()


def plus(a: Pair, b: Pair) -> Pair:
    return tuple(x + y for x, y in zip(a, b, strict=True))


def minus(a: Pair, b: Pair) -> Pair:
    return tuple(max(x - y, Fraction(0)) for x, y in zip(a, b, strict=True))


def within(a: Pair, b: Pair) -> bool:
    return all(x <= y for x, y in zip(a, b, strict=True))


@dataclass
class Account:
    """What an account may spend, has spent, and whether it goes on."""

    share: Pair
    spent: Pair
    reserved: bool
    is_open: bool = True


@dataclass
class Auditor:
    """Goes through the lines, and knows what they add up to."""

    size: int = 0
    budget: Pair = ()
    total: Pair = ()
    before: str = ""
    time: str = ""
    accounts: dict[str, Account] = field(default_factory=dict)
    requests: set[tuple[str | None, str]] = field(default_factory=set)
    entries: list[dict[str, Any]] = field(default_factory=list)

    def amount(self, text: object) -> Pair:
        must(isinstance(text, str), "an amount is text")
        words = str(text).split(" ")
        must(all(map(AMOUNT.fullmatch, words)), "an amount is of fractions of at most 4,000 digits")
        found = tuple(map(Fraction, words))
        must(len(found) == self.size, "an amount has the parts of its measure")
        must(" ".join(map(str, found)) == text, "a fraction is in lowest terms")
        return found

    def nothing(self) -> Pair:
        return (Fraction(0),) * self.size

    def reserves(self) -> Pair:
        found = self.nothing()
        for account in self.accounts.values():
            if account.reserved and account.is_open:
                found = plus(found, minus(account.share, account.spent))
        return found

    # ---- records -----------------------------------------------------------------------------------------

    def header(self, head: dict[str, Any]) -> None:
        must(type(head["version"]) is int and head["version"] == 2, "the version is 2")
        must(head["neighbours"] in ("add_remove", "change_one"), "neighbours are of two kinds")
        self.size = PARTS[head["measure"]]
        self.budget, self.total = self.amount(head["budget"]), self.nothing()
        must(TIME.fullmatch(head["created"]), "a time has its form")
        self.time = head["created"]
        columns = [head[key] for key in KEYS["header"][:-1]]
        must(head["digest"] == digest("dpselect header", "", *columns), "the header has its digest")
        self.before = head["digest"]

    def entry(self, entry: dict[str, Any]) -> None:
        number = entry["number"]
        must(type(number) is int and number == len(self.entries) + 1, "numbers go up by one")
        columns = [entry[key] for key in KEYS["entry"][:-1]]
        if columns[-3:] == [None] * 3:
            columns = columns[:-3]
        must(entry["digest"] == digest("dpselect entry", self.before, *columns), "an entry has its digest")
        must(TIME.fullmatch(entry["time"]) and entry["time"] >= self.time, "times never go back")
        loss = self.amount(entry["loss"])
        self.total = plus(self.total, loss)
        must(self.amount(entry["total"]) == self.total, "a total is the sum of all losses")
        if entry["act"] is None:
            must(entry["amount"] is None, "a charge has no amount")
            self.charge(entry["account"], loss)
        else:
            must(loss == self.nothing() and entry["request_id"] is None, "an act is no charge")
            self.change(entry)
        if entry["request_id"] is not None:
            request = (entry["account"], entry["request_id"])
            must(request not in self.requests, "a request is charged once")
            self.requests.add(request)
        self.before, self.time = entry["digest"], entry["time"]
        self.entries.append(entry)

    def charge(self, name: str | None, loss: Pair) -> None:
        must(within(self.total, self.budget), "a total is within the budget")
        account = self.open_account(name) if name is not None else None
        if account is not None:
            account.spent = plus(account.spent, loss)
            must(within(account.spent, account.share), "charges are within the share")
        if account is None or not account.reserved:
            must(within(plus(self.total, self.reserves()), self.budget), "reserves are left alone")

    def open_account(self, name: object) -> Account:
        account = self.accounts.get(str(name))
        must(account is not None and account.is_open, "an account is open")
        assert account is not None
        return account

    def change(self, entry: dict[str, Any]) -> None:
        act, name, before = entry["act"], entry["account"], self.reserves()
        must((entry["amount"] is None) == (act == "close"), "every act but a close has an amount")
        must((name is None) == (act == "budget"), "every act but one on the budget has an account")
        if act in ("open", "reserve"):
            must(name not in self.accounts, "a name is opened once")
            self.accounts[name] = Account(self.amount(entry["amount"]), self.nothing(), act == "reserve")
        elif act == "share":
            self.open_account(name).share = self.amount(entry["amount"])
        elif act == "close":
            self.open_account(name).is_open = False
        else:
            must(act == "budget", "an act is one of five")
            self.budget = self.amount(entry["amount"])
        for old, new, spent, most in zip(before, self.reserves(), self.total, self.budget, strict=True):
            must(new <= old or spent + new <= most, "reserves grow within the budget")

    def answer(self, answer: dict[str, Any], answered: set[int], before: str) -> None:
        number, entry, text = answer["number"], answer["entry"], answer["answer"]
        must(type(number) is int and number == len(answered) + 1, "answers go up by one")
        must(type(entry) is int and 1 <= entry <= len(self.entries), "an answer has an entry")
        must(entry not in answered, "an entry has at most one answer")
        charged = self.entries[entry - 1]
        must(charged["request_id"] is not None, "an answer is one to a request")
        if text is not None:
            must(hashlib.sha256(text.encode()).hexdigest() == answer["sha256"], "a text has its hash")
            found = digest("dpselect answer", before, charged["digest"], number, entry, text)
            must(answer["digest"] == found, "an answer has its digest")
        answered.add(entry)


def is_of_its_kind(key: str, value: object) -> bool:
    if key in NUMBERS:
        return type(value) is int
    if key in DIGESTS:
        return isinstance(value, str) and bool(HEXADECIMAL.fullmatch(value))
    return isinstance(value, str) or (value is None and key in NULLABLE)


def read(data: bytes) -> list[dict[str, Any]]:
    """Read the lines: their form, their kinds and their order."""
    must(data.endswith(b"\n"), "the last line is ended")
    records = []
    for line in data[:-1].decode("ascii").split("\n"):
        record = json.loads(line)
        must(json.dumps(record, separators=(",", ":")) == line, "a line is written as the page says")
        must(list(record) == ["record", *KEYS[record["record"]]], "keys are there, in order")
        must(all(is_of_its_kind(*each) for each in record.items()), "a value is of the kind of its key")
        records.append(record)
    kinds = [record["record"] for record in records]
    entries, answers = kinds.count("entry"), kinds.count("answer")
    must(kinds == ["header", *["entry"] * entries, *["answer"] * answers, "end"], "lines are in order")
    return records


def audit(data: bytes, anchor: str | None = None) -> str:
    """Give the number of entries and the head of an export that holds; raise an error otherwise."""
    records = read(data)
    auditor = Auditor()
    auditor.header(records[0])
    answers: list[dict[str, Any]] = []
    answered: set[int] = set()
    for record in records[1:-1]:
        if record["record"] == "entry":
            auditor.entry(record)
            continue
        before = answers[-1]["digest"] if answers else records[0]["digest"]
        auditor.answer(record, answered, before)
        answers.append(record)
    end = {
        "record": "end",
        "entries": len(auditor.entries),
        "head": auditor.before,
        "answers": len(answers),
        "answers_head": answers[-1]["digest"] if answers else records[0]["digest"],
        "sha256": hashlib.sha256(data[: data.rindex(b"\n", 0, -1) + 1]).hexdigest(),
    }
    must(json.dumps(records[-1]) == json.dumps(end), "the last line fits")
    if anchor is not None:
        fits_anchor(anchor, records[0]["digest"], auditor.entries, answers)
    return f"{len(auditor.entries)} entries, head {auditor.before}"


def fits_anchor(
    anchor: str, header: str, entries: list[dict[str, Any]], answers: list[dict[str, Any]]
) -> None:
    """Compare with what an anchor knows, which may be less."""
    lines = anchor.split("\n")
    must(lines[1] == f"header {header}", "the anchor is one of this ledger")
    for line, word, rows in ((lines[2], "entries", entries), (lines[3], "answers", answers)):
        said, number, known = line.split(" ")
        must(said == word and int(number) <= len(rows), "nothing is missing that the anchor knows")
        must(known == (rows[int(number) - 1]["digest"] if int(number) else header), "the anchor agrees")
