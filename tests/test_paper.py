"""privloss.paper against the paper's pseudocode in fractions, exact laws, and closed facts."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from math import e, inf, log
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import privloss as pl
from privloss import paper
from privloss.paper._compose import Window, powered, shrunk
from privloss.paper._convolve import offsets, prefix_sums
from privloss.paper._variable import Listed, normal_log_sf, normal_place
from truth import pseudocode as plain

BOTH: list[Any] = ["remove", "add"]
SIDES: list[Any] = ["upper", "lower"]
LAWS: dict[str, Callable[..., paper.Lattice]] = {"remove": paper.rand_alloc_remove, "add": paper.rand_alloc_add}


def close(got: Any, wanted: Any, rtol: float = 1e-13) -> None:
    np.testing.assert_allclose(np.asarray(got, float), np.asarray([float(w) for w in wanted]), rtol=rtol, atol=0)


# ---------------------------------------------------------------- closed facts


def test_duals_of_two_losses() -> None:
    """The paper's proof of claim PLDdualDom, first part."""
    for masses, wanted in (([0.6, 0.4], [0.1, 0.3, 0.6]), ([0.4, 0.6], [0.15, 0.2, 0.65])):
        loss = paper.Realization.listed([log(2), log(4)], masses)
        dual = paper.dual(loss).loss
        got = dual.cells(np.array([-log(4), -log(2)]), "upper")
        close([*got.mass[:2], got.top], wanted, 1e-15 * 8)
        assert got.bottom == got.mass[2] == 0.0
        back = paper.dual(paper.dual(loss)).loss.cells(np.array([log(2), log(4)]), "upper")
        close(back.mass[:2], masses, 1e-15)


def test_subsampled_point_mass() -> None:
    """The same proof, second part: U = 1 and rate 1/2."""
    loss = paper.Realization.listed([1.0], [1.0]).subsampled(0.5).loss
    low, high = log(0.5), log((e + 1) / 2)
    got = loss.cells(np.array([low - 1e-9, low + 1e-9, high - 1e-9, high + 1e-9]), "upper")
    close(got.mass, [0, (e - 1) / (2 * e), 0, (e + 1) / (2 * e), 0], 64 * 2.0**-53)
    bound = paper.subsample_remove(paper.Realization.listed([1.0], [1.0]), 0.5, 1e-3, 1e-9)
    inside = np.flatnonzero(bound.mass > 1e-12)
    close(bound.mass[inside], [(e - 1) / (2 * e), (e + 1) / (2 * e)], 1e-14)
    np.testing.assert_allclose(bound.losses[inside], [low, high], atol=1e-3)


def test_numbers_of_convolutions() -> None:
    assert paper.convolutions(13) == 5
    one = paper.Lattice(0.0, 0.1, np.ones(1), 0.0, 0.0, "upper")
    for times in [*range(1, 140), 1000, 1023, 1024, 1025]:
        calls = 0

        def counted(x: paper.Lattice, y: paper.Lattice) -> paper.Lattice:
            nonlocal calls
            calls += 1
            return paper.conv(x, y)

        paper.self_conv(one, times, convolve=counted)
        assert calls == paper.convolutions(times) == math.floor(math.log2(times)) + bin(times).count("1") - 1
        assert calls <= 2 * math.ceil(math.log2(times))


def test_widths_that_the_paper_gives() -> None:
    """sigma = 1, beta = 1e-10: about 12.5 for the loss and 950 for its exponential."""
    lo, hi = paper.Realization.gaussian(1.0).loss.reach(1e-10)
    assert round(hi - lo, 2) == 12.72
    assert round(math.exp(hi) - math.exp(lo), 1) == 954.6
    bound = paper.disc_dist(paper.Realization.gaussian(1.0).loss, 0.01, 1e-10)
    assert abs(bound.losses[-1] - bound.losses[0] - 12.72) < 0.02


