"""Composition by FFT, on a range shrunk by Chernoff bounds.

Losses add under composition. On lattices of one step they do so without rounding: origins add, and masses convolve.
The transform is circular, so what lies outside its window is folded in: mass above the window comes in too low, mass
below too high. Chernoff's bound says how much there is at most, from the discretised laws themselves: P(S >= hi) <=
e^(K(z) - z hi) for every z > 0, where K is the sum of the log moment generating functions.

Upper: mass folded from below only rises, and as much as is above is moved from the smallest losses to inf. Lower: mass
folded from above only falls, and as much as is below is moved from the largest losses to -inf. Either keeps the order.

Rounding of the transforms is an absolute error. A transform of length N errs by at most c = 8 log2(N) u of the sum of
the masses in each coefficient z_i (|z_i| <= 1; Higham, Accuracy and Stability, section 24.1, with room for twiddles).
A power m moves that to m c |z_i|^(m-1), and by Parseval's identity and Cauchy-Schwarz the masses that come out are
off by

    E = c' (sum over i of (error of coefficient i)^2)^(1/2)

in sum. E is moved likewise: from the smallest losses to inf (upper), from the largest finite losses to -inf (lower).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privloss._ask import Side
from privloss._check import count, positive
from privloss._pair import FloatArray, U
from privloss.paper._lattice import Lattice, moved

MOST_LENGTH = 2**25
Counted = Sequence[tuple[Lattice, int]]


def compose(parts: Counted, tail: float) -> Lattice:
    """The sum of the losses of ``times`` copies of each part, by FFT; at most ``tail`` of the answer is cut.

    The result bounds the composition from the side of its parts, which agree in it and in their step. With parts that
    are (alpha_i, beta_i)-tight it is (sum alpha_i, sum beta_i + tail)-tight (Claim clm:stochDomComp), but for the error
    E of the transforms.
    """
    if not parts:
        raise ValueError("parts must be at least one (bound, times), got none")
    first = parts[0][0]
    for each, times in parts:
        count(times=times)
        if each.step != first.step or each.side != first.side:
            raise ValueError(
                f"parts must have one step and bound one side, got {first.step!r}, {first.side} and {each.step!r}, "
                f"{each.side}"
            )
    tail = positive(tail=tail)
    if len(parts) == 1 and parts[0][1] == 1:
        return first
    side = first.side
    origin = math.fsum(each.origin * times for each, times in parts)
    far = sum(abs(each.origin) * times for each, times in parts)
    factors = [(each.mass, times) for each, times in parts]
    window = shrunk(factors, 0.5 * tail)
    got = powered(factors, window)
    # inf is where one of the copies is; -inf where one is and none is inf (a lower bound may say so).
    some = sum(times * (math.log1p(-each.bottom) if each.bottom < 1 else -math.inf) for each, times in parts)
    none = sum(times * _log_rest(each) for each, times in parts)
    top = math.exp(some) * -math.expm1(none) if some > -math.inf else 0.0
    bottom = -math.expm1(some)
    eta = sum(times * (each.eta + 4 * U) for each, times in parts)
    mass, top, bottom = charged(got, window, top, bottom, side)
    start = moved(origin + first.step * window.low, 8 * U * (far + first.step * abs(window.low)), side)
    return Lattice(start, first.step, mass, bottom, top, side, eta)


def _log_rest(bound: Lattice) -> float:
    """log of the share of the rest, -inf apart, that is finite."""
    share = bound.top / (1 - bound.bottom) if bound.bottom < 1 else 1.0
    return math.log1p(-share) if share < 1 else -math.inf


class Window(NamedTuple):
    """Points low..high of the sum, and the masses that may lie outside."""

    low: int
    high: int
    below: float
    above: float


class Powered(NamedTuple):
    """Masses of the sum on its window, and what they are off by in sum."""

    mass: FloatArray
    error: float


def shrunk(factors: Sequence[tuple[FloatArray, int]], tail: float) -> Window:
    """The window of a sum with at most ``tail`` beyond either end: by Chernoff's bound, or all of its range."""
    most = sum((mass.size - 1) * times for mass, times in factors)
    upwards = [(mass, np.arange(mass.size, dtype=np.float64), times) for mass, times in factors]
    downwards = [(mass[::-1], place, times) for mass, place, times in upwards]
    high, above = chernoff(upwards, tail)
    low, below = chernoff(downwards, tail)
    first, last = most - math.ceil(low), math.ceil(high)
    if first > last:  # nearly all of it is at infinity
        return Window(0, most, 0.0, 0.0)
    return Window(first, last, below, above)


