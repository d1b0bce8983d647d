"""The paper's claims about stochastic domination, on small laws in exact fractions.

Legend: a law is a list of values e^l with masses: losses add where values multiply, and exp-PLDs where values add.
``low <=_(alpha, beta) up`` means P(low > l) <= P(up > l - alpha) + beta for every l; alpha enters as e^alpha.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf
from operator import add, mul

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from privloss import paper
from privloss.paper import Bound
from truth.pseudocode import Listed, Value, beta_for, ccdf, combined, dual, hockey_stick

values = st.fractions(min_value=Fraction(1, 8), max_value=8, max_denominator=12)
shifts = st.sampled_from([Fraction(1), Fraction(9, 8), Fraction(3, 2), Fraction(3)])
factors = st.fractions(min_value=Fraction(1, 20), max_value=20, max_denominator=40)


@st.composite
def laws(draw: st.DrawFn, most: int = 4) -> Listed:
    found = sorted(draw(st.sets(values, min_size=1, max_size=most)))
    weights = draw(st.lists(st.integers(1, 9), min_size=len(found), max_size=len(found)))
    return Listed(found, [Fraction(w, sum(weights)) for w in weights])


@st.composite
def realizations(draw: st.DrawFn) -> Listed:
    """Values moved up until E[1/v] is at most 1, and some mass at inf."""
    law, top = draw(laws()), draw(st.sampled_from([Fraction(0), Fraction(1, 10)]))
    expected = sum((m / v for v, m in zip(*law, strict=True)), Fraction(0))
    raised = [v * max(expected, Fraction(1)) for v in law.values]
    masses = [m * (1 - top) for m in law.masses]
    return Listed([*raised, inf], [*masses, top]) if top else Listed(raised, masses)


def raised(law: Listed, shares: list[Fraction]) -> Listed:
    """A law that stochastically dominates: some of each mass is moved to the next value up."""
    masses = list(law.masses)
    for i, share in enumerate(shares[: len(masses) - 1]):
        moved = masses[i] * share
        masses[i] -= moved
        masses[i + 1] += moved
    return Listed(law.values, masses)


shares = st.lists(st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(1)]), min_size=6, max_size=6)


@given(laws(), laws(), shifts, factors)
def test_stochastic_domination_implies_domination(low: Listed, up: Listed, shift: Fraction, k: Fraction) -> None:
    """Claim stochDomImpDom: H_{e^eps}(low) <= H_{e^(eps - alpha)}(up) + beta, with the least beta there is."""
    beta = beta_for(low, up, shift)
    assert 0 <= beta <= 1
    assert hockey_stick(low, k) <= hockey_stick(up, k / shift) + beta


@given(laws(), laws(), laws(), laws(), shifts, shifts)
def test_stochastic_domination_composes(
    low1: Listed, up1: Listed, low2: Listed, up2: Listed, shift1: Fraction, shift2: Fraction
) -> None:
    """Claim stochDomComp: both parameters add when losses do."""
    beta = beta_for(low1, up1, shift1) + beta_for(low2, up2, shift2)
    assert beta_for(combined(low1, low2, mul), combined(up1, up2, mul), shift1 * shift2) <= beta


@given(laws(), laws(), laws(), laws(), shifts)
def test_the_shift_of_sums_does_not_grow(low1: Listed, up1: Listed, low2: Listed, up2: Listed, shift: Fraction) -> None:
    """Lemma mult_tight: when exp-PLDs add, alpha stays and only the betas add."""
    beta = beta_for(low1, up1, shift) + beta_for(low2, up2, shift)
    assert beta_for(combined(low1, low2, add), combined(up1, up2, add), shift) <= beta


def test_duals_need_not_keep_the_order() -> None:
    """Claim PLDdualDom, first part: neither dual dominates the other."""
    losses: list[Value] = [Fraction(2), Fraction(4)]
    halves: list[Value] = [Fraction(1, 4), Fraction(1, 2), inf]
    low = Listed(losses, [Fraction(6, 10), Fraction(4, 10)])
    up = Listed(losses, [Fraction(4, 10), Fraction(6, 10)])
    assert beta_for(low, up, Fraction(1)) == 0
    assert dual(low) == Listed(halves, [Fraction(1, 10), Fraction(3, 10), Fraction(6, 10)])
    assert dual(up) == Listed(halves, [Fraction(15, 100), Fraction(2, 10), Fraction(65, 100)])
    assert beta_for(dual(low), dual(up), Fraction(1)) > 0
    assert beta_for(dual(up), dual(low), Fraction(1)) > 0


def subsampled(law: Listed, rate: Fraction) -> Listed:
    """phi_rem: rate L + (1 - rate) (-D), each value v sent to 1 + rate (v - 1)."""
    found: dict[Value, Fraction] = {}
    whole: list[tuple[Value, Fraction]] = []
    for v, m in zip(law.values, law.masses, strict=True):
        whole.append((v, rate * m if v == inf else rate * m + (1 - rate) * m / Fraction(v)))
    whole.append((Fraction(0), 1 - sum((m for _, m in whole), Fraction(0))))
    for v, m in whole:
        image = 1 + rate * (v - 1)
        found[image] = found.get(image, Fraction(0)) + m
    ordered = sorted(found)
    return Listed(ordered, [found[v] for v in ordered])


def test_subsampling_need_not_keep_the_order() -> None:
    """Claim PLDdualDom, second part; e stands for any number above 1, here 3."""
    low, up = Listed([Fraction(1)], [Fraction(1)]), Listed([Fraction(3)], [Fraction(1)])
    one, two = subsampled(low, Fraction(1, 2)), subsampled(up, Fraction(1, 2))
    assert two == Listed([Fraction(1, 2), Fraction(2)], [Fraction(1, 3), Fraction(2, 3)])  # (e-1)/2e and (e+1)/2e
    assert beta_for(one, two, Fraction(1)) > 0
    assert beta_for(two, one, Fraction(1)) > 0


@given(realizations(), shares)
def test_duals_keep_the_order_approximately(low: Listed, moved: list[Fraction]) -> None:
    """Claim PLDdualDom, third part: low <= up gives dual(up) <=_(0, c) dual(low), c the difference of atoms at inf."""
    up = raised(low, moved)
    assert beta_for(low, up, Fraction(1)) == 0
    c = dual(up).masses[-1] - dual(low).masses[-1]
    assert c >= 0
    assert beta_for(dual(up), dual(low), Fraction(1)) <= c


@given(realizations())
def test_the_dual_of_the_dual(law: Listed) -> None:
    """Claim PLDdual: the dual is a realization, and its dual is the law again."""
    back = dual(dual(law))
    assert sum((m / v for v, m in zip(*dual(law), strict=True) if v != inf), Fraction(0)) <= 1
    for v in law.values:
        assert ccdf(back, v) == ccdf(law, v)


@given(laws(), st.lists(shares, min_size=2, max_size=2))
def test_the_pointwise_combination(law: Listed, moved: list[list[Fraction]]) -> None:
    """Claim bndComb, by ``paper.combine``: between the law and each of its bounds, from above and from below."""
    assume(len(law.values) > 1)
    ups = [raised(law, each) for each in moved]
    down = [raised(Listed(law.values, law.masses[::-1]), each) for each in moved]
    downs = [Listed(law.values, each.masses[::-1]) for each in down]
    points = np.log([float(v) for v in law.values])
    for side, parts in (("upper", ups), ("lower", downs)):
        both = paper.combine(*(as_bound(each, side) for each in parts))
        for point, value in zip(points, law.values, strict=True):
            ends = [float(ccdf(each, value)) for each in parts]
            got = float(both.ccdf(np.array([point + 1e-12]))[0])
            assert abs(got - (min(ends) if side == "upper" else max(ends))) < 1e-14
        assert abs(both.total - 1) < 1e-14


def as_bound(law: Listed, side: str) -> Bound:
    losses, mass = np.log([float(v) for v in law.values]), np.array([float(m) for m in law.masses])
    return Bound(losses, mass, 0.0, 0.0, side)  # type: ignore[arg-type]
