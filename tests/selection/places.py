"""Which places candidates stand in, and which units of an envelope they have."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dpselect.selection.array_scores import ArrayField
from dpselect.selection.envelope import Envelope
from dpselect.selection.scores import Field, Lead
from tests.exact.sources import Given


def envelope_of(
    scores: Sequence[float], scale: Fraction = Fraction(1), width: int = 64, depth: int = 1
) -> Envelope:
    field = ArrayField(np.array(scores), "max", depth)
    lead = field.leaders(1)
    assert lead is not None
    with np.errstate(all="ignore"):
        return Envelope(field, lead, scale, width)


def places_of(field: Field, lead: Lead) -> Counter[int]:
    """Count the open places that each candidate stands in."""
    closed = set(lead.closed.tolist())
    if not field.columns:
        return Counter(i for i in range(field.size) if i not in closed)
    columns = [c for c in range(field.columns) if c not in closed]
    everybody = [c + r * field.columns for c in columns for r in range(field.depth)]
    alone = [] if lead.alone is None else lead.alone.candidates.tolist()
    return Counter(
        [
            *(i for i in everybody if i < field.size),
            *(one for place, one in enumerate(alone, field.columns) if place not in closed),
        ]
    )


def check_units(field: Field, lead: Lead, size: int) -> None:
    """Walk all units: everybody who runs has each number of its share once, and nobody else has any."""
    envelope = Envelope(field, lead, Fraction(1), width=1)
    words = list(range(int(envelope.rate * envelope.unit)))
    found = list(zip(*(drawn.tolist() for drawn in envelope.propose(len(words), Given(words))), strict=True))
    if not field.columns:
        assert found == [envelope.propose_one(Given([word])) for word in words]
    numbers = [(candidate, -(-left // field.depth)) for candidate, left in found if candidate < size]
    assert len(set(numbers)) == len(numbers)
    shares = Counter(candidate for candidate, _ in numbers)
    assert set(shares) == set(range(size)) - set(lead.stars.tolist())
    for candidate, share in shares.items():
        assert {number for who, number in numbers if who == candidate} == set(range(1, share + 1))
        behind = envelope.exactly_behind(candidate)
        assert behind is not None
        assert share >= envelope.unit * math.exp(-behind)
