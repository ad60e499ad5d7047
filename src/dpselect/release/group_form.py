"""What is said of groups: which they are, why they cost what they cost, and who has won in each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from dpselect.errors import visible
from dpselect.exact.enclosures import enclose
from dpselect.exact.rounding import exact_text, figure, from_exact_text, readable_number, written_bound
from dpselect.privacy.neighbours import Neighbours
from dpselect.release.labels import PlainLabel, label_text, read_label, readable_label, written_label

Winners: TypeAlias = tuple[tuple[PlainLabel, ...], ...]
"""The labels of the winners of each group, in the order of the groups."""
SHOWN_GROUPS = 20
"""How many groups are shown in words."""
NO_WINNER = "no clear winner"


@dataclass(frozen=True)
class AskedGroups:
    """The groups of a question: all of it is public.

    ``within`` is the accuracy of one group that holds for all of them together. ``several`` says that each
    group has a tuple of answers, not one label.
    """

    by: str
    labels: tuple[PlainLabel, ...]
    per_person: int
    within: Fraction
    several: bool

    @property
    def texts(self) -> tuple[str, ...]:
        """The groups as text."""
        return tuple(map(label_text, self.labels))

    @property
    def named(self) -> str:
        """How many groups there are, and of which column."""
        number = len(self.labels)
        return f"{number:,} group{'' if number == 1 else 's'} of {visible(self.by)}"

    def price_text(self, neighbours: Neighbours) -> str:
        """Say why all groups together cost what they cost."""
        most = "1 group" if self.per_person == 1 else f"{self.per_person:,} groups"
        counts = f"{self.named}; one person counts in at most {most}"
        times = "as much as one" if self.per_person == 1 else f"{self.per_person:,} times as much as one"
        if neighbours == "add_remove":
            return f"{counts}, so all of them cost {times}"
        return (
            f"{counts}. With other answers a person may leave one group and enter another, which moves two "
            "draws. One costs the larger of a draw with other answers and two draws with a person more or "
            f"fewer, and all of them cost {times}"
        )

    def promise_text(self, sureness: str, unit: str) -> str:
        """Say how good all answers are together."""
        figure = f"{written_bound(self.within)}"
        return f"within {figure}{unit} in all of them together, with probability {sureness} or more"


def confidence_of_each(together: Fraction, groups: int) -> Fraction:
    """Give the probability that each of a number of independent draws must have, so that all have one.

    >>> float(confidence_of_each(Fraction(99, 100), 2))
    0.99498743710662
    """
    if groups == 1:
        return together
    union = 1 - (1 - together) / groups
    return min(union, enclose(lambda sure: (sure.log() / groups).exp(), together).high)


def group_facts(groups: AskedGroups, winners: Winners | None) -> dict[str, Any]:
    """Write groups for JSON, and their winners if they are drawn.

    ``groups`` is for reading: text for each group, null where the quorum won, a list of several. The other
    keys have all that is needed to read a release back.
    """
    text: dict[str, Any] | None = None
    if winners is not None:
        texts = [[label_text(label) for label in won] for won in winners]
        shown = texts if groups.several else [won[0] if won else None for won in texts]
        text = dict(zip(groups.texts, shown, strict=True))
    drawn = None if winners is None else [[written_label(label) for label in won] for won in winners]
    return {
        "groups": text,
        "by": groups.by,
        "groups_per_person": groups.per_person,
        "group_labels": {
            "groups": [written_label(label) for label in groups.labels],
            "winners": drawn,
            "several": groups.several,
        },
        "within_all_groups": figure(groups.within),
        "within_all_groups_exact": exact_text(groups.within),
    }


def groups_from_facts(facts: Mapping[str, Any]) -> tuple[AskedGroups | None, Winners]:
    """Read groups and winners from what ``group_facts`` wrote; raise some error if it did not."""
    if "by" not in facts:
        return None, ()
    written = facts["group_labels"]
    groups = AskedGroups(
        facts["by"],
        tuple(map(read_label, written["groups"])),
        facts["groups_per_person"],
        from_exact_text(facts["within_all_groups_exact"]),
        written["several"],
    )
    return groups, tuple(tuple(map(read_label, won)) for won in written["winners"])


def must_be_groups(groups: AskedGroups, winners: Winners, k: int, *, with_quorum: bool) -> None:
    """Refuse what no version wrote."""
    number = len(groups.labels)
    if not (isinstance(groups.by, str) and isinstance(groups.several, bool) and len(winners) == number):
        raise ValueError
    if type(groups.per_person) is not int or not 1 <= groups.per_person <= number:
        raise ValueError
    if k > 1 and not groups.several:
        raise ValueError
    if not all((0 if with_quorum else k) <= len(won) <= k for won in winners):
        raise ValueError


def group_lines(groups: AskedGroups, winners: Winners) -> list[tuple[str, str]]:
    """Give each group with its winners, in words."""
    return [
        (readable_label(label), ", ".join(map(readable_label, won)) or NO_WINNER)
        for label, won in zip(groups.labels, winners, strict=True)
    ]


def shown_lines(lines: list[tuple[str, str]]) -> list[str]:
    """Write groups and their winners below each other; of many groups the first ones."""
    few = lines[:SHOWN_GROUPS]
    names = [visible(name) for name, _ in few]
    width = max(map(len, names))
    shown = [f"  {name:{width}}  {visible(won)}" for name, (_, won) in zip(names, few, strict=True)]
    more = len(lines) - len(few)
    return [*shown, f"  … {readable_number(Fraction(more))} more"] if more else shown