def test_blocks() -> None:
    for steps in range(1, 60):
        for picks in range(1, steps + 1):
            sizes = paper.blocks(steps, picks)
            assert sum(many for _, many in sizes) == picks
            assert sum(size * many for size, many in sizes) == steps
            assert {size for size, _ in sizes} <= {steps // picks, -(-steps // picks)}


# ---------------------------------------------------------------- the pseudocode, in fractions

ratios = st.sampled_from([Fraction(2), Fraction(3, 2), Fraction(5, 4), Fraction(9, 8), Fraction(21, 20)])
fractions = st.fractions(min_value=Fraction(1, 50), max_value=50, max_denominator=50)


@st.composite
def exponentials(draw: st.DrawFn, size: int, ratio: Fraction, top: bool) -> plain.Listed:
    """An exp-PLD on a geometric grid of ``size`` points, with mass at 0, and at inf too if wanted."""
    first = draw(fractions)
    weights = draw(st.lists(st.integers(0, 9), min_size=size + 2, max_size=size + 2))
    weights[1] += 1
    weights[-1] *= top
    total = sum(weights)
    values: list[plain.Value] = [Fraction(0), *(first * ratio**i for i in range(size)), inf]
    return plain.Listed(values, [Fraction(w, total) for w in weights])


def as_lattice(x: plain.Listed, ratio: Fraction, side: Any) -> paper.Lattice:
    mass = np.array([float(m) for m in x.masses])
    return paper.Lattice(math.log(x.values[1]), math.log(ratio), mass[1:-1], mass[0], mass[-1], side)


@pytest.mark.parametrize("side", SIDES)
@given(data=st.data())
def test_conv_is_the_double_loop(side: Any, data: st.DataObject) -> None:
    ratio, size = data.draw(ratios), data.draw(st.integers(2, 14))
    top = data.draw(st.booleans())
    x, y = data.draw(exponentials(size, ratio, top)), data.draw(exponentials(size, ratio, top))
    wanted = plain.conv(x, y, side)
    got = paper.conv(as_lattice(x, ratio, side), as_lattice(y, ratio, side), tail=1.0)
    close([got.bottom, *got.mass, got.top], wanted.masses)
    np.testing.assert_allclose(got.losses, [math.log(v) for v in wanted.values[1:-1]], rtol=0, atol=1e-12)
    slope = 1 if side == "upper" else -1
    assert slope * (got.origin - mpmath.log(x.values[1] + y.values[1])) > 0  # on the safe side
    itself = as_lattice(x, ratio, side)
    twice, literal = paper.conv(itself, itself, tail=1.0), plain.conv(x, x, side)
    close([twice.bottom, *twice.mass, twice.top], literal.masses)


@pytest.mark.parametrize("side", SIDES)
@given(data=st.data())
def test_self_conv_is_the_loop(side: Any, data: st.DataObject) -> None:
    ratio, times = data.draw(ratios), data.draw(st.integers(1, 9))
    x = data.draw(exponentials(data.draw(st.integers(2, 6)), ratio, True))
    wanted = plain.self_conv(x, times, lambda a, b: plain.conv(a, b, side))
    got = paper.self_conv(as_lattice(x, ratio, side), times, convolve=lambda a, b: paper.conv(a, b, tail=1.0))
    close([got.bottom, *got.mass, got.top], wanted.masses, 1e-12)


@pytest.mark.parametrize("side", SIDES)
@given(data=st.data())
def test_disc_dist_is_the_loop(side: Any, data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 8))
    values = sorted(data.draw(st.sets(fractions, min_size=size, max_size=size)))
    weights = data.draw(st.lists(st.integers(1, 9), min_size=size, max_size=size))
    masses = [Fraction(w, sum(weights)) for w in weights]
    ratio, beta = data.draw(ratios), Fraction(data.draw(st.sampled_from([1, 101, 307])), 1009)  # no sum is equal
    wanted = plain.disc_dist(plain.Listed(values, masses), ratio, beta, side)
    losses, total = np.log([float(v) for v in values]), np.array([float(m) for m in masses])
    variable = Listed(losses, total)
    got = paper.disc_dist(variable, math.log(ratio), float(beta) * (1 - 1e-12), side)
    start, stop = round((got.origin - math.log(wanted.values[1])) / got.step), len(wanted.masses) - 2
    assert start == 0
    close([got.bottom, *got.mass[:stop], got.top], wanted.masses, 1e-12)


