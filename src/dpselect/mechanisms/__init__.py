"""The mechanisms: scores in, winners out; each with its price and its proof."""

from dpselect.mechanisms.exponential import make_exponential_mechanism
from dpselect.mechanisms.permute_and_flip import make_permute_and_flip
from dpselect.mechanisms.report_noisy_max_gumbel import make_report_noisy_max_gumbel
from dpselect.mechanisms.report_noisy_top_k import make_report_noisy_max, make_report_noisy_top_k

__all__ = [
    "make_exponential_mechanism",
    "make_permute_and_flip",
    "make_report_noisy_max",
    "make_report_noisy_max_gumbel",
    "make_report_noisy_top_k",
]
