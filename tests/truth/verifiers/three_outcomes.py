"""Three outcomes, given how often one of them came: what is left is binomial.

Of n steps let c show the first outcome. The other n - c show the second or the third: the second m times, and the
ratio grows or falls with m. So p - k q is positive in a tail of m, whose masses are those of binomial laws:

    composition   without: Bin(n - c, q_2/(q_2 + q_3)), with: Bin(n - c, p_2/(p_2 + p_3))
    allocation    the mean of the ratio in the tail needs E[m; tail] = (n - c) pi P(1 + Bin(n - c - 1, pi) in tail)

Each tail is a continued fraction. Nestings are enumerated step by step, in fractions (`truth.enumerate`).
"""

from __future__ import annotations

from typing import Any

import mpmath
from mpmath import mp, mpf

from truth import enumerate as enumeration
from truth.closed import exactly
from truth.nodes import Node
from truth.verifiers import pairs, tails

METHOD = (
    "binomial tails given one count, by the continued fraction of the incomplete beta function (mpmath, 60 digits);"
    " nestings by convolution step by step (fractions)"
)
_PAIRS: dict[str, enumeration.Pair] = {}
Three = list[Any]


def curve(scheme: Node, k: Any, direction: str) -> tuple[Any, Any]:
    flat = scheme.get("of", {}).get("kind") == "Outcomes" and 0.0 not in (*scheme["of"]["p"], *scheme["of"]["q"])
    if not flat:
        text = repr(scheme)
        if text not in _PAIRS:
            _PAIRS[text] = enumeration.pair_of(scheme)
        return pairs.curve(_PAIRS[text], k, direction)
    with mp.workdps(60):
        p, q = ([exactly(mass) for mass in scheme["of"][key]] for key in "pq")
        repeated = scheme["kind"] == "repeat"
        steps = scheme["rounds" if repeated else "steps"]
        given = composed if repeated else allocated
        delta = slope = mpf(0)
        for c in range(steps + 1):
            a, b = given(p, q, steps, c, +k, direction)  # masses with and without where p - k q counts
            gain, lost = (a - k * b, b) if direction == "remove" else (b - k * a, a)
            delta, slope = delta + gain, slope + lost
        return delta, slope


def composed(p: Three, q: Three, steps: int, c: int, k: Any, direction: str) -> tuple[Any, Any]:
    left = steps - c
    x, y, z = (mpmath.log(a / b) for a, b in zip(p, q, strict=True))
    tail = Tail(c * x + left * z, y - z, left, mpmath.log(k if direction == "remove" else 1 / k), direction)
    ways = mpmath.binomial(steps, c)
    with_, without = (
        ways * m[0] ** c * (m[1] + m[2]) ** left * tail.mass(left, m[1] / (m[1] + m[2])) for m in (p, q)
    )
    return with_, without


def allocated(p: Three, q: Three, steps: int, c: int, k: Any, direction: str) -> tuple[Any, Any]:
    left = steps - c
    x, y, z = (a / b for a, b in zip(p, q, strict=True))
    tail = Tail((c * x + left * z) / steps, (y - z) / steps, left, k if direction == "remove" else 1 / k, direction)
    share = q[1] / (q[1] + q[2])
    mass = mpmath.binomial(steps, c) * q[0] ** c * (q[1] + q[2]) ** left
    inside = tail.mass(left, share)
    mean = left * share * tail.mass(left - 1, share, 1) if left else mpf(0)
    return mass * (tail.start * inside + tail.growth * mean), mass * inside


class Tail:
    """The m of 0..n for which start + growth m is above the level (remove), or below it (add)."""

    def __init__(self, start: Any, growth: Any, n: int, level: Any, direction: str) -> None:
        self.start, self.growth = start, growth
        self.upper = (direction == "remove") == (growth > 0)
        # The first m beyond where the line crosses the level: from just before, as rounding may hide it.
        self.edge = min(max(int(mpmath.floor((level - start) / growth)) - 1, 0), n + 1)
        while self.edge <= n and (start + growth * self.edge > level) != (growth > 0):
            self.edge += 1

    def mass(self, n: int, share: Any, more: int = 0) -> Any:
        """P(m in the tail) for m = more + Bin(n, share)."""
        return (tails.above if self.upper else tails.below)(n, share, self.edge - more)
