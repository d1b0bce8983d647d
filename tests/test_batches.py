"""Compositions of many different parts, added many at a time, against their exact products.

The ratios of all parts are whole powers of one base, so the product has one outcome for each power: its masses are
found by convolution in exact fractions.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

import privloss as pl
from privloss import Scheme
from privloss._arithmetic import LossSum, State
from privloss._batch import RowSum
from privloss._evaluate import Subsampled
from privloss._graded import Piece
from privloss._laws.gaussian import GaussianLaw
from privloss._laws.rows import together
from truth import closed
from truth import enumerate as enumeration

F = Fraction
DIRECTIONS: list[Any] = ["remove", "add"]


def parts(count: int, base: int, atoms: bool) -> list[list[tuple[Fraction, Fraction]]]:
    """Outcomes (p, q) with ratios base, 1 and 1/base, and what is left over on atoms, exact as doubles."""
    found = []
    for n in range(count):
        q = F(n + 3, 512 * base)
        high, low = (q * base, q), (q, q * base)
        left = 1 - high[0] - low[0]
        only = F(n + 1, 2**14) if atoms else F(0)
        found.append([high, low, (left - only, left - only), (only, F(0)), (F(0), only)])
    return found


def scheme_of(part: list[tuple[Fraction, Fraction]]) -> Scheme:
    kept = [(p, q) for p, q in part if p or q]
    assert all(F(float(x)) == x for pair in kept for x in pair)
    return pl.Outcomes([float(p) for p, _ in kept], [float(q) for _, q in kept])


def product_of(listed: list[list[tuple[Fraction, Fraction]]], base: int) -> list[tuple[Fraction, Fraction]]:
    """One outcome for each power of the base, and the atoms."""
    powers: dict[int, Fraction] = {0: F(1)}
    p_only = q_only = F(1)
    for (high, low, same, *only) in listed:
        step = {1: high[1], -1: low[1], 0: same[1]}  # Q-masses
        longer: dict[int, Fraction] = {}
        for power, mass in powers.items():
            for move, share in step.items():
                longer[power + move] = longer.get(power + move, F(0)) + mass * share
        powers = longer
        p_only, q_only = p_only * (1 - only[0][0]), q_only * (1 - only[1][1])
    outcomes = [(mass * F(base) ** power, mass) for power, mass in powers.items()]
    return [*outcomes, (1 - p_only, F(0)), (F(0), 1 - q_only)]


@pytest.mark.parametrize("atoms", [False, True])
@pytest.mark.parametrize(("count", "base"), [(26, 2), (40, 16), (26, 2**20), (150, 2)])
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_the_product_is_bracketed(count: int, base: int, atoms: bool, direction: Any) -> None:
    listed = parts(count, base, atoms)
    pair, scheme = product_of(listed, base), pl.compose(*map(scheme_of, listed))
    epsilons = [0.0, 0.1, 0.7, 2.0, 8.0, 20.0]
    answer = scheme.delta(epsilons, direction=direction, rtol=1e-2, atol=1e-6, seconds=1.0)
    for epsilon, low, high in zip(epsilons, answer.lower, answer.upper, strict=True):  # type: ignore[arg-type]
        with mp.workdps(60):
            true = closed.exactly(enumeration.delta(pair, enumeration.exp(epsilon), direction))
            assert mpf(float(low)) <= true <= mpf(float(high)), f"{epsilon} {answer!r} {true}"


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_subsampled_parts_are_bracketed(direction: Any) -> None:
    """Each part subsampled at 1/2: (p + q)/2 for p, so the ratios are no powers, and all outcomes are kept apart."""
    listed = parts(24, 2, atoms=True)
    scheme = pl.compose(*(scheme_of(part).subsample(0.5) for part in listed))
    few = pl.compose(*(scheme_of(part).subsample(0.5) for part in listed[:3]))
    pair = enumeration.pair_of(few)
    for epsilon in (0.01, 0.3):
        answer = few.delta(epsilon, direction=direction, rtol=1e-6)
        with mp.workdps(60):
            true = closed.exactly(enumeration.delta(pair, enumeration.exp(epsilon), direction))
            assert mpf(float(answer.lower)) <= true <= mpf(float(answer.upper))
    # The parts in two halves, each below the number that goes in batches, composed as one outcome list each.
    batches = scheme.delta(0.1, direction=direction, rtol=1e-3)
    halves = pl.compose(*(scheme_of(part).subsample(0.5) for part in listed[:12])) + pl.compose(
        *(scheme_of(part).subsample(0.5) for part in listed[12:])
    ).repeat(1)
    again = halves.delta(0.1, direction=direction, rtol=1e-3)
    assert batches.lower <= again.upper
    assert again.lower <= batches.upper
    atom = 1.0
    for part in listed:
        atom *= 1 - 0.5 * float(part[3][0])
    if direction == "remove":
        edge = scheme.delta(40.0, direction=direction, rtol=1e-9)
        assert edge.lower <= (1 - atom) * (1 + 1e-13)
        assert edge.upper >= (1 - atom) * (1 - 1e-13)


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("gauge", ["p", "q"])
@pytest.mark.parametrize("side", ["upper", "lower"])
def test_cuts_of_many_rows_are_those_of_each(side: Any, gauge: Any, whole: bool, right: bool) -> None:
    """Cuts of single measures are held against exact fractions in test_graded; those of many rows are the same ones."""
    rng = np.random.default_rng(9)
    rows, channels = 5, 1 if side == "upper" else 2
    many, one = RowSum(0.25, 0.0, side, gauge, whole, rows), LossSum(0.25, 0.0, side, gauge, whole)
    offset = rng.uniform(-2.0, 2.0, rows)
    starts = (6, 14) if right else (-14, -6)
    cut = [Piece(0, start, rng.uniform(0.0, 0.1, (channels * rows, 8))) for start in starts]
    edge = Piece(0, 0 if right else 2, rng.uniform(0.0, 0.1, (channels * rows, 6 if right else 5)))
    summed = Piece(edge.shift, edge.start, edge.values.copy())
    more = many._folded(cut, summed, offset, right=right)
    for row in range(rows):
        own = slice(row, None, rows)
        alone = Piece(edge.shift, edge.start, edge.values[own].copy())
        at = alone.values.shape[1] - 1 if right else 0
        state = State([], 1, float(offset[row]), 1.0, 0.0, 0.0, 0.0, 0.0)
        parts_of_row = [Piece(piece.shift, piece.start, piece.values[own]) for piece in cut]
        gained = one.fold(parts_of_row, alone, at, state, right=right)
        np.testing.assert_allclose(summed.values[own], alone.values, rtol=1e-13)
        np.testing.assert_allclose([float(np.asarray(atom)[row]) for atom in more], gained, rtol=1e-13)


def test_rows_of_subsampled_laws_are_those_of_each() -> None:
    laws = [Subsampled(GaussianLaw(0.5 + 0.1 * n), 0.1 + 0.2 * n) for n in range(4)]
    points = np.array([np.linspace(math.log1p(-law.rate) + 0.01, 0.5 + n, 30) for n, law in enumerate(laws)])
    for method in ("hats", "cells"):
        got = getattr(together(laws), method)(points)
        for n, law in enumerate(laws):
            alone = getattr(law, method)(points[n])
            for name in ("q", "p", "q_only", "p_only"):
                np.testing.assert_allclose(getattr(got, name)[n], getattr(alone, name), rtol=1e-12, atol=1e-290)
