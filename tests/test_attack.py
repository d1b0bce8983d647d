"""What an attacker can do: closed forms, another library's values, and the proof that a Gaussian dominates."""

from __future__ import annotations

import json
from math import inf, sqrt
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from mpmath import mp

import privloss as pl
from privloss import Scheme
from privloss._attack import quantile
from schemes_list import schemes

VECTORS = Path(__file__).parent / "vectors" / "riskcal.json"
ROWS: list[dict[str, Any]] = json.loads(VECTORS.read_text(encoding="utf-8"))["rows"]
NORMAL = NormalDist()


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_agrees_with_riskcal(row: dict[str, Any]) -> None:
    """Its values come from losses rounded to 1e-4 a step; where directions differ it joins two curves."""
    error = 2e-4 if "repeat" in row["scheme"] else 5e-5
    scheme = pl.parse(row["scheme"])
    asked = getattr(scheme, row["question"])
    found = asked(row["at"], rtol=1e-4) if "at" in row else asked(rtol=1e-4)
    assert found.lower - error <= row["value"] <= found.upper + error


@pytest.mark.parametrize("fpr", [0.0, 1e-9, 0.01, 0.25, 0.9, 1.0])
def test_power_of_a_gaussian(fpr: float) -> None:
    found = pl.Gaussian(0.5).power(fpr)
    with mp.workdps(30):
        true = float(mp.ncdf(2 - mp.sqrt(2) * mp.erfinv(1 - 2 * mp.mpf(fpr)))) if 0 < fpr < 1 else fpr
    assert found.lower <= true * (1 + 1e-12)
    assert true * (1 - 1e-12) <= found.upper
    assert found.safe == "upper"


@pytest.mark.parametrize("prior", [0.0, 1e-12, 0.2, 0.25, 0.5, 0.7, 0.75, 1.0])
def test_bayes_risk_of_a_response(prior: float) -> None:
    """Either the answer is believed, or the prior alone."""
    found = pl.RandomizedResponse(0.75).bayes_risk(prior)
    true = min(prior, 1 - prior, 0.25)
    assert found.lower <= true <= found.upper
    assert found.gap <= 1e-12
    assert float(found) == found.lower


@pytest.mark.parametrize("prior", [0.03, 0.4, 0.8])
def test_the_roles_of_the_two_worlds(prior: float) -> None:
    """The same attack seen from the other world: the prior of the other, and the other direction."""
    scheme = pl.Gaussian(1.0).allocate(5)
    one = scheme.bayes_risk(prior, direction="remove")
    other = scheme.bayes_risk(1 - prior, direction="add")
    assert max(one.lower, other.lower) <= min(one.upper, other.upper)


@pytest.mark.parametrize("mu", [0.01, 0.7, 3.0])
def test_gdp_of_gaussians_under_everything(mu: float) -> None:
    step = pl.Gaussian(1 / mu)
    for scheme, true in (
        (step, mu),
        (step.repeat(9), 3 * mu),
        (step.subsample(0.01), mu),
        (step.allocate(50), mu),
        (step.allocate(50, picks=4).repeat(3), sqrt(12) * mu),
        (pl.compose(step, step.swap()), sqrt(2) * mu),
    ):
        found = scheme.gdp()
        assert found.lower <= true <= found.upper
        assert found.gap < 1e-9 * true
        assert found.safe == "upper"


@pytest.mark.slow
@pytest.mark.parametrize(("name", "scheme"), schemes(), ids=[name for name, _ in schemes()])
def test_the_gaussian_lies_below_the_trade_off(name: str, scheme: Scheme) -> None:
    found = scheme.gdp(seconds=1.0)
    assert found.lower <= found.upper
    if found.upper == inf:
        return
    fpr = np.concatenate((np.geomspace(1e-6, 0.5, 8), 1 - np.geomspace(1e-4, 0.4, 4)))
    curve = scheme.tradeoff(fpr, direction="remove", rtol=1e-2, seconds=0.5)
    below = np.array([NORMAL.cdf(-NORMAL.inv_cdf(x) - float(found.upper)) for x in fpr])
    assert np.all(below <= curve.upper + 1e-12)


@pytest.mark.parametrize("scheme", [
    pl.Laplace(1.0), pl.Laplace(0.7).repeat(5), pl.PureDP(1.0).allocate(4), pl.Outcomes([0.5, 0.5], [0.2, 0.8])
])  # fmt: skip
def test_a_smaller_gaussian_does_not_dominate(scheme: Scheme) -> None:
    found = scheme.gdp()
    assert found.gap <= 1e-3 * found.upper
    fpr = np.linspace(1e-3, 1 - 1e-3, 801)
    curve = scheme.tradeoff(fpr, direction="remove", rtol=1e-5)
    below = np.array([NORMAL.cdf(-NORMAL.inv_cdf(x) - 0.98 * float(found.lower)) for x in fpr])
    assert np.any(below > curve.upper)


