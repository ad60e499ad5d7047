"""The field of a race: candidates with exact scores, seen in blocks.

One pass finds the best score of each block. After it, a float says roughly how far a candidate lies behind a
base score, and a fraction says it exactly. A score of minus infinity belongs to a candidate that may not win.

Proof: field.proof.md
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpselect.exact.numbers import to_float_down

Optimize: TypeAlias = Literal["max", "min"]
Indices: TypeAlias = NDArray[np.int64]
Base: TypeAlias = Any
"""A score of the field, in the field's own type, that gaps are measured from."""

SINGLE_UP_TO = 4096
"""So many candidates are not worth blocks."""

BLOCK, LARGE_BLOCK = 64, 256
"""The scores are seen as a table of so many rows, a block is a column: its pass is as fast as a maximum."""

LARGE_BLOCKS_ABOVE = 2_000_000
"""From here on small blocks would be so many that they leave the cache."""

ONE_EACH = np.ones(1, dtype=np.int64)
NOBODY = np.empty(0, dtype=np.int64)


class NotAScore(ValueError):
    """There is a NaN, a null or plus infinity among the scores."""


class Field(ABC):
    """What a race needs to know of its candidates."""

    size: int
    block_sizes: Indices

    @abstractmethod
    def leaders(self, k: int) -> tuple[Base, Indices] | None:
        """Give the k-th best score and the candidates ahead of it; None if fewer than k may win."""

    @abstractmethod
    def block_gaps(self, base: Base) -> NDArray[np.float64]:
        """Give how far the best of each block lies behind the base, at most a relative 2**-51 too much.

        Zero for a block that is ahead; infinity only beyond all floats, or if nobody in the block may win.
        """

    @abstractmethod
    def members(self, blocks: Indices, ranks: Indices) -> Indices:
        """Give the candidates at these ranks of these blocks."""

    @abstractmethod
    def gaps(self, candidates: Indices, base: Base) -> NDArray[np.float64]:
        """Give how far candidates lie behind the base, to a relative 2**-51.

        Infinity for those ahead of it, those that may not win, and beyond all floats.
        """

    @abstractmethod
    def gap(self, candidate: int, base: Base) -> Fraction | None:
        """Give exactly how far a candidate lies behind; None if it is ahead or may not win."""

    @abstractmethod
    def ties(self, base: Base) -> Indices:
        """Give the candidates whose score is the base."""

    @abstractmethod
    def eligible(self) -> int:
        """Give the number of candidates that may win."""

    def order(self, k: int) -> list[int] | None:
        """Give the k best without noise, ties by index; None if fewer than k may win."""
        lead = self.leaders(k)
        if lead is None:
            return None
        base, ahead = lead
        stars = sorted(ahead.tolist(), key=lambda i: (-self.score(i), i))
        return [*stars, *self.ties(base)[: k - len(stars)].tolist()]

    @abstractmethod
    def turned(self, base: Base) -> Fraction:
        """Give a score exactly, turned so that more is better."""

    @abstractmethod
    def score(self, candidate: int) -> Fraction:
        """Give the score of a candidate that may win, turned so that more is better."""

    @abstractmethod
    def float_scores(self, candidates: Indices) -> NDArray[np.float64]:
        """Give scores of candidates that may win, turned so that more is better, to a relative 2**-52."""


