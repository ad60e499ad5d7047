"""A figure that shows itself as the last value of a cell: as SVG where the notebook trusts it, else as PNG.

Matplotlib is loaded with this module; ``drawing`` loads it when something is drawn.
"""

from __future__ import annotations

import io
import warnings

from matplotlib.figure import Figure


class Picture(Figure):
    """A figure of matplotlib, without pyplot: ``savefig("name.svg")`` or ``"name.png"`` saves it."""

    def _repr_png_(self) -> bytes:
        return self._drawn("png")

    def _repr_svg_(self) -> str:
        return self._drawn("svg").decode("utf-8")

    def _drawn(self, form: str) -> bytes:
        drawing = io.BytesIO()
        with warnings.catch_warnings():
            # A letter that no font has is drawn as a box; a notebook need not say so in red.
            warnings.filterwarnings("ignore", message="Glyph")
            self.savefig(drawing, format=form, metadata={"Date": None} if form == "svg" else None)
        return drawing.getvalue()
