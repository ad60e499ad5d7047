"""Four mechanisms compared at the same epsilon, on PUBLIC scores: the law of the winner under each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpselect.exact.numbers import Number, positive
from dpselect.exact.rounding import readable_number
from dpselect.utility.laplace_law import laplace_law
from dpselect.utility.laws import exponential_law, gumbel_law
from dpselect.utility.selection_law import HEADINGS, SHOWN, SelectionLaw, as_html, lined, named


@dataclass(frozen=True)
class SideBySide:
    """The laws of several mechanisms on the same public scores, at the same epsilon."""

    epsilon: Fraction
    laws: tuple[SelectionLaw, ...]

    @property
    def names(self) -> list[str]:
        """The names of the mechanisms."""
        return [law.mechanism for law in self.laws]

    def __repr__(self) -> str:
        return lined([*HEADINGS, *self.names], self._rows(), self._title, self._rest)

    def _repr_html_(self) -> str:
        return as_html([*HEADINGS, *self.names], self._rows(), self._title, self._rest)

    @property
    def _title(self) -> str:
        return f"probability of each output at epsilon {readable_number(self.epsilon)}; public scores"

    def _rows(self) -> list[list[str]]:
        first, *_ = self.laws
        shown = [
            [named(output), f"{far:.6g}", *(f"{law.probability(output):.6f}" for law in self.laws)]
            for output, far, _ in first.likeliest()
        ]
        return [*shown, ["on average behind", "", *(f"{law.expected_error:.4g}" for law in self.laws)]]

    @property
    def _rest(self) -> int:
        return max(0, len(self.laws[0].outputs) - SHOWN)


def side_by_side(
    public_scores: object,
    *,
    epsilon: Number,
    range_sensitivity: Number = 1,
    sensitivity: Number = 1,
    outputs: Sequence[object] | None = None,
) -> SideBySide:
    """Compare exponential, Gumbel and Laplace noise, and the naive release of all scores. Public scores only.

    ``range_sensitivity`` is how far one person moves scores apart, ``sensitivity`` how far one score moves
    (approval votes: 1 and 1 where a person is added or removed; 2 and 1 where one changes the ballot). The
    naive way releases every score with Laplace noise of scale n * sensitivity / epsilon, and takes the best.
    """
    budget = positive(epsilon, "epsilon")
    scale = positive(range_sensitivity, "range_sensitivity") / budget
    exponential = exponential_law(public_scores, scale=scale, outputs=outputs)
    n = len(exponential.outputs)
    everything = laplace_law(
        public_scores, scale=n * positive(sensitivity, "sensitivity") / budget, outputs=outputs
    )
    naive = SelectionLaw(
        "all scores released",
        everything.scale,
        everything.outputs,
        everything.behind,
        everything.probabilities,
    )
    gumbel = gumbel_law(public_scores, scale=scale, outputs=outputs)
    laplace = laplace_law(public_scores, scale=scale, outputs=outputs)
    return SideBySide(budget, (exponential, gumbel, laplace, naive))
