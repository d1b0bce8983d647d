"""Privacy loss distributions there and back.

Legend: a column is what dp-accounting holds for one direction: masses p of P at the losses ``step * k`` and the mass
at infinity, whose curve is H(x) = infinity + sum p (1 - x e^-loss)_+ at x = e^epsilon.
docs/proofs/columns.md proves that what is handed over bounds the scheme, and stays a bound when columns are composed.
"""

from __future__ import annotations

import math
import time
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from privloss._check import choice, positive, show
from privloss._scheme import operand
from privloss.bridges._library import library

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from privloss._mechanisms import PrivacyLoss
    from privloss._pair import Law
    from privloss._scheme import Scheme

    FloatArray = NDArray[np.float64]

Side = Literal["upper", "lower"]

MOST = 4_000_000  # points of a column
WIDEST = 100.0  # between two points: farther apart, a ratio is hardly a double
SPARSE = 1000  # points up to which dp-accounting holds a column as a dictionary
TAIL = 1e-20  # mass beyond either end: dp-accounting cuts 1e-15 when it composes
NEGATIVE, DRIFT = 1e-9, 1e-3  # what rounding may do to the masses of one that is read
ULPS = 32 * 2.0**-53  # what it does to any sum


class Column(NamedTuple):
    """Masses at the losses ``step * (first + i)``, and at infinity."""

    first: int
    masses: FloatArray
    infinity: float


def to_pld(
    scheme: Scheme, step: float, *, side: Side = "upper", rtol: float = 1e-5, seconds: float | None = 5.0
) -> Any:
    """This scheme as a ``PrivacyLossDistribution`` on the interval ``step``, to compose with others on it.

    ``side="upper"`` gives a pessimistic one, whose delta is never below that of the scheme, and "lower" an optimistic
    one, never above: up to what dp-accounting itself rounds. An upper one is exact at the multiples of ``step`` and
    second order between; a lower one rounds losses down, and bounds what was analysed: the reduction, where several
    steps are picked (``exact`` is False). Laws that have to be computed are so to about ``rtol``, or to what
    ``seconds`` allow.
    """
    masses = library("dp_accounting.pld.pld_pmf", "dp-accounting")
    distribution = library("dp_accounting.pld.privacy_loss_distribution", "dp-accounting")
    remove, add = columns(scheme, step, side=side, rtol=rtol, seconds=seconds)
    given = [None if each is None else _pmf(masses, each, step, side) for each in (remove, add)]
    return distribution.PrivacyLossDistribution(*given)


def columns(
    scheme: Scheme, step: float, *, side: Side, rtol: float = 1e-5, seconds: float | None = 5.0
) -> tuple[Column, Column | None]:
    """The columns for remove and add; the second is None where both are the same.

    They are of one pair: what reads the false positives off one and the false negatives off the other, as riskcal
    does, needs that.
    """
    from privloss._evaluate import dual
    from privloss._rewrite import simplify

    operand(scheme=scheme)
    step, rtol = positive(step=step), positive(rtol=rtol)
    if step > WIDEST:
        raise ValueError(f"step must be at most {WIDEST:g}, got {step!r}")
    choice(side=side, among=("upper", "lower"))
    deadline = math.inf if seconds is None else time.perf_counter() + positive(seconds=seconds)
    rounding, plain = Rounding(step, side, rtol, deadline), simplify(scheme)
    law, (lowest, highest) = rounding.law(plain), plain.support("upper")
    remove = rounding.column(law, bounded=highest < math.inf)
    if simplify(scheme.swap()) == plain:
        return remove, None
    return remove, rounding.column(dual(law), bounded=lowest > -math.inf)


def _pmf(library: Any, column: Column, step: float, side: Side) -> Any:
    """A dictionary where it is short, as dp-accounting has it, else an array."""
    pessimistic = side == "upper"
    kept = np.flatnonzero(column.masses)
    if kept.size <= SPARSE:
        pairs = {column.first + int(i): float(column.masses[i]) for i in kept}
        return library.SparsePLDPmf(pairs or {0: 0.0}, step, column.infinity, pessimistic)
    return library.DensePLDPmf(step, column.first, column.masses, column.infinity, pessimistic)


