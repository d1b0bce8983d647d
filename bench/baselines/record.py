"""Values of other packages' own implementations, written into tests/vectors, where tests compare ours with them.

    ENVIRONMENT/bin/python bench/baselines/record.py random-allocation
    ENVIRONMENT/bin/python bench/baselines/record.py riskcal

The first wants the environment of ``bench/peers/requirements-random-allocation.txt``, the second one with
``riskcal==1.5.1``; neither needs this package. A minute each.
"""

from __future__ import annotations

import importlib.metadata
import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

VECTORS = Path(__file__).resolve().parents[2] / "tests" / "vectors"
SETTINGS = [  # sigma, steps, picks, rounds, delta
    (1.0, 1000, 1, 1, 1e-6),
    (1.0, 10, 1, 1, 1e-6),
    (1.0, 100, 1, 1, 1e-6),
    (2.0, 100, 1, 1, 1e-6),
    (4.0, 1000, 1, 1, 1e-6),
    (0.5, 1000, 1, 1, 1e-5),
    (3.0, 10000, 1, 1, 1e-8),
    (5.0, 1000, 10, 1, 1e-6),
    (2.0, 1000, 5, 1, 1e-6),
    (2.0, 100, 1, 10, 1e-6),
]
WAYS = ("remove", "add")


def main(which: str) -> None:
    warnings.simplefilter("ignore")
    rows = {"random-allocation": random_allocation, "riskcal": riskcal}[which]
    names = [which, "dp-accounting", "numpy", "scipy"]
    versions = {name: importlib.metadata.version(name) for name in names}
    head = {"made by": f"bench/baselines/record.py {which}", "versions": versions}
    path = VECTORS / f"{which.replace('-', '_')}.json"
    lines = ",\n".join(json.dumps(row) for row in rows())
    path.write_text(f'{{"about": {json.dumps(head)},\n"rows": [\n{lines}\n]}}\n', encoding="utf-8")
    print(path)


def random_allocation() -> Iterator[dict[str, Any]]:
    import random_allocation.comparisons.definitions as definitions
    from random_allocation.other_schemes.poisson import Poisson_epsilon_PLD as poisson
    from random_allocation.random_allocation_scheme import RDP_DCO as dco
    from random_allocation.random_allocation_scheme.analytic import allocation_epsilon_analytic as analytic
    from random_allocation.random_allocation_scheme.combined import allocation_epsilon_combined as combined
    from random_allocation.random_allocation_scheme.decomposition import (
        allocation_epsilon_decomposition as decomposition,
    )
    from random_allocation.random_allocation_scheme.direct import allocation_epsilon_direct as direct
    from random_allocation.random_allocation_scheme.direct import allocation_RDP_remove as moments
    from random_allocation.random_allocation_scheme.lower_bound import allocation_epsilon_lower_bound as lower
    from random_allocation.random_allocation_scheme.recursive import allocation_epsilon_recursive as recursive

    methods = {
        "fs25_analytic": analytic,
        "fs25_decomposition": decomposition,
        "fs25_recursive": recursive,
        "fs25_direct": direct,
        "fs25": combined,
        "dco25": dco.allocation_epsilon_RDP_DCO,
        "poisson": poisson,
        "cghlkkmsz24": lower,
    }
    single = ("fs25_decomposition", "cghlkkmsz24")
    for sigma, steps, picks, rounds, delta in SETTINGS:
        at = {"sigma": sigma, "steps": steps, "picks": picks, "rounds": rounds}
        params = definitions.PrivacyParams(
            sigma=sigma, num_steps=steps, num_selected=picks, num_epochs=rounds, delta=delta
        )
        for name, method in methods.items():
            if name in single and picks * rounds > 1:
                continue
            for way in ("remove",) if name == "cghlkkmsz24" else WAYS:
                config = definitions.SchemeConfig(
                    allocation_direct_alpha_orders=list(range(2, 41)),
                    epsilon_tolerance=1e-5,
                    verbosity=definitions.Verbosity.NONE,
                )
                found = method(params=params, config=config, direction=definitions.Direction(way))
                yield {**at, "method": name, "direction": way, "delta": delta, "epsilon": float(found)}
    for sigma, steps in ((1.0, 10), (1.0, 1000), (0.7, 20), (2.0, 100)):
        for order in (2, 3, 8, 30):
            at = {"sigma": sigma, "steps": steps, "order": order}
            yield {**at, "method": "renyi", "direction": "remove", "value": float(moments(order, sigma, steps))}
            found = dco.allocation_RDP_DCO_remove(sigma, steps, 1, float(order))
            yield {**at, "method": "dco25 remove", "direction": "remove", "value": float(found)}
            found = dco.allocation_RDP_DCO_add(sigma, steps, 1, float(order))
            yield {**at, "method": "dco25 add", "direction": "add", "value": float(found)}


def riskcal() -> Iterator[dict[str, Any]]:
    """On the mechanisms of its own examples: Gaussian, Laplace, DP-SGD."""
    import numpy as np
    from dp_accounting.pld import privacy_loss_distribution as pld
    from riskcal import analysis

    step = 1e-4
    schemes = {
        "Gaussian(1.0)": pld.from_gaussian_mechanism(1.0, value_discretization_interval=step),
        "Laplace(1.0)": pld.from_laplace_mechanism(1.0, value_discretization_interval=step),
        "Gaussian(0.8).subsample(0.01).repeat(1000)": pld.from_gaussian_mechanism(
            0.8, sampling_prob=0.01, value_discretization_interval=step
        ).self_compose(1000),
    }
    for text, seen in schemes.items():
        yield {"scheme": text, "question": "advantage", "value": float(analysis.get_advantage_from_pld(seen))}
        for fpr in (0.001, 0.01, 0.1, 0.5, 0.9):
            found = float(np.asarray(analysis.get_beta_from_pld(seen, alpha=fpr)))
            yield {"scheme": text, "question": "tradeoff", "at": fpr, "value": found}
        for prior in (0.1, 0.3, 0.5, 0.9):
            found = float(analysis.get_bayes_risk_from_pld(seen, prior=prior))
            yield {"scheme": text, "question": "bayes_risk", "at": prior, "value": found}
    for mu in (0.5, 1.0, 3.0):
        text = f"Gaussian({1 / mu!r})"
        yield {"scheme": text, "question": "advantage", "value": float(analysis.get_advantage_from_gdp(mu))}
        for fpr in (0.01, 0.1):
            found = float(np.asarray(analysis.get_beta_from_gdp(mu, alpha=fpr)))
            yield {"scheme": text, "question": "tradeoff", "at": fpr, "value": found}
        found = float(np.asarray(analysis.get_bayes_risk_from_gdp(mu, prior=0.3)))
        yield {"scheme": text, "question": "bayes_risk", "at": 0.3, "value": found}


if __name__ == "__main__":
    main(sys.argv[1])
