"""Quotes: what a question costs and how good its answer will be.

The price may be given, or the accuracy: each moves the other. Nothing is charged, and no row is read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpselect.engines.schema import Schema
from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import positive
from dpselect.exact.rounding import written_number
from dpselect.problems.groups import groups_of
from dpselect.problems.problem import Problem
from dpselect.release import Quote, prepare
from dpselect.release.question import Question
from dpselect.studio.asked_problem import groups_of_question, problem_of
from dpselect.studio.asked_question import AskedQuestion
from dpselect.studio.data_sets import DataSet, DataSets
from dpselect.studio.offer import Offer, accuracy_at

LARGEST_EPSILON = Fraction(100)
"""The largest price, in epsilon, that an accuracy may lead to."""
PLACES_OF_A_PRICE, LARGEST_DENOMINATOR = 12, 1000
"""Digits behind the point of a price, or what it is a fraction of.

So all sums of prices have one denominator of less than 450 digits. With prices of any fraction, a few that
cost next to nothing would fill the digits that a ledger has for its sums: it would refuse those of anybody.
"""


@dataclass(frozen=True)
class Meant:
    """A question, and what it means for the columns of a table."""

    asked: AskedQuestion
    problem: Problem
    groups: Mapping[str, Any]
    """What ``prepare`` takes of groups; nothing without them."""


def meant_by(asked: AskedQuestion, schema: Schema) -> Meant:
    """Give a question its meaning."""
    return Meant(asked, problem_of(asked, schema), groups_of_question(asked, schema))


def question_of(meant: Meant, data_sets: DataSets, data_set: DataSet, epsilon: Fraction) -> Question:
    """Price a question for a data set; ``with`` opens its table."""
    return prepare(
        meant.problem,
        data_sets.table(data_set),
        k=meant.asked.winners,
        epsilon=epsilon,
        neighbours=data_sets.ledger(data_set).neighbours,
        gap=meant.asked.gap,
        quorum=meant.asked.wished_quorum,
        people=meant.asked.most_people,
        progress=False,
        **meant.groups,
    )


def offer_of(asked: AskedQuestion, data_sets: DataSets, analyst: str) -> Offer:
    """Price a question for an analyst: refused where it is wrong, or does not fit the columns."""
    data_set, account = data_sets.for_analyst(asked.data_set, analyst)
    full = asked.with_lists(data_sets.lists(data_set)).with_bounds(data_sets.bounds(data_set))
    schema = data_sets.schema(data_set)
    meant = meant_by(full, schema)
    problem = meant.problem

    def quoted(epsilon: Fraction) -> Quote:
        return question_of(meant, data_sets, data_set, epsilon).quote

    epsilon = _epsilon(full, problem, quoted)
    quote = quoted(epsilon)
    _must_fit(meant, schema, data_set)
    return Offer(
        asked=full,
        given=asked,
        data_set=data_set,
        problem=problem,
        quote=quote,
        accuracy=accuracy_at(quote, problem, full.confidence),
        epsilon=epsilon,
        account=account,
    )


def _epsilon(asked: AskedQuestion, problem: Problem, quoted: Callable[[Fraction], Quote]) -> Fraction:
    """Read the price, or find the one that buys the accuracy, rounded up to what a price may be."""
    if asked.by == "epsilon":
        if not asked.epsilon:
            raise InvalidParameter("epsilon or within must be given: the price, or the accuracy.")
        found = positive(asked.epsilon, "epsilon")
        if found.denominator > LARGEST_DENOMINATOR and 10**PLACES_OF_A_PRICE % found.denominator:
            raise InvalidParameter.must_be(
                "epsilon",
                f"a decimal number of at most {PLACES_OF_A_PRICE} places, or a fraction of a whole number up "
                f"to {LARGEST_DENOMINATOR:,}",
                got=asked.epsilon,
                way_out="Round it up.",
            )
    else:
        wanted = positive(asked.within, "within")
        if problem.at:
            raise InvalidParameter("within is not for several answers. Give epsilon.")
        # The scale of the noise, and with it the accuracy, is in proportion to one over epsilon.
        least = accuracy_at(quoted(Fraction(1)), problem, asked.confidence).within / wanted
        if not least:
            raise InvalidParameter("within is so wide that a blind draw is as good. Give a smaller number.")
        places = 10**PLACES_OF_A_PRICE
        found = Fraction(math.ceil(Fraction(written_number(least).text) * places), places)
    if found > LARGEST_EPSILON:
        raise InvalidParameter(
            f"epsilon must be at most {LARGEST_EPSILON}: more hides no one. Give a larger number of within."
        )
    return found


def _must_fit(meant: Meant, schema: Schema, data_set: DataSet) -> None:
    """Refuse a question that the columns cannot answer, before it is charged."""
    if of_each := meant.groups:
        groups = groups_of(of_each["by"], of_each["groups"], of_each["groups_per_person"])
        groups.request(meant.problem, schema, unit=data_set.unit)
    else:
        meant.problem.request(schema, unit=data_set.unit)
