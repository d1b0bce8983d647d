"""Monte Carlo: the mean of importance samples of the scheme itself, within bounds of a given confidence.

For one pick of many steps the samples may be order statistics, which bound delta from above only. Which way of drawing
is best is found on a pilot sample of its own; whichever it is, the bounds hold with the confidence. An epsilon is
bracketed by two values at which delta, each time on new samples, is shown to be above and below the target.
"""

from privloss._mechanisms import Gaussian, Laplace
from privloss.baselines._baseline import reading
from privloss.baselines._montecarlo import MonteCarlo

METHOD = MonteCarlo(
    name="monte_carlo",
    year=2024,
    reference="L. Chua, B. Ghazi, C. Harrison, E. Leeman, P. Kamath, R. Kumar, P. Manurangsi, A. Sinha, C. Zhang, "
    "Balls-and-Bins Sampling for DP-SGD, 2024",
    kind="estimate",
    covers="an allocation of Gaussian or Laplace steps, once",
    assumptions="a confidence below 1; the seed was not chosen after seeing the answer",
    cost="samples * steps * picks, or samples * 250 by order statistics",
    read=reading(Gaussian, Laplace, picks=True),
)
