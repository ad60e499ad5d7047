"""What is promised of the winners of a selection, as a value and in words."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpselect.exact.enclosures import exp
from dpselect.exact.rounding import readable_number, rounded_up, written_bound
from dpselect.notebook import card, facts_table
from dpselect.utility.worst_case import Mechanism

LARGEST_ODDS = 20
"""From this epsilon on, the factor of the odds tells nothing."""


def odds_factor(epsilon: Fraction | float) -> str | None:
    """Write the most by which a price changes an observer's odds about one person, rounded up.

    >>> odds_factor(Fraction(1, 4)), odds_factor(Fraction(20))
    ('1.29', None)
    """
    return rounded_up(exp(Fraction(epsilon)).high, 2) if epsilon < LARGEST_ODDS else None


@dataclass(frozen=True)
class Accuracy:
    """With probability ``confidence`` or more, no winner's score is further than ``within`` below the best.

    For k winners: below the k-th best score. ``unit`` is the step between possible scores, ``n`` the number
    of candidates if it is known. ``target`` names the number whose rank is asked for, where a score is minus
    a distance of ranks: then ``within`` is a number of people. ``measured_in`` says what a score is a number
    of: votes, points, revenue.
    """

    within: Fraction
    confidence: Fraction
    mechanism: Mechanism
    unit: Fraction
    k: int = 1
    n: int | None = None
    target: str | None = None
    measured_in: str = "score"
    at: tuple[Fraction, ...] = ()
    """The fractions of several quantiles at once, one for each of the k answers."""
    people: int | None = None
    """The most people for whom the figure holds, if it depends on them."""
    typical: Fraction | None = None
    """The root mean square of the error where people are spread evenly: no promise."""
    quorum: Fraction | None = None
    """The score of "no winner", if it is a candidate too."""
    noise: str | None = None
    """What an output is drawn by, in words, if none of the noises is its name."""

    def __str__(self) -> str:
        if self.is_of_order_alone:
            return f"all {self.n} candidates win: only their order is random"
        promise = self.promise(str(written_bound(self.within)))
        return f"{promise}, with probability {self.sureness} or more ({self.source})"

    @property
    def is_of_order_alone(self) -> bool:
        """Say whether all of several candidates win, so that no winner can be far from the k-th best."""
        return self.k > 1 and self.k == self.n and not self.at and self.quorum is None

    def promise(self, figure: str) -> str:
        """Say what is within a figure of what, without how sure that is."""
        if self.at:
            typically = "" if self.typical is None else f" (typically about {rounded_up(self.typical, 1)})"
            return (
                f"all {self.k} answers' ranks are within {figure} people{typically} of those asked for, if "
                f"these lie between the bounds{self.condition}"
            )
        if self.target is None:
            mark = "the best score" if self.k == 1 else f"the score of rank {self.k}"
            return f"within {figure} of {mark}{self.condition}"
        if self.k == 1:
            return (
                f"the rank of the answer is within {figure} people of {self.target}'s, if {self.target} is "
                "one of the candidates"
            )
        return (
            f"no answer's rank is more than {figure} people further from {self.target}'s "
            f"than that of the candidate of rank {self.k}"
        )

    @property
    def condition(self) -> str:
        """For how many people the figure holds, if it depends on them."""
        return "" if self.people is None else f", on every data set of up to {self.people:,} people"

    @property
    def source(self) -> str:
        """The noise that the figure is for, or whose bound it is."""
        if self.noise is not None:
            return self.noise
        return {"exponential": "exponential noise", "gumbel": "Gumbel noise", "laplace": "Laplace noise"}.get(
            self.mechanism, "McSherry and Talwar's bound of 2007"
        )

    @property
    def sureness(self) -> str:
        """The confidence as a decimal; a long one is rounded down, and says so."""
        return readable_number(self.confidence, rounded="down")

    def __repr__(self) -> str:
        return f"<{self}>"

    def _repr_html_(self) -> str:
        figure = str(written_bound(self.within))
        mark = "best score" if self.k == 1 else f"score of rank {self.k}"
        rows = [
            (f"at most below the {mark}", f"{figure}{self.condition}")
            if self.target is None and not self.at
            else ("accuracy", self.promise(figure)),
            ("with probability of at least", self.sureness),
            ("by", self.source),
        ]
        if self.is_of_order_alone:
            rows = [("accuracy", str(self))]
        return card(facts_table(rows))
