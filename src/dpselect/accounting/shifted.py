"""A profile beside a pair: what both cost together. Deltas add, and so do epsilons.

Proof: shifted.proof.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from dpselect.privacy.amounts import Amount, plus
from dpselect.privacy.losses import ApproxDP
from dpselect.privacy.profiles import PrivacyProfile


@dataclass(frozen=True)
class Shifted:
    """A profile, and beside it releases that are (epsilon, delta)-private together."""

    profile: PrivacyProfile
    pair: ApproxDP

    def __call__(self, epsilon: Fraction) -> Fraction:
        """Bound delta: what the profile needs for the rest of epsilon, and that of the pair."""
        if epsilon < self.pair.epsilon:
            return Fraction(1)
        return min(Fraction(1), self.profile.delta(epsilon - Fraction(self.pair.epsilon)) + self.pair.delta)

    def epsilon(self, delta: Fraction) -> Amount:
        """Bound epsilon: the inverse."""
        if delta < self.pair.delta:
            return math.inf
        together: Amount = plus(self.profile.epsilon(delta - self.pair.delta), self.pair.epsilon)
        return together
