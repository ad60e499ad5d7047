"""Bisection over rationals: where a condition begins to hold, to a relative number of bits.

The end at which the condition holds has been asked and has answered yes, whatever the condition: a caller may
return it as a certified bound.

Proof: bisection.proof.md
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

HALVINGS = 1024
"""How often an upper end is halved on its way to zero, before it is taken to be as good as zero."""


class Bracket(NamedTuple):
    """Two points: a condition fails at the first and holds at the second."""

    fails: Fraction
    holds: Fraction


def bisect(condition: Callable[[Fraction], bool], *, fails: Fraction, holds: Fraction, bits: int) -> Bracket:
    """Halve a bracket until its length is at most 2**-bits of its upper end.

    Precondition
        0 <= fails < holds; the condition fails at ``fails`` and holds at ``holds``   claimed, not asked again

    Postcondition
        the condition fails at ``result.fails`` and holds at ``result.holds``
        result.holds - result.fails <= result.holds / 2**bits, unless ``result.holds`` is as good as zero:
        at most 2**-HALVINGS of ``holds``

    >>> root = bisect(lambda x: x * x >= 2, fails=Fraction(1), holds=Fraction(2), bits=20)
    >>> float(root.fails), float(root.holds)
    (1.4142131805419922, 1.4142141342163086)
    """
    near_zero = holds / 2**HALVINGS
    while (holds - fails) * 2**bits > holds > near_zero:
        middle = (fails + holds) / 2
        fails, holds = (fails, middle) if condition(middle) else (middle, holds)
    return Bracket(fails, holds)


def least_whole(condition: Callable[[int], bool], *, fails: int, holds: int) -> int:
    """Give a whole number at which a condition holds, while it fails at the one before.

    Precondition
        fails < holds; the condition fails at ``fails`` and holds at ``holds``   claimed, not asked again

    >>> least_whole(lambda n: 2**n > 1000, fails=0, holds=64)
    10
    """
    while holds - fails > 1:
        middle = (fails + holds) // 2
        fails, holds = (fails, middle) if condition(middle) else (middle, holds)
    return holds
