"""What a curator does, from the words of a form or of a JSON object; pages and API share it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpselect.errors import InvalidParameter
from dpselect.ledger import Account
from dpselect.studio.asked_question import labels_of
from dpselect.studio.data_sets import DataSet, DataSets, NewDataSet
from dpselect.studio.keys import Keys
from dpselect.studio.offered import BOUNDS
from dpselect.studio.refusals import not_found

LONGEST_FIELD = 1_000
"""Characters of a field."""


def fields_of(words: Mapping[str, Any], *names: str, needed: tuple[str, ...] = ()) -> dict[str, str]:
    """Read the fields of a form as texts, "" for one that is not there; no others may be given."""
    unknown = [name for name in words if name not in names]
    if unknown:
        raise InvalidParameter(f"there is no field {str(unknown[0])[:40]!r} here.")
    found = {}
    for name in names:
        value = words.get(name, "")
        text = "" if value is None or value is False else "on" if value is True else str(value).strip()
        if len(text) > LONGEST_FIELD:
            raise InvalidParameter(f"{name} must be at most {LONGEST_FIELD} characters long.")
        if not text and name in needed:
            raise InvalidParameter(f"{name} must be given.", parameter=name)
        found[name] = text
    return found


def register_data_set(data_sets: DataSets, words: Mapping[str, Any]) -> DataSet:
    """Register a data set."""
    given = fields_of(
        words,
        *("name", "path", "table", "unit", "epsilon", "about", "anchor", "neighbours"),
        needed=("name", "path", "unit", "epsilon"),
    )
    return data_sets.register(
        NewDataSet(
            name=given["name"],
            path=given["path"],
            unit=None if given["unit"] == "row" else given["unit"],
            epsilon=given["epsilon"],
            about=given["about"],
            table=given["table"] or None,
            anchor=given["anchor"] or None,
            neighbours=given["neighbours"] or "add_remove",
        )
    )


def give_share(data_sets: DataSets, keys: Keys, name: str, words: Mapping[str, Any]) -> Account:
    """Give an analyst a share of a data set's budget."""
    given = fields_of(words, "analyst", "epsilon", "reserve", needed=("analyst", "epsilon"))
    key = keys.named(given["analyst"])
    if key is None or key.role != "analyst":
        raise InvalidParameter.must_be(
            "analyst", "the name of a live analyst's key", got=given["analyst"], way_out="Make the key first."
        )
    found = data_sets.find(name)
    return data_sets.share(found, key.name, given["epsilon"], reserve=given["reserve"] == "on")


def offer_list(data_sets: DataSets, name: str, words: Mapping[str, Any]) -> DataSet:
    """Offer the public candidates of a column."""
    found = data_sets.find(name)
    given = fields_of({key: value for key, value in words.items() if key != "candidates"}, "column")
    data_sets.set_list(found, given["column"], labels_of(words.get("candidates", ())))
    return found


def offer_bounds(data_sets: DataSets, name: str, words: Mapping[str, Any]) -> DataSet:
    """Offer the public bounds of a column of numbers."""
    found = data_sets.find(name)
    given = fields_of(words, "column", *BOUNDS, needed=("column",))
    data_sets.set_bounds(found, given["column"], given)
    return found


def new_key(keys: Keys, words: Mapping[str, Any]) -> tuple[str, str]:
    """Make a key; give its name and its secret, which is shown once."""
    given = fields_of(words, "name", "role", "days", needed=("name", "role"))
    days = given["days"]
    if days and not (days.isascii() and days.isdigit() and len(days) <= 5):
        raise InvalidParameter.must_be("days", "a whole number from 1 to 3650", got=days)
    return given["name"], keys.create(given["name"], given["role"], days=int(days) if days else None)


def revoke_key(keys: Keys, given: str) -> None:
    """Revoke a key."""
    if not (given.isascii() and given.isdigit() and len(given) <= 12) or not keys.revoke(int(given)):
        raise not_found()
