"""The package as a package: one version, a frozen surface, a light import."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import privloss as pl
from privloss import paper

ROOT = Path(__file__).resolve().parent.parent
_SURFACE = [
    "ApproximateDP",
    "Bracket",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Gaussian",
    "GaussianMixture",
    "Laplace",
    "Outcomes",
    "PrivacyLoss",
    "PureDP",
    "RandomizedResponse",
    "Scheme",
    "__version__",
    "allocate",
    "calibrate",
    "compose",
    "parse",
    "sweep",
]


def test_the_public_surface_is_frozen() -> None:
    assert sorted(pl.__all__) == _SURFACE
    assert all(hasattr(pl, name) for name in _SURFACE)


_PAPER = [
    "Bound",
    "Lattice",
    "REASONS",
    "Realization",
    "blocks",
    "combine",
    "compose",
    "conv",
    "convolutions",
    "delta",
    "disc_dist",
    "dual",
    "epsilon",
    "fft_alloc_add",
    "fft_alloc_remove",
    "law",
    "rand_alloc",
    "rand_alloc_add",
    "rand_alloc_remove",
    "range_renorm",
    "self_conv",
    "subsample_add",
    "subsample_remove",
    "truncate",
]


def test_the_surface_of_the_paper_is_frozen() -> None:
    assert sorted(paper.__all__) == _PAPER
    for name in _PAPER:
        assert getattr(getattr(paper, name), "__module__", "privloss.paper").startswith("privloss.paper")


_BASELINES = [
    "Baseline",
    "METHODS",
    "RenyiCurve",
    "Row",
    "cghlkkmsz24",
    "dco25",
    "dg26",
    "fs25",
    "fs25_analytic",
    "fs25_decomposition",
    "fs25_direct",
    "fs25_recursive",
    "gdp",
    "monte_carlo",
    "poisson",
    "rdp",
    "shuffle_lower",
    "shuffle_upper",
    "sk26",
    "table",
    "zcdp",
]
_QUESTIONS = ["advantage", "bayes_risk", "delta", "epsilon", "gdp", "pair", "power", "renyi", "tradeoff"]


def test_the_surface_of_the_baselines_is_frozen() -> None:
    from privloss import baselines

    assert sorted(baselines.__all__) == _BASELINES
    assert all(hasattr(baselines, name) for name in _BASELINES)


def test_the_questions_are_frozen() -> None:
    assert all(callable(getattr(pl.Scheme, name)) for name in _QUESTIONS)


def test_public_names_say_where_they_live() -> None:
    for name in _SURFACE:
        assert getattr(getattr(pl, name), "__module__", "privloss").startswith("privloss")


def test_one_version_everywhere() -> None:
    release = _script("release")
    assert set(release.versions().values()) == {pl.__version__}
    assert importlib.metadata.version("privloss") == pl.__version__


def test_import_is_light() -> None:
    rooms = [f"privloss.{room}" for room in ("_cli", "baselines", "bridges", "paper", "reproduce", "samplers", "sweep")]
    others = ["dp_accounting", "torch", "opacus", "jax"]
    heavy = ["scipy", "argparse", "rich", "matplotlib", "mpmath", "sqlite3", *others, *rooms]
    code = f"import sys, privloss; print([name for name in {heavy!r} if name in sys.modules])"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"


def test_rooms_are_there_when_looked_at() -> None:
    code = "import privloss; print([getattr(privloss, name).__name__ for name in privloss._ROOMS])"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == str([f"privloss.{name}" for name in pl._ROOMS])


def test_types_are_shipped() -> None:
    assert (Path(pl.__file__).parent / "py.typed").is_file()


def test_the_archives_are_described() -> None:
    """scripts/release.py builds them; every top folder and page must at least be named."""
    described = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for name in (".ci", "bench", "docs", "examples", "scripts", "src", "tests", "*.md", "CITATION.cff", "LICENSE"):
        assert f'"/{name}"' in described


def _script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
