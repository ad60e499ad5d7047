"""Exact numbers and random bits: what every law and every price is computed with.

>>> from dpselect.exact.enclosures import exp
>>> from dpselect.exact.numbers import rational
>>> rational(0.1, "epsilon")  # a parameter means what it says
Fraction(1, 10)
>>> low, high = exp(1)  # an irrational number lies between two fractions
>>> float(low) <= 2.718281828459045 <= float(high)
True
"""
