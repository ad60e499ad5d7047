"""Templates: pages made of values, each of which is shown as text whatever signs it holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse, Response

from dpselect.exact.rounding import from_exact_text, readable_number
from dpselect.release.labels import readable_label
from dpselect.studio.front import Visit
from dpselect.studio.views import FILTERS

FOLDER = Path(__file__).with_name("templates")


class Templates:
    """The folder of templates."""

    def __init__(self, settings_shown: dict[str, Any] | None = None) -> None:
        """Load them; every expression is escaped, and names that are not there are an error."""
        self._environment = Environment(
            loader=FileSystemLoader(FOLDER),
            autoescape=True,
            undefined=StrictUndefined,
            finalize=_plain,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.filters["decimal"] = decimal
        self._environment.filters["decimal_left"] = decimal_left
        self._environment.filters["label"] = readable_label
        self._environment.filters.update(FILTERS)
        self._environment.globals["demo"] = False
        self._environment.globals.update(settings_shown or {})

    def page(self, name: str, visit: Visit | None, *, status: int = 200, **values: Any) -> Response:
        """Make a page for a visit."""
        key = None if visit is None else visit.key
        given = {"title": "", "problem": "", "wanted": "", **values}
        text = self.text(name, **given, me=key, token="" if visit is None else visit.token)
        return HTMLResponse(text, status_code=status)

    def text(self, name: str, **values: Any) -> str:
        """Fill a template."""
        return self._environment.get_template(name).render(**values)


def decimal(exact: str) -> str:
    """Write an exact number for people; what is spent or paid is rounded up."""
    return readable_number(from_exact_text(exact))


def decimal_left(exact: str) -> str:
    """Write what is left for people, rounded down."""
    return readable_number(from_exact_text(exact), rounded="down")


def _plain(value: Any) -> Any:
    """Show signs that a screen would obey by their numbers; ends of lines stay."""
    if hasattr(value, "__html__") or not isinstance(value, str) or value.isprintable():
        return value
    return "".join(each if each.isprintable() or each == "\n" else ascii(each)[1:-1] for each in value)
