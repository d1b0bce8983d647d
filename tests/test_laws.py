"""The laws of the mechanisms against the same integrals to 90 digits: errors are within the stated bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
import pytest

import privloss as pl
from privloss._ask import Ask, Side
from privloss._evaluate import Disjoint, Subsampled, Swapped
from privloss._largest import largest
from privloss._laws.faraway import far_gaussian
from privloss._laws.gaussian import GaussianLaw, tail_place
from privloss._laws.integers import Widened, discrete_gaussian, discrete_laplace
from privloss._laws.laplace import LaplaceLaw
from privloss._laws.mixture import MixtureLaw
from privloss._laws.quadrature import RULES, quotient
from privloss._pair import FloatArray, Law, Masses, Pair
from privloss._rewrite import simplify

mp = mpmath.mp.clone()
mp.dps = 90
mpf = mp.mpf
FLOOR = 2e-300  # what an atom is charged for underflow; an absolute error of that size is allowed

Real = Any  # an mpf, or a number that mixes with it
Masser = Callable[[Real, Real], tuple[Real, Real]]  # Q- and P-mass of the losses in (low, high]


def exact(value: Fraction) -> Real:
    return mpf(value.numerator) / value.denominator


def normal(low: Real, high: Real) -> Real:
    """Mass of (low, high] under the standard normal, without cancellation in either tail."""
    root = mp.sqrt(2)
    if low + high < 0:
        low, high = -high, -low
    return (mp.erfc(low / root) - mp.erfc(high / root)) / 2


def gaussian_truth(sigma: float, sensitivity: float) -> Masser:
    a = exact(Fraction(sensitivity) / Fraction(sigma))

    def mass(low: Real, high: Real) -> tuple[Real, Real]:
        ends = [loss / a + a / 2 for loss in (low, high)]
        return normal(*ends), normal(*(z - a for z in ends))

    return mass


def laplace_truth(e: float) -> Masser:
    """For the law at e as a double: what it is off by is ``eta_x``."""

    def mass(low: Real, high: Real) -> tuple[Real, Real]:
        a, b = (max(mpf(-e), min(mpf(e), x)) for x in (low, high))
        q = (mp.exp(-(a + e) / 2) - mp.exp(-(b + e) / 2)) / 2
        p = (mp.exp((b - e) / 2) - mp.exp((a - e) / 2)) / 2
        for atom in (-e, e):
            if low < atom <= high:
                q += mp.exp(min(mpf(0), mpf(-atom))) / 2
                p += mp.exp(min(mpf(0), mpf(atom))) / 2
        return q, p

    return mass


def spread(points: FloatArray, mass: Masser) -> list[tuple[Real, Real]]:
    """(q, p) at ratio 0, at each point, at infinity: on a cell [a, b] two equations give the two shares."""
    edge = [mpf(-math.inf), *(mpf(float(x)) for x in points), mpf(math.inf)]
    at = [[mpf(0), mpf(0)] for _ in edge]
    for i, (a, b) in enumerate(pairwise(edge)):
        q, p = mass(a, b)
        x, y = mp.exp(a), mp.exp(b)
        if i == 0:
            to_left, to_right = (q - p / y, mpf(0)), (p / y, p)
        elif i == len(points):
            to_left, to_right = (q, x * q), (mpf(0), p - x * q)
        else:
            share = (p - x * q) / (y - x)
            to_left, to_right = (q - share, x * (q - share)), (share, y * share)
        for k, (dq, dp) in ((i, to_left), (i + 1, to_right)):
            at[k][0] += dq
            at[k][1] += dp
    return [(q, p) for q, p in at]


def flat(masses: Masses) -> list[tuple[float, float]]:
    inner = list(zip(masses.q.tolist(), masses.p.tolist(), strict=True))
    return [(masses.q_only, 0.0), *inner, (0.0, masses.p_only)]


def worst(got: Sequence[tuple[float, float]], truth: Sequence[tuple[Real, Real]]) -> float:
    error = 0.0
    assert len(got) == len(truth)
    for pair, true in zip(got, truth, strict=True):
        for value, exactly in zip(pair, true, strict=True):
            assert 0.0 <= value <= 1.0 + 1e-14
            off = abs(mpf(value) - exactly) - FLOOR
            error = max(error, float(off / exactly) if off > 0 else 0.0)
    return error


def merged(cuts: FloatArray, mass: Masser) -> list[tuple[Real, Real]]:
    edge = [mpf(-math.inf), *(mpf(float(x)) for x in cuts), mpf(math.inf)]
    return [mass(a, b) for a, b in pairwise(edge)]


def cells(masses: Masses) -> list[tuple[float, float]]:
    return list(zip(masses.q.tolist(), masses.p.tolist(), strict=True))


def grids(law: Law, random: np.random.Generator) -> list[FloatArray]:
    """Narrow, random, tight and wide cells, and points far outside."""
    lo, hi = law.window(1e-300, 1e-300)
    near = law.window(1e-6, 1e-6)
    tight = random.uniform(*near, 4)
    return [
        np.linspace(hi - 0.02 * (hi - lo), hi, 30),
        np.linspace(lo, lo + 0.01 * (hi - lo), 30),
        np.linspace(*near, 60),
        np.sort(random.uniform(lo, hi, 30)),
        np.sort(np.concatenate((tight, tight + 1e-12 * (1 + np.abs(tight)), tight + 1e-6))),
        np.array([lo, hi]),
        np.array([0.0]),
        np.array([-700.0, -50.0, 0.0, 1e-12, 50.0, 700.0]),
        np.array([hi - 1e-3, hi, hi + 50.0, hi + 1e5]),
        np.array([lo - 1e5, lo - 50.0, lo, lo + 1e-3]),
    ]


GAUSSIANS = [(1e4, 1.0), (10.0, 1.0), (1.0, 1.0), (0.7, 2.1), (0.05, 1.0), (0.01, 1.0)]


@pytest.mark.parametrize(("sigma", "sensitivity"), GAUSSIANS)
def test_gaussian(sigma: float, sensitivity: float) -> None:
    law, mass = GaussianLaw(sigma, sensitivity), gaussian_truth(sigma, sensitivity)
    spreading = merging = 0.0
    for points in grids(law, np.random.default_rng(1)):
        spreading = max(spreading, worst(flat(law.hats(points)), spread(points, mass)))
        merging = max(merging, worst(cells(law.cells(points)), merged(points, mass)))
    print(f"sigma {sigma} spread {spreading:.1e} merge {merging:.1e} bound {law.eta_q:.1e}")
    assert max(spreading, merging) <= law.eta_q


@pytest.mark.parametrize("sigma", [1e3, 1.0, 0.05])
def test_gaussian_masses_add_up(sigma: float) -> None:
    law = GaussianLaw(sigma)
    for count in (2, 50, 3000):
        points = np.linspace(*law.window(1e-20, 1e-20), count)
        for masses in (law.hats(points), law.cells(points)):
            assert math.fsum(masses.q) + masses.q_only == pytest.approx(1.0, abs=1e-15)
            assert math.fsum(masses.p) + masses.p_only == pytest.approx(1.0, abs=1e-15)
        hats = law.hats(points)
        np.testing.assert_allclose(hats.p, np.exp(points) * hats.q, rtol=1e-14)


def test_a_tail_that_is_nearly_everything() -> None:
    """Dozens of panels, far from where they start: their ends must meet."""
    law = GaussianLaw(0.449)
    for cut in np.linspace(-90.0, 90.0, 300):
        masses = law.cells(np.array([cut]))
        assert max(abs(masses.q.sum() - 1.0), abs(masses.p.sum() - 1.0)) <= 1.5e-15


def test_gaussian_where_one_mass_underflows() -> None:
    """At losses beyond 1000 q is 0 in double precision and p is not."""
    law, mass = GaussianLaw(0.02), gaussian_truth(0.02, 1.0)
    points = np.linspace(1000.0, 2400.0, 12)
    hats = law.hats(points)
    assert (hats.q[5:] < 1e-300).all() and (hats.p[5:-1] > 1e-100).all()
    assert worst(flat(hats), spread(points, mass)) <= law.eta_q


def test_a_tail_place_is_safe_and_close() -> None:
    for budget in (1e-310, 1e-300, 1e-100, 1e-20, 1e-3, 0.3, 0.5, 0.9, 1 - 1e-9):
        z = mpf(tail_place(budget))
        assert normal(z, mpf(math.inf)) <= budget <= normal(z - mpf(1e-6), mpf(math.inf)) * (1 + mpf(1e-6))
    assert tail_place(0.0) >= 38.0


@pytest.mark.parametrize(
    "law", [GaussianLaw(1.3), MixtureLaw(1.0, [1.0, -2.0], [0.25, 0.75]), LaplaceLaw(0.5)]
)
@pytest.mark.parametrize(("left", "right"), [(1e-300, 1e-12), (1e-12, 1e-300), (0.3, 0.3), (0.9, 0.9)])
def test_a_window_keeps_its_budget(law: Law, left: float, right: float) -> None:
    lo, hi = law.window(left, right)
    assert lo <= hi
    masses = law.cells(np.array([np.nextafter(lo, -np.inf)])), law.cells(np.array([hi]))
    assert masses[0].q[0] <= left and masses[1].p[1] <= right


LAPLACES = [(1e9, 1.0), (1.0, 1.0), (0.3, 1.0), (0.01, 1.0), (0.001, 1.0)]


@pytest.mark.parametrize(("scale", "sensitivity"), LAPLACES)
def test_laplace(scale: float, sensitivity: float) -> None:
    law = LaplaceLaw(scale, sensitivity)
    e, random = law.high, np.random.default_rng(2)
    assert law.eta_x >= abs(mpf(e) - exact(Fraction(sensitivity) / Fraction(scale)))
    mass = laplace_truth(e)
    error = 0.0
    for points in (
        np.linspace(-e, e, 40),
        np.linspace(-1.1 * e, 1.2 * e, 31),
        np.sort(random.uniform(-e, e, 30)),
        np.sort(random.uniform(0.5 * e, e, 30)),
        e * np.array([0.1, 0.1 + 1e-12, 0.1 + 1e-9]),
        np.array([-800.0, -e / 3, 0.0, 700.0]),
        np.array([0.0]),
        np.array([-e]),
        np.array([e]),
    ):
        points = np.unique(points)
        error = max(error, worst(flat(law.hats(points)), spread(points, mass)))
        error = max(error, worst(cells(law.cells(points)), merged(points, mass)))
    print(f"scale {scale} error {error:.1e} bound {law.eta_q:.1e}")
    assert error <= law.eta_q


def test_laplace_atoms_stay_at_their_points() -> None:
    law = LaplaceLaw(0.25)
    hats = law.hats(np.array([-4.0, 4.0]))
    assert hats.q_only == hats.p_only == 0.0
    only = law.hats(np.array([-4.0]))
    assert only.q_only == 0.0 and only.q[0] == pytest.approx(1.0, rel=1e-15)


MIXTURES = [
    (1.0, [1.0], [1.0]),
    (1.0, [0.0, 1.0], [0.999, 0.001]),
    (0.5, [1.0, -1.0], [0.5, 0.5]),
    (1.0, [0.0, 2.0, 5.0, -3.0], [0.5, 0.25, 0.125, 0.125]),
    (2.0, [-1.0, -7.0], [0.75, 0.25]),
    (100.0, [1.0, 2.0], [0.5, 0.5]),
    (0.05, [0.0, 1.0], [0.5, 0.5]),
]


def mixture_truth(law: MixtureLaw, sigma: float, sensitivities: list[float], weights: list[float]) -> Masser:
    a = [exact(Fraction(s) / Fraction(sigma)) for s in sensitivities]
    w = [mpf(x) for x in weights]

    def loss(z: Real) -> Real:
        return mp.log(sum(wi * mp.exp(ai * z - ai * ai / 2) for wi, ai in zip(w, a, strict=True)))

    def turn() -> Real:
        if not math.isfinite(law.turning):
            return mpf(law.turning)
        return mp.findroot(
            lambda z: sum(wi * ai * mp.exp(ai * z - ai * ai / 2) for wi, ai in zip(w, a, strict=True)),
            law.turning,
        )

    bottom = turn()

    def place(target: Real, far: int) -> Real:
        """Where the branch towards ``far`` meets the target, by bisection; its end when it does not."""
        if target == -math.inf:
            return bottom if mp.isfinite(bottom) or (bottom < 0) == (far > 0) else None
        if target == math.inf:
            return mpf(math.inf) * far
        near = bottom if mp.isfinite(bottom) else mpf(-3000) * far
        away = mpf(3000) * far
        if loss(near) >= target:
            return bottom if mp.isfinite(bottom) else mpf(-math.inf) * far
        for _ in range(160):
            middle = (near + away) / 2
            near, away = (middle, away) if loss(middle) < target else (near, middle)
        return near

    branches = [far for far in (1, -1) if far * law.turning < math.inf]

    def mass(low: Real, high: Real) -> tuple[Real, Real]:
        q = p = mpf(0)
        for far in branches:
            ends = sorted((place(low, far), place(high, far)))
            q += normal(*ends)
            p += sum(wi * normal(ends[0] - ai, ends[1] - ai) for wi, ai in zip(w, a, strict=True))
        return q, p

    return mass


@pytest.mark.parametrize(("sigma", "sensitivities", "weights"), MIXTURES)
def test_mixture(sigma: float, sensitivities: list[float], weights: list[float]) -> None:
    """Losses are off by at most ``eta_x``, which over a gap h moves eta_x/h of the neighbours' masses."""
    law = MixtureLaw(sigma, sensitivities, weights)
    mass = mixture_truth(law, sigma, sensitivities, weights)
    lo, hi = law.window(1e-100, 1e-100)
    for points in (
        np.linspace(lo, hi, 7),
        np.linspace(*law.window(1e-3, 1e-3), 9),
        np.array([0.0]),
        np.array([-1.0, 40.0]),
    ):
        h = float(np.diff(points, prepend=points[0] - 1.0).min())
        for got, truth in (
            (flat(law.hats(points)), spread(points, mass)),
            (cells(law.cells(points)), merged(points, mass)),
        ):
            near: list[list[Real]] = [[x[k] for x in [(0, 0), *truth, (0, 0)]] for k in (0, 1)]
            for i, (pair, true) in enumerate(zip(got, truth, strict=True)):
                for k in (0, 1):
                    moved = law.eta_x * max(1.0, 1 / h) * sum(near[k][i : i + 3])
                    assert abs(mpf(pair[k]) - true[k]) <= law.eta_q * true[k] + 2 * moved + FLOOR


