"""Sweeps: the grid as data, the rows, the journal, the outputs, the pictures; against closed forms where there are any.

What happens to sweeps that are killed, and to clusters, is in test_sweep_survival.py.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import privloss as pl
from privloss import _cli
from privloss._bracket import TIME
from privloss.sweep import (
    Grid,
    Journal,
    _dask,
    _journal,
    _point,
    _run,
    _show,
    _table,
    _workers,
    home,
    look,
    save,
    sweep,
)

ROOT = Path(__file__).resolve().parent.parent
ADJACENCY = "; add/remove (one person present or absent), direction both"
RESPONSE: dict[str, Any] = {
    "question": "epsilon",
    "scheme": "RandomizedResponse({p}).repeat({rounds})",
    "delta": 0,
    "parameters": {"p": [0.6, 0.75, 0.9], "rounds": [1, 2]},
}


def response(**changes: Any) -> dict[str, Any]:
    return {**RESPONSE, **changes}


def largest(p: float, rounds: int) -> float:
    """The largest loss of so many responses: epsilon at delta 0."""
    return rounds * math.log(p / (1 - p))


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[_point.Point]:
    """The points that were computed in this process."""
    seen: list[_point.Point] = []
    real = _point.ask

    def ask(recipe: _point.Recipe, point: _point.Point) -> _point.Outcome:
        seen.append(point)
        return real(recipe, point)

    monkeypatch.setattr(_workers, "ask", ask)
    return seen


# Rows.


def test_rows_are_the_answers_in_the_order_of_the_grid(journal: Path) -> None:
    rows = sweep(response(), 1, journal)
    assert [(row["p"], row["rounds"]) for row in rows] == [(p, r) for p in (0.6, 0.75, 0.9) for r in (1, 2)]
    for row in rows:
        assert row["lower"] <= largest(row["p"], row["rounds"]) * (1 + 1e-12)
        assert row["upper"] >= largest(row["p"], row["rounds"]) * (1 - 1e-12)
        assert row["gap"] == row["upper"] - row["lower"] < 1e-6
        assert (row["reason"], row["exact"], row["error"], row["delta"]) == ("tolerance met", True, None, 0.0)
    assert list(rows[0]) == ["p", "rounds", "delta", *_run.row({}, _point.Outcome())]


def test_processes_say_the_same_as_this_process(journal: Path, tmp_path: Path) -> None:
    grid = response(scheme="Gaussian({p}).allocate({rounds})", delta=1e-5, seconds=None)
    here, there = sweep(grid, 1, journal), sweep(grid, 2, tmp_path / "other.sqlite")
    assert [timeless(row) for row in here] == [timeless(row) for row in there]


def timeless(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "seconds"}


def test_the_room_can_be_called(journal: Path) -> None:
    assert "sweep" in dir(pl)
    assert len(pl.sweep(response(), 1, journal)) == 6
    code = "import privloss as pl, privloss.sweep as s; print(callable(pl.sweep), pl.sweep is s, s.Grid.__name__)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["True", "True", "Grid"]


def test_named_schemes_stand_side_by_side(journal: Path) -> None:
    schemes = {"one": "RandomizedResponse({p})", "two": "RandomizedResponse({p}).repeat({rounds})"}
    rows = sweep(response(scheme=schemes), 1, journal)
    assert [row["scheme"] for row in rows] == ["one", "two"] * 6
    for row in rows:
        rounds = 1 if row["scheme"] == "one" else row["rounds"]
        assert row["upper"] == pytest.approx(largest(row["p"], rounds), rel=1e-9)


@pytest.mark.parametrize(
    ("question", "given", "value"),
    [
        ("delta", {"epsilon": 0.0}, 0.5),
        ("advantage", {}, 0.5),
        ("tradeoff", {"fpr": 0.25}, 0.25),
        ("epsilon", {"delta": 0}, math.log(3)),
    ],
)
def test_every_question(journal: Path, question: str, given: dict[str, float], value: float) -> None:
    (row,) = sweep({"question": question, "scheme": pl.RandomizedResponse(0.75), **given}, 1, journal)
    assert row["lower"] - 1e-9 <= value <= row["upper"] + 1e-9
    assert row["gap"] <= 1e-3


def test_noise_that_meets_a_target(journal: Path) -> None:
    grid = {
        "question": "sigma",
        "scheme": "Gaussian({sigma}).repeat({rounds})",
        "advantage": [0.1, 0.2],
        "parameters": {"rounds": [1, 4]},
        "seconds": "none",
    }
    for row in sweep(grid, 1, journal):
        for end, meets in (("upper", True), ("lower", False)):
            met = math.erf(math.sqrt(row["rounds"]) / row[end] / math.sqrt(8)) <= row["advantage"]  # 2 Phi(mu/2) - 1
            assert met is meets


def test_values_are_values_not_text(journal: Path) -> None:
    grid = response(
        scheme="GaussianMixture(1.0, {where}, [0.5, 0.5])", parameters={"where": [[0.0, 1.0], [0, 2]]}, delta=1e-3
    )
    rows = sweep(grid, 1, journal)
    assert [row["where"] for row in rows] == [(0.0, 1.0), (0, 2)]
    assert 0 < rows[0]["upper"] < rows[1]["lower"]


def test_points_that_cannot_be_answered_say_why(journal: Path, asked: list[_point.Point]) -> None:
    grid = response(parameters={"p": [0.75, 1.5], "rounds": [1, 2**60, 2]})
    rows = sweep(grid, 1, journal)
    errors = [row["error"] for row in rows]
    assert errors[0] is errors[2] is None
    assert "rounds must be a whole number" in errors[1]
    assert all("probability must be" in error and "1.5" in error for error in errors[3:])
    assert all(row["lower"] is row["reason"] is None for row in rows if row["error"])
    assert len(asked) == 2
    assert sweep(grid, 1, journal) == rows
    assert len(asked) == 2


def test_a_target_that_cannot_be_met_is_an_error_of_its_point(journal: Path) -> None:
    grid = {"question": "sigma", "scheme": "PureDP({e}) + Gaussian({sigma})", "epsilon": 1, "delta": 1e-6}
    rows = sweep({**grid, "parameters": {"e": [0.5, 2.0]}, "seconds": "none"}, 1, journal)
    assert rows[0]["error"] is None
    assert "must be reachable" in rows[1]["error"]


# Grids.


def test_spans() -> None:
    grid = Grid(
        response(
            parameters={
                "p": {"from": 0.6, "to": 0.9, "points": 4},
                "rounds": {"from": 1, "to": 1000, "points": 7, "scale": "log", "whole": True},
            }
        )
    )
    ps, rounds = ({grid.values(i)[name] for i in range(len(grid))} for name in ("p", "rounds"))
    assert sorted(ps) == pytest.approx([0.6, 0.7, 0.8, 0.9])
    assert {0.6, 0.9} < ps
    assert sorted(rounds) == [1, 3, 10, 32, 100, 316, 1000]


def test_whole_spans_have_each_number_once() -> None:
    grid = Grid(response(parameters={"p": 0.6, "rounds": {"from": 1, "to": 3, "points": 50, "whole": True}}))
    assert [grid.values(i)["rounds"] for i in range(len(grid))] == [1, 2, 3]


def test_a_list_of_points_and_numpy_arrays() -> None:
    grid = Grid(response(parameters={}, points=[{"p": 0.6, "rounds": 1}, {"rounds": 3, "p": 0.7}]))
    assert [grid.values(i) for i in range(2)] == [
        {"p": 0.6, "rounds": 1, "delta": 0.0},
        {"p": 0.7, "rounds": 3, "delta": 0.0},
    ]
    with_delta = {name: value for name, value in response(parameters={}).items() if name != "delta"}
    grid = Grid({**with_delta, "points": [{"p": 0.6, "rounds": 1, "delta": 0.5}]})
    assert grid.point(0).given == {"delta": 0.5}
    arrays = Grid(response(parameters={"p": np.linspace(0.6, 0.9, 4), "rounds": np.array([1, 2])}))
    assert len(arrays) == 8
    assert json.loads(arrays.to_json())["parameters"]["rounds"] == [1, 2]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"question": "epsilom"}, r"question must be one of .*'epsilon'.*got 'epsilom'"),
        ({"scheme": "RandomizedResponse({q}).repeat({rounds})"}, r"hole \{q\} has no values: give q under"),
        ({"parameters": {"p": 0.6, "rounds": 1, "steps": [1]}}, r"parameter 'steps' is not used: no scheme has"),
        ({"parameters": {"p": [], "rounds": 1}}, r"parameters\.p must have one value at least, got an empty list"),
        ({"parameters": {"p": {"from": 1, "to": 2}, "rounds": 1}}, r"parameters\.p must have 'points'"),
        ({"parameters": {"p": {"from": 1, "to": 2, "points": 0}, "rounds": 1}}, r"p\.points must be a whole"),
        ({"parameters": {"p": {"from": 0, "to": 2, "points": 3, "scale": "log"}, "rounds": 1}}, r"must be positive"),
        ({"parameters": {"p": {"from": 0, "to": 2, "points": 3, "scale": "lin"}, "rounds": 1}}, r"scale must be"),
        ({"parameters": {"p": {"from": 0, "to": 2, "points": 3, "step": 1}, "rounds": 1}}, r"must not have 'step'"),
        ({"parameters": {"p": {"from": 0, "to": math.inf, "points": 3}, "rounds": 1}}, r"p\.to must be finite"),
        ({"parameters": {"p": "0.6", "rounds": 1}}, r"parameters\.p must be a number, a list"),
        ({"parameters": {"p": ["0.6"], "rounds": 1}}, r"p must be a number, got '0.6'"),
        ({"parameters": {"p": [True], "rounds": 1}}, r"p must be a number, got True"),
        ({"parameters": {"p": [math.nan], "rounds": 1}}, r"p must be a number, got nan"),
        ({"parameters": {"p": np.ones((2, 2)), "rounds": 1}}, r"must be a flat list, got shape \(2, 2\)"),
        ({"parameters": [1, 2]}, r"parameters must be a table"),
        ({"parameters": {"lower": 1}}, r"must not be called lower"),
        ({"parameters": {"a b": 1}}, r"must be a name such as sigma, got 'a b'"),
        ({"points": []}, r"points must be a list of tables, one at least"),
        ({"points": [{"p": 1}, {"q": 1}]}, r"points\[1\] must have p, as points\[0\] has, got"),
        ({"points": [{"p": 1}, {"p": 1, "q": 1}]}, r"points\[1\] must have p, as points\[0\] has, got"),
        ({"points": [{}]}, r"points\[0\] must have a parameter, got"),
        ({"points": [{"p": 0.6, "rounds": 1}], "parameters": {"p": 1}}, r"p must be given once, got it twice"),
        ({"delta": [2]}, r"delta must be between 0 and 1, got 2"),
        ({"delta": []}, r"delta must have one value at least"),
        ({"epsilon": 1}, r"question 'epsilon' is asked at delta, got delta and epsilon"),
        ({"question": "advantage"}, r"question 'advantage' is asked at nothing, got delta"),
        ({"question": "delta", "delta": 0.1}, r"question 'delta' is asked at epsilon, got delta"),
        ({"question": "sigma", "epsilon": 1}, r"needs the hole \{sigma\} in every scheme"),
        ({"scheme": "ApproximateDP({p}, {delta}).repeat({rounds})"}, r"hole \{delta\} has the name of a question's"),
        ({"scheme": "RandomizedResponse({p}).repeet({rounds})"}, r"scheme can be built at no point.*one of allocate"),
        ({"parameters": {"p": [1.5, 2.5], "rounds": 1}}, r"at no point of the grid: probability must"),
        ({"scheme": {"a": "RandomizedResponse({p}).repeat({rounds})", "b": "Gaussian("}}, r"scheme\.b can be built"),
        ({"scheme": {}}, r"scheme must name one scheme at least"),
        ({"scheme": 3}, r"scheme must be an expression"),
        ({"direction": "up"}, r"direction must be one of"),
        ({"rtol": -1}, r"rtol must be at least 0"),
        ({"seconds": 0}, r"seconds must be positive"),
        ({"seconds": "some"}, r"seconds must be a number, got 'some'"),
        ({"sigmas": 3}, r"the grid must not have 'sigmas': it may have question, scheme"),
    ],
)
def test_bad_grids_are_refused_in_one_sentence(changes: dict[str, Any], said: str, journal: Path) -> None:
    with pytest.raises((ValueError, TypeError), match=said) as caught:
        sweep(response(**changes), 1, journal)
    assert "\n" not in str(caught.value)
    assert not journal.exists()  # nothing had started


def test_a_grid_needs_its_keys() -> None:
    for name in ("question", "scheme"):
        with pytest.raises(ValueError, match=f"the grid must have '{name}'"):
            Grid({key: value for key, value in RESPONSE.items() if key != name})


@pytest.mark.parametrize("points", [10**6, 10**9, 2**53])
def test_too_many_points_are_counted_not_made(points: int, journal: Path) -> None:
    """At once, however many: the number, and how long they would take."""
    grid = response(parameters={"p": {"from": 0.6, "to": 0.9, "points": points}, "rounds": range(1, 1001)})
    said = rf"the grid has {1000 * points:,} points, which would take about .* at most 1,000,000"
    with pytest.raises(ValueError, match=said):
        sweep(grid, 2, journal)
    assert not journal.exists()


def test_durations_are_words() -> None:
    from privloss.sweep._grid import duration

    assert [duration(s) for s in (0.1, 1.0, 90, 3600, 86400 * 3, 3.2e8)] == [
        "about 1 second",
        "about 1 second",
        "about 2 minutes",
        "about 1 hour",
        "about 3 days",
        "about 10 years",
    ]


def test_estimates_are_of_the_right_order(journal: Path) -> None:
    """Only to say hours or days: within a factor of thirty, on any machine."""
    parameters = {"p": [1, 2], "rounds": [9, 99]}
    grid = Grid(response(scheme="Gaussian({p}).allocate({rounds})", delta=1e-6, parameters=parameters))
    spent = sum(row["seconds"] for row in sweep(grid, 1, journal))
    assert spent / 30 < grid.estimate() < spent * 30


def test_jobs_are_checked(journal: Path) -> None:
    for jobs, error in ((0, ValueError), (1.5, ValueError), ("2", TypeError)):
        with pytest.raises(error, match="jobs must be a whole number"):
            sweep(response(), jobs, journal)  # type: ignore[arg-type]


# The journal.


def test_nothing_is_computed_twice(journal: Path, asked: list[_point.Point]) -> None:
    first = sweep(response(), 1, journal)
    assert len(asked) == 6
    assert sweep(response(), 1, journal) == first  # seconds too: they are those of the computation
    assert len(asked) == 6
    sweep(response(parameters={"p": [0.75, 0.8], "rounds": 1}), 1, journal)
    assert len(asked) == 7  # another sweep shares what is alike


def test_equal_points_are_one(journal: Path, asked: list[_point.Point]) -> None:
    rows = sweep(response(parameters={"p": [0.75, 0.75], "rounds": [1, 1.0]}), 1, journal)
    assert len(rows) == 4
    assert len(asked) == 1


@pytest.mark.parametrize(
    "changes", [{"rtol": 1e-2}, {"atol": 1e-2}, {"seconds": 60}, {"direction": "add"}, {"delta": 0.1}]
)
def test_whatever_matters_is_part_of_the_key(changes: dict[str, Any], journal: Path, asked: list[_point.Point]) -> None:
    sweep(response(), 1, journal)
    sweep(response(**changes), 1, journal)
    assert len(asked) == 12


def test_saying_the_defaults_is_asking_the_same(journal: Path, asked: list[_point.Point]) -> None:
    sweep(response(), 1, journal)
    sweep(response(rtol=1e-3, atol=1e-6, seconds=5, direction="both"), 1, journal)
    assert len(asked) == 6


def test_the_engine_is_part_of_the_key(
    journal: Path, asked: list[_point.Point], monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep(response(), 1, journal)
    monkeypatch.setattr(_run, "engine", lambda: "another")
    sweep(response(), 1, journal)
    assert len(asked) == 12


def test_the_engine_is_what_answers_come_from() -> None:
    version, _, digest = _point.engine().partition("+")
    assert version == pl.__version__
    assert re.fullmatch("[0-9a-f]{16}", digest)


def test_noise_is_told_from_a_number_in_its_place() -> None:
    families = ("Gaussian({sigma}, 2.0)", "Gaussian({sigma}, {sigma})", "Gaussian(2.0, {sigma})")
    recipe = _point.Recipe("sigma", {}, families)
    points = [_point.Point(i, {}, {}) for i in range(3)]
    assert len({_point.key(recipe, each, _point.likes(recipe, each), "") for each in points}) == 3


def test_what_a_time_limit_stopped_is_asked_again(
    journal: Path, asked: list[_point.Point], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(self: pl.Scheme, delta: float, **_: object) -> pl.Bracket:
        return pl.Bracket(0.0, 9.0, reason=TIME)

    with monkeypatch.context() as patch:
        patch.setattr(pl.Scheme, "epsilon", stopped)
        assert {row["reason"] for row in sweep(response(), 1, journal)} == {TIME}
    assert {row["reason"] for row in look(response(), journal)} == {TIME}
    assert {row["reason"] for row in sweep(response(), 1, journal)} == {"tolerance met"}
    assert len(asked) == 12
    sweep(response(), 1, journal)
    assert len(asked) == 12


def test_calibration_that_ran_out_of_time_is_not_final() -> None:
    recipe = _point.Recipe("sigma", {"seconds": 1e-6}, ("Gaussian({sigma}).allocate(1000).repeat(7)",))
    outcome = _point.ask(recipe, _point.Point(0, {}, {"epsilon": 1.0, "delta": 1e-6}))
    assert outcome.error is not None
    assert "no argument was proven to meet" in outcome.error
    assert not outcome.final


def test_errors_of_the_machine_are_not_final(monkeypatch: pytest.MonkeyPatch) -> None:
    def short(self: pl.Scheme, delta: float, **_: object) -> pl.Bracket:
        raise MemoryError

    monkeypatch.setattr(pl.Scheme, "epsilon", short)
    recipe = Grid(response()).recipe
    outcome = _point.ask(recipe, Grid(response()).point(0))
    assert (outcome.error, outcome.final) == ("MemoryError", False)


def test_final_answers_stay(journal: Path) -> None:
    good = _point.Outcome(1.0, 2.0, 0.1, "tolerance met", True)
    late = _point.Outcome(0.0, 9.0, 0.1, TIME, True, final=False)
    with Journal(journal) as book:
        for outcome in (late, good, late):
            book.store([_journal.Entry(b"k", "epsilon", "", "", outcome)])
        assert book.known([b"k", b"other"]) == {b"k": good}


def test_a_sweep_waits_for_what_another_does(journal: Path, asked: list[_point.Point]) -> None:
    """Of two at once, either computes what the other has not claimed."""
    plan = _run.Plan.of(Grid(response()))
    first, second = plan.keys[:2]
    other = _journal.Entry(first, "epsilon", "", "", _point.Outcome(1.0, 2.0, 0.0, "tolerance met", True))
    rows: list[list[dict[str, Any]]] = []
    with Journal(journal) as book:
        assert book.claim([first, second]).mine == [first, second]
        late = threading.Thread(target=lambda: rows.append(sweep(response(), 1, journal)))
        late.start()
        while len(asked) < 4:
            time.sleep(0.01)
        book.store([other])
        time.sleep(2 * _run.LOOK)
        assert late.is_alive()
        assert [row["lower"] is None for row in look(response(), journal)] == [False, True, *4 * [False]]
    late.join()  # on leaving, the second was let go
    assert len(asked) == 5
    assert (rows[0][0]["lower"], rows[0][0]["upper"]) == (1.0, 2.0)


def test_claims_of_the_dead_are_taken_over(journal: Path, asked: list[_point.Point]) -> None:
    claims = (
        "import sys; from pathlib import Path; from privloss.sweep import Journal; import os\n"
        "book = Journal(Path(sys.argv[1])).__enter__()\n"
        "assert book.claim([bytes.fromhex(each) for each in sys.argv[2:]]).mine\n"
        "os._exit(0)"
    )
    keys = _run.Plan.of(Grid(response())).keys
    subprocess.run([sys.executable, "-c", claims, str(journal), *(key.hex() for key in keys)], check=True)
    sweep(response(), 1, journal)
    assert len(asked) == 6


def test_those_far_away_live_as_long_as_they_say_so(journal: Path) -> None:
    with Journal(journal) as mine, closing(sqlite3.connect(journal, isolation_level=None)) as file:
        for name, beat in (("alive", time.time()), ("dead", time.time() - 2 * _journal.LEASE)):
            file.execute("INSERT INTO owners VALUES (?, 'elsewhere', 1, '', ?)", (name, beat))
            file.execute("INSERT INTO claims VALUES (?, ?)", (name.encode(), name))
        got = mine.claim([b"alive", b"dead"])
        assert (got.others, got.mine) == ([b"alive"], [b"dead"])


def test_signs_of_life_are_given(journal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_journal, "BEAT", 0.01)
    with Journal(journal), closing(sqlite3.connect(journal, isolation_level=None)) as file:
        file.execute("DELETE FROM owners")  # as others do with one that has slept for long
        until = time.monotonic() + 60
        while not file.execute("SELECT count(*) FROM owners").fetchone()[0]:
            assert time.monotonic() < until
            time.sleep(0.01)


def test_other_files_are_not_journals(tmp_path: Path) -> None:
    text, other, old = (tmp_path / name for name in ("text", "other.sqlite", "old.sqlite"))
    text.write_text("not a database" * 100)
    with closing(sqlite3.connect(other)) as file:
        file.execute("CREATE TABLE things (name TEXT)")
    Journal(old).__exit__()
    with closing(sqlite3.connect(old)) as file:
        file.execute("PRAGMA user_version = 99")
    for path, said in ((text, "file is not a database"), (other, "another SQLite file"), (old, "another version")):
        with pytest.raises(ValueError, match=said):
            sweep(response(), 1, path)
    with pytest.raises(OSError, match="cannot be written: unable to open"):
        sweep(response(), 1, tmp_path)
    with pytest.raises(OSError, match="there is no journal"):
        look(response(), tmp_path / "none.sqlite")
    with pytest.raises(TypeError, match="journal must be a path, got 3"):
        sweep(response(), 1, 3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="journal must be a path, got 3"):
        look(response(), 3)  # type: ignore[arg-type]


def test_a_full_journal_is_said_and_nothing_is_lost(
    journal: Path, asked: list[_point.Point], monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = response(parameters={"p": {"from": 0.6, "to": 0.9, "points": 200}, "rounds": 1})
    real = _journal._set_up
    monkeypatch.setattr(_run, "GATHER", 0.0)
    monkeypatch.setattr(_workers, "HELD", 0.0)

    def small(file: sqlite3.Connection) -> None:
        real(file)
        file.execute("PRAGMA max_page_count = 12")

    with monkeypatch.context() as patch:
        patch.setattr(_journal, "_set_up", small)
        with pytest.raises(OSError, match="cannot be written: database or disk is full; what is in it stays"):
            sweep(grid, 1, journal)
    with closing(sqlite3.connect(journal)) as file:
        assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        (kept,) = file.execute("SELECT count(*) FROM points").fetchone()
    computed = len(asked)
    assert 0 < kept <= computed < 200
    assert all(row["error"] is None for row in sweep(grid, 1, journal))
    assert len(asked) - computed == 200 - kept


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not delete what is open")
def test_a_journal_that_is_deleted_under_way_is_said(journal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite would go on writing where nobody can read, and signs of life would make another file."""
    monkeypatch.setattr(_journal, "BEAT", 0.01)
    with Journal(journal) as book:
        book.store([])
        for path in journal.parent.glob("journal.sqlite*"):
            path.unlink()
        with pytest.raises(OSError, match="was deleted or replaced"):
            book.store([])
        time.sleep(0.1)
        assert not journal.exists()
        journal.write_bytes(b"")
        with pytest.raises(OSError, match="was deleted or replaced"):
            book.claim([b"key"])


