"""What the classroom's template takes: a lesson as rows to edit, charts and errors."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from dpselect.errors import InvalidParameter
from dpselect.exact.rounding import short_decimal
from dpselect.studio.classroom import MOST_NAMES, Lesson
from dpselect.studio.classroom_charts import error_rows, laws_chart, ratio_chart

SPARE_ROWS = 2
"""Empty rows below the names."""


def lesson_values(given: Mapping[str, str]) -> dict[str, Any]:
    """Read a lesson and draw it; where it cannot be read, say why and keep what was typed."""
    try:
        lesson = Lesson.read(given)
    except InvalidParameter as refused:
        typed = [
            {"name": given.get(f"name{i}", ""), "votes": given.get(f"votes{i}", "")}
            for i in range(MOST_NAMES)
        ]
        return {
            "problem": str(refused),
            "rows": typed,
            "epsilon": given.get("epsilon", ""),
            "slide": 0,
            "more": None,
            "laws": None,
            "ratios": None,
            "errors": [],
        }
    rows = [
        {"name": name, "votes": short_decimal(votes)}
        for name, votes in zip(lesson.names, lesson.scores, strict=True)
    ]
    spare = min(SPARE_ROWS, MOST_NAMES - len(rows))
    return {
        "rows": [*rows, *({"name": "", "votes": ""} for _ in range(spare))],
        "epsilon": short_decimal(lesson.epsilon),
        "slide": round(100 * math.log10(lesson.epsilon)),
        "more": lesson.more,
        "laws": laws_chart(lesson),
        "ratios": ratio_chart(lesson),
        "errors": error_rows(lesson.laws()),
    }
