"""Noisy scores as random real numbers that can be compared exactly, however many bits that takes.

Each has a float below it and a float above it, which decide almost every comparison. Where they overlap, the
number itself is made, and random bits are drawn until the comparison is certain. Lists of the k best noisy
scores merge: the k best of two lists are the k best of both vectors together.

Proof: noisy_scores.proof.md
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cmp_to_key, partial
from typing import Any

import numpy as np

from dpselect.selection.scores import Floats, Indices


class NoisyScore:
    """A candidate and its noisy score: a float below it, a float above it, and the number itself.

    The number is made when a comparison first needs it. It is kept, together with the bits that it has drawn.
    """

    __slots__ = ("_make", "_number", "candidate", "high", "low")

    def __init__(self, candidate: int, low: float, high: float, make: Callable[[], Any]) -> None:
        """Keep the bounds, and the function that makes the number."""
        self.candidate = candidate
        self.low = low
        self.high = high
        self._make: Callable[[], Any] | None = make
        self._number: Any = None

    @property
    def number(self) -> Any:
        """The noisy score itself; once it is made, no reference to the scores is left."""
        if self._make is not None:
            self._number, self._make = self._make(), None
        return self._number

    def realised(self) -> NoisyScore:
        """Make the number now, because the scores may change later, and must not be kept."""
        _ = self.number
        return self

    def exceeds(self, other: NoisyScore) -> bool:
        """Compare noisy scores: by their floats if these do not overlap, exactly otherwise."""
        if self.low >= other.high or other.low >= self.high:
            return self.low >= other.high
        return bool(self.number.greater_than(other.number))


class Noiseless:
    """A score without noise. Of two equal ones the first is taken for the greater: ties go by index."""

    def __init__(self, score: Fraction) -> None:
        """Keep the score."""
        self.score = score

    def greater_than(self, other: Noiseless) -> bool:
        """Compare; true for equal scores."""
        return self.score >= other.score

    def interval(self) -> tuple[Fraction, Fraction]:
        """Give the score as both of its bounds."""
        return self.score, self.score

    def refine(self) -> None:
        """Draw nothing: there is nothing to know."""


def merged(ours: list[NoisyScore], theirs: list[NoisyScore], k: int) -> list[NoisyScore]:
    """Merge two lists, each with its best first, and keep the k best."""
    best: list[NoisyScore] = []
    i = j = 0
    while len(best) < k and (i < len(ours) or j < len(theirs)):
        if j == len(theirs) or (i < len(ours) and ours[i].exceeds(theirs[j])):
            best.append(ours[i])
            i += 1
        else:
            best.append(theirs[j])
            j += 1
    return best


class NoisyScores:
    """Noisy scores of several candidates: bounds in arrays; single noisy scores are made on demand."""

    def __init__(
        self, candidates: Indices, bounds: tuple[Floats, Floats], number: Callable[[int], Any]
    ) -> None:
        """Keep the bounds, and the function that makes the i-th number."""
        self.candidates = candidates
        self.lows, self.highs = bounds
        self._number = number
        self._made: dict[int, NoisyScore] = {}

    def __getitem__(self, i: int) -> NoisyScore:
        """Give the i-th noisy score; every call gives the same object."""
        if i not in self._made:
            low, high = self.lows.item(i), self.highs.item(i)
            self._made[i] = NoisyScore(self.candidates.item(i), low, high, partial(self._number, i))
        return self._made[i]

    def in_order(self) -> list[NoisyScore]:
        """Sort the noisy scores, the best first."""
        order = (-self.lows).argsort()
        noisy_scores = [self[i] for i in order.tolist()]
        if not are_apart(self.lows[order], self.highs[order]):
            noisy_scores.sort(key=cmp_to_key(lambda ours, theirs: -1 if ours.exceeds(theirs) else 1))
        return noisy_scores

    def may_be_best(self, k: int) -> NoisyScores:
        """Keep those that may be among the k best: their floats reach the k-th largest lower bound."""
        (kept,) = (self.highs >= np.sort(self.lows)[-k]).nonzero()
        return NoisyScores(
            self.candidates[kept], (self.lows[kept], self.highs[kept]), lambda i: self[kept.item(i)].number
        )

    def count_exceeding(self, other: NoisyScore) -> int:
        """Count the noisy scores that exceed another."""
        surely, perhaps = self.lows >= other.high, self.highs >= other.low
        exceeding = int(np.count_nonzero(surely))
        if np.count_nonzero(perhaps) > exceeding:
            exceeding += sum(self[i].exceeds(other) for i in (perhaps & ~surely).nonzero()[0].tolist())
        return exceeding


def joined(ours: NoisyScores, theirs: NoisyScores) -> NoisyScores:
    """Put the noisy scores of different candidates together; numbers that were made are kept."""
    split = len(ours.candidates)
    return NoisyScores(
        np.append(ours.candidates, theirs.candidates),
        (np.append(ours.lows, theirs.lows), np.append(ours.highs, theirs.highs)),
        lambda i: (ours[i] if i < split else theirs[i - split]).number,
    )


def are_apart(lows: Floats, highs: Floats) -> bool:
    """Say whether intervals, sorted by their lower ends downwards, do not overlap."""
    return bool((lows[:-1] >= highs[1:]).all())