@given(st.floats(-5, 5), st.floats(-5, 5), st.integers(1, 500))
def test_the_largest_loss_stays_finite(a: float, b: float, steps: int) -> None:
    """A grid that ends where the law does, whichever way its last point is rounded."""
    lo, hi = min(a, b), max(a, b) + 0.01
    variable = Listed(np.array([lo, hi]), np.array([0.5, 0.5]))
    for side in SIDES:
        bound = paper.disc_dist(variable, (hi - lo) / steps, 0.0, side)
        assert bound.top == bound.bottom == 0.0
        assert bound.mass.sum() == 1.0


def test_conv_keeps_relative_accuracy_in_both_tails() -> None:
    rng = np.random.default_rng(5)
    masses = [Fraction(int(v)) * Fraction(2) ** int(-abs(i - 40) * 9) for i, v in enumerate(rng.integers(1, 999, 90))]
    total = sum(masses)
    ratio, none = Fraction(11, 10), Fraction(0)
    values: list[plain.Value] = [none, *(ratio**i for i in range(90)), inf]
    x = plain.Listed(values, [none, *(m / total for m in masses), none])
    for side in SIDES:
        got, wanted = paper.conv(as_lattice(x, ratio, side), as_lattice(x, ratio, side)), plain.conv(x, x, side)
        close(got.mass, wanted.masses[1:-1], 1e-14)
        assert min(m for m in wanted.masses[1:-1] if m) < 1e-200


@given(
    st.floats(-30, 30), st.floats(-30, 30), st.floats(1e-5, 1.0), st.integers(1, 400), st.integers(1, 400),
    st.sampled_from(SIDES),
)  # fmt: skip
def test_offsets_are_rounded_to_the_safe_side(a: float, b: float, step: float, m: int, n: int, side: Any) -> None:
    """Against 40 digits: never on the unsafe side of the sum, and never a whole point beyond it."""
    one, two = (paper.Lattice(o, step, np.ones(k), 0.0, 0.0, side) for o, k in ((a, m), (b, n)))
    origin, _ = paper.range_renorm(one, two)
    d = np.arange(1 - m, n)
    with mpmath.workdps(40):
        first, second, unit = map(mpmath.mpf, (a, b, step))
        for place, shift in zip(d.tolist(), offsets(one, two, origin, d).tolist(), strict=True):
            value = mpmath.log(mpmath.exp(first) + mpmath.exp(second + unit * place)) - origin
            beyond = shift - value / unit
            assert (0 <= beyond < 1 + 1e-6) if side == "upper" else (-1 - 1e-6 < beyond <= 0)


def test_prefix_sums_are_pairwise() -> None:
    values = np.random.default_rng(1).random(1000) * 10.0 ** np.arange(-300, 0).repeat(4)[:1000]
    exact = np.cumsum([Fraction(v) for v in values])
    close(prefix_sums(values), exact, 12 * 2.0**-53)


# ---------------------------------------------------------------- tightness, against the exact law of two outcomes


def exact_law(p: Fraction, q: Fraction, steps: int, direction: str) -> list[tuple[float, Fraction]]:
    """(loss, mass) of psi_t for outcomes of masses (p, 1-p) and (q, 1-q): n counts the first."""

    def binomial(trials: int, n: int) -> Fraction:
        return math.comb(trials, n) * q**n * (1 - q) ** (trials - n) if 0 <= n <= trials else Fraction(0)

    law = []
    for n in range(steps + 1):
        ratio = (n * p / q + (steps - n) * (1 - p) / (1 - q)) / steps
        if direction == "add":
            mass, loss = binomial(steps, n), -math.log(ratio)
        else:
            mass = p * binomial(steps - 1, n - 1) + (1 - p) * binomial(steps - 1, n)
            loss = math.log(ratio)
        law.append((loss, mass))
    return sorted(law)


def ccdf(law: list[tuple[float, Fraction]], points: Any) -> Any:
    losses = np.array([loss for loss, _ in law])
    beyond, total = [Fraction(0)], Fraction(0)
    for _, mass in reversed(law):
        total += mass
        beyond.append(total)
    sums = np.array([float(v) for v in reversed(beyond)])
    return sums[np.searchsorted(losses, points, side="right")]


