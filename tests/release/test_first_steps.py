"""What newcomers get wrong on the first day: each mistake gets a helpful sentence, and none shows a row."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dpselect
from dpselect import BudgetExhausted, Ledger, PureDP, Table, approval_voting
from dpselect.errors import DpselectError, InvalidParameter, TableUnreadable
from tests.privacy.leaks import leaks
from tests.release.elections import Watched

DISHES = ["soup", "pie", "tea"]
ROWS = "guest,dish\n31337,pie\n31337,soup\n8675309,pie\n"
QUESTION: dict[str, Any] = {"candidate": "dish", "candidates": DISHES}


@pytest.fixture
def ask(tmp_path: Path, ledger: Watched, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Ask as the README does, with something changed."""
    monkeypatch.chdir(tmp_path)
    Path("ballots.csv").write_text(ROWS, encoding="utf-8")

    def asked(source: str = "ballots.csv", *, unit: str = "guest", epsilon: Any = "1/2", **other: Any) -> Any:
        question = approval_voting(**(QUESTION | other))
        return dpselect.select(question, Table(source, unit=unit), epsilon=epsilon, ledger=ledger)

    return asked


def test_the_first_question_is_answered(ask: Callable[..., Any], ledger: Watched) -> None:
    assert ask().label in DISHES
    assert ledger.spent == PureDP("1/2")


FREE: list[tuple[dict[str, Any], type[DpselectError], str]] = [
    (
        {"candidate": "dsh"},
        InvalidParameter,
        "column 'dsh' is not in the table; it has: guest, dish. Did you mean 'dish'?",
    ),
    (
        {"unit": "Guest"},
        InvalidParameter,
        "column 'Guest' is not in the table; it has: guest, dish. Did you mean 'guest'?",
    ),
    (
        {"candidates": None},
        InvalidParameter,
        (
            "candidates must be a list of what can be chosen; got None. They are public and never read "
            "from the data, because a list taken from it would show what somebody wrote: write them out "
            "yourself."
        ),
    ),
    (
        {"epsilon": "0,5"},
        InvalidParameter,
        (
            'epsilon must be a finite number; got \'0,5\'. Write 2, 0.5, "1/3" or "1e-6", with at most 400 '
            "digits and exponents within ±400."
        ),
    ),
    (
        {"source": "balots.csv"},
        InvalidParameter,
        "source must be a file that is there; got 'balots.csv'. Check the path and its spelling.",
    ),
    (
        {"epsilon": None},
        InvalidParameter,
        'exactly one of epsilon, rho and budget must be given; got none. Write epsilon="1/2".',
    ),
    ({"epsilon": 2}, BudgetExhausted, "'approval_voting of dish' costs epsilon 2; 1 of 1 is left."),
]


@pytest.mark.parametrize(("change", "kind", "sentence"), FREE, ids=lambda value: str(value)[:30])
def test_a_mistake_in_the_question_is_told_and_costs_nothing(
    change: dict[str, Any],
    kind: type[DpselectError],
    sentence: str,
    ask: Callable[..., Any],
    ledger: Watched,
) -> None:
    with pytest.raises(kind) as caught:
        ask(**change)
    assert str(caught.value) == sentence
    assert leaks(caught.value) == []
    assert ledger.spent == PureDP(0)


@pytest.mark.parametrize(
    "rows",
    [
        ROWS + "31337,pie,31337\n",
        ROWS + "31337\n",
        ROWS + '31337,"pie\n',
        ROWS.encode() + b"31337,p\xefe\n",
    ],
    ids=["too long", "too short", "an open quote", "not UTF-8"],
)
def test_a_broken_row_is_told_without_the_row(
    rows: str | bytes, ask: Callable[..., Any], ledger: Watched
) -> None:
    content = rows.encode() if isinstance(rows, str) else rows
    Path("broken.csv").write_bytes(content)
    with pytest.raises(TableUnreadable) as caught:
        ask("broken.csv")
    assert str(caught.value) == (
        "the rows of the table must be readable as its schema says; the engine failed on them. Nothing was "
        "released, and what was paid stays paid. Its message is withheld, because it may quote them: look "
        "for broken rows (a CSV row with more or fewer fields than the header, text that is not UTF-8, "
        "a file cut short), or for a lack of memory. If a CSV is in another encoding, name it: "
        'encoding="utf-16", or encoding="cp1252".'
    )
    assert leaks(caught.value) == []
    assert ledger.spent == PureDP("1/2")


def test_a_user_who_runs_a_script_twice_is_told_to_open_the_ledger(tmp_path: Path) -> None:
    Ledger.create(tmp_path / "a.ledger").close()
    with pytest.raises(InvalidParameter, match=r"is there\. Open it: Ledger\.open\(\.\.\.\)\.$"):
        Ledger.create(tmp_path / "a.ledger")
