"""Where a library is missing, its bridge can still be imported, and says which extra to install when it is used."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

import privloss as pl
from privloss.bridges import dp_accounting, pld_accounting, riskcal

STEP = pl.Gaussian(1.0)


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("dp_accounting", "riskcal", "PLD_accounting"):
        for loaded in [each for each in sys.modules if each.startswith(f"{name}.")]:
            monkeypatch.delitem(sys.modules, loaded)
        monkeypatch.setitem(sys.modules, name, None)
    for bridge in ("accountant", "allocation"):
        monkeypatch.delitem(sys.modules, f"privloss.bridges.dp_accounting.{bridge}", raising=False)


@pytest.mark.usefixtures("nothing_installed")
@pytest.mark.parametrize(
    ("use", "extra"),
    [
        (lambda: dp_accounting.to_pld(STEP, 0.1), "dp-accounting"),
        (lambda: dp_accounting.from_pld(None), "dp-accounting"),
        (lambda: dp_accounting.to_event(STEP), "dp-accounting"),
        (lambda: dp_accounting.from_event(None), "dp-accounting"),
        (lambda: dp_accounting.Accountant, "dp-accounting"),
        (lambda: dp_accounting.RandomAllocationDpEvent, "dp-accounting"),
        (lambda: riskcal.to_plrvs(STEP, 0.1), "riskcal"),
        (lambda: riskcal.from_plrvs(None, 0.1), "riskcal"),
        (lambda: riskcal.evaluator(pl.Gaussian), "riskcal"),
        (lambda: pld_accounting.to_realization(STEP, 0.1), "pld-accounting"),
        (lambda: pld_accounting.from_realization(None), "pld-accounting"),
    ],
)
def test_the_extra_is_named(use: Callable[[], Any], extra: str) -> None:
    with pytest.raises(ImportError) as caught:
        use()
    assert str(caught.value).endswith(f'is not installed: pip install "privloss[{extra}]"')


def test_bridges_import_nothing() -> None:
    code = (
        "import sys, privloss.bridges.dp_accounting, privloss.bridges.riskcal, privloss.bridges.pld_accounting;"
        "print({'dp_accounting', 'riskcal', 'PLD_accounting', 'scipy', 'attr'} & set(sys.modules))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "set()"


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        dp_accounting.nonsense  # noqa: B018
