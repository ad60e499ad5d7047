"""Private selection: *which* candidate is best, from data about people, with an exact guarantee.

Every public name is found here: ``from dpselect import Measurement``. Each is loaded when it is first
asked for, so that ``import dpselect`` costs next to nothing and loads neither NumPy nor FLINT.

A new public name is added in two places: in ``_HOMES`` for Python, and among the imports for type checkers.

>>> from dpselect import Scores, custom, prepare
>>> dish = custom(candidates=["tea", "soup"], sensitivity=1, monotonic=True)
>>> with prepare(dish, Scores([3100, 17]), epsilon="1/2") as question:
...     print(question.quote.accuracy)
within 7.83 (rounded up) of the best score, with probability 0.99 or more (exponential noise)
"""

from importlib import import_module

TYPE_CHECKING = False  # as in ``typing``, whose import would take ten times as long as this file

__version__ = "0.1.0"

_HOMES = {
    "Accuracy": "dpselect.utility",
    "AlreadyAnswered": "dpselect.errors",
    "AlreadyCharged": "dpselect.errors",
    "AnswerLost": "dpselect.errors",
    "ApproxDP": "dpselect.privacy",
    "ApproxZCDP": "dpselect.privacy",
    "BoundedRange": "dpselect.accounting",
    "BudgetExhausted": "dpselect.errors",
    "Account": "dpselect.ledger",
    "Entry": "dpselect.ledger",
    "LaplaceDominated": "dpselect.accounting",
    "Ledger": "dpselect.ledger",
    "LedgerDamaged": "dpselect.errors",
    "LedgerUnavailable": "dpselect.errors",
    "Measurement": "dpselect.privacy",
    "PrivacyProfile": "dpselect.privacy",
    "PureDP": "dpselect.privacy",
    "Quote": "dpselect.release",
    "Release": "dpselect.release",
    "RenyiCurve": "dpselect.privacy",
    "RenyiDP": "dpselect.privacy",
    "RequestChanged": "dpselect.errors",
    "Scores": "dpselect.problems",
    "Table": "dpselect.engines",
    "UnmeteredRelease": "dpselect.errors",
    "ZCDP": "dpselect.privacy",
    "absolute_distance": "dpselect.privacy",
    "accuracy": "dpselect.utility",
    "approval_voting": "dpselect.problems",
    "approximate": "dpselect.privacy",
    "atom_domain": "dpselect.privacy",
    "borda": "dpselect.problems",
    "calibrate": "dpselect.accounting",
    "chance_of_best": "dpselect.utility",
    "change_one_distance": "dpselect.privacy",
    "check": "dpselect.owner",
    "compose": "dpselect.accounting",
    "convert": "dpselect.accounting",
    "counting": "dpselect.problems",
    "custom": "dpselect.problems",
    "epsilon_for": "dpselect.utility",
    "expected_error": "dpselect.utility",
    "l1_distance": "dpselect.privacy",
    "lead_needed": "dpselect.utility",
    "linf_distance": "dpselect.privacy",
    "make_best_of_random_count": "dpselect.mechanisms",
    "make_exponential_mechanism": "dpselect.mechanisms",
    "make_exponential_mechanism_on_integers": "dpselect.mechanisms",
    "make_exponential_mechanism_on_runs": "dpselect.mechanisms",
    "make_geometric": "dpselect.mechanisms",
    "make_permute_and_flip": "dpselect.mechanisms",
    "make_randomized_response": "dpselect.mechanisms",
    "make_report_noisy_max": "dpselect.mechanisms",
    "make_report_noisy_max_gumbel": "dpselect.mechanisms",
    "make_report_noisy_top_k": "dpselect.mechanisms",
    "make_report_noisy_top_k_with_counts": "dpselect.mechanisms",
    "make_report_noisy_top_k_with_gaps": "dpselect.mechanisms",
    "make_select_private_candidate": "dpselect.mechanisms",
    "max_divergence": "dpselect.privacy",
    "most_common": "dpselect.problems",
    "plot_accuracy": "dpselect.utility",
    "plot_chance": "dpselect.utility",
    "plot_law": "dpselect.utility",
    "plot_ledger": "dpselect.utility",
    "plot_plan": "dpselect.utility",
    "plot_summary": "dpselect.utility",
    "plurality": "dpselect.problems",
    "prepare": "dpselect.release",
    "pricing": "dpselect.problems",
    "quantile": "dpselect.problems",
    "quantiles": "dpselect.problems",
    "range_distance": "dpselect.privacy",
    "range_divergence": "dpselect.privacy",
    "renyi_divergence": "dpselect.privacy",
    "runs_domain": "dpselect.privacy",
    "select": "dpselect.release",
    "select_each": "dpselect.release",
    "summary": "dpselect.release",
    "steps_domain": "dpselect.privacy",
    "symmetric_distance": "dpselect.privacy",
    "threshold": "dpselect.problems",
    "top_k": "dpselect.release",
    "top_k_each": "dpselect.release",
    "user_measurement": "dpselect.privacy",
    "vector_domain": "dpselect.privacy",
    "weighted_sum": "dpselect.problems",
    "window": "dpselect.problems",
    "zero_concentrated_divergence": "dpselect.privacy",
}

__all__ = list(_HOMES)

