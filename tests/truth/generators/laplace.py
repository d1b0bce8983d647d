"""The Laplace mechanism: its curve in closed form, subsampled and composed.

With s = sensitivity/scale the loss of a step, with the person, is s with probability 1/2 and -s with probability
e^-s/2; between, its density is e^((l-s)/2)/4. Of n steps let i be at s, j at -s and m between. Their losses sum to
(i - j) s + L, where L has the density 4^-m e^((L - m s)/2) g_m(L) with g_m the m-fold convolution of [-s < l < s],

    g_m(L) = 1/(m-1)!  sum_r (-1)^r C(m, r) (b_r - L)_+^(m-1),   b_r = (m - 2 r) s    (Irwin and Hall)

delta is the sum over (i, j, m) of n!/(i! j! m!) 2^-i (e^-s/2)^j 4^-m e^(-m s/2) times

    integral over L > a of (e^(L/2) - e^(a - L/2)) g_m(L),     a = epsilon - (i - j) s

which is a sum of integrals of e^(+-u/2) u^(m-1) over [0, b_r - a], each of them finite sums. The signs alternate:
digits are added until none that is asked for is lost. Both directions are the same, by reflection.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import mpmath
from mpmath import mp, mpf

from truth import closed, nodes
from truth.closed import Number, Profile, exactly
from truth.vectors import Vector, asked

METHOD = "closed form: numbers of atoms, Irwin-Hall pieces times exponentials (mpmath)"
DIGITS = 40


def vectors() -> Iterator[Vector]:
    for scale in (0.05, 0.5, 1.0, 50.0):
        truth, scheme = closed.laplace(scale), nodes.laplace(scale)
        yield from asked(scheme, truth, DIGITS, (0.3, 1e-3, 1e-40), (1e-6,), (-0.5, 0.0))
    scheme = nodes.laplace(50.0, 3.0)
    yield from asked(scheme, closed.laplace(50.0, 3), DIGITS, (1e-2, 1e-10), (1e-5,), (0.0,))
    for scale, rate in ((1.0, 0.125), (0.25, 0.01), (2.0, 1e-3), (0.1, 0.75)):
        truth = closed.laplace(scale).subsample(rate)
        yield from asked(nodes.subsample(nodes.laplace(scale), rate), truth, DIGITS, (1e-3, 1e-9), (1e-4,), (-0.1, 0.0))
    for scale, rounds in ((1.0, 2), (2.0, 3), (0.5, 5), (3.0, 10), (10.0, 20), (0.1, 4)):
        truth = composed(scale, rounds)
        scheme = nodes.repeat(nodes.laplace(scale), rounds)
        yield from asked(scheme, Rooted(truth), DIGITS, (0.1, 1e-4, 1e-12), (1e-2, 1e-9), (-0.2, 0.0))
        sampled = nodes.subsample(scheme, 0.0625)
        yield from asked(sampled, Rooted(truth.subsample(0.0625)), DIGITS, (1e-3,), (1e-6,), (0.0,))


@dataclass(frozen=True)
class Rooted:
    """A profile with costly curves: epsilon in fewer evaluations than by bisection alone."""

    profile: Profile

    def delta(self, epsilon: Number, direction: str) -> Any:
        return self.profile.delta(epsilon, direction)

    def epsilon(self, delta: Number, direction: str) -> Any:
        remove = direction == "remove"
        curve = self.profile.remove if remove else self.profile.add
        with mp.workdps(closed.DIGITS):

            def excess(x: Any) -> Any:
                return curve(mpmath.exp(x)) / exactly(delta) - 1

            low, high = mpf(0), self.profile.largest_remove if remove else self.profile.largest_add
            if excess(low) <= 0:
                return low
            for _ in range(16):
                middle = (low + high) / 2
                low, high = (middle, high) if curve(mpmath.exp(middle)) > delta else (low, middle)
            return mpmath.findroot(excess, (low, high), solver="anderson", tol=mpf(10) ** -120, verify=False)


def composed(scale: float, rounds: int) -> Profile:
    with mp.workdps(closed.DIGITS):
        s = 1 / exactly(scale)

    def curve(k: Any) -> Any:
        with mp.workdps(closed.DIGITS + 8 * rounds):
            return delta(s, rounds, mpmath.log(k))

    with mp.workdps(closed.DIGITS):
        return Profile(curve, curve, rounds * s, rounds * s)


def delta(s: Number, rounds: int, epsilon: Any) -> Any:
    total = mpf(0)
    for i in range(rounds + 1):
        for j in range(rounds + 1 - i):
            m, a = rounds - i - j, epsilon - (i - j) * s
            ways = mpmath.factorial(rounds) / (mpmath.factorial(i) * mpmath.factorial(j) * mpmath.factorial(m))
            weight = ways / mpf(2) ** (i + j) * mpmath.exp(-j * s) / mpf(4) ** m * mpmath.exp(-m * s / 2)
            total += weight * above(m, s, a)
    return total


def above(m: int, s: Any, a: Any) -> Any:
    """The integral over L > a of (e^(L/2) - e^(a - L/2)) g_m(L); g_0 is all at 0."""
    if m == 0:
        return max(mpf(0), -mpmath.expm1(a))
    found = mpf(0)
    for r in range(m + 1):
        end = (m - 2 * r) * s
        if end > a:
            up, down = moment(m, end - a, 1), moment(m, end - a, -1)
            term = mpmath.exp(end / 2) * up - mpmath.exp(a - end / 2) * down
            found += (-1) ** r * mpmath.binomial(m, r) * term
    return found / mpmath.factorial(m - 1)


def moment(m: int, w: Any, sign: int) -> Any:
    """The integral of e^(-sign u/2) u^(m-1) over [0, w]."""
    rest = mpmath.fsum((sign * w / 2) ** n / mpmath.factorial(n) for n in range(m))
    return (2 * sign) ** m * mpmath.factorial(m - 1) * (1 - mpmath.exp(-sign * w / 2) * rest)
