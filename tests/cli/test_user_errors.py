"""Sentences of the library reach a user of the command line in words that can be typed there."""

from __future__ import annotations

import ast
import pickle
from pathlib import Path

import pytest

import dpselect
from dpselect.cli.user_errors import WORDS_OF_ARGUMENTS, WORDS_OF_PHRASES, in_command_words
from dpselect.errors import InvalidParameter
from tests.cli.commands import VOTE, Call

SOURCE = Path(dpselect.__file__).parent
ACROSS_STRINGS = (
    "this ledger takes PureDP; got ",
    "this ledger takes ZCDP, and PureDP by conversion; got ",
    "this ledger takes ApproxDP and PureDP",
    'noise="laplace" needs',
    "Leave noise out",
    "at must be a probability from 0 to 1; got",
)
"""Put together at run time; asked for below."""

TRANSLATED = {
    "a number": (f"{VOTE} --epsilon x", "--epsilon must be a finite number; got 'x'"),
    "a count": (f"{VOTE} --epsilon 1 --k 9", "--k must be a whole number from 1 to 4; got 9"),
    "a sensitivity": (
        "scores totals.csv --candidates a,b --sensitivity x --epsilon 1",
        "--sensitivity must be a finite number",
    ),
    "a word that belongs to another": (
        "scores totals.csv --candidates tea,soup --range-sensitivity 1 --monotonic --epsilon 1",
        "--monotonic belongs to --sensitivity; --range-sensitivity needs no such word.",
    ),
    "bounds": (
        "quantile pay.csv --unit person --value salary --at 0.5 --between 9:1 --step 1 --epsilon 1",
        "--between must be LO:HI with LO <= HI",
    ),
    "a step": (
        "quantile pay.csv --unit person --value salary --at 0.5 --between 1:9 --step 0 --epsilon 1",
        "--step must be a positive number",
    ),
    "a fraction with a comma": (
        "quantile pay.csv --unit person --value salary --at 0,5 --between 0:9 --epsilon 1",
        "--at must be a probability from 0 to 1, such as 0.5 for the median; got '5'.",
    ),
    "counts": (f"{VOTE} --epsilon 1 --counts", "--counts is free with Laplace noise alone"),
    "counts that are left out": (f"{VOTE} --epsilon 1 --counts", "Leave --counts out."),
    "counts for rho": (f"{VOTE} --rho 1 --counts", "--counts has a proved price in epsilon alone."),
    "counts of what does not count": (
        "price survey.parquet --unit buyer --value wtp --prices 1,2.5 --epsilon 1 --counts",
        "--counts is for scores that count; those of pricing do not. Leave --counts out.",
    ),
    "a quorum": (
        "quantile pay.csv --unit person --value salary --at 0.5 --between 0:9 --epsilon 1 --quorum 5",
        "--quorum has no meaning for quantile.",
    ),
    "gaps of several": (
        "summary pay.csv --unit person --value salary --between 0:9 --epsilon 1 --gap",
        "Leave --gap out.",
    ),
    "a plan": ("plan --n 0 --epsilon 1", "--n must be a whole number"),
    "public scores": ("law 1,x --scale 1", "each of SCORES must be a finite number; got 'x'"),
    "a width": (
        "window pay.csv --unit person --value salary --width 0 --between 0:9 --epsilon 1",
        "--width must be a positive number",
    ),
    "counts of one winner": (
        f"{VOTE} --kind plurality --epsilon 1 --counts",
        "this question takes exponential noise. Write --noise laplace.",
    ),
    "several fractions of a list": (
        "quantile pay.csv --unit person --value salary --at 0.5,0.9 --candidates 1,2 --epsilon 1",
        "--at must be one fraction with --candidates; several are drawn between bounds. Write --between",
    ),
    "a rho at no delta": (
        f"{VOTE} --rho 1/8 --ledger delta.ledger",
        "this ledger holds epsilon with a delta; got rho. Ask with --epsilon and --delta.",
    ),
    "a budget of another kind": (
        "ledger budget delta.ledger --epsilon 3 --reason more",
        "of the kind of the present one, epsilon 2 with delta 0.000001; got epsilon 3. Give the same options",
    ),
    "a filter without quotes": (
        f"{VOTE} --epsilon 1 --where 'candidate = Rex'",
        "If it is text, write it in single quotes: 'Rex'.",
    ),
    "a ledger that is there": ("ledger create town.ledger --epsilon 1", "dpselect ledger show PATH"),
    "a budget of nothing": ("ledger create new.ledger --epsilon 0", "--epsilon must be a positive number"),
    "a noise without a price": (
        f"{VOTE} --epsilon 1 --noise laplace",
        "together; this problem has none. Leave --noise out.",
    ),
    "a noise without a proof": (
        f"{VOTE} --rho 1 --k 2 --noise exponential",
        "--noise exponential has no proved price in this measure. Write --noise gumbel, or --epsilon.",
    ),
    "a grid without gaps": (
        f"{VOTE} --epsilon 1 --gap-grid 2",
        "--gap-grid belongs to --gap; it is given alone. Write --gap too.",
    ),
    "gaps of what is not listed": (
        "quantile pay.csv --unit person --value salary --at 0.5 --between 1:9 --epsilon 1 --gap",
        "Write --noise exponential with --epsilon, or give --candidates.",
    ),
    "other neighbours": (
        f"{VOTE} --epsilon 1 --ledger town.ledger --neighbours change_one",
        "Ask with --neighbours add_remove",
    ),
    "another currency": (
        f"{VOTE} --rho 1/8 --ledger town.ledger",
        "this ledger holds epsilon; got rho. Ask with --epsilon. Or keep another ledger: dpselect ledger",
    ),
    "people": (
        "summary pay.csv --unit person --value salary --between 0:9 --people=-1 --epsilon 1",
        "--people must be a whole number",
    ),
    "a port": ("studio --port 70000", "--port must be 0 to 65535; 0 takes a free one; got 70000"),
    "a host": ("studio --host 0.0.0.0", "--host must be of this machine alone"),
    "a host's way out": (
        "studio --host 0.0.0.0",
        "Give --tls-certificate and --tls-key, or --behind-proxy if a proxy has TLS.",
    ),
    "half of TLS": (
        "studio --tls-key names.txt",
        "--tls-certificate and --tls-key belong together. Give both, or none.",
    ),
    "a tick": ("studio --tick 0", "--tick must be 0.02 to 60 seconds"),
    "a proxy": ("studio --behind-proxy http://a", "--behind-proxy must be the address of the proxy"),
    "votes of a lesson": ("classroom --output page.html --votes tea=many", "--votes must be"),
    "a delta where there is none": (
        f"{VOTE} --epsilon 1/8 --delta 1e-7 --ledger town.ledger",
        "this ledger holds epsilon; got epsilon with a delta. Ask with --epsilon. Or keep another",
    ),
    "a rho with a delta where there is none": (
        f"{VOTE} --rho 1/8 --delta 1e-7 --ledger town.ledger",
        "this ledger holds epsilon; got rho with a delta. Ask with --epsilon. Or keep another",
    ),
    "a delta beside rho alone": (
        f"{VOTE} --epsilon 1/8 --delta 1e-7 --ledger rho.ledger",
        "this ledger holds rho; got epsilon with a delta. Ask with --rho or --epsilon. Or keep another",
    ),
    "a rho with a delta beside rho alone": (
        f"{VOTE} --rho 1/8 --delta 1e-7 --ledger rho.ledger",
        "this ledger holds rho; got rho with a delta. Ask with --rho or --epsilon. Or keep another",
    ),
    "each row a person": (
        f"{VOTE.replace('--unit voter', '--each-row-is-a-person')} --epsilon 1 --ledger town.ledger",
        "name the column with --unit, or keep a ledger made with --unit row",
    ),
}


