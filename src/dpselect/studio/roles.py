"""Who may ask for what: the one table from which the router is built, and the test of every cell.

Everything is denied that is not in the table. A path below ``/api`` takes a bearer key; every other one that
is not for all takes the cookie of a session.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from re import Pattern
from typing import Literal

from starlette.routing import compile_path

from dpselect.studio.keys import Role

ANALYST: frozenset[Role] = frozenset({"analyst"})
CURATOR: frozenset[Role] = frozenset({"curator"})
READERS: frozenset[Role] = frozenset({"curator", "auditor"})
WITH_KEY: frozenset[Role] = frozenset({"analyst", "curator", "auditor"})


@dataclass(frozen=True)
class Rule:
    """One route: its method, its path, who may ask it (None: all, without a key), and what answers."""

    method: Literal["GET", "POST", "DELETE"]
    path: str
    roles: frozenset[Role] | None
    answer: str

    @cached_property
    def pattern(self) -> Pattern[str]:
        """What the path matches."""
        return compile_path(self.path)[0]

    @property
    def is_api(self) -> bool:
        """Whether it takes a bearer key, and answers in JSON."""
        return self.path.startswith("/api/")


FOR_ALL_AS_WHO_THEY_ARE = ("/", "/classroom")
"""Paths for all that show those who are logged in their own pages in the head, or send them there."""
RULES = (
    # For all.
    Rule("GET", "/health", None, "pages.health"),
    Rule("GET", "/openapi.json", None, "api.document"),
    Rule("GET", "/static/{file}", None, "pages.static"),
    Rule("GET", "/login", None, "pages.login"),
    Rule("POST", "/login", None, "pages.log_in"),
    Rule("GET", "/welcome/{secret}", None, "pages.welcome"),
    Rule("GET", "/classroom", None, "pages.classroom"),
    Rule("GET", "/", None, "pages.home"),
    # Pages.
    Rule("POST", "/logout", WITH_KEY, "pages.log_out"),
    Rule("GET", "/ask", ANALYST, "pages.ask"),
    Rule("GET", "/quote", ANALYST, "pages.quote"),
    Rule("POST", "/answers", ANALYST, "pages.pay"),
    Rule("GET", "/answers/{id}", ANALYST, "pages.answer"),
    Rule("GET", "/answers/{id}/{form}", ANALYST, "pages.export"),
    Rule("GET", "/history", ANALYST, "pages.history"),
    Rule("GET", "/data", READERS, "curating.data_sets"),
    Rule("POST", "/data", CURATOR, "curating.register"),
    Rule("GET", "/data/{name}", READERS, "curating.data_set"),
    Rule("POST", "/data/{name}/shares", CURATOR, "curating.share"),
    Rule("POST", "/data/{name}/lists", CURATOR, "curating.public_list"),
    Rule("POST", "/data/{name}/bounds", CURATOR, "curating.public_bounds"),
    Rule("GET", "/data/{name}/ledger", READERS, "curating.export"),
    Rule("GET", "/keys", CURATOR, "curating.keys"),
    Rule("POST", "/keys", CURATOR, "curating.make_key"),
    Rule("POST", "/keys/{id}/revoke", CURATOR, "curating.revoke_key"),
    Rule("GET", "/audit", READERS, "curating.audit"),
    # Their twins.
    Rule("POST", "/api/quotes", ANALYST, "api.quote"),
    Rule("POST", "/api/releases", ANALYST, "api.release"),
    Rule("GET", "/api/releases", ANALYST, "api.history"),
    Rule("GET", "/api/releases/{id}", ANALYST, "api.answer"),
    Rule("GET", "/api/ledger", WITH_KEY, "api.ledger"),
    Rule("GET", "/api/classroom", WITH_KEY, "api.classroom"),
    Rule("GET", "/api/data", WITH_KEY, "api.data_sets"),
    Rule("POST", "/api/data", CURATOR, "api.register"),
    Rule("GET", "/api/data/{name}", WITH_KEY, "api.data_set"),
    Rule("POST", "/api/data/{name}/shares", CURATOR, "api.share"),
    Rule("POST", "/api/data/{name}/lists", CURATOR, "api.public_list"),
    Rule("POST", "/api/data/{name}/bounds", CURATOR, "api.public_bounds"),
    Rule("GET", "/api/keys", CURATOR, "api.keys"),
    Rule("POST", "/api/keys", CURATOR, "api.make_key"),
    Rule("DELETE", "/api/keys/{id}", CURATOR, "api.revoke_key"),
    Rule("GET", "/api/audit", READERS, "api.audit"),
)


def rule_of(method: str, path: str) -> tuple[Rule | None, dict[str, str], frozenset[str]]:
    """Find the route of a request: the rule, the parts of its path, and the methods that the path knows."""
    asked = "GET" if method == "HEAD" else method
    known = [(rule, found) for rule in RULES for found in [rule.pattern.match(path)] if found]
    methods = frozenset(rule.method for rule, _ in known)
    for rule, found in known:
        if rule.method == asked:
            return rule, found.groupdict(), methods
    return None, {}, methods


def is_for_all(path: str) -> bool:
    """Say whether an address needs no key, with whatever method.

    >>> is_for_all("/health"), is_for_all("/api/keys"), is_for_all("/nothing")
    (True, False, False)
    """
    return any(rule.roles is None and rule.pattern.match(path) for rule in RULES)


def page_at(address: str) -> Rule | None:
    """Find the page for some roles that an address within this studio names; None for any other address.

    >>> page_at("/ask?epsilon=1").answer, page_at("//ask"), page_at("/api/keys")
    ('pages.ask', None, None)
    """
    rule, _, _ = rule_of("GET", address.partition("?")[0])
    fits = rule is not None and rule.roles is not None and not rule.is_api
    return rule if fits and address.isprintable() and "\\" not in address else None
