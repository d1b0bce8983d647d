"""A lower bound for *shuffled* Gaussian batches, for orientation: it says nothing about an allocation.

Batches of a random permutation, every query adding 1 for each of the others and -1 or 0 for the one in question: then
the pair is a mixture of N(2 e_i, sigma^2) against one of N(e_i, sigma^2) (CGKKMSZ24a), and the test is the largest
coordinate. The adjacency is replacement by an empty record; the direction only says which of the two is the null.
"""

from privloss._mechanisms import Gaussian
from privloss.baselines._baseline import Bound, Shape, Way, reading
from privloss.baselines._cube import best


def _curve(setting: Shape, epsilon: float, way: Way) -> float:
    mu = setting.step.sensitivity / setting.step.sigma
    return max(best((2 * mu, mu), setting.steps, epsilon, way) * (1 - 1e-14), 0.0)


METHOD = Bound(
    name="shuffle_lower",
    year=2024,
    reference="L. Chua, B. Ghazi, P. Kamath, R. Kumar, P. Manurangsi, A. Sinha, C. Zhang, How Private are DP-SGD "
    "Implementations?, ICML 2024",
    kind="lower",
    about="shuffling the same steps",
    covers="an allocation of one of several Gaussian steps, once",
    assumptions="batches by permutation; one record replaced by an empty one; adaptive linear queries",
    cost="hundreds of normal tails",
    read=reading(Gaussian),
    curve=_curve,
)
