"""The domain of one answer: one of some public options."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dpselect.errors import InvalidParameter, OutsideDomain, shown
from dpselect.silence import takes_data

NOT_AN_OPTION = "the answer must be one of the options."


@dataclass(frozen=True)
class OptionsDomain:
    """One answer, of a kind and value that is among the options."""

    options: tuple[Any, ...]

    @takes_data
    def check(self, answer: object) -> None:
        """Refuse what is no option."""
        self.place(answer)

    def place(self, answer: object) -> int:
        """Give the place of an answer among the options; all of them are compared."""
        found = [place for place, option in enumerate(self.options) if _same(answer, option)]
        if not found:
            del answer
            raise OutsideDomain(NOT_AN_OPTION)
        return found[0]


def options_domain(options: object) -> OptionsDomain:
    """Read a public list of options, each once.

    >>> options_domain(["yes", "no"]).place("no")
    1
    """
    if not isinstance(options, list | tuple) or not options:
        raise InvalidParameter.must_be("options", "a list or tuple with at least one entry", got=options)
    for option in _repeated(options):
        raise InvalidParameter(f"options must be different from each other; got {shown(option)} twice.")
    return OptionsDomain(tuple(options))


def _repeated(options: Sequence[Any]) -> Iterator[Any]:
    """Give the options that are the same as one before; what has no hash is compared one by one."""
    found: set[Any] = set()
    without_hash: list[Any] = []
    for place, option in enumerate(options):
        compared: Sequence[Any] = without_hash
        try:
            key = isinstance(option, bool), option
            again = key in found
            found.add(key)
        except TypeError:
            again, compared = False, options[:place]
            without_hash.append(option)
        if again or any(_same(option, other) for other in compared):
            yield option


def _same(one: object, other: object) -> bool:
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)
