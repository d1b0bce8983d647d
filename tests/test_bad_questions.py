"""Bad questions are one sentence naming the argument, its value and what is allowed; edges are answered."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from typing import Any, TypeAlias

import numpy as np
import pytest

import privloss as pl

SCHEME = pl.Gaussian(1.0).allocate(100)
DIRECTIONS: list[Any] = ["remove", "add", "both"]
OUTSIDE = [-1e-9, 1.5, 1 + 1e-9, nan, inf, -inf]
Error: TypeAlias = type[Exception] | tuple[type[Exception], ...]
NOT_NUMBERS: list[Any] = ["0.1", None, [0.1, "a"], {}, 1j, [[0.1], [0.1, 0.2]], True]


def refused(ask: Callable[[], object], name: str, error: Error) -> None:
    with pytest.raises(error) as caught:
        ask()
    text = str(caught.value)
    assert name in text
    assert "must" in text
    assert "\n" not in text
    assert len(text) < 300


@pytest.mark.parametrize("delta", [*OUTSIDE, [0.1, 1.5], np.array([nan, 0.5])])
def test_delta_outside_its_range(delta: Any) -> None:
    refused(lambda: SCHEME.epsilon(delta), "delta", ValueError)


@pytest.mark.parametrize("fpr", [*OUTSIDE, [0.1, -0.5]])
def test_false_positive_rate_outside_its_range(fpr: Any) -> None:
    refused(lambda: SCHEME.tradeoff(fpr), "fpr", ValueError)


@pytest.mark.parametrize("epsilon", [nan, [0.1, nan]])
def test_epsilon_that_is_no_number(epsilon: Any) -> None:
    refused(lambda: SCHEME.delta(epsilon), "epsilon", ValueError)


@pytest.mark.parametrize("value", NOT_NUMBERS)
def test_questions_of_the_wrong_type(value: Any) -> None:
    refused(lambda: SCHEME.epsilon(value), "delta", (TypeError, ValueError))
    refused(lambda: SCHEME.delta(value), "epsilon", (TypeError, ValueError))
    refused(lambda: SCHEME.tradeoff(value), "fpr", (TypeError, ValueError))


ASKS: list[tuple[str, Callable[..., Any]]] = [
    ("epsilon", lambda **given: SCHEME.epsilon(1e-6, **given)),
    ("delta", lambda **given: SCHEME.delta(1.0, **given)),
    ("tradeoff", lambda **given: SCHEME.tradeoff(0.1, **given)),
    ("advantage", SCHEME.advantage),
]
every_question = pytest.mark.parametrize("ask", [ask for _, ask in ASKS], ids=[name for name, _ in ASKS])


@every_question
@pytest.mark.parametrize("name", ["rtol", "atol"])
@pytest.mark.parametrize("value", [-1e-9, nan, inf])
def test_tolerances_out_of_range(ask: Callable[..., Any], name: str, value: float) -> None:
    refused(lambda: ask(**{name: value}), name, ValueError)


@every_question
@pytest.mark.parametrize("value", [0, -1.0, nan])
def test_time_limits_out_of_range(ask: Callable[..., Any], value: float) -> None:
    refused(lambda: ask(seconds=value), "seconds", ValueError)


def test_no_time_limit_is_none() -> None:
    with pytest.raises(ValueError, match="positive and finite, or None for no limit, got inf"):
        SCHEME.epsilon(1e-6, seconds=inf)


@every_question
@pytest.mark.parametrize("name", ["rtol", "atol", "seconds"])
@pytest.mark.parametrize("value", ["1", [1.0], {}, 1j])
def test_settings_of_the_wrong_type(ask: Callable[..., Any], name: str, value: Any) -> None:
    refused(lambda: ask(**{name: value}), name, (TypeError, ValueError))


@every_question
@pytest.mark.parametrize("value", ["sideways", "", None, 1, ["add"], "Remove"])
def test_directions_that_are_none(ask: Callable[..., Any], value: Any) -> None:
    refused(lambda: ask(direction=value), "direction", (TypeError, ValueError))


def test_sides_that_are_none() -> None:
    for side in ("middle", None, 0):
        refused(lambda side=side: SCHEME.pair(side=side), "side", (TypeError, ValueError))  # type: ignore[misc]


# ---------------------------------------------------------------- the edges, which are answered


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_delta_zero_and_one(direction: Any) -> None:
    assert SCHEME.epsilon(0.0, direction=direction).upper == inf
    one = SCHEME.epsilon(1.0, direction=direction)
    assert one.lower == one.upper == 0
    largest = pl.PureDP(0.75).epsilon(0, direction=direction)
    assert largest.lower <= 0.75 <= largest.upper
    assert largest.upper - largest.lower < 1e-9
    mixed = SCHEME.epsilon([0.0, 1e-6, 1.0], direction=direction)
    assert np.all(np.asarray(mixed.lower) <= np.asarray(mixed.upper))
    assert mixed.upper[2] == 0  # type: ignore[index]


def test_the_largest_loss_of_an_allocation() -> None:
    """add: the ratio falls to 0, so the loss has no bound; with bounded steps it is that of one step."""
    assert SCHEME.epsilon(0.0, direction="add").upper == inf
    for direction in DIRECTIONS[:2]:
        answer = pl.RandomizedResponse(0.75).allocate(7).epsilon(0.0, direction=direction)
        assert answer.lower <= np.log(3) * (1 + 1e-15)
        assert answer.upper >= np.log(3) * (1 - 1e-15)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("of", [pl.PureDP(0), pl.Outcomes([0.5, 0.5], [0.5, 0.5]), pl.PrivacyLoss([0.0], [1.0])])
def test_the_largest_loss_where_nothing_is_shown(of: pl.Scheme, direction: Any) -> None:
    """P = Q, so epsilon is 0 at delta = 0: rounding must not lift the lower end above it."""
    for scheme in (of, of.repeat(3), of.allocate(10).repeat(4).subsample(0.5), of.swap()):
        answer = scheme.epsilon(0.0, direction=direction)
        assert answer.lower == 0
        assert np.copysign(1.0, answer.lower) == 1
        assert 0 <= answer.upper < 1e-13


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_any_real_epsilon(direction: Any) -> None:
    bracket = SCHEME.delta([-inf, -800.0, -1.0, 0.0, 800.0, inf], direction=direction, atol=1e-9)
    low, high = np.asarray(bracket.lower), np.asarray(bracket.upper)
    assert np.all((low >= 0) & (low <= high) & (high <= 1))
    assert low[1] >= 1 - 1e-9
    assert high[4] <= 1e-9


def test_false_positive_rates_at_the_ends() -> None:
    bracket = SCHEME.tradeoff([0.0, 1.0], atol=1e-9)
    low, high = np.asarray(bracket.lower), np.asarray(bracket.upper)
    assert np.all((low >= 0) & (low <= high) & (high <= 1))
    assert low[0] >= 1 - 1e-6
    assert high[1] <= 1e-6


def test_arrays_keep_their_shape() -> None:
    deltas = np.array([[1e-3, 1e-6, 1e-9], [0.1, 0.01, 0.5]])
    for bracket in (SCHEME.epsilon(deltas), SCHEME.delta(deltas), SCHEME.tradeoff(deltas, atol=1e-6)):
        for part in (bracket.lower, bracket.upper, bracket.gap):
            assert np.shape(part) == (2, 3)
        with pytest.raises(TypeError):
            float(bracket)
    assert isinstance(float(SCHEME.epsilon(1e-6)), float)
    assert np.shape(SCHEME.delta([0.5]).lower) == (1,)
    assert np.shape(SCHEME.epsilon([]).lower) == (0,)


def test_the_safe_end() -> None:
    for bracket in (SCHEME.epsilon(1e-6), SCHEME.delta(0.1), SCHEME.advantage()):
        assert bracket.safe == "upper"
        assert float(bracket) == bracket.upper
    missed = SCHEME.tradeoff(0.1)
    assert missed.safe == "lower"
    assert float(missed) == missed.lower
