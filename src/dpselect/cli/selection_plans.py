"""What a budget buys of winners, before any data is touched: part of the command ``plan``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dpselect.cli import console, public_lists
from dpselect.cli.budgets import plain_loss
from dpselect.cli.output import in_words
from dpselect.cli.user_errors import UserError

if TYPE_CHECKING:
    from dpselect.exact.rounding import NumberText
    from dpselect.privacy.losses import ZCDP, PureDP
    from dpselect.problems.problem import Problem
    from dpselect.utility.promise import Accuracy
    from dpselect.utility.worst_case import Mechanism

NOISE_LABELS: dict[Mechanism, str] = {
    "exponential": "exponential noise (--epsilon)",
    "gumbel": "Gumbel noise (--rho)",
    "laplace": "Laplace noise (--epsilon)",
    "lecture": "McSherry and Talwar's bound of 2007",
}

PRICE_FACTORS = (Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4))
"""What a plan is compared with: a quarter of its price, half of it, ..."""


@dataclass(frozen=True)
class SelectionPlan:
    """What a budget buys: for each noise it pays for, the accuracy and the lead that is enough."""

    problem: Problem
    question: Mapping[str, Any]
    """What the accuracy depends on beside the price: winners, confidence, neighbours."""
    people: int | None
    price: PureDP | ZCDP
    found: Mapping[Mechanism, Accuracy]
    leads: Mapping[Mechanism, Fraction]
    word: str
    """What scores are numbers of."""

    @property
    def budget(self) -> dict[str, Any]:
        """The price, by its name."""
        return {self.price.symbol: self.price.amount}

    def accuracy(self, amount: Fraction) -> Accuracy:
        """Say how accurate winners are at another price, with the noise that is best there."""
        from dpselect.utility import accuracy

        words: dict[str, Any] = {self.price.symbol: amount, "people": self.people, **self.question}
        return accuracy(self.problem, **words)

    @property
    def one_accuracy(self) -> Accuracy:
        """One of the accuracies: all of them hold with the same confidence."""
        return next(iter(self.found.values()))

    @property
    def is_of_order_alone(self) -> bool:
        """Whether all candidates win, and only their order is random."""
        return bool(1 < self.question["k"] == self.problem.count)


def selection_plan(given: Mapping[str, Any]) -> SelectionPlan:
    """Read the question and its price, or the accuracy that gives one."""
    from dpselect import utility

    problem = _problem(given)
    question = {name: given[name] for name in ("k", "confidence", "neighbours")}
    epsilon, rho = given["epsilon"], given["rho"]
    if given["within"] is not None:
        needed = utility.epsilon_for(problem, within=given["within"], people=given["people"], **question)
        epsilon = rounded_epsilon(needed)
    budget = {"epsilon": epsilon} if rho is None else {"rho": rho}
    noises: list[Mechanism] = ["exponential", "gumbel", "lecture"] if rho is None else ["gumbel"]
    if problem.l1(given["neighbours"]) is not None and given["people"] is None:
        noises.append("laplace")
    asked: dict[Mechanism, dict[str, Any]] = {
        noise: {**question, "people": None if noise == "lecture" else given["people"], "mechanism": noise}
        for noise in noises
    }
    return SelectionPlan(
        problem=problem,
        question=question,
        people=given["people"],
        price=plain_loss(epsilon, rho),
        found={noise: utility.accuracy(problem, **budget, **each) for noise, each in asked.items()},
        leads={noise: utility.lead_needed(problem, **budget, **each) for noise, each in asked.items()},
        word=given["measured_in"] or ("votes" if given["prices"] is None else "revenue"),
    )


def rounded_epsilon(needed: Fraction) -> str:
    """Write an epsilon that is needed, rounded up; refuse zero, which buys nothing."""
    from dpselect.exact.rounding import rounded_up

    if not needed:
        raise UserError("--within must ask for something; even a blind draw is that accurate. Ask for less.")
    return rounded_up(needed, 4) if needed > Fraction(1, 100) else rounded_up(needed, 10)


def _problem(given: Mapping[str, Any]) -> Problem:
    from dpselect.problems import counting, pricing

    sources = [name for name in ("n", "candidates", "prices") if given[name] is not None]
    if len(sources) != 1:
        raise UserError(
            "exactly one of --n, --candidates, --prices and --at must be given; got "
            f"{len(sources) or 'none'}. Write --n 100 for a hundred candidates."
        )
    if given["people"] is not None and (given["prices"] is None or given["k"] > 1):
        raise UserError("--people is for one winner of --prices, and for several of --at. Leave it out.")
    if given["between"] is not None or given["step"] is not None:
        raise UserError("--between and --step belong to --at. Write --at 0.5 for the median.")
    if given["prices"] is not None:
        if given["sensitivity"] is not None or given["together"] is not None:
            raise UserError("--sensitivity and --together belong to --n; those of prices are known.")
        return pricing(value="value", prices=public_lists.prices(given["prices"], least=0))
    n = given["n"] if given["n"] is not None else len(public_lists.names(given["candidates"]))
    return counting(n, sensitivity=given["sensitivity"] or "1", l1=given["together"])


def facts_of_selection_plan(plan: SelectionPlan) -> dict[str, Any]:
    """Give it for a program."""
    from dpselect.exact.rounding import exact_text, figure, short_decimal
    from dpselect.privacy.amounts import amount_text

    found, leads = plan.found, plan.leads
    return {
        "n": plan.problem.count,
        "k": plan.question["k"],
        "people": plan.one_accuracy.people,
        "price": amount_text(plan.price.amount),
        "measure": plan.price.measure,
        "neighbours": plan.question["neighbours"],
        "confidence": short_decimal(plan.one_accuracy.confidence),
        "accuracy": {
            **{noise: figure(found[noise].within) if noise in found else None for noise in NOISE_LABELS},
            "unit": plan.word,
        },
        "lead_needed": {
            **{noise: exact_text(leads[noise]) if noise in leads else None for noise in NOISE_LABELS},
            "unit": plan.word,
        },
    }


def show_selection_plan(plan: SelectionPlan) -> None:
    """Write it for a person: what is asked, what it buys, what other prices would buy."""
    from dpselect.privacy.neighbours import RELATIONS

    k, n, neighbours = plan.question["k"], plan.problem.count, plan.question["neighbours"]
    sure = plan.one_accuracy.sureness
    winners = "1 winner" if k == 1 else f"{k} winners"
    mark = "the best score" if k == 1 else f"the score of rank {k}"
    console.write_facts(
        {
            "question": f"{winners} among {n:,}",
            "protects": f"one person: {RELATIONS[neighbours]} (neighbours {neighbours})",
            "price": f"{plan.price}{in_words(plan.price)}",
            "accuracy": f"all {n} candidates win: only their order is random"
            if plan.is_of_order_alone
            else f"how far below {mark} a winner may be, with probability {sure} or more"
            f"{plan.one_accuracy.condition}:",
        }
    )
    if not plan.is_of_order_alone:
        _show_noises(plan)
        _show_other_prices(plan)


def _show_noises(plan: SelectionPlan) -> None:
    """Show what each noise promises at this price."""
    from dpselect.exact.rounding import readable_number, written_bound

    bounds = {noise: written_bound(found.within) for noise, found in plan.found.items()}
    console.write_table(
        ["by", _heading_of_bounds(plan, bounds.values()), f"lead that is enough ({plan.word})"],
        [
            [NOISE_LABELS[noise], bound.text, readable_number(plan.leads[noise])]
            for noise, bound in bounds.items()
        ],
        right=(1, 2),
    )


def _show_other_prices(plan: SelectionPlan) -> None:
    """Show what a lower and a higher price would buy."""
    from dpselect.exact.rounding import number_column, written_bound

    prices = [Fraction(plan.price.amount) * factor for factor in PRICE_FACTORS]
    found = [plan.accuracy(price) for price in prices]
    bounds = [written_bound(each.within) for each in found]
    heading, shown = number_column(plan.price.symbol, prices)
    marks = ["this plan" if factor == 1 else "" for factor in PRICE_FACTORS]
    rows = [[price, bound.text, mark] for price, bound, mark in zip(shown, bounds, marks, strict=True)]
    console.write_table(
        [heading, _heading_of_bounds(plan, bounds), f"by {found[-1].source}"], rows, right=(0, 1)
    )


def _heading_of_bounds(plan: SelectionPlan, bounds: Iterable[NumberText]) -> str:
    """Head a column of bounds: what they are numbers of, and whether one was rounded."""
    rounding = next((f", {each.rounding}" for each in bounds if each.rounding), "")
    return f"within ({plan.word}{rounding})"
