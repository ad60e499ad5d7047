"""A question as a plot plans it: what is asked, of whom, how sure; its price varies along an axis."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import Number, positive
from dpselect.privacy.neighbours import Neighbours
from dpselect.utility.accuracy import accuracy, expected_error
from dpselect.utility.chance import chance_of_best
from dpselect.utility.noise_plan import PlannableProblem, must_have_scores, number_of_outputs
from dpselect.utility.promise import Accuracy
from dpselect.utility.worst_case import Mechanism

Symbol: TypeAlias = Literal["epsilon", "rho"]


@dataclass(frozen=True)
class PlannedQuestion:
    """All of a question but its price, which is in epsilon or in rho; the noise is that of a release."""

    problem: PlannableProblem
    symbol: Symbol
    k: int
    confidence: Number
    neighbours: Neighbours
    score_unit: str | None

    def accuracy(self, price: Fraction, mechanism: Mechanism | None = None) -> Accuracy:
        """Say how far from the best the winners may be."""
        return accuracy(
            self.problem,
            epsilon=self._epsilon(price),
            rho=self._rho(price),
            k=self.k,
            confidence=self.confidence,
            neighbours=self.neighbours,
            mechanism=mechanism,
        )

    def mean(self, price: Fraction) -> Fraction:
        """Say how far below the best a single winner is on average."""
        return expected_error(
            self.problem,
            epsilon=self._epsilon(price),
            rho=self._rho(price),
            neighbours=self.neighbours,
        )

    def chance(self, price: Fraction, lead: Fraction) -> Fraction:
        """Say how likely the best win with a lead."""
        return chance_of_best(
            self.problem,
            lead=lead,
            epsilon=self._epsilon(price),
            rho=self._rho(price),
            k=self.k,
            neighbours=self.neighbours,
        )

    def must_leave_a_choice(self, price: Fraction) -> Accuracy:
        """Refuse a question without a choice, or of several quantiles; otherwise give its accuracy."""
        must_have_scores(self.problem)
        found = self.accuracy(price)
        if not found.within:
            raise InvalidParameter("problem must leave a choice; here every winner is as good as the best.")
        return found

    def unit_of(self, found: Accuracy) -> str:
        """Say what scores are numbers of: as the caller says, or as the problem does."""
        if self.score_unit is not None:
            return self.score_unit
        if found.target is not None:
            return "people"
        return "units of the score" if found.measured_in == "score" else found.measured_in

    @property
    def summary(self) -> str:
        """The sizes and the neighbours, in words."""
        winners = "1 winner" if self.k == 1 else f"{self.k} winners"
        return f"{number_of_outputs(self.problem):,} candidates, {winners}, {self.neighbours}"

    def _epsilon(self, price: Fraction) -> Fraction | None:
        return price if self.symbol == "epsilon" else None

    def _rho(self, price: Fraction) -> Fraction | None:
        return price if self.symbol == "rho" else None


def the_price(epsilon: Number | None, rho: Number | None) -> tuple[Symbol, Fraction]:
    """Read the one price that is given."""
    if epsilon is not None and rho is None:
        return "epsilon", positive(epsilon, "epsilon")
    if rho is not None and epsilon is None:
        return "rho", positive(rho, "rho")
    raise InvalidParameter('exactly one of epsilon and rho must be given. Write epsilon="1/2".')
