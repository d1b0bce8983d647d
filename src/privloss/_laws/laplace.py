"""The Laplace pair: noise of the given scale centred at the sensitivity against 0; e = sensitivity / scale.

The loss runs over [-e, e]. Half of Q sits at -e and half of P at e; in between Q has the density (1/4)
e^(-(l + e)/2) and P the density (1/4) e^((l - e)/2), so every integral is closed. For the part [A, B] of a
cell [a, b] that meets [-e, e] the share of the point a is

    q = (1/2) e^(-(A + e)/2) (1 - e^(-(B - A)/2)) (1 - e^(-((b - A) + (b - B))/2)) / (1 - e^(a - b)),
    p = e^a q,

which holds for a = -inf and b = inf too; the share of b is its mirror image.

Rounding, in units of u: exponents are rounded after exp (8), three expm1 of rounded arguments (27), products
and sums (8). ``eta_q`` is 50 u. The law computed is that of e rounded to a double: its losses are off by the
rounding, ``eta_x``.
"""

from __future__ import annotations

import numpy as np

from privloss._laws.quadrature import exp_sum, quotient
from privloss._pair import FloatArray, Law, Masses, U


class LaplaceLaw(Law):
    """Two atoms and two exponential densities."""

    eta_q: float = 50 * U
    eta_x: float = 0.0
    low: float = 0.0
    high: float = 0.0
    atoms: FloatArray | None = None

    def __init__(self, scale: float, sensitivity: float = 1.0) -> None:
        self.high, rest = quotient(sensitivity, scale)
        self.low, self.eta_x = -self.high, abs(rest) * (1 + 8 * U)

    def window(self, left: float, right: float) -> tuple[float, float]:
        """All of it: half of Q sits at the lowest loss and half of P at the highest."""
        return self.low, self.high

    def hats(self, points: FloatArray) -> Masses:
        """Spread onto the points, the atoms exactly."""
        edge = np.concatenate(([-np.inf], points, [np.inf]))
        q, p = np.zeros(edge.size), np.zeros(edge.size)
        self._spread_density(edge, q, p)
        for loss in (self.low, self.high):
            self._spread_atom(loss, edge, q, p)
        vanished = 1e-300 if self.high > 1200.0 else 0.0  # only then do both masses of an outcome underflow
        return Masses(q[1:-1], p[1:-1], float(q[0]) + vanished, float(p[-1]) + vanished)

    def cells(self, cuts: FloatArray) -> Masses:
        """Merge between the cuts; the atoms belong to the cell that ends with them."""
        e = np.asarray(self.high)
        start = np.clip(np.concatenate((cuts[:1], cuts)), -e, e)
        start[0] = -e
        end = np.clip(np.concatenate((cuts, cuts[-1:])), -e, e)
        end[-1] = e
        mass = -0.5 * np.expm1(-0.5 * (end - start))
        q = exp_sum(-0.5 * start, -0.5 * e) * mass
        p = exp_sum(0.5 * end, -0.5 * e) * mass
        for loss in (self.low, self.high):
            cell = np.searchsorted(cuts, loss, side="left")
            q[cell] += 0.5 * np.exp(min(0.0, -loss))
            p[cell] += 0.5 * np.exp(min(0.0, loss))
        return Masses(q, p, 0.0, 0.0)

    def _spread_density(self, edge: FloatArray, q: FloatArray, p: FloatArray) -> None:
        half = np.asarray(-0.5 * self.high)
        start, end = np.maximum(edge[:-1], self.low), np.minimum(edge[1:], self.high)
        met = np.flatnonzero(end > start)
        start, end, a, b = start[met], end[met], edge[met], edge[met + 1]
        mass = 0.5 * np.expm1(-0.5 * (end - start)) / np.expm1(a - b)
        left = -mass * np.expm1(-0.5 * ((b - start) + (b - end)))
        right = -mass * np.expm1(-0.5 * ((start - a) + (end - a)))
        q[met] += exp_sum(-0.5 * start, half) * left
        p[met] += exp_sum(finite(a), -0.5 * start, half) * left * np.isfinite(a)
        q[met + 1] += exp_sum(finite(-b), 0.5 * end, half) * right * np.isfinite(b)
        p[met + 1] += exp_sum(0.5 * end, half) * right

    def _spread_atom(self, loss: float, edge: FloatArray, q: FloatArray, p: FloatArray) -> None:
        """Half of e^(min(0, -loss)) under Q, of e^(min(0, loss)) under P; p = e^a q at a, q = e^-b p at b."""
        i = int(np.searchsorted(edge, loss, side="right")) - 1
        a, b = edge[i : i + 1], edge[i + 1 : i + 2]
        log_q, log_p = np.asarray(min(0.0, -loss)), np.asarray(min(0.0, loss))
        left = 0.5 * np.expm1(loss - b) / np.expm1(a - b)
        right = 0.5 * np.expm1(a - loss) / np.expm1(a - b)
        q[i] += (np.exp(log_q) * left).item()
        p[i] += (exp_sum(finite(a), log_q) * left * np.isfinite(a)).item()
        q[i + 1] += (exp_sum(finite(-b), log_p) * right * np.isfinite(b)).item()
        p[i + 1] += (np.exp(log_p) * right).item()


def finite(loss: FloatArray) -> FloatArray:
    """Zero in place of an infinity, which the caller multiplies by 0."""
    value: FloatArray = np.where(np.isfinite(loss), loss, 0.0)
    return value
