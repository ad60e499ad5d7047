"""The privacy map of winners with their gaps, drawn with Gumbel noise.

In pure privacy a gap is free. In every other measure a winner with its gap costs as the logistic pair does,
which is more than the winner alone: rho is eta * coth(eta / 2) - 2, and several of them never compose as
bounded range.

Proof: gaps_map.proof.md
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpselect.accounting.logistic import LogisticProfile, LogisticRenyi, logistic_rho
from dpselect.mechanisms.privacy_maps import SelectionMap
from dpselect.privacy.curves import Formula


@dataclass(frozen=True)
class GumbelGapsMap(SelectionMap):
    """A winner and its lead over the runner-up are dominated by the logistic pair with shift eta."""

    def rho(self, eta: Fraction) -> Fraction:
        """Give the rho of the logistic pair."""
        return logistic_rho(eta)

    def renyi(self, eta: Fraction) -> Formula:
        """Give the curve of the logistic pair."""
        return LogisticRenyi(eta)

    def profile(self, eta: Fraction) -> Formula:
        """Give the profile of the logistic pair."""
        return LogisticProfile(eta)
