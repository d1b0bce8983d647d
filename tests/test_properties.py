"""Properties of random schemes and random questions.

Every run checks the same examples; ``HYPOTHESIS_PROFILE=long pytest tests/test_properties.py`` looks for new ones.
Whatever is compared is answered apart, and both brackets claim the same truth: they must meet.
"""

from __future__ import annotations

import copy
import json
import math
import pickle
from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import privloss as pl
from privloss import Bracket, Scheme
from privloss._bracket import REASONS
from privloss._cli import main

pytestmark = pytest.mark.slow
SECONDS = 2.0  # what a question may take; an answer cut short is a bracket like any other
LOOSE: dict[str, Any] = {"rtol": 3e-2, "atol": 1e-6, "seconds": SECONDS}

noise = st.floats(0.3, 20.0)
directions = st.sampled_from(["remove", "add", "both"])
one_direction = st.sampled_from(["remove", "add"])
deltas = st.one_of(st.floats(1e-12, 0.5), st.floats(-100.0, -1.0).map(lambda power: 10.0**power))
epsilons = st.floats(-3.0, 12.0)


@st.composite
def masses(draw: st.DrawFn, size: int) -> list[float]:
    """``size`` numbers that sum to 1, some of them zero or tiny."""
    parts = draw(
        st.lists(
            st.one_of(st.just(0.0), st.floats(1e-3, 1.0), st.sampled_from([1e-30, 1e-9])), min_size=size, max_size=size
        )
    )
    total = math.fsum(parts)
    assume(total > 0)
    return [part / total for part in parts]


@st.composite
def outcomes(draw: st.DrawFn) -> Scheme:
    size = draw(st.integers(1, 5))
    return pl.Outcomes(draw(masses(size)), draw(masses(size)))


@st.composite
def privacy_losses(draw: st.DrawFn) -> Scheme:
    """Losses moved up until E[e^-loss] is 1."""
    size = draw(st.integers(1, 5))
    losses = np.array(draw(st.lists(st.floats(-4.0, 6.0), min_size=size, max_size=size)))
    weights = np.array(draw(masses(size)))
    excess = math.log(float(np.sum(weights * np.exp(-losses))))
    return pl.PrivacyLoss(losses + max(excess, 0.0) + 1e-9, weights)


@st.composite
def mixtures(draw: st.DrawFn) -> Scheme:
    size = draw(st.integers(1, 4))
    shifts = draw(st.lists(st.floats(0.0, 3.0), min_size=size, max_size=size))
    weights = draw(masses(size))
    assume(any(shift * weight > 0 for shift, weight in zip(shifts, weights, strict=True)))
    return pl.GaussianMixture(draw(noise), shifts, weights)


mechanisms: st.SearchStrategy[Scheme] = st.one_of(
    st.builds(pl.Gaussian, noise),
    st.builds(pl.Laplace, noise),
    st.builds(pl.DiscreteGaussian, noise, st.integers(1, 4)),
    st.builds(pl.DiscreteLaplace, noise, st.integers(1, 4)),
    st.builds(pl.RandomizedResponse, st.floats(0.51, 0.99)),
    st.builds(pl.PureDP, st.floats(0.0, 5.0)),
    st.builds(pl.ApproximateDP, st.floats(0.0, 3.0), st.floats(0.0, 0.1)),
    outcomes(),
    privacy_losses(),
    mixtures(),
)


def grown(inner: st.SearchStrategy[Scheme]) -> st.SearchStrategy[Scheme]:
    rate = st.one_of(st.floats(1e-4, 1.0), st.just(1.0))
    count = st.one_of(st.integers(1, 30), st.integers(1, 10**4))
    return st.one_of(
        st.builds(lambda s, r: s.subsample(r), inner, rate),
        st.builds(lambda s, n: s.allocate(n), inner, count),
        st.builds(lambda s, n, k: s.allocate(n, picks=min(k, n)), inner, count, st.integers(1, 6)),
        st.builds(lambda s, n: s.repeat(n), inner, st.integers(1, 200)),
        st.builds(lambda s: s.swap(), inner),
        st.builds(lambda a, b: a + b, inner, inner),
        st.builds(
            lambda a, b, m, n, w: pl.allocate([(a, m), (b, n)], weights=[w, 1 - w]),
            inner,
            inner,
            st.integers(1, 20),
            st.integers(1, 20),
            st.floats(0.01, 0.99),
        ),
    )


schemes: st.SearchStrategy[Scheme] = st.recursive(mechanisms, grown, max_leaves=4)


