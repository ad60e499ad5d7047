"""Which cells candidates are in, and which units of an envelope they have."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dpselect.selection.array_scores import ArrayScores
from dpselect.selection.envelope import Envelope
from dpselect.selection.scores import ScoreVector, Threshold
from tests.exact.sources import Given


def envelope_of(
    scores: Sequence[float], scale: Fraction = Fraction(1), width: int = 64, block_size: int = 1
) -> Envelope:
    vector = ArrayScores(np.array(scores), "max", block_size)
    threshold = vector.find_threshold(1)
    assert threshold is not None
    with np.errstate(all="ignore"):
        return Envelope(vector, threshold, scale, width)


def count_cells(vector: ScoreVector, threshold: Threshold) -> Counter[int]:
    """Count the cells, of those that are not empty, that each candidate is in."""
    empty_cells = set(threshold.empty_cells.tolist())
    if not vector.blocks:
        return Counter(i for i in range(vector.n) if i not in empty_cells)
    blocks = [c for c in range(vector.blocks) if c not in empty_cells]
    members = [c + r * vector.blocks for c in blocks for r in range(vector.block_size)]
    extracted = [] if threshold.extracted is None else threshold.extracted.candidates.tolist()
    return Counter(
        [
            *(i for i in members if i < vector.n),
            *(one for cell, one in enumerate(extracted, vector.blocks) if cell not in empty_cells),
        ]
    )


def check_units(vector: ScoreVector, threshold: Threshold, size: int) -> None:
    """Walk all units: each candidate that is not individual has units 1, 2, ... once; no other has any."""
    envelope = Envelope(vector, threshold, Fraction(1), width=1)
    words = list(range(int(envelope.rate * envelope.units_of_one)))
    found = list(zip(*(drawn.tolist() for drawn in envelope.propose(len(words), Given(words))), strict=True))
    if not vector.blocks:
        assert found == [envelope.propose_one(Given([word])) for word in words]
    numbers = [
        (candidate, -(-remainder // vector.block_size)) for candidate, remainder in found if candidate < size
    ]
    assert len(set(numbers)) == len(numbers)
    units = Counter(candidate for candidate, _ in numbers)
    assert set(units) == set(range(size)) - set(threshold.individual.tolist())
    for candidate, unit_count in units.items():
        assert {number for other, number in numbers if other == candidate} == set(range(1, unit_count + 1))
        gap_in_scales = envelope.exact_gap_in_scales(candidate)
        assert gap_in_scales is not None
        assert unit_count >= envelope.units_of_one * math.exp(-gap_in_scales)
