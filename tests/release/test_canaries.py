"""D9: every public name that takes data, given data of every Python type, refuses without holding it."""

from __future__ import annotations

import copy
import pickle
import sys
from array import array
from collections import ChainMap, Counter, OrderedDict, UserDict, UserList, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType, SimpleNamespace
from typing import Any, NoReturn

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpselect
from dpselect import Measurement, Scores, Table
from dpselect.exact.randomness import system
from dpselect.mechanisms import geometric
from tests.privacy.leaks import CANARIES, holds_a_canary, leaks

OWN = dpselect.custom(candidates=["a", "b"], sensitivity=1)
DISH = dpselect.approval_voting(candidate="dish", candidates=["soup", "pie"])
EACH: dict[str, Any] = {"by": "dish", "groups": ["soup"]}
VECTORS = dpselect.vector_domain(dpselect.atom_domain(float))


@dataclass
class Record:
    """A person's answer, as a program might keep it."""

    answer: float


class Slotted:
    """Keeps its value where ``vars`` does not look."""

    __slots__ = ("answer",)

    def __init__(self) -> None:
        self.answer = CANARIES[0]


class Complaining:
    """Says what it holds whenever anything is asked of it."""

    def __init__(self) -> None:
        self.held = CANARIES

    @property
    def dtype(self) -> NoReturn:
        raise RuntimeError(self.held)

    def __array__(self, dtype: object = None, *, copy: bool | None = None) -> NoReturn:
        raise ValueError(self.held, dtype, copy)


class ComplainingMapping(UserDict[str, float]):
    """Has names, and says what it holds when its values are read."""

    def __getitem__(self, key: str) -> NoReturn:
        raise KeyError(*CANARIES)


class Watching(list[float]):
    """A list of one's own."""


def generated() -> Iterator[float]:
    yield from CANARIES


FLOAT, WHOLE = CANARIES
PLAIN: dict[str, Callable[[], Any]] = {
    "list": lambda: [*CANARIES],
    "tuple": lambda: CANARIES,
    "three": lambda: [*CANARIES, 1],
    "list of a list": lambda: [[*CANARIES]],
    "list of texts": lambda: ["31337.25", "8675309"],
    "list with None": lambda: [*CANARIES, None],
    "list with nan": lambda: [FLOAT, float("nan")],
    "list with a bool": lambda: [FLOAT, True],
    "list with infinity": lambda: [FLOAT, float("inf")],
    "list of fractions": lambda: [Fraction(FLOAT), Fraction(WHOLE), Fraction(1)],
    "list of decimals": lambda: [Decimal(FLOAT), Decimal("sNaN31337")],
    "list of dicts": lambda: [{"dish": FLOAT}, {"dish": WHOLE}],
    "list of a class": lambda: Watching([*CANARIES, 3.0]),
    "dict": lambda: {"a": FLOAT, "b": WHOLE},
    "dict by score": lambda: dict.fromkeys(CANARIES),
    "set": lambda: set(CANARIES),
    "frozenset": lambda: frozenset(CANARIES),
    "str": lambda: "31337.25, 8675309",
    "bytes": lambda: b"31337.25",
    "bytearray": lambda: bytearray(b"31337.25"),
    "memoryview": lambda: memoryview(b"31337.25"),
    "int": lambda: WHOLE,
    "float": lambda: FLOAT,
    "complex": lambda: complex(FLOAT),
    "Decimal": lambda: Decimal(FLOAT),
    "Fraction": lambda: Fraction(FLOAT),
    "generator": generated,
    "iterator": lambda: iter([*CANARIES]),
    "values": {"a": FLOAT}.values,
    "deque": lambda: deque(CANARIES),
    "Counter": lambda: Counter({"a": WHOLE}),
    "OrderedDict": lambda: OrderedDict(a=FLOAT),
    "ChainMap": lambda: ChainMap({"a": FLOAT}),
    "UserDict": lambda: UserDict(a=FLOAT),
    "mapping that complains": lambda: ComplainingMapping(a=FLOAT, b=WHOLE),
    "UserList": lambda: UserList(CANARIES),
    "MappingProxy": lambda: MappingProxyType({"a": FLOAT}),
    "Namespace": lambda: SimpleNamespace(a=FLOAT),
    "dataclass": lambda: Record(FLOAT),
    "slots": Slotted,
    "complaining": Complaining,
    "Scores": lambda: Scores([*CANARIES]),
    "Scores of three": lambda: Scores([*CANARIES, 1]),
    "Scores that fail": lambda: Scores([FLOAT, float("nan")]),
    "Table": lambda: Table(pd.DataFrame({"id": [1], "dish": [FLOAT]}), unit="id"),
    "array.array": lambda: array("d", CANARIES),
}
NUMERIC: dict[str, Callable[[], Any]] = {
    "array": lambda: np.array(CANARIES),
    "array of three": lambda: np.array([*CANARIES, 1]),
    "array of objects": lambda: np.array(CANARIES, dtype=object),
    "array of texts": lambda: np.array(["31337.25", "8675309"]),
    "array of two dimensions": lambda: np.array([CANARIES]),
    "array of none": lambda: np.array(FLOAT),
    "array with nan": lambda: np.array([FLOAT, np.nan]),
    "array of records": lambda: np.array([CANARIES], dtype=[("a", float), ("b", int)]),
    "array with a mask": lambda: np.ma.masked_array([*CANARIES], [False, True]),
    "NumPy's number": lambda: np.float64(FLOAT),
    "Series": lambda: pd.Series(CANARIES),
    "Series with a null": lambda: pd.Series([WHOLE, None], dtype="Int64"),
    "DataFrame": lambda: pd.DataFrame({"dish": CANARIES, "type": CANARIES, "dtype": CANARIES}),
    "Polars Series": lambda: pl.Series(CANARIES),
    "Polars DataFrame": lambda: pl.DataFrame({"dish": CANARIES}),
    "Arrow array": lambda: pa.array([FLOAT, None]),
    "Arrow table": lambda: pa.table({"dish": CANARIES}),
}
DATA = {**PLAIN, **NUMERIC}


