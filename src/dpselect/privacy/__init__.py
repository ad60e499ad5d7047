"""The nouns of differential privacy: domains, metrics, measures, losses, and the measurement that joins them.

>>> from dpselect.privacy import PureDP, linf_distance
>>> PureDP("1/10") * 3 + PureDP("1/2") <= PureDP(1)  # losses are exact; they add and compare
True
>>> linf_distance(monotonic=True).range_distance(1)  # how far one person moves two scores apart
Fraction(1, 1)
"""

from dpselect.privacy.curves import RenyiCurve
from dpselect.privacy.domains import atom_domain, vector_domain
from dpselect.privacy.losses import ZCDP, ApproxDP, ApproxZCDP, PureDP, RenyiDP
from dpselect.privacy.measurement import Measurement, user_measurement
from dpselect.privacy.measures import (
    approximate,
    max_divergence,
    range_divergence,
    renyi_divergence,
    zero_concentrated_divergence,
)
from dpselect.privacy.metrics import (
    absolute_distance,
    change_one_distance,
    l1_distance,
    linf_distance,
    range_distance,
    symmetric_distance,
)
from dpselect.privacy.profiles import PrivacyProfile
from dpselect.privacy.runs_domain import runs_domain
from dpselect.privacy.steps_domain import steps_domain

__all__ = [
    "ZCDP",
    "ApproxDP",
    "ApproxZCDP",
    "Measurement",
    "PrivacyProfile",
    "PureDP",
    "RenyiCurve",
    "RenyiDP",
    "absolute_distance",
    "approximate",
    "atom_domain",
    "change_one_distance",
    "l1_distance",
    "linf_distance",
    "max_divergence",
    "range_distance",
    "range_divergence",
    "renyi_divergence",
    "runs_domain",
    "steps_domain",
    "symmetric_distance",
    "user_measurement",
    "vector_domain",
    "zero_concentrated_divergence",
]
