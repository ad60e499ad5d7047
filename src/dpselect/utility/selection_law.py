"""The exact law of a selection on PUBLIC scores, as a table.

Probabilities reveal the scores: a law is for published or invented numbers, for teaching and planning. The
law of private scores would be an unpaid release.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpselect.errors import InvalidParameter
from dpselect.exact.rounding import readable_number
from dpselect.notebook import card, numbers_table

SHOWN = 10
"""A table shows 10 outputs, the likeliest first."""


@dataclass(frozen=True)
class SelectionLaw:
    """Which output is chosen with which probability, from public scores.

    ``behind`` says how far the output lies behind the best score; where outputs are k winners, how far the
    worst of them lies behind the k-th best. Probabilities are off by less than 1e-12.
    """

    mechanism: str
    scale: Fraction
    outputs: tuple[object, ...]
    behind: tuple[float, ...]
    probabilities: tuple[float, ...]

    @property
    def expected_error(self) -> float:
        """How far behind the winner is on average."""
        return math.fsum(p * far for p, far in zip(self.probabilities, self.behind, strict=True) if p)

    def failure(self, distance: float) -> float:
        """Give the probability that the winner is further behind than a distance."""
        return math.fsum(p for p, far in zip(self.probabilities, self.behind, strict=True) if far > distance)

    def probability(self, output: object) -> float:
        """Give the probability of one output."""
        if output not in self.outputs:
            raise InvalidParameter.must_be("output", "one of the outputs of this law", got=output)
        return self.probabilities[self.outputs.index(output)]

    def likeliest(self, most: int = SHOWN) -> Iterator[tuple[object, float, float]]:
        """Give output, distance behind and probability of the likeliest outputs, the likeliest first."""
        order = sorted(range(len(self.outputs)), key=lambda i: -self.probabilities[i])
        return ((self.outputs[i], self.behind[i], self.probabilities[i]) for i in order[:most])

    @property
    def title(self) -> str:
        """The mechanism and its scale."""
        return f"{self.mechanism}, scale {readable_number(self.scale)}"

    def __repr__(self) -> str:
        return lined([*HEADINGS, "probability"], self._rows(), f"{self.title}; public scores", self._rest)

    def _repr_html_(self) -> str:
        return as_html([*HEADINGS, "probability"], self._rows(), f"{self.title}; public scores", self._rest)

    def _rows(self) -> list[list[str]]:
        return [[named(output), f"{far:.6g}", f"{p:.6f}"] for output, far, p in self.likeliest()]

    @property
    def _rest(self) -> int:
        return max(0, len(self.outputs) - SHOWN)


HEADINGS = ("output", "behind")


def named(output: object) -> str:
    """Write an output; several winners with commas between."""
    return ", ".join(map(str, output)) if isinstance(output, tuple) else str(output)


def lined(headings: Sequence[str], rows: Sequence[Sequence[str]], title: str, rest: int) -> str:
    """Write a table for a terminal: the first column to the left, numbers to the right."""
    table = [headings, *rows]
    widths = [max(len(row[column]) for row in table) for column in range(len(headings))]
    lines = [
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))]
        )
        for row in table
    ]
    return "\n".join([title, *lines, *([f"... and {rest} more"] if rest else [])])


def as_html(headings: Sequence[str], rows: Sequence[Sequence[str]], title: str, rest: int) -> str:
    """Write a table for a notebook."""
    return card(numbers_table(headings, rows, title=title, rest=f"... and {rest} more" if rest else ""))
