"""The paper's figures: made end to end, every claim true to its data, and none that doctored data would not refute."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import privloss as pl
from privloss._cli import main
from privloss.reproduce import Claim, Data, Figure, Verdict, _page, _run, catalogue, figure
from privloss.reproduce._methods import (
    LESS,
    MORE,
    ORDERS,
    ZERO,
    _general,
    against_poisson,
    monte_carlo_mean,
    published_rdp,
)
from privloss.reproduce.figures import utility_comparison

KEPT = Path(__file__).resolve().parent.parent / "docs" / "reproduction"
PAPER = [
    "epsilon_vs_sigma_by_t",
    "delta_comparison_partial",
    "delta_comparison",
    "PREAMBLE",
    "runtime_experiment",
    "gap_vs_disc",
    "epsilon_vs_k",
    "param_scan_eps",
    "param_scan_gap",
    "epsilon_vs_sigma_by_k",
    "utility_comparison",
    "no-domination",
    "Gauss_Laplace_by_sigma",
    "Gauss_Laplace_by_t",
    "FFT_geom_comb",
    "double_DPSGD",
]
FURTHER = ["PREAMBLE_grid", "Gauss_Laplace_discrete", "triple_DPSGD", "kept_bin", "reduction"]
CLAIMS = [(each.name, claim) for each in catalogue() for claim in each.claims]


def test_every_figure_of_the_paper_is_there() -> None:
    assert [each.name for each in catalogue() if not each.further] == PAPER
    assert [each.name for each in catalogue() if each.further] == FURTHER


@pytest.mark.parametrize("each", catalogue(), ids=lambda each: each.name)
@pytest.mark.parametrize("quick", [True, False], ids=["quick", "full"])
def test_grids_are_sound(each: Figure, quick: bool) -> None:
    from privloss.sweep import Grid

    parts = each.parts(quick)
    for part in parts:
        grid = Grid(part.grid)
        grid.check(1)
        assert not set(part.tags) & set(grid.columns)
    assert each.seconds[0] <= each.seconds[1]


# The committed data, of which the page tells.


@pytest.mark.parametrize("name", PAPER + FURTHER)
def test_verdicts_are_those_of_the_data(name: str) -> None:
    """The page's verdicts are the claims' own, and what does not hold is known to, with a reason."""
    told = json.loads((KEPT / _run.VERDICTS).read_text(encoding="utf-8"))[name]
    data, chosen = Data.load(KEPT / f"{name}.csv"), figure(name)
    assert told["claims"] == [_run.said(claim, _run.judged(claim, data)) for claim in chosen.claims]
    assert all(claim["holds"] or claim["known"] for claim in told["claims"])
    assert not told["quick"]
    assert len(data) == told["points"]


def test_the_page_is_that_of_the_data() -> None:
    assert (KEPT.parent / "reproduction.md").read_text(encoding="utf-8") == _page.page(KEPT)


def test_the_pictures_are_light() -> None:
    files = list(KEPT.iterdir())
    assert {f"{name}.svg" for name in PAPER + FURTHER} <= {path.name for path in files}
    assert sum(path.stat().st_size for path in files) < 3_000_000


def scaled(column: str, factor: float, **which: Any) -> Callable[[Data], Data]:
    """Rows with these values have one end of their bracket moved."""

    def doctor(data: Data) -> Data:
        def changed(row: dict[str, Any]) -> dict[str, Any]:
            hit = row[column] is not None and all(row.get(name) == value for name, value in which.items())
            return {**row, column: row[column] * factor} if hit else row

        return Data(map(changed, data))

    return doctor


def both(factor: float, **which: Any) -> Callable[[Data], Data]:
    return lambda data: scaled("upper", factor, **which)(scaled("lower", factor, **which)(data))


def bent(data: Data) -> Data:
    """Every answer to another power, which changes orders of growth and brings far things near, or apart."""
    columns = ("lower", "upper", "gap", "mean")

    def power(row: dict[str, Any], name: str) -> Any:
        return row[name] ** 4 if name in columns and isinstance(row[name], float | int) else row[name]

    return Data({name: power(row, name) for name in row} for row in data)


def answered(reason: str) -> Callable[[Data], Data]:
    """Cells of the scan with another verdict."""
    return lambda data: Data({**row, "reason": reason, "lower": -2.0, "upper": -1.0} for row in data)


def flat(data: Data) -> Data:
    return Data({**row, "lower": 1.0, "upper": 1.0, "gap": 0.0, "mean": 1.0} for row in data)


def wide(data: Data) -> Data:
    return Data({**row, "lower": 0.5, "upper": 2.0, "gap": 1.5, "mean": 1e3} for row in data)


def swapped(data: Data) -> Data:
    """This package's answers are said to be the paper's, and the other way round."""
    other = {"engine": "paper", "paper": "engine"}
    return Data({**row, "method": other.get(row["method"], row["method"])} if "method" in row else row for row in data)


def uneven(data: Data) -> Data:
    """Every other row is ten times as large."""
    rows = [{**row} for row in data]
    for row in rows[::2]:
        row.update({name: 10 * row[name] for name in ("lower", "upper") if row[name] is not None})
    return Data(rows)


DOCTORS = [
    flat,
    wide,
    bent,
    uneven,
    swapped,
    answered(MORE),
    answered("time"),
    *(both(factor, **{kind: name}) for factor in (30.0, 1 / 30) for kind, name in (
        ("method", "engine"),
        ("method", "poisson"),
        ("method", "monte_carlo"),
        ("method", "printed"),
        ("scheme", "allocation"),
        ("scheme", "Poisson"),
        ("scheme", "kept"),
        ("scheme", "allocation, FS25"),
        ("scheme", "PREAMBLE"),
        ("scheme", "ratio"),
        ("question", "square error of trials"),
        ("method", "both_grids"),
    )),
]  # fmt: skip


@pytest.mark.parametrize(("name", "claim"), CLAIMS, ids=[f"{name}-{claim.says}"[:70] for name, claim in CLAIMS])
def test_no_claim_is_vacuous(name: str, claim: Claim) -> None:
    """Each says "not" of data from which what it speaks of was taken, and of some that was doctored."""
    data = Data.load(KEPT / f"{name}.csv")
    assert not _run.judged(claim, Data([])).holds
    said = [_run.judged(claim, doctor(data)) for doctor in DOCTORS]
    refuted = [verdict for verdict in said if not verdict.holds and "could not be checked" not in verdict.number]
    assert refuted, [verdict.number for verdict in said]


# Made end to end.


@pytest.mark.extras
def test_a_figure_end_to_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["reproduce", "no-domination", "--quick", "--jobs", "1"]
    command += ["--out", str(tmp_path / "out"), "--journal", str(tmp_path / "journal.sqlite")]
    assert main(command) == 0
    first = capsys.readouterr().out
    assert "holds: the profiles of allocation and Poisson cross" in first
    assert "1 figure into" in first
    data = Data.load(tmp_path / "out" / "no-domination.csv")
    (zero,) = data.where(scheme="Poisson", epsilon=0.0)
    exact = pl.Gaussian(1.0).subsample(0.1).repeat(10).delta(0.0, rtol=1e-5)
    assert zero["lower"] <= exact.upper
    assert exact.lower <= zero["upper"]
    assert (tmp_path / "out" / "no-domination.svg").read_text().startswith("<?xml")
    assert (tmp_path / "out" / "no-domination.png").read_bytes().startswith(b"\x89PNG")
    told = json.loads((tmp_path / "out" / "verdicts.json").read_text())
    assert told["no-domination"]["claims"][0]["holds"] is True


@pytest.mark.extras
def test_nothing_finished_is_computed_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings: dict[str, Any] = {"quick": True, "jobs": 1, "quiet": True, "journal": tmp_path / "journal.sqlite"}
    first = _run.run("no-domination", tmp_path / "one", **settings)
    monkeypatch.setattr("privloss.sweep._methods.answer", None)
    again = _run.run("no-domination", tmp_path / "two", **settings)
    assert first.data.rows == again.data.rows


@pytest.mark.extras
def test_a_claim_that_fails_is_a_failed_verification(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = figure("no-domination")
    for known, status in (("", 1), ("we know why", 0)):
        wrong = Claim("the moon is near", lambda _: Verdict(False, "it is not"), known=known)
        monkeypatch.setitem(_run._found(), "no-domination", replace(chosen, claims=(wrong,)))
        command = ["reproduce", "no-domination", "--quick", "--jobs", "1", "--out", str(tmp_path)]
        assert main([*command, "--journal", str(tmp_path / "journal.sqlite")]) == status
        assert "does not hold: the moon is near" in capsys.readouterr().out
        assert main([*command, "--journal", str(tmp_path / "journal.sqlite"), "--quiet"]) == status
        assert capsys.readouterr().out == "no-domination 0 of 1 claims hold\n"


def test_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce"]) == 0
    said = capsys.readouterr().out
    assert all(name in said for name in PAPER + FURTHER)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nothing"], "NAME must be one of epsilon_vs_sigma_by_t, "),
        (["no-domination", "--jobs", "0"], "jobs"),
        (["no-domination", "--out", ""], "out"),
    ],
)
def test_bad_input(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", *words]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.extras
@pytest.mark.long
def test_all_of_it_quickly(tmp_path: Path) -> None:
    journal = ["--journal", str(tmp_path / "journal.sqlite")]
    assert main(["reproduce", "all", "--quick", "--quiet", "--out", str(tmp_path), *journal]) == 0
    told = json.loads((tmp_path / "verdicts.json").read_text())
    assert list(told) == PAPER + FURTHER


# The methods that only figures ask.


def test_published_rdp_is_above_the_exact_curve() -> None:
    scheme = pl.Gaussian(2.0).allocate(32, picks=4).subsample(0.05).repeat(20)
    given: dict[str, Any] = {"delta": 1e-6, "direction": "both"}
    published = published_rdp("epsilon", scheme, given)
    assert published.upper >= scheme.epsilon(1e-6).upper


def test_the_general_bound_is_its_formula() -> None:
    """Zhu and Wang's, summed in a few lines of high precision."""
    mpmath = pytest.importorskip("mpmath")
    base = ORDERS / (2 * 1.5**2)  # of a Gaussian
    for order, rate in ((2, 0.3), (7, 0.01), (50, 0.2)):
        with mpmath.workdps(40):
            q = mpmath.mpf(rate)
            total = (1 - q) ** (order - 1) * (order * q - q + 1)
            for j in range(2, order + 1):
                grown = mpmath.exp((j - 1) * mpmath.mpf(float(base[j - 2])))
                factor = 1 if j == 2 else 3
                total += factor * mpmath.binomial(order, j) * (1 - q) ** (order - j) * q**j * grown
            expected = float(mpmath.log(total) / (order - 1))
        assert math.isclose(_general(base, rate, order), expected, rel_tol=1e-9)


