"""Batch samplers that say which scheme they realise.

Each yields one epoch of batches, lists of indices, whenever it is iterated over. It can be used alone, with
``privloss.samplers.torch.loader``, or as the ``batch_sampler`` of a PyTorch ``DataLoader`` whose ``collate_fn`` knows
what an empty batch looks like (``privloss.samplers.torch.Collate``).

>>> import privloss as pl
>>> from privloss.samplers import RandomAllocationSampler
>>> sampler = RandomAllocationSampler(size=10, steps=4, epochs=3, generator=0)
>>> batches = list(sampler)
>>> len(batches), sorted(index for batch in batches for index in batch)
(4, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
>>> sampler.scheme(pl.Gaussian(1.0))
Gaussian(sigma=1.0).allocate(steps=4).repeat(rounds=3)
"""

from privloss.samplers._allocation import RandomAllocationSampler
from privloss.samplers._poisson import PoissonSampler
from privloss.samplers._sampler import Sampler
from privloss.samplers._shuffle import ShuffleSampler

__all__ = ["PoissonSampler", "RandomAllocationSampler", "Sampler", "ShuffleSampler"]
