"""Hard values, alone and in pairs: always certified, in order, finite where they can be, and with a reason.

Nothing is asserted about seconds: a slow machine is not wrong. ``pytest -m slow -s`` prints them.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable
from itertools import product
from math import inf, isnan
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

import privloss as pl
from privloss import Bracket, Scheme
from privloss._bracket import REASONS
from privloss._questions import Look, evaluate
from privloss._rewrite import simplify

DELTA = 1e-6
DIRECTIONS: list[Any] = ["remove", "add"]


class Case:
    """``Gaussian(1).allocate(1000)`` at delta 1e-6 with some of its parts changed."""

    def __init__(self, **changed: Any) -> None:
        plain = {"sigma": 1.0, "steps": 1000, "picks": 1, "delta": DELTA, "rounds": 1, "rate": None}
        self.changed, self.values = changed, {**plain, **changed}

    def __repr__(self) -> str:
        return ",".join(f"{key}={value:g}" for key, value in self.changed.items()) or "plain"

    def scheme(self) -> Scheme:
        v = self.values
        picks = v["picks"]
        picks = v["steps"] + picks if picks <= 0 else min(picks, v["steps"])  # 0 is all, -1 is all but one
        scheme = pl.Gaussian(v["sigma"]).allocate(v["steps"], picks=max(picks, 1))
        if v["rate"] is not None:
            scheme = scheme.subsample(v["rate"])
        return scheme.repeat(v["rounds"]) if v["rounds"] > 1 else scheme


VALUES: list[tuple[str, Any]] = [
    *[("delta", value) for value in (0.9, 0.5, 1e-15, 1e-30, 1e-100)],
    *[("sigma", value) for value in (0.05, 0.1, 100.0, 1e4)],
    *[("steps", value) for value in (1, 2, 10**7, 10**9)],
    *[("rounds", value) for value in (10**5, 10**6)],
    *[("rate", value) for value in (1e-9, 1.0)],
    *[("picks", value) for value in (0, -1, 7, 333)],
]
ALONE = [Case(), *(Case(**{key: value}) for key, value in VALUES)]


def pairs() -> list[Case]:
    """Thirty pairs of different parts, the same in every run."""
    generator = random.Random(7)
    possible = [(a, b) for a, b in product(VALUES, VALUES) if a[0] < b[0]]
    return [Case(**dict(chosen)) for chosen in generator.sample(possible, 30)]


def certified(bracket: Bracket, scheme: Scheme) -> None:
    lower, upper = float(bracket.lower), float(bracket.upper)
    assert not isnan(lower)
    assert not isnan(upper)
    assert 0 <= lower <= upper
    assert bracket.gap >= 0 or upper == inf
    assert bracket.reason in REASONS
    assert bracket.exact == scheme.exact


def ask(case: Case, direction: Any, seconds: float | None) -> Bracket:
    return case.scheme().epsilon(case.values["delta"], direction=direction, seconds=seconds)


# ---------------------------------------------------------------- each alone, and in pairs


@pytest.mark.parametrize("case", ALONE, ids=repr)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_hard_values(case: Case, direction: Any) -> None:
    certified(ask(case, direction, 1.0), case.scheme())


@pytest.mark.parametrize("case", pairs(), ids=repr)
def test_hard_values_in_pairs(case: Case) -> None:
    certified(ask(case, "both", 0.5), case.scheme())


@pytest.mark.slow
def test_hard_values_take_seconds() -> None:
    """Prints; the limit that the question is given is its own."""
    for case in [*ALONE, *pairs()]:
        for direction in ("remove", "add", "both"):
            start = time.perf_counter()
            bracket = ask(case, direction, 5.0)
            spent = time.perf_counter() - start
            certified(bracket, case.scheme())
            print(f"{case!r:32} {direction:7} {spent:6.2f} s  {bracket!r}")


# ---------------------------------------------------------------- what is known of them


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_gaussian_that_must_be_bracketed_tightly(direction: Any) -> None:
    """What a tight bracket can be made of, must be: a small relative gap."""
    hard = [("delta", 1e-15), ("delta", 1e-100), ("sigma", 100.0), ("steps", 1), ("steps", 2), ("rate", 1.0)]
    for key, value in hard:
        bracket = ask(Case(**{key: value}), direction, None)
        assert bracket.gap <= 0.02 * bracket.upper + 1e-6, f"{key} {value}: {bracket!r}"


def falls(cases: list[Case]) -> None:
    """epsilon does not rise from case to case: no lower bound is above an earlier upper one."""
    answers = [ask(case, "both", 2.0) for case in cases]
    for i, later in enumerate(answers):
        for earlier in answers[:i]:
            assert later.lower <= earlier.upper, f"{cases}: {answers}"


MONOTONE: list[tuple[str, Callable[[Any], Case], list[Any]]] = [
    ("sigma", lambda v: Case(sigma=v), [0.05, 0.1, 0.5, 1.0, 10.0, 100.0, 1e4]),
    ("steps", lambda v: Case(steps=v), [1, 2, 5, 1000, 10**5, 10**7, 10**9]),
    ("delta", lambda v: Case(delta=v), [1e-100, 1e-30, 1e-15, 1e-6, 0.5, 0.9]),
    ("rounds", lambda v: Case(rounds=v), [10**6, 10**5, 100, 1]),
    ("rate", lambda v: Case(rate=v), [1.0, 0.5, 1e-3, 1e-9]),
    ("rate of rounds", lambda v: Case(rate=v, rounds=1000), [1.0, 0.1, 1e-4, 1e-9]),
]


@pytest.mark.parametrize(("label", "make", "values"), MONOTONE, ids=[label for label, _, _ in MONOTONE])
def test_more_private_is_not_reported_less(label: str, make: Callable[[Any], Case], values: list[Any]) -> None:
    falls([make(value) for value in values])


def test_picks_are_bounded_by_all_of_them() -> None:
    """k-out-of-t is never worse than all t steps."""
    whole = pl.Gaussian(1.0).repeat(100).epsilon(DELTA)
    for picks in (1, 7, 33, 50, 99):
        some = pl.Gaussian(1.0).allocate(100, picks=picks).epsilon(DELTA)
        certified(some, pl.Gaussian(1.0).allocate(100, picks=picks))
        assert some.lower <= whole.upper * (1 + 1e-9)
    full = pl.Gaussian(1.0).allocate(100, picks=100).epsilon(DELTA)
    assert full.lower <= whole.upper
    assert whole.lower <= full.upper


@pytest.mark.parametrize("rounds", [100, 10**6])
def test_losses_of_millions(rounds: int) -> None:
    """At sigma 0.05 two steps are told apart for certain: the loss is that of one step less log 2, in each round."""
    deviation = 20.0 * math.sqrt(rounds)
    one = rounds * 200.0 - deviation * NormalDist().inv_cdf(DELTA * 1.05)  # delta is about the tail of the loss
    bracket = pl.Gaussian(0.05).allocate(2).repeat(rounds).epsilon(DELTA, direction="remove", seconds=None)
    assert bracket.gap <= 1e-3 * bracket.upper
    assert bracket.lower == pytest.approx(one - rounds * math.log(2), rel=2e-3)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(("sigma", "picks"), [(1.0, 999), (0.05, 999), (0.05, 333)])
def test_sums_wider_than_their_lattices(sigma: float, picks: int, direction: Any) -> None:
    """Spacings of thousands of losses: each merge loses much, and the whole still little."""
    scheme = pl.Gaussian(sigma).allocate(1000, picks=picks).repeat(10**6)
    bracket = scheme.epsilon(DELTA, direction=direction, seconds=None)
    certified(bracket, scheme)
    assert bracket.gap <= 1e-3 * bracket.upper


def test_what_was_kept_is_not_mistaken_for_what_is_quick() -> None:
    """A question that finds its first look in the cache plans its next one by what that had cost."""
    scheme = pl.Gaussian(1.0).allocate(1000).repeat(1000)
    first = scheme.epsilon(DELTA, rtol=1e-3).work
    again = scheme.epsilon(DELTA, rtol=1e-3).work
    assert again.points == first.points
    plain = simplify(scheme)
    look = Look(0.05, 1e-9, -10.0, False, inf)
    once, twice = (evaluate(plain, look.ask("upper", "remove")) for _ in range(2))
    assert once[0] is twice[0]
    assert once[1] == twice[1] > 0


# ---------------------------------------------------------------- whole schemes that are hard

DEEP = [
    pl.Gaussian(1.0).allocate(100).subsample(0.1).repeat(20).allocate(10),
    pl.Laplace(1.0).subsample(0.1).allocate(50).repeat(10).subsample(0.5),
    pl.Gaussian(0.5).allocate(10, picks=3).swap().repeat(5).allocate(20).subsample(0.01).repeat(100),
    (pl.Gaussian(1.0).allocate(20).repeat(4) + pl.PureDP(0.1)).subsample(0.25).repeat(10),
]


@pytest.mark.parametrize("scheme", DEEP, ids=repr)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_four_levels_of_nesting(scheme: Scheme, direction: Any) -> None:
    for delta in (1e-6, 1e-12, 0.5):
        certified(scheme.epsilon(delta, direction=direction, seconds=2.0), scheme)
    certified(scheme.delta(0.1, direction=direction, seconds=2.0), scheme)


def random_losses(count: int) -> Scheme:
    generator = np.random.default_rng(3)
    losses, masses = generator.normal(0.0, 0.2, count), generator.exponential(size=count)
    masses /= masses.sum()
    shift = np.log(1.01 * np.sum(masses * np.exp(-losses)))  # so that E[e^-L] is 1/1.01
    return pl.PrivacyLoss(losses + shift, masses)


def test_a_privacy_loss_of_many_random_atoms() -> None:
    scheme = random_losses(10**5)
    for direction in (*DIRECTIONS, "both"):
        certified(scheme.epsilon(1e-6, direction=direction), scheme)
        certified(scheme.delta(0.3, direction=direction), scheme)
    many = scheme.repeat(10).subsample(0.1).allocate(5)
    certified(many.epsilon(1e-6, seconds=2.0), many)
    # The same curve from the losses themselves: sum of masses times (1 - e^(epsilon - loss)).
    data = scheme.pair(side="upper", direction="remove")
    assert float(np.sum(data.p)) + data.p_only == pytest.approx(1.0, abs=1e-6)


def test_delta_at_the_edge_of_the_losses() -> None:
    """delta is 0 beyond the largest loss, and the tolerance there is absolute."""
    for scheme, largest in (
        (pl.Laplace(1.0), 1.0),
        (pl.PureDP(0.5), 0.5),
        (pl.RandomizedResponse(0.75), np.log(3.0)),
    ):
        for allocated in (scheme, scheme.allocate(20)):
            beyond = allocated.delta(largest * 1.001, direction="remove", atol=1e-12, seconds=1.0)
            assert 0 <= beyond.lower <= beyond.upper <= 1e-9
    assert pl.PureDP(0.5).epsilon(0.0).upper == pytest.approx(0.5)
    assert pl.Gaussian(1.0).epsilon(0.0).lower == inf
    assert pl.Gaussian(1.0).epsilon(1.0).upper == 0.0


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_deltas_of_all_sizes_in_one_question(direction: Any) -> None:
    scheme = pl.Gaussian(1.0).allocate(1000)
    deltas = [0.9, 0.5, 1e-3, 1e-15, 1e-30, 1e-100]
    bracket = scheme.epsilon(deltas, direction=direction, seconds=2.0)
    low, high = np.asarray(bracket.lower), np.asarray(bracket.upper)
    assert not np.any(np.isnan(low) | np.isnan(high))
    assert np.all((low >= 0) & (low <= high))
    assert bracket.reason in REASONS
