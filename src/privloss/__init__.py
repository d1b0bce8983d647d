"""Certified privacy accounting for any nesting of subsampling, random allocation and composition.

>>> import privloss as pl
>>> run = pl.Gaussian(sigma=1.0).allocate(steps=1000).repeat(rounds=10)
>>> bracket = run.epsilon(delta=1e-6)
>>> bracket.lower <= bracket.upper
True
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from privloss._bracket import Bracket
from privloss._mechanisms import (
    ApproximateDP,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    GaussianMixture,
    Laplace,
    Outcomes,
    PrivacyLoss,
    PureDP,
    RandomizedResponse,
)
from privloss._operations import allocate, compose
from privloss._scheme import Scheme
from privloss._text import parse

if TYPE_CHECKING:
    from privloss.sweep import sweep

__version__ = "0.1.0"

__all__ = [
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

# Imported when they are first looked at; `sweep` can be called.
_ROOMS = ("baselines", "bridges", "paper", "reproduce", "samplers", "sweep")


def __getattr__(name: str) -> Any:
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return import_module(f"{__name__}.{name}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_ROOMS})


def calibrate(
    function: Callable[..., Scheme],
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    advantage: float | None = None,
    integer: bool = False,
    within: tuple[float, float] | None = None,
    direction: Literal["remove", "add", "both"] = "both",
    rtol: float = 1e-3,
    seconds: float | None = 5.0,
) -> Bracket:
    """The argument of ``function`` at which the scheme it returns just meets a target.

    The target is ``epsilon`` with ``delta``, or ``advantage``. The trend is found: more noise is more
    private, more rounds less. The safe end of the bracket is proven to meet the target, by an upper bound;
    the other end is proven to miss it, by a lower bound. ``integer`` asks for a whole number, ``within``
    limits the search.

    >>> import privloss as pl
    >>> noise = pl.calibrate(lambda sigma: pl.Gaussian(sigma).allocate(1000), epsilon=1.0, delta=1e-6)
    >>> noise.safe
    'upper'
    """
    from privloss import _calibrate

    return _calibrate.calibrate(
        function,
        epsilon=epsilon,
        delta=delta,
        advantage=advantage,
        integer=integer,
        within=within,
        direction=direction,
        rtol=rtol,
        seconds=seconds,
    )
