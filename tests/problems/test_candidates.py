"""Candidates are public: given, unique, in the order given, and never taken from the data."""

from collections.abc import Callable
from datetime import UTC, date, datetime, time
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpselect
from dpselect.engines import Counts
from dpselect.engines.protocol import Listed
from dpselect.engines.schema import Column, Schema
from dpselect.errors import InvalidParameter
from dpselect.problems import Problem


def approval(candidates: object) -> Problem:
    return dpselect.approval_voting(candidate="dish", candidates=candidates)


def test_candidates_keep_the_order_given_and_a_set_is_sorted() -> None:
    assert approval(["b", "a", "Z", "é", "e\u0301x"]).outputs == ("b", "a", "Z", "é", "e\u0301x")
    assert approval({"b", "é", "a", "Z", "e\u0301x"}).outputs == ("Z", "a", "b", "é", "e\u0301x")
    assert approval({"b", "a"}) == approval(("a", "b"))
    assert approval([10, 9, Fraction(1, 2), -1]).outputs == (10, 9, Fraction(1, 2), -1)
    assert approval({10, 9, Fraction(1, 2), -1}).outputs == (-1, Fraction(1, 2), 9, 10)
    assert approval(range(3)).outputs == (0, 1, 2)


def test_a_label_comes_back_as_it_was_given() -> None:
    prices = ["1.99", 0.99, Decimal("1.50"), 1]
    assert dpselect.pricing(value="x", prices=prices).outputs == ("1.99", 0.99, Decimal("1.50"), 1)
    assert approval(["e\u0301"]).outputs == ("e\u0301",)


@pytest.mark.parametrize(
    "candidates", [["a", "a"], ["é", "e\u0301"], [1, 1.0], [0.5, Fraction(1, 2)], [0, -0.0], np.array([2, 2])]
)
def test_a_candidate_that_is_there_twice_is_refused(candidates: object) -> None:
    with pytest.raises(InvalidParameter, match="twice"):
        approval(candidates)


@pytest.mark.parametrize("candidates", [["a", "A"], ["a", "a "], ["ß", "ss"], ["1", "1.0"], ["²", "2"]])
def test_nothing_else_is_taken_for_the_same(candidates: list[str]) -> None:
    assert len(approval(candidates).outputs) == 2


@pytest.mark.parametrize(
    "candidates",
    [
        None,
        "auto",
        b"ab",
        5,
        {"a": 1}.items,
        {"a": 1, "b": 2},
        pd.DataFrame({"a": [1]}),
        pl.DataFrame({"a": [1]}),
        pa.table({"a": [1]}),
        np.array([["a"], ["b"]]),
        pd.Series,
        dpselect.Table("ballots.csv", unit="voter"),
    ],
)
def test_candidates_from_the_data_or_from_nowhere_are_refused_with_the_reason(candidates: object) -> None:
    with pytest.raises(
        InvalidParameter, match=r"candidates must be a list .* never read from the data.*yourself"
    ):
        approval(candidates)


@pytest.mark.parametrize("candidates", [[], ["a", 1], [True, 1], [None], ["a", None], [1j], [[1]], [1, "2"]])
def test_what_is_no_list_of_candidates_is_refused(candidates: list[object]) -> None:
    with pytest.raises(InvalidParameter, match="candidates must"):
        approval(candidates)


class Dish(Enum):
    """What can be chosen, as a program may have it."""

    TEA = "tea"
    PIE = "pie"


@pytest.mark.parametrize(
    "candidates",
    [
        pd.Series(["tea", "pie"]),
        pd.Series(["tea", "pie"], dtype="category"),
        pd.Index(["tea", "pie"]),
        pl.Series(["tea", "pie"]),
        pa.array(["tea", "pie"]),
        pa.chunked_array([["tea"], ["pie"]]),
        np.array(["tea", "pie"]),
        Dish,
        list(Dish),
        (name for name in ("tea", "pie")),
        map(str.lower, ["TEA", "PIE"]),
        iter(["tea", "pie"]),
    ],
)
def test_candidates_come_as_anything_that_lists_them(candidates: object) -> None:
    problem = approval(candidates)
    assert problem.outputs == ("tea", "pie")
    assert {type(label) for label in problem.outputs} == {str}
    assert problem.digest == approval(["tea", "pie"]).digest


@pytest.mark.parametrize(
    "candidates", [pd.Series([3, 1, 2]), pd.RangeIndex(3, 0, -1), pl.Series([3.0, 2.5]), iter([3, 1])]
)
def test_numbers_come_as_anything_that_lists_them(candidates: object) -> None:
    assert approval(candidates).outputs[0] == 3
    assert isinstance(approval(pd.Series([3, 1])).outputs[0], int)


