"""The package as a package: one version, a frozen surface, a light import."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import privloss as pl

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
]


def test_the_public_surface_is_frozen() -> None:
    assert sorted(pl.__all__) == _SURFACE
    assert all(hasattr(pl, name) for name in _SURFACE)


def test_public_names_say_where_they_live() -> None:
    for name in _SURFACE:
        assert getattr(getattr(pl, name), "__module__", "privloss").startswith("privloss")


def test_one_version_everywhere() -> None:
    release = _script("release")
    assert set(release.versions().values()) == {pl.__version__}
    assert importlib.metadata.version("privloss") == pl.__version__


def test_import_is_light() -> None:
    heavy = ["scipy", "argparse", "rich", "matplotlib", "mpmath", "privloss._cli", "torch", "opacus", "jax"]
    code = f"import sys, privloss; print([name for name in {heavy!r} if name in sys.modules])"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"


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
