"""The privacy map of Laplace noise on every score: the price does not depend on the number of winners.

With d the l1 distance, by which all scores move together, and eta = d / scale, all noisy scores together cost
eta: their order, the gaps between them, and the noisy scores themselves.

Proof: laplace_map.proof.md
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpselect.accounting.closed_forms import LaplaceRenyi, laplace_rho
from dpselect.accounting.renyi_orders import RenyiProfile
from dpselect.mechanisms.privacy_maps import SelectionMap
from dpselect.privacy.curves import Formula


@dataclass(frozen=True)
class LaplaceMap(SelectionMap):
    """All noisy scores at once; ``draws`` is 1, or 0 where the outcome is no choice."""

    def rho(self, eta: Fraction) -> Fraction:
        """Give the rho of the Laplace mechanism: the worst is that one score moves by all of d."""
        return laplace_rho(eta)

    def renyi(self, eta: Fraction) -> Formula:
        """Give the curve of the Laplace mechanism, for the same reason."""
        return LaplaceRenyi(eta)

    def profile(self, eta: Fraction) -> Formula:
        """Convert the curve: the profile of one moved score is not proved to be the worst."""
        return RenyiProfile(LaplaceRenyi(eta), 1, eta)
