"""How the winners of a question are drawn: with which noise, and why; public numbers alone decide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from dpselect.errors import InvalidParameter
from dpselect.exact.numbers import Number, positive
from dpselect.exact.rounding import figure
from dpselect.mechanisms.each_group import make_draw_of_each_group
from dpselect.mechanisms.exponential_on_runs import make_exponential_mechanism_on_runs
from dpselect.mechanisms.report_noisy_top_k import chosen_noise, make_report_noisy_top_k, noise_for
from dpselect.mechanisms.report_noisy_top_k_with_counts import make_report_noisy_top_k_with_counts
from dpselect.mechanisms.report_noisy_top_k_with_gaps import make_report_noisy_top_k_with_gaps
from dpselect.privacy import Measurement, atom_domain, l1_distance, range_distance, runs_domain
from dpselect.privacy.domains import VectorDomain
from dpselect.privacy.measures import MaxDivergence, Measure
from dpselect.privacy.neighbours import Neighbours
from dpselect.problems.groups import Groups
from dpselect.problems.problem import CHUNK, Problem
from dpselect.release.quorum import QuorumWish
from dpselect.selection.noise import NoiseName
from dpselect.utility.noise_plan import SURE, bounded, noise_for_epsilon
from dpselect.utility.quantile_accuracy import mechanism_of_quantiles, must_be_several_quantiles
from dpselect.utility.worst_case import distance

MOST_LISTED = 2**32
"""Candidates: of no more than these the scores are computed one by one."""
BETWEEN_BOUNDS = "numbers between bounds are drawn without being listed"
NAMED = "named by the caller"
"""The reason of a noise that was not chosen here."""


@dataclass(frozen=True)
class Wishes:
    """What a caller asks for beside the winners: a noise, gaps on a public grid, noisy counts.

    ``people`` is the most for whom the accuracy of pricing or of several quantiles is stated. With
    ``groups`` the question is asked of each of them.
    """

    noise: NoiseName | None = None
    gap: bool = False
    gap_grid: Number | None = None
    people: int | None = None
    counts: bool = False
    quorum: QuorumWish = None
    groups: Groups | None = None
    neighbours: Neighbours = "add_remove"
    several: bool = False
    """Whether each group has a tuple of answers, not one label."""

    def counted(self, problem: Problem, noise: NoiseName, measure: Measure) -> bool:
        """Say whether noisy counts are wanted; refuse them where they are not free."""
        if not isinstance(self.counts, bool):
            raise InvalidParameter.must_be("counts", "True or False", got=self.counts)
        if not self.counts:
            return False
        if not isinstance(measure, MaxDivergence):
            raise InvalidParameter("counts have a proved price in epsilon alone. Give epsilon.")
        if problem.unit != 1:
            raise InvalidParameter(
                f"counts are for scores that count; those of {problem.name} do not. Leave counts out."
            )
        if noise != "laplace":
            way_out = 'Write noise="laplace".'
            if problem.totals is None:
                way_out = "One person may move any number of scores here. Leave counts out."
            raise InvalidParameter(
                "counts are free with Laplace noise alone, whose price is how far all scores move together; "
                f"this question takes {noise} noise. {way_out}"
            )
        return True

    def grid(self, problem: Problem) -> Fraction | None:
        """Give the grid of the gaps, in the units of the score; None if no gap is wanted."""
        if not isinstance(self.gap, bool):
            raise InvalidParameter.must_be("gap", "True or False", got=self.gap)
        if not self.gap:
            if self.gap_grid is not None:
                raise InvalidParameter("gap_grid belongs to gap=True; it is given alone. Write gap=True.")
            return None
        return problem.unit if self.gap_grid is None else positive(self.gap_grid, "gap_grid")


NO_WISHES = Wishes()
"""The winners alone, with the noise that is best for them."""


@dataclass(frozen=True)
class Drawing:
    """What draws the winners at a scale in points, how far neighbours are in points, and why so."""

    noise: NoiseName
    why: str
    d_in: Fraction
    make: Callable[[Fraction], Measurement]
    counted: bool = False


@dataclass(frozen=True)
class AskedDraw:
    """How many winners are asked for, of scores of which domain, and what their price is stated in."""

    problem: Problem
    domain: VectorDomain
    k: int
    measure: Measure
    neighbours: Neighbours


def drawing_of(asked: AskedDraw, wishes: Wishes) -> Drawing:
    """Choose the noise, or take the one that is named; refuse one whose price is not proved here."""
    groups = wishes.groups
    return _of_one(asked, wishes) if groups is None else _of_each(asked, wishes, groups)


def _of_each(asked: AskedDraw, wishes: Wishes, groups: Groups) -> Drawing:
    """Draw for each group as for one, with the noise that is best for one; distances are of people."""
    problem, noise, why = asked.problem, wishes.noise, NAMED
    if noise is None and not problem.at:
        noise, why = _best(asked, in_groups=True)
    wishes = replace(wishes, noise=noise, groups=None)
    added, changed = (
        _of_one(replace(asked, neighbours=relation), wishes) for relation in ("add_remove", "change_one")
    )
    if not problem.at and not drawn_from_runs(problem, asked.k, added.noise) and problem.count > CHUNK:
        raise InvalidParameter(
            f"groups take at most {CHUNK:,} candidates, where these are listed. Give a larger step."
        )

    def make(points: Fraction) -> Measurement:
        return make_draw_of_each_group(
            added.make(points),
            groups.count,
            neighbours=asked.neighbours,
            moves=(added.d_in, changed.d_in),
            per_person=groups.per_person,
        )

    return Drawing(added.noise, added.why if problem.at else why, Fraction(1), make)


def _of_one(asked: AskedDraw, wishes: Wishes) -> Drawing:
    """Choose the noise of one draw."""
    problem, domain, k, measure = asked.problem, asked.domain, asked.k, asked.measure
    if problem.at:
        must_be_several_quantiles(problem, k, wishes.noise)
        if wishes.gap:
            raise InvalidParameter("several quantiles have no gap. Leave gap out.")
        if wishes.counts is not False:
            raise InvalidParameter("several quantiles have no counts. Leave counts out.")
        return Drawing(
            "gumbel",
            BETWEEN_BOUNDS,
            problem.d_range(asked.neighbours),
            lambda scale: mechanism_of_quantiles(problem, measure, scale),
        )
    noise, grid = wishes.noise, wishes.grid(problem)
    drawn, why = (noise, NAMED) if noise is not None else _best(asked)
    if drawn_from_runs(problem, k, drawn):
        wishes.counted(problem, drawn, measure)
        if grid is not None:
            raise InvalidParameter(
                "gap is for candidates that are listed; one number between bounds is drawn without a list. "
                'Write noise="exponential" with epsilon, or give candidates=.'
            )
        return _from_runs(problem, measure, asked.neighbours, why)
    if problem.count > MOST_LISTED:
        raise InvalidParameter(
            f"k must be 1, with Gumbel noise, where there are more than {MOST_LISTED:,} candidates. "
            "Give a larger step."
        )
    laplace = drawn == "laplace"
    reach = _how_far(asked, laplace=laplace)
    metric = l1_distance() if laplace else range_distance()
    checked = chosen_noise(drawn, metric, measure, k)
    counted = wishes.counted(problem, checked, measure)

    def make(points: Fraction) -> Measurement:
        if counted:
            return make_report_noisy_top_k_with_counts(domain, metric, measure, k, points, grid=grid)
        if grid is not None:
            return make_report_noisy_top_k_with_gaps(
                domain, metric, measure, k, points, grid / problem.unit, noise=checked
            )
        return make_report_noisy_top_k(domain, metric, measure, k, points, noise=checked)

    return Drawing(checked, why, reach / problem.unit, make, counted)


def drawn_from_runs(problem: Problem, k: int, noise: NoiseName) -> bool:
    """Say whether a winner is drawn from runs of a grid, which is not listed."""
    return k == 1 and problem.has_runs and noise == "gumbel"


def _from_runs(problem: Problem, measure: Measure, neighbours: Neighbours, why: str) -> Drawing:
    runs = runs_domain(atom_domain(int), problem.count)

    def make(points: Fraction) -> Measurement:
        return make_exponential_mechanism_on_runs(runs, range_distance(), points, privacy_measure=measure)

    return Drawing("gumbel", why, problem.d_range(neighbours) / problem.unit, make)


def _how_far(asked: AskedDraw, *, laplace: bool) -> Fraction:
    """Give the distance of neighbours that the noise is priced by."""
    problem, neighbours = asked.problem, asked.neighbours
    return bounded(problem.l1(neighbours), "noise") if laplace else problem.d_range(neighbours)


def _best(asked: AskedDraw, *, in_groups: bool = False) -> tuple[NoiseName, str]:
    """Choose the noise with the best proved accuracy for the measure; say why, in public numbers.

    Numbers between bounds may be too many to list, so one of them is drawn with Gumbel noise: on stretches of
    equal score it is as good.
    """
    problem, k, neighbours = asked.problem, asked.k, asked.neighbours
    if k == 1 and problem.has_runs:
        return "gumbel", BETWEEN_BOUNDS
    usual = noise_for(asked.measure)
    if not isinstance(asked.measure, MaxDivergence):
        return usual, "what this definition of privacy is paid in"
    n, reach, together = problem.count, problem.d_range(neighbours), problem.l1(neighbours)
    if in_groups and neighbours == "change_one":
        # A person who changes groups leaves one and enters another.
        reach, alone = max(reach, 2 * problem.d_range("add_remove")), problem.l1("add_remove")
        together = None if together is None or alone is None else max(together, 2 * alone)
    if together is None:
        return usual, "one person may move any number of scores, so Laplace noise has no price"
    best, draws = noise_for_epsilon(n, k, reach, together), min(k, n - 1)
    other: NoiseName = "laplace" if best == usual else usual
    if not draws or not reach:
        return best, "there is no choice to hide"
    costs = {"laplace": together, usual: draws * reach}
    times = costs[other] * distance(other, n, draws, 1 - SURE) / costs[best]
    ratio = times / distance(best, n, draws, 1 - SURE)
    return best, f"the more accurate: the promise of {other} noise would be {figure(ratio)} times as wide"
