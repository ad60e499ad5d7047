"""A measurement is a draw and its price, kept together.

What goes wrong while data is in reach is told by a constant sentence, from a frame that no longer holds data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, Protocol, TypeAlias, get_args

from dpselect.errors import (
    DpselectError,
    InvalidParameter,
    MalformedRelease,
    OutsideDomain,
    RandomnessFailed,
    ReleaseFailed,
)
from dpselect.exact.numbers import Number
from dpselect.exact.randomness import Randomness, checked, is_source, system
from dpselect.privacy.domains import AtomDomain, VectorDomain
from dpselect.privacy.groups_domain import GroupsDomain
from dpselect.privacy.measures import Distance, Loss, Measure
from dpselect.privacy.metrics import Metric
from dpselect.privacy.options_domain import OptionsDomain
from dpselect.privacy.runs_domain import RunsDomain
from dpselect.privacy.steps_domain import StepsDomain
from dpselect.silence import run

Domain: TypeAlias = AtomDomain | VectorDomain | RunsDomain | StepsDomain | OptionsDomain | GroupsDomain
Step: TypeAlias = Callable[[Any], Any]
"""What is done with an output."""

UNORDERED = (str, bytes, Mapping, AbstractSet)
"""Iterable, but not a series of chunks in order."""


class Draw(Protocol):
    """What a measurement does: a small frozen callable, so that it compares and shows itself well.

    One whose class says ``checks_domain = True`` refuses by itself what its input domain excludes.
    """

    def __call__(self, arg: Any, randomness: Randomness, /) -> Any:
        """Draw an output."""


@dataclass(frozen=True)
class Measurement:
    """A randomised function of private data, with the map from input to output distance.

    Precondition
        neighbours are within d_in of each other under ``input_metric``       claimed by the caller
        ``privacy_map`` bounds ``output_measure`` of the outputs on them      claimed by its constructor

    >>> from dpselect.privacy import atom_domain, max_divergence, range_distance, vector_domain
    >>> always_tea = user_measurement(
    ...     input_domain=vector_domain(atom_domain(int)),
    ...     input_metric=range_distance(),
    ...     output_measure=max_divergence(),
    ...     function=lambda scores: "tea",
    ...     privacy_map=lambda d_in: 0,
    ... )
    >>> always_tea([3, 1]), always_tea.map(1), always_tea.price(1)
    ('tea', Fraction(0, 1), PureDP('0'))
    """

    input_domain: Domain
    input_metric: Metric
    output_measure: Measure
    function: Draw
    privacy_map: Callable[[Fraction], Any]

    def __post_init__(self) -> None:
        """Refuse parts that are not what they should be."""
        _must_be_one_of(_DOMAINS, "input_domain", "a domain", self.input_domain)
        _must_be_one_of(_METRICS, "input_metric", "a metric", self.input_metric)
        _must_be_one_of(_MEASURES, "output_measure", "a privacy measure", self.output_measure)
        for name in ("function", "privacy_map"):
            if not callable(getattr(self, name)):
                raise InvalidParameter.must_be(name, "a function", got=getattr(self, name))

    def __call__(self, arg: object) -> Any:
        """Draw with the system's randomness."""
        held = [arg]
        del arg
        return self._draw(self.function, held, system())

    def draw(self, arg: object, randomness: Randomness) -> Any:
        """Draw with another source of randomness."""
        held = [arg] if is_source(randomness) else []
        del arg
        return self._draw(self.function, held, checked(randomness))

    def over(self, chunks: Iterable[object], randomness: Randomness | None = None) -> Any:
        """Draw from chunks of the input as from their concatenation, holding one chunk at a time."""
        source = system() if randomness is None else randomness
        function, steps = unwrapped(self.function)
        merges = hasattr(function, "over")
        ordered = isinstance(chunks, Iterable) and not isinstance(chunks, UNORDERED)
        held: list[object] = [chunks] if merges and ordered and is_source(source) else []
        del chunks
        if not ordered:
            raise InvalidParameter(
                "chunks must be arrays of scores in order: a list of them, or an iterator."
            )
        if not merges:
            raise InvalidParameter(
                "this measurement does not select from chunks; "
                "make_report_noisy_top_k and make_report_noisy_max do."
            )
        return self._draw(Merging(function), held, checked(source), steps)

    def _draw(
        self, function: Draw, held: list[object], randomness: Randomness, steps: Sequence[Step] = ()
    ) -> Any:
        """Draw from what is held, let go of it, and only then refuse or post-process."""
        if isinstance(function, Postprocessed):
            function, steps = unwrapped(function)
        output = run(partial(_drawn, function, self.input_domain, held, randomness), _refused)
        for step in steps:
            output = step(output)
        return output

    def map(self, d_in: Number) -> Distance:
        """Bound the distance of the outputs on inputs within d_in of each other."""
        return self.output_measure.distance(self.privacy_map(self.input_metric.distance(d_in)))

    def price(self, d_in: Number) -> Loss:
        """Give the map as a loss: what a release costs if one person moves the input by d_in."""
        return self.output_measure.loss(self.map(d_in))

    def check(self, d_in: Number, d_out: object) -> bool:
        """Say whether the map at d_in is within d_out: a distance, a loss, or (epsilon, delta)."""
        return self.map(d_in) <= self.output_measure.distance(d_out)  # type: ignore[operator]

    def __rshift__(self, then: Callable[[Any], Any]) -> Measurement:
        """Post-process: the price stays, whatever ``then`` does with the output."""
        if not callable(then):
            raise InvalidParameter.must_be("what follows >>", "a function of the output", got=then)
        return replace(self, function=Postprocessed(self.function, then))