class ArrayField(Field):
    """Scores in a NumPy array of integers or of floats up to 64 bits, of any stride, read in place."""

    def __init__(self, values: NDArray[Any], optimize: Optimize, block: int | None = None) -> None:
        """Find the best of each block; ``block`` is its size, chosen by the number of scores if not given."""
        self.size = len(values)
        self._values = values
        self._largest = optimize == "max"
        self._floats = values.dtype.kind == "f"
        self._block = block or _block_size(self.size)
        self._best = self._pass()
        self._top = self._best.max() if self._largest else self._best.min()
        if self._floats and not self._top < math.inf:
            raise NotAScore

    def _pass(self) -> NDArray[Any]:
        """Read every score once."""
        count, block = self.size // self._block, self._block
        if block == 1:
            self.block_sizes = ONE_EACH
            return self._values
        body, tail = self._values[: count * block].reshape(block, count), self._values[count * block :]
        best: NDArray[Any] = body.max(axis=0) if self._largest else body.min(axis=0)
        self.block_sizes = np.full(count, block, dtype=np.int64)
        if len(tail):
            best = np.append(best, tail.max() if self._largest else tail.min())
            self.block_sizes = np.append(self.block_sizes, len(tail))
        return best

    def leaders(self, k: int) -> tuple[Base, Indices] | None:
        """Look into the few blocks whose best is ahead of the k-th best block."""
        if k == 1:
            return self._eligible(self._top, NOBODY)
        kth_block = self._kth(self._best, k) if k <= len(self._best) else None
        ahead = (
            np.arange(len(self._best))
            if kth_block is None
            else np.flatnonzero(self._ahead(self._best, kth_block))
        )
        sizes = np.broadcast_to(self.block_sizes, len(self._best))[ahead]
        ranks = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        candidates = self.members(np.repeat(ahead, sizes), ranks)
        values = self._values[candidates]
        base = kth_block
        if kth_block is None or np.count_nonzero(self._ahead(values, kth_block)) >= k:
            base = self._kth(values, k)
        return self._eligible(base, candidates[self._ahead(values, base)])

    def _eligible(self, base: Base, ahead: Indices) -> tuple[Base, Indices] | None:
        return None if self._floats and base == -math.inf else (base, ahead)

    def _kth(self, values: NDArray[Any], k: int) -> Base:
        ordered = np.sort(values)  # np.partition takes twenty times as long on ties
        return ordered[-k] if self._largest else ordered[k - 1]

    def _ahead(self, values: NDArray[Any], base: Base) -> NDArray[np.bool_]:
        ahead: NDArray[np.bool_] = values > base if self._largest else values < base
        return ahead

    def _behind(self, values: NDArray[Any], base: Base) -> NDArray[np.float64]:
        """Subtract: floats in double precision, integers exactly (modulo 2**64), then in double precision."""
        if self._floats:
            far = values.astype(np.float64, copy=False)
            with np.errstate(over="ignore"):
                return np.float64(base) - far if self._largest else far - np.float64(base)
        kind = np.uint64 if values.dtype.kind == "u" else np.int64
        near, away = (
            np.array(base, dtype=kind).view(np.uint64),
            values.astype(kind, copy=False).view(np.uint64),
        )
        return (near - away if self._largest else away - near).astype(np.float64)

    def block_gaps(self, base: Base) -> NDArray[np.float64]:
        """Subtract from the best of each block."""
        gaps = self._behind(self._best, base)
        if base != self._top:
            gaps[self._ahead(self._best, base)] = 0.0
        return gaps

    def members(self, blocks: Indices, ranks: Indices) -> Indices:
        """Count down the columns; the short last block is contiguous."""
        count = self.size // self._block
        return np.where(blocks < count, blocks + ranks * count, count * self._block + ranks)

    def gaps(self, candidates: Indices, base: Base) -> NDArray[np.float64]:
        """Subtract, in double precision."""
        values = self._values[candidates]
        gaps = self._behind(values, base)
        if base != self._top:
            gaps[self._ahead(values, base)] = math.inf
        return gaps

    def gap(self, candidate: int, base: Base) -> Fraction | None:
        """Subtract, exactly."""
        value = self._values[candidate].item()
        if value == -math.inf:
            return None
        gap = Fraction(base.item()) - Fraction(value)
        return None if (gap if self._largest else -gap) < 0 else abs(gap)

    def ties(self, base: Base) -> Indices:
        """Compare."""
        return np.flatnonzero(self._values == base)

    def eligible(self) -> int:
        """Count what is not minus infinity."""
        return int(np.count_nonzero(self._values > -math.inf)) if self._floats else self.size

    def turned(self, base: Base) -> Fraction:
        """Read a number of the array's type."""
        return Fraction(base.item()) * (1 if self._largest else -1)

    def score(self, candidate: int) -> Fraction:
        """Read one score."""
        return self.turned(self._values[candidate])

    def float_scores(self, candidates: Indices) -> NDArray[np.float64]:
        """Round to doubles."""
        return self._values[candidates].astype(np.float64) * (1 if self._largest else -1)


def _block_size(size: int) -> int:
    if size <= SINGLE_UP_TO:
        return 1
    return BLOCK if size <= LARGE_BLOCKS_ABOVE else LARGE_BLOCK


class RationalField(Field):
    """Scores as fractions, None for a candidate that may not win: slower, and exact for any number."""

    def __init__(self, values: Sequence[Fraction | None], optimize: Optimize) -> None:
        """Keep the scores, turned so that the largest is the best."""
        self.size = len(values)
        self.block_sizes = np.ones(self.size, dtype=np.int64)
        self._sign = 1 if optimize == "max" else -1
        self._values = values

    def leaders(self, k: int) -> tuple[Base, Indices] | None:
        """Sort those that may win."""
        scores = sorted((self._sign * value for value in self._values if value is not None), reverse=True)
        if len(scores) < k:
            return None
        base = self._sign * scores[k - 1]
        ahead = [
            i for i, value in enumerate(self._values) if value is not None and self._sign * (value - base) > 0
        ]
        return base, np.array(ahead, dtype=np.int64)

    def block_gaps(self, base: Base) -> NDArray[np.float64]:
        """Round every gap down."""
        exact = (math.inf if value is None else self._sign * (base - value) for value in self._values)
        return np.array([to_float_down(max(0, gap)) for gap in exact])

    def members(self, blocks: Indices, ranks: Indices) -> Indices:
        """Every candidate is a block."""
        del ranks
        return blocks

    def gaps(self, candidates: Indices, base: Base) -> NDArray[np.float64]:
        """Round every gap down."""
        exact = (self.gap(i, base) for i in candidates.tolist())
        return np.array([math.inf if gap is None else to_float_down(gap) for gap in exact])

    def gap(self, candidate: int, base: Base) -> Fraction | None:
        """Subtract."""
        value = self._values[candidate]
        gap = None if value is None else self._sign * (base - value)
        return gap if gap is not None and gap >= 0 else None

    def ties(self, base: Base) -> Indices:
        """Compare."""
        return np.array([i for i, value in enumerate(self._values) if value == base], dtype=np.int64)

    def eligible(self) -> int:
        """Count what is not None."""
        return self.size - list(self._values).count(None)

    def turned(self, base: Base) -> Fraction:
        """Turn a fraction."""
        return Fraction(self._sign * base)

    def score(self, candidate: int) -> Fraction:
        """Read one score."""
        return self.turned(self._values[candidate])

    def float_scores(self, candidates: Indices) -> NDArray[np.float64]:
        """Round down."""
        return np.array([to_float_down(self.score(i)) for i in candidates.tolist()])
