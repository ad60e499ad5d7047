"""Formulas of privacy accounting: convert a loss, compose several, find the scale that a budget pays for.

>>> from dpselect.accounting import BoundedRange, compose, convert
>>> from dpselect.privacy import ZCDP, ApproxDP, PureDP
>>> print(convert(PureDP(1), ZCDP))
rho 0.4622 (rounded up)
>>> print(compose([BoundedRange("0.1")] * 100, ApproxDP, delta="1e-6"))
epsilon 2.254 (rounded up) with delta 0.000001

``convert``, ``compose`` and ``calibrate`` are functions of this package, and the modules that define them.
"""

from dpselect.accounting.calibrate import calibrate
from dpselect.accounting.compose import compose
from dpselect.accounting.convert import convert
from dpselect.accounting.guarantees import BoundedRange, LaplaceDominated

__all__ = ["BoundedRange", "LaplaceDominated", "calibrate", "compose", "convert"]
