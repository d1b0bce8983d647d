"""PLD realizations (Definition def:PLDreal): a privacy loss under P, together with the same losses under Q.

A random variable L is a PLD realization if E[e^-L] <= 1 and P(L = -inf) = 0. It is then the privacy loss of a pair
(P, Q) (Claim clm:PLDdual), and carries all of it: under Q an outcome of loss l has the mass f_L(l) e^-l, and what is
missing from 1 is where Q has mass and P has none. Both measures are kept, the second as -D where D is the PLD dual,
so that neither is got from the other by a subtraction. """

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from privloss import _check
from privloss._ask import Ask, Side
from privloss._check import MISS, Numbers, positive, show
from privloss._pair import FloatArray, Pair, U
from privloss.paper._variable import Functions, Listed, Mixture, Normal, Pushed, Seen, Variable

if TYPE_CHECKING:
    from privloss.paper._lattice import Lattice

Tail = Callable[[FloatArray], Any]
ULPS = 64 * U  # a sum this close to 1 misses it by the rounding of its terms


@dataclass(frozen=True, eq=False)
class Realization:
    """A PLD realization: ``loss`` is L, ``other`` is -D, the law of the same losses under Q.

    ``side`` is None for an exact one, "upper" for one that stochastically dominates what it stands for.

    >>> from math import log
    >>> from privloss import paper
    >>> low = paper.Realization.listed([log(2), log(4)], [0.6, 0.4])
    >>> round(paper.dual(low).sf(0.0), 12)  # the dual's atom at infinity
    0.6
    """

    loss: Variable
    other: Variable
    side: Side | None = None

    @staticmethod
    def listed(losses: Numbers, masses: Numbers) -> Realization:
        """Finitely many losses with their masses under P. +inf is allowed, -inf is not, and E[e^-L] is at most 1.

        Sums may miss 1 by rounding (64 ulps): what that leaves open is in ``eta``. A larger miss up to 1e-9 is
        charged to the atoms.
        """
        loss, mass = np.array(_check.reals(losses=losses)), np.array(_check.masses(masses=masses))
        _check.same_length(losses=loss, masses=mass)
        if loss.min() == -math.inf:
            raise ValueError("losses must be above -inf, got -inf: a PLD realization has P(L = -inf) = 0")
        total = math.fsum(mass.tolist())
        finite = (loss < math.inf) & (mass > 0)
        order = np.argsort(loss[finite], kind="stable")
        loss, mass, top = loss[finite][order], mass[finite][order], math.fsum(mass[loss == math.inf].tolist())
        with np.errstate(over="ignore", under="ignore"):
            half = np.exp(-0.5 * loss)  # in two halves: e^-l overflows where the mass is tiny
            under_q = mass * half * half
        expected = math.fsum(under_q.tolist()) if np.isfinite(under_q).all() else math.inf
        if not expected <= 1 + MISS:
            raise ValueError(f"losses must have E[e^(-loss)] at most 1 within {MISS}, got {expected!r}")
        slack = abs(1 - total) if abs(1 - total) > ULPS else 0.0
        missing = 1 - expected
        near = abs(missing) <= ULPS
        eta = ULPS + (16 + loss.size) * U
        p = Listed(loss, mass, 0.0, top, eta + slack, slack)
        open_ = 0.0 if near else max(-missing, 0.0) + 16 * U
        return Realization(p, Listed(loss, under_q, 0.0 if near else max(missing, 0.0), 0.0, eta + open_, open_))

    @staticmethod
    def gaussian(sigma: float, sensitivity: float = 1.0) -> Realization:
        """N(a, 1) against N(0, 1), a = sensitivity/sigma: L is N(a^2/2, a^2), and so is D."""
        a = positive(sensitivity=sensitivity) / positive(sigma=sigma)
        if not 1e-12 <= a <= 1e6:
            raise ValueError(f"sensitivity/sigma must be from 1e-12 to 1e6, got {a!r}")
        return Realization(Normal(0.5 * a * a, a), Normal(-0.5 * a * a, a))

    @staticmethod
    def functions(cdf: Tail, sf: Tail, dual_cdf: Tail, dual_sf: Tail, error: float = 1e-12) -> Realization:
        """By the cdf and the sf of L and of its dual D, functions of arrays with the relative error ``error``.

        Points are doubles; a law with atoms needs F(x) = P(X <= x) there. That the four belong together is checked:
        every cell (a, b] must have e^-b f_L <= f_-D <= e^-a f_L.
        """
        error = positive(error=error)
        made = Realization(Functions(cdf, sf, error), Functions(dual_cdf, dual_sf, error).negated())
        made.check()
        return made

    @staticmethod
    def of(mechanism: Any, side: Side = "upper") -> Realization:
        """That of a mechanism of the front door, such as ``privloss.Laplace(1.0)``, by this package's own law.

        ``side`` matters only to mechanisms whose given masses miss 1, and to noise too loud or too quiet for a double.
        What any scheme's ``pair(side="upper")`` returns will do too, as an upper bound.
        """
        from privloss._scheme import Mechanism

        if isinstance(mechanism, Pair) and mechanism.side == "upper":
            return Realization(Seen(mechanism, "p"), Seen(mechanism, "q"), "upper")
        if not isinstance(mechanism, Mechanism):
            raise TypeError(
                f"mechanism must be a mechanism, such as Laplace(1.0), or an upper pair, got {show(mechanism)}"
            )
        law = mechanism.law(Ask(side, "remove", spacing=1e-3, tail=1e-300, focus=-700.0, deep=-700.0, nested=True))
        return Realization(Seen(law, "p"), Seen(law, "q"))

    @staticmethod
    def of_lattice(bound: Lattice) -> Realization:
        """The realization that an upper bound is (Claim clm:stochDomPLDreal). A lower bound may be none: refused."""
        if bound.side == "lower":
            raise ValueError(
                "bound must be an upper one, got a stochastic lower bound: it need not be a PLD realization, and its "
                "dual and subsampling do not keep the order (claim PLDdualDom)"
            )
        losses = bound.losses
        with np.errstate(over="ignore", under="ignore"):
            half = np.exp(-0.5 * losses)
            mass = bound.mass * half * half
        expected = math.fsum(mass.tolist()) if np.isfinite(mass).all() else math.inf
        if bound.bottom > 0.0 or not expected <= 1 + MISS:
            raise ValueError(
                f"bound must be a PLD realization, got P(L = -inf) = {bound.bottom!r} and E[e^-L] = {expected!r}"
            )
        error = bound.eta + 2 * bound.blur + (32 + bound.mass.size + 4 * bound.far) * U
        p = Listed(losses, bound.mass, 0.0, bound.top, error, slip=bound.blur)
        open_ = 2 * error * expected
        q = Listed(losses, mass, max(1 - expected, 0.0), 0.0, error + open_, open_, slip=bound.blur)
        return Realization(p, q, "upper")

    def dual(self) -> Realization:
        """PLD-dual (Algorithm alg:PLD_dual): P and Q exchanged, which negates the losses. Exact."""
        return Realization(self.other.negated(), self.loss.negated(), self.side)

    def subsampled(self, rate: float) -> Realization:
        """(rate P + (1 - rate) Q, Q), as Theorem thm:PLD_subsam and Algorithm alg:PLD_subsam_rem have it. Exact."""
        rate = _check.rate(rate=rate)
        if rate == 1.0:
            return self
        pushed, other = Pushed(self.loss, rate), Pushed(self.other, rate)
        return Realization(Mixture((rate, 1.0 - rate), (pushed, other)), other, self.side)

    def cdf(self, loss: float) -> float:
        """P(L <= loss)."""
        return self.loss.cdf(loss)

    def sf(self, loss: float) -> float:
        """P(L > loss), the CCDF; relatively accurate in the tail."""
        return self.loss.sf(loss)

    def quantile(self, tail: float) -> float:
        """q(tail), the smallest loss whose cdf is at least ``tail``."""
        return self.loss.quantile(tail)

    def check(self) -> None:
        """Definition def:PLDreal, on a grid: no mass of L at -inf, and e^-b f_L <= f_-D <= e^-a f_L on each cell."""
        lows, highs = zip(self.loss.reach(1e-9), self.other.reach(1e-9), strict=True)
        points = np.linspace(min(lows), max(*highs, min(lows) + 1e-9), 257)
        p, q = self.loss.cells(points, "upper"), self.other.cells(points, "upper")
        if p.bottom > 0:
            raise ValueError(f"a PLD realization must have P(L = -inf) = 0, got {p.bottom!r}")
        expected = float(q.mass.sum())
        if not expected <= 1 + MISS:
            raise ValueError(f"a PLD realization must have E[e^-L] at most 1, got {expected!r}")
        a, b = points[:-1], points[1:]
        inner_p, inner_q = p.mass[1:-1], q.mass[1:-1]
        with np.errstate(over="ignore"):
            least, most = inner_p * np.exp(-b) * (1 - 1e-6), inner_p * np.exp(-a) * (1 + 1e-6)
        wrong = (inner_q < least - MISS) | (inner_q > most + MISS)
        if wrong.any():
            where = float(a[int(wrong.argmax())])
            raise ValueError(f"the dual must have the masses e^-l times those of the loss, got others near {where!r}")


def dual(realization: Realization) -> Realization:
    """PLD-dual (Algorithm alg:PLD_dual, Definition def:PLDreal): f_D(l) = f_L(-l) e^l, the rest at infinity.

    The dual of L_{P,Q} is L_{Q,P}, and the dual of the dual is L again.
    """
    _check.instance(Realization, "a realization, such as Realization.gaussian(1.0)", realization=realization)
    return realization.dual()
