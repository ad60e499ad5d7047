"""Find the command, run it, and say in one sentence what went wrong.

Exit codes: 0 it went well; 2 the command line alone is wrong; 3 the budget does not afford it; 4 the table
was opened and refused; 1 anything else; 128 and the number of the signal that ended it: 130, 143, 129.
"""

from __future__ import annotations

import contextlib
import difflib
import errno
import io
import os
import sys
import warnings
from collections.abc import Sequence
from contextvars import copy_context
from importlib import import_module

import click

from dpselect import __version__
from dpselect.cli import interrupts
from dpselect.cli.declaration import GroupGivenOnce
from dpselect.cli.receipts import forget_receipts, receipt
from dpselect.cli.user_errors import (
    INTERRUPTED,
    WRONG,
    WRONG_CALL,
    UserError,
    code_of,
    in_command_words,
    of_usage,
    sentence_of,
)

COMMANDS = (
    "vote",
    "top",
    "mode",
    "price",
    "quantile",
    "summary",
    "window",
    "threshold",
    "scores",
    "check",
    "plan",
    "law",
    "ledger",
    "studio",
    "classroom",
    "verify",
    "doctor",
    "demo",
    "bench",
    "version",
)
"""In the order of a first visit; each is a file of ``cli/commands``."""


class Commands(GroupGivenOnce):
    """The commands, each loaded when it is first asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List them in the order of a first visit."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load one; None if there is no such command."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"dpselect.cli.commands.{cmd_name}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or the one that was meant."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0], COMMANDS, n=1)
            way_out = f"Did you mean '{near[0]}'?" if near else "Run 'dpselect --help' to see them all."
            raise UserError(f"command '{args[0][:40]}' is not known. {way_out}", WRONG_CALL)
        return super().resolve_command(ctx, args)


def show_version(context: click.Context, option: click.Parameter, asked: object) -> None:
    """Say the version, if it is asked for."""
    del option
    if asked:
        click.echo(f"dpselect {__version__}")
        context.exit()


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=show_version,
    help="Show the version and exit.",
)
def dpselect() -> None:
    """Private selection: which one is best, from data about people.

    The answer is drawn, so that no single person can change its odds by much. What that costs (epsilon or
    rho) is charged to a ledger before any row is read. Begin with 'dpselect demo', or ask what a budget
    buys with 'dpselect plan'.
    """


def run_program(words: Sequence[str]) -> int:
    """Run the words of the command line, in a process that is ours; give the exit code.

    An answer that is paid for must not be lost to a terminal that cannot spell it: letters that it does not
    know are written as their numbers.
    """
    if not sys.warnoptions:
        warnings.simplefilter("ignore")  # what libraries tell programmers is no word to a user
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    return run_command(words)


def run_command(words: Sequence[str]) -> int:
    """Run a command; say what went wrong, if something did; give the exit code.

    Once a signal has come, that is what went wrong, whatever was made of it; what was charged is told.
    """
    return copy_context().run(_ran, words)  # what --exact changes, ends with the command


def _ran(words: Sequence[str]) -> int:
    forget_receipts()
    code, refused = _attempted(words)
    stopped = interrupts.exit_code() or (refused.code if refused and refused.code == INTERRUPTED else 0)
    if stopped:
        refused = UserError(f"{interrupts.sentence(stopped)} {receipt()}".rstrip(), stopped)
    if refused is None:
        return code
    from dpselect.errors import visible

    with contextlib.suppress(OSError):
        click.echo(
            f"{click.style('dpselect:', fg='red', bold=True)} {visible(in_command_words(str(refused)))}",
            err=True,
        )
    return refused.code


def _attempted(words: Sequence[str]) -> tuple[int, UserError | None]:  # noqa: PLR0911 - one for each way to end
    """Run a command; give its exit code, or what is to be said."""
    try:
        # What ``dpselect.main`` does, without what it says of signals and pipes.
        with dpselect.make_context("dpselect", list(words)) as context:
            dpselect.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as ended:
        return ended.exit_code, None
    except (BrokenPipeError, SystemExit):  # rich makes the latter of the former
        return _unread()
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return 0, None
    except click.UsageError as error:
        return WRONG_CALL, of_usage(error, words[0] if words and words[0] in COMMANDS else "")
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED, UserError("", INTERRUPTED)
    except UserError as refused:
        return refused.code, refused
    except Exception as error:  # noqa: BLE001 - no user gets a traceback: its frames may hold data
        return WRONG, _unshown(error) if receipt() else UserError(sentence_of(error), code_of(error))
    return 0, None


def _unread() -> tuple[int, UserError | None]:
    """End well if the reader of our output stops early (``law ... | head``), unless it was paid for."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if not receipt():
        return 0, None
    return WRONG, _unshown(BrokenPipeError(errno.EPIPE, ""))


def _unshown(error: Exception) -> UserError:
    """Say that what is paid for did not get out."""
    why = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else type(error).__name__
    return UserError(
        f"the answer must be shown; it could not be ({why}). If it had a --request-id, ask again under the "
        f"same: it is kept. {receipt()}",
        WRONG,
    )
