"""Exact rewrites: the structure they leave, and that they leave nothing to rewrite."""

from __future__ import annotations

import math

import pytest

import privloss as pl
from privloss import Scheme
from privloss._mechanisms.gaussian import Gaussians
from privloss._operations import Allocate, Allocation, Compose, Repeat, Subsample
from privloss._rewrite import simplify
from privloss._scheme import walk
from schemes import ALL, MECHANISMS, STEP, chain

A = pl.Laplace(1.0)
B = pl.DiscreteLaplace(2.0)
SKEW = pl.Outcomes([0.75, 0.25], [0.5, 0.5])


@pytest.mark.parametrize(
    ("scheme", "simple"),
    [
        # repeat
        (A.repeat(1), A),
        (A.repeat(2).repeat(3), A.repeat(6)),
        ((A + B).repeat(3), A.repeat(3) + B.repeat(3)),
        # compose
        (pl.compose(A), A),
        (A + A, A.repeat(2)),
        (A + B + A.repeat(4), A.repeat(5) + B),
        ((A.repeat(2) + B).repeat(2) + A, A.repeat(5) + B.repeat(2)),
        # subsample
        (A.subsample(1.0), A),
        (A.subsample(0.5).subsample(0.25), A.subsample(0.125)),
        # allocate
        (A.allocate(1), A),
        (A.allocate(7, picks=7), A.repeat(7)),
        (A.allocate(5).allocate(4), A.allocate(20)),
        (A.subsample(0.5).allocate(10), A.allocate(10).subsample(0.5)),
        (A.subsample(0.5).allocate(5).subsample(0.5).allocate(2), A.allocate(10).subsample(0.25)),
        (A.allocate(12, picks=4), A.allocate(3).repeat(4)),
        (A.allocate(14, picks=4), A.allocate(3).repeat(2) + A.allocate(4).repeat(2)),
        (A.allocate(5, picks=4), A.repeat(3) + A.allocate(2)),
        (A.repeat(10).allocate(3), A.repeat(10).allocate(3)),
        # allocation
        (pl.allocate([(A, 5)]), A.allocate(5)),
        (pl.allocate([(A, 1)]), A),
        (pl.allocate([(A, 5), (A, 3)]), A.allocate(8)),
        (pl.allocate([(A, 5), (B, 3)], weights=[1, 0]), A.allocate(5)),
        (
            pl.allocate([(A.allocate(5), 2), (B, 3)], weights=[0.5, 0.5]),
            pl.allocate([(A, 10), (B, 3)], weights=[0.5, 0.5]),
        ),
        (
            pl.allocate([(A, 1), (B, 3)]).allocate(4),
            pl.allocate([(A, 4), (B, 12)]),
        ),
        (
            pl.allocate([(A.subsample(0.5), 2), (B.subsample(0.5), 2)]),
            pl.allocate([(A, 2), (B, 2)]).subsample(0.5),
        ),
        (
            pl.allocate([(A.subsample(0.5), 2), (B, 2)], weights=[0.5, 0.5]),
            pl.allocate([(A, 2), (B, 2)], weights=[0.25 / 0.75, 0.5 / 0.75]).subsample(0.75),
        ),
        # swap
        (SKEW.subsample(0.5).swap().swap(), SKEW.subsample(0.5)),
        (SKEW.swap(), pl.Outcomes(SKEW.q, SKEW.p)),
        (A.swap(), A),
        (A.subsample(0.5).repeat(3).swap(), A.subsample(0.5).swap().repeat(3)),
        ((A + B.subsample(0.5)).swap(), A + B.subsample(0.5).swap()),
        (A.allocate(3).swap(), A.allocate(3).swap()),
        # Gaussians
        (pl.Gaussian(2.0).repeat(4), Gaussians(1.0)),
        (pl.Gaussian(3.0, sensitivity=2.0), pl.Gaussian(3.0, sensitivity=2.0)),
        (pl.Gaussian(2.0).repeat(4).swap().allocate(5), Gaussians(1.0).allocate(5)),
    ],
)
def test_rewrites(scheme: Scheme, simple: Scheme) -> None:
    assert simplify(scheme) == simplify(simple)
    found = simplify(scheme)
    assert found == simple or (isinstance(found, Compose) and set(found.parts) == set(simple._parts()))


