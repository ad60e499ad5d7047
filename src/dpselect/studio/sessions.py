"""Sessions of browsers: eight hours from a log-in; and links that sign in once: no key is in a URL."""

from __future__ import annotations

from dataclasses import dataclass

from dpselect.studio.keys import SECRET, Keys, LiveKey, digest_of, new_secret
from dpselect.studio.state import State

SESSION_SECONDS = 8 * 3600
LINK_SECONDS = 15 * 60
COOKIE = "__Host-dpselect"


@dataclass(frozen=True)
class Session:
    """A browser that is logged in: whose key it was, and the token that its forms carry."""

    key: LiveKey
    token: str


class Sessions:
    """The sessions of a studio; the cookie's SHA-256 is kept."""

    def __init__(self, state: State, keys: Keys) -> None:
        """Keep them in the studio's state."""
        self._state, self._keys = state, keys

    def begin(self, key: LiveKey) -> str:
        """Log in; give the cookie."""
        cookie, now = new_secret(), self._state.now()
        with self._state.writing():
            self._state.write("delete from sessions where expires <= ?", [now])
            self._state.write(
                "insert into sessions values (?, ?, ?, ?)",
                [digest_of(cookie), key.id, new_secret(), now + SESSION_SECONDS],
            )
        return cookie

    def find(self, cookie: str) -> Session | None:
        """Find the session of a cookie, if neither it nor its key has ended."""
        if not SECRET.fullmatch(cookie):
            return None
        row = self._state.row(
            "select * from sessions where digest = ? and expires > ?", [digest_of(cookie), self._state.now()]
        )
        key = None if row is None else self._keys.by_id(row["key"])
        return None if row is None or key is None else Session(key, row["token"])

    def end(self, cookie: str) -> None:
        """Log out."""
        self._state.write("delete from sessions where digest = ?", [digest_of(cookie)])

    def link(self, key: LiveKey) -> str:
        """Make the secret of a link that signs in once, within a quarter of an hour."""
        secret = new_secret()
        self._state.write(
            "insert into links values (?, ?, ?)",
            [digest_of(secret), key.id, self._state.now() + LINK_SECONDS],
        )
        return secret

    def follow(self, secret: str) -> str | None:
        """Use a link up; give the cookie of a new session, or None where the link is not, or no more, one."""
        with self._state.writing():
            row = self._state.row("select * from links where digest = ?", [digest_of(secret)])
            self._state.write("delete from links where digest = ?", [digest_of(secret)])
        key = None if row is None or row["expires"] <= self._state.now() else self._keys.by_id(row["key"])
        return None if key is None else self.begin(key)
