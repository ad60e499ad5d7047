"""Scores of one's own follow the candidates as they were given, or go by their names."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpselect
from dpselect import ZCDP, Ledger, PureDP, Scores, custom, select
from dpselect.errors import DpselectError, InvalidParameter, ReleaseFailed
from tests.privacy.leaks import leaks

MODELS = ["svm", "forest", "logreg", "xgboost"]
HITS = [271, 266, 278, 275]
BEST = "logreg"
PROBLEM = custom(candidates=MODELS, sensitivity=1)
BY_NAME = dict(zip(MODELS, HITS, strict=True))
SHUFFLED = {name: BY_NAME[name] for name in ("xgboost", "logreg", "svm", "forest")}
pytestmark = pytest.mark.filterwarnings("ignore::dpselect.UnmeteredRelease")


def chosen(scores: object, problem: Any = PROBLEM) -> object:
    """Choose with so little noise that the second best wins with a probability below 10**-100."""
    return select(problem, Scores(scores), epsilon=1000).label


@pytest.mark.parametrize(
    "source",
    [
        HITS,
        tuple(HITS),
        np.array(HITS),
        np.array(HITS, dtype=np.float32),
        pd.Series(HITS),
        pd.Series(HITS, dtype="Int64"),
        pl.Series(HITS),
        pa.array(HITS),
        [Fraction(hits, 1000) * 100 for hits in HITS],
        lambda: HITS,
        lambda: pd.Series(HITS),
        lambda: iter([HITS[:1], np.array(HITS[1:])]),
        lambda: pa.table({"hits": HITS}).to_reader(max_chunksize=1),
    ],
)
def test_scores_without_names_follow_the_candidates_as_they_were_given(source: Any) -> None:
    assert PROBLEM.outputs == tuple(MODELS)
    assert chosen(source) == BEST


@pytest.mark.parametrize(
    "source",
    [
        BY_NAME,
        SHUFFLED,
        {name: Fraction(hits) for name, hits in SHUFFLED.items()},
        pd.Series(SHUFFLED),
        pd.Series(SHUFFLED, dtype="Int64"),
        pd.Series(SHUFFLED).astype("float32"),
        pd.Series(SHUFFLED, index=pd.CategoricalIndex(list(SHUFFLED))),
        lambda: SHUFFLED,
        lambda: pd.Series(SHUFFLED),
    ],
)
def test_scores_with_names_go_by_their_names(source: Any) -> None:
    assert chosen(source) == BEST


def test_names_are_compared_as_candidates_are() -> None:
    words = custom(candidates=["e\u0301", "a"], sensitivity=1)
    assert chosen({"a": 1, "é": 50}, words) == "e\u0301"
    numbers = custom(candidates=[3, 0.1, 2], sensitivity=1)
    assert chosen({Fraction(1, 10): 50, 2.0: 2, 3: 1}, numbers) == 0.1
    assert chosen(pd.Series([1, 50, 2], index=[3, 2, 0.1]), numbers) == 2


def test_an_index_that_counts_from_zero_is_none() -> None:
    numbers = custom(candidates=[2, 1, 0], sensitivity=1)
    assert chosen(pd.Series([50, 1, 2]), numbers) == 2
    assert chosen(pd.Series([50, 1, 2], index=[0, 1, 2]), numbers) == 0
    assert chosen(pd.Series([1, 2, 50], index=pd.RangeIndex(2, -1, -1)), numbers) == 0


WRONG: list[Any] = [
    {"svm": 31337, "forest": 1, "logreg": 2},
    {"svm": 31337, "forest": 1, "logreg": 2, "xgboost": 3, "s3cret": 4},
    {"svm": 31337, "forest": 1, "logreg": 2, "s3cret": 4},
    {"svm": 31337, "forest": 1, "logreg": 2, 3: 4},
    {"svm": 31337, "forest": 1, "logreg": 2, None: 4},
    {"svm": 31337, "forest": 1, "logreg": 2, float("nan"): 4},
    pd.Series([31337, 2, 3, 4], index=["svm", "svm", "forest", "logreg"]),
    pd.Series([31337, 2, 3, 4], index=[3, 1, 2, 0]),
    pd.Series([31337, 2, 3, 4], index=pd.RangeIndex(1, 5)),
    pd.Series([31337, 2, 3, 4], index=pd.MultiIndex.from_product([["s3cret", "b"], [1, 2]])),
    pd.Series({"svm": 31337, "forest": 1, "logreg": 2}),
    {},
]
SENTENCE = (
    "scores with names must name each candidate once, and nothing else; "
    "the candidates are: 'svm', 'forest', 'logreg', 'xgboost'."
)


@pytest.mark.parametrize("source", WRONG)
def test_names_that_are_not_the_candidates_are_refused_before_the_charge(source: Any, tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "l", budget=PureDP(1)) as ledger:
        with pytest.raises(InvalidParameter) as caught:
            select(PROBLEM, Scores(source), epsilon=1, ledger=ledger)
        assert str(caught.value) == SENTENCE
        assert leaks(caught.value) == []
        assert ledger.remaining == PureDP(1)


@pytest.mark.parametrize("source", WRONG)
def test_names_that_a_function_gives_are_data(source: Any, tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "l", budget=ZCDP(1)) as ledger:
        with pytest.raises(ReleaseFailed) as caught:
            select(PROBLEM, Scores(lambda: source), rho=1, ledger=ledger)
        assert leaks(caught.value) == []
        assert ledger.remaining == ZCDP(0)


@pytest.mark.parametrize("source", [{"a": "31337"}, {"a": [31337]}, {"a": None}])
def test_scores_with_names_are_numbers(source: Any) -> None:
    alone = custom(candidates=["a", "b"], sensitivity=1)
    with pytest.raises(DpselectError) as caught:
        chosen({**source, "b": 1}, alone)
    assert leaks(caught.value) == []


def test_named_scores_show_nothing() -> None:
    assert repr(Scores(BY_NAME)) == repr(Scores(pd.Series(BY_NAME))) == "<4 private scores>"


@pytest.mark.parametrize(
    "problem",
    [
        lambda names: dpselect.approval_voting(candidate="x", candidates=names),
        lambda names: dpselect.borda(candidate="x", rank="r", candidates=names),
        lambda names: dpselect.most_common(column="x", candidates=names),
        lambda names: dpselect.weighted_sum(candidate="x", candidates=names, value="v", bounds=(0, 1)),
        lambda names: dpselect.pricing(value="x", prices=names),
        lambda names: dpselect.quantile(value="x", at="1/2", candidates=names),
    ],
)
def test_outputs_keep_the_order_given_and_the_digest_does_not_know_it(problem: Callable[..., Any]) -> None:
    assert problem([3, 1, 2]).outputs == (3, 1, 2)
    assert problem([3, 1, 2]).digest == problem([1, 2, 3]).digest
    assert problem({3, 1, 2}).outputs == (1, 2, 3)
