"""A question is quoted for nothing, released once, and knows after every end whether it was charged."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import FrozenInstanceError, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa
import pytest

import dpselect
from dpselect import (
    AnswerLost,
    ApproxDP,
    BudgetExhausted,
    Ledger,
    LedgerDamaged,
    LedgerUnavailable,
    PureDP,
    Quote,
    Release,
    RequestChanged,
    Scores,
    Table,
    prepare,
)
from dpselect.errors import (
    DpselectError,
    IncomparableLosses,
    InvalidParameter,
    OutsideDomain,
    RandomnessFailed,
    ReleaseFailed,
    TableUnreadable,
)
from dpselect.ledger import Entry
from dpselect.release.data import OpenTable
from tests.privacy.leaks import leaks
from tests.release.elections import DISH, Watched

OWN = dpselect.custom(candidates=["a", "b", "c"], sensitivity=1)
EVEN = Scores([0, 0, 0])
unmetered = pytest.mark.filterwarnings("ignore::dpselect.UnmeteredRelease")


@pytest.fixture
def ballots(tmp_path: Path) -> Path:
    path = tmp_path / "ballots.csv"
    path.write_text("voter,dish\n1,pie\n2,soup\n3,pie\n", encoding="utf-8")
    return path


class Counted:
    """Scores that count how often they are looked at."""

    def __init__(self, outcome: Any = (0, 0, 0)) -> None:
        self.looks, self._outcome = 0, outcome

    def __call__(self) -> Any:
        self.looks += 1
        if isinstance(self._outcome, BaseException):
            raise self._outcome
        return self._outcome


def contents(folder: Path) -> dict[Path, bytes]:
    """Read all files but the locks that SQLite keeps in shared memory."""
    files = [path for path in folder.rglob("*") if path.is_file() and not path.name.endswith("-shm")]
    return {path: path.read_bytes() for path in files}


# ---- the quote -------------------------------------------------------------------------------------------


def test_a_quote_says_all_that_is_public_and_costs_nothing(ballots: Path, ledger: Watched) -> None:
    table = Table(ballots, unit="voter", dataset="lunch")
    with prepare(DISH, table, epsilon="1/2") as question:
        quote = question.quote
    assert (quote.price, quote.measure, quote.k) == (PureDP("1/2"), "max_divergence", 1)
    assert (quote.scale, quote.noise, quote.mechanism) == (Fraction(2), "exponential", "exponential")
    assert quote.accuracy == dpselect.accuracy(DISH, epsilon="1/2")
    assert (quote.unit, quote.neighbours, quote.dataset) == ("voter", "add_remove", "lunch")
    assert quote.digest == quote.problem == DISH.digest
    assert quote.version
    assert not question.charged
    assert not question.looked
    assert ledger.spent == PureDP(0)


def test_a_quote_that_is_only_looked_at_reads_no_score() -> None:
    scores = Counted()
    with prepare(OWN, Scores(scores), epsilon=1) as question:
        assert question.quote.price == PureDP(1)
    assert scores.looks == 0


def test_a_release_is_its_quote_with_labels(ballots: Path, ledger: Watched) -> None:
    with prepare(DISH, Table(ballots, unit="voter"), k=2, epsilon="1/2") as question:
        release = question.release(ledger)
    assert isinstance(release, Quote)
    assert release == Release.of(question.quote, release.labels)
    for field in fields(Quote):
        assert getattr(release, field.name) == getattr(question.quote, field.name)
    (entry,) = ledger.entries()
    assert entry.reason == question.quote.reason == release.reason


def test_a_release_that_was_read_again_is_the_same(ledger: Watched) -> None:
    with prepare(OWN, EVEN, epsilon="1/2") as question:
        release = question.release(ledger, request_id="lunch")
    read = Release.from_json(ledger.answer("lunch") or "")
    assert read == release
    assert hash(read) == hash(release)
    assert read.reason == ""


def test_a_quote_shows_itself_without_data_and_runs_no_name(ballots: Path) -> None:
    table = Table(ballots, unit="voter", dataset="<b>lunch</b>\x1b[2J")
    with prepare(DISH, table, k=2, epsilon="1/2") as question:
        quote = question.quote
    assert repr(quote) == (
        "winners   2, not drawn yet\n"
        "price     epsilon 0.5\n"
        "protects  one person (column voter): one more or one fewer\n"
        f"accuracy  {quote.accuracy}\n"
        "noise     exponential, scale 2\n"
        r"data set  '<b>lunch</b>\x1b[2J'"
    )
    page = quote._repr_html_()
    assert "<table><tr><th>winners</th><td>2, not drawn yet</td></tr>" in page
    assert "&lt;b&gt;lunch&lt;/b&gt;" in page
    assert "<b>" not in page


def test_a_quote_never_changes() -> None:
    quote = prepare(OWN, EVEN, epsilon=1).quote
    for field in fields(quote):
        with pytest.raises(FrozenInstanceError):
            setattr(quote, field.name, None)
    assert len({quote, replace(quote), replace(quote, unit="guest")}) == 2


def test_a_question_shows_no_data_and_is_not_pickled() -> None:
    question = prepare(OWN, Scores([31337.25, 8675309, 1]), epsilon=1)
    assert repr(question) == "<question: custom(3 candidates) for epsilon 1>"
    with pytest.raises(TypeError, match="not pickled") as caught:
        pickle.dumps(question)
    assert leaks(caught.value) == []


@pytest.mark.parametrize(
    "wrong",
    [{"epsilon": 0}, {"epsilon": "x"}, {"epsilon": 1, "k": 4}, {"epsilon": 1, "neighbours": "friends"}, {}],
    ids=str,
)
def test_what_is_wrong_with_a_price_is_told_before_the_table_is_opened(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter) as caught:
        prepare(DISH, Table("no such file.csv", unit="voter"), **wrong)
    assert "file that is there" not in str(caught.value)


def test_what_is_wrong_with_a_column_is_told_when_the_table_is_opened(ballots: Path) -> None:
    typo = dpselect.approval_voting(candidate="dihs", candidates=["soup", "pie"])
    question = prepare(typo, Table(ballots, unit="voter"), epsilon=1)
    with pytest.raises(InvalidParameter, match="Did you mean 'dish'"), question:
        pytest.fail("opened")
    assert not question.charged


# ---- opened once, released once --------------------------------------------------------------------------


def test_a_question_is_released_once(ledger: Watched) -> None:
    with prepare(OWN, EVEN, epsilon="1/4") as question:
        question.release(ledger)
        for _ in range(2):
            with pytest.raises(InvalidParameter, match="a question is released once"):
                question.release(ledger)
        with pytest.raises(InvalidParameter, match="a question is released once"):
            question.dry_run(ledger)
        assert question.charged
    assert ledger.spent == PureDP("1/4")


@pytest.mark.parametrize("outcome", [None, KeyboardInterrupt()])
def test_a_question_that_failed_is_not_released_again(outcome: Any, ledger: Watched) -> None:
    with prepare(OWN, Scores(Counted(outcome)), epsilon="1/4") as question:
        with pytest.raises((DpselectError, KeyboardInterrupt)):
            question.release(ledger)
        with pytest.raises(InvalidParameter, match="a question is released once"):
            question.release(ledger)
    assert ledger.spent == PureDP("1/4")


def test_a_question_that_was_refused_is_not_released_again(ledger: Watched) -> None:
    with prepare(OWN, EVEN, epsilon=2) as question:
        with pytest.raises(BudgetExhausted):
            question.release(ledger)
        with pytest.raises(InvalidParameter, match="a question is released once"):
            question.release(ledger)


@pytest.mark.parametrize("data", ["table", "scores"])
def test_a_question_is_released_only_while_it_is_open(data: str, ballots: Path, ledger: Watched) -> None:
    question = (
        prepare(DISH, Table(ballots, unit="voter"), epsilon=1)
        if data == "table"
        else prepare(OWN, EVEN, epsilon=1)
    )
    acts: list[Callable[[], object]] = [lambda: question.release(ledger), lambda: question.dry_run(ledger)]
    for act in acts:
        with pytest.raises(InvalidParameter, match="a question must be open"):
            act()
    with question:
        pass
    for act in acts:
        with pytest.raises(InvalidParameter, match="a question must be open"):
            act()
    with pytest.raises(InvalidParameter, match="a question is opened once"):
        question.__enter__()
    assert not question.charged
    assert ledger.spent == PureDP(0)


def test_an_account_that_was_never_opened_is_refused_and_nothing_is_charged(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "a.ledger")
    with (
        prepare(OWN, EVEN, epsilon=1) as question,
        pytest.raises(InvalidParameter, match="account must be one that was opened; got 'students'"),
    ):
        question.release(ledger, account="students")
    assert not question.charged
    assert ledger.spent == PureDP(0)


def test_a_question_is_charged_to_the_account_that_is_named(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "a.ledger", budget=ApproxDP(2, "1e-6"))
    for name in ("ada", "bob"):
        ledger.open_account(name, share=ApproxDP(1, "1e-6"))
    with prepare(OWN, EVEN, budget=ApproxDP(1, "1e-6")) as question:
        release = question.release(ledger, request_id="r", account="ada")
    assert (ledger.account("ada").spent, ledger.account("bob").spent) == (ApproxDP(1, "1e-6"), ApproxDP(0, 0))
    asked: dict[str, Any] = {"budget": ApproxDP(1, "1e-6"), "ledger": ledger, "request_id": "r"}
    assert dpselect.select(OWN, EVEN, **asked, account="ada") == release
    with pytest.raises(BudgetExhausted, match="is left") as refused:
        dpselect.select(OWN, EVEN, **asked, account="bob")
    assert refused.value.remaining == ApproxDP(1, 0)
    with prepare(OWN, EVEN, epsilon=1) as question, pytest.raises(BudgetExhausted, match="share of 'ada'"):
        question.dry_run(ledger, account="ada")
    with pytest.raises(InvalidParameter, match="an account needs a ledger"):
        dpselect.select(OWN, EVEN, epsilon=1, account="ada")


class Openings:
    """Counts how often a table is opened, closed and fitted."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.opened = self.closed = self.fitted = 0
        real_open, real_request = Table.open, dpselect.problems.Problem.request

        @contextmanager
        def counted(table: Table) -> Iterator[Any]:
            self.opened += 1
            with real_open(table) as engine:
                yield engine
            self.closed += 1

        def request(*args: Any, **named: Any) -> Any:
            self.fitted += 1
            return real_request(*args, **named)

        monkeypatch.setattr(Table, "open", counted)
        monkeypatch.setattr(dpselect.problems.Problem, "request", request)


