"""What a budget buys of quantiles, before any data is touched: part of the command ``plan``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dpselect.cli import console, public_lists
from dpselect.cli.budgets import plain_loss
from dpselect.cli.output import in_words
from dpselect.cli.selection_plans import NOISE_LABELS, PRICE_FACTORS, rounded_epsilon
from dpselect.cli.user_errors import UserError

if TYPE_CHECKING:
    from dpselect.privacy.losses import ZCDP, PureDP
    from dpselect.problems.problem import Problem
    from dpselect.utility.promise import Accuracy


@dataclass(frozen=True)
class QuantilePlan:
    """Quantiles, how sure the accuracy is, and the price."""

    problem: Problem
    fractions: tuple[str, ...]
    question: Mapping[str, Any]
    """What the accuracy depends on beside the price."""
    price: PureDP | ZCDP

    def accuracy(self, amount: Fraction) -> Accuracy:
        """Say how far the ranks of the answers may be off at another price."""
        from dpselect.utility import accuracy

        words: dict[str, Any] = {self.price.symbol: amount, **self.question}
        return accuracy(self.problem, **words)

    @property
    def asked(self) -> str:
        """The question in words."""
        from dpselect.exact.rounding import readable_number

        low, high = (readable_number(end) for end in (self.problem.outputs[0], self.problem.outputs[-1]))
        which = "quantile," if len(self.fractions) == 1 else "quantiles, each"
        numbers = f"one of {self.problem.count:,} numbers from {low} to {high}"
        return f"the {', '.join(self.fractions)} {which} {numbers}"


def quantile_plan(given: Mapping[str, Any]) -> QuantilePlan:
    """Read the question and its price, or the accuracy that gives one."""
    from dpselect.utility import epsilon_for

    problem, fractions = _problem(given)
    question = {name: given[name] for name in ("confidence", "neighbours")}
    if len(fractions) > 1:
        question["people"] = given["people"]
    elif given["people"] is not None:
        raise UserError("--people makes several quantiles sharper, not one. Leave it out.")
    epsilon = given["epsilon"]
    if given["within"] is not None:
        epsilon = rounded_epsilon(epsilon_for(problem, within=given["within"], **question))
    return QuantilePlan(problem, fractions, question, plain_loss(epsilon, given["rho"]))


def _problem(given: Mapping[str, Any]) -> tuple[Problem, tuple[str, ...]]:
    """Read which quantiles of which numbers."""
    from dpselect.problems import quantile, quantiles

    for option in ("n", "candidates", "prices", "sensitivity", "together", "plot", "measured_in"):
        if given[option] is not None:
            raise UserError(f"--{option.replace('_', '-')} says nothing of quantiles. Leave it or --at out.")
    if given["k"] != 1:
        raise UserError("--k must be 1: each quantile has one answer. Leave it out.")
    if given["between"] is None:
        raise UserError("--between must give the public bounds of the answers. Write --between 0:500000.")
    bounds = public_lists.pair(given["between"], "--between")
    fractions = tuple(each.strip() for each in given["at"].split(","))
    numbers = {"value": "value", "between": bounds, "step": given["step"]}
    if len(fractions) == 1:
        return quantile(at=fractions[0], **numbers), fractions
    return quantiles(at=fractions, **numbers), fractions


def show_quantile_plan(plan: QuantilePlan) -> None:
    """Write it for a person: what is asked, what it buys, what other prices would buy."""
    from dpselect.exact.rounding import number_column, written_bound
    from dpselect.privacy.neighbours import RELATIONS

    neighbours = plan.question["neighbours"]
    console.write_facts(
        {
            "question": plan.asked,
            "protects": f"one person: {RELATIONS[neighbours]} (neighbours {neighbours})",
            "price": f"{plan.price}{in_words(plan.price)}",
            "accuracy": str(plan.accuracy(Fraction(plan.price.amount))),
        }
    )
    prices = [Fraction(plan.price.amount) * factor for factor in PRICE_FACTORS]
    found = [plan.accuracy(price) for price in prices]
    heading, amounts = number_column(plan.price.symbol, prices)
    bounds = [written_bound(each.within) for each in found]
    rounding = next((f", {each.rounding}" for each in bounds if each.rounding), "")
    columns = {
        heading: amounts,
        f"within (people{rounding})": [bound.text for bound in bounds],
        **_typically(found),
        f"by {found[0].source}": ["this plan" if factor == 1 else "" for factor in PRICE_FACTORS],
    }
    console.write_table(list(columns), list(map(list, zip(*columns.values(), strict=True))), right=(0, 1))


def _typically(found: list[Accuracy]) -> dict[str, list[str]]:
    """Give the column of typical errors, for several quantiles."""
    from dpselect.exact.rounding import rounded_up

    typical = [each.typical for each in found if each.typical is not None]
    return {"typically": [f"about {rounded_up(each, 1)}" for each in typical]} if typical else {}


def facts_of_quantile_plan(plan: QuantilePlan) -> dict[str, Any]:
    """Give it for a program, under the keys of other plans."""
    from dpselect.exact.rounding import figure, short_decimal
    from dpselect.privacy.amounts import amount_text

    found = plan.accuracy(Fraction(plan.price.amount))
    none = dict.fromkeys(NOISE_LABELS)
    return {
        "n": plan.problem.count,
        "k": len(plan.fractions),
        "at": list(plan.fractions),
        "people": found.people,
        "price": amount_text(plan.price.amount),
        "measure": plan.price.measure,
        "neighbours": plan.question["neighbours"],
        "confidence": short_decimal(found.confidence),
        "accuracy": {
            **none,
            "gumbel": figure(found.within),
            "typical": None if found.typical is None else figure(found.typical),
            "unit": "people",
        },
        "lead_needed": {**none, "unit": "people"},
    }
