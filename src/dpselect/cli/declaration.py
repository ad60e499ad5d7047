"""How a command is declared: ``@command(...)``, which takes each option once, and its examples."""

from __future__ import annotations

import functools
import textwrap

import click

from dpselect.cli.user_errors import UserError

QUESTION_ALONE, OUTPUT = "Question", "Output"
"""Headings of the help text of a question: above the options that it alone takes, and above the last."""
EXAMPLE_WIDTH = 74
"""Characters of a line of an example, so that with its margin and its backslash it fits into 80."""


class OptionInSection(click.Option):
    """An option that stands below a heading of the help text."""

    section = QUESTION_ALONE


option = functools.partial(click.option, cls=OptionInSection)


class GivenOnce(click.Command):
    """A command that refuses an option which is given twice, unless the option takes several values.

    Click itself takes the last one: of two columns, or of two prices, the user would see only one.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Count the options first."""
        _, _, given = self.make_parser(ctx).parse_args(args=list(args))
        once = [
            each for each in given if isinstance(each, click.Option) and not (each.multiple or each.count)
        ]
        wants_help = any("--help" in option.opts for option in once)
        for option in once:
            if once.count(option) > 1 and not wants_help:
                raise UserError(
                    f"{option.opts[0]} must be given once; it is given {once.count(option)} times. "
                    "Leave all but one out."
                )
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options below their headings, if they have any; all in one list cannot be taken in."""
        headings = [each.section for each in self.params if isinstance(each, OptionInSection)]
        if not headings:
            super().format_options(ctx, formatter)
            return
        sections: dict[str, list[tuple[str, str]]] = {QUESTION_ALONE: []}
        for each in self.get_params(ctx):
            written = each.get_help_record(ctx) if isinstance(each, click.Option) else None
            if written is not None:
                heading = OUTPUT if "--help" in each.opts else getattr(each, "section", QUESTION_ALONE)
                sections.setdefault(heading, []).append(written)
        for heading, lines in sections.items():
            with formatter.section(heading):
                formatter.write_dl(lines)


class GroupGivenOnce(GivenOnce, click.Group):
    """A group of commands, each of which refuses an option that is given twice."""

    command_class = GivenOnce


command = functools.partial(click.command, cls=GivenOnce)


def examples(*commands: str) -> str:
    """Write examples for the end of a help text; long ones go on in the next line."""
    written = ["\b", "Example:" if len(commands) == 1 else "Examples:"]
    for command in commands:
        lines = textwrap.wrap(
            f"dpselect {command}",
            EXAMPLE_WIDTH,
            subsequent_indent="  ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        written.append("  " + " \\\n  ".join(lines))
    return "\n".join(written)