def test_an_open_file_is_no_list_of_candidates(tmp_path: Path) -> None:
    (tmp_path / "names").write_text("a\nb\n", encoding="utf-8")
    with (
        (tmp_path / "names").open(encoding="utf-8") as file,
        pytest.raises(InvalidParameter, match="a list of"),
    ):
        approval(file)


@pytest.mark.parametrize("label", ["a\0b", "\ud800"])
def test_a_label_that_no_table_can_hold_is_refused(label: str) -> None:
    with pytest.raises(InvalidParameter, match="no NUL character, no lone surrogate"):
        approval([label])


@pytest.mark.parametrize("number", ["0,5", "nan", "inf", "", "1/0", None, float("nan")])
def test_a_price_that_is_no_number_is_refused(number: object) -> None:
    with pytest.raises(InvalidParameter, match="prices must be a finite number"):
        dpselect.pricing(value="x", prices=[1, number])


def test_a_negative_price_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="prices must be zero or positive; got -1"):
        dpselect.pricing(value="x", prices=[-1, 1])


def test_the_unit_of_prices_is_a_cent_or_finer() -> None:
    for prices, unit in [
        ([1, 2], "1/100"),
        (["0.99"], "1/100"),
        (["0.005", 1], "1/200"),
        (["1/3", 1], "1/3"),
    ]:
        assert dpselect.pricing(value="x", prices=prices).unit == Fraction(unit)


def test_a_grid_is_the_numbers_between_its_bounds_in_their_plainest_form() -> None:
    grid = dpselect.quantile(value="x", at="1/2", between=(0, 1), step="1/4").outputs
    assert list(grid) == [0, Decimal("0.25"), Decimal("0.5"), Decimal("0.75"), 1]
    assert (grid[-1], grid[1:3], len(grid)) == (1, [Decimal("0.25"), Decimal("0.5")], 5)
    assert list(dpselect.quantile(value="x", at="1/2", between=(0, 1), step="2/3").outputs) == [
        0,
        Fraction(2, 3),
    ]
    with pytest.raises(IndexError):
        grid[5]


def test_a_grid_of_a_billion_is_not_written_out() -> None:
    outputs = dpselect.quantile(value="x", at="1/2", between=(0, 10**7), step="0.01").outputs
    assert (len(outputs), outputs[10**9]) == (10**9 + 1, 10**7)