def test_the_default_is_in_the_data_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    assert home() == tmp_path / "privloss" / "sweeps.sqlite"
    sweep(response(), 1)
    assert home().is_file()
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.delenv("LOCALAPPDATA")
    assert Path.home() in home().parents


# Crews.


def test_the_long_ones_start_first(journal: Path, asked: list[_point.Point]) -> None:
    grid = response(scheme="Gaussian({p}).allocate({rounds})", delta=0.1, parameters={"p": 2.0, "rounds": [2, 64, 8]})
    sweep(grid, 1, journal)
    assert [point.holes["rounds"] for point in asked] == [64, 8, 2]


class Mortal:
    """A crew of one whose worker dies of some points."""

    size = 1

    def __init__(self, deadly: float, deaths: int) -> None:
        self.deadly, self.deaths, self.chunks = deadly, deaths, list[list[_workers.Task]]()

    def wants(self) -> bool:
        return len(self.chunks) < 2

    def send(self, chunk: Any) -> None:
        self.chunks.append(list(chunk))

    def receive(self, timeout: float) -> _workers.Report:
        first, *rest = self.chunks
        self.chunks = []
        if self.deaths and any(point.holes["p"] == self.deadly for _, point in first):
            self.deaths -= 1
            lost = [number for chunk in (first, *rest) for number, _ in chunk]
            return _workers.Report(lost=lost, blamed=lost[0] if len(first) == 1 else None, why="it died")
        recipe = Grid(response()).recipe
        self.chunks = rest
        return _workers.Report([(number, _point.ask(recipe, point)) for number, point in first])

    def close(self) -> None:
        self.chunks = []


