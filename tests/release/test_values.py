"""A release is a public value: it is written and read exactly, shows itself safely, and never changes."""

import json
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields, replace
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpselect
from dpselect import ZCDP, ApproxDP, PureDP, Release, RenyiDP, Scores
from dpselect.errors import InvalidParameter
from dpselect.release.result import EXAMPLE
from tests.release.elections import Watched

PRICES: list[Any] = [
    PureDP("1/3"),
    PureDP(0),
    PureDP(Fraction(10**500, 3**300)),
    ZCDP("1/8"),
    ApproxDP(1, "1e-6"),
    RenyiDP({2: "1/2", "7/3": 1, 64: float("inf")}),
]
LABELS: list[Any] = [
    "tea",
    "",
    "ünïcødé 🫖",
    "two\nlines\0\x1b[31m\u202e",
    '"}],"labels":["other"]',
    7,
    -(10**5000),
    0.1,
    5e-324,
    Decimal("1.50"),
    Decimal("1E+400"),
    Fraction(-22, 7),
    Fraction(10**5000, 3),
]
NUMBERS = (
    st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.decimals(allow_nan=False, allow_infinity=False)
    | st.fractions()
)


def winners(*labels: Any) -> Release:
    return replace(EXAMPLE, labels=labels, accuracy=replace(EXAMPLE.accuracy, k=len(labels)))


def exactly(label: Any) -> tuple[type, str]:
    """Tell apart what Python calls equal: 1, 1.0 and Decimal("1.00")."""
    return type(label), str(label) if isinstance(label, str | float | Decimal) else repr(hash(label))


def check_that_it_is_read_as_written(release: Release) -> None:
    read = Release.from_json(release.to_json())
    assert read == release
    assert list(map(exactly, read.labels)) == list(map(exactly, release.labels))
    assert read.measure == release.measure
    assert "\n" not in release.to_json()


@pytest.mark.parametrize("price", PRICES, ids=lambda price: type(price).__name__)
def test_every_kind_of_price_is_read_as_it_was_written(price: Any) -> None:
    check_that_it_is_read_as_written(replace(EXAMPLE, price=price))


@pytest.mark.parametrize("label", LABELS, ids=lambda label: type(label).__name__)
def test_every_kind_of_label_is_read_as_it_was_written(label: Any) -> None:
    check_that_it_is_read_as_written(winners(label))
    check_that_it_is_read_as_written(winners(*LABELS))


@given(st.lists(st.text(st.characters(codec="utf-8")) | NUMBERS, min_size=1, max_size=4))
def test_all_labels_are_read_as_they_were_written(labels: list[Any]) -> None:
    check_that_it_is_read_as_written(winners(*labels))


@given(st.text(), st.text() | st.none(), st.sampled_from(["add_remove", "change_one"]))
def test_all_names_are_read_as_they_were_written(dataset: str, unit: str | None, neighbours: Any) -> None:
    check_that_it_is_read_as_written(replace(EXAMPLE, dataset=dataset, unit=unit, neighbours=neighbours))


class Size(IntEnum):
    SMALL = 1
    LARGE = 2


@pytest.mark.parametrize(
    ("candidates", "plain"),
    [
        (["tea", "ünï"], {"tea", "ünï"}),
        ([1, 2], {1, 2}),
        ([0.5, 1], {0.5, 1}),
        ([Decimal("0.50"), Fraction(1, 3)], {Decimal("0.50"), Fraction(1, 3)}),
        (np.array([3, 4], dtype=np.int8), {3, 4}),
        (np.array([0.25, 4], dtype=np.float32), {0.25, 4.0}),
        (np.array([0.25, 4], dtype=np.longdouble), {0.25, 4.0}),
        (list(Size), {1, 2}),
        ([10**5000, -1], {10**5000, -1}),
    ],
    ids=["text", "int", "mixed", "exact", "int8", "float32", "longdouble", "enum", "long"],
)
def test_a_label_is_a_plain_value_of_python_whatever_the_candidates_are(
    candidates: object,
    plain: set[object],
    ledger: Watched,
) -> None:
    problem = dpselect.custom(candidates=candidates, sensitivity=1)
    release = dpselect.top_k(problem, Scores([5, 5]), k=2, epsilon=1, ledger=ledger, request_id="x")
    assert set(release.labels) == plain
    assert all(type(label) in (str, int, float, Decimal, Fraction) for label in release.labels)
    check_that_it_is_read_as_written(release)
    assert repr(release)


FACTS = json.loads(EXAMPLE.to_json())


def without(name: str) -> str:
    return json.dumps({key: value for key, value in FACTS.items() if key != name})


def with_facts(**changed: Any) -> str:
    return json.dumps(FACTS | changed)


