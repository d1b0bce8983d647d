"""The two additions on graded lattices, against sums over all pairs of outcomes in rational arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
import pytest

from privloss._arithmetic import Arithmetic, LossSum, RatioSum, State
from privloss._ask import Ask, Side
from privloss._curve import Curve
from privloss._graded import Channels, Piece, coarsen, deposit, layout
from privloss._pair import Pair, U
from privloss._power import Place, settle

FLOOR = Fraction(1, 10**290)


def random_layout(rng: np.random.Generator) -> list[Any]:
    center, half = int(rng.integers(-50, 50)), int(rng.integers(2, 9))
    return layout(center, half, center - int(rng.integers(0, 200)), center + int(rng.integers(1, 300)), 0)


def test_layouts_are_contiguous_and_aligned() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        center, half, shift = int(rng.integers(-1000, 1000)), int(rng.integers(2, 40)), int(rng.integers(0, 5))
        lo = center - int(rng.integers(-50, 10**6))
        hi = lo + int(rng.integers(0, 10**9))
        slots = layout(center, half, lo, hi, shift)
        assert all(slot.stop > slot.start for slot in slots)
        for one, two in pairwise(slots):
            assert one.stop << one.shift == two.start << two.shift
            coarser = max(one.shift, two.shift)
            assert (two.start << two.shift) % (1 << coarser) == 0
        first, last = slots[0], slots[-1]
        assert first.start << first.shift <= lo
        assert (last.stop - 1) << last.shift >= hi


def test_coarsening_keeps_mass_and_moment_exactly() -> None:
    rng = np.random.default_rng(2)
    channels = Channels(1, False, lambda shift: (0.5, 0.5))
    for _ in range(200):
        start, n, to = int(rng.integers(-20, 20)), int(rng.integers(1, 30)), int(rng.integers(1, 8))
        values = rng.integers(0, 2**20, n).astype(float)[None, :]
        coarse = coarsen(Piece(0, start, values), channels, to, scaled=False)
        positions = np.arange(start, start + n)
        wide = 2**to * np.arange(coarse.start, coarse.stop)
        assert coarse.shift == to
        assert coarse.values.sum() == values.sum()
        assert (coarse.values[0] * wide).sum() == (values[0] * positions).sum()


@pytest.mark.parametrize("side", ["upper", "lower"])
@pytest.mark.parametrize("gauge", ["p", "q"])
def test_a_move_across_shifts_is_the_moves_between(side: Side, gauge: str) -> None:
    """Losses: a single point of each place, against the shares of one shift after the other, in 50 digits."""
    unit, jump = 0.3, 3
    channels = LossSum(unit, 0.0, side, gauge).channels
    for shift in (0, 2):
        for at in range(-9, 9):
            values = np.zeros((channels.rows, 1)) + 1.0
            coarse = coarsen(Piece(shift, at, values), channels, shift + jump, scaled=True)
            with mpmath.workdps(50):
                expected = moved({at: [mpmath.mpf(1)] * channels.rows}, shift, jump, unit, side, gauge)
            found = {coarse.start + i: coarse.values[:, i] for i in range(coarse.values.shape[1])}
            assert set(expected) <= set(found)
            for position, row in found.items():
                for value, exact in zip(row, expected.get(position, [0] * channels.rows), strict=True):
                    assert abs(value - exact) <= 30 * U * exact


def moved(point: Any, shift: int, jump: int, unit: float, side: Side, gauge: str) -> Any:
    """An odd point goes to both neighbours: by a spread (upper), or in halves that are merged (lower)."""
    for k in range(shift, shift + jump):
        s = mpmath.mpf(unit) * 2**k
        new: dict[int, Any] = {}
        up = 1 if gauge == "p" else -1
        for position, row in point.items():
            if position % 2 == 0:
                ways = [(position // 2, [1] * len(row))]
            elif side == "upper":
                ways = [(position // 2 + right, [1 / (1 + mpmath.exp(-up * (2 * right - 1) * s))]) for right in (0, 1)]
            elif s > 2:
                ways = [((position - up) // 2, [1, mpmath.exp(-s)])]
            else:
                halves = (mpmath.mpf(1) / 2, mpmath.mpf(1) / 2)
                ways = [
                    (position // 2 + right, [halves[right], halves[right] * mpmath.exp(up * (2 * right - 1) * s)])
                    for right in (0, 1)
                ]
            for to, factors in ways:
                old = new.get(to, [mpmath.mpf(0)] * len(row))
                new[to] = [a + b * c for a, b, c in zip(old, row, factors, strict=True)]
        point = new
    return point


def test_deposit_keeps_mass_and_moment() -> None:
    rng = np.random.default_rng(3)
    channels = Channels(1, True, lambda shift: (0.5, 0.5))
    for _ in range(100):
        slots = random_layout(rng)
        lo, hi = slots[0].start << slots[0].shift, (slots[-1].stop - 1) << slots[-1].shift
        pieces = []
        for shift in (0, 1, 3):
            a, b = -(-lo >> shift), hi >> shift
            start = int(rng.integers(a, max(b, a) + 1))
            n = int(rng.integers(1, 60))
            values = rng.integers(1, 2**20, (1, max(min(n, b - start + 1), 1))).astype(float)
            if start << shift >= lo and (start + values.shape[1] - 1) << shift <= hi:
                pieces.append(Piece(shift, start, values))
        if not pieces:
            continue
        out = deposit(pieces, slots, channels)
        assert total(out) == total(pieces)


def total(pieces: list[Piece]) -> tuple[Fraction, Fraction]:
    """Mass and moment, exactly; stored masses are 2^shift times the plain ones."""
    mass = moment = Fraction(0)
    for shift, start, values in pieces:
        for i, value in enumerate(values[0]):
            plain = Fraction(value) / 2**shift
            mass, moment = mass + plain, moment + plain * (start + i) * 2**shift
    return mass, moment


def masses(rng: np.random.Generator, n: int, deep: bool) -> Any:
    values = 10.0 ** rng.uniform(-140 if deep else -4, 0, n)
    return values / values.sum()


def outcomes(arithmetic: Arithmetic, state: State) -> list[tuple[Fraction, Fraction]]:
    """(q, p) of every point of a state, from the stored numbers, in rational arithmetic (ratios only)."""
    found = []
    for shift, start, values in state.blocks:
        for i in range(values.shape[1]):
            q = Fraction(values[0, i]) / Fraction(2) ** shift
            value = (start + i) * Fraction(2) ** shift * Fraction(arithmetic.unit) + Fraction(state.offset)
            p = q * value / Fraction(state.weight) if arithmetic.side == "upper" else Fraction(values[1, i])
            found.append((q, p))
    return [*found, (Fraction(state.q_only), Fraction(0)), (Fraction(0), Fraction(state.p_only))]


def summed(one: list[Any], two: list[Any], share: Fraction) -> list[tuple[Fraction, Fraction]]:
    """The mean of ratios, over all pairs; P-mass without Q is the mixture's."""
    ordinary = [
        (q * q2, share * p * q2 + (1 - share) * q * p2) for q, p in one if q for q2, p2 in two if q2
    ]
    alone = share * sum(p for q, p in one if not q) + (1 - share) * sum(p for q, p in two if not q)
    return [*ordinary, (Fraction(0), alone)]


