"""Checks that any reader can run again: exhaustive enumeration, and proofs bound to the code they prove.

>>> from dpselect.exact.samplers import draw_below
>>> law = enumerate_law(lambda randomness: draw_below(3, randomness), depth=4)
>>> law.lower[0], law.unresolved
(Fraction(5, 16), Fraction(1, 16))
"""

from dpselect.audit.enumeration import Law, enumerate_law

__all__ = ["Law", "enumerate_law"]
