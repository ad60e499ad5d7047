"""What a notebook shows of a ledger: the budget, what is left, the last charges; damage is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpselect import Ledger, PureDP
from dpselect.ledger.budget import Currency
from dpselect.privacy import ZCDP


@pytest.mark.parametrize(("budget", "third"), [(PureDP(1), PureDP("1/3")), (ZCDP(1), ZCDP("1/3"))])
def test_a_page_says_what_is_spent_and_left(budget: Currency, third: Currency, tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "town.ledger", budget=budget, unit="voter") as ledger:
        empty = ledger._repr_html_()
        assert "width:0.0%" in empty
        assert "<th>charge</th>" not in empty
        ledger.charge(
            third, reason=f"votes of dish, 1 of 9, {third.symbol} 1/3, add_remove, question {'0' * 64}"
        )
        page = ledger._repr_html_()
        assert "width:33.3%" in page
        assert f"<tr><th>left</th><td>{ledger.remaining.left()}</td></tr>" in page
        assert f"<tr><th>spent</th><td>{third}</td></tr>" in page
        assert "<td>1. votes of dish, 1 of 9</td>" in page
        assert "<td>one person (column voter): one more or one fewer (add_remove)</td>" in page


def test_only_the_last_charges_are_shown(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "town.ledger", budget=PureDP(1)) as ledger:
        for number in range(1, 13):
            ledger.charge(PureDP("1/100"), reason=f"question number {number}")
        page = ledger._repr_html_()
    assert "3. question number 3" in page
    assert "2. question number 2<" not in page
    assert "... and 2 before" in page


def test_a_damaged_ledger_says_so_on_its_page(tmp_path: Path) -> None:
    path = tmp_path / "town.ledger"
    ledger = Ledger.create(path, budget=PureDP(1))
    ledger.close()
    path.write_bytes(b"no ledger")
    page = ledger._repr_html_()
    assert "<p><strong>" in page
    assert "budget" not in page.partition("<p>")[0]
