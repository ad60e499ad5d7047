"""Keys: 32 random bytes that say who asks. Each is shown once; the studio keeps its SHA-256 alone."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from dpselect.errors import InvalidParameter
from dpselect.exact.randomness import system
from dpselect.studio.refusals import Refused
from dpselect.studio.state import State

Role: TypeAlias = Literal["analyst", "curator", "auditor"]
ROLES: tuple[Role, ...] = get_args(Role)
KEY_WORDS, WORD_BYTES = 4, 8
"""Words of 64 random bits in a key: 32 bytes."""
SECRET = re.compile(r"[A-Za-z0-9_-]{43}")
NAME_OF_A_KEY = re.compile(r"[^\W_][\w .@-]{0,63}")


@dataclass(frozen=True)
class LiveKey:
    """A key that may be used now: who it names, and what they may do. It does not hold the secret."""

    id: int
    name: str
    role: Role


@dataclass(frozen=True)
class KeyFacts:
    """A key as its curator sees it."""

    id: int
    name: str
    role: Role
    state: Literal["live", "expired", "revoked"]
    expires: float | None


def new_secret() -> str:
    """Draw 32 random bytes, as text."""
    words = system().words(KEY_WORDS)
    return urlsafe_b64encode(words.tobytes()).decode("ascii").rstrip("=")


def digest_of(secret: str) -> str:
    """Give what is kept of a secret."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


class Keys:
    """The keys of a studio."""

    def __init__(self, state: State) -> None:
        """Keep them in the studio's state."""
        self._state = state

    def create(self, name: str, role: str, *, days: int | None = None) -> str:
        """Make a key and give its secret, which is not kept. A name has one live key at a time."""
        if role not in ROLES:
            raise InvalidParameter.must_be("role", "analyst, curator or auditor", got=role)
        if not NAME_OF_A_KEY.fullmatch(name) or not name.isprintable():
            raise InvalidParameter.must_be(
                "name", "1 to 64 letters, digits, spaces or . @ - _", got=name, way_out="Take another name."
            )
        if days is not None and not 1 <= days <= 3650:
            raise InvalidParameter.must_be("days", "a whole number from 1 to 3650", got=days)
        secret, now = new_secret(), self._state.now()
        with self._state.writing():
            named = self._state.rows("select * from keys where name = ?", [name])
            if any(_state_of(each, now) == "live" for each in named):
                raise InvalidParameter.must_be(
                    "name", "one without a live key", got=name, way_out="Revoke that key first."
                )
            if any(each["role"] != role for each in named):
                raise InvalidParameter.must_be("name", "one that had no other role before", got=name)
            self._state.write(
                "insert into keys (name, role, digest, created, expires) values (?, ?, ?, ?, ?)",
                [name, role, digest_of(secret), now, None if days is None else now + days * 86_400],
            )
        return secret

    def find(self, secret: str) -> LiveKey | None:
        """Find the live key of a secret; None whatever else is wrong with it."""
        if not SECRET.fullmatch(secret):
            return None
        return self._live(self._state.rows("select * from keys where digest = ?", [digest_of(secret)]))

    def by_id(self, number: int) -> LiveKey | None:
        """Find a live key by its number."""
        return self._live(self._state.rows("select * from keys where id = ?", [number]))

    def named(self, name: str) -> LiveKey | None:
        """Find the live key of a name."""
        return self._live(self._state.rows("select * from keys where name = ?", [name]))

    def any_of_role(self, role: Role) -> bool:
        """Say whether there is a live key of this role."""
        return any((each.role, each.state) == (role, "live") for each in self.all())

    def replace(self, name: str, role: Role) -> str:
        """Make a key of a name whose secret was lost: the one it had is revoked."""
        with self._state.writing():
            lost = self.named(name)
            if lost is not None:
                self._revoked(lost.id)
            return self.create(name, role)

    def revoke(self, number: int) -> bool:
        """Revoke a key for good, and end its sessions; say whether there was one to revoke."""
        with self._state.writing():
            curators = [each.id for each in self.all() if (each.role, each.state) == ("curator", "live")]
            if curators == [number]:
                raise Refused(
                    409,
                    "this is the only key of a curator: no one could make another. Make one first.",
                )
            return self._revoked(number)

    def _revoked(self, number: int) -> bool:
        with self._state.writing():
            done = self._state.write(
                "update keys set revoked = ? where id = ? and revoked is null", [self._state.now(), number]
            )
            self._state.write("delete from sessions where key = ?", [number])
            self._state.write("delete from links where key = ?", [number])
        return done > 0

    def all(self) -> list[KeyFacts]:
        """List the keys, the newest first."""
        now = self._state.now()
        return [
            KeyFacts(each["id"], each["name"], each["role"], _state_of(each, now), each["expires"])
            for each in self._state.rows("select * from keys order by id desc")
        ]

    def _live(self, rows: list[sqlite3.Row]) -> LiveKey | None:
        now = self._state.now()
        live = [row for row in rows if _state_of(row, now) == "live"]
        return LiveKey(live[0]["id"], live[0]["name"], live[0]["role"]) if live else None


def _state_of(row: sqlite3.Row, now: float) -> Literal["live", "expired", "revoked"]:
    if row["revoked"] is not None:
        return "revoked"
    return "expired" if row["expires"] is not None and row["expires"] <= now else "live"
