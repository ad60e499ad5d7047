"""The OpenAPI document, written by hand and served."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any


@cache
def openapi_document() -> dict[str, Any]:
    """Give the document."""
    found: dict[str, Any] = json.loads(Path(__file__).with_name("openapi.json").read_text(encoding="utf-8"))
    return found