@dataclass(frozen=True)
class Rounding:
    """How a law is put on a grid of losses, seen from P."""

    step: float
    side: Side
    rtol: float
    deadline: float

    def law(self, plain: Scheme) -> Law:
        """Of a simplified scheme, resolved for both directions, to ``rtol`` or to what time allows."""
        from privloss._ask import OutOfTime
        from privloss._questions import FIRST, Look, spacing_of, too_deep

        fine, found = spacing_of(self.rtol), None
        for spacing in (fine,) if self.deadline == math.inf else (max(FIRST, fine), fine):
            look = Look(spacing, TAIL, math.log(1e-8), True, self.deadline)
            try:
                found = plain.law(look.ask(self.side, "remove"))
            except OutOfTime:
                break
            except RecursionError:
                raise too_deep(plain) from None
        if found is None:
            raise TimeoutError("no distribution within seconds=...: give more, or a larger rtol")
        return found

    def column(self, law: Law, *, bounded: bool) -> Column:
        """``bounded`` is whether the scheme has a largest loss."""
        growth, slip = self._allowances(law)
        if not growth < 0.5:  # numbers beyond a double were met: nothing is known
            shown = float(self.side == "upper")
            return Column(0, np.array([1 - shown]), shown)
        first, points = self._points(law, slip)
        if self.side == "lower":
            return self._merged(law, first, points, growth, slip)
        return self._spread(law, first, points, growth, slip, bounded=bounded)

    def _allowances(self, law: Law) -> tuple[float, float]:
        """Relative error of masses, and error of losses, once the law is on the grid."""
        from privloss._arithmetic import start_error
        from privloss._pair import U

        eta_q, eta_x = start_error(law, self.side)
        farthest = max(map(abs, self._span(law)))
        return eta_q + eta_x + 16 * U, eta_x + 4 * U * (1 + farthest)

    @staticmethod
    def _span(law: Law) -> tuple[float, float]:
        return law.span("p", TAIL)

    def _points(self, law: Law, slip: float) -> tuple[int, FloatArray]:
        low, high = self._span(law)
        first, last = math.floor((low - slip) / self.step) - 1, math.ceil((high + slip) / self.step) + 1
        fitting = max((high - low) / (MOST - 8), 16 * slip)
        if last - first >= MOST or self.step < fitting:
            span = f"losses from {low:.4g} to {high:.4g}"
            raise ValueError(f"step must be at least {fitting:.2g} for {span}, got {self.step!r}")
        return first, np.arange(first, last + 1, dtype=np.float64) * np.float64(self.step)  # as dp-accounting has them

    def _spread(
        self, law: Law, first: int, points: FloatArray, growth: float, slip: float, *, bounded: bool
    ) -> Column:
        """Spread on to the grid, each point said to be a little higher and each mass a little larger than computed.

        Masses then sum to more than 1: the lowest give way, where the curve is above 1 - e^epsilon whatever they are.
        """
        from privloss._curve import FLOOR
        from privloss._pair import U

        got = law.hats(points - slip)
        masses, infinity = got.p * (1 + growth), got.p_only * (1 + growth)
        if bounded and infinity == 0.0:
            masses[-1] += FLOOR
        else:
            infinity += FLOOR
        first, masses = _without_lowest(first, masses, _total(masses, infinity) - 1)
        masses[0] += max(1 - _total(masses, infinity), 0.0) + U  # not less than 1, though sums are rounded
        return Column(first, masses, min(infinity, 1.0))

    def _merged(self, law: Law, first: int, points: FloatArray, growth: float, slip: float) -> Column:
        """Losses rounded down. What the allowances take goes so far down that it says nothing: see the page."""
        from privloss._curve import FLOOR

        got = law.cells(points + slip)
        masses, infinity = got.p[1:] * (1 - growth), max(got.p_only * (1 - growth) - FLOOR, 0.0)
        masses[np.cumsum(masses[::-1])[::-1] <= FLOOR] = 0.0
        rest = 1 - _total(masses, infinity)
        if rest <= 0:
            return Column(first, masses, infinity)
        with np.errstate(over="ignore", invalid="ignore"):
            missing = 1 - float(np.nansum(np.where(masses > 0, masses * np.exp(-points), 0.0))) * (1 - growth)
        lowest = first if missing <= 0 else min(first, math.floor(math.log(rest / missing) / self.step) - 1)
        if first - lowest > MOST:
            fitting = (first - lowest) * self.step / MOST
            raise ValueError(f"step must be at least {fitting:.2g} for side='lower', got {self.step!r}")
        masses = np.concatenate((np.zeros(first - lowest), masses))
        masses[0] += rest
        return Column(lowest, masses, infinity)