def hockey(pairs: list[Any], k: Fraction) -> Any:
    return sum((max(p - k * q, Fraction(0)) for q, p in pairs), Fraction(0))


def graded_state(rng: np.random.Generator, arithmetic: RatioSum, deep: bool) -> State:
    slots = layout(int(rng.integers(0, 20)), 4, 0, int(rng.integers(8, 60)), 0)
    n = sum(slot.stop - slot.start for slot in slots)
    q = masses(rng, n, deep)
    blocks, at = [], 0
    for slot in slots:
        size = slot.stop - slot.start
        here = q[at : at + size] * 2.0**slot.shift
        i = np.arange(slot.start, slot.stop)
        rows = here[None, :]
        if arithmetic.side == "lower":
            p = q[at : at + size] * (i * 2.0**slot.shift) * arithmetic.unit * rng.uniform(0.8, 1.2, size)
            rows = np.stack((here, p))
        blocks.append(Piece(slot.shift, slot.start, rows))
        at += size
    return State(blocks, 1, 0.0, 1.0, float(rng.random() < 0.5) * 0.01, float(rng.random() < 0.5) * 0.01, 0.0, 0.0)


@pytest.mark.parametrize("deep", [False, True])
@pytest.mark.parametrize("side", ["upper", "lower"])
def test_ratio_sum_bounds_the_exact_sum(side: Any, deep: bool) -> None:
    rng = np.random.default_rng(4)
    ask = Ask(side, "remove", 0.1, 1e-9, -10.0, -10.0)
    checked = 0
    for trial in range(12):
        arithmetic = RatioSum(1 / 16, 0.0, side)
        a = graded_state(rng, arithmetic, deep)
        b = a if trial % 2 else graded_state(rng, arithmetic, deep)
        pieces, bare = arithmetic.add(a, b)
        got = settle(arithmetic, pieces, bare, Place(20.0, 12.0, 0.0, 0), ask)
        cut = 0.3 if trial % 3 == 0 else 1e-7  # much of it, which shows what a cut does to each measure
        got = arithmetic.trim(got, (cut, math.inf), (math.inf, cut))
        exact = summed(outcomes(arithmetic, a), outcomes(arithmetic, b), Fraction(1, 2))
        rounded = outcomes(arithmetic, got)
        eta = Fraction(got.eta_q + got.eta_x)
        for k in [Fraction(j, 7) for j in range(0, 40, 3)]:
            for flip in (False, True):
                truth, bound = (
                    hockey([(p, q) for q, p in pairs] if flip else pairs, k) for pairs in (exact, rounded)
                )
                if side == "upper":
                    assert truth - bound * (1 + eta) <= FLOOR
                else:
                    assert bound * (1 - eta) - FLOOR <= truth
                checked += 1
        for which in (0, 1):  # total masses are kept by every rounding
            before, after = (sum((o[which] for o in pairs), Fraction(0)) for pairs in (exact, rounded))
            assert abs(after - before) <= (eta + Fraction(1, 2**50)) * before
    assert checked == 12 * 14 * 2