def chernoff(parts: Sequence[tuple[FloatArray, FloatArray, int]], tail: float) -> tuple[float, float]:
    """A place, and a bound of about ``tail`` on the mass of the sum beyond it; parts are (masses, places, copies).

    Any z > 0 gives a valid bound, so of a geometric set of them the best is taken. Places are counted from the last
    one, which keeps every exponent negative.
    """
    lasts = [float(place[-1]) for _, place, _ in parts]
    spread = max(float(place[-1] - place[0]) for _, place, _ in parts) or 1.0
    most = sum(times * last for (_, _, times), last in zip(parts, lasts, strict=True))
    goal, best, bound, least, worse = math.log(tail), most, 0.0, math.inf, 0
    z = 1e-2 / spread / math.sqrt(sum(times for _, _, times in parts))
    while z < 1e4 / spread and worse < 20:
        k = 0.0  # K(z) - z most
        for (mass, place, times), last in zip(parts, lasts, strict=True):
            k += times * _log_moment(mass, place - last, z)
        if k == -math.inf:  # no mass at all, which is nowhere
            return most, 0.0
        reach = most + (k - goal) / z  # where e^(K(z) - z reach) is tail
        least, worse = (reach, 0) if reach < least else (least, worse + 1)
        if reach < best:
            best = reach
            bound = tail * (1 + 1e-9 + 64 * U * (abs(k) + z * (abs(most) + abs(reach))))
        z *= 1.25
    return best, bound


def _log_moment(mass: FloatArray, place: FloatArray, z: float) -> float:
    """log of sum mass e^(z place), rounded up: by the summation of all terms, and by exponents down to -745."""
    total = float(mass @ np.exp(np.maximum(z * place, -745.0)))
    return math.log(total) + 4 * U * (mass.size + 1000) if total > 0 else -math.inf


def powered(factors: Sequence[tuple[FloatArray, int]], window: Window) -> Powered:
    """The convolution of all copies by FFT, on the window."""
    longest = max(mass.size for mass, _ in factors)
    length = _length(max(window.high - window.low + 1, longest if longest <= 2 * (window.high - window.low + 1) else 1))
    product, off = np.ones(length // 2 + 1, np.complex128), np.zeros(length // 2 + 1)
    bits = length.bit_length()
    unit = (8 * bits + longest // length) * U
    for mass, times in factors:
        spectrum = np.fft.rfft(folded(mass, length), length)
        size = np.minimum(np.abs(spectrum) + unit, 1.0)
        each = times * (unit + 8 * U * times.bit_length())
        off = off * size**times + np.abs(product) * each * size ** (times - 1)
        product = product * _power(spectrum, times)
    off += 4 * U * np.abs(product)
    weights = np.full(product.size, 2.0)  # of a coefficient and its conjugate
    weights[0] = 1.0
    error = math.sqrt(float(weights @ off**2)) + unit * math.sqrt(float(weights @ np.abs(product) ** 2))
    cyclic = np.fft.irfft(product, length)
    # All of the circle, from the first point of the window; what is beyond its last was allowed for.
    return Powered(np.maximum(np.roll(cyclic, -(window.low % length)), 0.0), 2.0 * error)


def folded(mass: FloatArray, length: int) -> FloatArray:
    """The masses modulo the length of the transform."""
    if mass.size <= length:
        return mass
    padded = np.zeros(-(-mass.size // length) * length)
    padded[: mass.size] = mass
    value: FloatArray = padded.reshape(-1, length).sum(axis=0)
    return value


def _power(spectrum: NDArray[np.complex128], times: int) -> NDArray[np.complex128]:
    """By squaring: 2 log2(times) products, each within 3 u."""
    total, base = None, spectrum
    while True:
        if times % 2:
            total = base if total is None else total * base
        times //= 2
        if times == 0:
            assert total is not None
            return total
        base = base * base


def _length(least: int) -> int:
    """A length that transforms quickly: 2^a, 3 2^a or 5 2^a."""
    power = 1 << max(least - 1, 1).bit_length()
    length = min(n for n in (power, 3 * power // 4, 5 * power // 8) if n >= least)
    if length > MOST_LENGTH:
        raise ValueError(f"alpha must be larger: a transform has at most {MOST_LENGTH} points, and {least} are needed")
    return length


def charged(
    got: Powered, window: Window, top: float, bottom: float, side: Side
) -> tuple[FloatArray, float, float]:
    """Masses of a sum with what was folded in, and what the transforms erred by, charged to the safe side."""
    if side == "upper":
        taken = got.error + window.above
        return taken_off(got.mass, taken), top + taken, bottom
    taken = got.error + window.below
    return taken_off(got.mass[::-1], taken)[::-1], top, bottom + taken


def taken_off(mass: FloatArray, amount: float) -> FloatArray:
    """The masses without that much of the first of them."""
    left = np.maximum(np.cumsum(mass) - amount, 0.0)
    first = int(np.searchsorted(left > 0.0, True))
    value: FloatArray = mass.copy()
    value[:first] = 0.0
    if first < value.size:
        value[first] = min(left[first], value[first])
    return value