@pytest.mark.parametrize(("sigma", "sensitivities", "weights"), MIXTURES)
def test_mixture_masses_add_up(sigma: float, sensitivities: list[float], weights: list[float]) -> None:
    law = MixtureLaw(sigma, sensitivities, weights)
    for count in (3, 60, 1500):
        points = np.linspace(*law.window(1e-20, 1e-20), count)
        hats, merges = law.hats(points), law.cells(points)
        for masses in (hats, merges):
            assert math.fsum(masses.q) + masses.q_only == pytest.approx(1.0, abs=3e-15)
        assert math.fsum(merges.p) == pytest.approx(1.0, abs=3e-15)
        assert math.fsum(hats.p) + hats.p_only == pytest.approx(1.0, abs=3e-15 + law.eta_x)
        np.testing.assert_allclose(hats.p, np.exp(points) * hats.q, rtol=1e-13)


def test_a_mixture_of_one_is_the_gaussian() -> None:
    points = np.linspace(-5.0, 8.0, 40)
    for sign in (1.0, -1.0):
        mixed, plain = MixtureLaw(0.8, [sign, 3.0], [1.0, 0.0]), GaussianLaw(0.8)
        for got, known in (
            (mixed.hats(points), plain.hats(points)),
            (mixed.cells(points), plain.cells(points)),
        ):
            np.testing.assert_allclose(got.q, known.q, rtol=1e-12)
            np.testing.assert_allclose(got.p, known.p, rtol=1e-12)


