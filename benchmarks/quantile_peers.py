"""Quantiles by other libraries, at epsilon 1 for all of them together; this file imports no dpselect.

Started in the peers' environment as ``python -m benchmarks.quantile_peers DATA PEOPLE``.
"""

from __future__ import annotations

import importlib
import json
import math
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.quantile_data import HOW_MANY, Ask, Error, Numbers, fractions, measured


def opendp() -> Any:
    """Load it, with all that it may do."""
    dp: Any = importlib.import_module("opendp.prelude")
    dp.enable_features("contrib", "floating-point", "honest-but-curious")
    return dp


def by_candidates(values: Numbers, points: int, asked: int) -> Ask:
    """OpenDP: each quantile on its own at epsilon / m, by noisy max over all points of the grid."""
    dp = opendp()
    candidates = list(range(points))
    people = dp.vector_domain(dp.atom_domain(T="i32")), dp.symmetric_distance()
    draws = []
    for fraction in fractions(asked):
        scores = people >> dp.t.then_quantile_score_candidates(candidates, float(fraction))
        pure = dp.max_divergence()
        cost = (scores >> dp.m.then_noisy_max(pure, scale=1.0, negate=True)).map(1)
        draws.append(scores >> dp.m.then_noisy_max(pure, scale=cost * asked, negate=True))
    assert sum(draw.map(1) for draw in draws) <= 1 + 1e-9  # noqa: S101 - the comparison is at one epsilon
    array = values.astype(np.int32)
    return lambda: sorted(draw(array) for draw in draws)


def by_tree(values: Numbers, points: int, asked: int) -> Ask:
    """OpenDP: a histogram of the grid as a tree of sums, each with noise, made consistent."""
    dp = opendp()
    branching = dp.t.choose_branching_factor(points)
    space = dp.vector_domain(dp.atom_domain(T="i64"), size=points), dp.l1_distance(T="i64")
    tree = dp.t.make_b_ary_tree(*space, leaf_count=points, branching_factor=branching)
    cost = (tree >> dp.m.then_laplace(scale=1.0)).map(1)
    noisy = tree >> dp.m.then_laplace(scale=cost)
    assert noisy.map(1) <= 1 + 1e-9  # noqa: S101 - the comparison is at one epsilon
    consistent = dp.t.make_consistent_b_ary_tree(branching_factor=branching)
    edges = [i - 0.5 for i in range(points + 1)]
    quantiles = dp.t.make_quantiles_from_counts(edges, alphas=list(map(float, fractions(asked))))
    histogram = np.bincount(values, minlength=points).tolist()
    return lambda: quantiles(consistent(noisy(histogram))[:points])


def by_diffprivlib(values: Numbers, points: int, asked: int) -> Ask:
    """diffprivlib: each quantile on its own at epsilon / m, on all real numbers between the bounds."""
    tools: Any = importlib.import_module("diffprivlib.tools")
    array, at = values.astype(np.float64), list(map(float, fractions(asked)))
    bounds = (-0.5, points - 0.5)
    return lambda: np.sort(np.atleast_1d(tools.quantile(array, at, epsilon=1.0, bounds=bounds)))


PEERS = {"OpenDP candidates": by_candidates, "OpenDP tree": by_tree, "diffprivlib": by_diffprivlib}


def all_errors(data: str, people: int) -> Iterator[Error]:
    """Measure each library in every case of one number of people; one that fails has infinite errors."""
    for asked in HOW_MANY:
        for name, make in PEERS.items():
            try:
                yield measured(name, data, people, asked, make)
            except Exception:  # noqa: BLE001 - whatever another library raises: diffprivlib on long ties
                yield Error(name, data, people, asked, math.inf, 0)


if __name__ == "__main__":
    for error in all_errors(sys.argv[1], int(sys.argv[2])):
        print(json.dumps(error), flush=True)
