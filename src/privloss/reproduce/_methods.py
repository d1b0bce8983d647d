"""What the figures ask that no other room answers, as methods of a sweep.

against_poisson   Poisson's epsilon less the scheme's, refined until its sign is known
one_look          the engine at one ``spacing``, in standard deviations, instead of at a tolerance
monte_carlo_mean  the mean of importance samples, three standard errors either way
published_rdp     RDP as in [AFKRT26]: orders 2 to 50, and the general bound on subsampling
geometric, fft, both_grids   the paper's algorithms at a number of ``bins``, and their combination
"""

from __future__ import annotations

import math
import time
from functools import lru_cache, partial
from typing import Any

import numpy as np

from privloss import Bracket, Scheme
from privloss._bracket import MET, ROUNDING, TIME
from privloss.sweep._methods import Asked, Method

FIRST, FINER, FINEST = 1e-3, 0.05, 1e-9  # tolerances tried: the first, from one to the next, and the last
LESS, MORE, ZERO = "allocation is less", "Poisson is less", "both are exactly 0"


def against_poisson(question: str, scheme: Scheme, asked: Asked) -> Bracket:
    """A bracket of Poisson's epsilon less the scheme's; ``reason`` says which is less, or why that is not known."""
    began, rtol, limit = time.perf_counter(), FIRST, asked["seconds"]
    low, high = -math.inf, math.inf
    ends = [(0.0, math.inf), (0.0, math.inf)]
    while True:
        left = None if limit is None else max(limit - (time.perf_counter() - began), 0.01)
        answers = [each.epsilon(asked["delta"], rtol=rtol, seconds=left) for each in (scheme, scheme.poisson())]
        ends = [
            (max(known[0], float(found.lower)), min(known[1], float(found.upper)))
            for known, found in zip(ends, answers, strict=True)
        ]
        low, high = ends[1][0] - ends[0][1], ends[1][1] - ends[0][0]
        if ends[0][1] == ends[1][1] == 0.0:
            return Bracket(0.0, 0.0, exact=scheme.exact, reason=ZERO)
        if low > 0 or high < 0:
            return Bracket(low, high, exact=scheme.exact, reason=LESS if low > 0 else MORE)
        reasons = {answer.reason for answer in answers}
        if TIME in reasons or (left is not None and left <= 0.01):
            return Bracket(low, high, exact=scheme.exact, reason=TIME)
        if rtol <= FINEST or reasons - {MET}:
            return Bracket(low, high, exact=scheme.exact, reason=ROUNDING)
        rtol *= FINER


def one_look(question: str, scheme: Scheme, asked: Asked) -> Bracket:
    from privloss._ask import Direction
    from privloss._curve import Curve
    from privloss._questions import Look, evaluate
    from privloss._rewrite import simplify

    delta, plain = asked["delta"], simplify(scheme)
    tail = delta * min(0.01 * asked["spacing"] ** 2, 1e-5)
    look = Look(asked["spacing"], tail, min(math.log(delta), -0.5), False, math.inf)
    ways: tuple[Direction, ...] = ("remove", "add")
    bounds = [
        [Curve(evaluate(plain, look.ask(side, way))[0], way).epsilon(delta) for side in ("lower", "upper")]
        for way in ways
    ]
    lower, upper = (max(bound[i] for bound in bounds) for i in (0, 1))
    return Bracket(lower, upper, exact=scheme.exact)


def monte_carlo_mean(question: str, scheme: Scheme, asked: Asked) -> Bracket:
    from privloss.baselines import monte_carlo

    method = monte_carlo.using(samples=asked.get("samples"), seed=asked.get("seed"))
    values = method.values(scheme, asked["epsilon"], asked["direction"])
    mean, off = float(values.mean()), 3 * float(values.std()) / math.sqrt(method.samples)
    return Bracket(mean - off, mean + off, reason="mean of samples, three standard errors: an estimate")


# RDP as published.

ORDERS = np.arange(2, 51)


def published_rdp(question: str, scheme: Scheme, asked: Asked) -> Bracket:
    from privloss.baselines._baseline import shape
    from privloss.baselines._convert import epsilon_from

    found = shape(scheme)
    mu = found.step.sensitivity / found.step.sigma
    worst = 0.0
    for way in ("remove", "add"):
        base = _base(mu, found.steps, found.picks, way)
        values = base if found.rate == 1 else np.array([_general(base, found.rate, int(a)) for a in ORDERS])
        worst = max(worst, epsilon_from(ORDERS.astype(float), found.rounds * values, asked["delta"]))
    return Bracket(0.0, worst, reason="upper bound of published_rdp")


