"""Opacus: an accountant named "privloss", and training with random allocation in one call.

Importing this module registers the accountant, so that ``PrivacyEngine(accountant="privloss")`` finds it.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from copy import deepcopy
from itertools import groupby
from typing import Any

import privloss as pl
from privloss._bracket import Bracket
from privloss._check import show
from privloss._scheme import Scheme
from privloss.samplers import RandomAllocationSampler, _run
from privloss.samplers._stream import Seed


class Accountant:
    """Opacus' accountant interface for Poisson subsampling, which is what Opacus' own data loader does.

    ``history`` lists (noise multiplier, sample rate, steps), as its accountants' do.
    """

    name = "privloss"

    def __init__(self) -> None:
        self.history: list[tuple[float, float, int]] = []

    @classmethod
    def mechanism(cls) -> str:
        return cls.name

    def __len__(self) -> int:
        """The optimisation steps taken."""
        return sum(steps for *_, steps in self.history)

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        entry, steps = (noise_multiplier, sample_rate), 1
        if self.history and self.history[-1][:2] == entry:
            steps += self.history.pop()[2]
        self.history.append((*entry, steps))

    def scheme(self) -> Scheme:
        """What was done so far to one person's data."""
        self._begun()
        rounds = [pl.Gaussian(noise).subsample(rate).repeat(steps) for noise, rate, steps in self.history]
        return rounds[0] if len(rounds) == 1 else pl.compose(*rounds)

    def epsilon(self, delta: float, **asked: Any) -> Bracket:
        """What was spent so far, as a bracket; ``asked`` is what ``Scheme.epsilon`` takes, such as ``rtol``."""
        return self.scheme().epsilon(delta, **asked)

    def get_epsilon(self, delta: float, **asked: Any) -> float:
        """What was spent so far: the upper bound. 0 before the first step, infinite after one without noise."""
        if not self.history or any(noise == 0 for noise, *_ in self.history):
            return float("inf") if self.history else 0.0
        return float(self.epsilon(delta, **asked))

    def get_optimizer_hook_fn(self, sample_rate: float) -> Callable[[Any], None]:
        """What ``DPOptimizer`` is to call at each step."""

        def hook(optimizer: Any) -> None:
            rate = sample_rate * optimizer.accumulated_iterations
            self.step(noise_multiplier=optimizer.noise_multiplier, sample_rate=rate)

        return hook

    def state_dict(self, destination: MutableMapping[str, Any] | None = None) -> MutableMapping[str, Any]:
        state = {} if destination is None else destination
        state.update(history=deepcopy(self.history), mechanism=self.mechanism())
        return state

    def load_state_dict(self, state_dict: MutableMapping[str, Any]) -> None:
        if not state_dict or state_dict.get("mechanism") != self.mechanism() or "history" not in state_dict:
            keys = show(dict(state_dict or {}))
            raise ValueError(f"state_dict must have a history and mechanism={self.mechanism()!r}, got {keys}")
        self.history = [(noise, rate, steps) for noise, rate, steps in state_dict["history"]]

    def _begun(self) -> None:
        if not self.history:
            raise ValueError("no step was taken yet: nothing was spent")


class AllocationAccountant(Accountant):
    """The same for batches drawn by a ``RandomAllocationSampler``; ``make_private_with_allocation`` attaches it.

    It notes of every step which epoch of the sampler it belongs to. A run that has ended early is accounted for as
    such, if what ended it was not something that the run had published.
    """

    name = "privloss-allocation"

    def __init__(self, sampler: RandomAllocationSampler) -> None:
        super().__init__()
        self.sampler = sampler
        self.epochs: list[int] = []  # of the entries of history

    def step(self, *, noise_multiplier: float, sample_rate: float = 0.0) -> None:
        """``sample_rate`` is what Opacus believes it to be; the sampler knows better."""
        steps = self.sampler.steps
        given = self.sampler.given
        epoch, drawn = divmod(given - 1, steps)
        used = sum(n for (*_, n), begun in zip(self.history, self.epochs, strict=True) if begun == epoch)
        if given == 0 or used > drawn:
            raise RuntimeError(
                f"a step needs a batch of its own, got step {used + 1} of an epoch of which {used} batches are drawn: "
                "take them from the loader that make_private_with_allocation returned"
            )
        entry = (noise_multiplier, self.sampler.picks / steps)
        if self.history and self.epochs[-1] == epoch and self.history[-1][:2] == entry:
            self.history[-1] = (*entry, self.history[-1][2] + 1)
        else:
            self.history.append((*entry, 1))
            self.epochs.append(epoch)

    def scheme(self) -> Scheme:
        self._begun()
        entries = zip(self.epochs, self.history, strict=True)
        epochs = [
            [(pl.Gaussian(noise), steps) for _, (noise, _, steps) in epoch]
            for _, epoch in groupby(entries, key=lambda entry: entry[0])
        ]
        worst = pl.Gaussian(min(noise for noise, *_ in self.history))
        return _run.scheme(epochs, self.sampler.steps, self.sampler.picks, self.sampler.fresh, worst)

    def get_optimizer_hook_fn(self, sample_rate: float) -> Callable[[Any], None]:
        def hook(optimizer: Any) -> None:
            if optimizer.accumulated_iterations != 1:
                raise RuntimeError(
                    f"one batch a step, got {optimizer.accumulated_iterations}: for larger batches give fewer steps, "
                    "for smaller pieces of a batch use opacus.utils.batch_memory_manager"
                )
            self.step(noise_multiplier=optimizer.noise_multiplier)

        return hook

    def state_dict(self, destination: MutableMapping[str, Any] | None = None) -> MutableMapping[str, Any]:
        """The sampler's state too, and so its key: keep it as secret as the data."""
        state = super().state_dict(destination)
        state.update(epochs=list(self.epochs), sampler=self.sampler.state_dict())
        return state

    def load_state_dict(self, state_dict: MutableMapping[str, Any]) -> None:
        super().load_state_dict(state_dict)
        self.epochs = list(state_dict["epochs"])
        self.sampler.load_state_dict(state_dict["sampler"])


