"""The exponential mechanism: a candidate with probability proportional to exp(score / scale).

Noise:     Gumbel, then the candidate at the winning index.
Reference: McSherry & Talwar 2007.
Proof:     exponential.proof.md
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dpselect.errors import InvalidParameter, shown
from dpselect.exact.numbers import Number
from dpselect.mechanisms.arguments import score_domain
from dpselect.mechanisms.report_noisy_max_gumbel import make_report_noisy_max_gumbel
from dpselect.privacy.domains import VectorDomain, vector_domain
from dpselect.privacy.measurement import Measurement
from dpselect.privacy.metrics import ScoreMetric
from dpselect.selection.scores import Optimize


def make_exponential_mechanism(
    input_domain: VectorDomain,
    input_metric: ScoreMetric,
    candidates: Sequence[Any],
    scale: Number,
    optimize: Optimize = "max",
) -> Measurement:
    """Select one of the public candidates, by their scores in the same order.

    Precondition
        candidates are public                     claimed by the caller
        no two of them are equal                  checked here, of those that have a hash
        as many scores as candidates              checked here and when drawn
        otherwise as in ``make_report_noisy_top_k``

    Postcondition
        ``m(scores)`` is candidates[i] with probability exactly exp(s_i / scale) / sum_j exp(s_j / scale).

    Runtime
        O(n) for n candidates: one pass over the scores, then a bounded expected number of proposals.

    Utility
        With probability at least 1 - beta the winner's score is within scale * ln(n / beta) of the best.

    >>> from dpselect.privacy import atom_domain, linf_distance, vector_domain
    >>> scores, votes = vector_domain(atom_domain(int)), linf_distance(monotonic=True)
    >>> make_exponential_mechanism(scores, votes, ["tea", "coffee"], scale=0)([3, 12])
    'coffee'
    """
    if not isinstance(candidates, list | tuple) or not candidates:
        raise InvalidParameter.must_be(
            "candidates", "a list or tuple with at least one entry", got=candidates
        )
    domain = score_domain(input_domain)
    if domain.size not in (None, len(candidates)):
        raise InvalidParameter.must_be(
            "candidates", f"{domain.size} in number, as the domain says", got=len(candidates)
        )
    _must_differ(candidates)
    sized = vector_domain(domain.element_domain, len(candidates))
    return make_report_noisy_max_gumbel(sized, input_metric, scale, optimize) >> Pick(tuple(candidates))


def _must_differ(candidates: Sequence[Any]) -> None:
    """Refuse what is listed twice, in whatever spelling of Unicode: it would win twice as often."""
    seen = set()
    for candidate in candidates:
        key = unicodedata.normalize("NFC", candidate) if isinstance(candidate, str) else candidate
        try:
            is_known = key in seen
            seen.add(key)
        except TypeError:  # it has no hash
            continue
        if is_known:
            raise InvalidParameter(f"candidates must be different from each other; got {shown(key)} twice.")


@dataclass(frozen=True)
class Pick:
    """Public candidates, to pick one of by its index."""

    candidates: tuple[Any, ...]

    def __call__(self, index: int) -> Any:
        """Pick."""
        return self.candidates[index]
