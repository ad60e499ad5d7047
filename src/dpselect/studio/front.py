"""The front: what every request passes before anything answers it, in one order.

name of the host - path - key - role - rate - same site - size - type - body - token - turn - answer

So a request without a key is refused before a byte of its body is read. No error of an answer leaves the
front: a refusal is told by its sentence, anything else by a constant one. Each response has the same headers.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, TypeAlias
from urllib.parse import parse_qsl, quote, urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from dpselect.silence import run
from dpselect.studio import bodies, refusals
from dpselect.studio.keys import Keys, LiveKey
from dpselect.studio.rates import Buckets
from dpselect.studio.refusals import Refused
from dpselect.studio.roles import FOR_ALL_AS_WHO_THEY_ARE, Rule, is_for_all, page_at, rule_of
from dpselect.studio.sessions import COOKIE, Sessions
from dpselect.studio.settings import Settings
from dpselect.studio.turns import Turns

SECURITY_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "same-origin",  # "no-referrer" makes browsers send "Origin: null" with our own forms
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
STRICT_TRANSPORT = {"strict-transport-security": "max-age=31536000"}
IN_JSON = ("/api/", "/health", "/openapi.json")
"""Addresses that answer in JSON, whatever they answer."""
LONGEST_QUERY = 16 * 1024
"""Bytes of an address behind its question mark."""


@dataclass(frozen=True)
class Visit:
    """A request that has passed the front: who asks, for what, in which words."""

    rule: Rule
    key: LiveKey | None
    token: str
    """What the forms of this session carry."""
    cookie: str
    address: str
    """Where the connection comes from."""
    parts: Mapping[str, str] = field(default_factory=dict)
    """The parts of the path."""
    query: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, Any] = field(default_factory=dict)
    """What the body says."""
    is_htmx: bool = False
    is_named: bool = False
    """Whether a proxy is trusted to name who asks."""
    known: LiveKey | None = None
    """Whom it names, if they have a live key; they need not show it."""

    @property
    def name(self) -> str:
        """Give the name of who asks."""
        if self.key is None:
            raise refusals.no_key()
        return self.key.name


Answering = Callable[[Visit], Response]
TellingIn: TypeAlias = Literal["json", "page"]
Telling = Callable[[Visit | None, TellingIn, Refused, str], Response]
"""Tells a refusal: to whom, in which form, which, and the address of the page that was asked for."""


class Front:
    """The ASGI application."""

    def __init__(
        self,
        settings: Settings,
        keys: Keys,
        sessions: Sessions,
        answers: Mapping[str, Answering],
        tell: Telling,
    ) -> None:
        """Take what answers each rule, and what tells a refusal."""
        self._settings, self._keys, self._sessions = settings, keys, sessions
        self._answers, self._tell, self._turns = answers, tell, Turns()
        rate = settings.requests_per_second
        self._rates = Buckets(burst=4 * rate, per_second=rate)
        self._headers = [
            (name.encode(), value.encode())
            for name, value in {**SECURITY_HEADERS, **(STRICT_TRANSPORT if settings.secure else {})}.items()
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; nothing is raised."""
        if scope["type"] == "lifespan":
            await _live(receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                ours = {name for name, _ in self._headers}
                kept = [pair for pair in message["headers"] if pair[0].lower() not in ours]
                message["headers"] = [*kept, *self._headers]
            await send(message)

        response = await self._response(scope, receive)
        await response(scope, receive, with_headers)

    async def _response(self, scope: Scope, receive: Receive) -> Response:
        visit: Visit | None = None
        try:
            headers = _headers_of(scope)
            self._must_be_called_by_name(headers)
            rule, parts, methods = rule_of(scope["method"], scope["path"])
            visit = self._visit(scope, headers, rule, parts, methods)
            visit = await self._with_words(scope, receive, headers, visit)
            answer = partial(self._answers[visit.rule.answer], visit)
            async with self._turns.turn_of(visit.rule.answer if visit.key is None else visit.key.id):
                return await run_in_threadpool(run, answer, _told)
        except Refused as refused:
            told = refused
        except Exception:  # noqa: BLE001 - it may hold what was sent; a server would write it to its log
            told = Refused(500, refusals.OUT_OF_ORDER)
        form: TellingIn = "json" if scope["path"].startswith(IN_JSON) else "page"
        return await run_in_threadpool(self._tell, visit, form, told, _page_of(scope))

    def _must_be_called_by_name(self, headers: dict[str, str]) -> None:
        if not self._settings.knows_host(headers.get("host", "")):
            raise Refused(421, "this studio has another name.")

    def _visit(
        self,
        scope: Scope,
        headers: dict[str, str],
        rule: Rule | None,
        parts: dict[str, str],
        methods: frozenset[str],
    ) -> Visit:
        """Find out who asks, and whether they may, from the head of the request alone."""
        is_api = scope["path"].startswith("/api/")
        key, token, cookie = None, "", ""
        if not is_for_all(scope["path"]):
            if is_api:
                key = self._bearer(headers)
            else:
                key, token, cookie = self._logged_in(headers)
            if key is None:
                raise refusals.no_key() if is_api else refusals.not_logged_in()
            if not self._rates.take(key.id):
                raise Refused(429, "too many requests with this key. Come again in a moment.")
        elif scope["path"] in FOR_ALL_AS_WHO_THEY_ARE:
            key, token, cookie = self._logged_in(headers)
        if rule is None:
            raise refusals.other_method(methods) if methods else refusals.not_found()
        if rule.roles is not None and (key is None or key.role not in rule.roles):
            raise refusals.other_role()
        if len(scope["query_string"]) > LONGEST_QUERY:
            raise Refused(414, "the address is too long.")
        client = scope.get("client") or ("", 0)
        return Visit(
            rule=rule,
            key=key,
            token=token,
            cookie=cookie,
            address=str(client[0]),
            parts=parts,
            query=_query_of(scope),
            is_htmx=headers.get("hx-request", "") == "true",
            is_named=self._settings.trusted_header is not None,
            known=self._known(headers),
        )

    def _known(self, headers: dict[str, str]) -> LiveKey | None:
        """Find whom the proxy names, if it is trusted to, and they have a live key."""
        wanted = self._settings.trusted_header
        return None if wanted is None else self._keys.named(_text_of(headers.get(wanted.lower(), "")))

    def _logged_in(self, headers: dict[str, str]) -> tuple[LiveKey | None, str, str]:
        """Give the key, the token of forms and the cookie of a session that is live."""
        cookie = _cookie_of(headers)
        session = self._sessions.find(cookie)
        if session is not None and self._settings.trusted_header is not None:
            known = self._known(headers)  # of a browser that two people use
            session = session if known is not None and known.id == session.key.id else None
        return (None, "", cookie) if session is None else (session.key, session.token, cookie)

    def _bearer(self, headers: dict[str, str]) -> LiveKey | None:
        kind, _, secret = headers.get("authorization", "").partition(" ")
        return self._keys.find(secret) if kind.lower() == "bearer" else None

    async def _with_words(
        self, scope: Scope, receive: Receive, headers: dict[str, str], visit: Visit
    ) -> Visit:
        """Read the body of a request that changes something, and see that it is meant."""
        rule = visit.rule
        if rule.method in {"GET", "DELETE"}:
            return visit
        if not rule.is_api:
            self._must_be_of_this_site(headers)
        bodies.must_be_small(headers)
        bodies.must_be_of_type(headers, bodies.JSON_TYPE if rule.is_api else bodies.FORM_TYPE)
        body = await bodies.body_of(receive, self._settings.body_seconds)
        words = bodies.json_of(body) if rule.is_api else await bodies.form_of(scope, body)
        if not rule.is_api and rule.roles is not None:
            given = str(words.pop("token", ""))
            if not hmac.compare_digest(given.encode("utf-8", "replace"), visit.token.encode()):
                raise Refused(403, "the form is of another session. Open the page again.")
        return Visit(**{**vars(visit), "words": words})

    def _must_be_of_this_site(self, headers: dict[str, str]) -> None:
        """Refuse a form that a page of another site sends."""
        origin = headers.get("origin")
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            raise Refused(403, "this form was sent by a page of another site.")
        if origin is not None and not self._is_own(origin, headers["host"]):
            raise Refused(403, "this form was sent by a page of another site.")

    def _is_own(self, origin: str, host: str) -> bool:
        try:
            parts = urlsplit(origin)
            name, scheme = parts.netloc.lower(), parts.scheme
        except ValueError:
            return False
        if self._settings.behind_proxy is not None:
            public = urlsplit(self._settings.behind_proxy).netloc.lower()
            return scheme == "https" and name in (public or host.lower(), host.lower())
        return name == host.lower() and scheme == ("https" if self._settings.secure else "http")


def _text_of(header: str) -> str:
    """Read a header as UTF-8, as proxies write names; "" where it is none."""
    try:
        return header.encode("latin-1").decode("utf-8").strip()
    except UnicodeError:
        return ""


def _page_of(scope: Scope) -> str:
    """Give the address of the page that was asked for, within the studio; "" if it is none."""
    query = scope["query_string"].decode("latin-1")
    wanted = quote(scope["path"]) + (f"?{query}" if query else "")
    known = scope["method"] == "GET" and len(query) <= LONGEST_QUERY and page_at(wanted) is not None
    return wanted if known else ""


def _told(error: Exception) -> Exception:
    """Tell a refusal by its sentence, all else by a constant one: an error may hold data."""
    return error if isinstance(error, Refused) else Refused(500, refusals.OUT_OF_ORDER)


async def _live(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return


def _headers_of(scope: Scope) -> dict[str, str]:
    """Read the headers; one that is sent twice, where that could mislead, is refused."""
    found: dict[str, str] = {}
    for raw, value in scope["headers"]:
        name = raw.decode("latin-1").lower()
        if name in found and name in ("host", "authorization", "content-length", "content-type", "origin"):
            raise Refused(400, "a header is there twice.")
        found[name] = (
            value.decode("latin-1") if name not in found else f"{found[name]}; {value.decode('latin-1')}"
        )
    return found


def _cookie_of(headers: dict[str, str]) -> str:
    """Find the cookie of a session; those of other programs under this name may hold any sign."""
    pairs = (pair.strip().partition("=") for pair in headers.get("cookie", "").split(";"))
    return next((value for name, _, value in pairs if name == COOKIE), "")


def _query_of(scope: Scope) -> dict[str, str]:
    try:
        return dict(parse_qsl(scope["query_string"].decode("latin-1"), max_num_fields=bodies.MOST_FIELDS))
    except ValueError:
        raise Refused(400, "the address cannot be read.") from None
