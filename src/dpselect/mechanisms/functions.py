"""The functions of the selection mechanisms: a domain that reads the scores, and the draw from them.

The draws themselves are in ``dpselect.selection.draw``; here their exceptions become constant sentences.

Proof: functions.proof.md
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

from dpselect.errors import OutsideDomain, ReleaseFailed
from dpselect.exact.randomness import Randomness
from dpselect.privacy.domains import NOT_A_SCORE, VectorDomain
from dpselect.selection.draw import PeeledDraw, ReadScores, TooFewCandidates
from dpselect.selection.gaps_draw import NoRunnerUp
from dpselect.selection.scores import NotAScore

TOO_FEW = "scores must hold at least k candidates that may win: give more candidates, or a smaller k."

NO_RUNNER_UP = (
    "scores must hold more than k candidates that may win: a gap needs a runner-up. Give a smaller k."
)

CANNOT_DRAW = (NotAScore, TooFewCandidates)
"""What a draw raises."""


class OneShotDraw(Protocol):
    """Draws winners from scores, and from chunks as from their concatenation."""

    def __call__(self, scores: ReadScores, randomness: Randomness, /) -> Any:
        """Draw from scores that were read."""

    def over(self, chunks: Iterable[ReadScores], randomness: Randomness, /) -> Any:
        """Draw from chunks that were read."""


@dataclass(frozen=True)
class NoisyTopK:
    """The indices of the k best scores once noise is added to each, the best first; or what else is drawn."""

    domain: VectorDomain
    draw: OneShotDraw

    checks_domain: ClassVar = True

    def __call__(self, arg: object, randomness: Randomness) -> Any:
        """Read the scores, and draw."""
        try:
            return self.draw(self.domain.read(arg), randomness)
        except CANNOT_DRAW as error:
            raise refusal_of(error) from None

    def over(self, chunks: Iterable[object], randomness: Randomness) -> Any:
        """Draw from chunks as from their concatenation."""
        try:
            return self.draw.over(self._read(chunks), randomness)
        except CANNOT_DRAW as error:
            raise refusal_of(error) from None

    def _read(self, chunks: Iterable[object]) -> Iterator[ReadScores]:
        """Read chunk by chunk; at the end, or as soon as there are too many scores, check their number."""
        size, seen = self.domain.size, 0
        for chunk in not_ours(chunks):
            scores = replace(self.domain, size=None).read(chunk)
            yield scores
            seen += len(scores)
            if size is not None and seen > size:
                break
        if size not in (None, seen):
            raise OutsideDomain(self.domain.wanted_size)


@dataclass(frozen=True)
class PeeledTopK:
    """The winner, then the winner of the others, k times: each with exponential noise of its own."""

    domain: VectorDomain
    draw: PeeledDraw

    checks_domain: ClassVar = True

    def __call__(self, arg: object, randomness: Randomness) -> list[int]:
        """Read the scores, and draw."""
        try:
            return self.draw(self.domain.read(arg), randomness)
        except CANNOT_DRAW as error:
            raise refusal_of(error) from None


def not_ours(chunks: Iterable[object]) -> Iterator[object]:
    """Hand chunks on; the exceptions of a draw become refusals, unless the maker of chunks raises them."""
    try:
        yield from chunks
    except CANNOT_DRAW:
        raise ReleaseFailed from None


def refusal_of(error: Exception) -> OutsideDomain:
    """Give the sentence for scores that cannot be drawn from; it does not depend on them."""
    if isinstance(error, NoRunnerUp):
        return OutsideDomain(NO_RUNNER_UP)
    return OutsideDomain(NOT_A_SCORE if isinstance(error, NotAScore) else TOO_FEW)