def test_gdp_of_laplace() -> None:
    """Its trade-off has one place where it is nearest to a Gaussian's: fpr = fnr, on the corner of the two slopes."""
    with mp.workdps(20):
        half = mp.exp(-mp.mpf(1) / 2) / 2
        true = float(-2 * mp.sqrt(2) * mp.erfinv(2 * half - 1))
    found = pl.Laplace(1.0).gdp(rtol=1e-5)
    assert found.lower <= true * (1 + 1e-9)
    assert true * (1 - 1e-9) <= found.upper


def test_no_gaussian_dominates_atoms() -> None:
    for scheme in (pl.ApproximateDP(1.0, 1e-9), pl.ApproximateDP(0.5, 0.1).allocate(7).swap()):
        found = scheme.gdp()
        assert found.lower == found.upper == inf
        assert "no Gaussian" in found.reason


@pytest.mark.parametrize("tail", [1e-300, 1e-100, 1e-20, 1e-5, 0.1, 0.4999])
def test_quantiles(tail: float) -> None:
    with mp.workdps(60):
        found = quantile(tail, 1 - tail)
        assert abs(mp.erfc(mp.mpf(found) / mp.sqrt(2)) / 2 / mp.mpf(tail) - 1) < 1e-12 * (1 + found**2)
    assert quantile(1 - tail, tail) == -found


@pytest.mark.parametrize("wrong", [-0.1, 1.1, float("nan")])
def test_wrong_arguments(wrong: float) -> None:
    with pytest.raises(ValueError, match="prior must be between 0 and 1"):
        pl.Gaussian(1.0).bayes_risk(wrong)
    with pytest.raises(ValueError, match="fpr must be between 0 and 1"):
        pl.Gaussian(1.0).power(wrong)


def test_arrays_keep_their_shape() -> None:
    scheme = pl.Gaussian(1.0)
    for asked in (scheme.power, scheme.bayes_risk):
        found = asked([[0.1, 0.2], [0.3, 0.4]])
        assert np.shape(found.lower) == np.shape(found.upper) == (2, 2)
    ends = np.asarray(scheme.power([0.0, 1.0]).upper)
    assert ends[0] < 1e-12
    assert ends[1] == 1.0


@pytest.mark.parametrize("epsilon", [1e-7, 1e-9, 1e-12, 1e-14, 1e-16, 1e-100])
def test_the_smallest_gaussian_of_losses_near_rounding(epsilon: float) -> None:
    """mu = 2 z(1/(1 + e^eps)), about eps sqrt(2 pi)/2."""
    for scheme in (pl.PureDP(epsilon), pl.PureDP(epsilon).allocate(1).repeat(1)):
        found = scheme.gdp()
        assert found.lower <= epsilon * sqrt(np.pi / 2) <= found.upper


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), inf, True, "a"])
@pytest.mark.parametrize("scheme", [pl.Gaussian(1.0), pl.Laplace(1.0).allocate(3)])
def test_the_smallest_gaussian_refuses_a_wrong_time(scheme: Scheme, seconds: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="seconds must be"):
        scheme.gdp(seconds=seconds)


def least_mu(rate: float) -> float:
    """Of (mixture, N) against (N, mixture), on a grid of outputs: the most that z(fpr) + z(fnr) comes to."""
    y = np.linspace(-9.0, 10.0, 1200)
    q = np.array([NORMAL.pdf(v) for v in y])
    p = (1 - rate) * q + rate * np.array([NORMAL.pdf(v - 1) for v in y])
    q, p = q / q.sum(), p / p.sum()
    one, two = np.outer(p, q).ravel(), np.outer(q, p).ravel()
    order = np.argsort(-one / two)
    fpr, fnr = np.cumsum(two[order])[:-1:50], np.cumsum(one[order][::-1])[::-1][1::50]
    kept = (fpr > 1e-17) & (fnr > 1e-17) & (fpr < 1 - 1e-9) & (fnr < 1 - 1e-9)
    found = [-NORMAL.inv_cdf(a) - NORMAL.inv_cdf(b) for a, b in zip(fpr[kept], fnr[kept], strict=True)]
    return float(max(found))


@pytest.mark.parametrize("rate", [0.01, 0.3])
def test_tails_of_either_side_do_not_add(rate: float) -> None:
    """Seen from P one step is a mixture, seen from Q the other is: no tail has both."""
    step = pl.Gaussian(1.0).subsample(rate)
    found = (step + step.swap()).gdp()
    assert found.lower <= max(least_mu(rate), 1.0)
    assert found.upper >= least_mu(rate)
    assert (step + step).gdp().lower == pytest.approx(sqrt(2))
    assert (step.swap() + step.swap()).gdp().lower == pytest.approx(sqrt(2))
    assert step.swap().allocate(3).gdp().lower < 0.99
