"""The mechanisms: scores in, winners out; each has its price and its proof.

>>> from dpselect.mechanisms import make_report_noisy_max_gumbel
>>> from dpselect.privacy import atom_domain, linf_distance, vector_domain
>>> select = make_report_noisy_max_gumbel(vector_domain(atom_domain(int)), linf_distance(), scale=4)
>>> select([3, 1, 2]) in range(3)
True
>>> select.price(1)  # each score of a neighbour differs by at most 1
PureDP('1/2')
"""

from dpselect.mechanisms.best_of_random_count import make_best_of_random_count
from dpselect.mechanisms.constant_normaliser import make_geometric, make_randomized_response
from dpselect.mechanisms.exponential import make_exponential_mechanism
from dpselect.mechanisms.exponential_on_integers import make_exponential_mechanism_on_integers
from dpselect.mechanisms.exponential_on_runs import make_exponential_mechanism_on_runs
from dpselect.mechanisms.permute_and_flip import make_permute_and_flip
from dpselect.mechanisms.repetition_counts import geometric, logarithmic, poisson, truncated_negative_binomial
from dpselect.mechanisms.report_noisy_max_gumbel import make_report_noisy_max_gumbel
from dpselect.mechanisms.report_noisy_top_k import make_report_noisy_max, make_report_noisy_top_k
from dpselect.mechanisms.report_noisy_top_k_with_counts import make_report_noisy_top_k_with_counts
from dpselect.mechanisms.report_noisy_top_k_with_gaps import make_report_noisy_top_k_with_gaps
from dpselect.mechanisms.select_private_candidate import make_select_private_candidate

__all__ = [
    "geometric",
    "logarithmic",
    "make_best_of_random_count",
    "make_exponential_mechanism",
    "make_exponential_mechanism_on_integers",
    "make_exponential_mechanism_on_runs",
    "make_geometric",
    "make_permute_and_flip",
    "make_randomized_response",
    "make_report_noisy_max",
    "make_report_noisy_max_gumbel",
    "make_report_noisy_top_k",
    "make_report_noisy_top_k_with_counts",
    "make_report_noisy_top_k_with_gaps",
    "make_select_private_candidate",
    "poisson",
    "truncated_negative_binomial",
]