@pytest.mark.parametrize(("unit", "octaves"), [(0.05, 1), (4.0, 40)])
@pytest.mark.parametrize("gauge", ["p", "q"])
@pytest.mark.parametrize("side", ["upper", "lower"])
def test_loss_sum_bounds_the_exact_sum(side: Any, gauge: Any, unit: float, octaves: int) -> None:
    """Composition of two outcome lists with rational e^loss, through the lattice, against all pairs: losses near 0,
    where moves go both ways, and up to dozens, where points are far apart and moves go one way."""
    from privloss._evaluate import as_pair
    from privloss._pair import from_outcomes

    rng = np.random.default_rng(5)
    direction: Any = "remove" if gauge == "p" else "add"
    for trial in range(10):
        arithmetic = LossSum(unit, 0.0, side, gauge)
        lists = []
        states = []
        for _ in range(2):
            q, p = (rng.integers(1, 50, 6) << rng.integers(0, octaves, 6) for _ in range(2))
            lists.append(
                [(Fraction(int(a), int(q.sum())), Fraction(int(b), int(p.sum()))) for a, b in zip(q, p, strict=True)]
            )
            law = from_outcomes(q / q.sum(), p / p.sum(), side=side)
            states.append(arithmetic.start(law, layout(0, 16 if octaves == 1 else 2, -100, 100, 0)))
        pieces, bare = arithmetic.add(*states)
        ask = Ask(side, direction, 0.1, 1e-9, -10.0, -10.0)
        got = settle(arithmetic, pieces, bare, Place(0.0, 20 * unit, 0.0, 0), ask)
        cut = 0.3 if trial % 2 else 1e-6
        got = arithmetic.trim(got, (cut, cut), (cut, cut))
        curve = Curve(as_pair(arithmetic.finish(got), ask), direction)
        exact = [(q * q2, p * p2) for q, p in lists[0] for q2, p2 in lists[1]]
        for epsilon in np.linspace(-2, 3, 11) * max(1, octaves // 3):
            k = Fraction(math.exp(epsilon))
            pairs = exact if gauge == "p" else [(p, q) for q, p in exact]
            truth, bound = float(hockey(pairs, k)), curve.delta(float(epsilon))
            slack = 4 * U  # of k and of float(truth)
            assert bound >= truth - slack if side == "upper" else bound <= truth + slack


def test_one_convolution_is_as_accurate_as_it_says() -> None:
    """Masses from 1e-150 to 1: every entry of a plain convolution within n + 1 roundoffs of the exact one."""
    rng = np.random.default_rng(6)
    worst = 0.0
    for _ in range(20):
        n = int(rng.integers(3, 40))
        a, b = masses(rng, n, deep=True), masses(rng, n, deep=True)
        got = np.convolve(a, b)
        for m, value in enumerate(got):
            exact = sum(Fraction(a[i]) * Fraction(b[m - i]) for i in range(n) if 0 <= m - i < n)
            worst = max(worst, float(abs(Fraction(value) - exact) / exact) / ((n + 1) * U))
    assert worst <= 1.0


@pytest.mark.parametrize("name", ["exp", "expm1", "log", "log1p"])
def test_numpy_is_as_accurate_as_assumed(name: str) -> None:
    """exp, expm1, log and log1p within EXP_ULPS u relative, on arrays long enough for the vectorised versions."""
    import mpmath

    from privloss._pair import EXP_ULPS

    rng = np.random.default_rng(7)
    size = 4000
    if name in ("exp", "expm1"):
        x = np.concatenate((rng.uniform(-700, 700, size), rng.uniform(-2, 2, size), 10.0 ** rng.uniform(-300, 0, size)))
    elif name == "log":
        x = np.concatenate((10.0 ** rng.uniform(-300, 300, size), rng.uniform(0.5, 2, size)))
    else:
        x = np.concatenate((10.0 ** rng.uniform(-300, 300, size), rng.uniform(-0.999, 1, size)))
    got = getattr(np, name)(x)
    with mpmath.workprec(120):
        for value, result in zip(x.tolist(), got.tolist(), strict=True):
            exact = getattr(mpmath, name)(mpmath.mpf(value))
            if abs(exact) > 1e-300:
                assert abs(mpmath.mpf(result) - exact) <= EXP_ULPS * U * abs(exact)


@pytest.mark.parametrize("gauge", ["p", "q"])
def test_moving_the_points_changes_no_loss(gauge: str) -> None:
    """What merges left off the points: the same masses at the same losses, the second measure of moderate size."""
    rng = np.random.default_rng(8)
    arithmetic = LossSum(0.5, 0.0, "lower", gauge, False)
    sign = 1.0 if gauge == "p" else -1.0
    one, log_other = rng.uniform(0.1, 1.0, 40), rng.uniform(90.0, 110.0, 40)
    state = State([Piece(1, 7, np.stack((one, np.exp(log_other))))], 1, 3.0, 1.0, 0.0, 0.0, 0.0, 0.0)
    before = arithmetic.loss(1, np.arange(7.0, 47.0), 3.0) + sign * (np.log(one) - log_other)
    moved = arithmetic.centred(state)
    other = moved.blocks[0].values[1]
    after = arithmetic.loss(1, np.arange(7.0, 47.0), moved.offset) + sign * (np.log(one) - np.log(other))
    assert np.array_equal(moved.blocks[0].values[0], one)
    assert abs(math.log(other.sum() / one.sum())) < 1e-9
    assert np.abs(before - after).max() < 1e-12
    assert moved.eta_x > 0


@pytest.mark.parametrize("whole", [True, False])
def test_only_masses_fit_for_products_stay(whole: bool) -> None:
    """An outcome whose second measure may have underflowed goes, or shows more of it; nothing shows less."""
    one = np.array([0.5, 0.5, 0.5, 0.5, 1e-280, 0.0])
    other = np.array([0.25, 0.0, 1e-310, 1e130, 1e-300, 0.0])
    first, second = one.copy(), other.copy()
    LossSum(0.5, 0.0, "lower", "p", whole).only_sound(first, second)
    assert np.all(first <= one)
    kept = first > 0
    assert np.all(second[kept] >= other[kept])
    assert list(kept) == ([True, False, False, False, True, False] if whole else [True, True, True, False, True, False])
    assert np.all(second[kept & (one > 1e-275)] >= 1e-290)


def test_what_a_lower_measure_dropped_is_missed() -> None:
    """A pair that has lost a tenth of its outcomes: tests of it miss at least that."""
    whole = Pair(np.array([-1.0, 1.0]), np.array([0.7, 0.3]), np.array([0.3, 0.7]), 0.0, 0.0, "lower")
    less = Pair(whole.loss, 0.9 * whole.q, 0.9 * whole.p, 0.0, 0.0, "lower")
    for fpr in (0.1, 0.5, 0.95):
        assert Curve(less, "remove").miss(fpr) >= max(Curve(whole, "remove").miss(fpr), 0.1)
