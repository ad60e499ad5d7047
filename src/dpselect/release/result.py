"""What a release says: the winners, what they cost, and how good they are. All of it may be published.

Stored format: ledgers keep what ``to_json`` writes, and ``from_json`` reads it for ever (``json_form.py``).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from dpselect.errors import InvalidParameter
from dpselect.exact.rounding import readable_number, short_decimal, written_bound
from dpselect.notebook import card, facts_table, winners_list
from dpselect.release.flat_form import flat_release
from dpselect.release.group_form import Winners, group_lines, shown_lines
from dpselect.release.json_form import release_from_text, release_text
from dpselect.release.labels import PlainLabel, readable_label
from dpselect.release.quote import EXAMPLE_QUOTE, Quote, readable

SHOWN_GAPS = 10
"""How many gaps are shown in words."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Release(Quote):
    """The labels of the winners, the best first, and all that was public before they were drawn."""

    labels: tuple[PlainLabel, ...]
    gaps: tuple[Fraction, ...] = ()
    """By how much each label leads the next one, and the last one the runner-up, after noise and rounded
    down to the grid; empty if no gap was asked for."""

    counts: tuple[int, ...] = ()
    """The noisy counts of the labels, which their order comes from; empty if none were asked for."""
    winners: Winners = ()
    """The labels of the winners of each group, in the order of the groups; ``by_group`` names them."""

    @classmethod
    def of(
        cls,
        quote: Quote,
        labels: tuple[PlainLabel, ...],
        gaps: tuple[Fraction, ...] = (),
        counts: tuple[int, ...] = (),
    ) -> Self:
        """Give the labels that were drawn as a quote says."""
        return cls(**{**vars(quote), "labels": labels, "gaps": gaps, "counts": counts})

    @classmethod
    def of_groups(cls, quote: Quote, winners: Winners) -> Self:
        """Give the labels that were drawn for each group, as a quote says."""
        return cls(**{**vars(quote), "labels": (), "winners": winners})

    @property
    def by_group(self) -> dict[PlainLabel, PlainLabel | tuple[PlainLabel, ...] | None]:
        """Each group's label, None if the quorum won there; of several winners or answers a tuple."""
        groups = self.groups
        if groups is None:
            raise InvalidParameter("this release has no groups. Take label, or labels.")
        if groups.several:
            return dict(zip(groups.labels, self.winners, strict=True))
        firsts = (won[0] if won else None for won in self.winners)
        return dict(zip(groups.labels, firsts, strict=True))

    @property
    def sure_leads(self) -> tuple[Fraction, ...]:
        """Bounds from below of all true leads at once, with the confidence of the accuracy."""
        return tuple(gap - self.gap_margin for gap in self.gaps)

    @property
    def label(self) -> PlainLabel | None:
        """The best of the winners, None if the quorum won; several quantiles have ``labels`` instead."""
        if self.groups is not None:
            raise InvalidParameter(
                "a release of groups has no one label. Take by_group, which has one for each group."
            )
        if self.accuracy.at:
            raise InvalidParameter("several quantiles have no one label. Take labels, one for each of at.")
        return self.labels[0] if self.labels or self.quorum is None else None

    def to_json(self) -> str:
        """Write it as one line of JSON; exact numbers are text.

        >>> Release.from_json(EXAMPLE.to_json()) == EXAMPLE
        True
        """
        return release_text(self)

    def to_dict(self) -> dict[str, str | int | None]:
        """Give it as a flat dict: a text, a whole number or None for each name; exact numbers are text.

        ``winner`` is the best, ``winner_2`` the next one. Names that ``to_json`` has too mean the same. Of
        groups, ``group`` is the first one and ``group_winner`` its best, then ``group_2``.

        >>> facts = EXAMPLE.to_dict()
        >>> facts["winner"], facts["price"], facts["symbol"], facts["scale"]
        ('tea', '1/2', 'epsilon', '2')
        """
        return flat_release(self, self.labels, self.gaps, self.counts, self.winners)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what ``to_json`` wrote."""
        try:
            return release_from_text(text, cls)
        except (ValueError, TypeError, KeyError, AttributeError, ArithmeticError, RecursionError):
            pass
        raise InvalidParameter("text must be a release, as to_json() writes it.")

    @property
    def _winners(self) -> tuple[str, str]:
        if self.groups is not None:
            return "winners" if self.groups.several else "winner", f"of {self.groups.named}"
        if not self.labels and self.quorum is not None:
            return "winner", no_winner_text(self)
        shown = map(readable, map(readable_label, self.labels))
        if self.accuracy.at:
            pairs = zip(map(short_decimal, self.accuracy.at), shown, strict=True)
            return "quantiles", ", ".join(f"{at}: {label}" for at, label in pairs)
        return "winner" if len(self.labels) == 1 else "winners", ", ".join(shown)

    @property
    def _facts(self) -> dict[str, str]:
        (first, winners), *facts = super()._facts.items()
        return {first: winners, **beside_text(self), **dict(facts)}

    def __repr__(self) -> str:
        if self.groups is None:
            return super().__repr__()
        first, *rest = super().__repr__().splitlines()
        return "\n".join([first, *shown_lines(group_lines(self.groups, self.winners)), *rest])

    def _repr_html_(self) -> str:
        winners, *facts = self._facts.items()
        if self.groups is not None:
            lines = group_lines(self.groups, self.winners)
            return card(facts_table([winners]), facts_table(lines), facts_table(facts))
        if self.accuracy.at or not self.labels:
            return card(facts_table([winners, *facts]))
        return card(winners_list([readable_label(label) for label in self.labels]), facts_table(facts))


def beside_text(release: Release) -> dict[str, str]:
    """Say what was released beside the winners."""
    counts, more = release.counts, ", …" if release.k > SHOWN_GAPS else ""
    shown = f"about {', '.join(map(str, counts[:SHOWN_GAPS]))}{more}"
    return {
        **({"counts": f"{shown} {release.accuracy.measured_in}"} if counts else {}),
        **({"lead": lead_text(release)} if release.gaps else {}),
    }


def no_winner_text(quote: Quote) -> str:
    """Say that the quorum won."""
    return f"no clear winner: no candidate has clearly more than {quote.quorum_text}"


def lead_text(release: Release) -> str:
    """Say by how much the winners lead, and what of it is sure."""
    accuracy = release.accuracy
    word = accuracy.measured_in if accuracy.target is None else "people"
    unit = "" if word == "score" else f" {word}"
    if release.k == 1:
        (gap,), (sure,) = release.gaps, release.sure_leads
        about = f"leads the runner-up by about {readable_number(gap, rounded='down')}{unit}"
        sureness = release.accuracy.sureness
        if sure > 0:
            return f"{about}; by {readable_number(sure, rounded='down')} or more with probability {sureness}"
        return f"{about}: too little to say, with probability {sureness}, that it leads at all"
    shown = ", ".join(readable_number(gap, rounded="down") for gap in release.gaps[:SHOWN_GAPS])
    more = ", …" if len(release.gaps) > SHOWN_GAPS else ""
    return (
        f"to the next about {shown}{more}{unit}; true leads are less by at most "
        f"{written_bound(release.gap_margin)} with probability {release.accuracy.sureness}"
    )


EXAMPLE = Release.of(EXAMPLE_QUOTE, ("tea",))
"""A made-up release, for documentation."""
