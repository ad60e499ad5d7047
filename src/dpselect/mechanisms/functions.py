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
from dpselect.selection.array_scores import ArrayField, depth_for
from dpselect.selection.fraction_scores import RationalField
from dpselect.selection.noise import ExponentialNoise, GumbelNoise, Noise
from dpselect.selection.scores import Field, Indices, NotAllMayWin, NotAScore, Optimize
from dpselect.selection.top_k import Contender, contenders, merged, winners
from dpselect.selection.top_k_by_levels import out_by_levels
from dpselect.selection.winner import winner

NoiseName: TypeAlias = Literal["gumbel", "exponential"]
Scores: TypeAlias = NDArray[Any] | list[Fraction | None]
Drawn = TypeVar("Drawn")

NOISES: Mapping[NoiseName, Noise] = {"gumbel": GumbelNoise(), "exponential": ExponentialNoise()}

FEW = 16
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
            field = field_of(scores, self.optimize, self.k)
        except NotAllMayWin:
            return without_the_rest(self.among, scores, randomness)
        if not self.scale:
            return found(field.order(self.k))
        noise = NOISES[self.noise]
        if self.k == 1:
            return [found(winner(field, self.scale, noise, randomness))]
        if field.size > FEW:
            return found(winners(field, self.k, self.scale, noise, randomness))
        if self.noise == "exponential":
            return out_by_levels(found(field.exact_scores(self.k)), self.scale, self.k, randomness)
        found(field.leaders(self.k))
        return peeled(scores, replace(self, k=1), self.k, randomness)

    def over(self, chunks: Iterable[object], randomness: Randomness) -> list[int]:
        """Draw from chunks as from their concatenation, remembering only the k best so far."""
        best: list[Contender] = []
        seen = 0
        size = self.domain.size
        for chunk in chunks:
            values = replace(self.domain, size=None).read(chunk)
            best = merged(best, self._contenders(values, seen, randomness), self.k)
            seen += len(values)
            if size is not None and seen > size:
                break
        if size not in (None, seen):
            raise OutsideDomain(self.domain.wanted_size)
        if len(best) < self.k:
            raise OutsideDomain(TOO_FEW)
        return [contender.candidate for contender in best]

    def _contenders(self, values: Scores, seen: int, randomness: Randomness) -> list[Contender]:
        """Draw the k best of one chunk, or all that may win if they are fewer."""
        if len(values) == 0:
            return []
        try:
            field = field_of(values, self.optimize, 1)
        except NotAllMayWin:
            left, indices = may_win(values)
            drawn, places = self._contenders(left, 0, randomness), indices.tolist()
        else:
            k = min(self.k, field.eligible())
            drawn = found(contenders(field, k, self.scale, NOISES[self.noise], randomness)) if k else []
            places = range(len(values))
        for contender in drawn:
            contender.candidate = seen + places[contender.candidate]
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
            found(field_of(scores, self.optimize, self.k).leaders(self.k))
        except NotAllMayWin:
            return without_the_rest(self.among, scores, randomness)
        one = NoisyTopK(self.domain, self.scale, 1, self.optimize, "exponential")
        return peeled(scores, one, self.k, randomness)


def peeled(scores: Scores, one: NoisyTopK, k: int, randomness: Randomness) -> list[int]:
    """Draw one, remove it, draw again, k times."""
    left = np.arange(len(scores))
    winners: list[int] = []
    for _ in range(k):
        randomness.mark(tuple(winners))
        (drawn,) = one.among(scores, randomness)
        winners.append(int(left[drawn]))
        left = np.delete(left, drawn)
        scores = (
            np.delete(scores, drawn)
            if isinstance(scores, np.ndarray)
            else scores[:drawn] + scores[drawn + 1 :]
        )
    return winners


def field_of(scores: Scores, optimize: Optimize, k: int) -> Field:
    """Line the candidates up, if there are enough; the one pass over an array finds what is no score."""
    if len(scores) < k:
        raise OutsideDomain(TOO_FEW)
    if isinstance(scores, list):
        return RationalField(scores, optimize)
    try:
        return ArrayField(scores, optimize, depth_for(len(scores), k))
    except NotAScore:
        raise OutsideDomain(NOT_A_SCORE) from None


def may_win(scores: Scores) -> tuple[Scores, Indices]:
    """Leave out minus infinity; give the other scores, and whose they are."""
    array = np.asarray(scores)
    indices = np.flatnonzero(array > -math.inf)
    return array[indices], indices


def without_the_rest(
    draw: Callable[[Scores, Randomness], list[int]], scores: Scores, randomness: Randomness
) -> list[int]:
    """Draw from those alone that may win."""
    left, indices = may_win(scores)
    drawn: list[int] = indices[draw(left, randomness)].tolist()
    return drawn


def found(drawn: Drawn | None) -> Drawn:
    """Refuse if there were fewer than k that may win."""
    if drawn is None:
        raise OutsideDomain(TOO_FEW)
    return drawn
