"""The main job, shown: a private winner of a made-up election, what it costs, and its exact law."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpselect.exact.enclosures import Ball, enclose, exp
from dpselect.exact.numbers import rounded_up
from dpselect.mechanisms import make_exponential_mechanism
from dpselect.privacy import atom_domain, linf_distance, vector_domain

MANNERS = ["Brave", "Calm", "Clever", "Gentle", "Happy", "Lucky", "Merry", "Noble", "Quick", "Witty"]
ANIMALS = ["Otter", "Heron", "Lynx", "Badger", "Falcon", "Hedgehog", "Salmon", "Beaver", "Marten", "Owl"]
NAMES = [f"{MANNERS[i % 10]} {ANIMALS[(i + i // 10) % 10]}" for i in range(100)]
VOTES = [480 - 12 * rank if rank < 5 else 4000 // (rank + 10) for rank in range(len(NAMES))]
SCALE = Fraction(10)
LEADERS = 6


def probability(winner: int, scores: Sequence[int], scale: Fraction) -> Fraction:
    """Bound from above the exact probability that a candidate wins."""

    def softmax(inverse_scale: Ball) -> Ball:
        return 1 / sum((((score - scores[winner]) * inverse_scale).exp() for score in scores), start=Ball(0))

    return enclose(softmax, 1 / scale).high


def main() -> None:
    """Draw once, and print."""
    one_vote_moves_scores_up = linf_distance(monotonic=True)
    election = make_exponential_mechanism(
        vector_domain(atom_domain(int)), one_vote_moves_scores_up, NAMES, SCALE
    )
    print(f"A made-up mascot election: {len(NAMES)} names, {sum(VOTES):,} approvals by a public formula.\n")
    print(f"  winner  {election(VOTES)}")
    print(f"  price   {election.price(1)}: whoever sees the winner, the odds they give to anything about one")
    print(f"          voter change by at most a factor of {rounded_up(exp(1 / SCALE).high, 3)}.\n")
    print("The votes are public here, so we may look behind the curtain, at the exact law of the winner:\n")
    for i in range(LEADERS):
        chance = 100 * probability(i, VOTES, SCALE)
        print(
            f"  {NAMES[i]:<14} {VOTES[i]:>4} votes  {rounded_up(chance, 4):>8} %  {'█' * round(chance / 2)}"
        )
    print("\nRun it again: the winner is drawn afresh, by exactly these probabilities (rounded up).")


if __name__ == "__main__":
    main()
