"""Schemes that the tests of structure go through: every kind of mechanism and operation, and some nesting."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import privloss as pl
from privloss import Scheme

MECHANISMS: list[Scheme] = [
    pl.Gaussian(1.0),
    pl.Gaussian(0.1, sensitivity=2.5),
    pl.Laplace(2.0),
    pl.DiscreteGaussian(1.5, sensitivity=2),
    pl.DiscreteLaplace(2.0),
    pl.GaussianMixture(1.0, [0.0, 1.0, 2.0], [0.25, 0.5, 0.25]),
    pl.RandomizedResponse(0.75),
    pl.RandomizedResponse(0.5, values=4),
    pl.PureDP(0.0),
    pl.PureDP(1.0),
    pl.ApproximateDP(0.5, 1e-6),
    pl.PrivacyLoss([-0.5, 0.5, inf], [0.25, 0.65, 0.1]),
    pl.Outcomes([0.75, 0.25], [0.25, 0.75]),
]

STEP = pl.Gaussian(1.0)

OPERATIONS: list[Scheme] = [
    STEP.allocate(1000),
    STEP.allocate(1000, picks=32),
    STEP.subsample(0.01),
    STEP.repeat(10),
    STEP.allocate(1000).swap(),
    STEP + pl.Laplace(2.0),
    pl.compose(STEP),
    pl.compose(STEP, STEP),
    pl.allocate([(STEP, 500), (pl.Gaussian(1.2), 500)]),
    pl.allocate([(STEP, 500), (pl.Laplace(1.2).repeat(2), 100)], weights=[0.1, 0.9]),
    STEP.allocate(1000).subsample(0.05).repeat(200),
    STEP.repeat(10).allocate(1000),
    (STEP.allocate(10).repeat(3) + pl.PureDP(0.1)).subsample(0.5).swap().allocate(4, picks=2),
]

ALL = MECHANISMS + OPERATIONS


GROW: list[Callable[[Scheme], Scheme]] = [
    lambda s: s.subsample(0.5),
    lambda s: s.allocate(3),
    lambda s: s.repeat(2),
    lambda s: pl.compose(s, pl.Laplace(1.0)),
    lambda s: pl.allocate([(s, 2), (pl.Laplace(1.0), 3)]),
    lambda s: s.swap(),
]


def chain(levels: int) -> Scheme:
    """A scheme so deep that recursion over it would overflow the interpreter's stack."""
    scheme: Scheme = STEP
    for level in range(levels):
        scheme = GROW[level % len(GROW)](scheme)
    return scheme
