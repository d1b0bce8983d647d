"""Schemes as data: frozen, hashable, picklable, compared by structure, at any depth."""

from __future__ import annotations

import copy
import pickle
import sys
from dataclasses import FrozenInstanceError, replace
from functools import reduce
from math import inf
from operator import add
from typing import cast

import numpy as np
import pytest

import privloss as pl
from privloss import Scheme
from privloss._ask import Ask
from privloss._bracket import MET, REASONS, Bracket, outward
from privloss._operations import Allocate, Allocation, Compose, Repeat, Subsample
from privloss._pair import FloatArray, Pair
from privloss._scheme import walk
from schemes import ALL, MECHANISMS, STEP, chain

each = pytest.mark.parametrize("scheme", ALL, ids=repr)


@each
def test_equality_is_structural(scheme: Scheme) -> None:
    twin = copy.deepcopy(scheme)
    assert twin == scheme
    assert hash(twin) == hash(scheme)
    assert scheme != "Gaussian" and scheme != scheme.repeat(2)
    assert [other for other in ALL if other == scheme] == [scheme]


@each
def test_pickle_round_trips(scheme: Scheme) -> None:
    assert pickle.loads(pickle.dumps(scheme)) == scheme
    assert copy.copy(scheme) == scheme


@each
def test_schemes_are_frozen(scheme: Scheme) -> None:
    with pytest.raises(FrozenInstanceError):
        scheme.sigma = 2.0  # type: ignore[attr-defined]


def test_identities_hold_for_answers_not_for_structure() -> None:
    assert STEP.allocate(1) != STEP
    assert STEP.subsample(1.0) != STEP
    assert STEP.swap().swap() != STEP
    assert STEP.allocate(3, picks=3) != STEP.repeat(3)
    assert pl.compose(STEP, pl.Laplace(1.0)) != pl.compose(pl.Laplace(1.0), STEP)


def test_numbers_are_normalised() -> None:
    array, single = cast("float", np.array(1)), cast("float", np.float32(0.5))  # as an untyped caller would give them
    assert pl.Gaussian(1) == pl.Gaussian(1.0) == pl.Gaussian(np.float64(1.0)) == pl.Gaussian(array)
    assert repr(pl.Gaussian(single)) == "Gaussian(sigma=0.5)"
    assert STEP.allocate(1000) == STEP.allocate(1000.0) == STEP.allocate(np.int64(1000))  # type: ignore[arg-type]
    allocation = STEP.allocate(1000.0)  # type: ignore[arg-type]
    assert isinstance(allocation, Allocate) and type(allocation.steps) is int
    listed = pl.Outcomes(np.array([0.5, 0.5]), [0.25, np.float64(0.75)])
    assert listed == pl.Outcomes((0.5, 0.5), (0.25, 0.75))
    assert all(type(v) is float for v in (*listed.p, *listed.q))
    assert repr(pl.PrivacyLoss([-0.0], [1])) == "PrivacyLoss(losses=[0.0], masses=[1.0])"


def test_operations_keep_what_they_are_given() -> None:
    scheme = STEP.allocate(steps=10, picks=3)
    assert isinstance(scheme, Allocate)
    assert (scheme.of, scheme.steps, scheme.picks) == (STEP, 10, 3)
    assert isinstance(STEP.subsample(rate=0.1), Subsample)
    assert isinstance(STEP.repeat(rounds=2), Repeat)
    mixed = pl.allocate([(STEP, 1), (pl.Laplace(1.0), 3)])
    assert isinstance(mixed, Allocation)
    assert mixed.weights == (0.25, 0.75)
    assert mixed == pl.allocate([(STEP, 1), (pl.Laplace(1.0), 3)], weights=np.array([0.25, 0.75]))


def test_compositions_are_flat_and_keep_their_order() -> None:
    a, b, c = pl.Gaussian(1.0), pl.Laplace(1.0), pl.PureDP(1.0)
    whole = (a + b) + (c + a)
    assert isinstance(whole, Compose)
    assert whole.parts == (a, b, c, a)
    assert whole == a + (b + (c + a)) == pl.compose(a, pl.compose(b, c), a)
    with pytest.raises(TypeError):
        a + 1  # type: ignore[operator]


def test_the_guarantee_of_a_mechanism_does_not_hide_the_question() -> None:
    assert pl.PureDP(0.5).epsilon(delta=0.0).lower <= 0.5 <= pl.PureDP(0.5).epsilon(delta=0.0).upper
    assert pl.PureDP(epsilon=0.5).epsilon_ == 0.5
    both = pl.ApproximateDP(epsilon=0.5, delta=0.1)
    assert both.delta(epsilon=2.0).lower <= 0.1 <= both.delta(epsilon=2.0).upper
    assert (both.epsilon_, both.delta_) == (0.5, 0.1)


def test_exact_is_false_only_for_several_picks_of_more_steps() -> None:
    assert all(mechanism.exact for mechanism in MECHANISMS)
    assert STEP.allocate(10).exact
    assert STEP.allocate(10, picks=10).exact
    assert not STEP.allocate(10, picks=2).exact
    assert not (STEP.allocate(10, picks=2).repeat(3).subsample(0.1) + STEP).exact
    assert STEP.allocate(10, picks=2).poisson().exact


def test_poisson_replaces_every_allocation() -> None:
    assert STEP.allocate(10, picks=3).poisson() == STEP.subsample(0.3).repeat(10)
    inner = STEP.subsample(0.25).repeat(4)
    assert (
        STEP.allocate(4).repeat(2).allocate(5).swap().poisson()
        == inner.repeat(2).subsample(0.2).repeat(5).swap()
    )
    other = pl.Laplace(1.0)
    mixed = pl.allocate([(STEP, 2), (other, 8), (other, 1)], weights=[0.5, 0.5, 0.0])
    assert mixed.poisson() == STEP.subsample(0.25).repeat(2) + other.subsample(0.0625).repeat(8)
    assert (STEP + other).poisson() == STEP + other


