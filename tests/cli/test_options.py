"""An option is given once, on every command, unless it takes several values."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest

from dpselect.cli.runner import dpselect
from tests.cli.commands import VOTE, Call


def commands(
    group: click.Group, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Give every command, however deep, with the words that lead to it."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield (*path, name), command
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


OPTIONS = [
    (path, option)
    for path, command in commands(dpselect)
    for option in command.params
    if isinstance(option, click.Option)
]


@pytest.mark.parametrize(
    ("path", "option"), OPTIONS, ids=lambda each: "-".join(each) if isinstance(each, tuple) else each.name
)
def test_an_option_that_is_given_twice_is_refused(
    path: tuple[str, ...], option: click.Option, call: Call
) -> None:
    names = [name for name in option.opts if name.startswith("--")]
    value = [] if option.is_flag else ["1"]
    outcome = call(*path, names[0], *value, names[-1], *value)
    if option.multiple:
        assert "must be given once" not in outcome.err
    else:
        outcome.refused(2, f"{option.opts[0]} must be given once; it is given 2 times.")


def test_the_options_of_every_command_were_tried() -> None:
    assert len(OPTIONS) > 100
    assert [option.name for _, option in OPTIONS if option.multiple] == ["noise", "allowed_roots"]


def test_help_is_given_however_often_it_is_asked_for(call: Call) -> None:
    assert call("vote --help --help").out.startswith("Usage: dpselect vote")


def test_two_columns_under_two_names_of_one_option_are_refused(call: Call) -> None:
    call(f"{VOTE} --column voter --epsilon 1").refused(2, "--choice must be given once")


def test_an_option_that_looks_like_the_value_of_another_is_not_counted(call: Call) -> None:
    assert call(f"{VOTE} --epsilon 1 --request-id --json").code == 2  # a request needs a ledger
    assert call(f"{VOTE} --epsilon 1 --json --dataset=--json").code == 0


def test_scores_of_a_law_are_given_once(call: Call) -> None:
    call("law 1,2 --scores 3,4 --scale 1").refused(2, "SCORES must be given once")
