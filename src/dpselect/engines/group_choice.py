"""A few groups of each person: those of least priority, whatever else the person's rows hold.

Which groups a person is kept in depends on the key of the hash, the person and the groups that the person's
own rows name, and on nothing else; all rows of a kept group stay.

Proof: group_choice.proof.md
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from dpselect.engines.priorities import Parameterized, PriorityPart, priority
from dpselect.engines.protocol import CountsRequest
from dpselect.engines.text_words import with_words

BESIDE = ":groups"
"""What the key of the hash gets behind it here, so that groups are not chosen as rows are."""


def few_groups(
    request: CountsRequest, names: Sequence[str], source: str, salt: str, dialect: Parameterized
) -> list[tuple[str, exp.Select]]:
    """Keep the rows of each person in ``groups_per_person`` groups, the values of the last key."""
    person, group = (exp.column(name, quoted=True) for name in ("person", names[-1]))
    (hashed,), rows = with_words([PriorityPart(person, request.person)], source, dialect)
    turn = priority([hashed, PriorityPart(group, None), hashed], salt + BESIDE, dialect)
    rank = exp.Window(
        this=exp.Anonymous(this="DENSE_RANK"),
        partition_by=[person.copy()],
        order=exp.Order(
            expressions=[exp.Ordered(this=node, nulls_first=False) for node in (turn, group.copy())]
        ),
    )
    keys = [exp.column(name, quoted=True) for name in names]
    ranked = exp.select(*keys, exp.alias_(rank, "rank", quoted=True)).from_(rows)
    few = exp.LTE(
        this=exp.column("rank", quoted=True), expression=exp.Literal.number(request.groups_per_person)
    )
    chosen = exp.select(*[key.copy() for key in keys]).from_("ranked").where(few)
    return [("ranked", ranked), ("chosen", chosen)]
