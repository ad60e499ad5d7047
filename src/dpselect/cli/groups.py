"""Groups on the command line: the column after --each, and the public list after --groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dpselect.cli.options import QuestionOptions
from dpselect.cli.public_lists import Names, as_numbers, names
from dpselect.cli.user_errors import UserError

if TYPE_CHECKING:
    from dpselect.engines.schema import Schema
    from dpselect.problems.problem import Problem


@dataclass(frozen=True)
class GivenGroups:
    """The groups as they were written, before the type of their column is known."""

    column: str
    listed: Names
    per_person: int

    def fitted(self, schema: Schema) -> dict[str, Any]:
        """Give what ``prepare`` takes: text, or numbers if the column holds numbers."""
        numbers = None if schema.column(self.column).kind == "text" else as_numbers(self.listed)
        return {
            "by": self.column,
            "groups": list(self.listed) if numbers is None else numbers,
            "groups_per_person": self.per_person,
        }


def given_groups(options: QuestionOptions) -> GivenGroups | None:
    """Read --each and what belongs to it, before anything is opened; None if a question has no groups."""
    if options.each is None:
        for option, given in (
            ("--groups", options.groups),
            ("--groups-per-person", options.groups_per_person),
        ):
            if given is not None:
                raise UserError(
                    f"{option} belongs to --each, the column of the groups; it is given alone. "
                    "Write --each city too."
                )
        return None
    if options.groups is None:
        raise UserError(
            "--groups must be given with --each: a text file with one group on each line, "
            "table.csv:COLUMN, or a,b,c. Groups are public and never read from the data: write them out "
            "yourself."
        )
    for option, given in (("--gap", options.gap), ("--counts", options.counts)):
        if given:
            raise UserError(f"{option} does not go with --each so far. Leave it out.")
    listed = names(options.groups, "--groups", beside=options.paths)
    per_person = 1 if options.groups_per_person is None else options.groups_per_person
    return GivenGroups(options.each, listed, per_person)


def asked_quorum(options: QuestionOptions, problem: Problem) -> str | None:
    """Give the quorum that is asked for: of groups the least that silences empty ones, if none is named.

    "auto" that is named is refused where there is no quorum; one that is not named is left out there.
    """
    from dpselect.release.quorum import beside_a_quorum

    if options.quorum is None:
        return None if options.each is None else "auto"
    if options.quorum == "auto":
        beside_a_quorum(problem)
    return None if options.quorum == "none" else options.quorum
