"""A person counts in few groups, whichever engine counts, and in each as in a question about it alone.

dpselect.engines.group_choice, dpselect.engines.queries.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpselect
from dpselect import Table
from dpselect.engines import CountsRequest, Engine
from dpselect.problems.groups import groups_of
from tests.engines import loading, reference
from tests.engines.cases import Kinds
from tests.engines.grouped import BY, CITIES, GroupedCase, asked_of_groups
from tests.engines.reference import Row
from tests.servers.postgres import Server
from tests.statistics import rejects

KINDS: Kinds = {
    "who": "text",
    "city": "text",
    "dish": "text",
    "second": "text",
    "dishes": "text",
    "rank": "integer",
    "x": "double",
}
DISHES = ["soup", "pie", "tea"]
PLACES = [*CITIES[:3], "rome", None]
ROWS: list[Row] = [
    {
        "who": None if i % 41 == 7 else f"person {i % 11}",
        "city": PLACES[i * i % 5],
        "dish": [*DISHES, "off the list", None][i * 7 % 5],
        "second": [*DISHES, None][i * 3 % 4],
        "dishes": ["soup;pie", "tea; pie;tea", ";", None, "off"][i * 11 % 5],
        "rank": 1 + i * 5 % 4,
        "x": [None, float("nan"), 0.5, 1.0, 2.5, -3.0, 7.0][i * i % 7],
    }
    for i in range(140)
]


def named(row: Row) -> bool:
    return row["dish"] in DISHES


def valued(row: Row) -> bool:
    return row["x"] is not None and row["x"] == row["x"]


def has_part(row: Row) -> bool:
    return any(part.strip() in DISHES for part in (row["dishes"] or "").split(";"))


def tallied(
    name: str, problem: Any, unit: str | None = "who", *, distinct: bool, most: int | None
) -> GroupedCase:
    def scores(rows: Sequence[Row]) -> list[int]:
        return reference.tally(rows, unit, "dish", DISHES, distinct=distinct, most=most)

    return GroupedCase(name, problem, unit, named, scores)


def placed(
    name: str, problem: Any, counts: Callable[[Row], bool], place: Callable[[Sequence[Row]], Any]
) -> Any:
    def scores(rows: Sequence[Row]) -> list[int]:
        most = 1 if problem.name == "plurality" else None
        return reference.placed_tally(partial(place, rows), "who", 3, distinct=True, most=most)

    return GroupedCase(name, problem, "who", counts, scores)


def split(rows: Sequence[Row]) -> Any:
    return reference.split_rows(rows, "dishes", ";", DISHES, fold=False)


TICKED = ["second", "rank", "x"]
PRICES = [Fraction(1, 2), Fraction(1), Fraction(3)]
FEW = [
    tallied(
        "a vote for one",
        dpselect.plurality(candidate="dish", candidates=DISHES),
        distinct=True,
        most=1,
    ),
    tallied(
        "a vote for any number",
        dpselect.approval_voting(candidate="dish", candidates=DISHES),
        distinct=True,
        most=None,
    ),
    tallied(
        "two rows a person",
        dpselect.most_common(column="dish", candidates=DISHES, rows_per_person=2),
        distinct=False,
        most=2,
    ),
    GroupedCase(
        "prices",
        dpselect.pricing(value="x", prices=PRICES),
        "who",
        valued,
        lambda rows: reference.revenue(reference.amounts(rows, "who", "x"), PRICES),
    ),
    placed(
        "columns that are ticked",
        dpselect.approval_voting(columns=TICKED),
        lambda row: bool(reference.ticked_rows([row], TICKED)),
        lambda rows: reference.ticked_rows(rows, TICKED),
    ),
]
CASES = [
    *FEW,
    tallied(
        "each row a person",
        dpselect.plurality(candidate="dish", candidates=DISHES),
        None,
        distinct=True,
        most=1,
    ),
    GroupedCase(
        "ranks",
        dpselect.borda(candidate="dish", rank="rank", candidates=DISHES),
        "who",
        lambda row: named(row) and row["rank"] in (1, 2, 3),
        lambda rows: reference.borda(rows, "who", ("dish", "rank"), DISHES),
    ),
    GroupedCase(
        "ballots",
        dpselect.borda(ranking=["dish", "second"], candidates=DISHES),
        "who",
        lambda row: named(row) or row["second"] in DISHES,
        lambda rows: reference.ballots(rows, "who", ["dish", "second"], DISHES, fold=False),
    ),
    GroupedCase(
        "a quantile",
        dpselect.quantile(value="x", at="1/4", candidates=[0, 1, 2]),
        "who",
        valued,
        lambda rows: reference.closeness(
            reference.amounts(rows, "who", "x"), Fraction(1, 4), [Fraction(n) for n in range(3)]
        ),
    ),
    GroupedCase(
        "ratings",
        dpselect.weighted_sum(candidate="dish", candidates=DISHES, value="x", bounds=(-1, 2)),
        "who",
        lambda row: named(row) and valued(row),
        lambda rows: reference.clamped_sums(rows, "who", ("dish", "x"), DISHES, (Fraction(-1), Fraction(2))),
    ),
    placed(
        "cells that are split",
        dpselect.approval_voting(candidate="dishes", candidates=DISHES, split=";"),
        has_part,
        split,
    ),
    placed(
        "one part of a cell",
        dpselect.plurality(candidate="dishes", candidates=DISHES, split=";"),
        has_part,
        split,
    ),
]


def check(case: GroupedCase, table: Table, per_person: int) -> None:
    found = asked_of_groups(case.problem, table, groups_of(BY, CITIES, per_person))
    assert found == case.expected(ROWS, per_person)
    assert any(any(scores) for scores in found[:3])
    assert not any(found[3])


@pytest.mark.parametrize("per_person", [1, 2, 4])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_duckdb_keeps_the_groups_of_the_reference(case: GroupedCase, per_person: int) -> None:
    check(case, Table(loading.arrow(KINDS, ROWS), unit=case.unit), per_person)


def test_postgresql_keeps_the_groups_of_the_reference(
    postgres_server: Server, subtests: pytest.Subtests
) -> None:
    url = postgres_server.url()
    loading.to_postgres(url, "in groups", KINDS, ROWS)
    for case in CASES:
        for per_person in (1, 2):
            with subtests.test(f"{case.name}, {per_person}"):
                check(case, Table(url, table="in groups", unit=case.unit), per_person)


def test_spark_keeps_the_groups_of_the_reference(
    spark_session: Any, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    frame = spark_session.read.parquet(str(loading.parquet(KINDS, ROWS, tmp_path)))
    for number, case in enumerate(FEW):
        with subtests.test(case.name):
            check(case, Table(frame, unit=case.unit), 1 + number % 2)


# ---- a person in many groups -----------------------------------------------------------------------------


def everywhere(people: int, rows: int = 1) -> list[Row]:
    """Give people with rows in every group."""
    empty = dict.fromkeys(KINDS)
    return [
        {**empty, "who": f"p{i}", "city": city, "dish": dish}
        for i in range(people)
        for city in CITIES
        for dish in DISHES[:rows]
    ]


def test_a_person_with_rows_in_all_groups_counts_in_one_each_equally_often() -> None:
    plurality = FEW[0].problem
    found = asked_of_groups(plurality, Table(loading.arrow(KINDS, everywhere(4000, 3)), unit="who"))
    sizes = [sum(scores) for scores in found]
    assert sum(sizes) == 4000
    assert not rejects(sizes, [1 / 4] * 4)
    assert not rejects([sum(scores) for scores in zip(*found, strict=True)], [1 / 3] * 3)


def test_the_group_is_chosen_whatever_the_number_of_rows_in_it() -> None:
    rows = everywhere(4000)
    rows += [row for row in rows if row["city"] == "Rome"] * 5
    problem = dpselect.most_common(column="dish", candidates=DISHES, rows_per_person=9)
    found = asked_of_groups(problem, Table(loading.arrow(KINDS, rows), unit="who"))
    people = [sum(found[0]) // 6, *(sum(scores) for scores in found[1:])]
    assert sum(people) == 4000
    assert not rejects(people, [1 / 4] * 4)


def test_with_two_groups_a_person_counts_in_two() -> None:
    table = Table(loading.arrow(KINDS, everywhere(500)), unit="who")
    found = asked_of_groups(FEW[1].problem, table, groups_of(BY, CITIES, 2))
    assert sum(map(sum, found)) == 1000
    assert max(map(sum, found)) <= 500


def test_a_row_that_does_not_count_takes_no_groups_place() -> None:
    row: Row = {**dict.fromkeys(KINDS), "who": "ann"}
    rows = [{**row, "city": city, "dish": "off the list"} for city in CITIES[:3]]
    rows += [{**row, "city": "rome", "dish": "pie"}, {**row, "city": None, "dish": "pie"}]
    rows += [{**row, "city": CITIES[3], "dish": "pie"}]
    for salt in (bytes(16), bytes(range(16)), b"0123456789abcdef"):
        found = asked_of_groups(FEW[0].problem, Table(loading.arrow(KINDS, rows), unit="who"), salt=salt)
        assert found == [[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 1, 0]]


SOME = st.lists(
    st.fixed_dictionaries({"city": st.sampled_from(PLACES), "dish": st.sampled_from([*DISHES, None])}),
    max_size=6,
)


@pytest.mark.parametrize("per_person", [1, 2])
@settings(max_examples=15)
@given(others=st.lists(SOME, max_size=3), mine=SOME, salt=st.binary(min_size=16, max_size=16))
def test_a_person_moves_no_other_persons_rows_and_few_groups(
    per_person: int, others: list[Any], mine: list[Any], salt: bytes
) -> None:
    empty = dict.fromkeys(KINDS)
    crowd = [{**empty, **row, "who": f"other {n}"} for n, rows in enumerate(others) for row in rows]
    me = [{**empty, **row, "who": "me"} for row in mine]
    problem, groups = FEW[1].problem, groups_of(BY, CITIES, per_person)
    without, both, alone = (
        asked_of_groups(problem, Table(loading.arrow(KINDS, rows), unit="who"), groups, salt)
        for rows in (crowd, [*me, *crowd], me)
    )
    assert both == [[a + b for a, b in zip(*pair, strict=True)] for pair in zip(without, alone, strict=True)]
    assert sum(any(scores) for scores in alone) <= per_person
    assert all(score <= 1 for scores in alone for score in scores)


def test_a_person_who_keeps_a_row_in_the_old_group_may_be_kept_in_a_new_one() -> None:
    """Other answers: a row more, in another city. Some keys choose that city, and then two draws move."""
    pricing = dpselect.pricing(value="x", prices=[1, 2, 3])
    crowd = [("Rome", 1.0)] * 24 + [("Rome", 2.0)] + [("Oslo", 2.0)] * 12 + [("Oslo", 3.0)] * 6
    empty = dict.fromkeys(KINDS)
    others = [
        {**empty, "who": f"other {i}", "city": city, "x": value} for i, (city, value) in enumerate(crowd)
    ]
    old = {**empty, "who": "me", "city": "Rome", "x": 3.0}
    new = {**old, "city": "Oslo", "x": 2.0}
    stays = [[2600, 400, 300], [1800, 3600, 1800], [0, 0, 0], [0, 0, 0]]
    moves = [[2500, 200, 0], [1900, 3800, 1800], [0, 0, 0], [0, 0, 0]]
    before, after = (
        Table(loading.arrow(KINDS, [*others, *mine]), unit="who") for mine in ([old], [old, new])
    )
    found = []
    for number in range(8):
        salt = number.to_bytes(16, "big")
        assert asked_of_groups(pricing, before, salt=salt) == stays
        found.append(asked_of_groups(pricing, after, salt=salt))
    assert all(scores in (stays, moves) for scores in found)
    assert {str(scores) for scores in found} == {str(stays), str(moves)}


def test_a_bound_on_rows_in_place_of_groups_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """One who bounds rows lets a person with rows in all groups move all of them."""

    def bounded_by_rows(engine: Engine, request: CountsRequest, salt: bytes) -> Any:
        return asked(engine, replace(request, groups_per_person=None), salt)

    kind: Any = type(opened_engine())
    asked = kind.counts
    monkeypatch.setattr(kind, "counts", bounded_by_rows)
    rows = everywhere(50)
    found = asked_of_groups(FEW[0].problem, Table(loading.arrow(KINDS, rows), unit="who"))
    assert sum(map(sum, found)) == 200
    with pytest.raises(AssertionError):
        check(FEW[0], Table(loading.arrow(KINDS, ROWS), unit="who"), 1)


def opened_engine() -> Engine:
    with Table(loading.arrow(KINDS, ROWS[:1]), unit="who").open() as engine:
        return engine


def test_an_empty_table_has_groups_without_a_vote() -> None:
    found = asked_of_groups(FEW[1].problem, Table(loading.arrow(KINDS, []), unit="who"))
    assert found == [[0, 0, 0]] * 4