def make_private_with_allocation(
    *,
    module: Any,
    optimizer: Any,
    data_loader: Any,
    epochs: int,
    max_grad_norm: float,
    epsilon: float | None = None,
    delta: float | None = None,
    noise_multiplier: float | None = None,
    steps: int | None = None,
    picks: int = 1,
    fresh: bool = True,
    generator: Seed = None,
    engine: Any = None,
    seconds: float | None = 60.0,
    **more: Any,
) -> tuple[Any, ...]:
    """DP-SGD with random allocation: (module, optimizer, data loader, accountant).

    * ``data_loader`` gives the dataset and how to load it; its batches are replaced by those of a
      ``RandomAllocationSampler``, of ``steps`` steps an epoch (as many as it had, by default). Iterate over the loader
      returned once an epoch, for ``epochs`` epochs, with one optimizer step for every batch, empty ones included.
    * The noise is the least for which the whole run is (``epsilon``, ``delta``)-DP, found within ``seconds``; or give
      ``noise_multiplier`` instead.
    * Gradients are divided by the expected size of a batch, not by the actual one, which is private.
    * ``accountant.get_epsilon(delta)`` says at any time what was spent; so does ``engine.get_epsilon(delta)``.
    * ``engine`` is a ``PrivacyEngine``, a new one by default; its accountant is replaced. ``more`` goes to its
      ``make_private``, such as ``grad_sample_mode`` or ``clipping``; what that returns is returned with the accountant.
    """
    opacus = _opacus()
    torch_data = _data()
    if isinstance(data_loader.dataset, torch_data.IterableDataset):
        raise ValueError("data_loader must have a dataset with indices, got one over an IterableDataset")
    distributed = opacus.privacy_engine.DPDDP, opacus.privacy_engine.DDP
    rank, world = _place(isinstance(module, distributed))
    sampler = RandomAllocationSampler(
        len(data_loader.dataset),
        len(data_loader) if steps is None else steps,
        picks,
        epochs,
        fresh,
        generator,
        rank=rank,
        world=world,
    )
    noise = _noise(sampler, epsilon, delta, noise_multiplier, seconds)
    if engine is None:
        engine = opacus.PrivacyEngine(accountant=Accountant.name)
    if engine.secure_mode:
        raise ValueError("engine must not be in secure mode: Opacus would replace the sampler; see the guide")
    accountant = engine.accountant = AllocationAccountant(sampler)
    private = engine.make_private(
        module=module,
        optimizer=optimizer,
        data_loader=_loader(data_loader, sampler),
        noise_multiplier=noise,
        max_grad_norm=max_grad_norm,
        poisson_sampling=False,
        **more,
    )
    private[0].forbid_grad_accumulation()
    private[1].expected_batch_size = sampler.expected() / world
    return (*private, accountant)


def _noise(
    sampler: RandomAllocationSampler,
    epsilon: float | None,
    delta: float | None,
    noise_multiplier: float | None,
    seconds: float | None,
) -> float:
    if noise_multiplier is not None:
        if epsilon is not None or delta is not None:
            raise ValueError("noise_multiplier must be given alone, got epsilon or delta with it")
        return pl.Gaussian(noise_multiplier).sigma
    needed = pl.calibrate(
        lambda sigma: sampler.scheme(pl.Gaussian(sigma)), epsilon=epsilon, delta=delta, seconds=seconds
    )
    return float(needed)


def _loader(data_loader: Any, sampler: RandomAllocationSampler) -> Any:
    """The same loader with other batches."""
    from privloss.samplers.torch import loader

    kept = ("num_workers", "pin_memory", "timeout", "worker_init_fn", "multiprocessing_context", "generator")
    more = {name: getattr(data_loader, name) for name in (*kept, "prefetch_factor", "persistent_workers")}
    return loader(data_loader.dataset, sampler, data_loader.collate_fn, **more)


def _place(distributed: bool) -> tuple[int, int]:
    if not distributed:
        return 0, 1
    import torch.distributed

    return torch.distributed.get_rank(), torch.distributed.get_world_size()


def _opacus() -> Any:
    try:
        import opacus
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(f"needs {missing.name}: pip install 'privloss[opacus]'") from None
    return opacus


def _data() -> Any:
    import torch.utils.data

    return torch.utils.data


def _register() -> None:
    accountants = _opacus().accountants
    accountants.IAccountant.register(Accountant)
    accountants.register_accountant(Accountant.name, Accountant, force=True)


_register()