def tight(bound: Any, law: list[tuple[float, Fraction]], alpha: float, beta: float) -> None:
    """law <= bound <=_(alpha, beta) law (or the reverse, for a lower bound), at every loss, rounding apart."""
    slip, losses = 1e-11, np.array([loss for loss, _ in law])
    points = np.concatenate((bound.losses, losses))
    points = np.unique(np.concatenate((points, points + alpha, points - alpha)))
    points = points[np.isfinite(points)]
    up, down = points + slip, points - slip
    if bound.side == "upper":
        assert np.all(ccdf(law, up) <= bound.ccdf(down) * (1 + 1e-9))
        assert np.all(bound.ccdf(up) <= ccdf(law, down - alpha) * (1 + 1e-9) + beta)
    else:
        assert np.all(bound.ccdf(up) <= ccdf(law, down) * (1 + 1e-9))
        assert np.all(ccdf(law, up) <= bound.ccdf(down - alpha) * (1 + 1e-9) + beta)


def seconds(value: Any) -> Any:
    return pytest.param(value, marks=pytest.mark.slow)


TWO = [(Fraction(3, 4), Fraction(1, 4)), (Fraction(5, 8), Fraction(1, 2)), (Fraction(1, 16), Fraction(1, 8))]


@pytest.mark.parametrize(("p", "q"), TWO)
@pytest.mark.parametrize("steps", [1, 2, 7, 13, 100, *map(seconds, (3, 64, 255))])
@pytest.mark.parametrize("direction", BOTH)
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("truncated", [True, False])
def test_tightness_of_allocation(
    p: Fraction, q: Fraction, steps: int, direction: str, side: Any, truncated: bool
) -> None:
    """Theorem num_acc_RA, both statements, for both variants: exact binomial laws."""
    mechanism = paper.Realization.of(pl.Outcomes([float(p), float(1 - p)], [float(q), float(1 - q)]), side)
    seen = mechanism if direction == "remove" else paper.dual(mechanism)
    law = exact_law(p, q, steps, direction)
    for alpha, beta in ((0.05, 1e-6), (0.2, 0.05)):
        bound = LAWS[direction](seen, steps, alpha, beta, side, truncated=truncated)
        assert bound.side == side
        assert abs(bound.total - 1) < 1e-10
        tight(bound, law, alpha, beta)


@pytest.mark.parametrize("steps", [1, 2, 5, 16, 37])
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("direction", BOTH)
def test_tightness_with_atoms_at_both_ends(steps: int, side: Any, direction: str) -> None:
    """Half of P where Q has none, half of Q where P has none: the exp-PLDs have half of their mass at 0."""
    mechanism = paper.Realization.of(pl.Outcomes([0.5, 0.5, 0.0], [0.0, 0.5, 0.5]), side)
    half = Fraction(1, 2)
    if direction == "remove":  # the chosen step shows either inf or 1, the others 0 or 1
        seen, trials, law = mechanism, steps - 1, [(inf, half)]
        law += [(log((1 + n) / steps), math.comb(trials, n) * half ** (trials + 1)) for n in range(trials + 1)]
    else:
        seen, law = paper.dual(mechanism), [(inf, half**steps)]
        law += [(-log(n / steps), math.comb(steps, n) * half**steps) for n in range(1, steps + 1)]
    bound = LAWS[direction](seen, steps, 0.05, 1e-5, side)
    tight(bound, sorted(law), 0.05, 1e-5)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("direction", BOTH)
def test_composition_and_fft_bound_the_exact_law(side: Any, direction: Any) -> None:
    """5-out-of-37 as blocks of 7 and 8, each enumerated exactly; and the evenly spaced grid for one of 37."""
    p, q = TWO[0]
    mechanism = paper.Realization.of(pl.Outcomes([0.75, 0.25], [0.25, 0.75]), side)
    seen = mechanism if direction == "remove" else paper.dual(mechanism)
    law: dict[float, Fraction] = {0.0: Fraction(1)}
    for size, many in paper.blocks(37, 5):
        for _ in range(many):
            found: dict[float, Fraction] = {}
            for a, m in law.items():
                for b, w in exact_law(p, q, size, direction):
                    found[round(a + b, 12)] = found.get(round(a + b, 12), Fraction(0)) + m * w
            law = found
    tight(paper.rand_alloc(seen, 37, 5, 0.1, 1e-5, direction, side), sorted(law.items()), 0.1, 1e-5)
    run = paper.fft_alloc_remove if direction == "remove" else paper.fft_alloc_add
    single = exact_law(p, q, 37, direction)
    for bins in (200, 5000):
        bound = run(seen, 37, bins, 1e-6, side)
        tight(bound, single, 99.0 if bins == 200 else 0.1, 1.0 if bins == 200 else 1e-6)
    direct = LAWS[direction](seen, 37, 0.1, 1e-6, side)
    both = paper.combine(direct, bound)
    tight(both, single, 0.1, 1e-6)
    for delta in (1e-2, 1e-4):
        ends = [each.epsilon(delta) for each in (direct, bound, both)]
        best = min(ends[:2]) if side == "upper" else max(ends[:2])
        assert (ends[2] <= best + 1e-9) if side == "upper" else (ends[2] >= best - 1e-9)


