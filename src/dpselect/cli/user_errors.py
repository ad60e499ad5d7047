"""What went wrong, as one sentence with the way out, and an exit code."""

from __future__ import annotations

import difflib
import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from dpselect.errors import InvalidParameter

Entered = TypeVar("Entered")

WRONG, WRONG_CALL, NO_BUDGET, BAD_TABLE, INTERRUPTED = 1, 2, 3, 4, 130
"""Exit codes; ``cli/runner.py`` says what each means."""
OPTION_LENGTH = 60
"""Characters of an unknown option that are shown."""

WORDS_OF_ARGUMENTS = {
    "account": "--account",
    "at": "--at",
    "behind_proxy": "--behind-proxy",
    "between": "--between",
    "bounds": "--between",
    "budget": "the budget",
    "candidates": "--candidates",
    "columns": "--columns",
    "confidence": "--confidence",
    "dataset": "--dataset",
    "decimal": "--decimal",
    "delta": "--delta",
    "encoding": "--encoding",
    "epsilon": "--epsilon",
    "gap_grid": "--gap-grid",
    "groups": "--groups",
    "groups_per_person": "--groups-per-person",
    "quorum": "--quorum",
    "host": "--host",
    "k": "--k",
    "n": "--n",
    "neighbours": "--neighbours",
    "people": "--people",
    "port": "--port",
    "prices": "--prices",
    "public_scores": "SCORES",
    "range_sensitivity": "--range-sensitivity",
    "request_id": "--request-id",
    "rho": "--rho",
    "rows_per_person": "--rows-per-person",
    "numbers_in_text": "--numbers-in-text",
    "scale": "--scale",
    "score": "each of SCORES",
    "sensitivity": "--sensitivity",
    "separator": "--separator",
    "source": "PATH",
    "ranking": "--ranking",
    "split": "--split",
    "step": "--step",
    "table": "--table",
    "tick": "--tick",
    "unit": "--unit",
    "votes": "--votes",
    "where": "--where",
    "width": "--width",
    "within": "--within",
}
"""What an argument of the library is called on the command line."""
WORDS_OF_PHRASES = {
    "this ledger takes PureDP; got ZCDP. Ask with epsilon= (a measurement for max_divergence())": (
        "this ledger holds epsilon; got rho. Ask with --epsilon"
    ),
    "this ledger takes PureDP; got ApproxDP. ": "this ledger holds epsilon; got epsilon with a delta. ",
    "this ledger takes PureDP; got ApproxZCDP. ": "this ledger holds epsilon; got rho with a delta. ",
    "this ledger takes ZCDP, and PureDP by conversion; got ApproxDP. ": (
        "this ledger holds rho; got epsilon with a delta. "
    ),
    "this ledger takes ZCDP, and PureDP by conversion; got ApproxZCDP. ": (
        "this ledger holds rho; got rho with a delta. "
    ),
    "or say where it is: anchor=.": "or say where it is: --anchor FILE.",
    "Table(..., numbers_in_text=True)": "--numbers-in-text",
    'write columns={"voter": "text"}, with "text", "integer" or "double" for each.': "--columns voter:text.",
    'then write decimal=",", or such rows': "then give --decimal , or such rows",
    'decimal="." says that': "--decimal . says that",
    "with separator= or encoding=": "with --separator or --encoding",
    "or hand over a DuckDB relation: read_parquet(..., union_by_name=True).": (
        "or make a view of them in a DuckDB database, and name it: --table NAME."
    ),
    "or join them in a DuckDB relation.": "or make a view of them in a DuckDB database: --table NAME.",
    "Hand over a frame that reads it.": "Copy it into a DuckDB database, and name it: --table NAME.",
    "with numbers_in_text=True": "with --numbers-in-text",
    'name it: encoding="utf-16", or encoding="cp1252"': "name it: --encoding utf-16, or --encoding cp1252",
    "Ask with epsilon= (a measurement for max_divergence())": "Ask with --epsilon",
    "Ask with rho= (a measurement for zero_concentrated_divergence())": "Ask with --rho or --epsilon",
    "Open it: Ledger.open(...)": "Look at it: dpselect ledger show PATH",
    "Make one: Ledger.create(...)": "Make one: dpselect ledger create PATH --epsilon 2",
    "call Ledger.vouch": "vouch for it in Python: Ledger.vouch(PATH)",
    'Write PureDP("1"), ZCDP("1/2"), ApproxDP("1", "1e-6") or ApproxZCDP("1/2", "1e-6").': (
        "Write --epsilon 1, --rho 1/2, --epsilon 1 --delta 1e-6 or --rho 1/2 --delta 1e-6."
    ),
    'Or keep another ledger: Ledger.create(path, budget=ApproxZCDP("1/2", "1e-6")) takes every kind.': (
        "Or keep another ledger: dpselect ledger create PATH --rho 1/2 --delta 1e-6 takes every kind."
    ),
    "Open one: ledger.open_account(name, share=...)": "Open one: dpselect ledger account open PATH NAME",
    "Open another: ledger.open_account(name, share=...)": (
        "Open another: dpselect ledger account open PATH NAME"
    ),
    "write table='ballots'": "write --table ballots",
    'Write 2, 0.5, "1/3" or "1e-6"': "Write 2, 0.5, 1/3 or 1e-6",
    'Write "0.99" for one failure': "Write 0.99 for one failure",
    'With unit=None each row is a person: name the column, or keep a ledger for unit="row".': (
        "Each row is a person here: name the column with --unit, or keep a ledger made with --unit row."
    ),
    "Ask with neighbours ": "Ask with --neighbours ",
    'Or keep another ledger: Ledger.create(path, neighbours="add_remove")': (
        "Or keep another ledger: dpselect ledger create PATH --epsilon 2 --neighbours add_remove"
    ),
    'Or keep another ledger: Ledger.create(path, neighbours="change_one")': (
        "Or keep another ledger: dpselect ledger create PATH --epsilon 2 --neighbours change_one"
    ),
    "which ignore_case ignores": "which --ignore-case ignores",
    "ignore_case is for ": "--ignore-case is for ",
    "a new draw needs a new request_id": "a new draw needs a new --request-id",
    "or choose a new request_id": "or choose a new --request-id",
    "Give no request_id, or a smaller k.": "Give no --request-id, or a smaller --k.",
    "must be (lo, hi) with lo <= hi": "must be LO:HI with LO <= HI",
    "monotonic belongs to sensitivity=; range_sensitivity= needs no such word.": (
        "--monotonic belongs to --sensitivity; --range-sensitivity needs no such word."
    ),
    'noise="laplace" needs': "--noise laplace needs",
    "Leave noise out": "Leave --noise out",
    "Leave counts out": "Leave --counts out",
    "Leave gap out": "Leave --gap out",
    "counts are for scores that count": "--counts is for scores that count",
    "counts are free with Laplace noise alone": "--counts is free with Laplace noise alone",
    "counts have a proved price in epsilon alone. Give epsilon.": (
        "--counts has a proved price in epsilon alone. Give --epsilon."
    ),
    "quorum has no meaning": "--quorum has no meaning",
    "quorum does not go with people so far. Leave people out, or give quorum=None.": (
        "--people does not go with --quorum so far. Leave --people out, or write --quorum none."
    ),
    "people is for one winner of pricing(...), and for several quantiles": (
        "--people is for one price, and for several quantiles"
    ),
    "at must be a probability from 0 to 1; got": (
        "at must be a probability from 0 to 1, such as 0.5 for the median; got"
    ),
    'noise="laplace" has': "--noise laplace has",
    'noise="exponential" has': "--noise exponential has",
    'Write noise="gumbel", or max_divergence().': "Write --noise gumbel, or --epsilon.",
    'Write noise="gumbel".': "Write --noise gumbel.",
    'Write noise="laplace".': "Write --noise laplace.",
    "this ledger takes ApproxDP and PureDP, and others at a delta that is named; got ZCDP. ": (
        "this ledger holds epsilon with a delta; got rho. "
    ),
    "this ledger takes ApproxDP and PureDP, and others at a delta that is named; got ApproxZCDP. ": (
        "this ledger holds epsilon with a delta; got rho with a delta. "
    ),
    'Name the point at which it is charged: delta="1e-7". ': "",
    'Ask a question with budget=ApproxDP("1", "1e-6").': "Ask with --epsilon and --delta.",
    "gap_grid belongs to gap=True; it is given alone. Write gap=True.": (
        "--gap-grid belongs to --gap; it is given alone. Write --gap too."
    ),
    "gap is for candidates that are listed;": "--gap is for candidates that are listed;",
    'Write noise="exponential" with epsilon, or give candidates=.': (
        "Write --noise exponential with --epsilon, or give --candidates."
    ),
    "tls_certificate and tls_key belong together.": "--tls-certificate and --tls-key belong together.",
    "Give tls_certificate and tls_key, or behind_proxy if": (
        "Give --tls-certificate and --tls-key, or --behind-proxy if"
    ),
    "Give a larger step.": "Give a larger --step.",
    "Give people=, a public upper bound": "Give --people, a public upper bound",
    "Take fewer, or gumbel_law or exponential_law for a single winner.": "Take fewer, or --k 1.",
}
"""Python in the sentences of the library, and the same for the command line."""


