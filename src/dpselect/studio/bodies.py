"""Bodies of requests: read whole, within limits of size and time, as a form or as flat JSON."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import Request
from starlette.types import Message, Receive, Scope

from dpselect.studio.refusals import Refused

MOST_BYTES, MOST_FIELDS = 16 * 1024, 64
"""Bytes of a body, and fields of a form."""
DEEPEST_JSON = 6
"""Brackets that lie within each other."""
FORM_TYPE, JSON_TYPE = "application/x-www-form-urlencoded", "application/json"


def must_be_small(headers: dict[str, str]) -> None:
    """Refuse a body that says itself that it is too long, before any of it is read."""
    length = headers.get("content-length", "0")
    if not length.isascii() or not length.isdigit() or len(length) > 12 or int(length) > MOST_BYTES:
        raise _too_large()


def must_be_of_type(headers: dict[str, str], wanted: str) -> None:
    """Refuse another type of content: a form that a foreign page sends cannot be JSON."""
    kind, _, rest = headers.get("content-type", "").partition(";")
    charset = rest.strip().lower()
    if kind.strip().lower() != wanted or charset not in ("", "charset=utf-8", 'charset="utf-8"'):
        raise Refused(415, f"the body must be {wanted}, in UTF-8.")
    if headers.get("content-encoding", "identity").lower() != "identity":
        raise Refused(415, "the body must not be compressed.")


async def body_of(receive: Receive, seconds: float) -> bytes:
    """Read a body, however it is sent; one that is too long or too slow is refused."""
    parts, size = [], 0
    try:
        async with asyncio.timeout(seconds):
            while True:
                message: Message = await receive()
                if message["type"] == "http.disconnect":
                    raise Refused(400, "the body ended early.")
                part: bytes = message.get("body", b"")
                size += len(part)
                if size > MOST_BYTES:
                    raise _too_large()
                parts.append(part)
                if not message.get("more_body", False):
                    return b"".join(parts)
    except TimeoutError:
        raise Refused(408, "the body came too slowly.") from None


async def form_of(scope: Scope, body: bytes) -> dict[str, Any]:
    """Read a form: a text for each name."""

    async def again() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    try:
        form = await Request(scope, again).form(max_files=0, max_fields=MOST_FIELDS)
    except (HTTPException, MultiPartException, ValueError, UnicodeError):
        raise Refused(400, "the form cannot be read.") from None
    pairs = form.multi_items()
    words = {name: value for name, value in pairs if isinstance(value, str)}
    if len(pairs) > MOST_FIELDS or len(words) != len(pairs):
        raise Refused(400, "the form must have each field once.")
    return words


def json_of(body: bytes) -> dict[str, Any]:
    """Read a JSON object; its numbers with a point stay text, so that none is rounded."""
    try:
        text = body.decode("utf-8")
        if _depth(text) > DEEPEST_JSON:
            raise Refused(400, "the JSON must not be so deep.")
        value = json.loads(text, parse_float=str, parse_constant=_no_constant, object_pairs_hook=_each_once)
        json.dumps(value, ensure_ascii=False).encode("utf-8")  # half a letter cannot be stored
    except (ValueError, RecursionError):
        raise Refused(400, "the body must be a JSON object, with each name once.") from None
    if not isinstance(value, dict):
        raise Refused(400, "the body must be a JSON object, with each name once.")
    return value


def _depth(text: str) -> int:
    """Bound how deep brackets lie, those within texts counted too."""
    deepest = now = 0
    for sign in text:
        if sign in "[{":
            now += 1
            deepest = max(deepest, now)
        elif sign in "]}":
            now -= 1
    return deepest


def _no_constant(word: str) -> None:
    raise ValueError(word)


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("twice")
    return found


def _too_large() -> Refused:
    return Refused(413, f"the body must be at most {MOST_BYTES} bytes.")
