"""Confidence bounds on delta of k-out-of-t allocation itself, for any picks, by importance sampling.

The estimators and the bounds on their means are those of ``privloss.baselines``, which know the definition of the
scheme and nothing of the engine; its docstring has the formulas, and ``tests/test_montecarlo.py`` tests them on known
curves.
"""

from __future__ import annotations

from privloss.baselines._sampling import bounds, estimators

__all__ = ["bounds", "delta", "estimators"]


def delta(
    kind: str,
    noise: float,
    steps: int,
    picks: int,
    epsilon: float,
    direction: str,
    *,
    samples: int = 10**5,
    seed: int = 0,
    confidence: float = 1 - 1e-6,
) -> tuple[float, float]:
    """Bounds on delta of ``kind(noise).allocate(steps, picks)``, the scheme and not its reduction."""
    choices = estimators(kind, noise, steps, picks, epsilon, direction)
    pilots = [bounds(each.sample(seed + 1, 5000, steps), each.most, 0.9) for each in choices]
    best = choices[min(range(len(choices)), key=lambda i: pilots[i][1] - pilots[i][0])]
    return bounds(best.sample(seed, samples, steps), best.most, confidence)
