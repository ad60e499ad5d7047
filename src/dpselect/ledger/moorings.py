"""Which anchors hold a ledger: the one that moves on with it, and every other that lies where its own would.

A new anchor knows nothing, so it is written only where no other contradicts: a file that was put back is
found out by whichever anchor knows better, and naming another place does not help it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

from dpselect.ledger import anchor as anchors
from dpselect.ledger.database import Session
from dpselect.ledger.verified_log import Book


@dataclass(frozen=True)
class Mooring:
    """Where the anchors of one ledger lie."""

    anchor: Path
    """The one that moves on."""
    others: tuple[Path, ...]
    """Those that need not be there; if they are, the ledger must not be behind them either."""

    @classmethod
    def of(cls, book: Book, named: Path | None) -> Self:
        """Find the places: the one that is named, else the one that the header chose, else the companion."""
        chosen, session = book.header.anchor, book.session
        own = [Path(chosen)] if chosen else []
        if not (chosen and session.shared):
            own.append(session.anchor())
        anchor = named or own[0]
        # A snapshot that nobody can charge may well be older than the anchor that its ledger left behind.
        aside = () if session.writable() else tuple(own[:-1])
        return cls(anchor, tuple(each for each in own if each != anchor and each not in aside))

    def known(self) -> list[anchors.Anchored]:
        """Read all anchors. They are read before the ledger, which can only have grown since."""
        return [anchors.peeked(self.anchor), *self._elsewhere()]

    def _elsewhere(self) -> list[anchors.Anchored]:
        return [anchors.peeked(each) for each in self.others if os.access(each, os.R_OK)]

    def cast(self, book: Book, named: Path | None, trusted: Literal["as found", "by its anchor"]) -> Self:
        """Write the anchor if there is none, where that is allowed.

        It is for a ledger that somebody vouches for. Otherwise only in its own place: for a ledger without
        entries, and for one on a server that this user never met, where every user has an anchor.
        """
        if anchors.is_there(self.anchor):
            return self
        ends = book.walked(*self._elsewhere())
        in_place = self.anchor == Mooring.of(book, None).anchor
        never_met = book.session.shared and not named and not book.header.anchor
        empty = not (ends.entries.number or ends.answers.number)
        if trusted == "by its anchor" and not (in_place and (empty or never_met)):
            raise anchors.missing(self.anchor)
        anchors.dropped(self.anchor, ends)
        return self


def refuse_moored(session: Session, named: Path | None) -> None:
    """Refuse to make a ledger where an anchor lies: it may belong to one that was lost."""
    places = [] if named is None else [named]
    if not session.shared:
        places.append(session.anchor())
    for place in places:
        anchors.refuse_taken(place, session.place)
