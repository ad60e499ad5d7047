"""The best k of n noisy scores, drawn exactly and about as fast as a maximum.

``draw`` is the front door. It reads ``scores`` and chooses an algorithm:

    winner                  one winner: coins for few candidates, otherwise the first arrival of a race
    top_k_by_levels         several winners of few candidates with exponential noise
    top_k                   several winners of many candidates

A race draws proposals from an ``envelope`` above the weights exp(-gap / scale). ``permute_and_flip_race``
needs no times; ``race`` puts proposals at ``poisson_times`` and turns them into arrivals by a law of
``noise``. ``noisy_scores`` compares the results exactly.

>>> from fractions import Fraction
>>> import numpy as np
>>> from dpselect.exact.randomness import system
>>> from dpselect.selection.draw import TopKDraw
>>> TopKDraw(Fraction(2), 2, "max", "gumbel")(np.array([31_000, 17, 9_000]), system())
[0, 2]
"""
