"""The controls of the form of a question: what the page calls them, and which must be filled in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpselect.studio.asked_question import OF_NAMES

LABELS = {
    "data_set": "Data set",
    "k": "How many winners",
    "candidates": "Candidates",
    "between": "Lowest and highest",
    "low": "Lowest",
    "high": "Highest",
    "step": "Steps",
    "at": "Part of the people below it",
    "width": "How wide",
    "label": "Yes or no stands in",
    "yes": "Yes is",
    "rank": "The ranks are in",
    "people": "People at most",
    "quorum": "No winner below",
    "each": "Groups are in",
    "groups": "Groups",
    "groups_per_person": "A person counts in at most",
}
"""What the page calls a field of the question that the API calls otherwise."""


def missing_labels(
    words: Mapping[str, Any], offered: Sequence[str], offered_groups: Sequence[str]
) -> tuple[str, ...]:
    """Name the controls that have no default, and are empty."""
    needed = {"window": ("width",), "threshold": ("yes",)}.get(words["question"], ())
    if words["question"] not in OF_NAMES:
        needed = ("low", "high", *needed)
    empty = [name for name in needed if not words.get(name)]
    if words["question"] in OF_NAMES and not offered and not lines_of(words.get("candidates", "")):
        empty.append("candidates")
    if words.get("each") and not offered_groups and not lines_of(words.get("groups", "")):
        empty.append("groups")
    return tuple(LABELS[name] for name in empty)


def in_words_of_the_page(sentence: str) -> str:
    """Let a refusal begin with what the page calls the field that it is about.

    >>> in_words_of_the_page("low must be a number; got 'x'.")
    "“Lowest” must be a number; got 'x'."
    """
    first, space, rest = sentence.partition(" ")
    return f"“{LABELS[first]}”{space}{rest}" if first in LABELS and rest.startswith("must ") else sentence


def lines_of(given: Any) -> list[str]:
    """Give the lines of a list: one text, or several."""
    return given.splitlines() if isinstance(given, str) else [*given]
