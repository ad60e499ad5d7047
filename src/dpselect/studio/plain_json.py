r"""JSON in which signs that a screen would obey are written by their numbers: it reads the same.

>>> plain_json('["\u202egnirts"]')
'["\\u202egnirts"]'
"""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import JSONResponse


class PlainJSON(JSONResponse):
    """A response in JSON."""

    def render(self, content: Any) -> bytes:
        """Write it."""
        return plain_json(super().render(content).decode("utf-8")).encode("utf-8")


def plain_json(text: str) -> str:
    """Write JSON with printable letters alone."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() or each == "\n" else json.dumps(each)[1:-1] for each in text)
