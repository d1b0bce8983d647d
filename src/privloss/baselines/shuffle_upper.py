"""Shuffling t reports of an e0-private local randomizer, in closed form.

epsilon <= log(1 + (e^e0 - 1)/(e^e0 + 1) (8 sqrt(e^e0 log(4/delta)/t) + 8 e^e0/t)) for e0 <= log(t/(16 log(4/delta)))
(FMT21, Theorem 3.1), and e0 otherwise. It is stated for replacing one report among t that are shuffled. With all other
reports from Q, the shuffled pair is the one of an allocation: a report from P in a place chosen uniformly, or none.
"""

import math

from privloss._pair import U
from privloss._questions import largest_loss
from privloss._scheme import Scheme
from privloss.baselines._baseline import Bound, Shape, Uncovered, Way, reading


def _read(scheme: Scheme) -> Shape:
    found = reading()(scheme)
    if not math.isfinite(largest_loss(found.step, "both")[1]):
        raise Uncovered
    return found


def _inverse(setting: Shape, delta: float, way: Way) -> float:
    local, steps = largest_loss(setting.step, "both")[1], setting.steps
    if local > math.log(steps / (16 * math.log(4 / delta))) * (1 - 8 * U) or steps < 16 * math.log(4 / delta):
        return local
    grown = math.exp(local)
    reach = 8 * math.sqrt(grown * math.log(4 / delta) / steps) + 8 * grown / steps
    return min(math.log1p(math.tanh(local / 2) * reach) * (1 + 64 * U), local)


METHOD = Bound(
    name="shuffle_upper",
    year=2021,
    reference="V. Feldman, A. McMillan, K. Talwar, Hiding Among the Clones, FOCS 2021, Theorem 3.1",
    kind="upper",
    covers="an allocation of one of several steps of one mechanism whose losses are bounded, once",
    assumptions="stated for replacement among shuffled local reports, of which an allocation is a case",
    cost="one formula",
    read=_read,
    inverse=_inverse,
)
