"""The command line: answers in three shapes, and what it says to bad input, interrupts and closed pipes."""

from __future__ import annotations

import io
import json
import math
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

import privloss as pl
from privloss import _cli
from privloss._bracket import TIME, Bracket
from privloss._cli import _print

EPOCH = ("--sigma", "1", "--steps", "1000")
DELTA = ("--delta", "1e-6")
UNHURRIED = ("--seconds", "none")  # where a tolerance must be met, however slow the machine


class Said(NamedTuple):
    status: int
    out: str
    err: str


Run = Callable[..., Said]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def runs(*argv: str) -> Said:
        status = _cli.main(argv)
        return Said(status, *capsys.readouterr())

    return runs


def strict(text: str) -> Any:
    """JSON without the words that JavaScript has and JSON has not."""

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


def process(*argv: str, **environment: str) -> Said:
    done = subprocess.run(
        [sys.executable, "-m", "privloss", *argv],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    return Said(done.returncode, done.stdout, done.stderr)


# Answers.


def test_table_shows_everything(run: Run) -> None:
    status, out, err = run("epsilon", *EPOCH, "--delta", "1e-6", *UNHURRIED)
    head, row, _, *facts = out.splitlines()
    assert (status, err) == (0, "")
    assert re.split(r"\s{2,}", head) == [
        "delta",
        "epsilon lower",
        "epsilon upper",
        "gap",
        "Poisson lower",
        "Poisson upper",
    ]
    delta, lower, upper, gap, low, high = map(float, row.split())
    assert delta == 1e-6
    assert lower <= 0.1717295
    assert upper >= 0.1717282
    assert upper - lower <= gap * (1 + 1e-9) + 1e-5
    assert upper < low <= high
    assert facts[0] == "scheme     Gaussian(sigma=1.0).allocate(steps=1000)"
    assert "add/remove" in facts[1]
    assert "remove and add" in facts[1]
    assert facts[2].startswith("exact      yes")
    assert facts[3:5] == ["safe end   upper", "stopped    tolerance met"]
    assert facts[5].startswith("Poisson    Gaussian(sigma=1.0).subsample(rate=0.001).repeat(rounds=1000)")


def test_printed_ends_hold_the_computed_ones(run: Run) -> None:
    row = run("epsilon", *EPOCH, "--delta", "1e-6").out.splitlines()[1].split()
    found = strict(run("epsilon", *EPOCH, "--delta", "1e-6", "--json").out)["epsilon"]
    assert float(row[1]) <= found["lower"] <= found["upper"] <= float(row[2])
    assert float(row[3]) >= found["gap"]


def test_json_is_the_contracts(run: Run) -> None:
    found = strict(run("epsilon", *EPOCH, "--delta", "1e-6", "--json").out)
    assert list(found) == [
        "epsilon",
        "given",
        "exact",
        "reason",
        "work",
        "scheme",
        "poisson",
        "adjacency",
        "version",
    ]
    assert list(found["epsilon"]) == ["lower", "upper", "gap"]
    assert found["given"] == {"delta": 1e-6, "direction": "both", "rtol": 1e-3, "atol": 1e-6, "seconds": 5.0}
    assert found["exact"] is True
    assert list(found["work"]) == ["points", "refinements", "eta", "seconds"]
    assert found["adjacency"] == "add/remove"
    assert found["version"] == pl.__version__
    scheme = pl.Gaussian(1.0).allocate(1000)
    assert pl.Scheme.from_json(json.dumps({"privloss": 1, "scheme": found["scheme"]})) == scheme
    twin = found["poisson"]
    assert pl.Scheme.from_json(json.dumps({"privloss": 1, "scheme": twin["scheme"]})) == scheme.poisson()
    assert twin["epsilon"]["upper"] > found["epsilon"]["upper"]


def test_a_comma_list_is_a_list_of_answers(run: Run) -> None:
    found = strict(run("epsilon", *EPOCH, "--delta", "1e-6,1e-5,1e-4", "--json").out)
    assert [each["given"]["delta"] for each in found] == [1e-6, 1e-5, 1e-4]
    uppers = [each["epsilon"]["upper"] for each in found]
    assert uppers == sorted(uppers, reverse=True)
    assert len(run("epsilon", *EPOCH, "--delta", "1e-6,1e-5", "--quiet").out.splitlines()) == 2
    assert len(run("epsilon", *EPOCH, "--delta", "1e-6,1e-5").out.split("\n\n")[0].splitlines()) == 3


def test_infinities_are_strings(run: Run) -> None:
    found = strict(run("epsilon", "--sigma", "1", "--delta", "0", "--seconds", "none", "--json").out)
    assert found["epsilon"] == {"lower": "inf", "upper": "inf", "gap": 0.0}
    assert found["given"]["seconds"] is None
    assert "inf" in run("epsilon", "--sigma", "1", "--delta", "0").out.splitlines()[1]


def test_no_allocation_no_twin(run: Run) -> None:
    assert "Poisson" not in run("epsilon", "--sigma", "1", "--rate", "0.5", "--delta", "1e-6").out
    assert strict(run("epsilon", "--scale", "2", "--delta", "0.1", "--json").out)["poisson"] is None


def test_quiet_is_the_safe_end(run: Run) -> None:
    found = strict(run("epsilon", *EPOCH, *DELTA, *UNHURRIED, "--json").out)
    assert float(run("epsilon", *EPOCH, *DELTA, *UNHURRIED, "--quiet").out) == found["epsilon"]["upper"]
    rate = strict(run("tradeoff", *EPOCH, "--fpr", "0.1", "--json").out)
    assert float(run("tradeoff", *EPOCH, "--fpr", "0.1", "--quiet").out) == rate["tradeoff"]["lower"]


def test_not_exact_is_said(run: Run) -> None:
    split = ("--sigma", "3", "--steps", "10", "--picks", "3")
    assert "no: upper bounds the scheme, lower only" in run("epsilon", *split, "--delta", "1e-6").out
    assert "no: lower bounds the scheme, upper only" in run("tradeoff", *split, "--fpr", "0.1").out
    assert strict(run("epsilon", *split, "--delta", "1e-6", "--json").out)["exact"] is False


def test_flags_build_from_the_inside_out(run: Run) -> None:
    flags = ("--sigma", "4", "--steps", "10", "--picks", "2", "--rate", "0.5", "--rounds", "3")
    found = strict(run("delta", *flags, "--epsilon", "1", "--json").out)
    text = "Gaussian(4).allocate(10, 2).subsample(0.5).repeat(3)"
    assert found["scheme"] == strict(pl.parse(text).to_json())["scheme"]


def test_an_expression_is_the_same_as_flags(run: Run) -> None:
    flags = run("epsilon", *EPOCH, "--delta", "1e-6", "--quiet").out
    assert run("epsilon", "pl.Gaussian(1).allocate(1_000)", "--delta", "1e-6", "--quiet").out == flags
    holes = ("Gaussian({sigma}).allocate({steps})", "--sigma", "1", "--steps", "1e3")
    assert run("epsilon", *holes, "--delta", "1e-6", "--quiet").out == flags


@pytest.mark.parametrize("value", ["-1", "-1e-3", "-.5", "-1,0.5", "0.5,-1"])
def test_negative_numbers_are_values(run: Run, value: str) -> None:
    status, out, _ = run("delta", "--sigma", "1", "--epsilon", value, "--json", "--rtol", "1e-2")
    found = strict(out)
    given = [each["given"]["epsilon"] for each in (found if isinstance(found, list) else [found])]
    assert status == 0
    assert given == [float(part) for part in value.split(",")]


def test_direction_and_tolerance_reach_the_question(run: Run) -> None:
    tail = ("--delta", "1e-6", "--rtol", "1e-4", "--json", *UNHURRIED)
    add = strict(run("epsilon", *EPOCH, *tail, "--direction", "add").out)
    remove = strict(run("epsilon", *EPOCH, *tail, "--direction", "remove").out)
    assert add["epsilon"]["upper"] < remove["epsilon"]["lower"]
    assert add["epsilon"]["gap"] <= 1e-4 * add["epsilon"]["upper"]
    assert add["given"]["rtol"] == 1e-4
    assert add["given"]["atol"] == 0.0
    assert "direction add" in run("epsilon", *EPOCH, "--delta", "1e-6", "--direction", "add").out


def test_the_twin_gets_the_time_left(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[float | None] = []

    def epsilon(self: pl.Scheme, delta: float, *, seconds: float | None, **_: object) -> Bracket:
        limits.append(seconds)
        return Bracket(1.0, 2.0, reason=TIME)

    monkeypatch.setattr(pl.Scheme, "epsilon", epsilon)
    out = run("epsilon", *EPOCH, "--delta", "1e-6", "--seconds", "3").out
    assert limits[0] == 3.0
    assert limits[1] is not None
    assert 0 < limits[1] <= 3.0
    assert out.count(f"stopped    {TIME}") == 1
    assert out.count(f"stopped: {TIME}") == 1
    run("epsilon", *EPOCH, "--delta", "1e-6", "--seconds", "none")
    assert limits[2:] == [None, None]
    run("epsilon", *EPOCH, "--delta", "1e-6", "--quiet")
    assert len(limits) == 5  # quiet asks nothing of the twin


# Noise that meets a target.


def test_sigma_meets_its_target(run: Run) -> None:
    target = ("--epsilon", "1", "--delta", "1e-6", *UNHURRIED)
    found = strict(run("sigma", "Gaussian({sigma}).allocate(1000)", *target, "--json").out)
    sigma = found["sigma"]
    assert 0 < sigma["gap"] <= 1e-3 * sigma["upper"]
    assert found["given"] == {
        "epsilon": 1.0,
        "delta": 1e-6,
        "direction": "both",
        "rtol": 1e-3,
        "atol": 0.0,
        "seconds": None,
    }
    assert found["scheme"]["of"]["sigma"] == sigma["upper"]
    assert found["poisson"]["sigma"]["lower"] > sigma["upper"]
    assert pl.Gaussian(sigma["upper"]).allocate(1000).epsilon(delta=1e-6).lower <= 1.0
    assert pl.Gaussian(sigma["lower"]).allocate(1000).epsilon(delta=1e-6).upper >= 1.0
    flags = run("sigma", "--steps", "1000", *target, "--quiet").out
    assert float(flags) == pytest.approx(sigma["upper"], rel=2e-3)


def test_sigma_takes_lists_and_an_advantage(run: Run) -> None:
    found = strict(run("sigma", "--steps", "10", "--epsilon", "1,2", "--delta", "1e-6,1e-5", "--json").out)
    given = [(each["given"]["epsilon"], each["given"]["delta"]) for each in found]
    assert given == [(1.0, 1e-6), (1.0, 1e-5), (2.0, 1e-6), (2.0, 1e-5)]
    status, out, _ = run("sigma", "Gaussian({sigma})", "--advantage", "0.1")
    assert status == 0
    assert out.startswith("advantage  sigma lower  sigma upper")


# Bad input.

BAD = [
    (("epsilon", "--sigma", "0", *DELTA), "sigma"),
    (("epsilon", "--sigma", "-1", *DELTA), "sigma"),
    (("epsilon", "--sigma", "nan", *DELTA), "sigma"),
    (("epsilon", "--sigma", "inf", *DELTA), "sigma"),
    (("epsilon", "--sigma", "-inf", *DELTA), "sigma"),
    (("epsilon", "--sigma", "much", *DELTA), "--sigma: must be a number, got 'much'"),
    (("epsilon", "--sigma", "", *DELTA), "--sigma: must be a number, got ''"),
    (("epsilon", "--scale", "0", *DELTA), "scale"),
    (("epsilon", "--sigma", "1", "--delta", "-1e-9"), "delta"),
    (("epsilon", "--sigma", "1", "--delta", "1.5"), "delta"),
    (("epsilon", "--sigma", "1", "--delta", "nan"), "delta"),
    (("epsilon", "--sigma", "1", "--delta", "1e-6,2"), "delta"),
    (("epsilon", "--sigma", "1", "--delta", "1e-6,"), "--delta: must be a number, got ''"),
    (("epsilon", "--sigma", "1"), "--delta"),
    (("delta", "--sigma", "1", "--epsilon", "nan"), "epsilon"),
    (("tradeoff", "--sigma", "1", "--fpr", "1.5"), "fpr"),
    (("epsilon", "--sigma", "1", "--rate", "0", *DELTA), "rate"),
    (("epsilon", "--sigma", "1", "--rate", "1.01", *DELTA), "rate"),
    (("epsilon", "--sigma", "1", "--steps", "0", *DELTA), "steps"),
    (("epsilon", "--sigma", "1", "--steps", "2.5", *DELTA), "steps"),
    (("epsilon", "--sigma", "1", "--steps", "inf", *DELTA), "steps"),
    (("epsilon", "--sigma", "1", "--steps", "10", "--picks", "11", *DELTA), "picks"),
    (("epsilon", "--sigma", "1", "--steps", "10", "--picks", "0", *DELTA), "picks"),
    (("epsilon", "--sigma", "1", "--steps", "10", "--picks", "2.5", *DELTA), "picks"),
    (("epsilon", "--sigma", "1", "--rounds", "0", *DELTA), "rounds"),
    (("epsilon", "--sigma", "1", "--picks", "2", *DELTA), "--picks 2 needs --steps"),
    (("epsilon", *DELTA), "--sigma"),
    (("epsilon", "--sigma", "1", "--scale", "1", *DELTA), "--scale"),
    (("epsilon", "--sigma", "1", "--rtol", "-1", *DELTA), "rtol"),
    (("epsilon", "--sigma", "1", "--atol", "nan", *DELTA), "atol"),
    (("epsilon", "--sigma", "1", "--seconds", "-1", *DELTA), "seconds"),
    (("epsilon", "--sigma", "1", "--seconds", "nan", *DELTA), "seconds"),
    (("epsilon", "--sigma", "1", "--seconds", "soon", *DELTA), "--seconds: must be a number, got 'soon'"),
    (("epsilon", "--sigma", "1", "--direction", "up", *DELTA), "--direction"),
    (("epsilon", "--sigma", "1", "--json", "--quiet", *DELTA), "--quiet"),
    (("epsilon", "--sigma", "1", "--del", "1e-6"), "--del"),
    (("epsilon", "Gaussian(1)", "Gaussian(2)", *DELTA), "Gaussian(2)"),
    (("epsilon", "Gaussian(1)", "--steps", "10", *DELTA), "'steps' has no place {steps}"),
    (("epsilon", "Gaussian({sigma})", *DELTA), "{sigma}"),
    (("epsilon", "Gaussian(0)", *DELTA), "sigma"),
    (("epsilon", "Gaussian('1')", *DELTA), "character 9"),
    (("epsilon", "Gaussian(1).law", *DELTA), "allocate"),
    (("epsilon", "Gaussian(1).__class__", *DELTA), "allocate"),
    (("epsilon", "__import__('os').system('echo no')", *DELTA), "Gaussian"),
    (("epsilon", "[Gaussian(1) for x in y]", *DELTA), "got 'for'"),
    (("epsilon", "(lambda: Gaussian(1))()", *DELTA), "Gaussian"),
    (("epsilon", "1 + 1", *DELTA), "1 + 1"),
    (("epsilon", "", *DELTA), "a scheme"),
    (("epsilon", "(" * 100_000, *DELTA), ""),
    (("epsilon", "Gaussian(1)\nprint(1)", *DELTA), ""),
    (("epsilon", "Gaußian(1)", *DELTA), ""),
    (("epsilon", "\x1b[31mGaussian\ud800(1)", *DELTA), ""),
    (("sigma", "Gaussian(1)", "--epsilon", "1", *DELTA), "no place {sigma}"),
    (("sigma", "Gaussian({sigma})", "--epsilon", "1"), "--delta"),
    (("sigma", "Gaussian({sigma})", *DELTA), "--epsilon"),
    (("sigma", "Gaussian({sigma})"), "--advantage"),
    (("sigma", "Gaussian({sigma})", "--epsilon", "1", *DELTA, "--advantage", "0.1"), "--advantage"),
    (("sigma", "Gaussian({sigma})", "--epsilon", "1", "--delta", "1.5"), "delta"),
    (("sigma", "Gaussian({sigma})", "--advantage", "2"), "advantage"),
    (("sigma", "--sigma", "1", "--epsilon", "1", *DELTA), "--sigma"),
    (("bogus",), "bogus"),
    ((), "a command is needed: one of epsilon"),
]


@pytest.mark.parametrize(("argv", "named"), BAD, ids=range(len(BAD)))
def test_bad_input_is_one_line_and_status_2(run: Run, argv: tuple[str, ...], named: str) -> None:
    status, out, err = run(*argv)
    assert (status, out) == (2, "")
    assert re.fullmatch(r"privloss: [ -~]+\n", err)
    assert len(err) < 700
    assert named in err


def test_a_missing_extra_is_one_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def epsilon(self: pl.Scheme, **_: object) -> Bracket:
        raise ImportError("plots need the extra 'plot'")

    monkeypatch.setattr(pl.Scheme, "epsilon", epsilon)
    assert run("epsilon", *EPOCH, *DELTA) == Said(2, "", "privloss: plots need the extra 'plot'\n")


# Interrupts, pipes, consoles.


def test_an_interrupt_is_one_line_and_status_130(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def epsilon(self: pl.Scheme, **_: object) -> Bracket:
        raise KeyboardInterrupt

    monkeypatch.setattr(pl.Scheme, "epsilon", epsilon)
    assert run("epsilon", *EPOCH, *DELTA) == Said(130, "", "privloss: interrupted\n")


class _Closed(io.StringIO):
    def __init__(self, error: OSError) -> None:
        super().__init__()
        self.error = error

    def write(self, text: str) -> int:
        raise self.error


@pytest.mark.parametrize(
    ("error", "status", "err"),
    [
        (BrokenPipeError(), 0, ""),
        (OSError(28, "No space left on device"), 2, "privloss: [Errno 28] No space left on device\n"),
    ],
    ids=["closed", "full"],
)
def test_an_output_that_closed_or_is_full(
    error: OSError, status: int, err: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdout", _Closed(error))
    assert _cli.main(["epsilon", *EPOCH, *DELTA, "--quiet"]) == status
    assert capsys.readouterr().err == err


class _Terminal(io.StringIO):
    encoding = "cp1252"  # what an older Windows console can show

    def isatty(self) -> bool:
        return True


def test_rich_changes_colours_only(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    argv = ["epsilon", *EPOCH, "--delta", "1e-6,1e-5"]
    plain = run(*argv).out
    shown = []
    for rich in (True, False):
        terminal = _Terminal()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", terminal)
            patch.setenv("COLUMNS", "20")  # narrower than any line: nothing may be wrapped
            patch.setenv("TERM", "xterm-256color")
            if not rich:
                patch.setattr(_print, "find_spec", lambda name: None)
            assert _cli.main(argv) == 0
        shown.append(terminal.getvalue())
    bright, dull = shown
    assert re.sub(r"\x1b\[[\d;]*m", "", bright) == dull
    assert "\x1b[1m" in bright
    assert dull == plain
    assert dull.isascii()


def test_help_of_every_command_has_an_example_that_works(run: Run) -> None:
    listed = run("--help").out
    assert {command.name for command in _cli._commands()} >= {"epsilon", "delta", "sigma", "tradeoff"}
    for command in _cli._commands():
        assert command.name in listed
        status, out, _ = run(command.name, "--help")
        assert status == 0
        assert command.example in " ".join(out.split())
        assert run(*shlex.split(command.example)[1:]).status == 0


def test_version(run: Run) -> None:
    assert run("--version") == Said(0, f"privloss {pl.__version__}\n", "")


# Real processes.


def test_a_real_process_answers() -> None:
    status, out, err = process("epsilon", *EPOCH, *DELTA, "--quiet", *UNHURRIED)
    assert (status, err) == (0, "")
    assert math.isclose(float(out), 0.17173, rel_tol=2e-3)


def test_a_real_process_refuses_on_a_console_that_knows_only_ascii() -> None:
    status, out, err = process(
        "epsilon", "Gaussian(1).\u00fcber()", *DELTA, PYTHONIOENCODING="ascii", PYTHONUTF8="1"
    )
    assert (status, out) == (2, "")
    assert err.startswith("privloss: ")
    assert err.count("\n") == 1


def test_a_real_pipe_that_closes_is_no_error() -> None:
    command = [sys.executable, "-m", "privloss", "epsilon", *EPOCH, *DELTA]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.close()
        assert "Traceback" not in child.stderr.read()
