"""Monte Carlo with the ratio by a dynamic program over steps, without importance sampling.

DG26 analyses subsampling with memory (b-min-sep) under banded noise: samples of the scheme itself, the likelihood ratio
of each by a dynamic program along the Markov chain of who takes part when. For k-out-of-t with independent noise the
state is the number of steps chosen so far, and the program computes the elementary symmetric polynomial of the ratios,
which is what is done here: steps * picks operations a sample. Low deltas need about 1/delta samples.
"""

from privloss._mechanisms import Gaussian, Laplace
from privloss.baselines._baseline import reading
from privloss.baselines._montecarlo import MonteCarlo

METHOD = MonteCarlo(
    name="dg26",
    year=2026,
    reference="A. Dong, A. Ganesh, Privacy Amplification for BandMF via b-Min-Sep Subsampling, 2026",
    kind="estimate",
    covers="an allocation of Gaussian or Laplace steps, once",
    assumptions="a confidence below 1; independent noise",
    cost="samples * steps * picks",
    read=reading(Gaussian, Laplace, picks=True),
    plain=True,
)
