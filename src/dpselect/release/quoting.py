"""Price: find the noise that a budget pays for, before anything is paid or looked at."""

from __future__ import annotations

import importlib.metadata
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import islice

from dpselect.accounting import calibrate
from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import Number, positive, whole
from dpselect.ledger.reasons import question_name, question_reason
from dpselect.privacy import Measurement, atom_domain, vector_domain
from dpselect.privacy.losses import ZCDP, PureDP, RenyiDP, WritableLoss
from dpselect.privacy.measures import measure_of
from dpselect.problems.candidates import Grid
from dpselect.problems.groups import Groups
from dpselect.problems.problem import Problem
from dpselect.release.data import Data, PublicFacts, must_be_askable
from dpselect.release.drawing import NO_WISHES, AskedDraw, Wishes, drawing_of
from dpselect.release.group_form import AskedGroups, confidence_of_each
from dpselect.release.labels import label_text, plain_label
from dpselect.release.quorum import beside_a_quorum, quorum_score
from dpselect.release.quote import Quote
from dpselect.selection.noise import NoiseName
from dpselect.utility import Accuracy, within
from dpselect.utility.accuracy import within_of_people
from dpselect.utility.quantile_accuracy import accuracy_of_quantiles
from dpselect.utility.worst_case import whole_laplace_distance

FIRST_CANDIDATES = 3
"""How many candidates are shown by name."""
CONFIDENCE = Fraction(99, 100)
"""The probability with which the accuracy of a quote holds."""


def quoted(
    problem: Problem,
    data: Data,
    k: int,
    budget: WritableLoss,
    wishes: Wishes = NO_WISHES,
) -> tuple[Quote, Measurement]:
    """Find the noise that the budget pays for; give the quote, and what draws the winners."""
    must_be_askable(problem, data)
    return priced(problem, PublicFacts.of(data), k, budget, wishes)


def priced(
    problem: Problem,
    facts: PublicFacts,
    k: int,
    budget: WritableLoss,
    wishes: Wishes,
) -> tuple[Quote, Measurement]:
    """Give the quote of a question that may be asked; the same for the same arguments."""
    wishes = asked_of_groups(problem, facts, wishes)
    asked, groups = problem, wishes.groups
    if wishes.quorum is not None:
        if wishes.gap or wishes.counts:
            raise InvalidParameter("quorum does not go with gap or counts so far. Leave one of them out.")
        if wishes.people is not None:
            raise InvalidParameter(
                "quorum does not go with people so far. Leave people out, or give quorum=None."
            )
        asked = beside_a_quorum(problem)
    n, winners = asked.count, whole(k, "k", least=1, most=problem.count)
    domain = vector_domain(atom_domain(float if facts.of_scores else int), size=n)
    drawing = drawing_of(AskedDraw(asked, domain, winners, measure_of(budget), wishes.neighbours), wishes)
    points = calibrate(drawing.make, budget, drawing.d_in)
    scale, price = points * problem.unit, budget if points else _nothing(budget)
    promised = Promise(asked, drawing.noise, scale, winners, wishes.people)
    promise = promised(CONFIDENCE)
    sure = confidence_of_each(CONFIDENCE, 1 if groups is None else groups.count)
    if drawing.counted:
        far = scale * whole_laplace_distance(n - winners, winners, 1 - CONFIDENCE)
        promise = replace(promise, within=far)
    if wishes.quorum is not None:
        whole_scores = not facts.of_scores
        least = replace(promised, k=1)(sure).within
        score = quorum_score(wishes.quorum, problem, least, whole=whole_scores)
        promise = replace(promise, n=problem.count, quorum=score)
    quote = Quote(
        price=price,
        neighbours=wishes.neighbours,
        unit=facts.unit,
        mechanism=drawing.noise,
        scale=scale,
        accuracy=promise,
        dataset=facts.dataset,
        version=_version(),
        problem=problem.digest if groups is None else groups.digest(problem),
        first_candidates=tuple(map(label_text, map(plain_label, islice(problem.outputs, FIRST_CANDIDATES)))),
        step=_step(problem),
        noise_reason=drawing.why,
        unit_is_column=not facts.of_scores and facts.unit is not None,
        reading=facts.reading,
        gap_grid=wishes.grid(problem),
        where=facts.where,
        counted=drawing.counted,
        groups=None
        if groups is None
        else _asked_groups(groups, promised(sure).within, several=wishes.several),
    )
    reason = question_reason(
        question_name(problem.title, problem.columns, quote.dataset, each=quote.by),
        k=promise.k,
        n=problem.count,
        price=price,
        neighbours=wishes.neighbours,
        digest=quote.problem,
        details=quote.details,
    )
    return replace(quote, reason=reason), drawing.make(points)


