"""Composition: what several releases cost together, each chosen in view of the ones before.

Losses of one kind add by themselves: ``loss * times``, ``loss + other``. This is for lists of several kinds,
and for guarantees that do not add. Which guarantee each release has must be fixed in advance.

Proof: compose.proof.md
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, overload

from dpselect.accounting.bounded_range_composition import BoundedRangeComposition
from dpselect.accounting.convert import L, convert, kind_of, target
from dpselect.accounting.guarantees import BoundedRange, Guarantee
from dpselect.accounting.pure_composition import MOST_TERMS, PureCompositionProfile
from dpselect.accounting.shifted import Shifted
from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import Number
from dpselect.privacy.losses import ZCDP, ApproxDP, ApproxZCDP, PureDP, RenyiDP
from dpselect.privacy.measures import Loss
from dpselect.privacy.profiles import PrivacyProfile


@overload
def compose(losses: Iterable[Loss | Guarantee]) -> Loss: ...
@overload
def compose(
    losses: Iterable[Loss | Guarantee],
    to: type[L],
    *,
    delta: Number | None = None,
    epsilon: Number | None = None,
) -> L: ...
def compose(
    losses: Iterable[Loss | Guarantee],
    to: type[Any] | None = None,
    *,
    delta: Number | None = None,
    epsilon: Number | None = None,
) -> Any:
    """Give the loss of all the releases together, in the strongest kind that they share, or in the one named.

    Shared by pure losses is PureDP; with zero-concentrated ones, ZCDP; with Rényi ones, a BoundedRange or a
    LaplaceDominated, RenyiDP; by pairs and pure losses, ApproxDP; by these and concentrated ones, with a
    delta or without, ApproxZCDP; otherwise PrivacyProfile. For the least
    epsilon at a delta that we can prove, name ``to=ApproxDP`` and the delta: it is computed from the list,
    not from its shared kind.

    Precondition
        each release satisfies its guarantee, whatever those before it answered    claimed by the caller

    >>> compose([PureDP(1), PureDP("1/2")])
    PureDP('3/2')
    >>> from dpselect.accounting import BoundedRange
    >>> print(compose([BoundedRange("0.1")] * 100, ApproxDP, delta="1e-6"))
    epsilon 2.254 (rounded up) with delta 0.000001
    """
    counts = _counted(losses)
    if to is None and (delta is not None or epsilon is not None):
        raise InvalidParameter("delta and epsilon must come with to=ApproxDP; got one without it.")
    wanted: type[Any] = _shared_kind(counts) if to is None else target(to)
    if wanted is PrivacyProfile or (wanted is ApproxDP and not (delta is None and epsilon is None)):
        return convert(_profile(counts), wanted, delta=delta, epsilon=epsilon)
    return sum(
        (convert(loss, wanted, delta=delta, epsilon=epsilon) * n for loss, n in counts.items()),
        start=wanted.zero(),
    )


def _counted(losses: Any) -> Counter[Loss | Guarantee]:
    """Count equal guarantees, so that a hundred of them are priced once."""
    if not isinstance(losses, Iterable) or isinstance(losses, str | Mapping):
        raise InvalidParameter.must_be(
            "losses", "a list of losses", got=losses, way_out="Write [first, second]."
        )
    parts = list(losses)
    for part in parts:
        kind_of(part)
    return Counter(parts)


def _shared_kind(counts: Counter[Loss | Guarantee]) -> type[Any]:
    """Find the strongest kind that all of them can be converted to."""
    kinds = {type(loss) for loss in counts}
    if kinds <= {PureDP}:
        return PureDP
    if kinds <= {PureDP, ZCDP}:
        return ZCDP
    if kinds <= {PureDP, ApproxDP}:
        return ApproxDP
    if kinds <= {PureDP, ZCDP, ApproxDP, ApproxZCDP}:
        return ApproxZCDP
    return PrivacyProfile if kinds & {PrivacyProfile, ApproxDP, ApproxZCDP} else RenyiDP


def _profile(counts: Counter[Loss | Guarantee]) -> PrivacyProfile:
    """Compose what has a Rényi curve, add the pairs, and let profiles share epsilon or delta.

    A loss of rho and delta is a curve, and beside it the pair of epsilon 0 and its delta.
    """
    counts = _parted(counts)
    pairs = {loss: n for loss, n in counts.items() if isinstance(loss, ApproxDP)}
    profiles = {loss: n for loss, n in counts.items() if isinstance(loss, PrivacyProfile)}
    curves = Counter({loss: n for loss, n in counts.items() if loss not in pairs and loss not in profiles})
    parts = [profile * n for profile, n in profiles.items()]
    pair = sum((loss * n for loss, n in pairs.items()), start=ApproxDP.zero())
    if curves:
        together = _smooth(curves)
        parts.append(PrivacyProfile(Shifted(together, pair)) if pairs else together)
    elif pairs:
        parts.append(convert(pair, PrivacyProfile))
    return sum(parts, start=PrivacyProfile.zero())


def _parted(counts: Counter[Loss | Guarantee]) -> Counter[Loss | Guarantee]:
    parted: Counter[Loss | Guarantee] = Counter()
    for loss, n in counts.items():
        if isinstance(loss, ApproxZCDP):
            parted[ZCDP(loss.rho)] += n
            parted[ApproxDP(0, loss.delta)] += n
        else:
            parted[loss] += n
    return parted


def _smooth(curves: Counter[Loss | Guarantee]) -> PrivacyProfile:
    """Give the least profile that is proved: of one release its own; of more that of their kind or curves."""
    if curves.total() == 1:
        return convert(next(iter(curves)), PrivacyProfile)
    runs = [(loss.epsilon, n) for loss, n in curves.items() if isinstance(loss, PureDP)]
    finite = tuple(sorted((one, n) for one, n in runs if isinstance(one, Fraction)))
    optimum = PureCompositionProfile(finite)
    if len(finite) == len(curves) and optimum.terms <= MOST_TERMS:
        return PrivacyProfile(optimum)
    if len(curves) == 1 and isinstance(only := next(iter(curves)), BoundedRange) and only.eta < math.inf:
        return PrivacyProfile(BoundedRangeComposition(Fraction(only.eta), curves.total()))
    return convert(compose(curves.elements(), RenyiDP), PrivacyProfile)