@lru_cache(maxsize=256)
def _exact(step: Scheme, steps: int, way: str) -> Any:
    from privloss._renyi import logs

    scheme = step.allocate(steps) if steps > 1 else step
    return logs(scheme, ORDERS.tolist(), way, "upper") / (ORDERS - 1)


def _base(mu: float, steps: int, picks: int, way: str) -> Any:
    """Divergences of the allocation: exact ones of blocks of floor(steps/picks) steps, one pick in each [FS25]."""
    from privloss import Gaussian

    return picks * _exact(Gaussian(1 / mu), steps // picks, way)


def _general(base: Any, rate: float, order: int) -> float:
    """Poisson subsampling for any mechanism [Zhu and Wang, Poisson Subsampled Renyi DP, ICML 2019, Theorem 5]."""
    keep, draw = math.log1p(-rate), math.log(rate)
    terms = [(order - 1) * keep + math.log1p(order * rate - rate)]
    for j in range(2, order + 1):
        ways = math.lgamma(order + 1) - math.lgamma(j + 1) - math.lgamma(order - j + 1)
        factor = 0.0 if j == 2 else math.log(3.0)
        terms.append(factor + ways + (order - j) * keep + j * draw + (j - 1) * float(base[j - 2]))
    top = max(terms)
    return max(top + math.log(math.fsum(math.exp(term - top) for term in terms)), 0.0) / (order - 1)


# The paper's two kinds of grid.


def _gridded(kinds: tuple[str, ...], question: str, scheme: Scheme, asked: Asked) -> Bracket:
    ways = ["remove", "add"] if asked["direction"] == "both" else [asked["direction"]]
    ends = [[_grid_bound(kinds, scheme, asked, way, side) for side in ("lower", "upper")] for way in ways]
    lower, upper = (max(bound[i] for bound in ends) for i in (0, 1))
    return Bracket(lower, upper, reason="bins as given")


def _grid_bound(kinds: tuple[str, ...], scheme: Scheme, asked: Asked, way: str, side: str) -> float:
    from privloss import paper

    bins = {"geometric": "bins", "fft": "fft_bins"}
    made = [_MADE[kind](scheme, int(asked[bins[kind]]), asked["beta"], way, side) for kind in kinds]
    bound = made[0] if len(made) == 1 else paper.combine(*made)
    return float(bound.epsilon(asked["delta"]))


@lru_cache(maxsize=8)
def _fft(scheme: Any, bins: int, beta: float, way: str, side: Any) -> Any:
    from privloss import paper

    law = paper.Realization.gaussian(scheme.of.sigma)
    if way == "remove":
        return paper.fft_alloc_remove(law, scheme.steps, bins, beta, side)
    return paper.fft_alloc_add(law.dual(), scheme.steps, bins, beta, side)


@lru_cache(maxsize=8)
def _geometric(scheme: Any, bins: int, beta: float, way: str, side: Any) -> Any:
    """At the alpha at which a single step has so many bins."""
    from privloss import paper
    from privloss.paper._allocate import parts

    law = paper.Realization.gaussian(scheme.of.sigma)
    law = law if way == "remove" else law.dual()
    low, high = law.loss.reach(0.5 * beta / scheme.steps)
    alpha = (high - low) / bins * parts(scheme.steps)
    run = paper.rand_alloc_remove if way == "remove" else paper.rand_alloc_add
    return run(law, scheme.steps, alpha, beta, side)


_MADE = {"geometric": _geometric, "fft": _fft}

_HERE = "privloss.reproduce._methods"
_THERE = (_HERE, "privloss.baselines")
_GRIDS = (_HERE, "privloss.paper")
_EPSILON = ("epsilon",)
METHODS = [
    Method("against_poisson", (_HERE,), against_poisson, (), _EPSILON),
    Method("one_look", (_HERE,), one_look, ("spacing",), _EPSILON),
    Method("monte_carlo_mean", _THERE, monte_carlo_mean, ("samples", "seed"), ("delta",)),
    Method("published_rdp", _THERE, published_rdp, (), ("epsilon", "sigma")),
    Method("geometric", _GRIDS, partial(_gridded, ("geometric",)), ("bins", "beta"), _EPSILON),
    Method("fft", _GRIDS, partial(_gridded, ("fft",)), ("fft_bins", "beta"), _EPSILON),
    Method("both_grids", _GRIDS, partial(_gridded, ("geometric", "fft")), ("bins", "fft_bins", "beta"), _EPSILON),
]
