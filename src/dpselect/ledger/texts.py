"""Public text in the ledger: reasons, names and answers. Read by people, so it is short and has no tricks."""

from __future__ import annotations

from dpselect.errors import InvalidParameter

LONGEST_REASON = 1_000
LONGEST_NAME = 200
LONGEST_ANSWER = 1_000_000


def line(value: object, name: str, *, longest: int) -> str:
    """Read one line of text: printable, neither empty nor long."""
    if isinstance(value, str) and 1 <= len(value) <= longest and value.isprintable():
        return str(value)
    raise InvalidParameter.must_be(
        name, f"one line of printable text, of 1 to {longest} characters", got=_within_reason(value)
    )


def optional_line(value: object, name: str, *, longest: int) -> str | None:
    """Read one line of text, or None."""
    return None if value is None else line(value, name, longest=longest)


def answer_text(value: object) -> str:
    """Read an answer: any text that every database can hold. It is never shown in an error."""
    if not isinstance(value, str):
        problem = f"; got {type(value).__name__}. Write it as text, for example by json.dumps"
    elif len(value) > LONGEST_ANSWER:
        problem = f" of at most {LONGEST_ANSWER} characters; got {len(value)}"
    elif "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        problem = "; got characters that are no text. Write it without NUL and surrogates"
    else:
        return str(value)
    raise InvalidParameter(f"answer must be text{problem}.")


def _within_reason(value: object) -> object:
    return value if not isinstance(value, str) or value.isprintable() else ascii(value)
