"""dpselect.mechanisms.constant_normaliser: laws walked, prices attained, in every currency."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest

from dpselect import (
    ApproxZCDP,
    absolute_distance,
    approximate,
    atom_domain,
    linf_distance,
    make_geometric,
    make_randomized_response,
    max_divergence,
    range_divergence,
    renyi_divergence,
    vector_domain,
    zero_concentrated_divergence,
)
from dpselect.audit import enumerate_law
from dpselect.errors import InvalidParameter, OutsideDomain
from tests.costs import calls
from tests.exact.sources import untouchable
from tests.statistics import g_statistic, threshold

WHOLE, APART = atom_domain(int), absolute_distance()


def geometric_law(x: int, scale: float, reach: int = 80) -> dict[int, float]:
    weights = {y: math.exp(-abs(y - x) / scale) for y in range(x - reach, x + reach + 1)}
    return {y: weight / sum(weights.values()) for y, weight in weights.items()}


def response_law(k: int, epsilon: float, truth: int) -> list[float]:
    total = math.exp(epsilon) + k - 1
    return [(math.exp(epsilon) if option == truth else 1) / total for option in range(k)]


def divergence(one: Any, other: Any, alpha: float) -> float:
    pairs = zip(one, other, strict=True)
    terms = [alpha * math.log(p) + (1 - alpha) * math.log(q) for p, q in pairs]
    most = max(terms)
    return (most + math.log(math.fsum(math.exp(term - most) for term in terms))) / (alpha - 1)


def test_the_geometric_mechanism_has_the_law_of_discrete_laplace_noise() -> None:
    m = make_geometric(WHOLE, APART, 2)
    drawn = Counter(m(7) for _ in range(2000))
    cells = [*range(2, 13)]
    law = geometric_law(7, 2.0)
    inside = [law[y] for y in cells]
    counts = [drawn[y] for y in cells]
    counts.append(2000 - sum(counts))
    assert g_statistic(counts, [*inside, 1 - sum(inside)]) < threshold(12)
    wrong = geometric_law(7, 4.0)
    assert g_statistic(counts, [*(wrong[y] for y in cells), 1 - sum(wrong[y] for y in cells)]) > threshold(12)


@pytest.mark.parametrize("distance", [1, 2, 3])
@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(2)])
def test_the_price_of_the_geometric_mechanism_is_attained_and_never_exceeded(
    distance: int, scale: Fraction
) -> None:
    one, other = geometric_law(0, float(scale)), geometric_law(distance, float(scale), 80 + distance)
    losses = [math.log(one[y] / other[y]) for y in range(-20, 21)]
    price = float(distance / scale)
    assert max(map(abs, losses)) == pytest.approx(price, rel=1e-9)
    assert make_geometric(WHOLE, APART, scale).map(distance) == distance / scale
    rho = make_geometric(WHOLE, APART, scale, privacy_measure=zero_concentrated_divergence()).map(distance)
    curve: Any = make_geometric(WHOLE, APART, scale, privacy_measure=renyi_divergence()).map(distance)
    for alpha in (1.01, 1.5, 2.0, 5.0, 20.0):
        true = divergence([one[y] for y in range(-40, 41)], [other[y] for y in range(-40, 41)], alpha)
        assert true <= alpha * float(rho) * (1 + 1e-9)  # type: ignore[arg-type]
        assert true <= float(curve(Fraction(alpha))) * (1 + 1e-9)
    if distance == 1:
        small = divergence([one[y] for y in range(-40, 41)], [other[y] for y in range(-40, 41)], 1.0001)
        assert small > float(rho) * 0.99  # type: ignore[arg-type]
    spread: Any = make_geometric(WHOLE, APART, scale, privacy_measure=range_divergence()).map(distance)
    assert max(losses) - min(losses) == pytest.approx(float(spread), rel=1e-9)


def test_half_of_what_the_general_formula_would_charge() -> None:
    """The score -|y - x| moves by 1, so the exponential mechanism at scale 2 is charged 2 * 1 / 2."""
    assert make_geometric(WHOLE, APART, 2).map(1) == Fraction(1, 2)


def test_without_noise_the_number_itself_is_given() -> None:
    exact = make_geometric(WHOLE, APART, 0)
    assert exact.draw(9, untouchable()) == 9
    assert (exact.map(0), exact.map(1)) == (0, math.inf)
    for measure in (zero_concentrated_divergence(), range_divergence()):
        assert make_geometric(WHOLE, APART, 0, privacy_measure=measure).map(1) == math.inf
    curve: Any = make_geometric(WHOLE, APART, 0, privacy_measure=renyi_divergence()).map(1)
    assert curve(2) == math.inf
    profile: Any = make_geometric(WHOLE, APART, 0, privacy_measure=approximate(max_divergence())).map(1)
    assert profile.delta(5) >= 1
    loss: Any = make_geometric(
        WHOLE, APART, 0, privacy_measure=approximate(zero_concentrated_divergence())
    ).map(1)
    assert loss == ApproxZCDP(math.inf, 0)


@pytest.mark.parametrize(("k", "epsilon"), [(1, "1"), (2, "1"), (3, "2/3"), (5, "1/4")])
def test_the_law_of_randomized_response_is_walked(k: int, epsilon: str) -> None:
    m = make_randomized_response([*range(k)], epsilon)
    found = enumerate_law(lambda randomness: m.draw(0, randomness), 14, 1)
    assert found.unresolved < Fraction(1, 50)
    for option, p in enumerate(response_law(k, float(Fraction(epsilon)), 0)):
        low = found.lower.get(option, Fraction(0))
        assert low - Fraction(1, 10**12) <= p <= low + found.unresolved + Fraction(1, 10**12)


@pytest.mark.parametrize("k", [2, 3, 50])
@pytest.mark.parametrize("epsilon", [Fraction(1, 3), Fraction(2), Fraction(5)])
def test_the_price_of_randomized_response_is_attained_in_every_currency(k: int, epsilon: Fraction) -> None:
    options = [f"option {place}" for place in range(k)]
    one, other = (response_law(k, float(epsilon), truth) for truth in (0, 1))

    def price(measure: Any = None) -> Any:
        return make_randomized_response(options, epsilon, privacy_measure=measure).map(1)

    losses = [math.log(p / q) for p, q in zip(one, other, strict=True)]
    assert max(losses) == pytest.approx(float(price()))
    assert max(losses) - min(losses) == pytest.approx(float(price(range_divergence())))
    rho, curve = float(price(zero_concentrated_divergence())), price(renyi_divergence())
    kl = float(epsilon) * (math.exp(epsilon) - 1) / (math.exp(epsilon) + k - 1)
    above_kl = False
    for alpha in (1.001, 1.2, 2.0, 4.0, 9.0):
        true = divergence(one, other, alpha)
        assert true <= alpha * rho * (1 + 1e-9)
        assert float(curve(Fraction(alpha))) == pytest.approx(true, rel=1e-6)
        above_kl = above_kl or true > alpha * kl * (1 + 1e-6)
    if k == 50 and epsilon == 2:
        assert above_kl  # the Kullback-Leibler divergence is no price
    profile = price(approximate(max_divergence()))
    for e in (0.0, float(epsilon) / 2, float(epsilon)):
        true = math.fsum(max(0.0, p - math.exp(e) * q) for p, q in zip(one, other, strict=True))
        assert float(profile.delta(Fraction(e))) == pytest.approx(true, abs=1e-9)
    assert profile.epsilon(Fraction(1, 10**9)) <= epsilon
    loss = price(approximate(zero_concentrated_divergence()))
    assert loss.delta == 0


@pytest.mark.parametrize("number", [1.5, True, None, math.nan, "7", [7]])
def test_what_is_no_whole_number_is_refused_by_a_constant_sentence(number: Any) -> None:
    with pytest.raises(OutsideDomain, match=r"^the number must be whole: an int, or an integer of NumPy\.$"):
        make_geometric(WHOLE, APART, 1)(number)


def test_one_option_or_no_other_answer_costs_nothing() -> None:
    assert make_randomized_response(["a"], 3).map(1) == 0
    assert make_randomized_response(["a", "b"], 3).map(0) == 0
    for measure in (renyi_divergence(), approximate(max_divergence())):
        assert make_randomized_response(["a"], 3, privacy_measure=measure).map(1) is not None


def test_what_is_no_option_is_refused_by_a_constant_sentence() -> None:
    m = make_randomized_response([0, "secret"], 1)
    for answer in ("other", False, None, 0.5):
        with pytest.raises(OutsideDomain) as refused:
            m(answer)
        assert str(refused.value) == "the answer must be one of the options."
    m.input_domain.check("secret")


@pytest.mark.parametrize(
    "options",
    [
        [1, 1.0],
        [Fraction(1, 2), 0.5],
        ["a", "b", "a"],
        [[1], [1]],
        [{1}, frozenset({1})],
        [frozenset({1}), {1}],
    ],
)
def test_options_that_are_equal_are_refused(options: list[Any]) -> None:
    with pytest.raises(InvalidParameter, match=r"options must be different from each other; got .+ twice\.$"):
        make_randomized_response(options, 1)


def test_options_are_compared_once_each_and_of_any_kind() -> None:
    many = calls(lambda: make_randomized_response(list(range(2000)), 1))
    assert many < 20_000
    for options in ([1, True, 0, False], [[1], [2]], [{1}, frozenset({2})]):
        assert make_randomized_response(options, 50)(options[-1]) == options[-1]


def test_bad_arguments_are_refused() -> None:
    for arguments in (
        (atom_domain(float), APART, 1),
        (atom_domain(int, nullable=True), APART, 1),
        (vector_domain(WHOLE), APART, 1),
        (WHOLE, linf_distance(), 1),
        (WHOLE, APART, -1),
    ):
        with pytest.raises(InvalidParameter):
            make_geometric(*arguments)
    for options, epsilon in (([], 1), ("ab", 1), (["a", "a"], 1), (["a"], 0), (["a", "b"], -1)):
        with pytest.raises(InvalidParameter):
            make_randomized_response(options, epsilon)
    with pytest.raises(InvalidParameter):
        make_geometric(WHOLE, APART, 1, privacy_measure="pure")  # type: ignore[arg-type]
    with pytest.raises(OutsideDomain):
        make_geometric(WHOLE, APART, 1)(1.5)
