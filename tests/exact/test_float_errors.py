"""Functions that ignore floating-point errors, and leave their caller's settings alone."""

import numpy as np
import pytest

from dpselect.exact.float_errors import ignore_float_errors


@ignore_float_errors
def overflowed(times: int = 1) -> float:
    """Overflow, in calls within calls."""
    return overflowed(times - 1) if times > 1 else float(np.float64(1e308) * 10)


def test_what_overflows_is_infinite_without_a_word() -> None:
    with np.errstate(all="raise"):
        assert overflowed() == np.inf
        assert overflowed(times=3) == np.inf


def test_the_settings_of_the_caller_stay() -> None:
    with np.errstate(all="raise"):
        overflowed()
        with pytest.raises(FloatingPointError):
            np.float64(1e308) * 10
