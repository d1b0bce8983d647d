"""Bad input is one sentence that names the argument, its value and what is allowed."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from math import inf, nan
from typing import Any

import numpy as np
import pytest

import privloss as pl
from privloss._check import show
from schemes import STEP

NOT_POSITIVE: list[Any] = [
    0,
    0.0,
    -1,
    -1e-300,
    nan,
    inf,
    -inf,
    10**400,
    10**5000,
    np.float64(nan),
    np.array(nan),
]
NOT_NUMBERS: list[Any] = [
    "1",
    "",
    b"1",
    None,
    True,
    np.True_,
    1j,
    [1.0],
    (),
    {},
    STEP,
    np.array([1.0]),
    Decimal(1),
    object(),
]

BUILDERS: dict[str, Callable[[Any], object]] = {
    "sigma": pl.Gaussian,
    "sensitivity": lambda value: pl.Gaussian(1.0, value),
    "scale": pl.Laplace,
    "Laplace sensitivity": lambda value: pl.Laplace(1.0, value),
    "DiscreteGaussian sigma": pl.DiscreteGaussian,
    "DiscreteGaussian sensitivity": lambda value: pl.DiscreteGaussian(1.0, value),
    "DiscreteLaplace scale": pl.DiscreteLaplace,
    "DiscreteLaplace sensitivity": lambda value: pl.DiscreteLaplace(1.0, value),
    "GaussianMixture sigma": lambda value: pl.GaussianMixture(value, [1.0], [1.0]),
    "rate": STEP.subsample,
    "steps": STEP.allocate,
    "picks": lambda value: STEP.allocate(10, value),
    "rounds": STEP.repeat,
    "parts[0][1]": lambda value: pl.allocate([(STEP, value)]),
    "probability": pl.RandomizedResponse,
    "values": lambda value: pl.RandomizedResponse(0.9, value),
}


@pytest.mark.parametrize("name", BUILDERS)
@pytest.mark.parametrize("value", NOT_POSITIVE, ids=lambda v: show(v, 20))
def test_numbers_must_be_positive(name: str, value: Any) -> None:
    with pytest.raises(
        ValueError, match=f"^{name.rsplit(maxsplit=1)[-1].replace('[', '.')[:5]}.*got "
    ) as caught:
        BUILDERS[name](value)
    assert_one_sentence(caught.value)


@pytest.mark.parametrize("name", BUILDERS)
@pytest.mark.parametrize("value", NOT_NUMBERS, ids=lambda v: repr(v)[:20])
def test_numbers_must_be_numbers(name: str, value: Any) -> None:
    with pytest.raises(
        TypeError, match=f"^{name.rsplit(maxsplit=1)[-1].replace('[', '.')[:5]}.*number, got "
    ) as caught:
        BUILDERS[name](value)
    assert_one_sentence(caught.value)


@pytest.mark.parametrize(
    "name", ["steps", "picks", "rounds", "values", "parts[0][1]", "DiscreteGaussian sensitivity"]
)
@pytest.mark.parametrize("value", [2.5, 0.999, 2**53 + 1, 1e300, 1e-300])
def test_counts_must_be_whole(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=r"whole number from [12] to 2\*\*53, got ") as caught:
        BUILDERS[name](value)
    assert_one_sentence(caught.value)


def rejected(message: str, build: Callable[[], object]) -> Any:
    return pytest.param(message, build, id=message)


@pytest.mark.parametrize(
    ("message", "build"),
    [
        rejected("rate must be above 0 and at most 1, got 1.01", lambda: STEP.subsample(1.01)),
        rejected(
            "picks must be at most steps, got picks=11 and steps=10", lambda: STEP.allocate(10, picks=11)
        ),
        rejected("probability must be above 1/2 and below 1, got 0.5", lambda: pl.RandomizedResponse(0.5)),
        rejected("probability must be above 1/4 and below 1, got 0.2", lambda: pl.RandomizedResponse(0.2, 4)),
        rejected("probability must be above 1/2 and below 1, got 1", lambda: pl.RandomizedResponse(1)),
        rejected("values must be a whole number from 2", lambda: pl.RandomizedResponse(0.9, 1)),
        rejected("epsilon must be at least 0 and finite, got -1e-09", lambda: pl.PureDP(-1e-9)),
        rejected("epsilon must be at least 0 and finite, got inf", lambda: pl.PureDP(inf)),
        rejected("epsilon must be a number, got nan", lambda: pl.ApproximateDP(nan, 0.1)),
        rejected("delta must be between 0 and 1, got -1e-09", lambda: pl.ApproximateDP(1.0, -1e-9)),
        rejected("delta must be between 0 and 1, got 1.5", lambda: pl.ApproximateDP(1.0, 1.5)),
        rejected("masses must be a non-empty", lambda: pl.PrivacyLoss([0.0], [])),
        rejected("losses must be a non-empty", lambda: pl.PrivacyLoss([], [])),
        rejected(
            "losses must be numbers, got nan at index 1",
            lambda: pl.PrivacyLoss(np.array([0, nan]), [0.5, 0.5]),
        ),
        rejected("losses[1] must be a number, got nan", lambda: pl.PrivacyLoss([0, nan], [0.5, 0.5])),
        rejected("losses must be above -inf, got -inf", lambda: pl.PrivacyLoss([0.0, -inf], [0.5, 0.5])),
        rejected("losses must be above -inf, got -inf", lambda: pl.PrivacyLoss([0.0, -inf], [1.0, 0.0])),
        rejected("losses must have E[e^(-loss)] at most 1", lambda: pl.PrivacyLoss([-0.1], [1.0])),
        rejected("losses must have E[e^(-loss)] at most 1", lambda: pl.PrivacyLoss([-1e5, 0.0], [0.5, 0.5])),
        rejected(
            "losses and masses must have the same length, got 1 and 2",
            lambda: pl.PrivacyLoss([0.0], [0.5, 0.5]),
        ),
        rejected(
            "masses must sum to 1 within 1e-09, got 0.9999999", lambda: pl.PrivacyLoss([0.0], [0.9999999])
        ),
        rejected("p must be a non-empty", lambda: pl.Outcomes([], [])),
        rejected(
            "p must be at least 0 and finite, got -0.5 at index 1",
            lambda: pl.Outcomes([1.5, -0.5], [0.5, 0.5]),
        ),
        rejected("q must be at least 0 and finite, got inf at index 0", lambda: pl.Outcomes([1.0], [inf])),
        rejected("p must sum to 1 within 1e-09, got 1.1", lambda: pl.Outcomes([1.1], [1.0])),
        rejected("q must sum to 1 within 1e-09, got 0.5", lambda: pl.Outcomes([0.5, 0.5], [0.5, 0.0])),
        rejected("p must sum to 1 within 1e-09, got inf", lambda: pl.Outcomes([1e308] * 3, [1.0, 0.0, 0.0])),
        rejected("p and q must have the same length, got 1 and 2", lambda: pl.Outcomes([1.0], [0.5, 0.5])),
        rejected("p must be a non-empty flat", lambda: pl.Outcomes(np.ones((1, 1)), [1.0])),
        rejected(
            "sensitivities must be at least 0", lambda: pl.GaussianMixture(1.0, [1.0, -1.0], [0.5, 0.5])
        ),
        rejected("sensitivities must be at least 0", lambda: pl.GaussianMixture(1.0, [inf], [1.0])),
        rejected(
            "sensitivities must have one above 0", lambda: pl.GaussianMixture(1.0, [0.0, 1.0], [1.0, 0.0])
        ),
        rejected("sensitivities and weights", lambda: pl.GaussianMixture(1.0, [0.0, 1.0], [1.0])),
        rejected("weights must sum to 1", lambda: pl.GaussianMixture(1.0, [1.0], [0.5])),
        rejected("parts must have at least one", lambda: pl.allocate([])),
        rejected("parts must have at least one", pl.compose),
        rejected(
            "weights must sum to 1 within 1e-09, got 0.9", lambda: pl.allocate([(STEP, 2)], weights=[0.9])
        ),
        rejected(
            "weights must be at least 0", lambda: pl.allocate([(STEP, 2), (STEP, 2)], weights=[1.5, -0.5])
        ),
        rejected(
            "parts and weights must have the same length",
            lambda: pl.allocate([(STEP, 2)], weights=[0.5, 0.5]),
        ),
    ],
)
def test_wrong_values(message: str, build: Callable[[], object]) -> None:
    with pytest.raises(ValueError) as caught:
        build()
    assert str(caught.value).startswith(message)
    assert_one_sentence(caught.value)


@pytest.mark.parametrize(
    ("message", "build"),
    [
        rejected("p must be a sequence of numbers, got 1.0", lambda: pl.Outcomes(1.0, 1.0)),  # type: ignore[arg-type]
        rejected("p must be a sequence of numbers, got '1'", lambda: pl.Outcomes("1", [1.0])),  # type: ignore[arg-type]
        rejected("p must be a sequence of numbers, got {", lambda: pl.Outcomes({1.0: 1}, [1.0])),  # type: ignore[arg-type]
        rejected(
            "p must be a sequence of numbers, got an array", lambda: pl.Outcomes(np.array(["1"]), [1.0])
        ),
        rejected("p[0] must be a number, got '1'", lambda: pl.Outcomes(["1"], [1.0])),  # type: ignore[list-item]
        rejected("p[1] must be a number, got True", lambda: pl.Outcomes([0.0, True], [1.0, 0.0])),
        rejected("p[0] must be a number, got [1.0]", lambda: pl.Outcomes([[1.0]], [1.0])),  # type: ignore[list-item]
        rejected("parts must be a list of (scheme, steps)", lambda: pl.allocate(STEP)),  # type: ignore[arg-type]
        rejected("parts[0] must be (scheme, steps)", lambda: pl.allocate([STEP])),  # type: ignore[list-item]
        rejected("parts[0][0] must be a scheme", lambda: pl.allocate([(1.0, 2)])),  # type: ignore[list-item]
        rejected("weights must be a sequence", lambda: pl.allocate([(STEP, 2)], weights=1.0)),  # type: ignore[arg-type]
        rejected("parts[1] must be a scheme", lambda: pl.compose(STEP, 1.0)),  # type: ignore[arg-type]
    ],
)
def test_wrong_types(message: str, build: Callable[[], object]) -> None:
    with pytest.raises(TypeError) as caught:
        build()
    assert str(caught.value).startswith(message)
    assert_one_sentence(caught.value)


def test_given_masses_may_miss_one_by_a_little() -> None:
    for miss in (-9e-10, -1e-12, 1e-16, 1e-12, 9e-10):
        assert pl.Outcomes([0.5, 0.5 + miss], [0.5, 0.5 - miss]).p == (0.5, 0.5 + miss)
        assert pl.PrivacyLoss([0.0], [1 + miss]).masses == (1 + miss,)
    assert pl.PrivacyLoss([-9e-10], [1.0]).losses == (-9e-10,)


def assert_one_sentence(error: Exception) -> None:
    text = str(error)
    assert "\n" not in text and len(text) < 250 and (text.endswith("...") or not text.endswith("."))
