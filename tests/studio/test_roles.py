"""Who may ask for what: every cell of the table of routes, asked over HTTP."""

from __future__ import annotations

import re

import pytest

from dpselect.studio.roles import RULES, Rule
from tests.studio.running import Client, Running

ROLE_OF = {"ada": "analyst", "cleo": "curator", "otto": "auditor"}
NEEDS_KEY = [rule for rule in RULES if rule.roles is not None]
FOR_ALL = {
    ("GET", "/health"),
    ("GET", "/openapi.json"),
    ("GET", "/static/{file}"),
    ("GET", "/login"),
    ("POST", "/login"),
    ("GET", "/welcome/{secret}"),
    ("GET", "/classroom"),
    ("GET", "/"),
    ("GET", "/api/classroom"),
}
BODIES = [
    (b"", {}),
    (b"{", {"Content-Type": "application/json"}),
    (b"x" * 100, {"Content-Type": "text/plain", "Content-Length": "1000000000000"}),
    (b"5\r\nhello\r\n0\r\n\r\n", {"Transfer-Encoding": "chunked", "Content-Type": "application/json"}),
]
UNFINISHED = (b"5\r\nhello\r\n", {"Transfer-Encoding": "chunked", "Content-Type": "application/json"})


def path_of(rule: Rule) -> str:
    return re.sub(r"{\w+}", "99999", rule.path)


def called(rule: Rule) -> str:
    return f"{rule.method} {rule.path}"


def client_of(shared: Running, rule: Rule, name: str) -> Client:
    return shared.as_(name) if rule.is_api else shared.browser(name)


def test_only_these_routes_are_for_all() -> None:
    assert {(rule.method, rule.path) for rule in RULES if rule.roles is None} <= FOR_ALL


@pytest.mark.parametrize("rule", NEEDS_KEY, ids=called)
def test_f1_without_a_live_key_no_route_answers_whatever_the_body(shared: Running, rule: Rule) -> None:
    told = set()
    for name in ("expired", "revoked", "nobody's", "long", "none"):
        secret = {**shared.keys, "nobody's": "A" * 43, "long": "A" * 10_000, "none": None}[name]
        client = Client(shared.port, key=secret, cookie=secret)
        for body, headers in [BODIES[0]] if rule.method == "GET" else [*BODIES, UNFINISHED]:
            answer = client.ask(rule.method, path_of(rule), body or None, headers)
            told.add((answer.status, answer.text))
    assert len(told) == 1
    ((status, text),) = told
    assert status == 401
    assert "a key is needed" in text.lower()


@pytest.mark.parametrize("rule", NEEDS_KEY, ids=called)
def test_f2_a_route_answers_the_roles_of_its_row_and_no_other(shared: Running, rule: Rule) -> None:
    for name, role in ROLE_OF.items():
        if rule.answer == "pages.log_out":
            continue
        client = client_of(shared, rule, name)
        for body, headers in BODIES[: 1 if rule.method == "GET" else None]:
            status = client.ask(rule.method, path_of(rule), body or None, headers).status
            assert rule.roles is not None
            assert (status == 403) == (role not in rule.roles), (name, status)
            assert status not in (401, 500)


def test_a_key_is_checked_where_there_is_no_route(shared: Running) -> None:
    for path in ("/nothing", "/api/nothing", "/static/../keys", "//ask", "/API/ledger"):
        assert shared.anyone.get(path).status == 401
    assert shared.as_("ada").get("/api/nothing").status == 404
    assert shared.as_("ada").ask("PUT", "/api/quotes").status == 405
    assert shared.anyone.ask("PUT", "/api/quotes").status == 401


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("TRACE", "/api/quotes", "POST"),
        ("PUT", "/api/releases", "GET, HEAD, POST"),
        ("PATCH", "/api/keys/1", "DELETE"),
        ("DELETE", "/health", "GET, HEAD"),
        ("POST", "/openapi.json", "GET, HEAD"),
        ("PUT", "/login", "GET, HEAD, POST"),
        ("DELETE", "/classroom", "GET, HEAD"),
    ],
)
def test_a_refused_method_says_which_ones_there_are(
    shared: Running, method: str, path: str, allow: str
) -> None:
    told = shared.as_("cleo").ask(method, path)
    assert (told.status, told.headers["allow"]) == (405, allow)
    assert shared.anyone.ask(method, path).status == (401 if path.startswith("/api") else 405)
    if path in ("/health", "/openapi.json"):
        assert set(told.json) == {"error"}


def test_a_bearer_key_opens_no_page_and_a_cookie_no_api(shared: Running) -> None:
    browser = shared.browser("ada")
    assert (browser.get("/history").status, browser.get("/api/ledger").status) == (200, 401)
    program = shared.as_("ada")
    assert (program.get("/history").status, program.get("/api/ledger").status) == (401, 200)


def test_the_address_alone_leads_to_the_first_page_of_a_role_and_all_others_to_the_log_in(
    shared: Running,
) -> None:
    places = {"ada": "/ask", "cleo": "/data", "otto": "/audit"}
    for name, place in places.items():
        told = shared.browser(name).get("/")
        assert (told.status, told.headers["location"]) == (303, place)
    for client in (shared.anyone, Client(shared.port, cookie="A" * 43), shared.as_("ada")):
        told = client.get("/")
        assert (told.status, told.headers["location"]) == (303, "/login")


def test_f14_who_logs_in_gets_the_page_that_was_wanted_and_no_page_of_another_place(shared: Running) -> None:
    asked = "/ask?question=top&epsilon=0.5&x=%3Cb%3E"
    told = shared.anyone.get(asked)
    assert told.status == 401
    assert f'name="wanted" value="{asked.replace("&", "&amp;")}"' in told.text
    strange = (
        "//example.org/ask",
        "https://example.org/ask",
        "/\\example.org",
        "/keys",
        "/api/ledger",
        "/ask\r\nx:y",
        "",
    )
    for wanted, place in [(asked, asked), *((each, "/") for each in strange)]:
        told = shared.anyone.send("/login", key=shared.keys["ada"], wanted=wanted)
        assert (told.status, told.headers["location"]) == (303, place), wanted
    assert 'name="wanted"' not in shared.anyone.get("/login").text
    assert 'name="wanted"' not in shared.anyone.get("/welcome/secret").text


def test_the_api_says_which_key_it_takes(shared: Running) -> None:
    assert shared.anyone.get("/api/ledger").headers["www-authenticate"] == "Bearer"


def test_the_classroom_keeps_those_who_are_logged_in_at_their_own_pages(shared: Running) -> None:
    assert "Log out" in shared.browser("ada").get("/classroom").text
    assert "Log out" not in shared.anyone.get("/classroom").text


def test_routes_for_all_need_no_key(shared: Running) -> None:
    for path in ("/health", "/openapi.json", "/login"):
        assert shared.anyone.get(path).status == 200