def test_a_mixture_of_nothing_is_an_atom() -> None:
    law = MixtureLaw(1.0, [0.0, 0.0], [0.5, 0.5])
    assert law.low == law.high == 0.0 and law.window(0.1, 0.1) == (0.0, 0.0)
    assert law.atoms is not None and law.atoms.tolist() == [0.0]
    hats = law.hats(np.array([-1.0, 0.0, 1.0]))
    np.testing.assert_allclose(hats.q, [0.0, 1.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(law.cells(np.array([0.0])).p, [1.0, 0.0], atol=1e-15)


def ask(side: Side) -> Ask:
    return Ask(side=side, direction="remove", spacing=0.1, tail=1e-20, focus=-14.0, deep=-14.0)


@pytest.mark.parametrize("sigma", [0.1, 0.7, 3.0, 250.0])
@pytest.mark.parametrize("sensitivity", [1, 40])
def test_discrete_gaussian(sigma: float, sensitivity: int) -> None:
    pair = discrete_gaussian(sigma, sensitivity, ask("upper"))
    square = 2 * mpf(sigma) ** 2
    total = mp.jtheta(3, 0, mp.exp(-1 / square)) if sigma < 3 else None
    if total is None:  # Poisson summation: the other side converges at once
        total = mp.sqrt(mp.pi * square) * (
            1 + 2 * mp.exp(-(mp.pi**2) * square) + 2 * mp.exp(-4 * mp.pi**2 * square)
        )
    k = np.rint((pair.loss * sigma**2 / sensitivity) + sensitivity / 2)
    for i in np.unique(np.linspace(0, k.size - 1, 60).astype(int)):
        at = mpf(int(k[i]))
        for value, centre in ((pair.q[i], 0), (pair.p[i], sensitivity)):
            true = mp.exp(-((at - centre) ** 2) / square) / total
            assert abs(value - true) <= 24 * 2**-53 * true + mpf(1e-307)
        assert abs(pair.loss[i] - sensitivity * (2 * at - sensitivity) / square) <= pair.eta_x
    assert pair.q_only <= 1e-299 and math.fsum(pair.q) == pytest.approx(1.0, abs=3e-15)


@pytest.mark.parametrize("scale", [0.01, 1.0, 30.0, 1e7])
@pytest.mark.parametrize("sensitivity", [1, 2, 50])
def test_discrete_laplace(scale: float, sensitivity: int) -> None:
    pair = discrete_laplace(scale, sensitivity, ask("lower"))
    r = mp.exp(-1 / mpf(scale))
    at_zero = (1 - r) / (1 + r)
    q = [1 / (1 + r), *(at_zero * r**k for k in range(1, sensitivity)), r**sensitivity / (1 + r)]
    for value, true in (*zip(pair.q, q, strict=True), *zip(pair.p, q[::-1], strict=True)):
        assert abs(value - true) <= 24 * 2**-53 * true + mpf(1e-307)
    for k, loss in enumerate(pair.loss):
        assert abs(loss - mpf(2 * k - sensitivity) / mpf(scale)) <= pair.eta_x
    assert pair.q_only == pair.p_only == 0.0


def remainder(count: int, c: float, h: float, w: float, *, order: int = 1) -> float:
    """The Bernstein bound over the integral, for e^(-cy) times a share that vanishes at y = 1."""
    rho = np.geomspace(1.5, 400.0, 4000)
    major, minor = (rho + 1 / rho) / 2, (rho - 1 / rho) / 2
    share = np.log((1 + h) * (1 + major) / 2) if order == 1 else h + h + 2 * np.log((1 + major) / 2)
    top = c * major + (w * minor) ** 2 / 8 + h * (major - 1) / 2 + share
    y, weights = np.polynomial.legendre.leggauss(40)
    least = min(float(weights @ (np.exp(k * y) * ((1 - y) / 2) ** order)) / 2 for k in (c, -c))
    bound = (
        math.log(64 / 15)
        - 2 * count * np.log(rho)
        - np.log1p(-(rho**-2.0))
        + top
        + w * w / 2
        - math.log(2 * least)
    )
    return math.exp(float(bound.min()))


def test_every_rule_is_long_enough_for_its_limit() -> None:
    shares = [(x, y) for x in (0, 0.25, 0.5, 0.75, 1) for y in (0, 0.25, 0.5, 0.75, 1) if x + y <= 1]
    for k, rule in enumerate(RULES):
        for x, y in shares:
            c, h, w = rule.limit * x, 2 * rule.limit * y, rule.limit * (1 - x - y)
            assert remainder(rule.nodes.size, c, h, w) <= 2e-17
            if k:  # the mixture: no rule below six nodes, sizes raised by a third
                assert remainder(rule.nodes.size, 0.75 * c, 0.75 * h, 0.75 * w, order=2) <= 6e-17
        assert rule.weights.sum() == pytest.approx(1.0, abs=3e-16)
        for power in range(2 * rule.nodes.size):
            assert rule.weights @ rule.nodes**power == pytest.approx(1 / (power + 1), rel=4e-15)


def test_a_quotient_keeps_its_rounding() -> None:
    for a, b in ((1.0, 3.0), (2.1, 0.7), (1e-9, 1e5), (5.0, 0.01)):
        high, low = quotient(a, b)
        assert abs(Fraction(high) + Fraction(low) - Fraction(a) / Fraction(b)) <= Fraction(high) / 2**100


LAYERED: list[Law] = [
    Subsampled(GaussianLaw(1.0), 0.3),
    Subsampled(Swapped(Subsampled(GaussianLaw(0.5), 0.9)), 0.7),
    Swapped(MixtureLaw(1.0, [0.0, 2.0], [0.5, 0.5])),
    Disjoint((GaussianLaw(1.0), LaplaceLaw(0.5), GaussianLaw(3.0)), (0.5, 0.25, 0.25)),
    Widened(GaussianLaw(2.0), 1e-9, 1e-9),
]


@pytest.mark.parametrize("law", LAYERED, ids=lambda law: type(law).__name__)
def test_layers_keep_all_of_both_measures(law: Law) -> None:
    """Onto few points and onto many, most of it beyond them or none: masses add up, atoms included."""
    for ends in ((-0.1, 0.2), (-1.0, 1.0), (-30.0, 30.0)):
        for count in (2, 40):
            points = np.linspace(*ends, count)
            points = points[points > law.low + 1e-9] if math.isfinite(law.low) else points
            for got in (law.hats(points), law.cells(points)):
                assert math.fsum(got.q) + got.q_only == pytest.approx(1.0, abs=1e-13)
                assert math.fsum(got.p) + got.p_only == pytest.approx(1.0, abs=1e-13)
            hats = law.hats(points)
            np.testing.assert_allclose(hats.p, np.exp(points) * hats.q, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("a", [1300.0, 1e5, 1e9])
@pytest.mark.parametrize("spacing", [0.03, 0.3])
def test_far_gaussians_keep_their_side(a: float, spacing: float) -> None:
    """The P-mass at losses of at least a (a/2 + z), against that of the normal tail above z; Q is the mirror image."""
    upper, lower = (far_gaussian(a, spacing, side) for side in ("upper", "lower"))
    for z in (-8.0, -2.013, 0.0, 0.517, 3.3, 20.0):
        tail = normal(mpf(z), mpf(math.inf))
        loss = a * (0.5 * a + z)
        above = [math.fsum(pair.p[pair.loss >= loss]) + pair.p_only for pair in (upper, lower)]
        assert above[0] * (1 + upper.eta_q) >= tail - FLOOR
        assert above[1] * (1 - lower.eta_q) <= tail + FLOOR
        assert above[0] - above[1] <= 2 * spacing * tail * (abs(z) + 1) + 1e-200
    for pair in (upper, lower):
        np.testing.assert_array_equal(pair.q[::-1], pair.p)
        np.testing.assert_array_equal(-pair.loss[::-1], pair.loss)


@pytest.mark.parametrize("steps", [2, 30])
@pytest.mark.parametrize("side", ["upper", "lower"])
def test_the_largest_ratio_keeps_all_of_both_measures(side: Side, steps: int) -> None:
    """Losses of thousands, with and without atoms: what the mean of ratios leaves over is on an atom."""
    ask = Ask(side, "add", 0.03, 1e-12, -10.0, -10.0)
    loss, half = np.array([-900.0, -2.0, 800.0]), math.exp(-2.0) / 2
    near = Pair(loss, np.array([0.5, 0.5, 0.0]), np.array([0.0, half, 1 - half]), 0.0, 0.0, side)
    far = Pair(loss, np.array([0.25, 0.5, 0.0]), np.array([0.0, half, 0.75 - half]), 0.25, 0.25, side)
    for law in (far, near, GaussianLaw(0.02)):
        pair = largest(law, steps, ask)
        assert pair is not None
        assert math.fsum(pair.q) + pair.q_only == pytest.approx(1.0, abs=1e-11)
        total = math.fsum(pair.p) + pair.p_only  # the upper side adds what the masses may be short of
        assert 1 - 1e-11 <= total <= 1 + 1e-11 + (3 * pair.eta_q if side == "upper" else 0.0)


@pytest.mark.parametrize("rounds", [2, 3, 10**5 + 3])
def test_a_composition_of_gaussians_is_rounded_to_each_side(rounds: int) -> None:
    """The one Gaussian that it is has sqrt(n)/sigma for a: no less on the upper side, no more on the lower."""
    one = simplify(pl.Gaussian(0.7).repeat(rounds))
    exactly = mp.sqrt(rounds) / mpf(0.7)
    upper, lower = (one.law(Ask(side, "remove", 0.03, 1e-12, -10.0, -10.0)) for side in ("upper", "lower"))
    assert isinstance(upper, GaussianLaw) and isinstance(lower, GaussianLaw)
    assert mpf(lower.a) < exactly < mpf(upper.a)
    assert mpf(upper.a) - mpf(lower.a) < 1e-14 * exactly
