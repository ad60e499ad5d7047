"""Claims about this installation, and how they are checked: walk all random bits, and compare with a law.

All paths of random bits are walked to some depth; the law must lie within what was proved of every outcome,
and what is left open must be small.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from dpselect.audit.enumeration import enumerate_law
from dpselect.audit.rounds import enumerate_rounds
from dpselect.exact.enclosures import Enclosure
from dpselect.exact.randomness import Randomness

ONE = Fraction(1)


@dataclass(frozen=True)
class Verdict:
    """Whether a claim holds, and how much probability was left open (None where nothing was walked)."""

    holds: bool
    open: Fraction | None = None


@dataclass(frozen=True)
class Claim:
    """Something that this installation is said to do, the depth of the proof in bits, and how to find out."""

    subject: Literal["sampler", "mechanism", "price", "proof"]
    name: str
    statement: str
    depth: int | None
    check: Callable[[], Verdict]


def walked(
    program: Callable[[Randomness], Any],
    law: Callable[[Any], Enclosure],
    values: Sequence[Hashable],
    depth: int,
    most_open: Fraction,
) -> Verdict:
    """Walk a program; its law must be allowed, for the values and for everything else that it gave."""
    found = enumerate_law(program, depth)
    allowed = all(found.allows(value, *law(value)) for value in {*values, *found.lower})
    return Verdict(allowed and found.unresolved < most_open, found.unresolved)


def in_rounds(
    program: Callable[[Randomness], int], law: Mapping[int, Enclosure], depth: int, most_open: Fraction
) -> Verdict:
    """Walk one round of a program; what follows for all rounds must enclose the law, closely."""
    found = enumerate_rounds(program, depth)
    enclosed = found.keys() == law.keys() and all(
        found[i].low <= law[i].low <= law[i].high <= found[i].high for i in law
    )
    widest = max((high - low for low, high in found.values()), default=ONE)
    return Verdict(enclosed and widest < most_open, widest)


def below(bits: int) -> Fraction:
    """Give what may stay open."""
    return Fraction(1, 2**bits)


def exactly(p: Fraction) -> Enclosure:
    """Enclose a rational number by itself."""
    return Enclosure(p, p)


def coin(heads: Enclosure, face: object) -> Enclosure:
    """Give the probability of a face, from that of heads."""
    return heads if face else Enclosure(1 - heads.high, 1 - heads.low)
