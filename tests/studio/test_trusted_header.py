"""A proxy that names who asks: it is believed where that was asked for, for the pages alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from dpselect.errors import InvalidParameter
from dpselect.studio.settings import Settings
from tests.studio.running import Client, Running, furnish, running, write_meals
from tests.studio.test_guards import raw

HEADER = "X-Forwarded-User"


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Running]:
    folder = tmp_path.resolve()
    with running(folder, behind_proxy="", trusted_header=HEADER) as started:
        furnish(started, write_meals(folder / "meals.csv"))
        yield started


def named(run: Running, name: str | bytes) -> Client:
    text = name if isinstance(name, str) else name.decode("latin-1")
    return Client(run.port, headers={HEADER: text})


def signed_in(run: Running, name: str) -> Client:
    """Follow the way of a browser: to the page, to the log-in, back with a cookie."""
    browser = named(run, name)
    first = browser.get("/ask?epsilon=1%2F8")
    assert (first.status, first.headers["location"]) == (303, "/login?wanted=%2Fask%3Fepsilon%3D1%252F8")
    second = browser.get(first.headers["location"])
    assert second.status == 303
    cookie = second.headers["set-cookie"].partition("=")[2].partition(";")[0]
    return replace(browser, cookie=cookie)


def test_who_is_named_by_the_proxy_needs_no_key_on_pages(run: Running) -> None:
    told = signed_in(run, "ada").get("/ask")
    assert told.status == 200
    assert "ada, analyst" in told.text


@pytest.mark.parametrize("name", ["", "no_one", "revoked", "expired", "ada; cleo", "ada\xff", "ADA"])
def test_f1_no_one_is_signed_in_without_a_live_key_of_that_name(run: Running, name: str) -> None:
    told = named(run, name).get("/login")
    assert told.status == 200
    assert "set-cookie" not in told.headers
    assert "Ask your curator for a key of that name" in told.text


def test_f1_a_header_that_is_sent_twice_names_no_one(run: Running) -> None:
    head = f"GET /login HTTP/1.1\r\nHost: 127.0.0.1:{run.port}\r\nConnection: close\r\n"
    for names in (("ada",), ("ada", "ada"), ("cleo", "ada")):
        sent = head + "".join(f"{HEADER}: {name}\r\n" for name in names) + "\r\n"
        told = raw(run.port, sent.encode())
        assert (b"set-cookie" in told.lower()) == (names == ("ada",))


def test_f1_a_session_is_of_who_is_named_and_of_no_one_else(run: Running) -> None:
    ada = signed_in(run, "ada")
    for other in ("bob", "cleo", "no_one", ""):
        assert replace(ada, headers={HEADER: other}).get("/ask").status == 303
    assert replace(ada, headers={}).get("/ask").status == 303
    (key,) = (each.id for each in run.studio.keys.all() if each.name == "ada")
    run.studio.keys.revoke(key)
    assert ada.get("/ask").status == 303


def test_f2_the_name_gives_the_role_of_its_key(run: Running) -> None:
    ada = signed_in(run, "ada")
    assert ada.get("/keys").status == 403
    assert ada.get("/data").status == 403


def test_a_key_of_another_person_does_not_log_in(run: Running) -> None:
    browser = Client(run.port, headers={HEADER: "ada", "Origin": f"https://127.0.0.1:{run.port}"})
    words = f"key={run.keys['cleo']}"
    told = browser.ask("POST", "/login", words, {"Content-Type": "application/x-www-form-urlencoded"})
    assert (told.status, "set-cookie" in told.headers) == (403, False)


def test_the_api_takes_keys_alone(run: Running) -> None:
    assert named(run, "ada").get("/api/ledger").status == 401
    assert run.as_("ada").get("/api/ledger").status == 200


def test_no_header_is_believed_unless_that_was_asked_for(shared: Running) -> None:
    told = Client(shared.port, headers={HEADER: "ada"}).get("/login")
    assert (told.status, "set-cookie" in told.headers) == (200, False)


@pytest.mark.parametrize(
    "given",
    [
        {"trusted_header": HEADER},
        {"trusted_header": "", "behind_proxy": ""},
        {"trusted_header": "Cookie", "behind_proxy": ""},
        {"trusted_header": "Sec-Fetch-Site", "behind_proxy": ""},
        {"trusted_header": "X User", "behind_proxy": ""},
    ],
    ids=str,
)
def test_a_header_that_anyone_may_send_cannot_be_trusted(tmp_path: Path, given: dict[str, str]) -> None:
    with pytest.raises(InvalidParameter, match="trusted_header"):
        Settings(folder=tmp_path, **given)  # type: ignore[arg-type]
