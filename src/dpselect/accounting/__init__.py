"""What it costs: conversions, composition, the scale that a budget buys, and the ledger of what was spent.

``convert``, ``compose`` and ``calibrate`` are functions here, and the modules that they live in as well.
"""

from dpselect.accounting.calibrate import calibrate
from dpselect.accounting.compose import compose
from dpselect.accounting.convert import convert
from dpselect.accounting.guarantees import BoundedRange, LaplaceDominated

__all__ = ["BoundedRange", "LaplaceDominated", "calibrate", "compose", "convert"]
