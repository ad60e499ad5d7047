"""The answer to a question: for a person, or as JSON. All of it may be published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Any

from dpselect.cli.console import results, write_facts, write_json
from dpselect.cli.sources import place_of_ledger
from dpselect.errors import visible

if TYPE_CHECKING:
    from dpselect.engines.schema import Schema
    from dpselect.ledger import Ledger
    from dpselect.privacy.losses import ZCDP, PureDP
    from dpselect.release import Quote, Release
    from dpselect.utility import Accuracy


FIRST_CANDIDATES, FIRST_COLUMNS = 3, 20
"""How many candidates, and columns of a table, are shown by name."""


@dataclass(frozen=True)
class Asked:
    """What was asked: the public candidates, the schema of the table, and what a score is measured in."""

    candidates: Sequence[Any]
    schema: Schema | None
    measured_in: str

    @property
    def first(self) -> list[str]:
        """The first candidates, as they are listed."""
        return [str(label) for label in islice(self.candidates, FIRST_CANDIDATES)]


def show(  # noqa: PLR0913 - what is shown, and how
    release: Release | None,
    quote: Quote,
    ledger: Ledger | None,
    asked: Asked,
    *,
    as_json: bool,
    path: str | None,
) -> None:
    """Show a release; without one (a dry run), all that is known without looking."""
    from dpselect.exact.rounding import readable_number

    if as_json:
        write_json(_as_json(release, quote, ledger, asked))
        return
    if release is not None:
        _show_winners([str(label) for label in release.labels])
    else:
        results().print("a dry run: nothing was paid, no row was read\n", style="bold")
    facts = {
        "price": f"{quote.price}{in_words(quote.price)}",
        "protects": _protects(quote),
        "accuracy": _promise(quote.accuracy, asked.measured_in),
        "noise": f"{quote.mechanism}, scale {readable_number(quote.scale)}",
        "candidates": _candidates(asked),
    }
    if release is None and asked.schema is not None:
        facts["schema"] = _columns(asked.schema)
    if ledger is not None:
        facts["ledger"] = _in_the_ledger(ledger, place_of_ledger(str(path), ledger))
    write_facts(facts)


def _candidates(asked: Asked) -> str:
    more = ", …" if len(asked.candidates) > FIRST_CANDIDATES else ""
    return f"{len(asked.candidates):,}: {', '.join(asked.first)}{more}"


def _columns(schema: Schema) -> str:
    more = ", …" if len(schema.columns) > FIRST_COLUMNS else ""
    return ", ".join(f"{each.name} ({each.kind})" for each in schema.columns[:FIRST_COLUMNS]) + more


def _as_json(release: Release | None, quote: Quote, ledger: Ledger | None, asked: Asked) -> dict[str, Any]:
    from dpselect.exact.rounding import exact_text, figure
    from dpselect.privacy.amounts import amount_text

    accuracy = quote.accuracy
    price: Any = quote.price
    return {
        "winners": None if release is None else [str(label) for label in release.labels],
        "price": amount_text(price.amount),
        "measure": quote.measure,
        "neighbours": quote.neighbours,
        "unit": quote.unit,
        "mechanism": quote.mechanism,
        "scale": exact_text(quote.scale),
        "accuracy": {
            "within": figure(accuracy.within),
            "confidence": accuracy.sureness,
            "unit": asked.measured_in,
        },
        "candidates": {"count": len(asked.candidates), "first": asked.first},
        "schema": None
        if release is not None or asked.schema is None
        else [{"name": each.name, "type": each.kind} for each in asked.schema.columns],
        "ledger": None if ledger is None else _balance(ledger),
    }


def _balance(ledger: Ledger) -> dict[str, str | None]:
    """Read what is spent and left; an answer that is paid for is not lost to a ledger that just went away."""
    from dpselect.errors import DpselectError
    from dpselect.privacy.amounts import amount_text

    try:
        spent, left = ledger.spent, ledger.remaining
    except DpselectError:
        return {"spent": None, "remaining": None}
    return {"spent": amount_text(spent.amount), "remaining": amount_text(left.amount)}


def _in_the_ledger(ledger: Ledger, place: str) -> str:
    found = _balance(ledger)
    if found["spent"] is None:
        return f"it cannot be read just now ({place})"
    budget = ledger.budget
    return (
        f"{budget.symbol} {found['spent']} of {budget.readable()} spent, {found['remaining']} left ({place})"
    )


def _show_winners(labels: list[str]) -> None:
    from rich.text import Text

    console, width = results(), len(str(len(labels)))
    for place, label in enumerate(map(visible, labels), start=1):
        number = f"{place:>{width}}  " if len(labels) > 1 else ""
        console.print(Text.assemble((number, "dim"), (label, "bold green")), soft_wrap=True)
    console.print()


def _protects(quote: Quote) -> str:
    from dpselect.release.quote import RELATIONS

    person = "one row" if quote.unit is None else f"one {quote.unit}"
    return f"{person}: {RELATIONS[quote.neighbours]}"


def _promise(accuracy: Accuracy, measured_in: str) -> str:
    from dpselect.exact.rounding import figure

    if accuracy.is_of_order_alone:
        return str(accuracy)
    mark = "the best" if accuracy.k == 1 else f"rank {accuracy.k}, for each of them"
    promise = f"{measured_in} within {figure(accuracy.within)} of {mark}"
    if accuracy.target is not None:
        promise = accuracy.promise(figure(accuracy.within))
    return f"{promise}, with probability {accuracy.sureness} or more"


def in_words(price: PureDP | ZCDP | Any) -> str:
    """Say what a pure price means; nothing of others."""
    from dpselect.exact.enclosures import exp
    from dpselect.exact.rounding import rounded_up
    from dpselect.privacy.losses import PureDP

    if not isinstance(price, PureDP) or not price.epsilon < 20:
        return ""
    factor = rounded_up(exp(Fraction(price.epsilon)).high, 2)
    return f": the answer changes odds about one person by at most a factor of {factor}"
