"""Several methods in one sweep: each row is what that method answers by itself."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import privloss as pl
from privloss import baselines, paper
from privloss.sweep import Grid, _methods, _point, look, sweep

GRID: dict[str, Any] = {
    "question": "epsilon",
    "scheme": "Gaussian({sigma}).allocate({steps})",
    "delta": 1e-6,
    "parameters": {"sigma": [1.0, 2.0], "steps": 20},
    "method": ["engine", "dco25", "paper"],
}


def test_methods_side_by_side(tmp_path: Path) -> None:
    grid = {**GRID, "parameters": {**GRID["parameters"], "alpha": 0.05, "beta": 1e-9}}
    rows = sweep(grid, 1, tmp_path / "journal.sqlite", quiet=True)
    assert [(row["sigma"], row["method"]) for row in rows] == [(s, m) for s in (1.0, 2.0) for m in GRID["method"]]
    for row in rows:
        scheme = pl.Gaussian(row["sigma"]).allocate(20)
        alone = {
            "engine": scheme.epsilon(1e-6),
            "dco25": baselines.dco25.epsilon(scheme, 1e-6),
            "paper": paper.epsilon(scheme, 1e-6, alpha=0.05, beta=1e-9),
        }[row["method"]]
        assert (row["lower"], row["upper"]) == (alone.lower, alone.upper)
        assert row["error"] is None
    assert [{**row, "seconds": 0} for row in look(grid, tmp_path / "journal.sqlite")] == [
        {**row, "seconds": 0} for row in rows
    ]


def test_the_engine_is_stored_as_ever() -> None:
    """A grid that names the engine shares its answers with one that names nobody; another method's are its own."""
    without = {name: value for name, value in GRID.items() if name != "method"}
    keys = set()
    for source in (without, {**GRID, "method": "engine"}, {**GRID, "method": "dco25"}):
        grid = Grid(source)
        point = grid.point(0)
        keys.add(_point.key(grid.recipe, point, _point.likes(grid.recipe, point), "engine"))
    assert len(keys) == 2


def test_settings_are_the_methods() -> None:
    grid = Grid({**GRID, "parameters": {"sigma": 1.0, "steps": 10, "alpha": [0.1, 0.2]}, "method": ["dco25", "paper"]})
    settings = [dict(grid.point(place).settings) for place in range(len(grid))]
    assert settings == [{}, {"alpha": 0.1}, {}, {"alpha": 0.2}]


def test_a_run_begins_with_nothing(tmp_path: Path) -> None:
    grid = {**GRID, "method": "engine", "parameters": {"sigma": 1.0, "steps": 20, "run": [1, 2]}}
    one, two = sweep(grid, 1, tmp_path / "journal.sqlite", quiet=True)
    assert (one["lower"], one["upper"]) == (two["lower"], two["upper"])
    assert (one["run"], two["run"]) == (1, 2)


def test_runs_are_timed_by_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """What sleeps takes time, but not the processor's."""

    def asleep(*_: Any) -> pl.Bracket:
        time.sleep(0.3)
        return pl.Bracket(0.0, 1.0)

    monkeypatch.setattr(_methods, "answer", asleep)
    grid = Grid(GRID)
    point = grid.point(0)
    assert _point.ask(grid.recipe, point).seconds >= 0.3
    assert _point.ask(grid.recipe, replace(point, settings={"run": 1})).seconds < 0.15


def test_tolerances_by_point(tmp_path: Path) -> None:
    grid = {**GRID, "method": "engine", "parameters": {"sigma": 1.0, "steps": 20, "rtol": [1e-2, 1e-5], "atol": 0}}
    wide, narrow = sweep(grid, 1, tmp_path / "journal.sqlite", quiet=True)
    assert narrow["gap"] <= 1e-5 * narrow["upper"] < wide["gap"]


def test_the_noise_that_a_method_asks_for(tmp_path: Path) -> None:
    """Its bound on epsilon is met at the upper end, and missed at the lower one."""
    grid = {**GRID, "question": "sigma", "epsilon": 1.0, "parameters": {"steps": 20}, "method": ["dco25", "engine"]}
    theirs, ours = sweep(grid, 1, tmp_path / "journal.sqlite", quiet=True)
    met, missed = (baselines.dco25.epsilon(pl.Gaussian(theirs[end]).allocate(20), 1e-6) for end in ("upper", "lower"))
    assert met.upper <= 1.0 < missed.upper
    assert theirs["upper"] <= theirs["lower"] * 1.0011
    assert ours["upper"] < theirs["lower"]


def test_noise_that_is_never_enough(tmp_path: Path) -> None:
    """A method that bounds from below only says no noise is too little."""
    grid = {**GRID, "question": "sigma", "epsilon": 1.0, "parameters": {"steps": 20}, "method": "cghlkkmsz24"}
    (row,) = sweep(grid, 1, tmp_path / "journal.sqlite", quiet=True)
    assert "must be reachable by cghlkkmsz24" in row["error"]


def test_noise_for_an_advantage_is_the_engines(tmp_path: Path) -> None:
    grid = {**GRID, "question": "sigma", "advantage": 0.1, "parameters": {"steps": 20}, "method": ["dco25", "engine"]}
    del grid["delta"]
    theirs, ours = sweep(grid, 1, tmp_path / "journal.sqlite", quiet=True)
    assert "got an advantage" in theirs["error"]
    assert ours["error"] is None


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"method": "guess"}, "method must be one of engine, "),
        ({"method": []}, "method must be a name or a list of names"),
        ({"method": 3}, "method must be a name or a list of names"),
        ({"method": ["engine", "engine"]}, "method must name each once"),
        ({"method": ["engine", 3]}, "method must be one of engine, "),
        ({"question": "tradeoff", "fpr": 0.1, "method": "fs25"}, "method 'fs25' answers epsilon, delta, sigma"),
        ({"parameters": {"sigma": 1, "steps": 2, "alpha": 1}, "method": "fs25"}, "parameter 'alpha' is not used"),
        ({"parameters": {"sigma": 1, "steps": 2, "method": 1}}, "a parameter must not be called method"),
    ],
)
def test_bad_grids(changes: dict[str, Any], said: str) -> None:
    grid = {**GRID, **changes}
    if "fpr" in changes:
        del grid["delta"]
    with pytest.raises((ValueError, TypeError), match=said):
        Grid(grid)


def test_every_method_has_sources_to_hash() -> None:
    hashes = {name: _methods.source(name) for name in _methods.methods()}
    assert all(len(each) == 16 for each in hashes.values())
    assert hashes["fs25"] != hashes["paper"] != hashes["engine"]
