"""The command ``law``: the exact probabilities of a selection, on public numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpselect.cli import console, public_lists
from dpselect.cli.declaration import command, examples
from dpselect.cli.options import EXACT_OPTION, NUMBER_METAVAR
from dpselect.cli.public_columns import is_file
from dpselect.cli.user_errors import UserError

if TYPE_CHECKING:
    from dpselect.utility import SelectionLaw

PROBABILITY_DIGITS = 12
"""Digits after the point of a probability."""
SHOWN_OUTCOMES = 20
"""Outcomes that a table shows, the likeliest first."""
BAR_WIDTH = 24
"""Characters of the bar of a probability of 1."""
MOST_ENCLOSED = 50
"""Candidates: up to here probabilities come from enclosures, beyond from floats good to 1e-12."""

LAW_NOISES = ("exponential", "gumbel", "laplace")


@command(
    name="law",
    epilog=examples(
        "law tea=12,coffee=10,cocoa=3 --epsilon 1/2",
        "law 0,-1,-2 --scale 1 --k 2 --noise gumbel --json",
    ),
)
@click.argument("scores", metavar="SCORES", required=False)
@click.option("--scores", "given", metavar="SCORES", help="Instead of the argument.")
@click.option(
    "--candidates", metavar="FILE|TABLE:COLUMN|a,b,c", help="The names, in the order of the scores."
)
@click.option("--epsilon", metavar=NUMBER_METAVAR, help="The price, exactly: 1/2, 0.5 or 1e-3.")
@click.option("--scale", metavar=NUMBER_METAVAR, help="Instead of --epsilon: the scale of the noise.")
@click.option(
    "--sensitivity",
    default="1",
    show_default=True,
    metavar=NUMBER_METAVAR,
    help="With --epsilon: what one person adds.",
)
@click.option(
    "--neighbours",
    type=click.Choice(["add_remove", "change_one"]),
    default="add_remove",
    show_default=True,
    help="With --epsilon: what is hidden of a person.",
)
@click.option(
    "--k", type=int, default=1, show_default=True, metavar=NUMBER_METAVAR, help="How many winners, in order."
)
@click.option(
    "--noise",
    type=click.Choice([*LAW_NOISES, "all"]),
    multiple=True,
    default=("exponential", "gumbel"),
    show_default=True,
    help="Whose law; may be given again.",
)
@click.option("--json", "as_json", is_flag=True, help="Write JSON (docs/reference/json.md).")
@EXACT_OPTION
def law_command(**options: Any) -> None:
    """Print the exact probability of every outcome, on PUBLIC scores.

    SCORES is 12,10,3 or tea=12,coffee=10 or a file with one of these (or tea,12) on each line. Never use it
    on private scores: a probability tells the scores, and no budget has paid for it.
    """
    if options["scores"] is not None and options["given"] is not None:
        raise UserError("SCORES must be given once; it is given twice. Leave --scores out.")
    names, scores = _read(options["scores"] or options["given"], options["candidates"])
    scale = _scale(options, names)
    chosen = options["noise"]
    noises = [noise for noise in LAW_NOISES if noise in chosen or "all" in chosen]
    if "laplace" in noises and options["k"] > 1:
        raise UserError("--noise laplace has a law for one winner only; give --k 1, or another --noise.")
    laws = {noise: _law(noise, names, scores, scale, options["k"]) for noise in noises}
    if options["as_json"]:
        console.write_json(_as_json(laws, scale, options["k"]))
    else:
        _show(laws, options["k"])


def _read(text: str | None, candidates: str | None) -> tuple[list[str], list[Fraction]]:
    if text is None:
        raise UserError("SCORES must be given. Write 12,10,3 or tea=12,coffee=10; only public numbers.")
    from_file = is_file(Path(text))
    parts = public_lists.parts(text if "," in text or from_file else f"{text},", "SCORES", tables="as text")
    pairs = [part.rpartition("=" if "=" in part or not from_file else ",") for part in parts]
    named = [name.strip() for name, equals, _ in pairs if equals]
    if named and (len(named) != len(pairs) or candidates is not None):
        raise UserError("SCORES must all have names, or none of them; --candidates is for those without.")
    scores = [_score(value.strip(), parts, place) for place, (_, _, value) in enumerate(pairs)]
    names = named or (
        public_lists.names(candidates) if candidates else [str(i + 1) for i in range(len(scores))]
    )
    if len(names) != len(scores):
        raise UserError(
            f"there must be one name for each score; got {len(names)} names and {len(scores)} scores."
        )
    if len(set(names)) != len(names):
        raise UserError("each name must be given once; one is repeated. Leave one of them out, or rename it.")
    return names, scores


def _score(text: str, parts: public_lists.Names, place: int) -> Fraction:
    """Read a number; of a file only the line is told."""
    from dpselect.errors import InvalidParameter
    from dpselect.exact.numbers import rational

    try:
        return rational(text, "score")
    except InvalidParameter:
        if parts.lines is None:
            raise
    raise UserError(f"SCORES must hold finite numbers; {parts.shown(place)} does not.")


def _scale(options: Mapping[str, Any], names: Sequence[str]) -> Fraction:
    """Read the scale, or let the budget buy one."""
    from dpselect.exact.numbers import positive
    from dpselect.privacy.losses import PureDP
    from dpselect.problems import Scores, counting, custom
    from dpselect.release.drawing import Wishes
    from dpselect.release.quoting import quoted

    epsilon, scale = options["epsilon"], options["scale"]
    if (epsilon is None) == (scale is None):
        raise UserError("exactly one of --epsilon and --scale must be given. Write --epsilon 1/2.")
    if scale is not None:
        return positive(scale, "scale")
    reach = counting(len(names), sensitivity=options["sensitivity"]).d_range(options["neighbours"])
    problem = custom(candidates=list(names), range_sensitivity=reach)
    budget = PureDP(positive(epsilon, "epsilon"))
    quote, _ = quoted(
        problem, Scores([0] * len(names)), options["k"], budget, Wishes(neighbours=options["neighbours"])
    )
    return quote.scale or Fraction(1)


def _law(noise: str, names: Sequence[str], scores: list[Fraction], scale: Fraction, k: int) -> SelectionLaw:
    from dpselect import utility

    if noise == "laplace":
        return utility.laplace_law(scores, scale=scale, outputs=names)
    if k > 1 or len(scores) <= MOST_ENCLOSED:
        exact: utility.Noise = "exponential" if noise == "exponential" else "gumbel"
        return utility.top_k_law(scores, noise=exact, scale=scale, k=k, outputs=names)
    one_pass = utility.exponential_law if noise == "exponential" else utility.gumbel_law
    return one_pass(scores, scale=scale, outputs=names)


def _as_json(laws: Mapping[str, SelectionLaw], scale: Fraction, k: int) -> dict[str, Any]:
    from dpselect.exact.rounding import exact_text

    first = next(iter(laws.values()))
    tables = {noise: _table(each) for noise, each in laws.items()}
    outcomes = [
        {
            "outcome": list(winners),
            "behind": f"{behind:.10g}",
            **{noise: f"{table[winners]:.{PROBABILITY_DIGITS}f}" for noise, table in tables.items()},
        }
        for winners, behind in zip(map(_winners, first.outputs), first.behind, strict=True)
    ]
    return {
        "public": True,
        "k": k,
        "scale": exact_text(scale),
        "law": outcomes,
        "expected_error": {noise: f"{each.expected_error:.10g}" for noise, each in laws.items()},
    }


def _table(law: SelectionLaw) -> dict[tuple[str, ...], float]:
    return dict(zip(map(_winners, law.outputs), law.probabilities, strict=True))


def _winners(output: object) -> tuple[str, ...]:
    return tuple(map(str, output)) if isinstance(output, tuple) else (str(output),)


def _show(laws: Mapping[str, SelectionLaw], k: int) -> None:
    from dpselect.exact.rounding import readable_number

    first = next(iter(laws.values()))
    tables = {noise: _table(each) for noise, each in laws.items()}
    rows = [
        [
            ", ".join(_winners(output)),
            f"{behind:.6g}",
            *(f"{table[_winners(output)]:.{PROBABILITY_DIGITS}f}" for table in tables.values()),
            "█" * round(probability * BAR_WIDTH) or "▏",
        ]
        for output, behind, probability in first.likeliest(SHOWN_OUTCOMES)
    ]
    average = ["on average", "", *(f"{each.expected_error:.6g} behind" for each in laws.values()), ""]
    mark = "behind" if k == 1 else "behind rank " + str(k)
    console.write_facts({"law": f"scale {readable_number(first.scale)}, public scores"})
    headings = ["outcome", mark, *laws, next(iter(laws))]
    console.write_table(headings, [*rows, average], right=range(1, len(laws) + 2))
    if len(first.outputs) > SHOWN_OUTCOMES:
        console.write_facts(
            {"more": f"{len(first.outputs) - SHOWN_OUTCOMES:,} less likely outcomes; --json has them all"}
        )
