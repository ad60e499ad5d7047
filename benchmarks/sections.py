"""Sections of a page: one benchmark replaces its own, and leaves the others as they are."""

from __future__ import annotations

import re
from pathlib import Path


def replace_section(page: Path, title: str, section: str) -> None:
    """Put a section, which begins with its title, in the place of the one of that title; or at the end."""
    parts = re.split(r"^(?=## )", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    titles = [part.partition("\n")[0] for part in parts]
    place = titles.index(title) if title in titles else len(parts)
    parts[place : place + 1] = [section]
    page.write_text("\n\n".join(part.strip() for part in parts) + "\n", encoding="utf-8")