def wrapped(function: Callable[[Any], Any]) -> Measurement:
    return dpselect.user_measurement(
        input_domain=VECTORS,
        input_metric=dpselect.range_distance(),
        output_measure=dpselect.max_divergence(),
        function=function,
        privacy_map=lambda d_in: d_in,
    )


def fails(data: object) -> NoReturn:
    raise LookupError(data)


RANGE, PURE = dpselect.range_distance(), dpselect.max_divergence()
MEASUREMENTS: dict[str, Measurement] = {
    "user_measurement": wrapped(fails),
    "Measurement": wrapped(lambda data: (0.5, len(data))),
    "make_report_noisy_max": dpselect.make_report_noisy_max(VECTORS, RANGE, PURE, 1),
    "make_report_noisy_max_gumbel": dpselect.make_report_noisy_max_gumbel(VECTORS, RANGE, 1),
    "make_report_noisy_top_k": dpselect.make_report_noisy_top_k(
        dpselect.vector_domain(dpselect.atom_domain(float), size=5), RANGE, PURE, 2, 1
    ),
    "make_report_noisy_top_k_with_counts": dpselect.make_report_noisy_top_k_with_counts(
        dpselect.vector_domain(dpselect.atom_domain(int)), dpselect.l1_distance(), PURE, 1, 1
    ),
    "make_report_noisy_top_k_with_gaps": dpselect.make_report_noisy_top_k_with_gaps(
        VECTORS, RANGE, PURE, 1, 1, 1
    ),
    "make_permute_and_flip": dpselect.make_permute_and_flip(VECTORS, RANGE, 1),
    "make_geometric": dpselect.make_geometric(dpselect.atom_domain(int), dpselect.absolute_distance(), 1),
    "make_randomized_response": dpselect.make_randomized_response(["a", "b"], 1),
    "make_exponential_mechanism_on_runs": dpselect.make_exponential_mechanism_on_runs(
        dpselect.runs_domain(dpselect.atom_domain(int), 3), RANGE, 1
    ),
    "make_exponential_mechanism_on_integers": dpselect.make_exponential_mechanism_on_integers(
        dpselect.steps_domain(dpselect.atom_domain(int)),
        dpselect.linf_distance(),
        1,
        height=9,
        centre=0,
        slope=1,
    ),
    "make_exponential_mechanism": dpselect.make_exponential_mechanism(VECTORS, RANGE, ["a", "b"], 1),
    "make_best_of_random_count": dpselect.make_best_of_random_count(wrapped(fails), geometric("1/2")),
    "make_select_private_candidate": dpselect.make_select_private_candidate(
        wrapped(lambda data: data), "1/2", 1
    ),
}
NO_SOURCE: Any = 5
CALLS: dict[str, Callable[[Measurement, Any], Any]] = {
    "m(data)": lambda m, data: m(data),
    "m.draw(data)": lambda m, data: m.draw(data, system()),
    "m.draw(data, 5)": lambda m, data: m.draw(data, NO_SOURCE),
    "m.over(data)": lambda m, data: m.over(data),
    "m.over([data])": lambda m, data: m.over([data]),
    "m.over(data, 5)": lambda m, data: m.over(data, NO_SOURCE),
    "(m >> f)(data)": lambda m, data: (m >> str)(data),
    "m.input_domain.check(data)": lambda m, data: m.input_domain.check(data),
}


def set_it(held: Any, name: str) -> None:
    setattr(held, name, 5)