class UserError(Exception):
    """A sentence for the person, and the exit code for the script."""

    def __init__(self, sentence: str, code: int = WRONG_CALL) -> None:
        """Keep both."""
        super().__init__(sentence)
        self.code = code


@contextmanager
def entered(
    context: AbstractContextManager[Entered], code: Callable[[InvalidParameter], int]
) -> Iterator[Entered]:
    """Enter a context; a parameter that is refused on the way in becomes the user's error, with its code."""
    from dpselect.errors import InvalidParameter
    from dpselect.silence import run

    def refusal(error: Exception) -> Exception:
        return UserError(str(error), code(error)) if isinstance(error, InvalidParameter) else error

    with ExitStack() as stack:
        yield run(lambda: stack.enter_context(context), refusal)


def in_command_words(sentence: str) -> str:
    """Say a sentence of the library, which speaks of arguments, in the words of the command line.

    >>> in_command_words("epsilon must be a positive number; got '0'.")
    "--epsilon must be a positive number; got '0'."
    """
    for python, command in WORDS_OF_PHRASES.items():
        sentence = sentence.replace(python, command)
    name, must, rest = sentence.partition(" must ")
    return f"{WORDS_OF_ARGUMENTS.get(name, name)}{must}{rest}"


def code_of(error: BaseException) -> int:
    """Give the exit code of an error of the library, where nothing more is known of it."""
    from dpselect import errors

    if isinstance(error, errors.BudgetExhausted):
        return NO_BUDGET
    if isinstance(error, errors.TableUnreadable | errors.ReleaseFailed | errors.OutsideDomain):
        return BAD_TABLE
    called_wrongly = (errors.InvalidParameter, errors.IncomparableLosses)
    return WRONG_CALL if isinstance(error, called_wrongly) else WRONG


