"""What PLD-accounting answers, in its own environment: lines of JSON on standard input, each with its answer out again.

A line is a setting: {"kind": "gaussian" | "laplace" | "listed", ..., "steps", "picks", "delta", "alpha", "beta"}. What
comes back has "lower" and "upper", the epsilons of its two bounds for the worse direction, and "seconds" of processor
time.

Gaussian noise has its own entry. Laplace noise and listed losses go through its general one, which takes a PLD
realization on an even grid: Laplace noise is first put on one of step ``grid``, rounded up, so that the lower bound is
one of that realization.
"""

from __future__ import annotations

import json
import logging
import sys
import time
import warnings
from typing import Any

import numpy as np
from PLD_accounting import (
    AllocationSchemeConfig,
    BoundType,
    GridSpec,
    PLDRealization,
    PrivacyParams,
    gaussian_allocation_pld,
    general_allocation_epsilon,
    laplace_distribution,
)
from PLD_accounting.utils import calc_pld_dual

BOUNDS = {"lower": BoundType.IS_DOMINATED, "upper": BoundType.DOMINATES}


def realization(setting: dict[str, Any]) -> PLDRealization:
    if setting["kind"] == "laplace":
        return laplace_distribution(
            scale=setting["scale"], value_discretization=setting["grid"], tail_truncation=1e-15
        )
    first, step = setting["first"], setting["grid"]
    grid = GridSpec(step=step, n=len(setting["masses"]), index_0=first)
    return PLDRealization(grid=grid, prob_arr=np.array(setting["masses"]), p_max=setting["top"])


def epsilon(setting: dict[str, Any], bound: BoundType) -> float:
    config = AllocationSchemeConfig(loss_discretization=setting["alpha"], tail_truncation=setting["beta"])
    if setting["kind"] == "gaussian":
        params = PrivacyParams(
            sigma=setting["sigma"], num_steps=setting["steps"], num_selected=setting["picks"], delta=setting["delta"]
        )
        pld = gaussian_allocation_pld(params=params, config=config, bound_type=bound)
        return float(pld.get_epsilon_for_delta(setting["delta"]))
    remove = realization(setting)
    return general_allocation_epsilon(
        delta=setting["delta"],
        num_steps=setting["steps"],
        num_selected=setting["picks"],
        num_epochs=1,
        remove_realization=remove,
        add_realization=remove if setting["kind"] == "laplace" else calc_pld_dual(remove),
        config=config,
        bound_type=bound,
    )


def main() -> None:
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    for line in sys.stdin:
        setting = json.loads(line)
        start = time.process_time()
        setting |= {side: epsilon(setting, bound) for side, bound in BOUNDS.items()}
        print(json.dumps(setting | {"seconds": time.process_time() - start}), flush=True)


if __name__ == "__main__":
    main()
