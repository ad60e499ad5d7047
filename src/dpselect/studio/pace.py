"""How many ticks an answer takes: that follows from the question alone.

An analyst chooses how many groups are asked, and so how long that takes. If it took about a tick, and were
told as soon as it is ready, the tick at which it is told would tell of the data.
"""

from __future__ import annotations

import math

from dpselect.studio.asked_question import OF_NAMES, AskedQuestion

NAMES_IN_A_SECOND, NUMBERS_IN_A_SECOND = 1_000, 100
"""Draws for which a second is set aside: about four times what they take."""
ANSWERS_OF_A_SUMMARY = 5
"""Numbers that a summary gives: 5, 25, 50, 75 and 95 per cent of people are below them."""


def ticks_of(asked: AskedQuestion, tick: float) -> int:
    """Say after how many ticks an answer is told, if it is ready by then."""
    answers = {"summary": ANSWERS_OF_A_SUMMARY, "quantile": asked.at.count(",") + 1}.get(asked.question, 1)
    in_a_second = NAMES_IN_A_SECOND if asked.question in OF_NAMES else NUMBERS_IN_A_SECOND
    return max(1, math.ceil(max(1, len(asked.groups)) * answers / in_a_second / tick))