@given(st.integers(0, 2**32), st.integers(2, 200), st.integers(1, 60))
def test_the_transforms_err_by_less_than_is_charged(seed: int, size: int, times: int) -> None:
    """Against direct convolution, whose terms are all positive."""
    mass = np.random.default_rng(seed).random(size) ** 9
    mass /= mass.sum()
    exact = mass
    for _ in range(times - 1):
        exact = np.convolve(exact, mass)
    got = powered([(mass, times)], Window(0, exact.size - 1, 0.0, 0.0))
    assert np.abs(got.mass[: exact.size] - exact).sum() + got.mass[exact.size :].sum() <= got.error < 1e-9


def test_chernoff_bounds_the_tails() -> None:
    mass = np.random.default_rng(3).random(50)
    mass /= mass.sum()
    exact = mass
    for _ in range(39):
        exact = np.convolve(exact, mass)
    for tail in (1e-3, 1e-9, 1e-20):
        window = shrunk([(mass, 40)], tail)
        assert exact[: window.low].sum() <= window.below
        assert exact[window.high + 1 :].sum() <= window.above
        assert max(window.below, window.above) <= 1.001 * tail
        assert window.high - window.low < 0.8 * exact.size


# ---------------------------------------------------------------- tails


@pytest.mark.parametrize("tail", [1e-3, 1e-10, 1e-30, 1e-100, 1e-300])
def test_log_tail_quantiles(tail: float) -> None:
    with mpmath.workdps(40):
        exact = -mpmath.sqrt(2) * mpmath.erfinv(2 * mpmath.mpf(tail) - 1) if tail > 1e-12 else None
        z = normal_place(tail)
        assert mpmath.ncdf(-mpmath.mpf(z)) <= tail < mpmath.ncdf(-mpmath.mpf(z - 1e-8))
        assert exact is None or abs(exact - z) < 1e-8
        assert abs(normal_log_sf(z) / mpmath.log(mpmath.ncdf(-mpmath.mpf(z))) - 1) < 1e-12
    assert paper.Realization.gaussian(1.0).loss.reach(tail)[1] == 0.5 + z


@pytest.mark.parametrize("delta", [1e-15, 1e-30, 1e-100])
def test_deltas_below_the_precision_of_a_double(delta: float) -> None:
    scheme = pl.Gaussian(1.0).allocate(steps=20)
    got, ours = paper.epsilon(scheme, delta, alpha=0.1), scheme.epsilon(delta)
    assert got.lower <= ours.lower <= ours.upper <= got.upper <= got.lower + 0.2


def test_discretised_tails_bound_the_normal_law() -> None:
    """Every CCDF of disc_dist against 40 digits, exactly on its points."""
    for sigma in (0.1, 1.0, 7.0):
        variable = paper.Realization.gaussian(sigma)
        for side in SIDES:
            bound = paper.disc_dist(variable.loss, 0.05 / sigma, 1e-40, side)
            with mpmath.workdps(40):
                a = 1 / mpmath.mpf(sigma)
                for i in range(0, bound.mass.size, 7):
                    x = mpmath.mpf(bound.origin) + mpmath.mpf(bound.step) * i
                    got = mpmath.fsum(mpmath.mpf(float(m)) for m in bound.mass[i + 1 :]) + bound.top
                    true, before = (mpmath.ncdf(-(v - a * a / 2) / a) for v in (x, x + bound.step))
                    if side == "upper":
                        assert got * (1 + 4 * 2.0**-53) >= true
                    else:
                        assert got <= before * (1 + 4 * 2.0**-53) or i == bound.mass.size - 1


