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
from dpselect.selection.runs import Runs, python_integers
from dpselect.silence import run_or_none

DIGITS = 6
"""Digits of a quorum that is found for scores that may be any numbers."""

QuorumWish: TypeAlias = Number | Literal["auto"] | None
"""A number of points that "no winner" stands for, the least that silences an empty table, or none."""


def beside_a_quorum(problem: Problem) -> Problem:
    """Give the problem as it is priced with one candidate more, or refuse."""
    if problem.beside_a_constant is None:
        raise InvalidParameter(
            _WITHOUT.get(problem.name, f"quorum has no meaning for {problem.name}. {_WAY_OUT}")
        )
    more = Grid(Fraction(0), Fraction(1), problem.count + 1)
    scoring = problem.scoring if problem.has_runs else None  # the draw from runs takes one run more
    return replace(problem, candidates=more, ranges=problem.beside_a_constant, scoring=scoring)


_WAY_OUT = "Leave it out."
_WITHOUT = {
    "custom": "quorum needs to know how far one score moves; range_sensitivity= does not say it. Give "
    "sensitivity= to custom(...), or no quorum."
}


def quorum_score(wish: QuorumWish, problem: Problem, least: Fraction, *, whole: bool) -> Fraction:
    """Give the score of the quorum, in units of the score: a multiple of the unit where scores are.

    "auto" is the ``least`` that wins with a public confidence where every other score is zero, rounded up: to
    a multiple of the unit, or to a few digits where scores may be any numbers. Without noise it is one unit,
    because at zero it would lose the tie.
    """
    if wish == "auto":
        step = problem.unit if whole else _last_digit(least)
        return max(1, math.ceil(least / step)) * step
    if isinstance(wish, str) and run_or_none(lambda: rational(wish, "quorum")) is None:
        raise InvalidParameter.must_be("quorum", 'a number or "auto"', got=wish, way_out="Write 100.")
    score = rational(wish, "quorum")  # type: ignore[arg-type]  # a number, or refused
    if whole and (score / problem.unit).denominator != 1:
        raise InvalidParameter.must_be(
            "quorum", f"a multiple of {problem.unit}, as all scores are", got=score
        )
    return score


def _last_digit(least: Fraction) -> Fraction:
    """Give the power of ten of the last digit that is kept of a number above zero."""
    digit = Fraction(1)
    while digit * 10**DIGITS <= least:
        digit *= 10
    while digit * 10 ** (DIGITS - 1) > least > 0:
        digit /= 10
    return digit


def with_quorum(scores: Any, quorum: Fraction, unit: Fraction, *, at_once: bool) -> Iterator[Any]:
    """Give the scores, in points, and behind them the quorum."""
    points = quorum / unit
    last = [points.numerator if points.denominator == 1 else points]
    return chain([scores] if at_once else scores, [last])


def runs_with_quorum(runs: tuple[Runs, ...], quorum: Fraction, problem: Problem) -> tuple[Runs, ...]:
    """Give the runs of the candidates, in points, and behind them one of the quorum alone."""
    points, alone = (quorum / problem.unit).numerator, python_integers([1])
    last = python_integers([problem.count])
    return *runs, Runs(starts=last, counts=alone, scores=python_integers([points]))


def beside_quorum(
    scores: Iterable[WholeScores | tuple[Runs, ...]], quorum: Fraction, problem: Problem
) -> Iterator[WholeScores | tuple[Runs, ...]]:
    """Give the scores of one group after the other, in points, each with the quorum behind them."""
    points = (quorum / problem.unit).numerator
    narrow = LOWEST <= points <= HIGHEST
    for each in scores:
        if isinstance(each, tuple):
            yield runs_with_quorum(each, quorum, problem)
            continue
        if narrow and not isinstance(each, list):
            yield np.append(each, np.int64(points))
        else:
            listed = each if isinstance(each, list) else each.tolist()
            yield Unbounded([*listed, points])


def before_quorum(indices: Iterable[int], count: int) -> list[int]:
    """Cut the winners where the quorum comes out."""
    return list(takewhile(lambda index: index != count, indices))
