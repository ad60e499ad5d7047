"""What a NumPy user would write: floats for noise, a generator that can be predicted, and no guarantee."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_generator = np.random.default_rng()


def noisy_argmax(scores: NDArray[Any], scale: float) -> np.intp:
    """Add Gumbel noise to every score and take the best."""
    return np.argmax(scores + _generator.gumbel(scale=scale, size=len(scores)))
