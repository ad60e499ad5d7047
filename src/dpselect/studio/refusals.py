"""What the studio says no with: a status and one sentence, known before anything is charged, or constant."""

from __future__ import annotations

from collections.abc import Collection

AFTER_THE_CHARGE = (
    "this question is paid for and has no answer: it failed, or the studio was stopped meanwhile. "
    "What is paid stays paid. Ask anew, or ask your curator."
)
"""All that is said of a failure after the charge, whatever it was."""
OUT_OF_ORDER = "the studio failed at this. Nothing more is told, because it might tell of data."
NOT_NAMED = (
    "who your organisation's log-in names has no live key here, or another one. "
    "Ask your curator for a key of that name."
)
NOT_BEGUN = "this question could not be begun. Nothing was charged. Ask your curator."
DATA_SET_CLOSED = "this data set cannot be opened just now. Nothing was charged. Ask your curator."


class Refused(Exception):
    """A request is not granted. The sentence holds public words alone."""

    def __init__(self, status: int, sentence: str, *, allow: str = "") -> None:
        super().__init__(sentence)
        self.status, self.sentence = status, sentence
        self.headers = {"allow": allow} if allow else {}


def no_key() -> Refused:
    """Refuse a request without a key that is live now, whatever else is wrong with it."""
    return Refused(401, "a key is needed that is live: log in, or send Authorization: Bearer KEY.")


def not_logged_in() -> Refused:
    """Refuse a page to a browser without a session that is live."""
    return Refused(401, "a key is needed for this page: log in.")


def other_role() -> Refused:
    """Refuse what another role may do."""
    return Refused(403, "this key is of another role.")


def other_method(methods: Collection[str]) -> Refused:
    """Refuse a method that an address does not take; say which ones it takes."""
    known = sorted({*methods, "HEAD"} if "GET" in methods else methods)
    return Refused(405, "this address takes another method.", allow=", ".join(known))


def no_share() -> Refused:
    """Refuse a data set that is not there, or in which the analyst has no share."""
    return Refused(404, "data_set must be the name of one in which you have a share.")


def not_found() -> Refused:
    """Refuse what is not there, or is another analyst's."""
    return Refused(404, "there is nothing of yours under this address.")