# ---------------------------------------------------------------- schemes, and what is refused

SCHEMES = [
    pl.Gaussian(1.0),
    pl.Gaussian(0.8, sensitivity=2.0).allocate(10),
    pl.Laplace(1.0).allocate(50),
    pl.Laplace(0.7).allocate(30, picks=4),
    pl.Gaussian(1.0).allocate(30, picks=30),
    pl.Gaussian(1.0).subsample(0.01).repeat(20),
    pl.RandomizedResponse(0.75, values=3).allocate(20).repeat(3),
    pl.Outcomes([0.5, 0.5, 0.0], [0.3, 0.4, 0.3]).allocate(9),
    pl.ApproximateDP(0.5, 1e-8).allocate(12),
    pl.PrivacyLoss([-0.5, 0.5, inf], [0.3, 0.6999999, 1e-7]).allocate(11),
    pl.DiscreteGaussian(2.0).allocate(17),
    pl.GaussianMixture(1.0, [0.5, 1.0], [0.5, 0.5]).allocate(7),
    pl.Gaussian(1.0).subsample(0.3).swap().allocate(12, picks=3),
    pl.RandomizedResponse(0.75).subsample(0.1).allocate(20),
    pl.RandomizedResponse(0.75).subsample(0.3).swap().subsample(0.7),
    pl.Laplace(1.0).subsample(0.999).allocate(7),
    pl.Gaussian(2.0) + pl.Laplace(3.0),
    pl.Gaussian(1.5).allocate(20) + pl.Gaussian(2.0).subsample(0.1),
]


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
@pytest.mark.parametrize("direction", BOTH)
def test_the_engine_lies_inside(scheme: pl.Scheme, direction: Any) -> None:
    alpha = 0.1
    got = paper.epsilon(scheme, 1e-6, alpha=alpha, direction=direction)
    ours = scheme.epsilon(1e-6, direction=direction, rtol=1e-4)
    assert got.lower <= ours.lower * (1 + 1e-12)  # two outcomes are exact in both
    assert ours.upper <= got.upper * (1 + 1e-12)
    assert got.gap <= 2.1 * alpha
    assert got.exact == scheme.exact
    assert got.reason in paper.REASONS
    profile = paper.delta(scheme, 0.3, alpha=alpha, direction=direction)
    truth = scheme.delta(0.3, direction=direction)
    assert profile.lower <= truth.upper * (1 + 1e-12)
    assert truth.lower <= profile.upper * (1 + 1e-12)


@pytest.mark.parametrize("direction", BOTH)
def test_what_has_no_lower_bound_says_so(direction: Any) -> None:
    scheme = pl.Gaussian(1.0).allocate(100).subsample(0.1)
    got, ours = paper.epsilon(scheme, 1e-6, alpha=0.02, direction=direction), scheme.epsilon(1e-6, direction=direction)
    assert got.lower == 0.0
    assert "PLDdualDom" in got.reason
    assert ours.upper <= got.upper <= ours.upper + 0.02


def test_a_lower_bound_is_not_subsampled() -> None:
    lower = paper.rand_alloc_remove(paper.Realization.gaussian(1.0), 10, 0.1, 1e-6, "lower")
    for refused in (paper.subsample_remove, paper.subsample_add):
        with pytest.raises(ValueError, match="PLDdualDom"):
            refused(lower, 0.5, 0.1, 1e-6)
    with pytest.raises(ValueError, match="PLDdualDom"):
        paper.Realization.of_lattice(lower)
    upper = paper.rand_alloc_remove(paper.Realization.gaussian(1.0), 10, 0.1, 1e-6)
    assert paper.subsample_remove(upper, 0.5, 0.1, 1e-6).epsilon(1e-3) < upper.epsilon(1e-3)
    with pytest.raises(ValueError, match="must be a PLD realization"):
        paper.Realization.of_lattice(paper.Lattice(-1.0, 0.1, np.ones(1), 0.0, 0.0, "upper"))
    with pytest.raises(ValueError, match="start from the exact one"):
        paper.subsample_remove(upper, 0.5, 0.1, 1e-6, "lower")