def test_gaussians_add_in_squares() -> None:
    merged = simplify(pl.Gaussian(2.0, sensitivity=3.0).repeat(5) + A + pl.Gaussian(0.5) + STEP.swap())
    assert isinstance(merged, Compose)
    (gaussian,) = [part for part in merged.parts if isinstance(part, pl.Gaussian)]
    assert gaussian.sigma**-2 == pytest.approx(5 * 1.5**2 + 4 + 1, rel=1e-15)
    assert set(merged.parts) == {A, gaussian}


def test_gaussians_beyond_the_range_of_a_float_are_left_alone() -> None:
    narrow = pl.Gaussian(1e-200, sensitivity=1e200).repeat(2)
    assert simplify(narrow) == narrow


def test_what_would_underflow_is_left_alone() -> None:
    tiny = A.subsample(1e-200).subsample(1e-200)
    assert simplify(tiny) == tiny
    huge = A.repeat(2**40).repeat(2**40)
    assert simplify(huge) == huge


@pytest.mark.parametrize(
    ("steps", "picks"), [(10, 3), (1000, 999), (1000, 32), (1024, 32), (7, 2), (10**9, 7)]
)
def test_the_lemma_splits_the_steps(steps: int, picks: int) -> None:
    found = simplify(SKEW.allocate(steps, picks))
    blocks = found.parts if isinstance(found, Compose) else (found,)
    total = chosen = 0
    for block in blocks:
        of, rounds = (block.of, block.rounds) if isinstance(block, Repeat) else (block, 1)
        size = of.steps if isinstance(of, Allocate) else 1
        assert size in (steps // picks, -(-steps // picks))
        total, chosen = total + rounds * size, chosen + rounds
    assert (total, chosen) == (steps, picks)


def test_order_and_grouping_do_not_matter() -> None:
    parts = [A, B, A, SKEW, STEP.allocate(3), B.repeat(2)]
    assert simplify(pl.compose(*parts)) == simplify(pl.compose(*reversed(parts)))
    assert simplify((A + B) + (SKEW + A)) == simplify(A.repeat(2) + (B + SKEW))


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_only_symmetric_mechanisms_are_their_own_swap(mechanism: Scheme) -> None:
    lopsided = (pl.PrivacyLoss, pl.Outcomes, pl.GaussianMixture)
    assert (simplify(mechanism.swap()) == mechanism) == (not isinstance(mechanism, lopsided))


@pytest.mark.parametrize("scheme", [*ALL, *map(Scheme.swap, ALL), chain(20)], ids=lambda s: repr(s)[:60])
def test_nothing_is_left_to_rewrite(scheme: Scheme) -> None:
    simple = simplify(scheme)
    assert simplify(simple) == simple
    assert simple.exact
    for node in walk(simple):
        if isinstance(node, Subsample):
            assert node.rate < 1 and not isinstance(node.of, Subsample)
        if isinstance(node, Repeat):
            assert node.rounds > 1 and not isinstance(node.of, Repeat | Compose)
        if isinstance(node, Allocate):
            assert node.steps > 1 and not isinstance(node.of, Subsample | Allocate | Allocation)
        if isinstance(node, Allocation):
            assert len(node.parts) > 1
            assert math.fsum(node.weights) == pytest.approx(1, abs=1e-14)


def test_depth_is_no_obstacle() -> None:
    deep: Scheme = SKEW
    for _ in range(500):
        deep = deep.subsample(0.999).allocate(2).repeat(2).swap() + A
    assert simplify(simplify(deep)) == simplify(deep)
    flat: Scheme = SKEW
    for _ in range(50):
        flat = flat.repeat(2)
    assert simplify(flat) == SKEW.repeat(2**50)


def test_many_parts_are_quick() -> None:
    parts = [pl.Laplace(1.0 + i % 5000) for i in range(10_000)]
    simple = simplify(pl.compose(*parts))
    assert isinstance(simple, Compose)
    assert len(simple.parts) == 5000
    assert all(isinstance(part, Repeat) and part.rounds == 2 for part in simple.parts)