def sentence_of(error: BaseException) -> str:
    """Say what went wrong; of what was not foreseen only its kind, because its message may hold data."""
    from dpselect.errors import BudgetExhausted, DpselectError, shortage_of

    if isinstance(error, BudgetExhausted):
        left = f"{error.remaining.left()} of {error.budget.readable()} is left{error.where}"
        nothing = "nothing was charged, nothing was read"
        return f"this costs {error.cost}; {left}. Ask for less, or stop: {nothing}."
    if isinstance(error, DpselectError):
        return str(error)
    short = shortage_of(error)
    if short is not None:
        return str(short)
    if isinstance(error, OSError) and error.errno:
        return (
            f"the system refused: {os.strerror(error.errno)}. Check the disk and your rights, then try again."
        )
    if isinstance(error, OverflowError) and not _time_is_countable():
        return (
            "the clock of the system must be set to a year that Python can count, 1678 to 2261; it is not. "
            "Set the clock, then try again."
        )
    return (
        f"something failed that should not ({type(error).__name__}); its message is withheld, because it may "
        "hold data. Please report the command."
    )


def _time_is_countable() -> bool:
    """Ask the clock: Python's own parts count nanoseconds from 1970 on in 64 bits, and fail beyond."""
    try:
        time.time()
    except OverflowError:
        return False
    return True


def of_usage(error: click.UsageError, verb: str = "") -> UserError:
    """Say a complaint of click's in our words."""
    where = error.ctx.command_path if error.ctx else f"dpselect {verb}".strip()
    look = f"Run '{where} --help' to see how it is called."
    if isinstance(error, click.NoSuchOption):
        sentence = f"option '{error.option_name[:OPTION_LENGTH]}' is not known to '{where}'."
        near = _nearest(error)
        look = f"Did you mean '{near}'?" if near else look
    elif isinstance(error, click.MissingParameter):
        sentence = f"{_name(error.param)} must be given to '{where}'."
    else:
        said = " ".join(error.format_message().split())
        sentence = said[:1].lower() + said[1:].rstrip(".") + ("" if said.endswith("?") else ".")
        look = "" if said.endswith("?") else look
    return UserError(f"{sentence} {look}".strip(), WRONG_CALL)


def _nearest(error: click.NoSuchOption) -> str | None:
    """Find the option that was meant."""
    known = (
        []
        if error.ctx is None
        else [
            name
            for each in error.ctx.command.params
            for name in [*each.opts, *each.secondary_opts]
            if name[:2] == "--"
        ]
    )
    words = {name.strip("-"): name for name in known}  # the dashes are alike in all, and would make them near
    near = difflib.get_close_matches(error.option_name.strip("-"), words, n=1)
    return words[near[0]] if near else None


def _name(param: click.Parameter | None) -> str:
    if isinstance(param, click.Argument):
        return str(param.metavar or param.name).upper().removesuffix("...")
    return param.opts[0] if param else "a parameter"