OTHERS: dict[str, dict[str, Callable[[Any], Any]]] = {
    "Scores": {
        "made": Scores,
        "made with a word too many": lambda data: Scores(data, 5),  # type: ignore[call-arg]
        "made with a wrong word": lambda data: Scores(data, scale=5),  # type: ignore[call-arg]
        "pickled": lambda data: pickle.dumps(Scores(data)),
        "copied": lambda data: copy.copy(Scores(data)),
        "changed": lambda data: set_it(Scores(data), "source"),
        "emptied": lambda data: Scores(data).__delattr__("source"),
    },
    "Table": {
        "without a unit": Table,  # type: ignore[dict-item]  # the point of the test
        "with a wrong unit": lambda data: Table(data, unit=5),  # type: ignore[arg-type]
        "with a wrong table": lambda data: Table(data, unit=None, table=5),  # type: ignore[arg-type]
        "with wrong columns": lambda data: Table(data, unit=None, columns=5),  # type: ignore[arg-type]
        "changed": lambda data: set_it(Table(data, unit=None), "source"),
        "opened": lambda data: opened(Table(data, unit=None)),
        "opened as a database": lambda data: opened(Table(data, unit=None, table="t")),
        "opened as JSON": lambda data: opened(Table(data, unit=None, columns={"dish": "text"})),
    },
    "check": {
        "by another than the owner": lambda data: dpselect.check(DISH, data),
        "by the owner": lambda data: dpselect.check(DISH, data, owner=True),
        "in the wrong order": lambda data: dpselect.check(data, OWN, owner=True),  # type: ignore[arg-type]
    },
    "prepare": {
        "from it": lambda data: dpselect.prepare(OWN, data, epsilon=1),
        "from its scores": lambda data: released(dpselect.prepare(OWN, Scores(data), epsilon=1)),
        "from its scores, made later": lambda data: released(
            dpselect.prepare(OWN, Scores(lambda: data), epsilon=1)
        ),
        "from its rows": lambda data: released(dpselect.prepare(DISH, Table([data], unit="dish"), epsilon=1)),
        "in the wrong order": lambda data: dpselect.prepare(data, OWN, epsilon=1),  # type: ignore[arg-type]
        "pickled": lambda data: pickle.dumps(dpselect.prepare(OWN, Scores(data), epsilon=1)),
        "never opened": lambda data: dpselect.prepare(OWN, Scores(data), epsilon=1).release(),
        "of a wrong ledger": lambda data: released(dpselect.prepare(OWN, Scores(data), epsilon=1), 5),
    },
    "select": {
        "from it": lambda data: dpselect.select(OWN, data, epsilon=1),
        "from its scores": lambda data: dpselect.select(OWN, Scores(data), epsilon=1),
        "from its scores, made later": lambda data: dpselect.select(OWN, Scores(lambda: data), epsilon=1),
        "from its rows": lambda data: dpselect.select(DISH, Table([data], unit="dish"), epsilon=1),
        "from a frame": lambda data: dpselect.select(DISH, Table(data, unit="dish"), epsilon=1),
        "in the wrong order": lambda data: dpselect.select(data, OWN, epsilon=1),  # type: ignore[arg-type]
        "for no budget": lambda data: dpselect.select(OWN, data),
    },
    "select_each": {
        "from it": lambda data: dpselect.select_each(OWN, data, epsilon=1, **EACH),
        "from its scores": lambda data: dpselect.select_each(OWN, Scores(data), epsilon=1, **EACH),
        "from its rows": lambda data: dpselect.select_each(
            DISH, Table([data], unit="dish"), epsilon=1, **EACH
        ),
        "from a frame": lambda data: dpselect.select_each(DISH, Table(data, unit="dish"), epsilon=1, **EACH),
        "in the wrong order": lambda data: dpselect.select_each(data, OWN, epsilon=1, **EACH),  # type: ignore[arg-type]
    },
    "summary": {
        "of it": lambda data: dpselect.summary(data, value="x", between=(0, 9), epsilon=1),
        "of its scores": lambda data: dpselect.summary(Scores(data), value="x", between=(0, 9), epsilon=1),
    },
    "top_k": {
        "from it": lambda data: dpselect.top_k(OWN, data, k=2, epsilon=1),
        "from its scores": lambda data: dpselect.top_k(OWN, Scores(data), k=2, rho=1),
        "of too many": lambda data: dpselect.top_k(OWN, Scores(data), k=3, rho=1),
        "in the wrong order": lambda data: dpselect.top_k(data, OWN, k=1, epsilon=1),  # type: ignore[arg-type]
    },
    "top_k_each": {
        "from it": lambda data: dpselect.top_k_each(OWN, data, k=2, rho=1, **EACH),
        "from a frame": lambda data: dpselect.top_k_each(DISH, Table(data, unit="dish"), k=1, rho=1, **EACH),
    },
}
FROM_FRAMES = [OTHERS[name]["from a frame"] for name in ("select", "select_each", "top_k_each")]
PUBLIC = {
    "Accuracy",
    "AlreadyAnswered",
    "AlreadyCharged",
    "AnswerLost",
    "ApproxDP",
    "ApproxZCDP",
    "BoundedRange",
    "BudgetExhausted",
    "Account",
    "Entry",
    "LaplaceDominated",
    "Ledger",
    "LedgerDamaged",
    "LedgerUnavailable",
    "PrivacyProfile",
    "PureDP",
    "Quote",
    "Release",
    "RenyiCurve",
    "RenyiDP",
    "RequestChanged",
    "UnmeteredRelease",
    "ZCDP",
    "absolute_distance",
    "accuracy",
    "approval_voting",
    "approximate",
    "atom_domain",
    "borda",
    "calibrate",
    "chance_of_best",
    "change_one_distance",
    "compose",
    "convert",
    "counting",
    "custom",
    "epsilon_for",
    "expected_error",
    "lead_needed",
    "l1_distance",
    "linf_distance",
    "max_divergence",
    "most_common",
    "plot_accuracy",
    "plot_chance",
    "plot_law",
    "plot_ledger",
    "plot_plan",
    "plurality",
    "pricing",
    "quantile",
    "range_distance",
    "range_divergence",
    "renyi_divergence",
    "symmetric_distance",
    "plot_summary",
    "quantiles",
    "runs_domain",
    "steps_domain",
    "vector_domain",
    "threshold",
    "weighted_sum",
    "window",
    "zero_concentrated_divergence",
}
"""The names that take nothing but what is public."""


