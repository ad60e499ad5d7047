"""The main job, shown: a private winner of a made-up election, what it costs, and its exact law."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpselect.exact.enclosures import Ball, enclose, exp
from dpselect.exact.numbers import rounded_up
from dpselect.exact.psrn import Gumbel
from dpselect.exact.randomness import Randomness
from dpselect.privacy import Measurement, atom_domain, linf_distance, max_divergence, vector_domain

MANNERS = ["Brave", "Calm", "Clever", "Gentle", "Happy", "Lucky", "Merry", "Noble", "Quick", "Witty"]
ANIMALS = ["Otter", "Heron", "Lynx", "Badger", "Falcon", "Hedgehog", "Salmon", "Beaver", "Marten", "Owl"]
NAMES = [f"{MANNERS[i % 10]} {ANIMALS[(i + i // 10) % 10]}" for i in range(100)]
VOTES = [480 - 12 * rank if rank < 5 else 4000 // (rank + 10) for rank in range(len(NAMES))]
SCALE = Fraction(10)
LEADERS = 6


@dataclass(frozen=True)
class NoisyMax:
    """Add Gumbel noise to each score and return the index of the largest."""

    scale: Fraction

    def __call__(self, scores: Sequence[int], randomness: Randomness) -> int:
        """Draw an index."""
        numbers = [Gumbel(score, self.scale, randomness) for score in scores]
        best = 0
        for i, number in enumerate(numbers):
            if number.greater_than(numbers[best]):
                best = i
        return best


@dataclass(frozen=True)
class MonotonicScoresOverScale:
    """The price of noisy max where one person moves scores in one direction only."""

    scale: Fraction

    def __call__(self, d_in: Fraction) -> Fraction:
        """Divide."""
        return d_in / self.scale


def probability(winner: int, scores: Sequence[int], scale: Fraction) -> Fraction:
    """Bound from above the exact probability that a candidate wins."""

    def softmax(inverse_scale: Ball) -> Ball:
        return 1 / sum((((score - scores[winner]) * inverse_scale).exp() for score in scores), start=Ball(0))

    return enclose(softmax, 1 / scale).high


def main() -> None:
    """Draw once, and print."""
    election = Measurement(
        vector_domain(atom_domain(int), len(NAMES)),
        linf_distance(monotonic=True),
        max_divergence(),
        NoisyMax(SCALE),
        MonotonicScoresOverScale(SCALE),
    )
    price = election.price(1)
    winner = NAMES[election(VOTES)]
    odds = rounded_up(exp(1 / SCALE).high, 3)
    print(f"A made-up mascot election: {len(NAMES)} names, {sum(VOTES):,} approvals by a public formula.\n")
    print(f"  winner  {winner}")
    print(f"  price   {price}: whoever sees the winner, the odds they give to anything about one")
    print(f"          voter change by at most a factor of {odds}.\n")
    print("The votes are public here, so we may look behind the curtain, at the exact law of the winner:\n")
    for i in range(LEADERS):
        chance = 100 * probability(i, VOTES, SCALE)
        print(
            f"  {NAMES[i]:<14} {VOTES[i]:>4} votes  {rounded_up(chance, 4):>8} %  {'█' * round(chance / 2)}"
        )
    print("\nRun it again: the winner is drawn afresh, by exactly these probabilities (rounded up).")


if __name__ == "__main__":
    main()
