"""The command ``plan``: what a budget buys, before any data is touched."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpselect.cli import console, public_lists
from dpselect.cli.options import BETWEEN, EXACT_OPTION, NUMBER_METAVAR, STEP_WIDTH, command, examples
from dpselect.cli.quantile_plans import (
    FACTORS,
    facts_of_quantile_plan,
    quantile_plan,
    rounded_epsilon,
    show_quantile_plan,
)
from dpselect.cli.user_errors import UserError

if TYPE_CHECKING:
    from dpselect.exact.rounding import NumberText
    from dpselect.privacy.losses import ZCDP, PureDP
    from dpselect.problems.problem import Problem
    from dpselect.utility.promise import Accuracy
    from dpselect.utility.worst_case import Mechanism

NOISE_LABELS = {
    "exponential": "exponential noise (--epsilon)",
    "gumbel": "Gumbel noise (--rho)",
    "laplace": "Laplace noise (--epsilon)",
    "lecture": "McSherry and Talwar's bound of 2007",
}

PICTURES = (".png", ".svg", ".pdf")
"""How the name of a picture may end."""


@command(
    name="plan",
    epilog=examples(
        "plan --n 100 --epsilon 0.5 --neighbours change_one",
        "plan --n 100 --within 20 --plot plan.png",
        "plan --prices 0.01:1.99:0.01 --epsilon 1 --people 1000 --json",
        "plan --at 0.25,0.5,0.75 --between 0:500000 --step 500 --people 10000 --within 50",
    ),
)
@click.option("--n", type=int, metavar=NUMBER_METAVAR, help="How many candidates there are.")
@click.option(
    "--candidates", metavar="FILE|TABLE:COLUMN|a,b,c", help="Instead of --n: the candidates themselves."
)
@click.option(
    "--prices",
    metavar="LO:HI:STEP|FILE|TABLE:COLUMN|a,b,c",
    help="Instead of --n: plan for 'dpselect price'.",
)
@click.option(
    "--at",
    metavar=NUMBER_METAVAR,
    help="Instead of --n: plan for 'dpselect quantile', 0.5 or several as 0.25,0.5,0.75. With --between.",
)
@BETWEEN
@STEP_WIDTH
@click.option(
    "--sensitivity", metavar=NUMBER_METAVAR, help="How much one person can change a score.  [default: 1]"
)
@click.option(
    "--together",
    metavar=NUMBER_METAVAR,
    help="How much one person can change all scores together: 1 in a plurality.  [default: unbounded]",
)
@click.option(
    "--people",
    type=click.IntRange(0),
    metavar=NUMBER_METAVAR,
    help="At most how many people there are, publicly: sharper for --prices and several --at.",
)
@click.option("--epsilon", metavar=NUMBER_METAVAR, help="The price, exactly: 1/2, 0.5 or 1e-3.")
@click.option("--rho", metavar=NUMBER_METAVAR, help="Instead of --epsilon: zero-concentrated privacy.")
@click.option(
    "--within", metavar=NUMBER_METAVAR, help="Instead of both: how accurate it must be; gives the epsilon."
)
@click.option("--k", type=int, default=1, show_default=True, metavar=NUMBER_METAVAR, help="How many winners.")
@click.option(
    "--confidence",
    default="0.99",
    show_default=True,
    metavar=NUMBER_METAVAR,
    help="How sure the accuracy is.",
)
@click.option(
    "--neighbours",
    type=click.Choice(["add_remove", "change_one"]),
    default="add_remove",
    show_default=True,
    help="What is hidden of a person: being there at all, or what they answered.",
)
@click.option(
    "--measured-in", metavar="WORD", help="What scores are.  [default: votes, or revenue for --prices]"
)
@click.option(
    "--plot", metavar="FILE", help="Draw it too, into a .png, .svg or .pdf file (needs dpselect[plot])."
)
@click.option("--json", "as_json", is_flag=True, help="Write JSON (docs/reference/json.md).")
@EXACT_OPTION
def plan_command(**given: Any) -> None:
    """Say what a budget buys: accuracy and price, without data.

    The figures hold for every data set: the worst case, rounded up.
    """
    budgets = [name for name in ("epsilon", "rho", "within") if given[name] is not None]
    if len(budgets) != 1:
        raise UserError(
            f"exactly one of --epsilon, --rho and --within must be given; got {len(budgets) or 'none'}. "
            "Write --epsilon 1/2."
        )
    if given["at"] is not None:
        asked = quantile_plan(given)
        if given["as_json"]:
            console.write_json(facts_of_quantile_plan(asked))
        else:
            show_quantile_plan(asked)
        return
    problem = _problem(given)
    _must_be_a_picture(given["plot"])
    plan = _plan(problem, given)
    if given["plot"] is not None:
        _draw(problem, given, plan)
    if given["as_json"]:
        console.write_json(_facts(problem, given, plan))
    else:
        _show(problem, given, plan)
        if not _is_of_order_alone(problem, given):
            _trade_off(problem, given, plan)


def _must_be_a_picture(path: str | None) -> None:
    if path is not None and Path(path).suffix.lower() not in PICTURES:
        raise UserError(f"--plot must name a file that ends in {', '.join(PICTURES)}; got '{path[-40:]}'.")


def _draw(problem: Problem, given: dict[str, Any], plan: Plan) -> None:
    """Draw the plan into a file."""
    from dpselect.utility.plots import plot_plan

    picture = plot_plan(
        problem,
        **plan.budget,
        k=given["k"],
        confidence=given["confidence"],
        neighbours=given["neighbours"],
        score_unit=plan.word,
    )
    try:
        picture.savefig(given["plot"])
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else type(error).__name__
        refused = UserError(
            f"--plot must name a file that can be written; got '{given['plot'][-40:]}': {why}."
        )
    else:
        return
    raise refused


def _problem(given: dict[str, Any]) -> Problem:
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


@dataclass(frozen=True)
class Plan:
    """What a budget buys: for each noise it pays for, the accuracy and the lead that is enough."""

    price: PureDP | ZCDP
    found: dict[Mechanism, Accuracy]
    leads: dict[Mechanism, Fraction]
    word: str

    @property
    def budget(self) -> dict[str, Any]:
        """The price, by its name."""
        return {self.price.symbol: self.price.amount}

    @property
    def one_accuracy(self) -> Accuracy:
        """One of the accuracies: all of them hold with the same confidence."""
        return next(iter(self.found.values()))


def _plan(problem: Problem, given: dict[str, Any]) -> Plan:
    from dpselect import utility
    from dpselect.privacy.losses import ZCDP, PureDP

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
    return Plan(
        found={noise: utility.accuracy(problem, **budget, **each) for noise, each in asked.items()},
        leads={noise: utility.lead_needed(problem, **budget, **each) for noise, each in asked.items()},
        price=PureDP(epsilon) if rho is None else ZCDP(rho),
        word=given["measured_in"] or ("votes" if given["prices"] is None else "revenue"),
    )


def _facts(problem: Problem, given: dict[str, Any], plan: Plan) -> dict[str, Any]:
    from dpselect.exact.rounding import exact_text, figure, short_decimal
    from dpselect.privacy.amounts import amount_text

    found, leads = plan.found, plan.leads
    return {
        "n": problem.count,
        "k": given["k"],
        "price": amount_text(plan.price.amount),
        "measure": plan.price.measure,
        "neighbours": given["neighbours"],
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


def _show(problem: Problem, given: dict[str, Any], plan: Plan) -> None:
    from dpselect.cli.output import in_words
    from dpselect.exact.rounding import readable_number, written_bound
    from dpselect.privacy.neighbours import RELATIONS

    k, n = given["k"], len(problem.outputs)
    winners = "1 winner" if k == 1 else f"{k} winners"
    mark = "the best score" if k == 1 else f"the score of rank {k}"
    sure = plan.one_accuracy.sureness
    relation = RELATIONS[given["neighbours"]]
    console.write_facts(
        {
            "question": f"{winners} among {n:,}",
            "protects": f"one person: {relation} (neighbours {given['neighbours']})",
            "price": f"{plan.price}{in_words(plan.price)}",
            "accuracy": f"all {n} candidates win: only their order is random"
            if _is_of_order_alone(problem, given)
            else f"how far below {mark} a winner may be, with probability {sure} or more:",
        }
    )
    if _is_of_order_alone(problem, given):
        return
    bounds = {noise: written_bound(found.within) for noise, found in plan.found.items()}
    console.write_table(
        ["by", _within(plan, bounds.values()), f"lead that is enough ({plan.word})"],
        [
            [NOISE_LABELS[noise], bound.text, readable_number(plan.leads[noise])]
            for noise, bound in bounds.items()
        ],
        right=(1, 2),
    )


def _within(plan: Plan, bounds: Iterable[NumberText]) -> str:
    """Head a column of bounds: what they are numbers of, and whether one was rounded."""
    rounding = next((f", {each.rounding}" for each in bounds if each.rounding), "")
    return f"within ({plan.word}{rounding})"


def _is_of_order_alone(problem: Problem, given: dict[str, Any]) -> bool:
    return bool(1 < given["k"] == len(problem.outputs))


def _trade_off(problem: Problem, given: dict[str, Any], plan: Plan) -> None:
    """Show what less and more money would buy."""
    from dpselect import utility
    from dpselect.exact.rounding import number_column, written_bound

    symbol = plan.price.symbol
    prices = [Fraction(plan.price.amount) * factor for factor in FACTORS]
    bounds, source = [], ""
    for price in prices:
        found = utility.accuracy(
            problem,
            epsilon=price if symbol == "epsilon" else None,
            rho=price if symbol == "rho" else None,
            k=given["k"],
            confidence=given["confidence"],
            neighbours=given["neighbours"],
            people=given["people"],
        )
        source = found.source
        bounds.append(written_bound(found.within))
    heading, shown = number_column(symbol, prices)
    marks = ["this plan" if factor == 1 else "" for factor in FACTORS]
    rows = [[price, bound.text, mark] for price, bound, mark in zip(shown, bounds, marks, strict=True)]
    console.write_table([heading, _within(plan, bounds), f"by {source}"], rows, right=(0, 1))