def opened(table: Table) -> None:
    if isinstance(table.source, str):
        return  # a path, which is public
    with table.open():
        pass


def released(question: dpselect.release.Question, ledger: Any = None) -> None:
    with question:
        question.release(ledger)


def test_every_public_name_is_walked_or_takes_nothing_but_what_is_public() -> None:
    walked = {*MEASUREMENTS, *OTHERS}
    assert walked | PUBLIC == set(dpselect.__all__)
    assert not walked & PUBLIC


@pytest.mark.parametrize("kind", sorted({*DATA} - {"iterator", "generator"}))
def test_d9_the_check_sees_data_of_every_type(kind: str) -> None:
    """Only of iterators it sees nothing: a look uses them up."""
    assert holds_a_canary([DATA[kind]()])


@pytest.mark.parametrize("make", DATA.values(), ids=list(DATA))
@pytest.mark.parametrize("name", ["user_measurement", "make_report_noisy_top_k"])
def test_d9_no_measurement_refuses_with_data_in_its_hands(name: str, make: Callable[[], Any]) -> None:
    for call in CALLS.values():
        assert found_after(lambda data, call=call: call(MEASUREMENTS[name], data), make) == []  # type: ignore[misc]


@pytest.mark.parametrize("name", MEASUREMENTS)
def test_d9_measurements_of_every_kind_refuse_alike(name: str) -> None:
    for kind in ("list", "three", "dict", "str", "float", "complaining", "array with nan", "DataFrame"):
        for call in CALLS.values():
            data = DATA[kind]
            assert found_after(lambda data, call=call: call(MEASUREMENTS[name], data), data) == []  # type: ignore[misc]


@pytest.mark.filterwarnings("ignore::dpselect.UnmeteredRelease")
@pytest.mark.parametrize("make", DATA.values(), ids=list(DATA))
@pytest.mark.parametrize(("name", "call"), [(name, call) for name, calls in OTHERS.items() for call in calls])
def test_d9_nothing_that_takes_data_refuses_with_data_in_its_hands(
    name: str, call: str, make: Callable[[], Any]
) -> None:
    assert found_after(OTHERS[name][call], make) == []


def found_after(call: Callable[[Any], Any], make: Callable[[], Any]) -> list[str]:
    """Say where the data is found in what a call raises, if it does."""
    data = make()
    if isinstance(data, str) and call in FROM_FRAMES:
        return []  # a path, which is public
    try:
        call(data)
    except Exception as error:  # noqa: BLE001 - whatever is raised, it is looked through
        return leaks(error)
    return []


def test_d9_a_dataclass_that_refuses_by_itself_is_seen_to_leak() -> None:
    with pytest.raises(dpselect.errors.InvalidParameter) as caught:
        Measurement(VECTORS, RANGE, PURE, [*CANARIES], lambda d_in: d_in)  # type: ignore[arg-type]
    assert leaks(caught.value) != []


def test_d9_ctrl_c_in_a_constructor_leaves_no_data_in_the_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(values: object) -> NoReturn:
        del values
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["dpselect.problems.own_scores"], "as_vector", interrupted)
    with pytest.raises(KeyboardInterrupt) as caught:
        Scores(list(CANARIES))
    assert leaks(caught.value) == []
