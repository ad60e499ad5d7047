"""Pictures on the command line: which file one is drawn into, after ``--plot``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from dpselect.cli.user_errors import UserError

if TYPE_CHECKING:
    from dpselect.utility.picture import Picture

PICTURE_ENDINGS = (".png", ".svg", ".pdf")


def must_be_drawable(path: str) -> None:
    """Refuse, before anything is computed or paid, a file that no picture could be drawn into."""
    if not path.lower().endswith(PICTURE_ENDINGS):
        endings = ", ".join(PICTURE_ENDINGS)
        raise UserError(f"--plot must name a file that ends in {endings}; got '{path[-40:]}'.")
    if not Path(path).absolute().parent.is_dir():
        raise UserError(f"--plot must name a file in a folder that exists; got '{path[-40:]}'.")
    from dpselect.utility.drawing import blank

    blank(1, 1)  # refuses without matplotlib


def save_picture(picture: Picture, path: str) -> None:
    """Write a picture into a file."""
    try:
        picture.savefig(path)
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else type(error).__name__
        refused = UserError(f"--plot must name a file that can be written; got '{path[-40:]}': {why}.")
    else:
        return
    raise refused
