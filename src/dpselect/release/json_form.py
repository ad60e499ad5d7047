"""The JSON object of a quote or a release: what ``to_json`` and the commands' ``--json`` write.

Stored format: ledgers keep this object, and it is read for ever. No key changes its name or its meaning. A
new key needs a reader that does without it, and is not added to ``FIRST_KEYS``. Exact numbers are text;
``within`` is a decimal, rounded up.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

from dpselect.exact.numbers import rational
from dpselect.exact.rounding import exact_text, figure, from_exact_text, short_decimal
from dpselect.privacy.amounts import amount_text
from dpselect.privacy.losses import loss_from_facts
from dpselect.privacy.neighbours import RELATIONS
from dpselect.release.group_form import Winners, group_facts, groups_from_facts, must_be_groups
from dpselect.release.labels import PlainLabel, label_text, read_label, written_label
from dpselect.release.quote import Quote
from dpselect.selection.noise import NOISES
from dpselect.utility import Accuracy

if TYPE_CHECKING:
    from dpselect.release.result import Release

Written = TypeVar("Written", bound="Release")

FIRST_KEYS = frozenset(
    {
        "winners",
        "price",
        "measure",
        "neighbours",
        "unit",
        "mechanism",
        "scale",
        "accuracy",
        "candidates",
        "schema",
        "ledger",
        "labels",
        "loss",
        "within_exact",
        "step",
        "target",
        "k",
        "problem",
        "dataset",
        "version",
    }
)
"""The keys that every object has."""
KEYS_OF_COMMANDS = ("schema", "ledger")
"""What a command adds, of its table and its ledger; a release of its own has null there."""
KEY_OF_REPEATED_COMMANDS = "charged"
"""What a command adds where a request was answered before: false. A release of its own does not have it."""


def json_object(
    quote: Quote,
    labels: tuple[PlainLabel, ...] | None,
    gaps: tuple[Fraction, ...] = (),
    counts: tuple[int, ...] = (),
    winners: Winners = (),
) -> dict[str, Any]:
    """Write a quote, and the labels of the winners and their gaps if they are drawn."""
    groups = quote.groups
    accuracy, loss = quote.accuracy, quote.price
    amount = getattr(loss, "amount", None)
    return {
        "winners": None if labels is None else [label_text(label) for label in labels],
        "labels": None if labels is None else [written_label(label) for label in labels],
        "price": None if amount is None else amount_text(amount),
        "loss": loss.to_facts(),
        "measure": quote.measure,
        "neighbours": quote.neighbours,
        "unit": quote.unit,
        "mechanism": quote.mechanism,
        **({"noise_reason": quote.noise_reason} if quote.noise_needs_a_reason else {}),
        "scale": exact_text(quote.scale),
        "accuracy": {
            "within": figure(accuracy.within),
            "confidence": short_decimal(accuracy.confidence),
            "unit": accuracy.measured_in,
        },
        "within_exact": exact_text(accuracy.within),
        "step": exact_text(accuracy.unit),
        "target": accuracy.target,
        "k": quote.k,
        "problem": quote.problem,
        "dataset": quote.dataset,
        "version": quote.version,
        **_people_and_quantiles(accuracy),
        "candidates": {
            "count": accuracy.n,
            "first": list(quote.first_candidates),
            **({} if quote.step is None else {"step": exact_text(quote.step)}),
        },
        "reading": dict(quote.reading),
        **({} if quote.gap_grid is None else _gap_keys(quote, None if labels is None else gaps)),
        **({"counts": None if labels is None else [str(count) for count in counts]} if quote.counted else {}),
        **({} if quote.quorum is None else {"quorum": exact_text(quote.quorum)}),
        "where": quote.where,
        **({} if groups is None else group_facts(groups, None if labels is None else winners)),
        **dict.fromkeys(KEYS_OF_COMMANDS),
    }


def _gap_keys(quote: Quote, gaps: tuple[Fraction, ...] | None) -> dict[str, Any]:
    """Write the gaps, and by how much they may exceed the true leads."""
    return {
        "gaps": None if gaps is None else [exact_text(gap) for gap in gaps],
        "gap_grid": None if quote.gap_grid is None else exact_text(quote.gap_grid),
        "gap_margin": figure(quote.gap_margin),
    }


def _people_and_quantiles(accuracy: Accuracy) -> dict[str, Any]:
    """Write for how many people the accuracy holds, if it depends on them, and which quantiles they are."""
    if not accuracy.at or accuracy.typical is None:
        return {} if accuracy.people is None else {"people": accuracy.people}
    at = [exact_text(each) for each in accuracy.at]
    return {"at": at, "people": accuracy.people, "typical": exact_text(accuracy.typical)}


def release_text(release: Release) -> str:
    """Write a release as one line of JSON."""
    return json.dumps(_object_of(release), ensure_ascii=False)


def _object_of(release: Release) -> dict[str, Any]:
    return json_object(release, release.labels, release.gaps, release.counts, release.winners)


def release_from_text(text: str, kind: type[Written]) -> Written:
    """Read what ``release_text``, a command or an earlier version wrote; raise some error if none did."""
    facts = json.loads(text)
    if "loss" not in facts:
        release = _release(kind, facts, facts["price"], facts["accuracy"])
        same = _first_form(release) == facts
    else:
        found, candidates = facts["accuracy"], facts["candidates"]
        accuracy = {
            "within": facts["within_exact"],
            "confidence": exact_text(rational(found["confidence"], "confidence")),
            "mechanism": facts["mechanism"],
            "unit": facts["step"],
            "k": facts["k"],
            "n": candidates["count"],
            "target": facts["target"],
            "measured_in": found["unit"],
            "at": facts.get("at", ()),
            "people": facts.get("people"),
            "typical": facts.get("typical"),
            "quorum": facts.get("quorum"),
        }
        step = from_exact_text(candidates["step"]) if "step" in candidates else None
        release = _release(kind, facts, facts["loss"], accuracy, (tuple(candidates["first"]), step))
        ours = _object_of(release) | {
            name: facts[name] for name in (*KEYS_OF_COMMANDS, KEY_OF_REPEATED_COMMANDS) if name in facts
        }
        same = facts.keys() >= FIRST_KEYS and all(ours[name] == facts[name] for name in facts)
    if not same:
        raise ValueError
    return release


def _release(
    kind: type[Written],
    facts: Mapping[str, Any],
    loss: Mapping[str, Any],
    accuracy: Mapping[str, Any],
    candidates: tuple[tuple[str, ...], Fraction | None] = ((), None),
) -> Written:
    groups, winners = groups_from_facts(facts)
    release = kind(
        labels=tuple(read_label(label) for label in facts["labels"]),
        price=loss_from_facts(loss),
        neighbours=facts["neighbours"],
        unit=facts["unit"],
        mechanism=facts["mechanism"],
        scale=from_exact_text(facts["scale"]),
        accuracy=Accuracy(
            from_exact_text(accuracy["within"]),
            from_exact_text(accuracy["confidence"]),
            accuracy["mechanism"],
            from_exact_text(accuracy["unit"]),
            accuracy["k"],
            accuracy.get("n"),
            accuracy.get("target"),
            accuracy.get("measured_in", "score"),
            tuple(map(from_exact_text, accuracy.get("at", ()))),
            accuracy.get("people"),
            None if accuracy.get("typical") is None else from_exact_text(accuracy["typical"]),
            None if accuracy.get("quorum") is None else from_exact_text(accuracy["quorum"]),
        ),
        dataset=facts["dataset"],
        version=facts["version"],
        problem=facts["problem"],
        first_candidates=candidates[0],
        step=candidates[1],
        noise_reason=facts.get("noise_reason", ""),
        reading=tuple(facts.get("reading", {}).items()),
        gap_grid=from_exact_text(facts["gap_grid"]) if "gap_grid" in facts else None,
        counted="counts" in facts,
        counts=tuple(int(count) for count in facts.get("counts", ())),
        gaps=tuple(from_exact_text(gap) for gap in facts.get("gaps", ())),
        where=facts.get("where"),
        groups=groups,
        winners=winners,
    )
    _check(release)
    return release


def _check(release: Release) -> None:
    """Refuse what no version wrote."""
    accuracy = release.accuracy
    names = [release.version, release.problem, accuracy.measured_in, *release.first_candidates]
    names.append(release.noise_reason)
    if release.noise_reason and not release.noise_needs_a_reason:
        raise ValueError
    names += [text for fact in release.reading for text in fact]
    names += [
        name for name in (release.unit, release.dataset, accuracy.target, release.where) if name is not None
    ]
    known = release.neighbours in RELATIONS and release.mechanism in NOISES
    if not known or not all(isinstance(name, str) for name in names):
        raise ValueError
    if accuracy.mechanism != release.mechanism or type(accuracy.k) is not int:
        raise ValueError
    _check_winners(release, accuracy.k)
    if release.step is not None and not (release.step > 0 and release.first_candidates):
        raise ValueError
    if accuracy.at and (accuracy.people is None or len(accuracy.at) != accuracy.k):
        raise ValueError
    if accuracy.people is not None and not (type(accuracy.people) is int and accuracy.people >= 0):
        raise ValueError
    least = 1 if accuracy.at else accuracy.k
    if accuracy.n is not None and not (type(accuracy.n) is int and accuracy.n >= least):
        raise ValueError
    if not _are_gaps(release) or len(release.counts) != release.counted * release.k:
        raise ValueError


def _check_winners(release: Release, k: int) -> None:
    """Refuse more or fewer winners than were drawn; a quorum may have come out before them."""
    groups, with_quorum = release.groups, release.quorum is not None
    least, most = (0 if with_quorum else k), k
    if groups is not None:
        must_be_groups(groups, release.winners, k, with_quorum=with_quorum)
        least = most = 0
    if k < 1 or not least <= len(release.labels) <= most:
        raise ValueError


def _are_gaps(release: Release) -> bool:
    """Say whether there is a gap for each label, a multiple of the grid; or no grid and no gap."""
    grid, n = release.gap_grid, release.accuracy.n
    if grid is None:
        return not release.gaps
    fits = n is not None and grid > 0 and len(release.gaps) == release.k < n
    return fits and all(gap >= 0 and gap % grid == 0 for gap in release.gaps)


def _first_form(release: Release) -> dict[str, Any]:
    """Write a release as versions did before the object of the commands was theirs too."""
    accuracy = release.accuracy
    return {
        "labels": [written_label(label) for label in release.labels],
        "price": release.price.to_facts(),
        "measure": release.measure,
        "neighbours": release.neighbours,
        "unit": release.unit,
        "mechanism": release.mechanism,
        "scale": exact_text(release.scale),
        "accuracy": {
            "within": exact_text(accuracy.within),
            "confidence": exact_text(accuracy.confidence),
            "mechanism": accuracy.mechanism,
            "unit": exact_text(accuracy.unit),
            "k": accuracy.k,
            # The very first ones have neither.
            **({} if accuracy.n is None else {"n": accuracy.n}),
            **({} if accuracy.target is None else {"target": accuracy.target}),
        },
        "dataset": release.dataset,
        "version": release.version,
        "problem": release.problem,
    }
