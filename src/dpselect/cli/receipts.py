"""What a command has paid: kept until the next command begins, and told however this one ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpselect.release import Question

_questions: list[Question] = []


def keep_receipt(question: Question) -> None:
    """Remember a question that is about to be released."""
    _questions.append(question)


def forget_receipts() -> None:
    """Begin a new command."""
    _questions.clear()


def receipt() -> str:
    """Say what this command has paid; nothing, if it has not."""
    return " ".join(filter(None, map(_paid, _questions)))


def _paid(question: Question) -> str:
    if question.charged:
        return f"The budget is spent: {question.quote.price} was charged before the data was read."
    return f"Count {question.quote.price} as spent: rows were looked at." if question.looked else ""
