"""What people pass by mistake: at least one value of every type, for every public function to refuse."""

import datetime as dt
import math
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

HOUSE_SENTENCE = re.compile(r"[^;]+ must be [^;]+; got [^;]+\.( .+)?")
"""What must be so; got value. The way out."""

NOT_FINITE: dict[str, Any] = {
    "inf": math.inf,
    "-inf": -math.inf,
    "numpy-inf": np.float32("inf"),
    "decimal-inf": Decimal("Infinity"),
}

NOT_NUMBERS: dict[str, Any] = {
    "None": None,
    "True": True,
    "False": False,
    "a-word": "one",
    "empty-text": "",
    "nan-as-text": "nan",
    "bytes": b"1",
    "list": [1],
    "tuple": (1,),
    "dict": {1: 1},
    "set": {1},
    "function": lambda: 1,
    "type": int,
    "object": object(),
    "complex": 1j,
    "datetime": dt.datetime(2024, 1, 1, tzinfo=dt.UTC),
    "timedelta": dt.timedelta(1),
    "nan": math.nan,
    "decimal-nan": Decimal("NaN"),
    "decimal-snan": Decimal("sNaN"),
    "numpy-nan": np.float32("nan"),
    "numpy-bool": np.True_,
    "numpy-complex": np.complex128(1),
    "numpy-datetime": np.datetime64("2024-01-01"),
    "numpy-timedelta": np.timedelta64(5, "s"),
    "numpy-array": np.array([1, 2]),
    "numpy-scalar-array": np.array(1),
    "numpy-bytes": np.bytes_(b"1"),
    "a-bomb": "1e10000000",  # A14
    "a-decimal-bomb": Decimal("1e10000000"),
    "a-ratio-with-nothing-below": "1/0",
}

NEGATIVE: dict[str, Any] = {
    "-1": -1,
    "-1-as-text": "-1",
    "-1/3": Fraction(-1, 3),
    "-1e-300": -1e-300,
    "decimal-1": Decimal(-1),
    "numpy-int": np.int64(-1),
    "numpy-float": np.float32(-0.5),
    "huge": -(10**5000),
}

NOT_WHOLE: dict[str, Any] = {
    "0.5": 0.5,
    "1.0": 1.0,
    "1-as-text": "1",
    "1/1": Fraction(1),
    "decimal": Decimal(1),
}


class Unhashable:
    """A function that cannot be told apart from others."""

    __hash__ = None  # type: ignore[assignment]

    def __call__(self, point: Fraction) -> Fraction:
        return point


UNFIT: dict[str, Any] = {"unhashable": Unhashable()}
"""Functions whose runs cannot be counted."""


def cases(*groups: dict[str, Any]) -> dict[str, Any]:
    """Join groups into the keyword arguments of ``parametrize``."""
    joined = {name: value for group in groups for name, value in group.items()}
    return {"argvalues": list(joined.values()), "ids": list(joined)}