NO_LABELS: list[Any] = [[], ["tea", "pie"], "tea", [7], [None], [{"int": "1/2"}], [{}]]
LATER = ("reading", "where")
"""Facts that came with a later version, and may be missing."""
HOSTILE: list[Any] = [
    "",
    "tea",
    "null",
    "[]",
    "7",
    "{}",
    '"\ud800"',
    "[" * 100_000,
    EXAMPLE.to_json()[:-1],
    None,
    b"\xff",
    7,
    *(without(fact) for fact in FACTS if fact not in LATER),
    *(with_facts(labels=labels) for labels in NO_LABELS),
    *(with_facts(labels=[{kind: text}]) for kind, text in [("int", "1e9"), ("set", "1"), ("decimal", "x")]),
    with_facts(labels=[{"fraction": "1e999999999"}]),
    with_facts(scale="1e999999999"),
    with_facts(scale="1/0"),
    with_facts(scale=2),
    with_facts(loss={"epsilon": "-1"}),
    with_facts(loss={"epsilon": "1", "rho": "1"}),
    with_facts(loss={"epsilon": "1", "extra": "1"}),
    with_facts(loss={}),
    with_facts(measure="zero_concentrated_divergence"),
    with_facts(neighbours="friends"),
    with_facts(mechanism="gaussian"),
    with_facts(unit=7),
    with_facts(dataset=["x"]),
    with_facts(version=None),
    with_facts(extra=1),
    with_facts(reading={"decimal": 1}),
    with_facts(reading=[]),
    with_facts(k=2),
    with_facts(k="1"),
    with_facts(k=1.0),
    with_facts(k=True),
    with_facts(winners=["pie"]),
    with_facts(price="1"),
    with_facts(within_exact="12"),
    with_facts(step=1),
    with_facts(target=7),
    with_facts(candidates={"count": 0, "first": []}),
    with_facts(candidates={"count": 1.0, "first": []}),
    with_facts(candidates={"count": None, "first": [7]}),
    with_facts(accuracy=FACTS["accuracy"] | {"within": "10.99"}),
    with_facts(accuracy=FACTS["accuracy"] | {"confidence": "1e999999999"}),
    with_facts(accuracy=FACTS["accuracy"] | {"unit": 1}),
    with_facts(accuracy=FACTS["accuracy"] | {"extra": 1}),
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: str(text)[:40])
def test_what_is_no_release_is_refused_with_one_sentence(text: Any) -> None:
    with pytest.raises(InvalidParameter, match=r"^text must be a release, as to_json\(\) writes it\.$"):
        Release.from_json(text)


def test_what_a_release_is_refused_for_is_not_because_of_the_example() -> None:
    assert Release.from_json(with_facts()) == EXAMPLE


SHOWN: list[Callable[[str], Release]] = [
    winners,
    lambda text: winners("tea", text),
    lambda text: replace(EXAMPLE, dataset=text),
    lambda text: replace(EXAMPLE, unit=text),
]


@pytest.mark.parametrize("made", SHOWN)
def test_a_page_shows_names_and_runs_none_of_them(made: Callable[[str], Release]) -> None:
    page = made("<img src=x onerror=\"alert('1')\">&amp;")._repr_html_()
    assert "<img" not in page
    assert "&lt;img src=x onerror=&quot;alert(&#x27;1&#x27;)&quot;&gt;&amp;amp;" in page
    assert page.startswith('<div class="dpselect">')
    assert page.endswith("</td></tr></table></div>")


@pytest.mark.parametrize("made", SHOWN)
def test_a_terminal_shows_names_and_obeys_none_of_them(made: Callable[[str], Release]) -> None:
    release = made("tea\x1b[2J\nprice  free\u202e\r")
    text = repr(release)
    assert text.replace("\n", "").isprintable()
    assert len(text.splitlines()) == len(repr(made("plain")).splitlines())
    assert r"\x1b[2J\nprice  free\u202e\r" in text


def test_a_release_says_what_won_what_it_costs_whom_it_protects_and_how_good_it_is() -> None:
    assert repr(replace(EXAMPLE, dataset="orders", unit=None)) == (
        "winner    tea\n"
        "price     epsilon 0.5\n"
        "protects  one person (each row is one): one more or one fewer\n"
        "accuracy  within 11 of the best score, with probability 0.99 or more (exponential noise)\n"
        "noise     exponential, scale 2\n"
        "data set  orders"
    )


def test_a_release_never_changes() -> None:
    for field in fields(EXAMPLE):
        with pytest.raises(FrozenInstanceError):
            setattr(EXAMPLE, field.name, None)
    assert isinstance(EXAMPLE.labels, tuple)
    assert len({EXAMPLE, replace(EXAMPLE), replace(EXAMPLE, labels=("pie",))}) == 2