def _without_lowest(first: int, masses: FloatArray, excess: float) -> tuple[int, FloatArray]:
    """The masses without as much of the lowest."""
    if excess <= 0:
        return first, masses
    below = np.cumsum(masses)
    n = min(int(np.searchsorted(below, excess, side="right")), masses.size - 1)
    kept = masses[n:].copy()
    kept[0] = max(min(kept[0], float(below[n]) - excess), 0.0)
    return first + n, kept


def from_pld(pld: Any) -> PrivacyLoss:
    """The scheme whose pair is the remove side of a ``PrivacyLossDistribution``, to be nested and asked like any other.

    The answers bracket *that distribution*, whose curve for remove they have at every epsilon >= 0, not the mechanism
    that it was made for: of a pessimistic one upper bounds hold for the mechanism, of an optimistic one lower bounds.
    Rounding leaves dp-accounting's masses with sums other than 1, and its curves below 1 - e^epsilon where epsilon is
    negative: there, that line is taken. Negative masses, which only rounding makes, count as 0.
    """
    distribution = library("dp_accounting.pld.privacy_loss_distribution", "dp-accounting")
    if not isinstance(pld, distribution.PrivacyLossDistribution):
        raise TypeError(f"pld must be a PrivacyLossDistribution of dp-accounting, got {show(pld)}")
    pmf = pld._pmf_remove.to_dense_pmf()
    losses = (np.arange(pmf.size) + pmf._lower_loss) * float(pmf._discretization)
    side: Side = "upper" if pmf._pessimistic_estimate else "lower"
    return from_column(losses, np.array(pmf._probs, np.float64), float(pmf._infinity_mass), side=side)


def from_column(losses: FloatArray, masses: FloatArray, infinity: float, *, side: Side = "upper") -> PrivacyLoss:
    """Increasing losses with their masses under P, and the mass at infinity: the scheme that bounds what they bound."""
    from privloss._mechanisms import PrivacyLoss

    negative = -float(np.minimum(masses, 0.0).sum()) + max(-infinity, 0.0)
    total = _total(masses, infinity)
    if not negative <= NEGATIVE:
        raise ValueError(f"the masses of pld must be at least 0, got {-negative:.3g} in all below 0")
    if not abs(total - 1) <= DRIFT:
        raise ValueError(f"the masses of pld must sum to 1 within {DRIFT}, got {total!r}")
    kept = masses > 0
    losses, masses, infinity = losses[kept], masses[kept], max(infinity, 0.0)
    losses, masses = _completed(losses, masses, infinity, side)
    if infinity > 0:
        losses, masses = np.append(losses, math.inf), np.append(masses, infinity)
    return PrivacyLoss(losses, masses)


def _total(masses: FloatArray, atom: float = 0.0) -> float:
    return math.fsum([atom, *masses.tolist()])


def _completed(
    losses: FloatArray, masses: FloatArray, infinity: float, side: Side
) -> tuple[FloatArray, FloatArray]:
    """The same, with the lowest outcomes made one that has what the others lack to 1, under P and at most so under Q.

    As few as will do: it is below the others, so the curve stays as it is to the right of those it replaces, which
    have losses up to 0. On the upper side it is not below the last of these. Where that cannot be, all is left as it
    is, for ``PrivacyLoss`` to judge.
    """
    with np.errstate(over="ignore"):
        half = np.exp(-0.5 * losses)
        under_q = np.minimum(masses * half * half, 2.0)  # as good as more, and sums stay finite
    last = int(np.searchsorted(losses, 0.0, side="right"))

    def lacking(n: int) -> tuple[float, float]:
        return 1 - _total(masses[n:], infinity), 1 - _total(under_q[n:])

    def fits(n: int) -> bool:
        p, q = lacking(n)
        return 0 <= p <= q * (math.exp(losses[n]) if n < losses.size else math.inf) if q > 0 else p == q == 0

    p, q = lacking(0)
    if (abs(p) <= ULPS and q >= -ULPS) or not fits(last):
        return losses, masses
    n = bisect_left(range(last + 1), True, key=fits)  # a larger one fits if a smaller one does
    p, q = lacking(n)
    if p <= 0:
        return losses[n:], masses[n:]
    loss = math.log(p / q)
    if side == "upper" and n:
        loss = max(loss, float(losses[n - 1]))
    return np.append(loss, losses[n:]), np.append(p, masses[n:])