@pytest.mark.parametrize(
    ("scheme", "delta", "reason"),
    [
        (pl.Gaussian(1.0).allocate(100), 1e-6, LESS),
        (pl.Laplace(0.5).allocate(100), 1e-6, MORE),
        (pl.Gaussian(4.0).allocate(1000), 0.5, ZERO),
    ],
)
def test_against_poisson(scheme: pl.Scheme, delta: float, reason: str) -> None:
    found = against_poisson("epsilon", scheme, {"delta": delta, "seconds": None})
    assert found.reason == reason
    ours, theirs = scheme.epsilon(delta), scheme.poisson().epsilon(delta)
    assert theirs.lower - ours.upper <= found.upper
    assert found.lower <= theirs.upper - ours.lower


def test_errors_of_means_are_those_of_people_who_take_part() -> None:
    """Everyone drawn by themselves, as often as they take part, instead of all at once."""
    generator, size, sigma, trials = np.random.default_rng(7), 60, 0.5, 20_000
    t, p = utility_comparison.STEPS, utility_comparison.P
    people = generator.random((trials, size)) < p
    for scheme, times in (("allocation", 1), ("Poisson", generator.binomial(t, 1 / t, (trials, size)))):
        noise = generator.normal(0.0, math.sqrt(t) * sigma, trials)
        squares = (((people * times).sum(axis=1) + noise) / size - p) ** 2
        off = 5 * float(squares.std()) / math.sqrt(trials)
        assert abs(float(squares.mean()) - utility_comparison.error(scheme, size, sigma)) < off
        assert abs(utility_comparison.trials(scheme, size, sigma)[0] - float(squares.mean())) < 2 * off


def test_the_monte_carlo_mean_is_near_delta() -> None:
    """Within three standard errors, of each of four seeds."""
    scheme = pl.Gaussian(1.0).allocate(10)
    asked: dict[str, Any] = {"epsilon": 1.0, "direction": "remove", "samples": 20_000}
    exact = scheme.delta(1.0, direction="remove")
    found = [monte_carlo_mean("delta", scheme, {**asked, "seed": seed}) for seed in range(4)]
    assert all(each.lower <= exact.upper and exact.lower <= each.upper for each in found)
    assert all(each.upper - each.lower < 0.5 * exact.upper for each in found)