if TYPE_CHECKING:
    from dpselect.accounting import BoundedRange as BoundedRange
    from dpselect.accounting import LaplaceDominated as LaplaceDominated
    from dpselect.accounting import calibrate as calibrate
    from dpselect.accounting import compose as compose
    from dpselect.accounting import convert as convert
    from dpselect.engines import Table as Table
    from dpselect.errors import AlreadyAnswered as AlreadyAnswered
    from dpselect.errors import AlreadyCharged as AlreadyCharged
    from dpselect.errors import AnswerLost as AnswerLost
    from dpselect.errors import BudgetExhausted as BudgetExhausted
    from dpselect.errors import LedgerDamaged as LedgerDamaged
    from dpselect.errors import LedgerUnavailable as LedgerUnavailable
    from dpselect.errors import RequestChanged as RequestChanged
    from dpselect.errors import UnmeteredRelease as UnmeteredRelease
    from dpselect.ledger import Account as Account
    from dpselect.ledger import Entry as Entry
    from dpselect.ledger import Ledger as Ledger
    from dpselect.mechanisms import make_best_of_random_count as make_best_of_random_count
    from dpselect.mechanisms import make_exponential_mechanism as make_exponential_mechanism
    from dpselect.mechanisms import (
        make_exponential_mechanism_on_integers as make_exponential_mechanism_on_integers,
    )
    from dpselect.mechanisms import make_exponential_mechanism_on_runs as make_exponential_mechanism_on_runs
    from dpselect.mechanisms import make_geometric as make_geometric
    from dpselect.mechanisms import make_permute_and_flip as make_permute_and_flip
    from dpselect.mechanisms import make_randomized_response as make_randomized_response
    from dpselect.mechanisms import make_report_noisy_max as make_report_noisy_max
    from dpselect.mechanisms import make_report_noisy_max_gumbel as make_report_noisy_max_gumbel
    from dpselect.mechanisms import make_report_noisy_top_k as make_report_noisy_top_k
    from dpselect.mechanisms import make_report_noisy_top_k_with_counts as make_report_noisy_top_k_with_counts
    from dpselect.mechanisms import make_report_noisy_top_k_with_gaps as make_report_noisy_top_k_with_gaps
    from dpselect.mechanisms import make_select_private_candidate as make_select_private_candidate
    from dpselect.owner import check as check
    from dpselect.privacy import ZCDP as ZCDP
    from dpselect.privacy import ApproxDP as ApproxDP
    from dpselect.privacy import ApproxZCDP as ApproxZCDP
    from dpselect.privacy import Measurement as Measurement
    from dpselect.privacy import PrivacyProfile as PrivacyProfile
    from dpselect.privacy import PureDP as PureDP
    from dpselect.privacy import RenyiCurve as RenyiCurve
    from dpselect.privacy import RenyiDP as RenyiDP
    from dpselect.privacy import absolute_distance as absolute_distance
    from dpselect.privacy import approximate as approximate
    from dpselect.privacy import atom_domain as atom_domain
    from dpselect.privacy import change_one_distance as change_one_distance
    from dpselect.privacy import l1_distance as l1_distance
    from dpselect.privacy import linf_distance as linf_distance
    from dpselect.privacy import max_divergence as max_divergence
    from dpselect.privacy import range_distance as range_distance
    from dpselect.privacy import range_divergence as range_divergence
    from dpselect.privacy import renyi_divergence as renyi_divergence
    from dpselect.privacy import runs_domain as runs_domain
    from dpselect.privacy import steps_domain as steps_domain
    from dpselect.privacy import symmetric_distance as symmetric_distance
    from dpselect.privacy import user_measurement as user_measurement
    from dpselect.privacy import vector_domain as vector_domain
    from dpselect.privacy import zero_concentrated_divergence as zero_concentrated_divergence
    from dpselect.problems import Scores as Scores
    from dpselect.problems import approval_voting as approval_voting
    from dpselect.problems import borda as borda
    from dpselect.problems import counting as counting
    from dpselect.problems import custom as custom
    from dpselect.problems import most_common as most_common
    from dpselect.problems import plurality as plurality
    from dpselect.problems import pricing as pricing
    from dpselect.problems import quantile as quantile
    from dpselect.problems import quantiles as quantiles
    from dpselect.problems import threshold as threshold
    from dpselect.problems import weighted_sum as weighted_sum
    from dpselect.problems import window as window
    from dpselect.release import Quote as Quote
    from dpselect.release import Release as Release
    from dpselect.release import prepare as prepare
    from dpselect.release import select as select
    from dpselect.release import select_each as select_each
    from dpselect.release import summary as summary
    from dpselect.release import top_k as top_k
    from dpselect.release import top_k_each as top_k_each
    from dpselect.utility import Accuracy as Accuracy
    from dpselect.utility import accuracy as accuracy
    from dpselect.utility import chance_of_best as chance_of_best
    from dpselect.utility import epsilon_for as epsilon_for
    from dpselect.utility import expected_error as expected_error
    from dpselect.utility import lead_needed as lead_needed
    from dpselect.utility import plot_accuracy as plot_accuracy
    from dpselect.utility import plot_chance as plot_chance
    from dpselect.utility import plot_law as plot_law
    from dpselect.utility import plot_ledger as plot_ledger
    from dpselect.utility import plot_plan as plot_plan
    from dpselect.utility import plot_summary as plot_summary
else:
    # Hidden from type checkers: a module with __getattr__ would seem to them to have every name there is.
    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            message = f"module 'dpselect' has no attribute {name!r}"
            raise AttributeError(message)
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
