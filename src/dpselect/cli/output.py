"""The answer to a question: for a person, or as JSON. All of it may be published."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from dpselect.cli.budgets import amounts
from dpselect.cli.console import results, write_facts, write_json
from dpselect.cli.options import QuestionOptions
from dpselect.cli.sources import place_of_ledger
from dpselect.errors import visible

if TYPE_CHECKING:
    from dpselect.engines.schema import Schema
    from dpselect.ledger import Ledger
    from dpselect.ledger.budget import Currency
    from dpselect.privacy.losses import ZCDP, PureDP
    from dpselect.problems.problem import Problem
    from dpselect.release import Quote, Release
    from dpselect.release.group_form import AskedGroups
    from dpselect.utility import Accuracy


ANSWERED_BEFORE = "nothing: this request was answered before, and this is the same answer"
FIRST_COLUMNS = 20
"""How many columns of a table are shown by name."""


def show(  # noqa: PLR0913 - what is shown, and where
    release: Release | None,
    quote: Quote,
    ledger: Ledger | None,
    schema: Schema | None,
    options: QuestionOptions,
    *,
    charged: bool,
    of_rows: dict[str, str],
) -> None:
    """Show a release; without one (a dry run), all that is known without looking."""
    from dpselect.release.labels import readable_label
    from dpselect.release.result import beside_text, no_winner_text

    kept = release is not None and ledger is not None and not charged
    if options.as_csv:
        from dpselect.release.flat_form import csv_text

        click.echo(
            csv_text(quote, None)
            if release is None
            else csv_text(quote, release.labels, release.gaps, release.counts, release.winners),
            nl=False,
        )
        return
    if options.as_json:
        found = _as_json(release, quote, ledger, None if release is not None else schema)
        write_json({**found, **({"charged": False} if kept else {})})
        return
    if release is not None and release.groups is not None:
        _show_groups(release, release.groups)
    elif release is not None and not release.labels:
        results().print(f"{no_winner_text(quote)}\n", style="bold", soft_wrap=True)
    elif release is not None:
        _show_winners([readable_label(label) for label in release.labels], release.accuracy.at)
    else:
        results().print("a dry run: nothing was paid, no row was read\n", style="bold")
    facts = {
        **({} if release is None else beside_text(release)),
        "price": f"{quote.price}{in_words(quote.price)}",
        **({"charged": ANSWERED_BEFORE} if kept else {}),
        "protects": quote.protects,
        **_promises(quote),
        "noise": quote.noise_and_scale,
        **({"because": quote.noise_reason} if quote.noise_needs_a_reason else {}),
        "candidates": _candidates(quote),
        **of_rows,
        **_conditions(quote),
    }
    if release is None and schema is not None:
        facts["schema"] = _columns(schema)
    if ledger is not None:
        facts |= _in_the_account(ledger, options.account)
        facts["ledger"] = _in_the_ledger(ledger, place_of_ledger(str(options.ledger), ledger))
    write_facts(facts)


def facts_of_rows(problem: Problem, options: QuestionOptions, doubtful: str | None) -> dict[str, str]:
    """Say which rows of a person count, where some may not; and in which column numbers are doubtful."""
    found, asked = {}, problem.question
    if options.unit is not None and asked is not None and asked.most is not None and not asked.within:
        how_many = "one row counts" if asked.most == 1 else f"at most {asked.most:,} rows count"
        found["rows"] = f"of each person {how_many}, drawn by chance if there are more"
    if doubtful is not None:
        found["numbers"] = f"those of {visible(doubtful)} are read with a decimal point (else: --decimal ,)"
    return found


def _conditions(quote: Quote) -> dict[str, str]:
    """Say when there is no winner, and of which rows the question is asked."""
    found = {}
    if quote.quorum is not None:
        found["quorum"] = quote.quorum_text
    if quote.where is not None:
        found["where"] = visible(quote.where)
    return found


def _candidates(quote: Quote) -> str:
    from dpselect.release.labels import readable_label

    n, first = quote.accuracy.n or 0, quote.first_candidates
    step = "" if quote.step is None else f" (in steps of {readable_label(quote.step)})"
    return f"{n:,}: {', '.join(first)}{', …' if n > len(first) else ''}{step}"


def _columns(schema: Schema) -> str:
    more = ", …" if len(schema.columns) > FIRST_COLUMNS else ""
    return ", ".join(f"{each.name} ({each.kind})" for each in schema.columns[:FIRST_COLUMNS]) + more


def _as_json(
    release: Release | None, quote: Quote, ledger: Ledger | None, schema: Schema | None
) -> dict[str, Any]:
    from dpselect.release.json_form import json_object

    return {
        **(
            json_object(quote, None)
            if release is None
            else json_object(quote, release.labels, release.gaps, release.counts, release.winners)
        ),
        "schema": None
        if schema is None
        else [{"name": each.name, "type": each.kind} for each in schema.columns],
        "ledger": None if ledger is None else _balance(ledger),
    }


def _balance(ledger: Ledger) -> dict[str, Any]:
    found = _spent_and_left(ledger)
    if found is None:
        return {"spent": None, "remaining": None}
    spent, left = found
    return amounts(spent=spent, remaining=left)


def _spent_and_left(ledger: Ledger) -> tuple[Currency, Currency] | None:
    """Read both; None where an answer is paid for and the ledger just went away: that must not lose it."""
    from dpselect.errors import DpselectError

    try:
        return ledger.spent, ledger.remaining
    except DpselectError:
        return None


def _in_the_account(ledger: Ledger, name: str | None) -> dict[str, str]:
    """Say what is left of the share that was asked with; nothing if it cannot be read just now."""
    from dpselect.errors import DpselectError

    if name is None:
        return {}
    try:
        found = ledger.account(name)
    except DpselectError:
        return {}
    left = found.remaining.readable(rounded="down")
    return {"account": f"{visible(name)}: {found.spent} of {found.share.readable()} spent, {left} left"}


def _in_the_ledger(ledger: Ledger, place: str) -> str:
    found = _spent_and_left(ledger)
    if found is None:
        return f"it cannot be read just now ({place})"
    spent, left = found
    return f"{spent} of {ledger.budget.readable()} spent, {left.readable(rounded='down')} left ({place})"


def _show_winners(labels: list[str], at: tuple[Fraction, ...]) -> None:
    """Show winners by their places, quantiles by their fractions."""
    from rich.text import Text

    from dpselect.exact.rounding import short_decimal

    names = [short_decimal(each) for each in at] or [str(place) for place in range(1, len(labels) + 1)]
    console, width = results(), max(map(len, names))
    for name, label in zip(names, map(visible, labels), strict=True):
        number = f"{name:>{width}}  " if len(labels) > 1 else ""
        console.print(Text.assemble((number, "dim"), (label, "bold green")), soft_wrap=True)
    console.print()


def _show_groups(release: Release, groups: AskedGroups) -> None:
    """Show each group and who has won there; of several quantiles, which is which."""
    from rich.text import Text

    from dpselect.exact.rounding import short_decimal
    from dpselect.release.group_form import NO_WINNER, group_lines

    lines, at = group_lines(groups, release.winners), release.accuracy.at
    if at:
        lines = [("", ", ".join(map(short_decimal, at))), *lines]
    names = [visible(name) for name, _ in lines]
    console, width = results(), max(map(len, names))
    for name, (group, won) in zip(names, lines, strict=True):
        style = "dim" if not group else "bold" if won == NO_WINNER else "bold green"
        console.print(Text.assemble((f"{name:{width}}  ", "dim"), (visible(won), style)), soft_wrap=True)
    console.print()


def _promises(quote: Quote) -> dict[str, str]:
    """Say how good the answer is; of groups why they cost what they do, and how good each and all are."""
    if quote.groups is None:
        return {"accuracy": _promise(quote.accuracy)}
    return {
        "groups": quote.groups.price_text(quote.neighbours),
        "accuracy": f"in each group {_promise(quote.accuracy)}",
        "together": f"in all groups {_promise(quote.accuracy_of_all)}",
    }


def _promise(accuracy: Accuracy) -> str:
    from dpselect.exact.rounding import written_bound

    if accuracy.is_of_order_alone:
        return str(accuracy)
    promise = accuracy.promise(str(written_bound(accuracy.within)))
    if accuracy.target is None and not accuracy.at:
        each = "" if accuracy.k == 1 else "each winner "
        unit = "" if accuracy.measured_in == "score" else f", in {accuracy.measured_in}"
        promise = f"{each}{promise}{unit}"
    return f"{promise}, with probability {accuracy.sureness} or more"


def in_words(price: PureDP | ZCDP | Any) -> str:
    """Say what a pure price means; nothing of others."""
    from dpselect.privacy.losses import PureDP
    from dpselect.utility.promise import odds_factor

    if not isinstance(price, PureDP):
        return ""
    factor = odds_factor(price.epsilon)
    if factor is None:
        return ": next to nothing is hidden about one person; take a lower price"
    return f": the answer changes odds about one person by at most a factor of {factor}"
