"""The schemes that the laws of answers are tested on: all mechanisms, all operations, up to four deep.

All are quick to answer. ``tests/schemes.py`` has the list for tests of structure, where nothing is computed.
"""

from __future__ import annotations

from math import inf

import privloss as pl
from privloss import Scheme


def schemes() -> list[tuple[str, Scheme]]:
    """(name, scheme) pairs, the same in every call."""
    return mechanisms() + operations() + nested()


def mechanisms() -> list[tuple[str, Scheme]]:
    return [
        ("gaussian", pl.Gaussian(1.0)),
        ("loud gaussian", pl.Gaussian(20.0, sensitivity=2.0)),
        ("laplace", pl.Laplace(1.5)),
        ("discrete gaussian", pl.DiscreteGaussian(1.5, sensitivity=2)),
        ("discrete laplace", pl.DiscreteLaplace(2.0, sensitivity=3)),
        ("gaussian mixture", pl.GaussianMixture(1.0, [0.0, 1.0, 2.0], [0.5, 0.25, 0.25])),
        ("randomized response", pl.RandomizedResponse(0.75)),
        ("many-valued response", pl.RandomizedResponse(0.5, values=5)),
        ("pure", pl.PureDP(1.0)),
        ("approximate", pl.ApproximateDP(0.5, 2.0**-10)),
        ("privacy loss", pl.PrivacyLoss([-0.5, 0.25, 1.0, inf], [0.125, 0.5, 0.25, 0.125])),
        ("outcomes", THREE),
    ]


THREE = pl.Outcomes([0.5, 0.25, 0.25, 0.0], [0.25, 0.25, 0.375, 0.125])


def operations() -> list[tuple[str, Scheme]]:
    step = pl.Gaussian(1.0)
    return [
        ("allocated gaussian", step.allocate(1000)),
        ("few steps, small noise", pl.Gaussian(0.4).allocate(5)),
        ("blocks", step.allocate(100, picks=7)),
        ("allocated response", pl.RandomizedResponse(0.75).allocate(50)),
        ("allocated laplace", pl.Laplace(1.0).allocate(20)),
        ("sampled gaussian", step.subsample(0.05)),
        ("dpsgd", step.subsample(0.01).repeat(500)),
        ("composed laplace", pl.Laplace(3.0).repeat(20)),
        ("composition", pl.compose(step, pl.Laplace(2.0), pl.ApproximateDP(0.25, 2.0**-20))),
        ("mixed steps", pl.allocate([(pl.Gaussian(1.0), 50), (pl.Gaussian(1.5), 50)], weights=[0.25, 0.75])),
        ("swapped", THREE.allocate(12).swap()),
    ]


def nested() -> list[tuple[str, Scheme]]:
    return [
        ("epochs", pl.Gaussian(1.0).allocate(100).repeat(10)),
        ("kept bins", pl.Gaussian(2.0).repeat(5).allocate(100)),
        ("sampled epochs", pl.Gaussian(1.0).allocate(100).subsample(0.05).repeat(50)),
        ("four deep", pl.Laplace(2.0).subsample(0.5).allocate(10).repeat(3).allocate(10)),
        ("swap inside", THREE.swap().allocate(8).subsample(0.25).repeat(4)),
        (
            "mixture of runs",
            pl.allocate([(pl.Gaussian(2.0).repeat(3), 10), (pl.PureDP(0.5).allocate(4), 20)]),
        ),
    ]