def test_a_release_opens_the_table_once_fits_it_once_and_closes_it(
    ballots: Path, ledger: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    count, table = Openings(monkeypatch), Table(ballots, unit="voter")
    dpselect.select(DISH, table, epsilon="1/4", ledger=ledger)
    assert (count.opened, count.fitted, count.closed) == (1, 1, 1)
    with prepare(DISH, table, epsilon="1/4") as question:
        question.dry_run(ledger)
        question.release(ledger)
        assert count.closed == 1
    assert (count.opened, count.fitted, count.closed) == (2, 2, 2)


def test_a_table_that_was_given_open_is_closed_by_the_one_who_opened_it(
    ballots: Path, ledger: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = Openings(monkeypatch)
    with OpenTable(Table(ballots, unit="voter")) as opened:
        assert opened.schema.column("dish").kind == "text"
        for _ in range(2):
            with prepare(DISH, opened, epsilon="1/4") as question:
                assert question.release(ledger).unit == "voter"
            assert count.closed == 0
        assert repr(opened) == f"<{Table(ballots, unit='voter')!r}, open>"
    assert (count.opened, count.closed) == (1, 1)
    with pytest.raises(InvalidParameter, match="the table must be open"):
        prepare(DISH, opened, epsilon=1).__enter__()


def test_a_table_is_closed_also_if_the_question_does_not_fit(
    ballots: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = Openings(monkeypatch)
    typo = dpselect.approval_voting(candidate="dihs", candidates=["soup", "pie"])
    with pytest.raises(InvalidParameter):
        prepare(typo, Table(ballots, unit="voter"), epsilon=1).__enter__()
    assert (count.opened, count.closed) == (1, 1)


# ---- charged: after every kind of end --------------------------------------------------------------------


class Stopped(KeyboardInterrupt):
    """Ctrl-C."""


def ends(
    error: type[BaseException], data: Scores | Table, ledger: Ledger, **changed: Any
) -> tuple[bool, bool]:
    """Release, expect it to fail, and give what the question says of it: charged, looked."""
    asked: dict[str, Any] = {"epsilon": "1/4"} | changed
    request_id = asked.pop("request_id", None)
    problem = OWN if isinstance(data, Scores) else DISH
    with prepare(problem, data, **asked) as question:
        with pytest.raises(error) as caught:
            question.release(ledger, request_id=request_id)
        assert leaks(caught.value) == []
    return question.charged, question.looked


def test_charged_is_true_from_the_commit_on_and_not_before(ledger: Watched) -> None:
    seen: list[bool] = []

    def compute() -> list[int]:
        seen.append(question.charged)
        return [0, 0, 0]

    with prepare(OWN, Scores(compute), epsilon="1/4") as question:
        ledger.before = lambda: seen.append(question.charged)
        ledger.after = lambda: seen.append(question.charged)
        question.release(ledger)
    assert seen == [False, True, True]
    assert question.charged
    assert question.looked


def test_what_is_refused_is_not_charged(ballots: Path, tmp_path: Path, ledger: Watched) -> None:
    scores = Counted()
    stranger: Any = 7
    assert ends(BudgetExhausted, Scores(scores), ledger, epsilon=2) == (False, False)
    assert ends(InvalidParameter, Scores(scores), stranger) == (False, False)
    assert ends(InvalidParameter, Scores(scores), ledger, neighbours="change_one") == (False, False)
    assert ends(InvalidParameter, Scores(scores), ledger, request_id="\n") == (False, False)
    assert ends(IncomparableLosses, Scores(scores), ledger, epsilon=None, rho=1) == (False, False)
    with Ledger.create(tmp_path / "other.ledger", unit="household") as other:
        assert ends(InvalidParameter, Table(ballots, unit="voter"), other) == (False, False)
    assert scores.looks == 0
    assert ledger.verify() == 0


def test_what_is_refused_after_the_same_was_charged_is_not_charged(ledger: Watched) -> None:
    dpselect.select(OWN, EVEN, epsilon="3/4", ledger=ledger)
    assert ends(BudgetExhausted, EVEN, ledger, epsilon="3/4") == (False, False)


def raising(error: BaseException) -> Callable[[], NoReturn]:
    def fails() -> NoReturn:
        raise error

    return fails


@pytest.mark.parametrize("request_id", [None, "lunch"])
@pytest.mark.parametrize("asked_before", ["never", "once"])
@pytest.mark.parametrize("error", [Stopped(), LedgerUnavailable("gone"), RuntimeError()])
def test_an_interrupt_in_the_charge_is_charged_exactly_if_it_was_committed(
    error: BaseException, asked_before: str, request_id: str | None, ledger: Watched
) -> None:
    if asked_before == "once":
        dpselect.select(OWN, EVEN, epsilon="1/4", ledger=ledger)
    entries = ledger.verify()
    ledger.before = raising(error)
    assert ends(type(error), EVEN, ledger, request_id=request_id) == (False, False)
    assert ledger.verify() == entries
    ledger.before = Watched.before
    ledger.after = raising(error)
    assert ends(type(error), EVEN, ledger, request_id=request_id) == (True, False)
    assert ledger.verify() == entries + 1


def test_an_interrupt_right_after_the_commit_is_charged(
    ledger: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Deep in the ledger: the entry is on disk, the anchor is not yet."""
    monkeypatch.setattr("dpselect.ledger.anchor.LockedAnchor.advance", lambda *_, **__: raising(Stopped())())
    assert ends(Stopped, EVEN, ledger) == (True, False)
    monkeypatch.undo()
    assert ledger.spent == PureDP("1/4")


def test_another_question_that_was_charged_meanwhile_is_not_ours(ledger: Watched, tmp_path: Path) -> None:
    def another_pays_then_we_are_stopped() -> NoReturn:
        with Ledger.open(tmp_path / "food.ledger") as same:
            dpselect.select(OWN, EVEN, epsilon="1/8", ledger=same)
        raise Stopped

    ledger.before = another_pays_then_we_are_stopped
    assert ends(Stopped, EVEN, ledger) == (False, False)
    assert ledger.spent == PureDP("1/8")


def test_a_price_of_nothing_is_charged_too(ledger: Watched) -> None:
    one = dpselect.custom(candidates=["a"], sensitivity=1)
    ledger.after = raising(Stopped())
    with prepare(one, Scores([5]), epsilon=1) as question, pytest.raises(Stopped):
        question.release(ledger)
    assert question.quote.price == PureDP(0)
    assert question.charged
    assert ledger.verify() == 1


def test_a_ledger_that_cannot_be_asked_may_have_charged(
    ledger: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Watched, "entries", raising(LedgerUnavailable("gone")))
    ledger.before = raising(LedgerUnavailable("gone"))
    assert ends(LedgerUnavailable, EVEN, ledger) == (True, False)


@pytest.mark.parametrize(("asked_before", "charged"), [("never", False), ("once", True)])
def test_where_the_sum_before_is_unknown_a_charge_for_the_same_may_be_ours(
    asked_before: str, charged: object, ledger: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    if asked_before == "once":
        dpselect.select(OWN, EVEN, epsilon="1/4", ledger=ledger)
    monkeypatch.setattr(Watched, "spent", property(lambda _: raising(LedgerUnavailable("gone"))()))
    ledger.before = raising(Stopped())
    assert ends(Stopped, EVEN, ledger) == (charged, False)


def test_a_second_interrupt_while_the_ledger_is_asked_leaves_the_question_open_for_later(
    ledger: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Watched, "entries", lambda _: raising(Stopped())())
    for moment, charged in (("before", False), ("after", True)):
        setattr(ledger, moment, raising(Stopped()))
        with prepare(OWN, EVEN, epsilon="1/4") as question, pytest.raises(Stopped):
            question.release(ledger)
        with monkeypatch.context() as undone:
            undone.setattr(Watched, "entries", Ledger.entries)
            assert question.charged is charged
        setattr(ledger, moment, getattr(Watched, moment))


def test_a_damaged_ledger_charges_nothing(ledger: Watched) -> None:
    ledger.before = raising(LedgerDamaged())
    assert ends(LedgerDamaged, EVEN, ledger) == (False, False)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (Stopped("31337"), Stopped),
        (ValueError("31337"), ReleaseFailed),
        (MemoryError("31337"), ReleaseFailed),
        (TableUnreadable(), ReleaseFailed),
        (SystemExit(31337), SystemExit),
    ],
)
def test_what_fails_in_the_look_is_charged(
    error: BaseException, told: type[BaseException], ledger: Watched
) -> None:
    assert ends(told, Scores(Counted(error)), ledger) == (True, True)
    assert ledger.spent == PureDP("1/4")


def test_rows_that_the_engine_cannot_read_are_charged(ballots: Path, ledger: Watched) -> None:
    ledger.after = ballots.unlink
    assert ends(TableUnreadable, Table(ballots, unit="voter"), ledger) == (True, True)


@pytest.mark.parametrize(
    ("error", "told"),
    [(Stopped(), Stopped), (RandomnessFailed(), RandomnessFailed), (LookupError(), ReleaseFailed)],
)
def test_what_fails_in_the_draw_is_charged(
    error: BaseException, told: type[BaseException], ledger: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dpselect.Measurement, "__call__", lambda *_: raising(error)())
    assert ends(told, Scores([0, 0, 0]), ledger) == (True, True)


@pytest.mark.parametrize("error", [Stopped(), LedgerUnavailable("gone"), LedgerDamaged()])
def test_an_answer_that_cannot_be_stored_is_charged(
    error: BaseException, ledger: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Watched, "store", lambda *_: raising(error)())
    assert ends(type(error), EVEN, ledger, request_id="lunch") == (True, True)


def test_a_request_that_was_answered_is_not_charged_again(ledger: Watched) -> None:
    first = dpselect.select(OWN, EVEN, epsilon="1/4", ledger=ledger, request_id="lunch")
    scores = Counted()
    with prepare(OWN, Scores(scores), epsilon="1/4") as question:
        assert question.release(ledger, request_id="lunch") == first
    assert (question.charged, question.looked, scores.looks) == (False, False, 0)
    assert ends(RequestChanged, EVEN, ledger, epsilon="1/8", request_id="lunch") == (False, False)


def test_a_request_that_another_process_pays_first_is_not_charged_by_us(
    ledger: Watched, tmp_path: Path
) -> None:
    def another_is_faster() -> None:
        with Ledger.open(tmp_path / "food.ledger") as same:
            dpselect.select(OWN, EVEN, epsilon="1/4", ledger=same, request_id="lunch")

    ledger.before = another_is_faster
    with prepare(OWN, EVEN, epsilon="1/4") as question:
        question.release(ledger, request_id="lunch")
    assert (question.charged, question.looked) == (False, False)
    assert ledger.spent == PureDP("1/4")


def test_a_request_whose_answer_is_lost_is_not_charged_again(ledger: Watched) -> None:
    assert ends(ReleaseFailed, Scores(Counted(ValueError())), ledger, request_id="lunch") == (True, True)
    assert ends(AnswerLost, EVEN, ledger, request_id="lunch") == (False, False)


@unmetered
def test_without_a_ledger_nothing_is_charged_and_rows_are_looked_at() -> None:
    with prepare(OWN, EVEN, epsilon="1/4") as question:
        assert question.release().label in OWN.outputs
    assert (question.charged, question.looked) == (False, True)
    with prepare(OWN, Scores(Counted(Stopped())), epsilon="1/4") as question, pytest.raises(Stopped):
        question.release()
    assert (question.charged, question.looked) == (False, True)
    with prepare(OWN, EVEN, epsilon="1/4") as question, pytest.raises(InvalidParameter):
        question.release(request_id="lunch")
    assert (question.charged, question.looked) == (False, False)


def test_the_charge_happens_in_the_context_that_the_caller_gives(ledger: Watched) -> None:
    acts: list[str] = []

    @contextmanager
    def held() -> Iterator[None]:
        acts.append("held")
        yield
        acts.append("let go")
        raise Stopped

    scores = Counted()
    ledger.after = lambda: acts.append("charged")
    with prepare(OWN, Scores(scores), epsilon="1/4") as question:
        question.meanwhile = held
        with pytest.raises(Stopped):
            question.release(ledger)
    assert acts == ["held", "charged", "let go"]
    assert (question.charged, question.looked, scores.looks) == (True, False, 0)


# ---- dry runs --------------------------------------------------------------------------------------------


def refusals(ballots: Path) -> dict[str, tuple[Any, dict[str, Any], dict[str, Any]]]:
    """Name what is asked of which ledger: the table, the question, and the ledger's own facts."""
    table = Table(ballots, unit="voter", dataset="lunch")
    return {
        "too much": (table, {"epsilon": 2}, {}),
        "another unit": (table, {"epsilon": 1}, {"unit": "household"}),
        "another data set": (table, {"epsilon": 1}, {"dataset": "dinner"}),
        "other neighbours": (table, {"epsilon": 1}, {"neighbours": "change_one"}),
        "another currency": (table, {"rho": 1}, {}),
        "no currency": (table, {"budget": dpselect.ApproxDP(1, "1e-6")}, {}),
        "a long price": (table, {"epsilon": Fraction(1, 10**401)}, {}),
        "no request": (table, {"epsilon": 1, "request_id": "\n"}, {}),
        "a name that cannot be stored": (
            Table(ballots, unit="voter", dataset="\ud800"),
            {"epsilon": 1, "request_id": "x"},
            {},
        ),
        "a lost answer": (table, {"epsilon": "1/4", "request_id": "lost"}, {}),
        "a lost answer of another question": (table, {"epsilon": "1/8", "request_id": "lost"}, {}),
        "a changed request": (table, {"epsilon": "1/8", "request_id": "kept"}, {}),
    }


CASES = list(refusals(Path()))


@pytest.mark.parametrize("case", CASES)
def test_a_dry_run_refuses_what_a_release_would_with_the_same_words_and_writes_nothing(
    case: str, ballots: Path, tmp_path: Path
) -> None:
    table, asked, kept = refusals(ballots)[case]
    request_id = asked.pop("request_id", None)
    with Watched.create(tmp_path / "dry.ledger", **kept) as ledger:
        if request_id in ("lost", "kept"):
            ledger.after = raising(Stopped()) if request_id == "lost" else Watched.after
            with prepare(DISH, table, epsilon="1/4") as first:
                try:
                    first.release(ledger, request_id=request_id)
                except Stopped:
                    assert request_id == "lost"
            ledger.after = Watched.after
        told: list[str] = []
        before = contents(tmp_path)
        for act in ("dry_run", "release"):
            with prepare(DISH, table, **asked) as question:
                with pytest.raises(DpselectError) as caught:
                    getattr(question, act)(ledger, request_id=request_id)
                assert not question.charged
                assert not question.looked
                assert leaks(caught.value) == []
            told.append(f"{type(caught.value).__name__}: {caught.value}")
            if act == "dry_run":
                assert contents(tmp_path) == before
    assert told[0] == told[1]


def test_a_dry_run_of_what_is_no_ledger_is_refused() -> None:
    stranger: Any = object()
    with prepare(OWN, EVEN, epsilon=1) as question:
        with pytest.raises(InvalidParameter, match="ledger must be a Ledger"):
            question.dry_run(stranger)
        with pytest.raises(InvalidParameter, match="a request_id needs a ledger"):
            question.dry_run(None, "lunch")


def test_a_dry_run_of_an_answer_too_long_is_refused(ledger: Watched) -> None:
    long = dpselect.custom(candidates=[f"{i}" * 300_000 for i in range(5)], sensitivity=1)
    with prepare(long, Scores([0] * 5), k=4, epsilon=1) as question:
        assert question.dry_run(ledger) == question.quote
        with pytest.raises(InvalidParameter, match="k must be so small"):
            question.dry_run(ledger, "lunch")


def test_a_dry_run_gives_the_quote_writes_nothing_and_the_release_may_follow(
    ledger: Watched, tmp_path: Path
) -> None:
    scores = Counted()
    with prepare(OWN, Scores(scores), epsilon="1/4") as question:
        before = contents(tmp_path)
        for request_id in (None, "lunch", "lunch"):
            assert question.dry_run(ledger, request_id) is question.quote
        assert question.dry_run(None) is question.quote
        assert contents(tmp_path) == before
        assert (question.charged, question.looked, scores.looks) == (False, False, 0)
        question.release(ledger, request_id="lunch")
    with prepare(OWN, Scores(scores), epsilon="1/4") as question:
        assert question.dry_run(ledger, "lunch") is question.quote  # answered before: at no price
    assert scores.looks == 1


def test_no_act_of_a_question_fails_with_data_in_its_hands(ledger: Watched) -> None:
    data = Scores([31337.25, float("nan"), 8675309])
    with prepare(OWN, data, epsilon="1/4") as question:
        with pytest.raises(InvalidParameter) as refused:
            question.dry_run(None, "x")
        with pytest.raises(OutsideDomain) as failed:
            question.release(ledger)
    assert leaks(refused.value) == leaks(failed.value) == []


@pytest.mark.parametrize(("at", "title"), [("1/2", "median"), ("0.9", "0.9 quantile")])
def test_a_reason_tells_quantiles_apart(at: str, title: str) -> None:
    problem = dpselect.quantile(value="pay", at=at, between=(0, 9))
    quote = prepare(problem, dpselect.Table(pa.table({"pay": [1]}), unit=None), epsilon=1).quote
    assert quote.reason.startswith(f"{title} of pay, 1 of 10,")


def test_an_entry_says_the_reason_of_the_quote(ledger: Watched) -> None:
    with prepare(OWN, EVEN, k=2, epsilon="1/8") as question:
        question.release(ledger)
    (entry,) = ledger.entries()
    assert isinstance(entry, Entry)
    assert entry.reason == f"custom, 2 of 3, epsilon 0.125, add_remove, question {OWN.digest}"