@pytest.mark.parametrize("deaths", [1, 100])
def test_a_point_that_ends_its_worker_is_given_up_at_last(
    deaths: int, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_run._Sweep, "_crew", lambda *_: Mortal(0.75, deaths))
    rows = sweep(response(), 1, journal)
    errors = {(row["p"], row["rounds"]): row["error"] for row in rows if row["error"]}
    assert errors == ({} if deaths == 1 else {(0.75, 1): "it died", (0.75, 2): "it died"})
    assert all(row["upper"] == pytest.approx(largest(row["p"], row["rounds"])) for row in rows if not row["error"])
    monkeypatch.undo()
    assert all(row["error"] is None for row in sweep(response(), 1, journal))  # such an end is not final


def test_a_worker_that_is_killed_is_replaced(journal: Path) -> None:
    recipe = Grid(response()).recipe
    crew = _workers.Processes(recipe, 1)
    try:
        tasks = [(number, Grid(response()).point(number)) for number in range(6)]
        crew.send(tasks[:1])
        assert [number for number, _ in receive(crew).done] == [0]
        crew._workers[0]._process.kill()
        crew._workers[0]._process.wait()
        crew.send(tasks[1:])
        assert receive(crew).lost == [1, 2, 3, 4, 5]
        crew.send(tasks[1:])
        done = receive(crew).done
        assert [number for number, _ in done] == [1, 2, 3, 4, 5]
    finally:
        crew.close()


