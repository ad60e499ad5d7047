"""Keys and sessions end when they should, whatever the clock does; and what a studio says of itself."""

from __future__ import annotations

import http.client
import json
import re
import shutil
import ssl
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dpselect.errors import InvalidParameter
from dpselect.studio.app import Studio
from dpselect.studio.openapi import openapi_document
from dpselect.studio.roles import RULES
from dpselect.studio.sessions import LINK_SECONDS, SESSION_SECONDS
from dpselect.studio.settings import Settings
from tests.studio.running import VOTE, Running, furnish, running, write_meals

YEARS = 10 * 365 * 86_400.0


class Clock:
    """The clock of the wall, which can be set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.ahead = 0.0
        true = time.time
        monkeypatch.setattr("dpselect.studio.state.time.time", lambda: true() + self.ahead)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


@pytest.fixture
def studio(tmp_path: Path, clock: Clock) -> Iterator[Studio]:
    del clock
    with Studio(Settings(folder=tmp_path / "state")) as made:
        yield made


def test_a_session_lasts_eight_hours(studio: Studio, clock: Clock) -> None:
    studio.keys.create("ada", "analyst")
    ada = studio.keys.named("ada")
    assert ada is not None
    cookie, link = studio.sessions.begin(ada), studio.sessions.link(ada)
    clock.ahead = SESSION_SECONDS - 60
    assert SESSION_SECONDS == 8 * 3600
    assert studio.sessions.find(cookie) is not None
    assert LINK_SECONDS < SESSION_SECONDS
    assert studio.sessions.follow(link) is None
    clock.ahead = SESSION_SECONDS + 60
    assert studio.sessions.find(cookie) is None


def test_a_session_ends_with_its_key_and_with_a_log_out(studio: Studio) -> None:
    studio.keys.create("ada", "analyst")
    ada = studio.keys.named("ada")
    assert ada is not None
    first, second = studio.sessions.begin(ada), studio.sessions.begin(ada)
    studio.sessions.end(first)
    assert (studio.sessions.find(first), studio.sessions.find(second) is None) == (None, False)
    assert studio.keys.revoke(ada.id)
    assert studio.sessions.find(second) is None
    assert not studio.keys.revoke(ada.id)


def test_e14_a_clock_that_goes_back_brings_no_key_to_life(tmp_path: Path, clock: Clock) -> None:
    folder = tmp_path / "state"
    with Studio(Settings(folder=folder)) as studio:
        secret = studio.keys.create("ada", "analyst", days=1)
        clock.ahead = 2 * 86_400.0
        assert studio.keys.find(secret) is None
        studio.keys.create("bob", "analyst")
        clock.ahead = -YEARS
        assert studio.keys.find(secret) is None
    with Studio(Settings(folder=folder)) as studio:
        assert studio.keys.find(secret) is None


def test_e14_a_clock_that_jumps_changes_nothing_about_budgets(tmp_path: Path, clock: Clock) -> None:
    with running(tmp_path.resolve()) as run:
        furnish(run, write_meals(tmp_path.resolve() / "meals.csv"), budget="1", share="1/4")
        ada = run.as_("ada")
        for number, ahead in enumerate((0.0, YEARS, -YEARS)):
            clock.ahead = ahead
            told = ada.post("/api/releases", {**VOTE, "request_id": f"at{number}"})
            assert told.status == (202 if number < 2 else 409)
            if number < 2:
                assert ada.answer(f"at{number}").status == 200


def test_a_name_has_one_live_key_and_keeps_its_role_and_history(studio: Studio) -> None:
    first = studio.keys.create("ada", "analyst")
    with pytest.raises(InvalidParameter, match="without a live key"):
        studio.keys.create("ada", "analyst")
    ada = studio.keys.named("ada")
    assert ada is not None
    studio.keys.revoke(ada.id)
    with pytest.raises(InvalidParameter, match="no other role"):
        studio.keys.create("ada", "curator")
    second = studio.keys.create("ada", "analyst")
    assert first != second
    assert (studio.keys.find(first), studio.keys.find(second) is None) == (None, False)


def test_no_one_who_reads_waits_for_a_write(studio: Studio) -> None:
    """Keys are read where all requests pass: there a disk that is slow would hold everybody up."""
    secret = studio.keys.create("ada", "analyst")
    with ThreadPoolExecutor(1) as other, studio.state.writing():
        studio.keys.create("bob", "analyst")
        assert studio.keys.named("bob") is not None
        assert other.submit(studio.keys.find, secret).result(5) is not None
        assert other.submit(studio.keys.named, "bob").result(5) is None
    assert studio.keys.named("bob") is not None


def test_one_process_has_a_folder_at_a_time(tmp_path: Path) -> None:
    with Studio(Settings(folder=tmp_path)), pytest.raises(InvalidParameter, match="no other studio runs in"):
        Studio(Settings(folder=tmp_path))
    with Studio(Settings(folder=tmp_path)):
        pass


def test_the_files_of_a_studio_are_its_owners(tmp_path: Path) -> None:
    with Studio(Settings(folder=tmp_path / "state")):
        pass
    modes = {path.name: path.stat().st_mode & 0o077 for path in (tmp_path / "state").rglob("*")}
    assert modes["studio.sqlite"] == modes["ledgers"] == 0
    assert (tmp_path / "state").stat().st_mode & 0o077 == 0


# ---- what it says of itself --------------------------------------------------------------------------------


def test_the_document_has_every_route_of_the_api_and_no_other(shared: Running) -> None:
    document = shared.anyone.get("/openapi.json").json
    assert document == openapi_document()
    told = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
    open_to_all = {("GET", "/health"), ("GET", "/openapi.json")}
    assert told == {(rule.method, rule.path) for rule in RULES if rule.is_api} | open_to_all


def test_every_reference_of_the_document_leads_somewhere() -> None:
    text = json.dumps(openapi_document())
    schemas = openapi_document()["components"]["schemas"]
    assert set(re.findall(r'"#/components/schemas/(\w+)"', text)) == set(schemas)


def test_with_tls_the_studio_speaks_nothing_else(tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("a certificate is made by openssl, and there is none: apt-get install openssl")
    words = (
        "req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -days 2 -addext subjectAltName=IP:127.0.0.1"
    )
    files = ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run([openssl, *words.split(), *files], check=True, capture_output=True)
    for pair in ((key, key), (certificate, certificate), (certificate, tmp_path / "none.pem")):
        with pytest.raises(InvalidParameter, match="must be PEM files"):
            Settings(folder=tmp_path, certificate=pair[0], private_key=pair[1])
    with running(tmp_path.resolve(), certificate=certificate, private_key=key) as run:
        trusted = ssl.create_default_context(cafile=str(certificate))
        address = f"https://127.0.0.1:{run.port}/health"
        with urllib.request.urlopen(address, context=trusted) as told:
            assert "max-age" in told.headers["strict-transport-security"]
        with pytest.raises((OSError, http.client.HTTPException)):
            run.anyone.get("/health")


def test_the_only_key_of_a_curator_cannot_be_revoked(tmp_path: Path) -> None:
    with running(tmp_path.resolve()) as run:
        furnish(run, write_meals(tmp_path.resolve() / "meals.csv"))
        browser, api = run.browser("cleo"), run.as_("cleo")
        (cleo,) = (each.id for each in run.studio.keys.all() if each.name == "cleo")
        told = browser.send(f"/keys/{cleo}/revoke", token=browser.get("/keys").token)
        assert told.status == 409
        assert "the only key of a curator" in told.text
        assert api.ask("DELETE", f"/api/keys/{cleo}").status == 409
        assert api.post("/api/keys", {"name": "carl", "role": "curator"}).status == 201
        assert api.ask("DELETE", f"/api/keys/{cleo}").status == 204
        assert api.get("/api/keys").status == 401


def test_a_curators_key_that_was_lost_is_replaced(tmp_path: Path) -> None:
    with running(tmp_path.resolve()) as run:
        furnish(run, write_meals(tmp_path.resolve() / "meals.csv"))
        secret = run.studio.keys.replace("cleo", "curator")
        assert run.as_("cleo").get("/api/keys").status == 401
        run.keys["cleo"] = secret
        assert run.as_("cleo").get("/api/keys").status == 200
