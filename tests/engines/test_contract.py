"""Every engine answers the same questions with the same whole numbers: dpselect.engines.queries.

And chooses the same row of a person: dpselect.engines.row_choice, dpselect.engines.priorities.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dpselect import Table
from tests.engines import loading
from tests.engines.asking import asked
from tests.engines.cases import CASES, Case, Kinds
from tests.engines.reference import Row
from tests.servers.postgres import Server

Loader = Callable[[Kinds, Sequence[Row], str | None, Path], Table]

EMBEDDED: list[Loader] = [
    loading.from_parquet,
    loading.from_several,
    loading.from_arrow_file,
    loading.from_arrow,
    loading.from_pandas,
    loading.from_polars,
    loading.from_lazy_polars,
    loading.from_database,
    loading.from_relation,
]
OTHERS = [
    load for load in EMBEDDED if load not in (loading.from_parquet, loading.from_arrow, loading.from_database)
]
"""What hands its rows over as a file or as Arrow does, without the database that has a test of its own."""


def check(case: Case, table: Table) -> None:
    """Hold the answer of an engine against the reference: the one body for all of them."""
    assert asked(case.problem, replace(table, **case.options)) == case.points


@pytest.mark.parametrize("load", [loading.from_parquet, loading.from_arrow], ids=lambda load: load.__name__)
def test_duckdb_gives_the_scores_of_the_reference(
    load: Loader, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    gives_the_scores_of_the_reference(load, CASES, tmp_path, subtests)


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("load", OTHERS, ids=lambda load: load.__name__)
def test_what_else_duckdb_reads_gives_the_scores_of_the_reference(
    load: Loader, every: int, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """The query is that of a file or of Arrow; each source is asked another third of the questions."""
    gives_the_scores_of_the_reference(load, CASES[OTHERS.index(load) % every :: every], tmp_path, subtests)


@pytest.mark.parametrize(
    "cases", [CASES[::4], pytest.param(CASES, marks=pytest.mark.slow)], ids=["a quarter", "all"]
)
def test_a_database_gives_the_scores_of_the_reference(
    cases: Sequence[Case], tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """It is read by a process of its own, which starts for each case; the query is that of other files."""
    gives_the_scores_of_the_reference(loading.from_database, cases, tmp_path, subtests)


def gives_the_scores_of_the_reference(
    load: Loader, cases: Sequence[Case], folder: Path, subtests: pytest.Subtests
) -> None:
    for number, case in enumerate(cases):
        own_folder = folder / str(number)
        own_folder.mkdir()
        with subtests.test(case.name):
            check(case, load(case.kinds, case.rows, case.unit, own_folder))


def test_postgresql_gives_the_scores_of_the_reference(
    postgres_server: Server, subtests: pytest.Subtests
) -> None:
    url = postgres_server.url()
    for case in CASES:
        with subtests.test(case.name):
            loading.to_postgres(url, 'rows "of" people', case.kinds, case.rows)
            check(case, Table(url, table='rows "of" people', unit=case.unit))


@pytest.mark.parametrize(
    "cases", [CASES[::2], pytest.param(CASES[1::2], marks=pytest.mark.slow)], ids=["a half", "the other"]
)
def test_spark_gives_the_scores_of_the_reference(
    cases: Sequence[Case],
    spark_session: Any,
    tmp_path: Path,
    subtests: pytest.Subtests,
) -> None:
    for number, case in enumerate(cases):
        folder = tmp_path / str(number)
        folder.mkdir()
        with subtests.test(case.name):
            frame = spark_session.read.parquet(str(loading.parquet(case.kinds, case.rows, folder)))
            check(case, Table(frame, unit=case.unit))
