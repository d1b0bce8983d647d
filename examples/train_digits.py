"""Handwritten digits with DP-SGD, the batches drawn in three ways, at the same epsilon.

    python examples/train_digits.py --plot docs/images/digits.svg

* Poisson: everyone is in each batch with probability 1/steps. Opacus' own loader.
* shuffled, reported as Poisson: THE COMMON MISTAKE. The batches are those of an ordinary loader, the noise and the
  epsilon those of Poisson, and that epsilon is not theirs.
* random allocation: everyone is in exactly one batch of each epoch, which one is drawn independently.

Needs the extra opacus, scikit-learn (whose package holds the images: nothing is downloaded) and, to plot, Matplotlib.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from opacus import PrivacyEngine
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import privloss as pl
from privloss.bridges.opacus import make_private_with_allocation

DELTA, BATCH, CLIP, RATE, TEST = 1e-5, 64, 1.0, 1.0, 360
MISTAKE = "shuffled, reported as Poisson (a mistake)"


def data() -> tuple[TensorDataset, tuple[torch.Tensor, torch.Tensor]]:
    """1,437 images to train with and 360 to test with, the same in every run."""
    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(labels))
    x, y = torch.tensor(images[order] / 16 - 0.5, dtype=torch.float32), torch.tensor(labels[order])
    return TensorDataset(x[TEST:], y[TEST:]), (x[:TEST], y[:TEST])


def poisson(sigma: float, epochs: int, **training: Any) -> tuple[Any, ...]:
    engine = PrivacyEngine(accountant="privloss")
    private: tuple[Any, ...] = engine.make_private(noise_multiplier=sigma, max_grad_norm=CLIP, **training)
    return private


def shuffled(sigma: float, epochs: int, **training: Any) -> tuple[Any, ...]:
    engine = PrivacyEngine(accountant="privloss")  # believes what it is told: Poisson
    private: tuple[Any, ...] = engine.make_private(
        noise_multiplier=sigma, max_grad_norm=CLIP, poisson_sampling=False, **training
    )
    return private


def allocated(sigma: float, epochs: int, **training: Any) -> tuple[Any, ...]:
    return make_private_with_allocation(noise_multiplier=sigma, epochs=epochs, max_grad_norm=CLIP, **training)


def accuracy(private: Callable[..., tuple[Any, ...]], sigma: float, epochs: int, seed: int) -> float:
    """Of a small network, on the images that it has not seen."""
    torch.manual_seed(seed)
    train, (x_test, y_test) = data()
    module = nn.Sequential(nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 10))
    optimizer = torch.optim.SGD(module.parameters(), lr=RATE)
    loader = DataLoader(train, batch_size=BATCH, shuffle=True)
    module, optimizer, loader, *_ = private(sigma, epochs, module=module, optimizer=optimizer, data_loader=loader)
    for _ in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(module(x), y).backward()
            optimizer.step()
    with torch.no_grad():
        return float((module(x_test).argmax(1) == y_test).float().mean())


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--plot", help="where to write the plot")
    given = parser.parse_args(arguments)
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore", "Secure RNG turned off")
    warnings.filterwarnings("ignore", "Full backward hook is firing")
    steps = -(-len(data()[0]) // BATCH)

    def noise(run: Callable[[pl.Scheme], pl.Scheme]) -> float:
        needed = pl.calibrate(lambda sigma: run(pl.Gaussian(sigma)), epsilon=given.epsilon, delta=DELTA, seconds=None)
        return float(needed)

    by_poisson = noise(lambda step: step.subsample(1 / steps).repeat(steps * given.epochs))
    by_allocation = noise(lambda step: step.allocate(steps).repeat(given.epochs))
    unamplified = float(pl.Gaussian(by_poisson).repeat(given.epochs).epsilon(DELTA))
    runs = {
        "Poisson": (poisson, by_poisson, f"{given.epsilon:g}"),
        MISTAKE: (shuffled, by_poisson, f"not {given.epsilon:g}; proven: {unamplified:.2f}, for zeroing out"),
        "random allocation": (allocated, by_allocation, f"{given.epsilon:g}"),
    }
    print(f"digits, {steps} steps an epoch, {given.epochs} epochs, delta = {DELTA:g}, {given.seeds} seeds\n")
    print("| sampling | epsilon | sigma | accuracy |\n|---|---|---|---|")
    results = {}
    for name, (private, sigma, claim) in runs.items():
        results[name] = np.array([accuracy(private, sigma, given.epochs, seed) for seed in range(given.seeds)])
        mean, error = results[name].mean(), results[name].std(ddof=1) / given.seeds**0.5
        print(f"| {name} | {claim} | {sigma:.3f} | {mean:.1%} +- {error:.1%} |", flush=True)
    if given.plot:
        plot(results, given.epsilon, given.plot)


def plot(results: dict[str, Any], epsilon: float, path: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "privloss"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 2.4))
    for row, (name, values) in enumerate(results.items()):
        color = "tab:red" if name == MISTAKE else "tab:blue"
        axes.plot(values, np.full(len(values), row), "o", color=color, alpha=0.3)
        axes.errorbar(values.mean(), row, xerr=values.std(ddof=1) / len(values) ** 0.5, fmt="|", color=color, capsize=6)
    axes.set_yticks(range(len(results)), [name.replace(", ", ",\n") for name in results])
    axes.set_ylim(len(results) - 0.5, -0.5)
    axes.set_xlabel(f"accuracy (each dot a seed; mean and standard error), epsilon = {epsilon:g}")
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})


if __name__ == "__main__":
    main()