def asked_of_groups(problem: Problem, facts: PublicFacts, wishes: Wishes) -> Wishes:
    """Refuse groups that data of this kind has not; take no quorum where "auto" has no meaning."""
    groups = wishes.groups
    if groups is None:
        return wishes
    for name, wished in (("gap", wishes.gap), ("counts", wishes.counts)):
        if wished is not False:
            raise InvalidParameter(f"{name} does not go with groups so far. Leave it out.", parameter=name)
    if facts.of_scores:
        raise InvalidParameter("groups are those of a table; Scores have none. Leave by and groups out.")
    if facts.unit is None and groups.per_person > 1:
        raise InvalidParameter.must_be(
            "groups_per_person",
            "1 where each row is a person, who is in one group",
            got=groups.per_person,
        )
    return (
        wishes
        if problem.beside_a_constant is not None or wishes.quorum != "auto"
        else replace(wishes, quorum=None)
    )


def _asked_groups(groups: Groups, together: Fraction, *, several: bool) -> AskedGroups:
    """Write down what is public of groups, with the accuracy that holds for all of them together."""
    labels = tuple(map(plain_label, groups.labels))
    return AskedGroups(groups.column, labels, groups.per_person, together, several)


@dataclass(frozen=True)
class Promise:
    """How good an answer will be, for each confidence."""

    problem: Problem
    noise: NoiseName
    scale: Fraction
    k: int
    people: int | None

    def __call__(self, confidence: Fraction) -> Accuracy:
        """Say how good."""
        problem, noise = self.problem, self.noise
        if problem.at:
            return accuracy_of_quantiles(problem, self.scale, 1 - confidence, self.people)
        distance, people = within(noise, self.scale, problem.count, self.k, confidence), self.people
        if people is not None:
            people = whole(people, "people", least=0)
            of_people = within_of_people(
                problem, mechanism=noise, scale=self.scale, k=self.k, doubt=1 - confidence, people=people
            )
            distance = min(distance, of_people)
        named = problem.target, problem.measured_in
        return Accuracy(
            distance, confidence, noise, problem.unit, self.k, problem.count, *named, people=people
        )


def _step(problem: Problem) -> Fraction | None:
    """Give the distance of neighbouring candidates, if they are numbers between bounds."""
    between = problem.candidates if problem.has_runs or problem.at else None
    return between.step if isinstance(between, Grid) else None


def the_budget(epsilon: Number | None, rho: Number | None, budget: WritableLoss | None) -> WritableLoss:
    """Read the one budget that is given."""
    given = [each for each in (epsilon, rho, budget) if each is not None]
    if len(given) != 1:
        raise InvalidParameter(
            f"exactly one of epsilon, rho and budget must be given; got {len(given) or 'none'}. "
            'Write epsilon="1/2".'
        )
    loss = budget
    if epsilon is not None:
        loss = PureDP(positive(epsilon, "epsilon"))
    elif rho is not None:
        loss = ZCDP(positive(rho, "rho"))
    if not isinstance(loss, WritableLoss):
        raise InvalidParameter.must_be(
            "budget", "a loss", got=loss, way_out='Write PureDP("1/2"), ZCDP("1/8") or ApproxDP(1, "1e-6").'
        )
    if isinstance(loss, RenyiDP):
        loss.to_facts()  # a formula cannot be written down
    elif not 0 < loss.amount < float("inf"):
        raise InvalidParameter.must_be(loss.symbol, "above zero and finite", got=loss.amount)
    return loss


def _nothing(budget: WritableLoss) -> WritableLoss:
    """Give the price of no choice, in the currency of the budget."""
    if isinstance(budget, RenyiDP) and budget.curve.table is not None:
        return RenyiDP({order: 0 for order, _ in budget.curve.table.points})
    return budget * 0


@cache
def _version() -> str:
    return importlib.metadata.version("dpselect")
