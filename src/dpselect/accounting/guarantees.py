"""Guarantees that are no losses: they say how one release behaves, and do not add.

``convert`` turns them into losses, which do; ``compose`` does so for many at once.
"""

from __future__ import annotations

from dataclasses import dataclass

from dpselect.exact.numbers import Number
from dpselect.privacy.amounts import Amount, amount


@dataclass(frozen=True, init=False)
class BoundedRange:
    """All privacy losses between two neighbours lie in one window of length eta.

    It is what the exponential mechanism (Gumbel noise) guarantees: the map of ``range_divergence()``. Windows
    move with earlier answers, so their lengths do not add; the Rényi curves of them do.

    >>> BoundedRange("1/10")
    BoundedRange(eta=Fraction(1, 10))
    """

    eta: Amount

    def __init__(self, eta: Number) -> None:
        """Read eta, exactly; ``math.inf`` is no privacy."""
        object.__setattr__(self, "eta", amount(eta, "eta"))


@dataclass(frozen=True, init=False)
class LaplaceDominated:
    """No test tells two neighbours apart better than Laplace noise of scale 1 at a distance of ``shift``.

    It is what a single winner of permute-and-flip (exponential noise) guarantees, with its max-divergence as
    the shift; more than its max-divergence alone says.

    >>> LaplaceDominated(1)
    LaplaceDominated(shift=Fraction(1, 1))
    """

    shift: Amount

    def __init__(self, shift: Number) -> None:
        """Read the shift, exactly; ``math.inf`` is no privacy."""
        object.__setattr__(self, "shift", amount(shift, "shift"))


Guarantee = BoundedRange | LaplaceDominated
