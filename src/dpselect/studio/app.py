"""The studio: its parts put together in one folder, and the application that answers."""

from __future__ import annotations

import fcntl
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlencode

from starlette.responses import RedirectResponse, Response

from dpselect.errors import BudgetExhausted, InvalidParameter, LedgerDamaged, LedgerUnavailable
from dpselect.studio.api import Api
from dpselect.studio.curating import Curating
from dpselect.studio.data_sets import DataSets
from dpselect.studio.front import Front, TellingIn, Visit
from dpselect.studio.keys import Keys
from dpselect.studio.lane import Lane
from dpselect.studio.ledger_places import LedgerPlaces
from dpselect.studio.pages import Pages
from dpselect.studio.plain_json import PlainJSON
from dpselect.studio.refusals import Refused
from dpselect.studio.roles import RULES, Rule
from dpselect.studio.sessions import Sessions
from dpselect.studio.settings import Settings
from dpselect.studio.state import State
from dpselect.studio.templates import Templates


class Studio:
    """A studio over one folder of state. ``with`` starts its lane, and stops it."""

    def __init__(self, settings: Settings) -> None:
        """Open the folder, or make it; one process has it at a time."""
        folder = settings.folder
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        ledgers = folder / "ledgers"
        ledgers.mkdir(exist_ok=True, mode=0o700)
        self._lock = _locked(folder / "studio.lock")
        self.settings = settings
        self.state = State(folder / "studio.sqlite")
        self.keys = Keys(self.state)
        self.sessions = Sessions(self.state, self.keys)
        self.data_sets = DataSets(self.state, LedgerPlaces(ledgers, settings.ledgers), settings.allowed_roots)
        self.lane = Lane(self.state, self.data_sets, settings.tick)
        templates = Templates({"demo": settings.demo})
        self._templates = templates
        homes = {
            "pages": Pages(templates, self.keys, self.sessions, self.data_sets, self.lane),
            "curating": Curating(templates, self.keys, self.data_sets),
            "api": Api(self.keys, self.data_sets, self.lane),
        }
        answers = {rule.answer: _answering(homes, rule) for rule in RULES}
        self.application = Front(settings, self.keys, self.sessions, answers, self._tell)

    def __enter__(self) -> Self:
        self.lane.start()
        return self

    def __exit__(self, *ended: object) -> None:
        """Stop, and close what is open."""
        self.lane.stop()
        self.data_sets.close()
        self.state.close()
        self._lock.close()

    def _tell(self, visit: Visit | None, form: TellingIn, refused: Refused, wanted: str) -> Response:
        """Tell a refusal in the form of what was asked; who logs in then gets the page that was wanted."""
        if form == "json":
            challenge = {"www-authenticate": "Bearer"} if refused.status == 401 else refused.headers
            return PlainJSON({"error": refused.sentence}, status_code=refused.status, headers=challenge)
        if refused.status == 401 and wanted and self.settings.trusted_header is not None:
            return RedirectResponse(f"/login?{urlencode({'wanted': wanted})}", status_code=303)
        if refused.status == 401:
            return self._templates.page(
                "login.html", visit, status=401, title="Log in", problem=refused.sentence, wanted=wanted
            )
        told = self._templates.page(
            "refused.html", visit, status=refused.status, title="Not possible", problem=refused.sentence
        )
        told.headers.update(refused.headers)
        return told


def _answering(homes: dict[str, Any], rule: Rule) -> Callable[[Visit], Response]:
    home, _, name = rule.answer.partition(".")
    method: Callable[[Visit], Response] = getattr(homes[home], name)

    def answered(visit: Visit) -> Response:
        try:
            return method(visit)
        except InvalidParameter as refused:
            raise Refused(400, str(refused)) from None
        except BudgetExhausted as refused:
            raise Refused(409, str(refused)) from None
        except (LedgerDamaged, LedgerUnavailable):
            raise Refused(503, "the ledger of this data set cannot be used. Nothing was charged.") from None

    return answered


def _locked(place: Path) -> Any:
    """Hold the folder: two processes would each release what waits in it."""
    file = place.open("a")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise InvalidParameter(
            "folder must be one that no other studio runs in; one does. Stop it, or name another folder."
        ) from None
    return file
