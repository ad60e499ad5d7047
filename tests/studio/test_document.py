"""The served document is true: whatever fits it, and whatever nearly does, is answered as it says."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpselect.studio.openapi import openapi_document
from tests.studio.running import VOTE, Running, Told

DOCUMENT = openapi_document()
OPERATIONS = [
    (method, path, operation)
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
]
KNOWN = [
    "meals",
    "dish",
    "pays",
    "guest",
    "tea",
    "soup",
    "ada",
    "bob",
    "1",
    "1/8",
    "0",
    "-1",
    "5",
    "2e9",
    "0.5",
]
KNOWN += ["99 %", "auto", "none", "row", "/etc/passwd", "9" * 390, "1e-400", "1/3", "0.25,0.5", "", " ", "\0"]
"""Words that lead further than chance would."""
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
FEW, MANY = 15, 250


def schema_of(given_one: dict[str, Any]) -> dict[str, Any]:
    """Follow a reference."""
    name = given_one.get("$ref", "").rpartition("/")[2]
    return DOCUMENT["components"]["schemas"][name] if name else given_one


def fitting(described: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Make values that a schema describes."""
    schema = schema_of(described)
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if schema["type"] == "string":
        if "pattern" in schema:
            return st.from_regex(schema["pattern"], fullmatch=True)
        longest = schema.get("maxLength", 60)
        return st.sampled_from([word for word in KNOWN if len(word) <= longest]) | st.text(max_size=longest)
    if schema["type"] == "boolean":
        return st.booleans()
    if schema["type"] == "array":
        return st.lists(fitting(schema["items"]), max_size=5)
    assert schema["type"] == "object", schema
    parts = {name: fitting(each) for name, each in schema["properties"].items()}
    needed = {name: parts.pop(name) for name in schema.get("required", ())}
    return st.fixed_dictionaries(needed, optional=parts)


def near(known: dict[str, Any], described: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Make a body that fits and is known to be granted, with at most two of its values changed."""
    parts = schema_of(described)["properties"]
    if not known.keys() <= parts.keys():
        return st.nothing()
    changes = st.lists(st.sampled_from([*parts]), max_size=2).flatmap(
        lambda names: st.fixed_dictionaries({name: fitting(parts[name]) for name in names})
    )
    return changes.map(lambda changed: {**known, **changed})


def spoiled(words: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Make a body that nearly fits: one value is of any kind, or one name too many, or it is no object."""
    names = [*words, "another"]
    return st.builds(lambda name, value: {**words, name: value}, st.sampled_from(names), VALUES) | VALUES


def is_described(value: Any, described: dict[str, Any]) -> bool:
    """Say whether a value is as a schema describes it."""
    schema = schema_of(described)
    kind = {"string": str, "boolean": bool, "array": list, "object": dict}[schema["type"]]
    if not isinstance(value, kind):
        return False
    if not isinstance(value, dict):
        return True
    parts = schema.get("properties", {})
    if schema.get("additionalProperties") is False and not value.keys() <= parts.keys():
        return False
    return set(schema.get("required", ())) <= value.keys() and all(
        is_described(each, parts[name]) for name, each in value.items() if name in parts
    )


def must_be_as_documented(told: Told, operation: dict[str, Any]) -> None:
    """Check status, type and form of a response against the document."""
    assert str(told.status) in operation["responses"], (told.status, told.text)
    content = operation["responses"][str(told.status)].get("content", {})
    if not content:
        assert told.text == ""
        return
    assert told.headers["content-type"] in content
    assert is_described(told.json, content["application/json"]["schema"]), told.text


def walked(shared: Running, method: str, path: str, operation: dict[str, Any], examples: int) -> None:
    """Ask one operation in many ways, with each key."""
    described = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    given_words = operation.get("parameters", [])
    places = {each["name"]: fitting(each["schema"]) for each in given_words if each["in"] == "path"}
    asked = {each["name"]: fitting(each["schema"]) for each in given_words if each["in"] == "query"}
    bodies: st.SearchStrategy[Any] = st.none()
    if described is not None:
        bodies = near(VOTE, described) | fitting(described).flatmap(lambda it: st.just(it) | spoiled(it))

    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(
        who=st.sampled_from([None, "ada", "cleo", "otto", "expired"]),
        parts=st.fixed_dictionaries(places),
        query=st.fixed_dictionaries({}, optional=asked),
        body=bodies,
    )
    def one(who: str | None, parts: dict[str, str], query: dict[str, str], body: Any) -> None:
        where = path
        for name, value in parts.items():
            where = where.replace(f"{{{name}}}", quote(value, safe="") or "none")
        where += f"?{urlencode(query)}" if query else ""
        client = shared.anyone if who is None else shared.as_(who)
        text = None if described is None else json.dumps(body)
        told = client.ask(method.upper(), where, text, {"Content-Type": "application/json"} if text else None)
        must_be_as_documented(told, operation)

    one()


@pytest.mark.parametrize(
    ("method", "path", "operation"), OPERATIONS, ids=lambda it: it if isinstance(it, str) else ""
)
def test_every_operation_is_answered_as_the_document_says(
    shared: Running, method: str, path: str, operation: dict[str, Any]
) -> None:
    walked(shared, method, path, operation, FEW)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "path", "operation"), OPERATIONS, ids=lambda it: it if isinstance(it, str) else ""
)
def test_every_operation_is_answered_as_the_document_says_in_hundreds_of_ways(
    shared: Running, method: str, path: str, operation: dict[str, Any]
) -> None:
    walked(shared, method, path, operation, MANY)
