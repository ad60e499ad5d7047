"""No clear winner: a quorum is one more candidate, whose score is a public constant.

Proof: quorum.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import chain, takewhile
from typing import Any, Literal, TypeAlias

import numpy as np

from dpselect.engines.protocol import HIGHEST, LOWEST
from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import Number, rational
from dpselect.problems.candidates import Grid
from dpselect.problems.problem import Problem
from dpselect.problems.scoring import Unbounded, WholeScores

QuorumWish: TypeAlias = Number | Literal["auto"] | None
"""A number of points that "no winner" stands for, the least that silences an empty table, or none."""


def beside_a_quorum(problem: Problem) -> Problem:
    """Give the problem as it is priced with one candidate more, or refuse."""
    if problem.beside_a_constant is None:
        raise InvalidParameter(
            _WITHOUT.get(problem.name, f"quorum has no meaning for {problem.name}. {_WAY_OUT}")
        )
    if problem.has_runs:
        raise InvalidParameter(f"quorum is for candidates that are listed, not between bounds. {_WAY_OUT}")
    more = Grid(Fraction(0), Fraction(1), problem.count + 1)
    return replace(problem, candidates=more, ranges=problem.beside_a_constant, scoring=None)


_WAY_OUT = "Leave it out."
_WITHOUT = {
    "custom": "quorum needs to know how far one score moves; range_sensitivity= does not say it. Give "
    "sensitivity= to custom(...), or no quorum."
}


def quorum_score(wish: QuorumWish, problem: Problem, least: Fraction, *, whole: bool) -> Fraction:
    """Give the score of the quorum, in units of the score: a multiple of the unit where scores are.

    "auto" is the ``least`` that wins with a public confidence where every other score is zero, rounded up.
    """
    if wish == "auto":
        return math.ceil(least / problem.unit) * problem.unit
    score = rational(wish, "quorum")  # type: ignore[arg-type]  # a number, or refused
    if whole and (score / problem.unit).denominator != 1:
        raise InvalidParameter.must_be(
            "quorum", f"a multiple of {problem.unit}, as all scores are", got=score
        )
    return score


def with_quorum(scores: Any, quorum: Fraction, unit: Fraction, *, at_once: bool) -> Iterator[Any]:
    """Give the scores, in points, and behind them the quorum."""
    points = quorum / unit
    last = [points.numerator if points.denominator == 1 else points]
    return chain([scores] if at_once else scores, [last])


def beside_quorum(scores: Iterable[WholeScores], quorum: Fraction, unit: Fraction) -> Iterator[WholeScores]:
    """Give the scores of one group after the other, in points, each with the quorum behind them."""
    points = (quorum / unit).numerator
    narrow = LOWEST <= points <= HIGHEST
    for each in scores:
        if narrow and not isinstance(each, list):
            yield np.append(each, np.int64(points))
        else:
            listed = each if isinstance(each, list) else each.tolist()
            yield Unbounded([*listed, points])


def before_quorum(indices: Iterable[int], count: int) -> list[int]:
    """Cut the winners where the quorum comes out."""
    return list(takewhile(lambda index: index != count, indices))
