"""Each guard of the ledger, taken away: what the other tests expect then no longer happens."""

import shutil
from pathlib import Path

import pytest

from dpselect import Ledger, PureDP
from dpselect.ledger import anchor as anchors
from dpselect.ledger.budget import Parts
from tests.ledger.places import FileCabinet

LEDGER = "dpselect.ledger"


def test_without_digests_an_edit_goes_unnoticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{LEDGER}.entries.record_digest", lambda *_: "0" * 64)
    place = FileCabinet(tmp_path / "a.ledger")
    with Ledger.create(place.url) as ledger:
        ledger.charge(PureDP("1/2"), reason="a")
    place.force("UPDATE dpselect_entries SET reason = 'edited'")
    assert next(Ledger.open(place.url).entries()).reason == "edited"


def test_without_the_anchor_an_old_copy_is_taken_for_the_newest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.ledger"
    with Ledger.create(path) as ledger:
        ledger.charge(PureDP("1/2"), reason="a")
    shutil.copy(path, tmp_path / "old")
    with Ledger.open(path) as ledger:
        ledger.charge(PureDP("1/2"), reason="b")
        header = anchors.read_anchor(tmp_path / "a.ledger.anchor").header
    shutil.copy(tmp_path / "old", path)
    for module in ("book", "anchor_places"):
        monkeypatch.setattr(f"{LEDGER}.{module}.read_anchor", lambda _: anchors.empty_state(header))
    assert Ledger.open(path).remaining == PureDP("1/2")


def test_without_the_filter_a_budget_is_overspent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unfiltered(spent: Parts, price: Parts, _: Parts) -> Parts:
        return tuple(before + part for before, part in zip(spent, price, strict=True))

    monkeypatch.setattr(f"{LEDGER}.balance.total_after", unfiltered)
    ledger = Ledger.create(tmp_path / "a.ledger")
    for _ in range(3):
        ledger.charge(PureDP(1), reason="a")
    assert ledger.spent == PureDP(3)
