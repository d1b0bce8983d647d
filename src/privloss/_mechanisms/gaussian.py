"""Gaussian noise: one centre, several centres, and on the integers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from privloss._check import Numbers, count, masses, positive, reals, same_length, show
from privloss._scheme import Mechanism, fix

if TYPE_CHECKING:
    from privloss._ask import Ask, Side
    from privloss._pair import Law

# Of sensitivity over sigma: beyond, losses are more than a double holds; below, losses are nothing beside 1, and the
# bounds are those of this and of no difference at all, which no question tells apart.
FARTHEST, NEAREST = 1e140, 1e-13
ROUNDED = 32 * 2.0**-53  # of a sigma that came from a root of a sum of squares
LOUDEST = 3000.0  # of a mixture: beyond, its integrals take too many pieces


@dataclass(frozen=True, eq=False, repr=False)
class Gaussian(Mechanism):
    """Gaussian noise: P = N(sensitivity, sigma^2) against Q = N(0, sigma^2).

    ``sigma`` is absolute: Gaussian(2.0, sensitivity=2.0) answers as Gaussian(1.0) does.

    >>> from privloss import Gaussian
    >>> Gaussian(sigma=1.5)
    Gaussian(sigma=1.5)
    """

    sigma: float
    sensitivity: float = 1.0
    symmetric: ClassVar[bool] = True  # reflect about sensitivity/2

    def __post_init__(self) -> None:
        fix(self, sigma=positive(sigma=self.sigma), sensitivity=positive(sensitivity=self.sensitivity))

    def law(self, ask: Ask) -> Law:
        from privloss._laws.faraway import APART, far_gaussian
        from privloss._laws.gaussian import GaussianLaw
        from privloss._pair import nothing_hidden, nothing_shown

        if self.sensitivity < NEAREST * self.sigma:
            return GaussianLaw(1.0, NEAREST) if ask.side == "upper" else nothing_shown()
        if self.sensitivity <= APART * self.sigma:
            return GaussianLaw(self.sigma, self.sensitivity)
        a = self.sensitivity / self.sigma
        if ask.side == "upper" and a > FARTHEST:
            return nothing_hidden()
        return far_gaussian(min(a, FARTHEST), ask.spacing, ask.side)


class Gaussians(Gaussian):
    """A composition of Gaussians as one, whose sigma is rounded: each side takes the noise that bounds it."""

    def law(self, ask: Ask) -> Law:
        margin = -ROUNDED if ask.side == "upper" else ROUNDED
        return Gaussian(self.sigma * (1 + margin), self.sensitivity).law(ask)


@dataclass(frozen=True, eq=False, repr=False)
class GaussianMixture(Mechanism):
    """Several centres: P = sum of weights_i N(sensitivities_i, sigma^2) against Q = N(0, sigma^2).

    Sensitivities are at least 0, and one that has weight is above 0. Weights sum to 1 within 1e-9, and are
    divided by their sum.

    >>> from privloss import GaussianMixture
    >>> GaussianMixture(sigma=1.0, sensitivities=[0, 1, 2], weights=[0.25, 0.5, 0.25])
    GaussianMixture(sigma=1.0, sensitivities=[0.0, 1.0, 2.0], weights=[0.25, 0.5, 0.25])
    """

    sigma: float
    sensitivities: Numbers
    weights: Numbers

    def __post_init__(self) -> None:
        fix(self, sigma=positive(sigma=self.sigma))
        fix(self, sensitivities=reals(sensitivities=self.sensitivities), weights=masses(weights=self.weights))
        same_length(sensitivities=self.sensitivities, weights=self.weights)
        wrong = [s for s in self.sensitivities if not 0 <= s < math.inf]
        if wrong:
            raise ValueError(f"sensitivities must be at least 0 and finite, got {wrong[0]!r}")
        if not any(s > 0 and w > 0 for s, w in zip(self.sensitivities, self.weights, strict=True)):
            raise ValueError(
                f"sensitivities must have one above 0 with a positive weight, got {show(self.sensitivities)}"
            )

    def law(self, ask: Ask) -> Law:
        from privloss._laws.mixture import MixtureLaw
        from privloss._pair import nothing_shown

        largest = max(s for s, w in zip(self.sensitivities, self.weights, strict=True) if w > 0)
        if not NEAREST * self.sigma <= largest <= LOUDEST * self.sigma:  # a mixture is dominated by its loudest part
            return Gaussian(self.sigma, largest).law(ask) if ask.side == "upper" else nothing_shown()
        total = math.fsum(self.weights)
        kept = [(s, w / total) for s, w in zip(self.sensitivities, self.weights, strict=True) if w > 0]
        return MixtureLaw(self.sigma, tuple(s for s, _ in kept), tuple(w for _, w in kept), ask.deadline)


@dataclass(frozen=True, eq=False, repr=False)
class DiscreteGaussian(Mechanism):
    """Gaussian noise on the integers: Q(k) proportional to exp(-k^2/(2 sigma^2)).

    P is the same about ``sensitivity``, which is whole; one coordinate. ``sigma`` is the parameter, not the
    standard deviation, of the noise.

    >>> from privloss import DiscreteGaussian
    >>> DiscreteGaussian(sigma=1.5, sensitivity=2)
    DiscreteGaussian(sigma=1.5, sensitivity=2)
    """

    sigma: float
    sensitivity: int = 1
    symmetric: ClassVar[bool] = True  # reflect: k to sensitivity - k

    def __post_init__(self) -> None:
        fix(self, sigma=positive(sigma=self.sigma), sensitivity=count(sensitivity=self.sensitivity))

    def law(self, ask: Ask) -> Law:
        from privloss._laws.integers import MOST_SIGMA, bell_error, discrete_gaussian, smooth

        if self.sigma <= MOST_SIGMA:
            return discrete_gaussian(self.sigma, self.sensitivity, ask)
        error = bell_error(self.sigma, self.sensitivity)
        return smooth(Gaussian(self.sigma, self.sensitivity).law(ask), error, ask)

    def _support(self, side: Side) -> tuple[float, float]:
        return -math.inf, math.inf
