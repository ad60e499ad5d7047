"""The pages of analysts, and those for all."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from starlette.responses import FileResponse, RedirectResponse, Response

from dpselect import __version__
from dpselect.errors import InvalidParameter
from dpselect.release import Release
from dpselect.release.flat_form import csv_text
from dpselect.studio import facts, refusals
from dpselect.studio.asked_question import QUESTION_FIELDS, QUESTIONS, AskedQuestion
from dpselect.studio.classroom_page import lesson_values
from dpselect.studio.controls import in_words_of_the_page
from dpselect.studio.data_sets import DataSets
from dpselect.studio.forms import QuestionForm, completed_form
from dpselect.studio.front import Visit
from dpselect.studio.keys import Keys, LiveKey
from dpselect.studio.lane import Job, Lane
from dpselect.studio.offer import Offer
from dpselect.studio.plain_json import PlainJSON, plain_json
from dpselect.studio.quotes import offer_of
from dpselect.studio.rates import Buckets
from dpselect.studio.refusals import Refused
from dpselect.studio.requests import new_request_id, request_id_of
from dpselect.studio.roles import page_at
from dpselect.studio.sessions import COOKIE, SESSION_SECONDS, Sessions
from dpselect.studio.templates import Templates

STATIC = Path(__file__).with_name("static")
MEDIA = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml", ".png": "image/png"}
EXPORTS = ("json", "csv")
LOG_IN_BURST, LOG_IN_PER_SECOND = 10, 0.1
"""Wrong keys that an address may try at once, and then each second."""


class Pages:
    """What answers an analyst's browser."""

    def __init__(
        self, templates: Templates, keys: Keys, sessions: Sessions, data_sets: DataSets, lane: Lane
    ) -> None:
        """Take the parts of the studio."""
        self._templates, self._keys, self._sessions = templates, keys, sessions
        self._data_sets, self._lane = data_sets, lane
        self._attempts = Buckets(burst=LOG_IN_BURST, per_second=LOG_IN_PER_SECOND)

    # ---- for all -----------------------------------------------------------------------------------------

    def health(self, visit: Visit) -> Response:
        """Say that the studio lives."""
        del visit
        return PlainJSON({"status": "ok", "version": __version__})

    def static(self, visit: Visit) -> Response:
        """Give a file of the pages."""
        names = (
            {each.name: each for each in STATIC.iterdir() if each.suffix in MEDIA} if STATIC.is_dir() else {}
        )
        found = names.get(visit.parts["file"])
        if found is None:
            raise refusals.not_found()
        return FileResponse(found, media_type=MEDIA[found.suffix])

    def login(self, visit: Visit) -> Response:
        """Ask for a key; who is named by a proxy that is trusted to has a session at once."""
        wanted = visit.query.get("wanted", "")
        if visit.known is not None:
            return self._begun(visit.known, wanted)
        problem = refusals.NOT_NAMED if visit.is_named else ""
        return self._templates.page("login.html", visit, title="Log in", problem=problem, wanted=wanted)

    def _begun(self, key: LiveKey, wanted: str) -> Response:
        """Begin a session, and go to the page that was wanted, if it is one for this key."""
        page = page_at(wanted)
        is_theirs = page is not None and page.roles is not None and key.role in page.roles
        return _signed_in(self._sessions.begin(key), wanted if is_theirs else "/")

    def log_in(self, visit: Visit) -> Response:
        """Begin a session with a key."""
        if not self._attempts.take(visit.address):  # before the key is looked at: many may come at once
            raise Refused(429, "too many attempts to log in. Come again in a minute.")
        key = self._keys.find(str(visit.words.get("key", "")).strip())
        wanted = str(visit.words.get("wanted", ""))
        if key is None:
            said = "This is no key that is live."
            return self._templates.page(
                "login.html", visit, status=401, title="Log in", problem=said, wanted=wanted
            )
        self._attempts.give_back(visit.address)
        if visit.is_named and (visit.known is None or visit.known.id != key.id):
            raise Refused(403, refusals.NOT_NAMED)
        return self._begun(key, wanted)

    def welcome(self, visit: Visit) -> Response:
        """Begin a session by a link that does so once."""
        cookie = self._sessions.follow(visit.parts["secret"])
        if cookie is None:
            raise Refused(401, "this link has been used, or is too old. Log in with a key.")
        return _signed_in(cookie)

    def classroom(self, visit: Visit) -> Response:
        """Show exact laws of public scores, for all."""
        return self._templates.page(
            "classroom.html", visit, title="Classroom", **{"problem": "", **lesson_values(visit.query)}
        )

    def home(self, visit: Visit) -> Response:
        """Go to the first page of a role."""
        role = None if visit.key is None else visit.key.role
        places = {"analyst": "/ask", "curator": "/data", "auditor": "/audit"}
        return RedirectResponse(places.get(role or "", "/login"), status_code=303)

    def log_out(self, visit: Visit) -> Response:
        """End the session."""
        self._sessions.end(visit.cookie)
        response = RedirectResponse("/login", status_code=303)
        response.delete_cookie(COOKIE, secure=True, httponly=True, samesite="strict")
        return response

    # ---- asking ------------------------------------------------------------------------------------------

    def ask(self, visit: Visit) -> Response:
        """Show the question, and its price once it is complete."""
        return self._asking(visit, visit.query)

    def quote(self, visit: Visit) -> Response:
        """Show the price alone, for a page that is there; a whole page where no script asked for it."""
        if not visit.is_htmx:
            return self._asking(visit, visit.query)
        form = self._form(visit, visit.query)
        offer, problem = self._offer(visit, form, visit.query)
        response = self._templates.page(
            "quote_part.html", visit, form=form, offer=offer, problem=problem, request_id=new_request_id()
        )
        return _at_its_address(visit, response, form)

    def pay(self, visit: Visit) -> Response:
        """Take a question that is paid for, and show its answer's page."""
        request = request_id_of(visit.words.get("request_id"))
        words = _question_words(visit.words)
        try:
            job = self._lane.submit(
                visit.name, request, offer_of(AskedQuestion.from_words(words), self._data_sets, visit.name)
            )
        except (InvalidParameter, Refused) as refused:
            status = refused.status if isinstance(refused, Refused) else 400
            return self._asking(visit, words, problem=in_words_of_the_page(str(refused)), status=status)
        return RedirectResponse(f"/answers/{job.id}", status_code=303)

    def answer(self, visit: Visit) -> Response:
        """Show an answer, or that it is being computed."""
        job = self._lane.job(visit.name, visit.parts["id"])
        said = refusals.AFTER_THE_CHARGE if job.state == "failed" else job.answer
        page = "answer_part.html" if visit.is_htmx else "answer.html"
        return self._templates.page(
            page,
            visit,
            title="Answer",
            above="History",
            job=job,
            release=job.release,
            said=None if job.release else said,
        )

    def export(self, visit: Visit) -> Response:
        """Give an answer as JSON or CSV."""
        job, form = self._lane.job(visit.name, visit.parts["id"]), visit.parts["form"]
        if job.release is None or form not in EXPORTS:
            raise refusals.not_found()
        if form == "json":
            return _file(f"{job.id}.json", "application/json", plain_json(job.release.to_json()) + "\n")
        return _file(f"{job.id}.csv", "text/csv; charset=utf-8", _csv(job.release))

    def history(self, visit: Visit) -> Response:
        """Show the analyst's own questions."""
        jobs = self._lane.jobs(visit.name)
        found = self._data_sets.of_analyst(visit.name)
        ledgers = [
            facts.own_ledger_facts(each, self._data_sets.ledger(each), account)
            for each in found
            for account in [self._data_sets.account(each, visit.name)]
            if account is not None
        ]
        if visit.query.get("form") == "csv":
            return _file("history.csv", "text/csv; charset=utf-8", _history_csv(jobs))
        return self._templates.page("history.html", visit, title="History", jobs=jobs, ledgers=ledgers)

    def _offer(
        self, visit: Visit, form: QuestionForm | None, words: Mapping[str, Any]
    ) -> tuple[Offer | None, str]:
        """Price a question; say what is wrong with it otherwise."""
        if form is None:
            return None, ""
        if words.get("data_set", form.data_set) not in (
            "",
            form.data_set,
        ):  # a link of a colleague with other shares
            return None, in_words_of_the_page(refusals.no_share().sentence)
        if not form.columns:
            return None, refusals.DATA_SET_CLOSED
        if form.missing:
            return None, ""
        try:
            return offer_of(AskedQuestion.from_words(form.words), self._data_sets, visit.name), ""
        except (InvalidParameter, Refused) as refused:
            return None, in_words_of_the_page(str(refused))

    def _form(self, visit: Visit, words: Mapping[str, Any]) -> QuestionForm | None:
        """Complete what was said of a question; None for an analyst without a share."""
        found = self._data_sets.of_analyst(visit.name)
        if not found:
            return None
        chosen = next((each for each in found if each.name == words.get("data_set")), found[0])
        try:
            columns = facts.schema_facts(self._data_sets.schema(chosen))
        except Refused:  # its file is gone: others can still be chosen
            columns = []
        return completed_form(words, chosen.name, chosen.unit, columns, self._data_sets.offered(chosen))

    def _asking(
        self, visit: Visit, words: Mapping[str, Any], *, problem: str = "", status: int = 200
    ) -> Response:
        form = self._form(visit, words)
        offer, refused = (None, problem) if problem else self._offer(visit, form, words)
        found = self._data_sets.of_analyst(visit.name)
        response = self._templates.page(
            "ask.html",
            visit,
            status=status,
            title="Ask",
            form=form,
            questions=QUESTIONS,
            data_sets=found,
            chosen=next((each for each in found if form is not None and each.name == form.data_set), None),
            offer=offer,
            problem=refused,
            request_id=new_request_id(),
        )
        return _at_its_address(visit, response, form)