@pytest.mark.parametrize(
    "words",
    [
        {"candidates": None},
        {"candidates": [1], "between": (0, 1), "step": 1},
        {"step": 1},
        {"between": (0, 1), "step": "1e-300"},
        {"between": (1, 0), "step": 1},
        {"between": (0, 1), "step": 0},
        {"between": 5, "step": 1},
        {"candidates": [1], "at": 2},
        {"candidates": [1], "value": ""},
    ],
)
def test_a_quantile_that_makes_no_sense_is_refused(words: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        dpselect.quantile(**{"value": "x", "at": "1/2", **words})


@pytest.mark.parametrize(
    "words",
    [
        {"bounds": (2, 1)},
        {"bounds": 5},
        {"bounds": (0, 1), "unit": "1/3", "value": 7},
        {"bounds": ("1/2", 1), "unit": 1},
        {"bounds": (0, 1), "unit": 0},
        {"bounds": (0, "inf")},
    ],
)
def test_a_weighted_sum_that_makes_no_sense_is_refused(words: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        dpselect.weighted_sum(**{"candidate": "c", "candidates": ["a"], "value": "x", **words})


@pytest.mark.parametrize(
    "words",
    [
        {},
        {"sensitivity": 1, "range_sensitivity": 1},
        {"sensitivity": 0},
        {"sensitivity": -1},
        {"sensitivity": 1, "monotonic": "yes"},
        {"range_sensitivity": 1, "monotonic": True},
    ],
)
def test_a_custom_problem_that_makes_no_sense_is_refused(words: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        dpselect.custom(candidates=["a", "b"], **words)


def test_neighbours_are_one_of_two_words() -> None:
    with pytest.raises(InvalidParameter, match="neighbours must be"):
        approval(["a"]).d_range("both")  # type: ignore[arg-type]  # the point of the test


SAME: list[tuple[Callable[[], Problem], Callable[[], Problem]]] = [
    (lambda: approval(["b", "a"]), lambda: approval(("a", "b"))),
    (lambda: approval(["é"]), lambda: approval(["e\u0301"])),
    (
        lambda: dpselect.pricing(value="x", prices=[0.5, 1]),
        lambda: dpselect.pricing(value="x", prices=["1", "1/2"]),
    ),
]
DIFFERENT: list[Callable[[], Problem]] = [
    lambda: approval(["a", "b"]),
    lambda: approval(["a", "c"]),
    lambda: approval(["ab"]),
    lambda: approval([1, 2]),
    lambda: approval(["1", "2"]),
    lambda: dpselect.approval_voting(candidate="drink", candidates=["a", "b"]),
    lambda: dpselect.plurality(candidate="dish", candidates=["a", "b"]),
    lambda: dpselect.most_common(column="dish", candidates=["a", "b"], rows_per_person=1),
    lambda: dpselect.most_common(column="dish", candidates=["a", "b"], rows_per_person=2),
    lambda: dpselect.borda(candidate="dish", rank="r", candidates=["a", "b"]),
    lambda: dpselect.borda(candidate="dish", rank="s", candidates=["a", "b"]),
    lambda: dpselect.quantile(value="x", at="1/2", candidates=[1, 2]),
    lambda: dpselect.quantile(value="x", at="1/3", candidates=[1, 2]),
    lambda: dpselect.quantile(value="x", at="1/2", between=(1, 2), step=1),
    lambda: dpselect.quantile(value="x", at="1/2", between=(1, 2), step="1/2"),
    lambda: dpselect.weighted_sum(candidate="dish", candidates=["a"], value="x", bounds=(0, 1)),
    lambda: dpselect.weighted_sum(candidate="dish", candidates=["a"], value="x", bounds=(0, 1), unit=1),
    lambda: dpselect.weighted_sum(candidate="dish", candidates=["a"], value="x", bounds=(0, 2)),
    lambda: dpselect.approval_voting(candidate="dish", candidates=["a", "b"], ignore_case=True),
    lambda: dpselect.most_common(column="dish", candidates=["a", "b"], ignore_case=True),
    lambda: dpselect.borda(candidate="dish", rank="r", candidates=["a", "b"], ignore_case=True),
    lambda: dpselect.weighted_sum(
        candidate="dish", candidates=["a"], value="x", bounds=(0, 1), ignore_case=True
    ),
    lambda: dpselect.custom(candidates=["a"], sensitivity=1),
    lambda: dpselect.custom(candidates=["a"], sensitivity=2),
    lambda: dpselect.counting(5),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_question_has_the_same_digest(
    one: Callable[[], Problem], other: Callable[[], Problem]
) -> None:
    assert one().digest == other().digest


def test_different_questions_have_different_digests() -> None:
    digests = [problem().digest for problem in DIFFERENT]
    assert len(set(digests)) == len(DIFFERENT)
    assert all(len(digest) == 64 for digest in digests)


KEPT = {
    "f33482f86e84ed5b85f54cf3dc278e77d91afeb6a615fb13b678600af6a9ec29": approval(["b", "a"]),
    "c5e88cd061884bf722eca37d74c55373dcb42287b4179c414453eb2d82ef2cef": dpselect.borda(
        candidate="dish", rank="r", candidates=[2, 1]
    ),
    "4a9372e7ee0c15f3138a28a4112dfd6258be206cd8fdb5b57239f56bceef90a6": dpselect.custom(
        candidates=["svm", "forest"], sensitivity=1
    ),
    "e2c7bf25e98f76688d967872a7c281d78c618b85c7b0a5ed0c65fd88c732d1c7": dpselect.pricing(
        value="x", prices=[2, "1"]
    ),
    "35bc29a0e76535d9db8c9797ff7d8167f2579e9f6d40ad1eb65810a95f5a6260": dpselect.most_common(
        column="dish", candidates=["é", "a"]
    ),
    "00b367b2d7c7d51b2844337e7bcb2bcd119edbd7c415b20e70f4e7aa1784fb9d": dpselect.weighted_sum(
        candidate="dish", candidates=["b", "a"], value="x", bounds=(0, 1)
    ),
    "7d4aeb09d5af10e76cedcf122d2746abdeb65b0e4f3bee226c4430905c11293e": dpselect.counting(5),
}


def test_digests_that_ledgers_keep_do_not_change() -> None:
    for digest, problem in KEPT.items():
        assert problem.digest == digest


def test_problems_are_values() -> None:
    for problem in DIFFERENT:
        assert problem() == problem()
        assert len({problem(), problem()}) == 1
    assert repr(DIFFERENT[0]()) == "approval_voting(candidate='dish', 2 candidates)"
    with pytest.raises(AttributeError):
        DIFFERENT[0]().unit = Fraction(2)  # type: ignore[misc]  # the point of the test


def test_ratings_are_clamped_and_rounded_half_up_to_the_unit() -> None:
    problem = dpselect.weighted_sum(candidate="c", candidates=["a"], value="x", bounds=(-1, 2), unit="1/2")
    for value, points in [
        (0.24, 0),
        (0.25, 1),
        (-0.25, 0),
        (-0.26, -1),
        (5, 4),
        ("-9", -2),
        ("no", 0),
        (1.5, 3),
    ]:
        one = np.empty(1, dtype=object)
        one[0] = value
        counts = Counts((np.array([0]), one), np.array([7], dtype=np.int64))
        assert [int(score) for score in problem.scores(counts)] == [7 * points]


def test_planning_reads_no_table() -> None:
    problem = dpselect.counting(3)
    assert list(problem.outputs) == [0, 1, 2]
    assert problem.columns == ()
    with pytest.raises(InvalidParameter, match="counting reads no table"):
        problem.request(None, unit=None)  # type: ignore[arg-type]  # it is not looked at
    with pytest.raises(InvalidParameter, match="no scores of its own"):
        problem.scores(None)  # type: ignore[arg-type]


FLOATS = Schema(
    (Column("x", "double", "DOUBLE"), Column("y", "single", "FLOAT"), Column("i", "integer", "BIGINT"))
)


@pytest.mark.parametrize(
    ("column", "candidates"),
    [
        ("x", ["0.1", Fraction(0.1)]),
        ("x", [2**53, 2**53 + 1]),
        ("x", [0, Fraction(1, 10**400)]),
        ("y", [2**24, 2**24 + 1]),
        ("y", [Fraction(1, 10), Fraction(1, 10) + Fraction(1, 10**12)]),
    ],
)
def test_candidates_that_a_column_of_floats_cannot_tell_apart_are_refused_before_the_charge(
    column: str, candidates: list[Any]
) -> None:
    """A row would join both, and where each row is a person it would count twice."""
    problems = [
        dpselect.plurality(candidate=column, candidates=[Fraction(each) for each in candidates]),
        dpselect.weighted_sum(
            candidate=column, candidates=[Fraction(each) for each in candidates], value="i", bounds=(0, 1)
        ),
    ]
    for problem in problems:
        with pytest.raises(InvalidParameter, match="must tell the numbers of the list apart"):
            problem.request(FLOATS, unit=None)


def test_candidates_that_no_float_is_near_to_do_not_count_as_the_same() -> None:
    request = approval([1, 10**400, 10**401]).request(
        Schema((Column("dish", "double", "DOUBLE"),)), unit=None
    )
    assert [key.labels for key in request.keys if isinstance(key, Listed)] == [(1.0,)]
    approval([2**53, 2**53 + 1]).request(Schema((Column("dish", "integer", "BIGINT"),)), unit=None)


@pytest.mark.parametrize(
    "candidates",
    [["a", "A"], ["pad thai", "Pad  Thai"], ["a", " a"], ["a b", "a\tb"], ["É", "e\u0301"], ["", " "]],
)
def test_candidates_that_are_one_without_case_and_spaces_are_refused(candidates: list[str]) -> None:
    assert len(approval(candidates).outputs) == 2
    with pytest.raises(InvalidParameter, match="must differ in more than ASCII letters' case and spaces"):
        dpselect.approval_voting(candidate="dish", candidates=candidates, ignore_case=True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"candidates": [1, 2], "ignore_case": True}, "ignore_case is for candidates that are text"),
        ({"candidates": ["a"], "ignore_case": 1}, "ignore_case must be True or False"),
        ({"candidates": ["a" * 1_000_001], "ignore_case": True}, "must have 1000000 bytes at most"),
    ],
)
def test_case_that_cannot_be_ignored_is_refused(words: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidParameter, match=said):
        dpselect.approval_voting(candidate="dish", **words)


def test_a_label_comes_back_with_the_case_in_which_it_was_given() -> None:
    dish = dpselect.approval_voting(candidate="dish", candidates=["Pad Thai", "SOUP"], ignore_case=True)
    assert dish.outputs == ("Pad Thai", "SOUP")


@pytest.mark.parametrize(
    ("candidates", "outputs"),
    [
        ([True, False], (True, False)),
        (np.array([True, False]), (True, False)),
        ([date(2024, 2, 29), date(2023, 1, 1)], (date(2024, 2, 29), date(2023, 1, 1))),
        ([datetime.fromisoformat("2024-02-29T01:02:03")], (datetime.fromisoformat("2024-02-29T01:02:03"),)),
        (
            pd.Series([pd.Timestamp("2024-02-29 01:02:03.000004")]),
            (datetime.fromisoformat("2024-02-29T01:02:03.000004"),),
        ),
        ([time(18, 30)], (time(18, 30),)),
        ({date(2024, 2, 29), date(2023, 1, 1)}, (date(2023, 1, 1), date(2024, 2, 29))),
    ],
)
def test_dates_times_and_truth_values_are_candidates(candidates: object, outputs: tuple[Any, ...]) -> None:
    problem = approval(candidates)
    assert problem.outputs == outputs
    assert [type(label) for label in problem.outputs] == [type(label) for label in outputs]
    assert problem.digest != approval([str(label) for label in outputs]).digest


@pytest.mark.parametrize(
    "candidates",
    [
        [date(2024, 1, 1), date(2024, 1, 1)],
        [date(2024, 1, 1), datetime.fromisoformat("2024-01-01T00:00:00")],
        [True, True],
        [datetime(2024, 1, 1, tzinfo=UTC)],
        [pd.Timestamp(1)],
    ],
)
def test_dates_and_times_that_cannot_be_told_apart_or_have_a_zone_are_refused(candidates: list[Any]) -> None:
    with pytest.raises(InvalidParameter, match="candidates must be"):
        approval(candidates)


@pytest.mark.parametrize(
    ("kind", "candidates"),
    [
        ("date", [True]),
        ("date", ["yesterday"]),
        ("date", [1]),
        ("boolean", [date(2024, 1, 1)]),
        ("boolean", ["yes"]),
        ("boolean", ["true", "True"]),
        ("integer", [True]),
        ("timestamp", [date(2024, 1, 1)]),
    ],
)
def test_candidates_of_another_type_than_the_column_are_refused_before_the_charge(
    kind: Any, candidates: list[Any]
) -> None:
    with pytest.raises(InvalidParameter, match="must"):
        approval(candidates).request(Schema((Column("dish", kind, kind),)), unit=None)


def test_a_time_that_a_column_cannot_hold_is_no_other_time() -> None:
    seconds = Schema((Column("dish", "timestamp", "TIMESTAMP_S"),))
    moments = [datetime.fromisoformat(f"2024-01-01T00:00:00{rest}") for rest in ("", ".000001")]
    request = approval(moments).request(seconds, unit=None)
    assert [key.places for key in request.keys if isinstance(key, Listed)] == [(0,)]


@pytest.mark.parametrize(
    "label",
    [True, False, date(2024, 2, 29), datetime.fromisoformat("2024-02-29T01:02:03.000004"), time(18, 30, 1)],
)
@pytest.mark.filterwarnings("ignore::dpselect.UnmeteredRelease")
def test_a_release_of_a_date_or_a_truth_value_is_written_and_read(label: Any) -> None:
    problem = dpselect.custom(candidates=[label], sensitivity=1)
    release = dpselect.select(problem, dpselect.Scores({label: 1}), epsilon=1)
    assert (release.label, type(release.label)) == (label, type(label))
    read = dpselect.Release.from_json(release.to_json())
    assert (read, type(read.label)) == (release, type(label))


@pytest.mark.parametrize("name", ["tea;milk", ";", " tea", "tea\n"])
def test_a_name_that_no_part_of_a_cell_can_be_is_refused(name: str) -> None:
    for ask in (dpselect.approval_voting, dpselect.plurality):
        with pytest.raises(InvalidParameter, match="No cell could name it") as refused:
            ask(candidate="dish", candidates=["pie", name], split=";")
        assert refused.value.parameter == "split"
    with pytest.raises(InvalidParameter, match="No cell could name it"):
        dpselect.most_common(
            column="dish", candidates=["pie", "tea and milk"], split=" and ", ignore_case=True
        )


def test_white_space_around_a_name_is_no_matter_where_it_is_ignored() -> None:
    table = pa.table({"who": [1], "dish": ["pie;  TEA"]})
    problem = dpselect.approval_voting(
        candidate="dish", candidates=["pie", " tea"], split=";", ignore_case=True
    )
    with dpselect.Table(table, unit="who").open() as engine:
        counts = engine.counts(problem.request(engine.schema, unit="who"), bytes(16))
    assert list(problem.scores(counts)) == [1, 1]
