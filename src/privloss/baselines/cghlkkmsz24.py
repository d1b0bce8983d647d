"""A lower bound for balls-and-bins: the best test that looks at the largest output only.

Remove: max over C of P(max > C) - e^epsilon Q(max > C), Q(max > C) = 1 - Phi(C/sigma)^t and P(max > C) =
1 - Phi((C-1)/sigma) Phi(C/sigma)^(t-1). The opposite event is a test for add as well.
"""

from privloss._mechanisms import Gaussian
from privloss.baselines._baseline import Bound, Shape, Way, reading
from privloss.baselines._cube import best


def _curve(setting: Shape, epsilon: float, way: Way) -> float:
    mu = setting.step.sensitivity / setting.step.sigma
    return max(best((mu, 0.0), setting.steps, epsilon, way) * (1 - 1e-14), 0.0)


METHOD = Bound(
    name="cghlkkmsz24",
    year=2024,
    reference="L. Chua, B. Ghazi, C. Harrison, E. Leeman, P. Kamath, R. Kumar, P. Manurangsi, A. Sinha, C. Zhang, "
    "Balls-and-Bins Sampling for DP-SGD, 2024",
    kind="lower",
    covers="an allocation of one of several Gaussian steps, once",
    assumptions="none",
    cost="hundreds of normal tails",
    read=reading(Gaussian),
    curve=_curve,
)
