"""An auditor who knows the page of exports alone agrees with ``verify_export``, also on forgeries."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpselect import ZCDP, ApproxDP, ApproxZCDP, BudgetExhausted, Ledger, LedgerDamaged, PureDP
from dpselect.ledger import verify_export
from dpselect.ledger.budget import Currency
from tests.ledger.auditor import KEYS, PARTS, WrongExport, audit, digest
from tests.ledger.places import Place
from tests.ledger.stored_format import FORMAT_2

REFUSED = (WrongExport, ValueError, KeyError, TypeError, AttributeError)
KINDS: list[type[Currency]] = [PureDP, ZCDP, ApproxDP, ApproxZCDP]


def loss(kind: type[Currency], amount: str, delta: str = "1e-7") -> Currency:
    return kind(amount, delta) if PARTS[kind.__name__] == 2 else kind(amount)  # type: ignore[call-arg]


def written(ledger: Ledger, *, answers: bool) -> bytes:
    return "".join(ledger.export(answers=answers)).encode("ascii")


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_an_auditor_reads_every_kind_of_ledger(place: Place, tmp_path: Path, kind: type[Currency]) -> None:
    ledger = Ledger.create(
        place.url, budget=loss(kind, "3", "1e-5"), dataset="Wähler 😀", anchor=tmp_path / "anchor"
    )
    old = (tmp_path / "anchor").read_text(encoding="ascii")
    ledger.charge(loss(kind, "1/3"), reason='première ☕ "q" \\ /', request_id="r")
    ledger.store("r", "tea ☕\n\t\x01\x7f\u2028")
    ledger.open_account("ada", share=loss(kind, "1"), reserve=True)
    ledger.open_account("bob", share=loss(kind, "2", "1e-6"))
    for account in ("ada", "bob", None):
        ledger.charge(loss(kind, "1/7"), reason="x", request_id="same", account=account)
    ledger.store("same", "bob's", account="bob")
    ledger.change_share("ada", loss(kind, "1/14"), reason="lower")
    ledger.change_budget(loss(kind, "1/2"), reason="lower than what is spent")
    with pytest.raises(BudgetExhausted):
        ledger.charge(loss(kind, "1/7"), reason="stopped")
    ledger.change_budget(loss(kind, "5", "1e-5"), reason="more")
    ledger.close_account("ada")
    ledger.charge(loss(kind, "1/9"), reason="goes on", account="bob")
    ledger.store("same", "ada's", account="ada")
    head = list(ledger.entries())[-1].digest
    new = (tmp_path / "anchor").read_text(encoding="ascii")
    for answers in (False, True):
        for anchor in (None, old, new):
            assert audit(written(ledger, answers=answers), anchor) == f"11 entries, head {head}"
    with Ledger.create(tmp_path / "other.ledger") as other, pytest.raises(WrongExport, match="this ledger"):
        audit(written(other, answers=False), new)


def test_an_auditor_reads_ledgers_of_the_first_code_of_format_2_and_empty_ones(tmp_path: Path) -> None:
    for name in ("pure", "zcdp"):
        for file in FORMAT_2.glob(f"{name}.*"):
            (tmp_path / file.name).write_bytes(file.read_bytes())
        with Ledger.open(tmp_path / f"{name}.ledger") as ledger:
            assert audit(written(ledger, answers=True)).startswith(f"{ledger.verify()} entries")
    with Ledger.create(tmp_path / "empty.ledger") as empty:
        assert audit(written(empty, answers=True)).startswith("0 entries")


# ---- forgeries -------------------------------------------------------------------------------------------

Change: TypeAlias = tuple[str, object]
names = st.sampled_from(["ada", "bob", None])
amounts = st.tuples(
    st.sampled_from(["1/8", "1/4", "1/2", "1", "2", "0"]), st.sampled_from(["0", "1/16", "1/8"])
)
acts = st.sampled_from([None, None, None, None, "open", "reserve", "share", "close", "budget"])
odd: st.SearchStrategy[Change] = st.sampled_from(
    [
        ("number", 1.0),
        ("number", True),
        ("number", 7),
        ("loss", "-1/8"),
        ("loss", "2/16"),
        ("total", "1/8 "),
        ("total", "9"),
        ("time", "2026-05-01T12:30"),
        ("time", "2026-05-01 12:30Z"),
        ("time", "2026-05-01T23:30+05:00"),
        ("time", "2026-05-01T11:00Z"),
        ("time", "2026-13-01T12:30Z"),
        ("request_id", "r"),
        ("account", "ada"),
        ("account", None),
        ("reason", 5),
        ("reason", None),
        ("request_id", 0.5),
        ("act", "charge"),
        ("act", ""),
        ("amount", None),
        ("amount", "1"),
    ]
)
requests = st.sampled_from([None, "r", "s", "t"])
entries = st.lists(st.tuples(acts, names, amounts, requests, st.none() | odd), max_size=9)
texts = st.sampled_from(["tea", "", "ünï"])
answers = st.lists(st.tuples(st.integers(0, 9), texts, st.booleans()), max_size=3)


def sum_text(total: str, loss: str) -> str:
    parts = zip(total.split(" "), loss.split(" "), strict=True)
    return " ".join(str(Fraction(a) + Fraction(b)) for a, b in parts)


def forged(measure: str, budget: tuple[str, str], acts: list[Any], given: list[Any]) -> bytes:
    """Write an export with digests that fit, whatever it says; an intruder can do the same."""
    size = PARTS[measure]
    head: dict[str, Any] = dict.fromkeys(["record", *KEYS["header"]])
    head |= {"record": "header", "version": 2, "measure": measure, "neighbours": "add_remove"}
    head |= {"budget": " ".join(budget[:size]), "created": "2026-05-01T12:00Z"}
    head["digest"] = before = digest("dpselect header", "", *list(head.values())[1:-1])
    records, chain = [head], [before]
    total = " ".join(["0"] * size)
    for number, (act, name, amount, request, change) in enumerate(acts, start=1):
        text = " ".join(amount[:size])
        entry: dict[str, Any] = dict.fromkeys(["record", *KEYS["entry"]])
        entry |= {"record": "entry", "number": number, "reason": "a", "time": "2026-05-01T12:30Z"}
        entry |= {"loss": " ".join(["0"] * size) if act else text, "request_id": None if act else request}
        total = entry["total"] = sum_text(total, entry["loss"])
        entry |= {"act": act, "account": None if act == "budget" else name}
        entry["amount"] = text if act not in (None, "close") else None
        if change is not None:
            entry[change[0]] = change[1]
        columns = list(entry.values())[1:-1]
        entry["digest"] = before = digest(
            "dpselect entry", before, *(columns[:-3] if columns[-3:] == [None] * 3 else columns)
        )
        records.append(entry)
        chain.append(before)
    before = head["digest"]
    for number, (entry_number, answer, shown) in enumerate(given, start=1):
        of = chain[min(entry_number, len(chain) - 1)]
        before = digest("dpselect answer", before, of, number, entry_number, answer)
        hashed = hashlib.sha256(answer.encode()).hexdigest()
        columns = [number, entry_number, answer if shown else None, before, hashed]
        records.append({"record": "answer", **dict(zip(KEYS["answer"], columns, strict=True))})
    lines = "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records)
    ends = [len(acts), chain[-1], len(given), before, hashlib.sha256(lines.encode()).hexdigest()]
    end = {"record": "end", **dict(zip(KEYS["end"], ends, strict=True))}
    return (lines + json.dumps(end, separators=(",", ":")) + "\n").encode("ascii")


def verdicts(path: Path, data: bytes) -> tuple[bool, bool]:
    """Say whether we and the auditor take an export."""
    path.write_bytes(data)
    try:
        ours = bool(verify_export(path))
    except LedgerDamaged:
        ours = False
    try:
        theirs = bool(audit(data))
    except REFUSED:
        theirs = False
    return ours, theirs


def agree(path: Path, examples: int) -> None:
    found: list[bool] = []

    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.sampled_from(list(PARTS)), amounts.filter(lambda a: a[0] != "0"), entries, answers)
    def forge(measure: str, budget: tuple[str, str], acts: list[Any], given: list[Any]) -> None:
        ours, theirs = verdicts(path, forged(measure, budget, acts, given))
        assert ours is theirs
        found.append(ours)

    forge()
    assert 0.02 < sum(found) / len(found) < 0.9, "both verdicts must be frequent"


def test_e10_an_auditor_and_we_agree_on_forgeries_whose_digests_fit(tmp_path: Path) -> None:
    agree(tmp_path / "a.jsonl", 400)


@pytest.mark.slow
def test_e10_an_auditor_and_we_agree_on_many_forgeries(tmp_path: Path) -> None:
    agree(tmp_path / "a.jsonl", 20_000)
