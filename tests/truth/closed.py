"""Profiles with a closed form, in mpmath.

A profile is delta as a function of k = e^epsilon > 0, one for each direction; k below 1 (negative epsilon)
included. Legend: mu = sensitivity/sigma, s = sensitivity/scale, F the normal distribution function.

    Gaussian   F(mu/2 - epsilon/mu) - k F(-mu/2 - epsilon/mu); n of them compose to mu*sqrt(n)
    Laplace    1 - exp((epsilon - s)/2) on [-s, s], max(0, 1 - k) outside
    finite     p_only + sum (p - k q)_+

and for any profiles R (remove) and A (add), sampled at a rate r with the person:

    remove     r R((k - 1 + r)/r) for k > 1 - r, else 1 - k
    add        (1 - k (1 - r)) A(k r/(1 - k (1 - r))) for k < 1/(1 - r), else 0

(p - k q becomes r p - (k - 1 + r) q, and q - k p becomes (1 - k (1 - r)) q - k r p.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import mpmath
from mpmath import mp, mpf

DIGITS = 80
_ENDLESS = 2.0**40  # a curve still above delta here has an atom above delta
Number: TypeAlias = Any  # int, float, Fraction or mpf
Curve = Callable[[mpf], mpf]


def exactly(value: Number) -> mpf:
    """The number itself (a float is the dyadic fraction it holds), to DIGITS digits."""
    with mp.workdps(DIGITS):
        if isinstance(value, Fraction):
            return mpf(value.numerator) / mpf(value.denominator)
        return mpf(value)


@dataclass(frozen=True)
class Profile:
    """delta at k = e^epsilon in both directions, and the largest losses (inf where unbounded)."""

    remove: Curve
    add: Curve
    largest_remove: mpf
    largest_add: mpf

    def delta(self, epsilon: Number, direction: str) -> mpf:
        """delta(epsilon) for any real epsilon."""
        if direction == "both":
            return max(self.delta(epsilon, "remove"), self.delta(epsilon, "add"))
        with mp.workdps(DIGITS):
            return self._curve(direction)(mpmath.exp(exactly(epsilon)))

    def epsilon(self, delta: Number, direction: str) -> mpf:
        """The smallest epsilon >= 0 with delta(epsilon) <= delta, to 60 digits."""
        if direction == "both":
            return max(self.epsilon(delta, "remove"), self.epsilon(delta, "add"))
        curve = self._curve(direction)
        largest = self.largest_remove if direction == "remove" else self.largest_add
        with mp.workdps(DIGITS):
            delta = exactly(delta)
            if curve(mpf(1)) <= delta:
                return mpf(0)
            low, high = mpf(0), mpf(1)
            while high < min(largest, _ENDLESS) and curve(mpmath.exp(high)) > delta:
                low, high = high, 2 * high
            if high >= min(largest, _ENDLESS):
                high = largest
                if mpmath.isinf(high) or curve(mpmath.exp(high)) > delta:
                    return mpmath.inf
            for _ in range(220):
                middle = (low + high) / 2
                if curve(mpmath.exp(middle)) > delta:
                    low = middle
                else:
                    high = middle
            return high

    def subsample(self, rate: Number) -> Profile:
        """The profile when the person takes part with probability `rate`."""
        with mp.workdps(DIGITS):
            r = exactly(rate)
            rest = 1 - r

            def remove(k: mpf) -> mpf:
                return r * self.remove((k - rest) / r) if k > rest else 1 - k

            def add(k: mpf) -> mpf:
                left = 1 - k * rest
                return left * self.add(k * r / left) if left > 0 else mpf(0)

            top = mpmath.log1p(r * mpmath.expm1(self.largest_remove))
            bottom = -mpmath.log(rest + r * mpmath.exp(-self.largest_add))
            return Profile(remove, add, top, bottom)

    def _curve(self, direction: str) -> Curve:
        return {"remove": self.remove, "add": self.add}[direction]


def gaussian(sigma: Number, sensitivity: Number = 1, rounds: int = 1) -> Profile:
    """The Gaussian mechanism, `rounds` of them composed."""
    with mp.workdps(DIGITS):
        mu = exactly(sensitivity) / exactly(sigma) * mpmath.sqrt(rounds)

    def curve(k: mpf) -> mpf:
        # The two terms agree in about 2 log10(epsilon/mu) digits in the tail, nowhere near the digits kept.
        epsilon = mpmath.log(k)
        return _normal(mu / 2 - epsilon / mu) - k * _normal(-mu / 2 - epsilon / mu)

    return Profile(curve, curve, mpmath.inf, mpmath.inf)


def _normal(x: mpf) -> mpf:
    return mpmath.erfc(-x / mpmath.sqrt(2)) / 2


def laplace(scale: Number, sensitivity: Number = 1) -> Profile:
    """The Laplace mechanism."""
    with mp.workdps(DIGITS):
        s = exactly(sensitivity) / exactly(scale)

    def curve(k: mpf) -> mpf:
        epsilon = mpmath.log(k)
        if abs(epsilon) >= s:
            return max(mpf(0), 1 - k)
        return -mpmath.expm1((epsilon - s) / 2)

    return Profile(curve, curve, s, s)


def finite(p: Sequence[Number], q: Sequence[Number]) -> Profile:
    """A pair of finitely many outcomes."""
    outcomes = [(exactly(a), exactly(b)) for a, b in zip(p, q, strict=True)]

    def remove(k: mpf) -> mpf:
        return mpmath.fsum(max(mpf(0), a - k * b) for a, b in outcomes)

    def add(k: mpf) -> mpf:
        return mpmath.fsum(max(mpf(0), b - k * a) for a, b in outcomes)

    with mp.workdps(DIGITS):
        largest_remove = max(mpmath.log(a / b) if b else mpmath.inf for a, b in outcomes if a)
        largest_add = max(mpmath.log(b / a) if a else mpmath.inf for a, b in outcomes if b)
    return Profile(remove, add, largest_remove, largest_add)


def discrete_laplace(scale: Number, sensitivity: int = 1) -> Profile:
    """Mass proportional to exp(-|k|/scale): the ratio changes only from 0 to `sensitivity`."""
    with mp.workdps(DIGITS):
        a = mpmath.exp(-1 / exactly(scale))
        middle = [(1 - a) / (1 + a) * a**i for i in range(sensitivity + 1)]
        left, right = 1 / (1 + a), a**sensitivity / (1 + a)  # the masses of k <= 0 and of k >= sensitivity
        q = [left, *middle[1:sensitivity], right]
        return finite(q[::-1], q)


def randomized_response(probability: Number, values: int = 2) -> Profile:
    """The truth with `probability`, each other value equally often."""
    with mp.workdps(DIGITS):
        truth = exactly(probability)
        other = (1 - truth) / (values - 1)
        rest = (values - 2) * other
        more = [rest] if rest else []
        return finite([truth, other, *more], [other, truth, *more])


def approximate_dp(epsilon: Number, delta: Number = 0, rounds: int = 1) -> Profile:
    """`rounds` of the worst (epsilon, delta) mechanism: an atom, and counts of an answer otherwise."""
    with mp.workdps(DIGITS):
        e, d = mpmath.exp(exactly(epsilon)), exactly(delta)
        atom = -mpmath.expm1(rounds * mpmath.log1p(-d)) if d < 1 else mpf(1)
        p, q = e / (1 + e), 1 / (1 + e)

        def curve(k: mpf) -> mpf:
            terms = []
            for n in range(rounds, -1, -1):
                ratio = e ** (2 * n - rounds)
                if ratio <= k:
                    break
                terms.append(mpmath.binomial(rounds, n) * q**n * p ** (rounds - n) * (ratio - k))
            return atom + (1 - atom) * mpmath.fsum(terms)

        largest = mpmath.inf if d else rounds * exactly(epsilon)
    return Profile(curve, curve, largest, largest)


def pure_dp(epsilon: Number, rounds: int = 1) -> Profile:
    """`rounds` of the worst mechanism of epsilon-differential privacy."""
    return approximate_dp(epsilon, 0, rounds)