@pytest.mark.parametrize("levels", [60, 600, 3000])
def test_depth_is_no_obstacle(levels: int) -> None:
    assert levels < 1000 or levels > sys.getrecursionlimit()
    deep = chain(levels)
    assert deep == chain(levels)
    assert hash(deep) == hash(chain(levels))
    assert deep != chain(levels - 1)
    assert pickle.loads(pickle.dumps(deep)) == deep
    assert repr(deep).startswith(("allocate(", "compose(", "Gaussian("))
    assert deep.exact and deep.poisson().exact


def test_shared_parts_are_walked_once() -> None:
    scheme: Scheme = STEP
    for _ in range(200):  # 2^200 leaves, if each were visited
        scheme = pl.allocate([(scheme, 1), (scheme, 2)])
    assert len(list(walk(scheme))) == 201
    assert scheme.exact
    assert hash(scheme) == hash(pickle.loads(pickle.dumps(scheme)))
    assert scheme == pickle.loads(pickle.dumps(scheme))


def test_many_outcomes_are_quick() -> None:
    masses = np.full(100_000, 1e-5)
    losses = np.linspace(0.0, 1.0, 100_000)
    one, two = pl.PrivacyLoss(losses, masses), pl.PrivacyLoss(losses.tolist(), masses.tolist())
    assert one == two and hash(one) == hash(two)
    assert len(repr(one)) < 100


def test_sums_of_many_schemes_are_quick() -> None:
    parts: list[Scheme] = [pl.Laplace(1.0 + i) for i in range(10_000)]
    total = reduce(add, parts)
    assert isinstance(total, Compose)
    assert total.parts == tuple(parts)


def test_brackets_speak_for_themselves() -> None:
    bracket = Bracket(0.17163, 0.17180)
    assert repr(bracket) == str(bracket) == "Bracket(0.17163, 0.1718, tolerance met)"
    assert float(bracket) == 0.17180
    assert float(Bracket(0.1, 0.2, safe="lower")) == 0.1
    assert Bracket(0.25, 0.5).gap == 0.25
    assert Bracket(inf, inf).gap == 0.0
    assert "reduction" in repr(Bracket(0.1, 0.2, exact=False))
    assert MET in REASONS and len(set(REASONS)) == len(REASONS)


def test_brackets_of_arrays() -> None:
    bracket = Bracket(np.array([0.0, inf]), np.array([1.0, inf]))
    assert np.array_equal(bracket.gap, [1.0, 0.0])
    assert repr(bracket) == "Bracket([ 0. inf], [ 1. inf], tolerance met)"
    with pytest.raises(TypeError, match="2"):
        float(bracket)


@pytest.mark.parametrize(
    ("lower", "upper"),
    [
        (0.1717282, 0.1717295),
        (0.0, 1e-300),
        (1e-100, 1.001e-100),
        (1.0, 1.0),
        (0.0, inf),
        (5.0, 1e9),
        (1 / 3, 2 / 3),
    ],
)
def test_printed_brackets_are_brackets(lower: float, upper: float) -> None:
    low, high = outward(lower, upper)
    assert float(low) <= lower <= upper <= float(high)
    if upper < inf:
        assert float(high) - float(low) <= 1.5 * (upper - lower)


def curve(p: FloatArray, q: FloatArray, k: float, p_only: float = 0.0) -> float:
    return float(p_only + np.maximum(p - k * q, 0).sum())


def readings(masses: FloatArray) -> list[FloatArray]:
    """Divided by their sum; and if they lack something, with that at each of the outcomes."""
    lacking = 1 - float(masses.sum())
    placed = [masses + lacking * unit for unit in np.eye(masses.size)] if lacking > 0 else []
    return [masses / masses.sum(), *placed]


@pytest.mark.parametrize("seed", range(40))
def test_bounds_hold_however_given_masses_are_read(seed: int) -> None:
    rng = np.random.default_rng(seed)
    miss = rng.choice([-1, 0, 1], 2) * 10 ** rng.uniform(-13, -9.3)
    p, q = (
        rng.dirichlet(np.full((3,), 0.3)) * (1 + miss[0]),
        rng.dirichlet(np.full((3,), 0.3)) * (1 + miss[1]),
    )
    if seed % 3 == 0:
        p = np.array([0.0, 0.25, 0.75]) * (1 + miss[0])
    look = Ask(side="upper", direction="remove", spacing=0.03, tail=0.0, focus=-1.0, deep=-1.0)
    upper = pl.Outcomes(p, q).law(look)
    lower = pl.Outcomes(p, q).law(replace(look, side="lower"))
    assert isinstance(lower, Pair) and isinstance(upper, Pair)
    for k in (0.0, 1e-9, 1e-3, 0.5, 1.0, 2.0, 1e3, 1e9, 1e12):
        tiny = 1e-14 * (1 + k)
        for one, two in ((a, b) for a in readings(p) for b in readings(q)):
            assert curve(lower.p, lower.q, k, lower.p_only) <= curve(one, two, k) + tiny
            assert curve(lower.q, lower.p, k, lower.q_only) <= curve(two, one, k) + tiny
            assert curve(upper.p, upper.q, k, upper.p_only) >= curve(one, two, k) - tiny
            assert curve(upper.q, upper.p, k, upper.q_only) >= curve(two, one, k) - tiny
