"""The front: a scheme, the paper's parameters, and a bracket.

The upper end comes from the dominating variant of each algorithm, the lower end from its lower variant. alpha and
beta are those of the answer: a composition of k gives each part alpha/k and beta/(2k), and cuts the other half of
beta.

A part is *exact* while it is a mechanism, or Poisson subsampling or ``swap`` of one: then both variants apply. The
dual and the subsampling of a result exist only for an upper bound (claim PLDdualDom); where the lower end would need
them it is that of nothing known. """

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from privloss import _check
from privloss._ask import Direction, Side
from privloss._bracket import Bracket, Work
from privloss._check import show
from privloss._mechanisms import Gaussian
from privloss._operations import Allocate, Compose, Repeat, Subsample, Swap
from privloss._questions import too_deep
from privloss._scheme import Mechanism, Scheme, operand
from privloss.paper._allocate import rand_alloc, tail
from privloss.paper._compose import compose
from privloss.paper._grid import disc_dist
from privloss.paper._lattice import Lattice
from privloss.paper._realization import Realization

GIVEN = "alpha and beta as given: smaller ones give a narrower bracket"
ONE_SIDED = "no lower bound: the dual or the subsampling of a stochastic lower bound may be none (claim PLDdualDom)"
REASONS = (GIVEN, ONE_SIDED)


class Refused(Exception):
    """A lower bound was asked for what has none."""


def epsilon(
    scheme: Scheme,
    delta: float,
    alpha: float = 0.01,
    beta: float | None = None,
    direction: Literal["remove", "add", "both"] = "both",
) -> Bracket:
    """The smallest epsilon >= 0 with delta(epsilon) <= delta, by the paper's algorithms.

    ``alpha`` is how far losses may be shifted and ``beta`` how much probability may be moved, on either side; the
    default of ``beta`` is delta/100.

    >>> import privloss as pl
    >>> from privloss import paper
    >>> bound = paper.epsilon(pl.Gaussian(1.0).allocate(steps=1000), delta=1e-6, alpha=0.05)
    >>> bound.lower <= 0.17173 <= bound.upper
    True
    """
    delta = _check.probability(delta=delta)
    if not 0 < delta < 1:
        raise ValueError(f"delta must be above 0 and below 1, got {delta!r}")
    beta = delta / 100 if beta is None else beta
    return _answer(scheme, lambda bound: bound.epsilon(delta), alpha, beta, direction, 0.0)


def delta(
    scheme: Scheme,
    epsilon: float,
    alpha: float = 0.01,
    beta: float = 1e-10,
    direction: Literal["remove", "add", "both"] = "both",
) -> Bracket:
    """The hockey-stick divergence at any real epsilon, by the paper's algorithms.

    >>> import privloss as pl
    >>> from privloss import paper
    >>> bound = paper.delta(pl.Gaussian(1.37).allocate(steps=100), epsilon=0.2, alpha=0.01, direction="add")
    >>> bound.lower <= 2.21949e-4 <= bound.upper
    True
    """
    epsilon = _check.finite(epsilon=epsilon)
    least = max(-math.expm1(min(epsilon, 0.0)), 0.0) * (1 - 1e-15)
    return _answer(scheme, lambda bound: bound.delta(epsilon), alpha, beta, direction, least)


def law(scheme: Scheme, alpha: float, beta: float, direction: Direction = "remove", side: Side = "upper") -> Lattice:
    """The bound itself: the privacy loss of the scheme as seen in one direction, on its even grid.

    >>> import privloss as pl
    >>> from privloss import paper
    >>> paper.law(pl.Laplace(1.0).allocate(steps=10), alpha=0.01, beta=1e-9).side
    'upper'
    """
    alpha, beta = _check.positive(alpha=alpha), tail(beta)
    _check.choice(direction=direction, among=("remove", "add"))
    _check.choice(side=side, among=("upper", "lower"))
    return _law(operand(scheme=scheme), Asked(direction, side, alpha, beta))


