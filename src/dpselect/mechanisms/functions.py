"""The draws of the selection mechanisms: small frozen values that turn scores into indices.

Two laws, one implementation each: the k best of scores with Gumbel noise, and the k best of scores with
exponential noise, where all noise is drawn once. Peeling draws anew for each winner.

Proof: functions.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpselect.errors import OutsideDomain
from dpselect.exact.randomness import Randomness
from dpselect.privacy.domains import NOT_A_SCORE, VectorDomain
from dpselect.selection.array_scores import ArrayScores, block_size_for
from dpselect.selection.fraction_scores import FractionScores
from dpselect.selection.noise import ExponentialNoise, GumbelNoise, NoiseLaw
from dpselect.selection.scores import Indices, IneligibleWins, NotAScore, Optimize, ScoreVector
from dpselect.selection.top_k import NoisyScore, merged, top_k_indices, top_k_noisy_scores
from dpselect.selection.top_k_by_levels import draw_by_levels
from dpselect.selection.winner import winner

NoiseName: TypeAlias = Literal["gumbel", "exponential"]
Scores: TypeAlias = NDArray[Any] | list[Fraction | None]
Drawn = TypeVar("Drawn")

NOISES: Mapping[NoiseName, NoiseLaw] = {"gumbel": GumbelNoise(), "exponential": ExponentialNoise()}

BY_LEVELS_UP_TO = 16
"""Of so few candidates the k best are drawn by coins alone."""

TOO_FEW = "scores must hold at least k candidates that may win: give more candidates, or a smaller k."


@dataclass(frozen=True)
class NoisyTopK:
    """The indices of the k best scores once noise is added to each, the best first."""

    domain: VectorDomain
    scale: Fraction
    k: int
    optimize: Optimize
    noise: NoiseName

    checks_domain: ClassVar = True

    def __call__(self, arg: object, randomness: Randomness) -> list[int]:
        """Draw."""
        return self.among(self.domain.read(arg), randomness)

    def among(self, scores: Scores, randomness: Randomness) -> list[int]:
        """Draw from scores that have been read."""
        try:
            vector = vector_of(scores, self.optimize, self.k)
        except IneligibleWins:
            return draw_from_eligible(self.among, scores, randomness)
        if not self.scale:
            return enough(vector.order(self.k))
        noise = NOISES[self.noise]
        if self.k == 1:
            return [enough(winner(vector, self.scale, noise, randomness))]
        if vector.n > BY_LEVELS_UP_TO:
            return enough(top_k_indices(vector, self.k, self.scale, noise, randomness))
        if self.noise == "exponential":
            return draw_by_levels(enough(vector.exact_scores(self.k)), self.scale, self.k, randomness)
        enough(vector.find_threshold(self.k))
        return peeled(scores, replace(self, k=1), self.k, randomness)

    def over(self, chunks: Iterable[object], randomness: Randomness) -> list[int]:
        """Draw from chunks as from their concatenation, remembering only the k best so far."""
        best: list[NoisyScore] = []
        seen = 0
        size = self.domain.size
        for chunk in chunks:
            values = replace(self.domain, size=None).read(chunk)
            best = merged(best, self._noisy_scores(values, seen, randomness), self.k)
            seen += len(values)
            if size is not None and seen > size:
                break
        if size not in (None, seen):
            raise OutsideDomain(self.domain.wanted_size)
        if len(best) < self.k:
            raise OutsideDomain(TOO_FEW)
        return [noisy_score.candidate for noisy_score in best]

    def _noisy_scores(self, values: Scores, seen: int, randomness: Randomness) -> list[NoisyScore]:
        """Draw the k best of one chunk, or all that may win if they are fewer."""
        if len(values) == 0:
            return []
        try:
            vector = vector_of(values, self.optimize, 1)
        except IneligibleWins:
            remaining, indices = eligible(values)
            drawn, places = self._noisy_scores(remaining, 0, randomness), indices.tolist()
        else:
            k = min(self.k, vector.count_eligible())
            drawn = (
                enough(top_k_noisy_scores(vector, k, self.scale, NOISES[self.noise], randomness)) if k else []
            )
            places = range(len(values))
        for noisy_score in drawn:
            noisy_score.candidate = seen + places[noisy_score.candidate]
        return drawn


@dataclass(frozen=True)
class PeeledTopK:
    """The winner, then the winner of those left, k times: each with exponential noise of its own."""

    domain: VectorDomain
    scale: Fraction
    k: int
    optimize: Optimize

    checks_domain: ClassVar = True

    def __call__(self, arg: object, randomness: Randomness) -> list[int]:
        """Draw, remove, draw again."""
        return self.among(self.domain.read(arg), randomness)

    def among(self, scores: Scores, randomness: Randomness) -> list[int]:
        """Draw from scores that have been read."""
        try:
            enough(vector_of(scores, self.optimize, self.k).find_threshold(self.k))
        except IneligibleWins:
            return draw_from_eligible(self.among, scores, randomness)
        one = NoisyTopK(self.domain, self.scale, 1, self.optimize, "exponential")
        return peeled(scores, one, self.k, randomness)


def peeled(scores: Scores, one: NoisyTopK, k: int, randomness: Randomness) -> list[int]:
    """Draw one, remove it, draw again, k times."""
    remaining = np.arange(len(scores))
    won: list[int] = []
    for _ in range(k):
        randomness.mark(tuple(won))
        (drawn,) = one.among(scores, randomness)
        won.append(int(remaining[drawn]))
        remaining = np.delete(remaining, drawn)
        scores = (
            np.delete(scores, drawn)
            if isinstance(scores, np.ndarray)
            else scores[:drawn] + scores[drawn + 1 :]
        )
    return won


def vector_of(scores: Scores, optimize: Optimize, k: int) -> ScoreVector:
    """Line the candidates up, if there are enough; the one pass over an array finds what is no score."""
    if len(scores) < k:
        raise OutsideDomain(TOO_FEW)
    if isinstance(scores, list):
        return FractionScores(scores, optimize)
    try:
        return ArrayScores(scores, optimize, block_size_for(len(scores), k))
    except NotAScore:
        raise OutsideDomain(NOT_A_SCORE) from None


def eligible(scores: Scores) -> tuple[Scores, Indices]:
    """Leave out minus infinity; give the other scores, and whose they are."""
    array = np.asarray(scores)
    indices = np.flatnonzero(array > -math.inf)
    return array[indices], indices


def draw_from_eligible(
    draw: Callable[[Scores, Randomness], list[int]], scores: Scores, randomness: Randomness
) -> list[int]:
    """Draw from those alone that may win."""
    remaining, indices = eligible(scores)
    drawn: list[int] = indices[draw(remaining, randomness)].tolist()
    return drawn


def enough(drawn: Drawn | None) -> Drawn:
    """Refuse if there were fewer than k that may win."""
    if drawn is None:
        raise OutsideDomain(TOO_FEW)
    return drawn