def meet(one: Bracket, other: Bracket) -> None:
    """Both contain one truth; epsilon and delta of equal things may differ by what a double cannot hold."""
    slack = 1e-15 * (1 + abs(float(one.upper)) if math.isfinite(float(one.upper)) else 1.0)
    assert one.lower <= other.upper + slack, f"{one!r} {other!r}"
    assert other.lower <= one.upper + slack, f"{one!r} {other!r}"


def sound(bracket: Bracket, most: float = inf) -> None:
    assert not math.isnan(float(bracket.lower)) and not math.isnan(float(bracket.upper))
    assert 0 <= bracket.lower <= bracket.upper <= most
    assert bracket.reason in REASONS


# ---------------------------------------------------------------- answers


@given(schemes, directions, deltas, epsilons)
def test_bounds_never_cross(scheme: Scheme, direction: Any, delta: float, epsilon: float) -> None:
    sound(scheme.epsilon(delta, direction=direction, **LOOSE))
    answer = scheme.delta(epsilon, direction=direction, **LOOSE)
    sound(answer, 1.0)
    assert answer.upper >= -math.expm1(epsilon)  # delta(epsilon) >= 1 - e^epsilon, for any pair
    sound(scheme.tradeoff(0.3, direction=direction, **LOOSE), 0.7 + 1e-15)
    sound(scheme.advantage(direction=direction, **LOOSE), 1.0)


@given(schemes, deltas)
def test_remove_is_add_of_the_swap(scheme: Scheme, delta: float) -> None:
    meet(
        scheme.epsilon(delta, direction="remove", **LOOSE), scheme.swap().epsilon(delta, direction="add", **LOOSE)
    )
    meet(scheme.epsilon(delta, direction="add", **LOOSE), scheme.swap().swap().epsilon(delta, direction="add", **LOOSE))


@given(schemes, one_direction, deltas)
def test_refining_meets(scheme: Scheme, direction: Any, delta: float) -> None:
    coarse = scheme.epsilon(delta, direction=direction, rtol=0.1, atol=1e-3, seconds=SECONDS)
    fine = scheme.epsilon(delta, direction=direction, rtol=3e-4, atol=1e-7, seconds=SECONDS)
    meet(coarse, fine)


@given(schemes, one_direction, deltas)
def test_epsilon_and_delta_are_inverse(scheme: Scheme, direction: Any, delta: float) -> None:
    answer = scheme.epsilon(delta, direction=direction, **LOOSE)
    if math.isfinite(answer.upper):
        assert scheme.delta(float(answer.upper), direction=direction, **LOOSE).lower <= delta
    if 0 < answer.lower < inf:
        assert scheme.delta(float(answer.lower), direction=direction, **LOOSE).upper >= delta * (1 - 1e-9)


@given(schemes, one_direction)
def test_curves_fall_and_are_convex(scheme: Scheme, direction: Any) -> None:
    k = np.linspace(0.25, 4.0, 16)
    answer = scheme.delta(np.log(k), direction=direction, **LOOSE)
    for curve in (np.asarray(answer.lower), np.asarray(answer.upper)):
        slack = 1e-9 * curve[0] + 1e-15
        assert np.all(np.diff(curve) <= slack)
        assert np.all(np.diff(curve, 2) >= -slack)


# ---------------------------------------------------------------- operations


@given(schemes, one_direction, deltas)
def test_one_step_and_rate_one_change_nothing(scheme: Scheme, direction: Any, delta: float) -> None:
    plain = scheme.epsilon(delta, direction=direction, **LOOSE)
    for same in (scheme.allocate(1), scheme.subsample(1.0), scheme.repeat(1), pl.compose(scheme)):
        meet(plain, same.epsilon(delta, direction=direction, **LOOSE))


@given(mechanisms, mechanisms, mechanisms, one_direction, deltas)
def test_composition_has_no_order(one: Scheme, two: Scheme, three: Scheme, direction: Any, delta: float) -> None:
    answers = [
        scheme.epsilon(delta, direction=direction, **LOOSE)
        for scheme in (pl.compose(one, two, three), pl.compose(three, one, two), one + (two + three))
    ]
    meet(answers[0], answers[1])
    meet(answers[0], answers[2])


@given(schemes, st.integers(2, 12), st.floats(1e-3, 1.0), one_direction, deltas)
def test_subsampling_passes_through_one_pick(
    scheme: Scheme, steps: int, rate: float, direction: Any, delta: float
) -> None:
    inside, outside = scheme.subsample(rate).allocate(steps), scheme.allocate(steps).subsample(rate)
    meet(
        inside.epsilon(delta, direction=direction, **LOOSE), outside.epsilon(delta, direction=direction, **LOOSE)
    )


