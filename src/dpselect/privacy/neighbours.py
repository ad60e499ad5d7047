"""Neighbours: which data sets are compared, by name, and the metric under which they are at distance 1."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias

from dpselect.errors import InvalidParameter
from dpselect.privacy.metrics import ChangeOneDistance, SymmetricDistance

Neighbours: TypeAlias = Literal["add_remove", "change_one"]

METRIC_OF: Mapping[str, SymmetricDistance | ChangeOneDistance] = MappingProxyType(
    {"add_remove": SymmetricDistance(), "change_one": ChangeOneDistance()}
)

RELATIONS: Mapping[str, str] = MappingProxyType(
    {"add_remove": "one more or one fewer", "change_one": "one with other answers"}
)
"""How a data set and its neighbour differ, in words."""
EACH_ROW = "each row is one"
"""Which person is meant, where no column tells people apart."""


def protection(neighbours: Neighbours, which: str = "") -> str:
    """Say who is protected, and from which difference.

    >>> protection("add_remove", "column voter_id"), protection("change_one")
    ('one person (column voter_id): one more or one fewer', 'one person: one with other answers')
    """
    return f"one person{f' ({which})' if which else ''}: {RELATIONS[neighbours]}"


def metric_of(neighbours: Neighbours) -> SymmetricDistance | ChangeOneDistance:
    """Give the metric under which two data sets at distance one are neighbours.

    >>> metric_of("change_one")
    ChangeOneDistance()
    """
    if not isinstance(neighbours, str) or neighbours not in METRIC_OF:
        raise InvalidParameter.must_be("neighbours", '"add_remove" or "change_one"', got=neighbours)
    return METRIC_OF[neighbours]
