"""privloss.paper on the paper's own tables, and beside the authors' implementation."""

from __future__ import annotations

import csv
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import privloss as pl
from privloss import paper

VECTORS = Path(__file__).resolve().parent / "vectors"


def rows() -> list[dict[str, str]]:
    with (VECTORS / "paper_tables.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


LONGEST = ("k1", "1")  # half a minute where the machine is shared


def marked(row: dict[str, str]) -> Any:
    longest = (row["table"], row["point"]) == LONGEST
    mark = pytest.mark.long if longest else pytest.mark.slow
    return pytest.param(row, id=f"{row['table']}-{row['point']}", marks=mark)


@pytest.mark.parametrize("row", [marked(row) for row in rows()])
def test_the_tables(row: dict[str, str]) -> None:
    """Brackets at the step and tail of the table meet the printed intervals, and the engine's lies inside each.

    The step is alpha: the shift of the final loss. For k > 1 that is a composition of k blocks, each with step/k.
    """
    scheme = pl.Gaussian(float(row["sigma"])).allocate(int(row["steps"]), picks=int(row["picks"]))
    alpha, delta = float(row["step"]), float(row["delta"])
    got = paper.epsilon(scheme, delta, alpha=alpha, beta=float(row["tail"]))
    low, high = Decimal(row["epsilon_lower"]), Decimal(row["epsilon_upper"])
    assert Decimal(float(got.lower)) <= high + half_digit(high)
    assert Decimal(float(got.upper)) >= low - half_digit(low)
    assert got.gap <= 2 * alpha
    ours = scheme.epsilon(delta)
    assert got.lower <= ours.lower <= ours.upper <= got.upper
    assert got.exact == (row["picks"] == "1")


def half_digit(printed: Decimal) -> Decimal:
    return Decimal(5).scaleb(int(printed.as_tuple().exponent) - 1)


# ---------------------------------------------------------------- PLD-accounting

AGREED: dict[str, Any] = json.loads((VECTORS / "pld_accounting.json").read_text(encoding="utf-8"))
SETTINGS: list[dict[str, Any]] = AGREED["settings"]


def scheme_of(setting: dict[str, Any]) -> pl.Scheme:
    if setting["kind"] == "gaussian":
        step: pl.Scheme = pl.Gaussian(setting["sigma"])
    elif setting["kind"] == "laplace":
        step = pl.Laplace(setting["scale"])
    else:
        losses = [setting["grid"] * (setting["first"] + i) for i in range(len(setting["masses"]))]
        step = pl.PrivacyLoss([*losses, float("inf")], [*setting["masses"], setting["top"]])
    return step.allocate(setting["steps"], picks=setting["picks"])


def test_the_settings_are_those_promised() -> None:
    assert len(SETTINGS) == 200
    assert {setting["kind"] for setting in SETTINGS} == {"gaussian", "laplace", "listed"}
    for kind in ("gaussian", "laplace", "listed"):
        picks = [setting["picks"] for setting in SETTINGS if setting["kind"] == kind]
        assert min(len([n for n in picks if n == 1]), len([n for n in picks if n > 1])) >= 30
    assert all(setting["lower"] <= setting["upper"] for setting in SETTINGS)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gaussian", "laplace", "listed"])
def test_agreement_with_the_authors_implementation(kind: str) -> None:
    """At equal parameters both brackets, and the engine's, meet: all three claim the same truth."""
    for setting in SETTINGS:
        if setting["kind"] == kind:
            scheme = scheme_of(setting)
            got = paper.epsilon(scheme, setting["delta"], alpha=setting["alpha"], beta=setting["beta"])
            ours = scheme.epsilon(setting["delta"], rtol=2e-3)
            for bound in (got, ours):
                assert max(bound.lower, setting["lower"]) <= min(bound.upper, setting["upper"]), (setting, bound)
            assert got.lower <= ours.lower <= ours.upper <= got.upper
            assert got.gap <= 2.1 * setting["alpha"]