def _answer(
    scheme: Scheme, read: Callable[[Lattice], float], alpha: float, beta: float, direction: str, least: float
) -> Bracket:
    began = time.perf_counter()
    scheme, alpha, beta = operand(scheme=scheme), _check.positive(alpha=alpha), tail(beta)
    _check.choice(direction=direction, among=("remove", "add", "both"))
    directions: list[Direction] = ["remove", "add"]
    lower, upper, points, eta, reason = least, least, 0, 0.0, GIVEN
    for way in directions if direction == "both" else [each for each in directions if each == direction]:
        bound = _law(scheme, Asked(way, "upper", alpha, beta))
        upper, points, eta = max(upper, read(bound)), max(points, bound.mass.size), max(eta, bound.eta)
        try:
            lower = max(lower, read(_law(scheme, Asked(way, "lower", alpha, beta))))
        except Refused:
            reason = ONE_SIDED
    work = Work(points, 0, eta, time.perf_counter() - began)
    return Bracket(lower, max(upper, lower), "upper", scheme.exact, reason, work)


@dataclass(frozen=True)
class Asked:
    """One bound: its direction, its side, and the alpha and beta of its losses."""

    direction: Direction
    side: Side
    alpha: float
    beta: float

    def share(self, parts: int) -> Asked:
        """For one of many parts; half of beta is left to their composition."""
        return Asked(self.direction, self.side, self.alpha / parts, 0.5 * self.beta / parts)

    def half(self) -> Asked:
        return Asked(self.direction, self.side, 0.5 * self.alpha, 0.5 * self.beta)

    def turned(self) -> Asked:
        return Asked("add" if self.direction == "remove" else "remove", self.side, self.alpha, self.beta)


def _law(scheme: Scheme, asked: Asked) -> Lattice:
    rule = _RULES.get(type(scheme), _plain)
    try:
        return rule(scheme, asked)
    except RecursionError:
        raise too_deep(scheme) from None


def _plain(scheme: Scheme, asked: Asked) -> Lattice:
    realization, asked = _seen(scheme, asked)
    return disc_dist(realization.loss, asked.alpha, asked.beta, asked.side)


def _allocated(scheme: Allocate, asked: Asked) -> Lattice:
    realization, asked = _seen(scheme.of, asked)
    return rand_alloc(realization, scheme.steps, scheme.picks, asked.alpha, asked.beta, asked.direction, asked.side)


def _repeated(scheme: Repeat, asked: Asked) -> Lattice:
    return _composed([(scheme.of, scheme.rounds)], asked)


def _listed(scheme: Compose, asked: Asked) -> Lattice:
    return _composed([(part, 1) for part in scheme.parts], asked)


def _composed(parts: list[tuple[Scheme, int]], asked: Asked) -> Lattice:
    """Each part on its own grid; where these differ, all on the finest again, for half of alpha."""
    total = sum(times for _, times in parts)
    if len(parts) == 1 and total == 1:
        return _law(parts[0][0], asked)
    share = asked.share(total)
    if len({part for part, _ in parts}) == 1:
        return compose([(_law(parts[0][0], share), total)], 0.5 * asked.beta)
    made = [(_law(part, share.half()), times) for part, times in parts]
    step = 0.5 * share.alpha
    again = [(disc_dist(bound.listed(), step, 0.5 * share.beta, asked.side), times) for bound, times in made]
    return compose(again, 0.5 * asked.beta)


def _swapped(scheme: Swap, asked: Asked) -> Lattice:
    return _law(scheme.of, asked.turned())


_RULES: dict[type[Scheme], Callable[..., Lattice]] = {
    Allocate: _allocated,
    Repeat: _repeated,
    Compose: _listed,
    Swap: _swapped,
}


def _seen(scheme: Scheme, asked: Asked) -> tuple[Realization, Asked]:
    """The realization of a scheme in the direction asked for, and what is left of alpha and beta."""
    made = _realization(scheme, asked)
    return (made if asked.direction == "remove" else made.dual()), (asked if made.side is None else asked.half())


def _realization(scheme: Scheme, asked: Asked) -> Realization:
    """L_{P,Q}: exact for mechanisms and what only relabels them, else that of an upper bound."""
    if isinstance(scheme, Gaussian):
        return Realization.gaussian(scheme.sigma, scheme.sensitivity)
    if isinstance(scheme, Mechanism):
        return Realization.of(scheme, asked.side)
    if isinstance(scheme, Subsample):
        return _realization(scheme.of, asked).subsampled(scheme.rate)
    if isinstance(scheme, Swap):
        return _realization(scheme.of, asked.turned()).dual()
    if type(scheme) not in _RULES:
        raise ValueError(f"scheme must have one kind of step in each allocation, got {show(scheme)}")
    if asked.side == "lower":
        raise Refused
    # An upper bound in the direction asked for, and its dual where the other one is wanted.
    made = Realization.of_lattice(_law(scheme, asked.half()))
    return made if asked.direction == "remove" else made.dual()