def constants() -> str:
    """Give every text that is written in the library."""
    return "\n".join(
        node.value
        for path in SOURCE.glob("**/*.py")
        if "cli" not in path.relative_to(SOURCE).parts
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


@pytest.mark.parametrize(("line", "words"), TRANSLATED.values(), ids=TRANSLATED)
def test_a_sentence_of_the_library_names_what_a_user_typed(line: str, words: str, call: Call) -> None:
    assert call("ledger create town.ledger --epsilon 2 --unit voter").code == 0
    assert call("ledger create delta.ledger --epsilon 2 --delta 1e-6").code == 0
    assert call("ledger create rho.ledger --rho 2 --unit voter").code == 0
    refused = call(line)
    refused.refused(2, words)
    assert "Ledger." not in refused.err
    assert "= " not in refused.err.replace("<= ", "")


def test_every_phrase_that_is_translated_is_still_written_in_the_library() -> None:
    written = constants()
    lost = [phrase for phrase in WORDS_OF_PHRASES if phrase not in written]
    assert [phrase for phrase in lost if not phrase.startswith(ACROSS_STRINGS)] == []


def test_only_the_name_before_must_is_translated() -> None:
    sentence = "request 'epsilon must be k' was made for another question."
    assert in_command_words(sentence) == sentence
    assert in_command_words("column 'k' must hold numbers; it holds text.").startswith("column 'k' must")
    assert WORDS_OF_ARGUMENTS["source"] == "PATH"


def test_an_invalid_parameter_knows_its_name_wherever_it_travels() -> None:
    error = InvalidParameter.must_be("epsilon", "a positive number", got=0)
    assert error.parameter == "epsilon"
    assert pickle.loads(pickle.dumps(error)).parameter == "epsilon"
    assert str(pickle.loads(pickle.dumps(error))) == "epsilon must be a positive number; got 0."
    assert InvalidParameter("a sentence.").parameter is None
