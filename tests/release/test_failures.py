"""What fails after the charge stays charged, and no data gets out: not in errors, frames, logs, files."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pandas as pd
import polars as pl
import psycopg
import pytest

import dpselect
from dpselect import PureDP, Scores, Table
from dpselect.errors import (
    DpselectError,
    InvalidParameter,
    OutsideDomain,
    RandomnessFailed,
    ReleaseFailed,
    TableUnreadable,
)
from dpselect.exact.randomness import system
from tests.engines import loading
from tests.engines.cases import VOTES
from tests.privacy.leaks import leaks
from tests.release.elections import DISH, Watched
from tests.servers.postgres import Server

OWN = dpselect.custom(candidates=["a", "b"], sensitivity=1)
SECRETS = [{"voter": 8675309, "dish": f"{'az'[i % 2]} 31337 {i}"} for i in range(5000)]
BROKEN_CSV = "voter,dish\n8675309,31337\n8675309,31337,31337\n"


class Silence:
    """Listens to all that a release can say: output, logs, warnings, files."""

    def __init__(
        self, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture, home: Path
    ) -> None:
        caplog.set_level(logging.DEBUG)
        self._capfd, self._caplog, self._home = capfd, caplog, home

    def check(self, error: BaseException) -> None:
        assert leaks(error) == []
        assert error.__context__ is None
        assert error.__cause__ is None
        output = self._capfd.readouterr()
        assert "31337" not in output.out + output.err + self._caplog.text
        assert list((self._home / "tmp").iterdir()) == []
        for path in [*self._home.glob("food.ledger*"), *(self._home / "state").rglob("*")]:
            content = path.read_bytes() if path.is_file() else b""
            assert b"31337" not in content
            assert b"8675309" not in content


@pytest.fixture
def silence(capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture, home: Path) -> Silence:
    return Silence(capfd, caplog, home)


def refused_after_the_charge(
    kind: type[BaseException], problem: dpselect.problems.Problem, data: Table | Scores, ledger: Watched
) -> BaseException:
    """Release, expect to fail, and see that it is paid for all the same."""
    with pytest.raises(kind) as caught:
        dpselect.select(problem, data, epsilon="1/4", ledger=ledger)
    assert ledger.spent == PureDP("1/4")
    if issubclass(kind, DpselectError) and kind is not OutsideDomain:
        assert str(caught.value) == str(kind())
    return caught.value


# ---- files -----------------------------------------------------------------------------------------------


def a_broken_row(folder: Path, ledger: Watched) -> Table:
    del ledger
    (folder / "rows.csv").write_text(BROKEN_CSV, encoding="utf-8")
    return Table(folder / "rows.csv", unit="voter")


def damaged_pages(folder: Path, ledger: Watched) -> Table:
    del ledger
    path = loading.parquet(VOTES, SECRETS, folder)
    content = bytearray(path.read_bytes())
    content[100 : len(content) // 2] = bytes(len(content) // 2 - 100)
    path.write_bytes(content)
    return Table(path, unit="voter")


def cut_short_in_between(folder: Path, ledger: Watched) -> Table:
    path = loading.parquet(VOTES, SECRETS, folder)
    ledger.before = lambda: path.write_bytes(path.read_bytes()[:2000])
    return Table(path, unit="voter")


def gone_in_between(folder: Path, ledger: Watched) -> Table:
    path = loading.parquet(VOTES, SECRETS, folder)
    ledger.after = path.unlink
    return Table(path, unit="voter")


def other_columns_in_between(folder: Path, ledger: Watched) -> Table:
    path = loading.parquet(VOTES, SECRETS, folder)
    kinds = {"SSN 8675309": "integer", "dish": "text"}
    ledger.after = lambda: loading.parquet(kinds, [{"SSN 8675309": 1, "dish": "31337"}], folder)
    return Table(path, unit="voter")


def other_types_in_between(folder: Path, ledger: Watched) -> Table:
    (folder / "rows.csv").write_text("voter,dish\n1,pie\n", encoding="utf-8")
    ledger.after = lambda: (folder / "rows.csv").write_bytes(b"\xff\xfe8675309\x0031337,,,\n31337")
    return Table(folder / "rows.csv", unit="voter")


def a_line_that_is_no_json(folder: Path, ledger: Watched) -> Table:
    del ledger
    (folder / "rows.jsonl").write_text('{"voter": "SSN 8675309", "dish": 31337 31337}\n', encoding="utf-8")
    return Table(folder / "rows.jsonl", unit="voter", columns={"voter": "integer", "dish": "text"})


@pytest.mark.parametrize(
    "breaks",
    [
        a_broken_row,
        damaged_pages,
        cut_short_in_between,
        gone_in_between,
        other_columns_in_between,
        other_types_in_between,
        a_line_that_is_no_json,
    ],
)
def test_rows_that_cannot_be_read_are_paid_for_and_not_shown(
    breaks: Callable[[Path, Watched], Table], tmp_path: Path, ledger: Watched, silence: Silence
) -> None:
    silence.check(refused_after_the_charge(TableUnreadable, DISH, breaks(tmp_path, ledger), ledger))


def test_a_file_that_was_cut_short_before_is_refused_for_free(
    tmp_path: Path, ledger: Watched, silence: Silence
) -> None:
    path = loading.parquet(VOTES, SECRETS, tmp_path)
    path.write_bytes(path.read_bytes()[:2000])
    with pytest.raises(InvalidParameter, match="Is it what its name says") as caught:
        dpselect.select(DISH, Table(path, unit="voter"), epsilon="1/4", ledger=ledger)
    assert ledger.spent == PureDP(0)
    silence.check(caught.value)


# ---- servers ---------------------------------------------------------------------------------------------


def test_what_postgresql_says_of_a_row_is_paid_for_and_not_shown(
    postgres_server: Server, ledger: Watched, silence: Silence
) -> None:
    url = postgres_server.url()
    kinds = {"voter": "text", "dish": "text"}
    loading.to_postgres(url, "secrets", kinds, [{"voter": "8675309", "dish": "31337 x"}])
    with psycopg.connect(url) as connection:
        connection.execute(
            "CREATE OR REPLACE VIEW broken AS SELECT voter, dish::integer::text AS dish FROM secrets"
        )
    table = Table(url, table="broken", unit="voter")
    silence.check(refused_after_the_charge(TableUnreadable, DISH, table, ledger))


def test_a_postgresql_table_that_goes_in_between_is_paid_for(
    postgres_server: Server, ledger: Watched, silence: Silence
) -> None:
    url = postgres_server.url()
    loading.to_postgres(url, "going", VOTES, SECRETS[:3])

    def drop() -> None:
        with psycopg.connect(url) as connection:
            connection.execute("DROP TABLE going")

    ledger.after = drop
    table = Table(url, table="going", unit="voter")
    silence.check(refused_after_the_charge(TableUnreadable, DISH, table, ledger))


def test_what_spark_says_of_a_row_is_paid_for_and_not_shown(
    spark_session: Any,
    ledger: Watched,
    silence: Silence,
) -> None:
    frame = spark_session.createDataFrame([("8675309", "31337 x")], "voter string, dish string")
    casts = frame.selectExpr("voter", "CAST(CAST(dish AS INT) AS STRING) AS dish")
    silence.check(refused_after_the_charge(TableUnreadable, DISH, Table(casts, unit="voter"), ledger))


# ---- scores ----------------------------------------------------------------------------------------------


class Told(BaseException):
    """Neither an Exception nor something that can be made anew."""

    def __init__(self, scores: object) -> None:
        super().__init__(scores)


def tells(error: BaseException) -> Callable[[], Any]:
    """Make a function that fails while it holds the scores, and says them."""

    def fails() -> NoReturn:
        scores = [31337.25, 8675309]
        error.add_note(str(scores))
        raise error

    return fails


def fails_late() -> Iterator[Any]:
    yield np.array([31337.25])
    raise LookupError("31337")


@pytest.mark.parametrize(
    "function",
    [
        tells(ValueError("31337")),
        tells(InvalidParameter("31337")),
        tells(OutsideDomain("31337")),
        tells(TableUnreadable()),
        tells(StopIteration("31337")),
        tells(Told([31337.25])),
        fails_late,
        lambda: 31337.25,
        lambda: None,
        lambda: ["31337"],
    ],
)
def test_a_function_that_fails_is_paid_for_and_says_nothing(
    function: Callable[[], Any], ledger: Watched, silence: Silence
) -> None:
    with pytest.raises((ReleaseFailed, OutsideDomain)) as caught:
        dpselect.select(OWN, Scores(function), epsilon="1/4", ledger=ledger)
    assert ledger.spent == PureDP("1/4")
    silence.check(caught.value)


def test_ctrl_c_passes_with_nothing_in_its_hands(ledger: Watched, silence: Silence) -> None:
    data = Scores(tells(KeyboardInterrupt("31337")))
    silence.check(refused_after_the_charge(KeyboardInterrupt, OWN, data, ledger))


def test_an_interrupt_that_cannot_be_made_anew_is_told_by_the_constant_sentence(
    ledger: Watched, silence: Silence
) -> None:
    def interrupts() -> NoReturn:
        raise Told([31337.25])

    ledger.after = interrupts
    data = Scores([31337.25, 8675309])
    silence.check(refused_after_the_charge(ReleaseFailed, OWN, data, ledger))


def test_a_problem_that_cannot_score_is_paid_for_and_says_nothing(ledger: Watched, silence: Silence) -> None:
    def fails_to_score(counts: Any) -> NoReturn:
        raise LookupError(counts.keys, "31337")

    broken = replace(DISH, scoring=fails_to_score)
    table = Table(pandas_frame(), unit="voter")
    silence.check(refused_after_the_charge(ReleaseFailed, broken, table, ledger))


@pytest.mark.parametrize("wrong", [float("nan"), float("inf")])
def test_what_is_no_score_gets_the_one_sentence_of_the_domain(
    wrong: float, ledger: Watched, silence: Silence
) -> None:
    for source in ([31337.25, wrong], np.array([31337.25, wrong]), lambda: [8675309, wrong]):
        with pytest.raises(OutsideDomain, match=r"^scores must be") as caught:
            dpselect.top_k(OWN, Scores(source), k=1, epsilon="1/10", ledger=ledger)
        silence.check(caught.value)


def test_randomness_that_fails_is_paid_for_and_says_nothing(
    ledger: Watched, silence: Silence, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(size: int) -> bytes:
        raise OSError(size)

    def run_dry() -> None:
        monkeypatch.setattr("os.urandom", fails)
        with suppress(RandomnessFailed):
            while True:
                system().word()

    many = dpselect.custom(candidates=range(10_000), sensitivity=1)
    cases: list[tuple[dpselect.problems.Problem, Table | Scores]] = [
        (many, Scores(np.array([31337.25, 8675309] * 5000))),
        (DISH, Table(pandas_frame(), unit="voter")),
    ]
    for problem, data in cases:
        ledger.after = run_dry
        with pytest.raises(RandomnessFailed) as caught:
            dpselect.select(problem, data, epsilon="1/4", ledger=ledger)
        monkeypatch.undo()
        silence.check(caught.value)
    assert ledger.spent == PureDP("1/2")


# ---- refusals before the charge --------------------------------------------------------------------------


def pandas_frame() -> Any:
    return pd.DataFrame({"voter": [8675309, 1], "dish": ["31337", "pie"]})


DATA: dict[str, Callable[[], Any]] = {
    "scores": lambda: Scores([31337.25, 8675309]),
    "array of scores": lambda: Scores(np.array([31337.25, 8675309])),
    "pandas": lambda: Table(pandas_frame(), unit="voter"),
    "polars": lambda: Table(pl.DataFrame({"voter": [8675309], "dish": ["31337"]}), unit="voter"),
    "arrow": lambda: Table(loading.arrow(VOTES, SECRETS[:2]), unit="voter"),
    "a list": lambda: [31337.25, 8675309],
    "a number": lambda: 31337.25,
    "an array": lambda: np.array([31337.25]),
    "a data frame": pandas_frame,
}


@pytest.mark.parametrize("data", DATA.values(), ids=list(DATA))
@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": "0,5"},
        {"epsilon": 2},
        {"epsilon": "1/4", "rho": 1},
        {"rho": "1/4"},
        {"epsilon": "1/4", "k": 3},
        {"epsilon": "1/4", "neighbours": "friends"},
        {"epsilon": "1/4", "request_id": "\n"},
    ],
    ids=str,
)
def test_what_is_refused_before_the_charge_holds_no_data_either(
    data: Callable[[], Any], wrong: dict[str, Any], ledger: Watched, silence: Silence
) -> None:
    for problem in (OWN, DISH, dpselect.approval_voting(candidate="typo", candidates=["a", "b"])):
        with pytest.raises(DpselectError) as caught:
            dpselect.top_k(problem, data(), **{"k": 1, "ledger": ledger, **wrong})
        silence.check(caught.value)
    assert ledger.spent == PureDP(0)


def test_the_frames_of_a_refusal_are_those_of_the_caller_and_of_the_module_silence(ledger: Watched) -> None:
    with pytest.raises(InvalidParameter) as caught:
        dpselect.select(OWN, Scores([31337.25, 8675309]), epsilon=0, ledger=ledger)
    frames = [frame.f_code for frame, _ in traceback.walk_tb(caught.value.__traceback__)][1:]
    assert [frame.co_name for frame in frames] == ["called", "run"]
    assert {Path(frame.co_filename).name for frame in frames} == {"silence.py"}


def test_nothing_about_a_release_remembers_the_data(ledger: Watched, silence: Silence) -> None:
    table = Table(pandas_frame(), unit="voter")
    release = dpselect.select(DISH, table, epsilon="1/4", ledger=ledger, request_id="once")
    carrier = DpselectError("carries")
    carrier.__dict__.update(
        release=release, entries=list(ledger.entries()), text=repr(release) + release.to_json()
    )
    silence.check(carrier)
