"""The bridges to riskcal and to PLD-accounting: what goes in comes out, and bounds what it should."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Literal

import numpy as np
import pytest

import privloss as pl
from privloss.bridges import dp_accounting, pld_accounting, riskcal

pytestmark = [pytest.mark.extras, pytest.mark.filterwarnings("ignore:numba:ImportWarning")]

RUN = pl.Gaussian(1.0).allocate(100).repeat(3)
RATES = np.array([0.001, 0.01, 0.1, 0.5])


@pytest.fixture
def analysis() -> Any:
    return import_module("riskcal.analysis")


@pytest.mark.parametrize("scheme", [RUN, pl.Gaussian(1.0).subsample(0.01).repeat(100), pl.Laplace(1.0)], ids=repr)
def test_their_trade_off_is_ours(analysis: Any, scheme: pl.Scheme) -> None:
    ours = scheme.tradeoff(RATES)
    for betas in (
        analysis.get_beta_from_pld(dp_accounting.to_pld(scheme, 1e-3), RATES),
        analysis.get_beta_from_plrvs(riskcal.to_plrvs(scheme, 1e-3), RATES),
    ):
        assert (betas <= np.asarray(ours.upper) + 1e-12).all()
        assert betas == pytest.approx(ours.lower, abs=1e-3)


def test_their_advantage_is_ours(analysis: Any) -> None:
    sides: tuple[Literal["upper"], Literal["lower"]] = ("upper", "lower")
    high, low = (analysis.get_advantage_from_pld(dp_accounting.to_pld(RUN, 1e-4, side=side)) for side in sides)
    ours = RUN.advantage()
    assert low <= ours.upper
    assert ours.lower <= high
    assert high - low <= 1e-3


def test_random_variables_come_back() -> None:
    back = riskcal.from_plrvs(riskcal.to_plrvs(RUN, 1e-3), 1e-3)
    assert back.delta(1.0, direction="remove").upper >= RUN.delta(1.0, direction="remove").lower
    assert back.delta(1.0, direction="remove").lower <= 1.01 * RUN.delta(1.0, direction="remove").upper
    with pytest.raises(TypeError, match="plrvs must be a PLRVs"):
        riskcal.from_plrvs(RUN, 1e-3)


def test_a_history_is_a_scheme() -> None:
    accountant = import_module("riskcal.accountants").CTDAccountant()
    for sigma in (1.0, 1.0, 2.0):
        accountant.step(noise_multiplier=sigma, sample_rate=0.1)
    scheme = riskcal.from_accountant(accountant)
    assert scheme == pl.Gaussian(1.0).subsample(0.1).repeat(2) + pl.Gaussian(2.0).subsample(0.1).repeat(1)
    assert scheme.epsilon(1e-5).lower <= accountant.get_epsilon(delta=1e-5, grid_step=1e-3)
    for wrong in (None, import_module("riskcal.accountants").CTDAccountant()):
        with pytest.raises(ValueError, match="history of at least one step"):
            riskcal.from_accountant(wrong)


@pytest.mark.slow
def test_their_calibration_calls_ours() -> None:
    core = import_module("riskcal.calibration")
    found = core.calibrate_parameter(
        riskcal.evaluator(lambda sigma: pl.Gaussian(sigma).allocate(100), rtol=1e-3),
        core.CalibrationTarget(kind="advantage", advantage=0.1),
        core.CalibrationConfig(increasing=False, param_min=0.5, param_max=2.0),
    )
    assert pl.Gaussian(found.parameter_value).allocate(100).advantage().lower <= 0.1
    noise = pl.calibrate(lambda sigma: pl.Gaussian(sigma).allocate(100), advantage=0.1)
    assert found.parameter_value == pytest.approx(float(noise), rel=0.02)


def test_an_evaluator_has_what_was_asked_for() -> None:
    got = riskcal.evaluator(pl.Gaussian, delta=1e-5, alpha=0.01)(1.0)
    assert got.epsilon == pytest.approx(4.3772, abs=1e-3)
    assert got.beta == pytest.approx(0.9077, abs=1e-3)
    assert got.advantage == pytest.approx(0.38292, abs=1e-4)
    assert riskcal.evaluator(pl.Gaussian)(1.0).epsilon is None
    with pytest.raises(TypeError, match="result must be a scheme"):
        riskcal.evaluator(lambda sigma: sigma)(1.0)  # type: ignore[arg-type, return-value]


# PLD-accounting.


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_a_realization_dominates_and_comes_back(direction: Literal["remove", "add"]) -> None:
    scheme = pl.Gaussian(1.0).subsample(0.1).repeat(3)
    there = pld_accounting.to_realization(scheme, 1e-3, direction=direction)
    assert type(there).__name__ == "PLDRealization"
    back = pld_accounting.from_realization(there)
    for epsilon in (0.0, 0.5, 2.0):
        ours, theirs = scheme.delta(epsilon, direction=direction), back.delta(epsilon, direction="remove")
        assert theirs.upper >= ours.lower
        assert theirs.lower <= 1.001 * ours.upper + 1e-12
    with pytest.raises(TypeError, match="realization must be a PLDRealization"):
        pld_accounting.from_realization(scheme)


def test_their_allocation_takes_ours() -> None:
    """Laplace steps that they allocate: above our lower bound, and read back."""
    there = import_module("PLD_accounting")
    step, laplace = 0.02, pl.Laplace(1.0)
    sides = [pld_accounting.to_realization(laplace, step, direction=way) for way in ("remove", "add")]
    pld = there.general_allocation_pld(
        num_steps=20,
        num_selected=1,
        num_epochs=1,
        remove_realization=sides[0],
        add_realization=sides[1],
        config=there.AllocationSchemeConfig(loss_discretization=step),
    )
    ours = laplace.allocate(20).epsilon(1e-4)
    assert ours.lower <= pld.get_epsilon_for_delta(1e-4) <= ours.upper + 2 * step
    back = dp_accounting.from_pld(pld).epsilon(1e-4, direction="remove")
    assert back.lower <= pld._pmf_remove.get_epsilon_for_delta(1e-4) <= back.upper
