"""Short names for the mechanisms under test, with scores of every kind and the range distance."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal

from dpselect.mechanisms import (
    make_exponential_mechanism,
    make_permute_and_flip,
    make_report_noisy_max,
    make_report_noisy_max_gumbel,
    make_report_noisy_top_k,
)
from dpselect.privacy import (
    Measurement,
    atom_domain,
    l1_distance,
    max_divergence,
    range_distance,
    vector_domain,
    zero_concentrated_divergence,
)
from dpselect.selection.noise import ExponentialNoise, GumbelNoise, LaplaceNoise

SCORES = vector_domain(atom_domain(float))
ONE = Fraction(1)
GUMBEL, EXPONENTIAL, LAPLACE = GumbelNoise(), ExponentialNoise(), LaplaceNoise()

Optimize = Literal["max", "min"]


def gumbel_max(scale: Any = ONE, optimize: Optimize = "max") -> Measurement:
    return make_report_noisy_max_gumbel(SCORES, range_distance(), scale, optimize)


def exponential_max(scale: Any = ONE, optimize: Optimize = "max") -> Measurement:
    return make_report_noisy_max(SCORES, range_distance(), max_divergence(), scale, optimize)


def gumbel_top(k: int, scale: Any = ONE, optimize: Optimize = "max") -> Measurement:
    measure = zero_concentrated_divergence()
    return make_report_noisy_top_k(SCORES, range_distance(), measure, k, scale, optimize)


def exponential_top(k: int, scale: Any = ONE, optimize: Optimize = "max") -> Measurement:
    return make_report_noisy_top_k(SCORES, range_distance(), max_divergence(), k, scale, optimize)


def laplace_top(k: int, scale: Any = ONE, optimize: Optimize = "max") -> Measurement:
    return make_report_noisy_top_k(
        SCORES, l1_distance(), max_divergence(), k, scale, optimize, noise="laplace"
    )


def peeling(k: int, scale: Any = ONE, optimize: Optimize = "max") -> Measurement:
    return make_permute_and_flip(SCORES, range_distance(), scale, k, optimize)


def picking(candidates: list[Any], scale: Any = ONE, optimize: Optimize = "max") -> Measurement:
    return make_exponential_mechanism(SCORES, range_distance(), candidates, scale, optimize)
