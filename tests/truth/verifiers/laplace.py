"""Compositions of Laplace steps one at a time: the curve of n steps from that of n - 1, piece by piece.

Given the loss l of one step, delta(epsilon) is the curve of the others at epsilon - l, so

    delta_n(e) = 1/2 delta_{n-1}(e - s) + e^-s/2 delta_{n-1}(e + s)
                 + integral over |l| < s of e^((l-s)/2)/4 delta_{n-1}(e - l)

with delta_0(e) = (1 - exp(e))_+. Between multiples of s the curve is  A + B exp(e) + exp(e/2) C(e), C a polynomial:
this form is kept by all three terms, and the integral of each part is known. Subsampling goes by its definition:
p - k q becomes rate p - (k - 1 + rate) q.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import mpmath
from mpmath import mp, mpf

from truth.closed import exactly
from truth.nodes import Node

METHOD = "one step at a time, by convolution of pieces A + B e^x + e^(x/2) C(x), C a polynomial (mpmath, 150 digits)"
Two = tuple[Any, Any]


@dataclass(frozen=True)
class Piece:
    """A + B exp(x) + exp(x/2) C(x), C by its coefficients from the constant up."""

    constant: Any
    growing: Any
    poly: tuple[Any, ...] = ()

    def at(self, x: Any) -> Any:
        return self.constant + self.growing * mpmath.exp(x) + mpmath.exp(x / 2) * value(self.poly, x)

    def slope(self, x: Any) -> Any:
        """-d/dk at k = e^x."""
        change = value(self.poly, x) / 2 + value(derivative(self.poly), x)
        return -self.growing - mpmath.exp(-x / 2) * change


def value(poly: tuple[Any, ...], x: Any) -> Any:
    total = mpf(0)
    for coefficient in reversed(poly):
        total = total * x + coefficient
    return total


def derivative(poly: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(i * c for i, c in enumerate(poly))[1:]


def integral(poly: tuple[Any, ...]) -> tuple[Any, ...]:
    return (mpf(0), *(c / (i + 1) for i, c in enumerate(poly)))


def moved(poly: tuple[Any, ...], by: Any) -> tuple[Any, ...]:
    """C(x + by), by Horner's rule."""
    found: tuple[Any, ...] = ()
    for coefficient in reversed(poly):
        raised = (mpf(0), *found)
        found = plus(raised, tuple(c * by for c in found))
        found = plus(found, (coefficient,))
    return found


def plus(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    size = max(len(a), len(b))
    a, b = (x + (mpf(0),) * (size - len(x)) for x in (a, b))
    return tuple(x + y for x, y in zip(a, b, strict=True))


def curve(scheme: Node, k: Any, direction: str) -> Two:
    with mp.workdps(150):
        if scheme["kind"] == "subsample":
            return _subsampled(scheme["of"], exactly(scheme["rate"]), +k, direction)
        rounds, inner = (scheme["rounds"], scheme["of"]) if scheme["kind"] == "repeat" else (1, scheme)
        s = exactly(inner["sensitivity"]) / exactly(inner["scale"])
        pieces, x = composed(s, rounds), mpmath.log(k)
        # Pieces i = 0.. lie between (i - rounds - 1) s and (i - rounds) s.
        i = min(max(int(mpmath.floor(x / s)) + rounds + 1, 0), 2 * rounds + 1)
        return pieces[i].at(x), pieces[i].slope(x)


def _subsampled(inner: Node, rate: Any, k: Any, direction: str) -> Two:
    if direction == "remove":
        if k <= 1 - rate:
            return 1 - k, mpf(1)
        delta, slope = curve(inner, (k - 1 + rate) / rate, "remove")
        return rate * delta, slope
    # q - k (rate p + (1 - rate) q), whose slope is the mass of rate p + (1 - rate) q
    left = 1 - k * (1 - rate)
    if left <= 0:
        return mpf(0), mpf(0)
    level = k * rate / left
    delta, slope = curve(inner, level, "add")
    return left * delta, rate * slope + (1 - rate) * (delta + level * slope)


@lru_cache
def composed(s: Any, rounds: int) -> list[Piece]:
    """2 rounds + 2 pieces; the first goes on to the left, the last to the right."""
    if rounds == 0:
        return [Piece(mpf(1), mpf(-1)), Piece(mpf(0), mpf(0))]
    return [_next(composed(s, rounds - 1), rounds - 1, i - rounds - 1, s) for i in range(2 * rounds + 2)]


def _next(pieces: list[Piece], rounds: int, place: int, s: Any) -> Piece:
    """The piece on (place s, place s + s), of one step more."""

    def piece(place: int) -> Piece:
        return pieces[min(max(place + rounds + 1, 0), 2 * rounds + 1)]

    right, left = piece(place + 1), piece(place - 1)
    constant = left.constant / 2 + mpmath.exp(-s) / 2 * right.constant
    growing = left.growing / 2 * mpmath.exp(-s) + right.growing / 2
    poly = tuple(c / 2 * mpmath.exp(-s / 2) for c in moved(left.poly, -s))
    poly = plus(poly, tuple(c / 2 * mpmath.exp(-s / 2) for c in moved(right.poly, s)))
    # The integral of exp((x - s - u)/2)/4 delta(u) over x - s < u < x + s: from x - s to the next multiple of s,
    # one whole piece, and up to x + s. The primitive of a piece is -2 A e^(-u/2) + 2 B e^(u/2) + int C.
    scale = mpmath.exp(-s / 2) / 4
    middle = piece(place)
    low, high = place * s, (place + 1) * s
    fixed = _primitive(left, low) + _primitive(middle, high) - _primitive(middle, low) - _primitive(right, high)
    # + primitive of the right piece at x + s, - primitive of the left piece at x - s, each times scale e^(x/2)
    constant += scale * (-2 * right.constant * mpmath.exp(-s / 2) + 2 * left.constant * mpmath.exp(s / 2))
    growing += scale * (2 * right.growing * mpmath.exp(s / 2) - 2 * left.growing * mpmath.exp(-s / 2))
    more = plus(moved(integral(right.poly), s), tuple(-c for c in moved(integral(left.poly), -s)))
    more = plus(more, (fixed,))
    return Piece(constant, growing, plus(poly, tuple(scale * c for c in more)))


def _primitive(piece: Piece, u: Any) -> Any:
    fall, rise = -2 * piece.constant * mpmath.exp(-u / 2), 2 * piece.growing * mpmath.exp(u / 2)
    return fall + rise + value(integral(piece.poly), u)
