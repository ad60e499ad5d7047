"""What the front refuses, or survives: other sites, other names, long and slow bodies, many sockets."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from unittest.mock import patch
from urllib.parse import urlencode

import pytest

from dpselect.errors import InvalidParameter
from dpselect.studio import refusals
from dpselect.studio.bodies import MOST_BYTES
from dpselect.studio.sessions import COOKIE
from dpselect.studio.settings import Settings
from tests.studio.running import VOTE, Running, furnish, running, write_meals

FORM = "application/x-www-form-urlencoded"
PAGES = ("/login", "/health", "/ask", "/api/ledger", "/nothing", "/static/none.css")


def raw(port: int, *parts: bytes, wait: float = 5) -> bytes:
    """Send bytes as they are; give what comes back until the other side is done."""
    with socket.create_connection(("127.0.0.1", port), timeout=wait) as connection:
        for part in parts:
            connection.sendall(part)
        told = b""
        try:
            while more := connection.recv(65536):
                told += more
        except TimeoutError:
            pass
        return told


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 303),
        ({"Sec-Fetch-Site": "same-origin"}, 303),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Origin": "http://["}, 403),
    ],
    ids=str,
)
def test_f3_a_form_of_another_site_is_refused(shared: Running, headers: dict[str, str], status: int) -> None:
    browser = shared.browser("ada")
    words = urlencode({**VOTE, "token": browser.get("/ask").token, "request_id": "f3"})
    told = browser.ask("POST", "/answers", words, {"Content-Type": FORM, **headers})
    assert told.status == status


@pytest.mark.parametrize(
    "others", ['state={"a": 1}', "a b=c", "=", 'quoted="open', "[x]=1", "flag", "\xe9=1", f"x{COOKIE}=1"]
)
def test_cookies_of_other_programs_under_this_name_end_no_session(shared: Running, others: str) -> None:
    """A browser sends those of every port of this machine."""
    browser = shared.browser("ada")
    for cookie in (f"{others}; {COOKIE}={browser.cookie}", f"{COOKIE}={browser.cookie};{others}"):
        assert shared.anyone.get("/ask", Cookie=cookie).status == 200


@pytest.mark.parametrize("body", ["a=1&" * 100, "=&" * 8_000, "&" * 16_000, "%" * 900, "key=%00&key=1"])
def test_f9_a_form_that_makes_no_sense_is_refused_with_a_page(shared: Running, body: str) -> None:
    told = shared.anyone.ask("POST", "/login", body, {"Content-Type": FORM})
    assert told.status in (400, 401)
    assert "content-security-policy" in told.headers


def test_what_fails_at_the_front_is_told_by_a_constant_and_written_to_no_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with running(tmp_path.resolve()) as run:
        furnish(run, write_meals(tmp_path.resolve() / "meals.csv"))
        with patch.object(type(run.studio.keys), "find", side_effect=RuntimeError("canary-of-a-row")):
            told = run.as_("ada").post("/api/quotes", VOTE)
        assert run.as_("ada").post("/api/quotes", VOTE).status == 200
    assert (told.status, told.json) == (500, {"error": refusals.OUT_OF_ORDER})
    assert "content-security-policy" in told.headers
    assert not caplog.text + "".join(capfd.readouterr())


@pytest.mark.parametrize("token", ["", "x", "é", "A" * 43])
def test_f3_a_form_without_the_token_of_its_session_is_refused(shared: Running, token: str) -> None:
    browser, other = shared.browser("ada"), shared.browser("ada")
    assert browser.send("/answers", **VOTE, token=token).status == 403
    assert browser.send("/answers", **VOTE, token=other.get("/ask").token).status == 403


@pytest.mark.parametrize("kind", ["text/plain", "application/json", "multipart/form-data; boundary=x", ""])
def test_f3_a_form_of_another_type_is_refused(shared: Running, kind: str) -> None:
    told = shared.browser("ada").ask("POST", "/answers", json.dumps(VOTE), {"Content-Type": kind})
    assert told.status == 415


@pytest.mark.parametrize("kind", ["text/plain", FORM, "application/json; charset=utf-16", ""])
def test_f3_the_api_takes_json_alone(shared: Running, kind: str) -> None:
    told = shared.as_("ada").ask("POST", "/api/quotes", json.dumps(VOTE), {"Content-Type": kind})
    assert told.status == 415


def test_f3_the_cookie_is_for_this_site_and_its_pages_alone(shared: Running) -> None:
    told = shared.anyone.send("/login", key=shared.keys["ada"])
    parts = {part.strip().lower() for part in told.headers["set-cookie"].split(";")[1:]}
    assert told.headers["set-cookie"].startswith(f"{COOKIE}=")
    assert COOKIE.startswith("__Host-")
    assert {"httponly", "secure", "samesite=strict", "path=/"} <= parts
    assert not any(part.startswith("domain") for part in parts)


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "", "127.0.0.1:80:80", "[::1", "a b", "192.0.2.1"]
)
def test_f14_another_name_is_refused(shared: Running, host: str) -> None:
    for path in PAGES:
        assert shared.as_("ada").get(path, Host=host).status in (400, 421)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:8350", "LOCALHOST", "[::1]:99"])
def test_f14_its_own_names_are_known(shared: Running, host: str) -> None:
    assert shared.anyone.get("/health", Host=host).status == 200


def test_f14_two_names_are_refused(shared: Running) -> None:
    told = raw(
        shared.port,
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
    )
    assert told.split()[1] == b"400"


def test_f14_every_response_has_the_headers_that_keep_other_pages_out(shared: Running) -> None:
    for client in (shared.anyone, shared.as_("ada"), shared.browser("ada")):
        for path in PAGES:
            headers = client.get(path).headers
            policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
            assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
            assert {policy[f"{name}-src"] for name in ("script", "style", "img", "connect")} == {"'self'"}
            assert "unsafe" not in headers["content-security-policy"]
            assert headers["cache-control"] == "no-store"
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["x-frame-options"] == "DENY"
            assert headers["referrer-policy"] == "same-origin"
            assert headers["cross-origin-opener-policy"] == "same-origin"
            assert not {"access-control-allow-origin", "etag", "server", "last-modified"} & headers.keys()


def test_f14_a_page_of_another_site_may_not_ask_first(shared: Running) -> None:
    told = shared.anyone.ask("OPTIONS", "/api/ledger", headers={"Origin": "https://evil.example"})
    assert told.status == 401
    assert not [name for name in told.headers if name.startswith("access-control")]


def test_f9_a_long_body_is_refused_also_in_chunks(shared: Running) -> None:
    ada, long = shared.as_("ada"), b'{"a": "' + b"x" * MOST_BYTES + b'"}'
    kind = {"Content-Type": "application/json"}
    assert ada.ask("POST", "/api/quotes", long, kind).status == 413
    head = (
        f"POST /api/quotes HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {shared.keys['ada']}\r\n"
        "Content-Type: application/json\r\n"
    ).encode()
    said_long = raw(shared.port, head + b"Content-Length: 1000000000000\r\n\r\n{", wait=0.5)
    assert said_long.split()[1] == b"413"
    chunk = b"1000\r\n" + b"x" * 4096 + b"\r\n"
    in_chunks = raw(shared.port, head + b"Transfer-Encoding: chunked\r\n\r\n" + chunk * 5, wait=0.5)
    assert in_chunks.split()[1] == b"413"
    assert ada.ask("POST", "/api/quotes", b"{}" + b" " * (MOST_BYTES - 2), kind).status == 400


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"3",
        b"nul",
        b"\xff\xfe",
        b"[" * 8_000,
        b'{"a":' * 2_000 + b"1" + b"}" * 2_000,
        b'{"epsilon": NaN}',
        b'{"epsilon": 1e999}',
        b'{"epsilon": ' + b"9" * 10_000 + b"}",
        b'{"epsilon": "1e99999999"}',
        b'{"epsilon": "1", "epsilon": "2"}',
        b'{"data_set": {"a": 1}}',
        b'{"data_set": true}',
        b'{"candidates": [[]]}',
        b'{"candidates": "\\ud800"}',
        b'{"data_set": "\\ud800", "column": "dish"}',
        b'{"request_id": "../../x"}',
        b'{"data_set": "' + b"x" * 5_000 + b'"}',
    ],
    ids=lambda body: repr(body[:30]),
)
def test_f9_a_body_that_makes_no_sense_is_refused_at_once(shared: Running, body: bytes) -> None:
    ada = shared.as_("ada")
    for path in ("/api/quotes", "/api/releases"):
        assert ada.ask("POST", path, body, {"Content-Type": "application/json"}).status == 400


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x00\xa5\x01\x00\x00\xa1",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /%ff%fe%00 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 100_000 + b"\r\n\r\n",
        b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
        b"GET /login?" + b"a&" * 5_000 + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    ],
    ids=lambda sent: repr(sent[:24]),
)
def test_f9_what_is_no_request_ends_no_studio(shared: Running, sent: bytes) -> None:
    told = raw(shared.port, sent, wait=0.5)
    assert b"Traceback" not in told
    assert shared.anyone.get("/health").status == 200


def test_a_public_address_needs_tls_or_a_proxy(tmp_path: Path) -> None:
    for host in (".".join("0000"), "192.0.2.1", "::", "example.org"):
        with pytest.raises(InvalidParameter, match="host must be of this machine alone"):
            Settings(folder=tmp_path, host=host)
        assert Settings(folder=tmp_path, host=host, behind_proxy="").secure


def test_behind_a_proxy_its_public_name_is_known_and_no_other(tmp_path: Path) -> None:
    proxied = Settings(folder=tmp_path, behind_proxy="https://studio.example.org")
    assert proxied.knows_host("studio.example.org")
    assert not proxied.knows_host("evil.example")
    for address in ("http://studio.example.org", "studio.example.org", "https://a/b"):
        with pytest.raises(InvalidParameter, match="behind_proxy"):
            Settings(folder=tmp_path, behind_proxy=address)
