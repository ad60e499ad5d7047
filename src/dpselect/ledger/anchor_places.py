"""Which anchors belong to a ledger: the one that follows it, and others that lie where its own would lie.

A new anchor knows no entries. So it is written only where no other anchor of the ledger contradicts. Any
newer anchor reveals an old copy of the ledger; naming another place for the anchor hides nothing.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

from dpselect.errors import InvalidParameter
from dpselect.ledger.anchor import (
    AnchorState,
    anchor_exists,
    anchor_missing,
    create_anchor,
    read_anchor,
    refuse_existing_anchor,
)
from dpselect.ledger.database import LedgerDatabase
from dpselect.ledger.locations import Place, database_at, local_file
from dpselect.ledger.verified_log import VerifiedLog


@dataclass(frozen=True)
class AnchorPlaces:
    """Where the anchors of one ledger lie."""

    main: Path
    """The anchor that each charge moves forwards."""
    others: tuple[Path, ...]
    """Anchors that may be absent. If one is there, the ledger must not be behind it either."""

    @classmethod
    def of(cls, log: VerifiedLog, named: Path | None) -> Self:
        """Find the main place: the one that is named, else the one in the header, else the companion file."""
        chosen, database = log.header.anchor, log.database
        own = [Path(chosen)] if chosen else []
        if not (chosen and database.shared):
            own.append(database.anchor())
        main = named or own[0]
        # A read-only snapshot may be older than the anchor that its ledger moved on elsewhere.
        ignored = () if database.writable() else tuple(own[:-1])
        return cls(main, tuple(each for each in own if each != main and each not in ignored))

    def states(self) -> list[AnchorState]:
        """Read all anchors. The ledger is read after them, so it can only have grown since."""
        return [read_anchor(self.main), *self._other_states()]

    def _other_states(self) -> list[AnchorState]:
        return [read_anchor(each) for each in self.others if os.access(each, os.R_OK)]

    def with_main_written(
        self, log: VerifiedLog, named: Path | None, trusted: Literal["as found", "by its anchor"]
    ) -> Self:
        """Write the main anchor if it is absent and may be written.

        A ledger that is trusted as found gets one. A ledger that only its anchor can vouch for gets one in
        its own place alone, in two cases: it has no entries, or it lies on a server and this user opens it
        for the first time (each user has an anchor).
        """
        if anchor_exists(self.main):
            return self
        ends = log.verify(*self._other_states())
        in_place = self.main == AnchorPlaces.of(log, None).main
        first_time = log.database.shared and not named and not log.header.anchor
        empty = not (ends.entries.number or ends.answers.number)
        if trusted == "by its anchor" and not (in_place and (empty or first_time)):
            raise anchor_missing(self.main)
        create_anchor(self.main, ends)
        return self


def refuse_existing_anchors(database: LedgerDatabase, named: Path | None) -> None:
    """Refuse to make a ledger where an anchor lies: it may belong to a ledger that was lost."""
    places = [] if named is None else [named]
    if not database.shared:
        places.append(database.anchor())
    for place in places:
        refuse_existing_anchor(place, database.place)


def found_ledger(path_or_url: Place, anchor: Place | None) -> tuple[Path | None, VerifiedLog]:
    """Find a ledger that must be there, and the place that is named for its anchor."""
    place = None if anchor is None else local_file(anchor, "the anchor")
    database = database_at(path_or_url)
    if not database.exists():
        raise InvalidParameter(
            f"a ledger must be there to be opened; there is none at {database.place!r}. "
            "Make one: Ledger.create(...)."
        )
    return place, VerifiedLog.of(database)
