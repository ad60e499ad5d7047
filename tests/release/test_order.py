"""Price, pay, look, draw: no row is read before the charge, by any engine."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpselect
from dpselect import BudgetExhausted, PureDP, Scores
from dpselect.errors import InvalidParameter
from tests.release.elections import DISH, FILES, Source, Watched, on_postgres, on_spark
from tests.servers.postgres import Server

each_file = pytest.mark.parametrize("kind", FILES)
needs_linux = pytest.mark.skipif(
    sys.platform != "linux", reason="run it on Linux: only there a process is told how much it has read"
)
TYPO = dpselect.approval_voting(candidate="dihs", candidates=["soup", "pie"])


def reads_before_and_after_the_charge(source: Source, ledger: Watched) -> tuple[int, int]:
    """Release, and take the count of reads at the beginning, at the charge and at the end."""
    seen: list[int] = []

    def look_at_the_count() -> None:
        source.at_charge()
        seen.append(source.reads())

    ledger.before = look_at_the_count
    start = source.reads()
    release = dpselect.select(DISH, source.table, epsilon="1/4", ledger=ledger)
    assert release.label in ("pie", "soup")
    assert ledger.spent == PureDP("1/4")
    (charged,) = seen
    return charged - start, source.reads() - charged


def reads_of_what_is_refused(source: Source, ledger: Watched) -> int:
    """Ask for more than there is left, and for a column that is not there."""
    start = source.reads()
    with pytest.raises(BudgetExhausted):
        dpselect.top_k(DISH, source.table, k=2, epsilon=2, ledger=ledger)
    with pytest.raises(InvalidParameter, match="Did you mean 'dish'"):
        dpselect.select(TYPO, source.table, epsilon="1/4", ledger=ledger)
    assert ledger.spent == PureDP(0)
    assert list(ledger.entries()) == []
    return source.reads() - start


@needs_linux
@each_file
def test_of_files_and_streams_no_row_is_read_before_the_charge(kind: str, tmp_path: Path) -> None:
    before, after, source = 0, 0, None
    for name in ("warm", "measured"):  # modules are loaded the first time, and are files too
        (tmp_path / name).mkdir()
        source = FILES[kind](tmp_path / name)
        with Watched.create(tmp_path / f"{name}.ledger") as ledger:
            before, after = reads_before_and_after_the_charge(source, ledger)
    assert source is not None
    assert before <= source.few < after


@needs_linux
@each_file
def test_of_files_and_streams_no_row_is_read_if_the_charge_is_refused(
    kind: str, tmp_path: Path, ledger: Watched
) -> None:
    source = FILES[kind](tmp_path)
    reads_of_what_is_refused(source, ledger)
    assert reads_of_what_is_refused(source, ledger) <= 2 * source.few


def test_of_a_postgresql_table_no_row_is_read_before_the_charge(
    postgres_server: Server, ledger: Watched
) -> None:
    assert reads_before_and_after_the_charge(on_postgres(postgres_server, "paid"), ledger) == (0, 1000)


def test_of_a_postgresql_table_no_row_is_read_if_the_charge_is_refused(
    postgres_server: Server, ledger: Watched
) -> None:
    assert reads_of_what_is_refused(on_postgres(postgres_server, "unpaid"), ledger) == 0


def test_of_a_spark_table_no_row_is_read_before_the_charge(
    spark_session: Any,
    tmp_path: Path,
    ledger: Watched,
) -> None:
    before, after = reads_before_and_after_the_charge(on_spark(spark_session, tmp_path), ledger)
    assert before == 0
    assert after > 0


def test_of_a_spark_table_no_row_is_read_if_the_charge_is_refused(
    spark_session: Any,
    tmp_path: Path,
    ledger: Watched,
) -> None:
    assert reads_of_what_is_refused(on_spark(spark_session, tmp_path), ledger) == 0


def test_scores_are_computed_once_and_after_the_charge(ledger: Watched) -> None:
    acts: list[str] = []

    def compute() -> Iterator[Any]:
        acts.append("looked")
        yield np.array([3, 1])

    ledger.before = lambda: acts.append("asked to pay")
    ledger.after = lambda: acts.append("paid")
    own = dpselect.custom(candidates=["a", "b"], sensitivity=1)
    with pytest.raises(BudgetExhausted):
        dpselect.select(own, Scores(compute), epsilon=2, ledger=ledger)
    dpselect.select(own, Scores(compute), epsilon=1, ledger=ledger)
    assert acts == ["asked to pay", "asked to pay", "paid", "looked"]


def test_a_release_that_reads_first_would_be_noticed(tmp_path: Path, ledger: Watched) -> None:
    source = FILES["arrow stream"](tmp_path)
    source.at_charge = lambda: sum(batch.num_rows for batch in source.table.source)
    before, after = reads_before_and_after_the_charge(source, ledger)
    assert before == 200_000
    assert after == 0