@given(schemes, st.integers(2, 40), one_direction, deltas)
def test_amplification_never_harms(scheme: Scheme, steps: int, direction: Any, delta: float) -> None:
    """One of t steps shows less than one step for certain, and so does subsampling."""
    plain = scheme.epsilon(delta, direction=direction, **LOOSE)
    assert scheme.allocate(steps).epsilon(delta, direction=direction, **LOOSE).lower <= plain.upper
    assert scheme.subsample(1 / steps).epsilon(delta, direction=direction, **LOOSE).lower <= plain.upper
    assert scheme.repeat(2).epsilon(delta, direction=direction, **LOOSE).upper >= plain.lower


@given(
    st.sampled_from([pl.Gaussian, pl.Laplace]), noise, st.floats(1e-100, 1e100), st.integers(1, 50), deltas
)
def test_only_the_ratio_of_noise_to_sensitivity_counts(
    kind: Callable[..., Scheme], sigma: float, scale: float, steps: int, delta: float
) -> None:
    one, scaled = kind(sigma).allocate(steps), kind(sigma * scale, sensitivity=scale).allocate(steps)
    a, b = one.epsilon(delta, **LOOSE), scaled.epsilon(delta, **LOOSE)
    assert a.lower <= b.upper * (1 + 1e-12) + 1e-15
    assert b.lower <= a.upper * (1 + 1e-12) + 1e-15


@given(outcomes(), st.permutations(range(5)), st.integers(1, 20), directions, deltas)
def test_the_order_of_outcomes_does_not_count(
    scheme: Scheme, order: list[int], steps: int, direction: Any, delta: float
) -> None:
    p, q = scheme.p, scheme.q  # type: ignore[attr-defined]
    order = [i for i in order if i < len(p)]
    mixed = pl.Outcomes([p[i] for i in order], [q[i] for i in order])
    meet(
        scheme.allocate(steps).epsilon(delta, direction=direction, **LOOSE),
        mixed.allocate(steps).epsilon(delta, direction=direction, **LOOSE),
    )


# ---------------------------------------------------------------- data


@given(schemes)
def test_schemes_round_trip(scheme: Scheme) -> None:
    assert pl.parse(repr(scheme)) == scheme
    assert Scheme.from_json(scheme.to_json()) == scheme
    json.loads(scheme.to_json(), parse_constant=lambda name: pytest.fail(f"{name} is not strict JSON"))
    for same in (copy.copy(scheme), copy.deepcopy(scheme), pickle.loads(pickle.dumps(scheme))):
        assert same == scheme
        assert hash(same) == hash(scheme)


numbers = st.one_of(st.floats(), st.integers(), st.sampled_from([0.0, -0.0, 5e-324, 1.8e308, inf, -inf]))


@given(st.sampled_from([pl.Gaussian, pl.Laplace, pl.PureDP, pl.RandomizedResponse, pl.DiscreteGaussian]), numbers)
def test_any_number_makes_a_mechanism_or_one_sentence(kind: Callable[..., Scheme], value: float) -> None:
    refused(lambda: kind(value))


@given(numbers, numbers, directions)
@example(0.0, 1.0, "both")
def test_any_number_asks_or_gets_one_sentence(delta: float, epsilon: float, direction: Any) -> None:
    scheme = pl.Gaussian(1.0).allocate(10)
    answer = refused(lambda: scheme.epsilon(delta, direction=direction, **LOOSE))
    if answer is not None:
        sound(answer)
    answer = refused(lambda: scheme.delta(epsilon, direction=direction, **LOOSE))
    if answer is not None:
        sound(answer, 1.0)


def refused(make: Callable[[], Any]) -> Any:
    """What it makes; nothing if it was refused in one sentence."""
    try:
        return make()
    except (ValueError, TypeError) as error:
        assert type(error) in (ValueError, TypeError)
        assert str(error) and "\n" not in str(error)
        return None


WORDS = (
    "Gaussian|Laplace|(|)|1|0.5|.allocate|.subsample|.repeat|,|=|sigma|{sigma}|+|[|]|-|inf|nan|1e999|__class__|lambda"
    "|import os| |pl.|compose|'|\"|\\|#"
)
words = st.sampled_from(WORDS.split("|"))


@given(st.one_of(st.text(max_size=60), st.lists(words, max_size=14).map("".join)))
def test_no_text_breaks_the_command_line(text: str) -> None:
    """Exit status 0 or 2; on 2 nothing on the standard output and one line on the other. Nothing is evaluated."""
    import contextlib
    import io

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main(["epsilon", "--delta", "1e-6", "--seconds", "1", "--", text])
        except SystemExit as stop:  # argparse
            status = int(stop.code or 0)
    assert status in (0, 2)
    if status == 2:
        assert not out.getvalue()
        assert len(err.getvalue().strip().splitlines()) == 1