def receive(crew: _workers.Crew) -> _workers.Report:
    """Until something has come."""
    while True:
        report = crew.receive(1.0)
        if report.done or report.lost:
            return report


def test_workers_that_cannot_start_are_said(monkeypatch: pytest.MonkeyPatch, journal: Path) -> None:
    monkeypatch.setattr(_workers, "_START", "import sys; sys.exit(3)")
    with pytest.raises(OSError, match=r"worker processes cannot start: .*exit status 3"):
        sweep(response(), 2, journal)


def test_workers_end_with_their_parent(tmp_path: Path) -> None:
    code = (
        "import os, sys; from privloss.sweep import Grid, _workers\n"
        "crew = _workers.Processes(Grid({'question': 'advantage', 'scheme': 'Gaussian(1)'}).recipe, 1)\n"
        "print(crew._workers[0]._process.pid, flush=True); sys.stdin.read(); os._exit(0)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    worker = int(parent.stdout.readline())
    started = _journal._started(worker)
    parent.kill()
    parent.communicate()
    until = time.monotonic() + 60
    while _journal._there(worker, started):
        assert time.monotonic() < until
        time.sleep(0.01)


def test_an_interrupt_keeps_what_is_done(journal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, count = _point.ask, iter(range(10))

    def ask(recipe: _point.Recipe, point: _point.Point) -> _point.Outcome:
        if next(count) == 3:
            raise KeyboardInterrupt
        return real(recipe, point)

    monkeypatch.setattr(_workers, "ask", ask)
    with pytest.raises(KeyboardInterrupt, match="interrupted; 3 of 6 points are in the journal"):
        sweep(response(), 1, journal)
    assert sum(row["lower"] is not None for row in look(response(), journal)) == 3


def test_dask_needs_its_extra(monkeypatch: pytest.MonkeyPatch, journal: Path) -> None:
    monkeypatch.setattr(_dask, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"needs the extra dask: pip install privloss\[dask\]"):
        sweep(response(), 1, journal, dask="local")


# Progress.


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("quiet", "shown"), [(False, True), (True, False)])
def test_progress_is_shown_on_a_terminal(
    quiet: bool, shown: bool, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from privloss.sweep import _progress

    monkeypatch.setattr(_progress, "EVERY", 0.0)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    sweep(response(), 1, journal, quiet=quiet)
    said = terminal.getvalue()
    assert bool(re.search(r"\r6 of 6 points, [\d.]+ a second, 0:00 left", said)) is shown
    assert said.endswith("\r") is shown


def test_no_progress_elsewhere(journal: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sweep(response(), 1, journal)
    assert capsys.readouterr() == ("", "")


# Tables.


def test_csv(journal: Path, tmp_path: Path) -> None:
    rows = sweep(response(parameters={"p": [0.75, 1.5], "rounds": [1, 2]}), 1, journal)
    save(rows, tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(newline="") as file:
        found = list(csv.DictReader(file))
    assert [list(row) for row in found] == [list(row) for row in rows]
    for row, had in zip(found, rows, strict=True):
        assert (float(row["p"]), int(row["rounds"])) == (had["p"], had["rounds"])
        assert (row["lower"], row["upper"]) == (("", "") if had["error"] else (repr(had["lower"]), repr(had["upper"])))
        assert row["exact"] == ("" if had["error"] else "true")
        assert row["error"] == (had["error"] or "")


@pytest.mark.parametrize("suffix", [".sqlite", ".sql"])
def test_sql(suffix: str, journal: Path, tmp_path: Path) -> None:
    rows = sweep(response(parameters={"p": [0.75, 1.5], "rounds": [1, 2**70]}), 1, journal)
    path = tmp_path / f"t{suffix}"
    save(rows, path)
    with closing(sqlite3.connect(path if suffix == ".sqlite" else ":memory:")) as file:
        if suffix == ".sql":
            file.executescript(path.read_text())
        file.row_factory = sqlite3.Row
        found = [dict(row) for row in file.execute("SELECT * FROM results")]
    assert found == [{**row, "rounds": float(row["rounds"])} for row in rows]


def test_infinities_and_lists_are_written(tmp_path: Path) -> None:
    outcome = _point.Outcome(math.inf, math.inf, 0.0, "tolerance met", True)
    row = _run.row({"where": (0.0, 1), "scheme": "a"}, outcome)
    assert row["gap"] == 0.0
    save([row], tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text().splitlines()[1] == '"[0.0, 1]",a,inf,inf,0.0,0.0,tolerance met,true,'
    save([row], tmp_path / "t.sql")
    with closing(sqlite3.connect(":memory:")) as file:
        file.executescript((tmp_path / "t.sql").read_text())
        assert file.execute("SELECT lower, \"where\" FROM results").fetchone() == (math.inf, "[0.0, 1]")


def test_tables_are_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv"
    path.write_text("before")

    def full(rows: object, path: Path) -> None:
        path.write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setitem(_table._WRITERS, ".csv", full)
    with pytest.raises(OSError, match="No space left"):
        save([_run.row({}, _point.Outcome())], path)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_outputs_are_checked_before_anything_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, said in (
        ("t.xlsx", r"output must end in one of .parquet, .csv, .sqlite, .sql"),
        ("no/t.csv", r"in a folder that is there"),
    ):
        with pytest.raises(ValueError, match=said):
            _table.check(tmp_path / name)
    monkeypatch.setattr(_table, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"Parquet needs the extra sweep: pip install privloss\[sweep\]"):
        _table.check(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="one row at least"):
        save([], tmp_path / "t.csv")


@pytest.mark.extras
def test_parquet(journal: Path, tmp_path: Path) -> None:
    from pyarrow import parquet

    rows = sweep(response(parameters={"p": [0.75, 1.5], "rounds": [1, 2]}), 1, journal)
    save(rows, tmp_path / "t.parquet")
    found = parquet.read_table(tmp_path / "t.parquet")
    assert found.to_pylist() == rows
    assert [str(kind) for kind in found.schema.types] == [
        *("double", "int64", "double"),
        *("double", "double", "double", "double", "string", "bool", "string"),
    ]


# Pictures.


@pytest.mark.extras
@pytest.mark.parametrize("kind", [".png", ".svg", ".pdf"])
def test_pictures(kind: str, journal: Path, tmp_path: Path) -> None:
    for number, parameters in enumerate(
        (
            {"p": {"from": 0.6, "to": 0.9, "points": 5}, "rounds": [1, 2]},  # lines
            {"p": {"from": 0.6, "to": 0.9, "points": 5}, "rounds": [1, 2, 3, 4]},  # a map
            {"p": [0.6, 1.5], "rounds": 1},  # with a point that failed
        )
    ):
        grid = Grid(response(parameters=parameters))
        path = tmp_path / f"{number}{kind}"
        _show.draw(grid, sweep(grid, 1, journal), str(path))
        assert path.stat().st_size > 1000
        _show.draw(grid, [{**row, "lower": None, "upper": None} for row in sweep(grid, 1, journal)], str(path))


@pytest.mark.extras
def test_titles_are_not_cut(journal: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One map is narrow, and its title has to say what is not exact."""
    from matplotlib.figure import Figure

    ends = []

    def saved(figure: Any, *_: object, **__: object) -> None:
        figure.draw_without_rendering()
        box = figure._suptitle.get_window_extent()
        ends.append((box.x0, box.x1, figure.bbox.x1, figure._suptitle.get_text()))

    monkeypatch.setattr(Figure, "savefig", saved)
    grid = Grid(response(parameters={"p": [0.6, 0.7, 0.8, 0.9], "rounds": [1, 2, 3, 4]}))
    rows = [{**row, "exact": False} for row in sweep(grid, 1, journal)]
    _show.draw(grid, rows, str(tmp_path / "map.png"))
    ((left, right, width, text),) = ends
    assert 0 <= left < right <= width
    assert "not exact: lower of the reduction only" in " ".join(text.split())


def test_pictures_say_what_no_axis_does() -> None:
    def said(**changes: Any) -> list[str]:
        grid = Grid(response(**changes))
        rows = [grid.values(i) for i in range(len(grid))]
        return _show._fixed(grid, _show.layout(grid, rows), rows)

    assert said() == ["RandomizedResponse({p}).repeat({rounds}), delta=0"]
    assert said(delta=[0, 0.1]) == ["RandomizedResponse({p}).repeat({rounds})"]
    assert said(scheme={"a": RESPONSE["scheme"], "b": RESPONSE["scheme"]}) == ["delta=0"]
    assert said(scheme="RandomizedResponse({p}).repeat({rounds})" + ".repeat(1)" * 9) == ["delta=0"]


def test_lines_or_maps() -> None:
    def layout(**parameters: Any) -> _show.Layout:
        grid = Grid(response(parameters=parameters, delta=[0, 0.1]))
        return _show.layout(grid, [grid.values(i) for i in range(len(grid))])

    assert layout(p=[0.6, 0.7, 0.8], rounds=[1, 2]) == _show.Layout("p", None, ("rounds", "delta"))
    assert layout(p=[0.6, 0.7, 0.8, 0.9], rounds=range(1, 6)) == _show.Layout("rounds", "p", ("delta",))
    assert layout(p=0.6, rounds=1) == _show.Layout("delta", None, ())


def test_plots_are_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"plot must end in one of \.png, \.svg, \.pdf"):
        _show.check(str(tmp_path / "t.gif"))
    with pytest.raises(ValueError, match="folder that is there"):
        _show.check(str(tmp_path / "no" / "t.png"))
    monkeypatch.setattr(_show, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"plots need the extra plot: pip install privloss\[plot\]"):
        _show.check(str(tmp_path / "t.png"))
    grid = Grid({"question": "advantage", "scheme": "Gaussian(1)"})
    with pytest.raises(ValueError, match="needs a number that varies"):
        _show.layout(grid, [grid.values(0)])


# The command.


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "grid.toml").write_text(
        'question = "epsilon"\nscheme = "RandomizedResponse({p})"\ndelta = 0\n[parameters]\np = [0.6, 0.75]\n'
    )

    def runs(*argv: str) -> tuple[int, str, str]:
        status = _cli.main(["sweep", *argv])
        return status, *capsys.readouterr()

    return runs


def test_the_command_prints_a_table(run: Run) -> None:
    status, out, err = run("grid.toml", "--jobs", "1", "--journal", "j.sqlite")
    head, *rows, _, summary = out.splitlines()
    assert (status, err) == (0, "")
    assert head.split() == ["p", "delta", "lower", "upper", "gap", "seconds", "reason"]
    assert [row.split()[:2] for row in rows] == [["0.6", "0"], ["0.75", "0"]]
    assert float(rows[1].split()[2]) <= math.log(3) <= float(rows[1].split()[3])
    assert summary == f"epsilon: 2 points: 2 tolerance met{ADJACENCY}"


def test_quiet_is_the_safe_ends(run: Run) -> None:
    status, out, _ = run("grid.toml", "--jobs", "1", "--quiet")
    assert status == 0
    assert [float(line) for line in out.split()] == pytest.approx([math.log(1.5), math.log(3)])


def test_the_command_writes_a_file(run: Run, tmp_path: Path) -> None:
    status, out, _ = run("grid.toml", "-o", "t.csv", "--jobs", "1")
    assert (status, out) == (0, f"epsilon: 2 points: 2 tolerance met{ADJACENCY}\n")
    assert len((tmp_path / "t.csv").read_text().splitlines()) == 3
    assert run("grid.toml", "-o", "t.csv", "--jobs", "1", "--quiet")[1] == ""


def test_show_tells_what_the_journal_knows(run: Run, tmp_path: Path) -> None:
    run("grid.toml", "--jobs", "1", "--journal", "j.sqlite")
    for argv in (("j.sqlite",), ("--journal", "j.sqlite"), ("grid.toml", "--journal", "j.sqlite")):
        status, out, err = run("show", *argv)
        assert (status, err) == (0, "")
        assert out.splitlines()[-1] == f"epsilon: 2 points: 2 tolerance met{ADJACENCY}"
    (tmp_path / "grid.toml").write_text((tmp_path / "grid.toml").read_text().replace("0.75", "0.75, 0.8"))
    assert "2 tolerance met, 1 not computed" in run("show", "grid.toml", "--journal", "j.sqlite")[1]


def test_seconds_of_the_command_count(run: Run, tmp_path: Path) -> None:
    run("grid.toml", "--jobs", "1", "--journal", "j.sqlite", "--seconds", "none")
    assert "not computed" in run("show", "grid.toml", "--journal", "j.sqlite")[1]
    assert "not computed" not in run("show", "grid.toml", "--journal", "j.sqlite", "--seconds", "none")[1]
    assert "not computed" not in run("show", "j.sqlite")[1]


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("none.toml",), "No such file or directory: 'none.toml'"),
        (("grid.toml", "other.toml"), "one grid is needed, got 'other.toml' as well"),
        (("grid.toml", "-o", "t.txt"), "output must end in one of"),
        (("grid.toml", "--plot", "t.txt"), "plot must end in one of"),
        (("grid.toml", "--jobs", "0"), "jobs must be a whole number from 1 to 1024, got 0"),
        (("grid.toml", "--seconds", "-1"), "seconds must be positive"),
        (("show", "-o", "t.csv"), "--output must not be given"),
        (("show", "none.sqlite"), "there is no journal none.sqlite"),
        (("show", "a.sqlite", "--journal", "b.sqlite"), "one journal is needed"),
        (("bad.toml",), "bad.toml is not TOML"),
        (("binary.toml",), "binary.toml is not TOML"),
    ],
)
def test_bad_commands_are_one_line(run: Run, tmp_path: Path, argv: tuple[str, ...], said: str) -> None:
    (tmp_path / "bad.toml").write_text("question = \n")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    status, out, err = run(*argv)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert said in err


def test_an_empty_journal_has_nothing_to_show(run: Run, tmp_path: Path) -> None:
    Journal(tmp_path / "j.sqlite").__exit__()
    assert "no sweep was run with the journal" in run("show", "j.sqlite")[2]


def test_not_exact_is_said(journal: Path) -> None:
    grid = Grid({"question": "advantage", "scheme": "Gaussian(3).allocate(4, {k})", "parameters": {"k": [1, 2]}})
    rows = sweep(grid, 1, journal)
    assert [row["exact"] for row in rows] == [True, False]
    assert "not exact" in _show.text(grid, rows)[2]
    assert _show.summary(grid, rows).endswith(f"not exact: lower of the reduction only, where picks > 1{ADJACENCY}")


@pytest.mark.slow
def test_ctrl_c_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "grid.toml").write_text(
        'question = "epsilon"\nscheme = "Gaussian({s}).allocate(1000).repeat(10)"\ndelta = 1e-6\n'
        "[parameters]\ns = {from = 1, to = 2, points = 5000}\n"
    )
    argv = [sys.executable, "-m", "privloss", "sweep", "grid.toml", "--jobs", "2", "--journal", "j.sqlite"]
    process = subprocess.Popen(argv, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 100
    while not (tmp_path / "j.sqlite").exists() or not _points(tmp_path / "j.sqlite"):
        assert time.monotonic() < until
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert (process.returncode, out, err.count("\n")) == (130, "", 1)
    kept = re.match(r"privloss: interrupted; ([\d,]+) of 5,000 points are in the journal", err)
    assert kept is not None
    assert int(kept[1].replace(",", "")) == _points(tmp_path / "j.sqlite") > 0


def _points(path: Path) -> int:
    with closing(sqlite3.connect(path)) as file:
        try:
            return int(file.execute("SELECT count(*) FROM points").fetchone()[0])
        except sqlite3.OperationalError:
            return 0


# Examples.


def test_examples_are_good_grids() -> None:
    for path in sorted((ROOT / "examples").glob("*.toml")):
        grid = Grid(path)
        grid.check(2)
        assert 0 < len(grid) < 2000


def test_the_page_shows_the_example() -> None:
    page, example = ROOT / "docs" / "sweeps.md", ROOT / "examples" / "noise.toml"
    assert f"```toml\n{example.read_text()}```" in page.read_text()
