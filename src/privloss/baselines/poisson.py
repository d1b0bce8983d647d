"""Poisson subsampling with the same expected number of chosen steps: what DP-SGD is usually accounted by.

It bounds the allocation from neither side: the two curves cross (CGHLKKMSZ24). The bracket is certified for the twin.
"""

from privloss._scheme import Scheme
from privloss.baselines._baseline import Estimate, Way


def _ends(given: str, value: float, scheme: Scheme, ways: tuple[Way, ...]) -> tuple[float, float, str]:
    twin = scheme.poisson()
    found = []
    for way in ways:
        answer = twin.delta(value, direction=way) if given == "epsilon" else twin.epsilon(value, direction=way)
        found.append(answer)
    lower, upper = (max(float(getattr(answer, end)) for answer in found) for end in ("lower", "upper"))
    return lower, upper, f"of the Poisson twin, for which it is certified: {found[0].reason}"


METHOD = Estimate(
    name="poisson",
    year=2016,
    reference="M. Abadi et al., Deep Learning with Differential Privacy, CCS 2016; the curve: this package",
    kind="estimate",
    about="Poisson subsampling at the same expected participation",
    covers="any scheme",
    assumptions="each step chosen independently, at rate picks/steps",
    cost="one answer",
    read=lambda scheme: scheme,
    ends=_ends,
)