def _at_its_address(visit: Visit, response: Response, form: QuestionForm | None) -> Response:
    """Have the browser show the address that holds the state of the form."""
    if form is not None and visit.is_htmx:
        response.headers["hx-replace-url"] = f"/ask?{urlencode(form.fields)}"
    return response


def _question_words(words: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in words.items() if name in QUESTION_FIELDS}


def _signed_in(cookie: str, place: str = "/") -> Response:
    response = RedirectResponse(place, status_code=303)
    response.set_cookie(
        COOKIE, cookie, max_age=SESSION_SECONDS, path="/", secure=True, httponly=True, samesite="strict"
    )
    return response


def _csv(release: Release) -> str:
    """Write an answer for spreadsheets; what one would take for a formula has an apostrophe before it."""
    return csv_text(release, release.labels, release.gaps, release.counts, release.winners)


def _history_csv(jobs: Sequence[Job]) -> str:
    """Write all answers, one below the other, each line with its day."""
    rows = [
        {"date": facts.date_of(job.time), **row}
        for job in jobs
        if job.release is not None
        for row in csv.DictReader(io.StringIO(_csv(job.release)))
    ]
    names = list(dict.fromkeys(["date", *(name for row in rows for name in row)]))
    written = io.StringIO()
    writer = csv.DictWriter(written, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return written.getvalue()


def _file(name: str, kind: str, text: str) -> Response:
    return Response(text, media_type=kind, headers={"content-disposition": f'attachment; filename="{name}"'})
