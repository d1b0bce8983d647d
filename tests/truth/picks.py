"""2-out-of-4 allocation of a Gaussian, and its reduction to two blocks of two, by quadrature in NumPy.

With z_i = exp(mu y_i - mu^2/2), delta for remove is E (x - k)_+ over independent normal y_i, where

    scheme      x = mean of z_i z_j over the six pairs
    reduction   x = (z_1 + z_2)/2 (z_3 + z_4)/2

Both are a + b z_4: given the first three the expectation over z_4 is that of an option (Black and Scholes), smooth
in y_1..y_3, so that the trapezoidal rule has five digits.
"""

from __future__ import annotations

from math import erfc, exp, sqrt

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def delta(sigma: float, epsilon: float, reduction: bool, width: float = 0.25) -> float:
    mu, k = 1 / sigma, exp(epsilon)
    y = np.arange(-8.0, 8.0 + 2 * mu, width)
    z = np.exp(mu * y - mu * mu / 2)
    weight = np.exp(-y * y / 2) * width / sqrt(2 * np.pi)
    first, second, third = z[:, None, None], z[None, :, None], z[None, None, :]
    if reduction:
        b = (first + second) / 4 + 0 * third
        a = b * third
    else:
        b = (first + second + third) / 6
        a = (first * second + first * third + second * third) / 6
    weights = weight[:, None, None] * weight[None, :, None] * weight[None, None, :]
    return float(np.sum(weights * _option(a, b, k, mu)))


def _option(a: Array, b: Array, k: float, mu: float) -> Array:
    """E (a + b z - k)_+."""
    sure = a >= k
    strike = np.where(sure, 1.0, (k - a) / b)
    y = np.log(strike) / mu + mu / 2
    bought: Array = np.where(sure, a + b - k, b * (_normal(mu - y) - strike * _normal(-y)))
    return bought


def _normal(y: Array) -> Array:
    return np.array([erfc(-x / sqrt(2)) / 2 for x in y.ravel().tolist()]).reshape(y.shape)