def test_a_realization_by_the_pair_of_a_scheme() -> None:
    """What the engine computes, allocated here, against the engine's own allocation."""
    inner = pl.Gaussian(1.5).allocate(20)
    got = paper.rand_alloc_remove(paper.Realization.of(inner.pair(side="upper", direction="remove")), 7, 0.05, 1e-8)
    ours = inner.allocate(7).epsilon(1e-5, direction="remove")
    assert ours.lower <= got.epsilon(1e-5) <= ours.upper + 0.06
    with pytest.raises(TypeError, match="an upper pair"):
        paper.Realization.of(inner.pair(side="lower"))


def test_a_realization_by_its_functions() -> None:
    """The Gaussian again, by cdf and sf of arrays: the same bounds, up to what they are said to be off by."""
    sd = 0.5

    def sf(x: Any) -> Any:
        return np.array([0.5 * math.erfc((v - sd * sd / 2) / sd / math.sqrt(2)) for v in np.asarray(x)])

    def cdf(x: Any) -> Any:
        return np.array([0.5 * math.erfc(-(v - sd * sd / 2) / sd / math.sqrt(2)) for v in np.asarray(x)])

    given_ = paper.Realization.functions(cdf, sf, cdf, sf)
    for side in SIDES:
        ends = [
            paper.rand_alloc_remove(each, 30, 0.02, 1e-9, side).epsilon(1e-6)
            for each in (given_, paper.Realization.gaussian(2.0))
        ]
        assert abs(ends[0] - ends[1]) < 1e-6
    assert given_.quantile(0.5) == pytest.approx(sd * sd / 2)
    assert given_.cdf(sd * sd / 2) == pytest.approx(0.5)
    with pytest.raises(ValueError, match="dual must have the masses"):
        paper.Realization.functions(cdf, sf, lambda x: cdf(x - 0.1), lambda x: sf(x - 0.1))
    with pytest.raises(ValueError, match="sum to 1"):
        paper.Realization.functions(cdf, cdf, cdf, sf)


GAUSS = paper.Realization.gaussian(1.0)
LATTICE = paper.disc_dist(GAUSS.loss, 0.1, 1e-6)
WRONG: list[tuple[Callable[[], Any], str]] = [
    (lambda: paper.Realization.listed([0.0, -inf], [0.5, 0.5]), "losses must be above -inf"),
    (lambda: paper.Realization.listed([-1.0], [1.0]), "E.e.*at most 1"),
    (lambda: paper.Realization.listed([1.0], [0.9]), "masses must sum to 1"),
    (lambda: paper.Realization.gaussian(0.0), "sigma must be positive"),
    (lambda: paper.Realization.gaussian(1e-9), "sensitivity/sigma must be from"),
    (lambda: paper.rand_alloc_remove(GAUSS, 0, 0.1, 1e-6), "steps must be"),
    (lambda: paper.rand_alloc_remove(GAUSS, 10, 0.0, 1e-6), "alpha must be positive"),
    (lambda: paper.rand_alloc_remove(GAUSS, 10, 1e-9, 1e-6), "alpha must be at least"),
    (lambda: paper.rand_alloc_add(GAUSS, 10, 0.1, 0.0), "beta must be"),
    (lambda: paper.rand_alloc_add(GAUSS, 10, 0.1, 1.0), "beta must be"),
    (lambda: paper.rand_alloc_add(GAUSS, 10, 0.1, 1e-6, "middle"), "side must be one of"),  # type: ignore[arg-type]
    (lambda: paper.rand_alloc(GAUSS, 10, 11, 0.1, 1e-6), "picks must be at most steps"),
    (lambda: paper.rand_alloc(GAUSS, 10, 2, 0.1, 1e-6, "both"), "direction must be one of"),  # type: ignore[arg-type]
    (lambda: paper.subsample_remove(GAUSS, 1.5, 0.1, 1e-6), "rate must be above 0"),
    (lambda: paper.fft_alloc_remove(GAUSS, 10, 3, 1e-6), "bins must be"),
    (lambda: paper.conv(LATTICE, paper.disc_dist(GAUSS.loss, 0.2, 1e-6)), "must have one step"),
    (lambda: paper.combine(LATTICE, LATTICE.negated()), "must bound one side"),
    (lambda: paper.compose([], 1e-6), "parts must be at least one"),
    (lambda: paper.compose([(LATTICE, 3)], 0.0), "tail must be positive"),
    (lambda: paper.epsilon(pl.Gaussian(1.0), 0.0), "delta must be above 0"),
    (lambda: paper.epsilon(pl.Gaussian(1.0), 1e-6, alpha=-1.0), "alpha must be positive"),
    (lambda: paper.epsilon(pl.Gaussian(1.0), 1e-6, direction="up"), "direction must be"),  # type: ignore[arg-type]
    (lambda: paper.delta(pl.Gaussian(1.0), inf), "epsilon must be finite"),
    (lambda: paper.disc_dist(GAUSS.loss, 1e-320, 1e-6), "alpha must be at least"),
    (lambda: paper.disc_dist(GAUSS.loss, 0.1, 1.5), "beta must be at least 0 and below 1"),
    (lambda: paper.compose([(LATTICE, 3)], inf), "tail must be positive"),
    (lambda: paper.epsilon(pl.allocate([(pl.Gaussian(1.0), 5)], [1.0]), 1e-6), "one kind of step"),
]


