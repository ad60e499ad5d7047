"""The pages of curators and auditors: data sets, shares, keys, ledgers. They show no data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from starlette.responses import PlainTextResponse, RedirectResponse, Response

from dpselect.errors import BudgetExhausted, DpselectError, InvalidParameter
from dpselect.studio import curator, facts
from dpselect.studio.data_sets import DataSets
from dpselect.studio.front import Visit
from dpselect.studio.keys import ROLES, Keys
from dpselect.studio.refusals import Refused
from dpselect.studio.templates import Templates


class Curating:
    """What answers a curator's browser, and an auditor's."""

    def __init__(self, templates: Templates, keys: Keys, data_sets: DataSets) -> None:
        """Take the parts of the studio."""
        self._templates, self._keys, self._data_sets = templates, keys, data_sets

    def data_sets(self, visit: Visit) -> Response:
        """Show all data sets."""
        return self._all(visit)

    def _all(self, visit: Visit, problem: str = "", status: int = 200) -> Response:
        cards = []
        for each in self._data_sets.all():
            try:
                cards.append(facts.ledger_facts(each, self._data_sets.ledger(each)))
            except (DpselectError, Refused):
                cards.append({"data_set": each.name, "problem": True, "entries": [], "accounts": []})
        return self._templates.page(
            "data_sets.html",
            visit,
            title="Data sets",
            status=status,
            cards=cards,
            has_roots=bool(self._data_sets.roots),
            problem=problem,
            words=visit.words,
        )

    def register(self, visit: Visit) -> Response:
        """Register a data set."""
        try:
            made = curator.register_data_set(self._data_sets, visit.words)
        except (DpselectError, Refused) as refused:
            return self._all(visit, _said(refused), 400)
        return RedirectResponse(f"/data/{made.name}", status_code=303)

    def data_set(self, visit: Visit) -> Response:
        """Show one data set: its columns, shares and charges."""
        return self._one(visit)

    def _one(self, visit: Visit, problem: str = "", status: int = 200) -> Response:
        found = self._data_sets.find(visit.parts["name"])
        columns: list[dict[str, str]] = []
        try:
            columns = facts.schema_facts(self._data_sets.schema(found))
        except Refused as refused:
            problem = problem or refused.sentence
        return self._templates.page(
            "data_set.html",
            visit,
            title=found.name,
            above="Data sets",
            status=status,
            data_set=found,
            columns=columns,
            lists=self._data_sets.lists(found),
            bounds=self._data_sets.bounds(found),
            ledger=facts.ledger_facts(found, self._data_sets.ledger(found)),
            analysts=[key.name for key in self._keys.all() if key.role == "analyst" and key.state == "live"],
            problem=problem,
        )

    def share(self, visit: Visit) -> Response:
        """Give an analyst a share."""
        return self._changed(
            visit,
            lambda: curator.give_share(self._data_sets, self._keys, visit.parts["name"], visit.words),
        )

    def public_list(self, visit: Visit) -> Response:
        """Offer the public candidates of a column."""
        return self._changed(
            visit, lambda: curator.offer_list(self._data_sets, visit.parts["name"], visit.words)
        )

    def public_bounds(self, visit: Visit) -> Response:
        """Offer the public bounds of a column of numbers."""
        return self._changed(
            visit, lambda: curator.offer_bounds(self._data_sets, visit.parts["name"], visit.words)
        )

    def _changed(self, visit: Visit, act: Callable[[], Any]) -> Response:
        try:
            act()
        except DpselectError as refused:
            return self._one(visit, _said(refused), 400)
        return RedirectResponse(f"/data/{visit.parts['name']}", status_code=303)

    def export(self, visit: Visit) -> Response:
        """Give the ledger as lines of JSON that prove themselves, without its answers."""
        found = self._data_sets.find(visit.parts["name"])
        text = "".join(self._data_sets.ledger(found).export())
        return PlainTextResponse(
            text, headers={"content-disposition": f'attachment; filename="{found.name}.jsonl"'}
        )

    def keys(self, visit: Visit) -> Response:
        """Show the keys, without their secrets."""
        return self._all_keys(visit)

    def _all_keys(self, visit: Visit, *, problem: str = "", made: Any = None, status: int = 200) -> Response:
        listed = [facts.key_json(each) for each in self._keys.all()]
        return self._templates.page(
            "keys.html",
            visit,
            title="Keys",
            status=status,
            keys=listed,
            roles=ROLES,
            made=made,
            problem=problem,
        )

    def make_key(self, visit: Visit) -> Response:
        """Make a key, and show its secret this once."""
        try:
            name, secret = curator.new_key(self._keys, visit.words)
        except InvalidParameter as refused:
            return self._all_keys(visit, problem=str(refused), status=400)
        return self._all_keys(visit, made={"name": name, "key": secret})

    def revoke_key(self, visit: Visit) -> Response:
        """Revoke a key."""
        try:
            curator.revoke_key(self._keys, visit.parts["id"])
        except Refused as refused:
            if refused.status == 404:
                raise
            return self._all_keys(visit, problem=refused.sentence, status=refused.status)
        return RedirectResponse("/keys", status_code=303)

    def audit(self, visit: Visit) -> Response:
        """Verify every ledger, and show what is in it."""
        checked = [self._data_sets.verified(each) for each in self._data_sets.all()]
        return self._templates.page("audit.html", visit, title="Audit", ledgers=checked)


def _said(refused: DpselectError | Refused) -> str:
    """Repeat what is about words and schemas; of other failures only that the file cannot be used."""
    if isinstance(refused, InvalidParameter | BudgetExhausted | Refused):
        return str(refused)
    return "this did not work: the file or the ledger could not be used. Look at it on the machine itself."