_DOMAINS, _METRICS, _MEASURES = get_args(Domain), get_args(Metric), get_args(Measure)


def _must_be_one_of(kinds: tuple[type, ...], name: str, what: str, got: object) -> None:
    if not isinstance(got, kinds):
        raise InvalidParameter.must_be(name, what, got=got)


@dataclass(frozen=True)
class Postprocessed:
    """A draw, and what is done with its output, out of sight of the data."""

    function: Draw
    then: Callable[[Any], Any]

    def __call__(self, arg: object, randomness: Randomness) -> Any:
        """Draw, then post-process."""
        return self.then(self.function(arg, randomness))


def unwrapped(function: Draw) -> tuple[Draw, list[Step]]:
    """Take the draw out of what is done with its output, and list that in order."""
    steps: list[Step] = []
    while isinstance(function, Postprocessed):
        steps.insert(0, function.then)
        function = function.function
    return function, steps


@dataclass(frozen=True)
class Merging:
    """A draw from chunks, by a function that knows how to merge them."""

    function: Any

    checks_domain: ClassVar = True

    def __call__(self, chunks: Iterable[object], randomness: Randomness) -> Any:
        """Draw from the chunks."""
        return self.function.over(_guarded(chunks), randomness)


def _guarded(chunks: Iterable[object]) -> Iterator[object]:
    """Pass chunks on; an OutsideDomain from the caller's iterator is not one of ours, and is withheld."""
    try:
        yield from chunks
    except OutsideDomain:
        raise ReleaseFailed from None


def _drawn(function: Draw, domain: Domain, held: list[object], randomness: Randomness) -> Any:
    """Draw from what is held; of a function of the caller's own, a refusal of the domain means nothing."""
    arg = held.pop()
    if getattr(function, "checks_domain", False):
        return function(arg, randomness)
    domain.check(arg)
    try:
        return function(arg, randomness)
    except OutsideDomain:
        raise ReleaseFailed from None


def _refused(error: Exception) -> DpselectError:
    """Say afresh what our own sentences say, and anything else by a constant one."""
    if isinstance(error, OutsideDomain):
        return OutsideDomain(*error.args)
    for kind in (RandomnessFailed, MalformedRelease):
        if isinstance(error, kind):
            return kind()
    return ReleaseFailed()


def user_measurement(
    *,
    input_domain: Domain,
    input_metric: Metric,
    output_measure: Measure,
    function: Callable[[Any], Any],
    privacy_map: Callable[[Fraction], Any],
) -> Measurement:
    """Wrap a function of yours, with the price that you claim for it.

    The claim is yours: nothing here can check that ``privacy_map`` is true of ``function``.
    """
    if not callable(function):
        raise InvalidParameter.must_be("function", "a function", got=function)
    return Measurement(input_domain, input_metric, output_measure, PlainFunction(function), privacy_map)


@dataclass(frozen=True)
class PlainFunction:
    """A function that brings its own randomness."""

    function: Callable[[Any], Any]

    def __call__(self, arg: object, randomness: Randomness) -> Any:
        """Call it."""
        del randomness
        return self.function(arg)