@pytest.mark.parametrize(("call", "message"), WRONG, ids=[message for _, message in WRONG])
def test_wrong_arguments_are_named(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_what_is_no_scheme_is_refused() -> None:
    with pytest.raises(TypeError, match="scheme must be a scheme"):
        paper.epsilon("Gaussian(1)", 1e-6)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="mechanism must be a mechanism"):
        paper.Realization.of(pl.Gaussian(1.0).allocate(3))


@pytest.mark.parametrize("delta", [1e-30, 1e-6, 0.9])
def test_grids_without_a_finite_mass_compose(delta: float) -> None:
    """Where the last point takes all below it, and what is above goes to inf."""
    first = pl.Outcomes([0.6, 0.4], [0.9993, 0.0007]) + pl.RandomizedResponse(0.7)
    third = pl.Outcomes([0.0, 0.49, 0.51], [0.66, 0.07, 0.27])
    for scheme in (first.repeat(2), third.repeat(3)):
        for way in BOTH:
            true = scheme.epsilon(delta, direction=way)
            found = paper.epsilon(scheme, delta, alpha=0.5, direction=way)
            assert found.lower <= true.upper
            assert true.lower <= found.upper


WRONG_KINDS: list[tuple[Callable[[], Any], str]] = [
    (lambda: paper.disc_dist(GAUSS, 0.1, 1e-6), "variable must be a random variable"),  # type: ignore[arg-type]
    (lambda: paper.rand_alloc_remove(1.0, 10, 0.1, 1e-6), "realization must be"),  # type: ignore[arg-type]
    (lambda: paper.fft_alloc_add(None, 10, 100, 1e-6), "realization must be"),  # type: ignore[arg-type]
    (lambda: paper.subsample_add("x", 0.5, 0.1, 1e-6), "realization must be"),  # type: ignore[arg-type]
    (lambda: paper.dual(GAUSS.loss), "realization must be"),  # type: ignore[arg-type]
    (lambda: paper.combine(LATTICE, 3), "two must be a bound"),  # type: ignore[arg-type]
    (lambda: paper.conv(GAUSS, GAUSS), "bound must be a lattice"),  # type: ignore[arg-type]
    (lambda: paper.truncate(GAUSS, 0.1), "bound must be a lattice"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("call", "message"), WRONG_KINDS, ids=[str(i) for i in range(len(WRONG_KINDS))])
def test_wrong_kinds_are_named(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call()


@pytest.mark.parametrize("epsilon", [800.0, 1e5, 1e300])
def test_delta_far_out(epsilon: float) -> None:
    assert paper.delta(pl.Gaussian(1.0).allocate(4), epsilon, alpha=0.5).upper <= 1e-10


def test_a_step_far_beyond_all_losses() -> None:
    """One point takes what is below it: all of it."""
    bound = paper.disc_dist(GAUSS.loss, 1e300, 1e-6)
    assert bound.total == pytest.approx(1.0)
    assert bound.epsilon(1e-3) >= 4.0
