"""Mechanisms, the leaves of a scheme: one short file per family. To add one, add it to ``MECHANISMS`` too."""

from privloss._mechanisms.gaussian import DiscreteGaussian, Gaussian, GaussianMixture
from privloss._mechanisms.guarantee import ApproximateDP, PureDP
from privloss._mechanisms.laplace import DiscreteLaplace, Laplace
from privloss._mechanisms.listed import Outcomes, PrivacyLoss
from privloss._mechanisms.response import RandomizedResponse

MECHANISMS = (
    Gaussian,
    Laplace,
    DiscreteGaussian,
    DiscreteLaplace,
    GaussianMixture,
    RandomizedResponse,
    PureDP,
    ApproximateDP,
    PrivacyLoss,
    Outcomes,
)

__all__ = [
    "MECHANISMS",
    "ApproximateDP",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Gaussian",
    "GaussianMixture",
    "Laplace",
    "Outcomes",
    "PrivacyLoss",
    "PureDP",
    "RandomizedResponse",
]
