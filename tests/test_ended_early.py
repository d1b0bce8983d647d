"""What a run that ended early has spent, against the sum over all bins, in exact fractions."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from math import prod

import numpy as np
import pytest

import privloss as pl
from privloss.samplers import RandomAllocationSampler, _run

_STRONG = pl.Outcomes(p=[0.5, 0.375, 0.125], q=[0.125, 0.375, 0.5])
_WEAK = pl.Outcomes(p=[0.375, 0.375, 0.25], q=[0.25, 0.375, 0.375])
_SKEW = pl.Outcomes(p=[0.75, 0.25], q=[0.25, 0.75])
_EPSILONS = (Fraction(1), Fraction(5, 4), Fraction(2))  # as e^epsilon

Steps = list[pl.Outcomes]


def _truth(run: Steps, bins: list[tuple[Fraction, set[int]]], ratio: Fraction, swapped: bool) -> Fraction:
    """delta of steps ``run``, of which the person is in those of a set, drawn with the probabilities given."""
    total = Fraction(0)
    for seen in itertools.product(*(range(len(step.p)) for step in run)):
        pairs = [(Fraction(step.p[i]), Fraction(step.q[i])) for step, i in zip(run, seen, strict=True)]
        without = prod((q for _, q in pairs), start=Fraction(1))
        present = sum(
            share * prod((p if i in mine else q for i, (p, q) in enumerate(pairs)), start=Fraction(1))
            for share, mine in bins
        )
        total += max(Fraction(0), without - ratio * present if swapped else present - ratio * without)
    return total


def _agrees(scheme: pl.Scheme, run: Steps, bins: list[tuple[Fraction, set[int]]], exact: bool = True) -> None:
    assert sum(share for share, _ in bins) == 1
    for swapped in (False, True):
        true = np.array([float(_truth(run, bins, ratio, swapped)) for ratio in _EPSILONS])
        got = scheme.delta(np.log(np.array(_EPSILONS, float)), direction="add" if swapped else "remove", rtol=1e-4)
        assert (got.upper >= true * (1 - 1e-12)).all()
        if exact:
            assert (got.lower <= true * (1 + 1e-12)).all()
            assert (got.gap <= 1e-3 * true + 1e-12).all()


def _fresh(steps: int, picks: int, epochs: list[list[int]]) -> list[tuple[Fraction, set[int]]]:
    """Sets of the steps taken that are the person's, the bins being drawn in each epoch; ``epochs`` lists the steps of
    each epoch that were taken."""
    choices = list(itertools.combinations(range(steps), picks))
    starts = list(itertools.accumulate([0, *map(len, epochs)]))
    drawn = []
    for chosen in itertools.product(choices, repeat=len(epochs)):
        mine = {
            start + taken.index(step)
            for start, taken, own in zip(starts, epochs, chosen, strict=False)
            for step in own
            if step in taken
        }
        drawn.append((Fraction(1, len(choices) ** len(epochs)), mine))
    return drawn


def _kept(steps: int, picks: int, epochs: list[list[int]]) -> list[tuple[Fraction, set[int]]]:
    choices = list(itertools.combinations(range(steps), picks))
    starts = list(itertools.accumulate([0, *map(len, epochs)]))
    return [
        (
            Fraction(1, len(choices)),
            {s + taken.index(j) for s, taken in zip(starts, epochs, strict=False) for j in own if j in taken},
        )
        for own in choices
    ]


def _prefix(steps: int, taken: int) -> list[list[int]]:
    whole, rest = divmod(taken, steps)
    return [list(range(steps))] * whole + [list(range(rest))] * (rest > 0)


@pytest.mark.parametrize("taken", range(1, 7))
@pytest.mark.parametrize(("fresh", "law"), [(True, _fresh), (False, _kept)])
def test_a_run_with_one_pick_is_exact_wherever_it_ends(fresh: bool, law: Callable[..., object], taken: int) -> None:
    scheme = RandomAllocationSampler(10, steps=3, epochs=2, fresh=fresh).scheme(_STRONG, taken)
    _agrees(scheme, [_STRONG] * taken, law(3, 1, _prefix(3, taken)))  # type: ignore[arg-type]
    assert scheme.exact


@pytest.mark.parametrize("taken", range(1, 9))
@pytest.mark.parametrize(("fresh", "law"), [(True, _fresh), (False, _kept)])
def test_a_run_with_several_picks_is_bounded_wherever_it_ends(
    fresh: bool, law: Callable[..., object], taken: int
) -> None:
    scheme = RandomAllocationSampler(10, steps=4, picks=2, epochs=2, fresh=fresh).scheme(_SKEW, taken)
    _agrees(scheme, [_SKEW] * taken, law(4, 2, _prefix(4, taken)), exact=scheme.exact)  # type: ignore[arg-type]


@pytest.mark.parametrize("taken", [1, 3, 5])
@pytest.mark.parametrize("fresh", [True, False])
def test_every_step_is_composition(fresh: bool, taken: int) -> None:
    scheme = RandomAllocationSampler(10, steps=3, picks=3, epochs=2, fresh=fresh).scheme(_SKEW, taken)
    _agrees(scheme, [_SKEW] * taken, [(Fraction(1), set(range(taken)))])


@pytest.mark.parametrize(
    "epochs",
    [
        [[(_STRONG, 1), (_WEAK, 2)]],
        [[(_STRONG, 1), (_WEAK, 1)]],
        [[(_STRONG, 3)], [(_STRONG, 1), (_WEAK, 1)]],
        [[(_STRONG, 2), (_WEAK, 1)], [(_WEAK, 1)]],
        [[(_WEAK, 1), (_STRONG, 1)], [(_WEAK, 3)]],  # a step was skipped in the first
    ],
)
@pytest.mark.parametrize(("fresh", "law"), [(True, _fresh), (False, _kept)])
def test_noise_that_changes(epochs: list[_run.Epoch], fresh: bool, law: Callable[..., object]) -> None:
    run = [mechanism for epoch in epochs for mechanism, n in epoch for _ in range(n)]
    taken = [list(range(sum(n for _, n in epoch))) for epoch in epochs]
    skipped = any(len(each) < 3 for each in taken[:-1])
    uneven = len(taken[-1]) < 3 and any(len(epoch) > 1 for epoch in epochs[:-1])
    scheme = _run.scheme(epochs, steps=3, picks=1, fresh=fresh, worst=_STRONG)
    _agrees(scheme, run, law(3, 1, taken), exact=fresh or not (skipped or uneven))  # type: ignore[arg-type]
    if uneven:  # nor need those of the last epoch have been its first
        _agrees(scheme, run, law(3, 1, [[0, 1, 2], [2]]), exact=fresh)  # type: ignore[arg-type]
    if skipped:  # any other step might have been the one
        other = [[0, 2], [0, 1, 2]]
        _agrees(scheme, run, law(3, 1, other), exact=fresh)  # type: ignore[arg-type]


def test_both_ways_to_say_it_agree() -> None:
    """One mechanism throughout: the short form of a sampler and the list of an accountant are the same scheme."""
    for fresh, picks, taken in itertools.product((True, False), (1, 2, 4), (1, 3, 4, 5, 8)):
        epochs = [[(_SKEW, len(each))] for each in _prefix(4, taken)]
        one = _run.scheme(epochs, 4, picks, fresh, worst=_SKEW).delta(0.5, rtol=1e-6)
        two = _run.ended(_SKEW, taken, 4, picks, fresh).delta(0.5, rtol=1e-6)
        assert one.lower <= two.upper and two.lower <= one.upper


def test_long_runs_are_quick_to_describe() -> None:
    sampler = RandomAllocationSampler(10, steps=1000, epochs=10**6, fresh=False)
    assert sampler.scheme(pl.Gaussian(1.0), taken=10**8 + 1) == pl.allocate(
        [(pl.Gaussian(1.0).repeat(10**5 + 1), 1), (pl.Gaussian(1.0).repeat(10**5), 999)]
    )
