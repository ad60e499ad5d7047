"""The functions of the selection mechanisms: a domain that reads the scores, and the draw from them.

The draws themselves are in ``dpselect.selection.draw``; here their exceptions become constant sentences.

Proof: functions.proof.md
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, TypeVar

from dpselect.errors import OutsideDomain, ReleaseFailed
from dpselect.exact.randomness import Randomness
from dpselect.privacy.domains import NOT_A_SCORE, VectorDomain
from dpselect.selection.draw import PeeledDraw, ReadScores, TooFewCandidates, TopKDraw
from dpselect.selection.scores import NotAScore

TOO_FEW = "scores must hold at least k candidates that may win: give more candidates, or a smaller k."

Given = TypeVar("Given")


@dataclass(frozen=True)
class NoisyTopK:
    """The indices of the k best scores once noise is added to each, the best first."""

    domain: VectorDomain
    draw: TopKDraw

    checks_domain: ClassVar = True

    def __call__(self, arg: object, randomness: Randomness) -> list[int]:
        """Read the scores, and draw."""
        return drawn_or_refused(self.draw, self.domain.read(arg), randomness)

    def over(self, chunks: Iterable[object], randomness: Randomness) -> list[int]:
        """Draw from chunks as from their concatenation."""
        return drawn_or_refused(self.draw.over, self._read(chunks), randomness)

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
        return drawn_or_refused(self.draw, self.domain.read(arg), randomness)


def not_ours(chunks: Iterable[object]) -> Iterator[object]:
    """Hand chunks on; the exceptions of a draw become refusals, unless the maker of chunks raises them."""
    try:
        yield from chunks
    except (NotAScore, TooFewCandidates):
        raise ReleaseFailed from None


def drawn_or_refused(
    draw: Callable[[Given, Randomness], list[int]], scores: Given, randomness: Randomness
) -> list[int]:
    """Draw; refuse scores that cannot be drawn from by a sentence that does not depend on them."""
    try:
        return draw(scores, randomness)
    except NotAScore:
        raise OutsideDomain(NOT_A_SCORE) from None
    except TooFewCandidates:
        raise OutsideDomain(TOO_FEW) from None
