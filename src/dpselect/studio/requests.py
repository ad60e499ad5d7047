"""Request ids: each analyst names their own questions, so that asking twice under one name is asking once."""

from __future__ import annotations

import re

from dpselect.errors import InvalidParameter
from dpselect.studio.keys import new_secret

ID_CHARACTERS = 22
"""Characters of an id that we make: 132 random bits."""
REQUEST_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


def new_request_id() -> str:
    """Make an id that no other question has."""
    return new_secret()[:ID_CHARACTERS]


def request_id_of(given: object) -> str:
    """Read the id that a request names; without one it gets one of its own."""
    if given is None or given == "":
        return new_request_id()
    if not isinstance(given, str) or not REQUEST_ID.fullmatch(given):
        raise InvalidParameter.must_be("request_id", "1 to 64 letters, digits or _ -", got=given)
    return given
