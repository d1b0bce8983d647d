"""Random allocation of a PLD realization (Theorem thm:PLDrandAlloc), one step of t: Algorithms alg:main_alg_rem, _add.

    remove   psi_t(L) = log((e^L_0 + sum of t - 1 copies of e^-D) / t)
    add      psi_t(L) = -log((sum of t copies of e^-L) / t)

D is the PLD dual of L. In the add direction L is the realization seen from there, L_{Q,P}: the dual of L_{P,Q}.

Guarantee (Theorem num_acc_RA). With alpha' = alpha/(2 ceil(log2 t) + 1) and beta' = beta/t the upper result (alpha,
beta)-tightly stochastically dominates psi_t(L), and the lower one is dominated by it as tightly. Without truncation
single steps are cut at beta', as in the paper; with it, steps and squares are cut at beta'/2. The proof is in
docs/paper.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from privloss._ask import Direction, Side
from privloss._check import choice, count, instance, positive
from privloss.paper._convolve import Convolver, conv, self_conv
from privloss.paper._grid import disc_dist
from privloss.paper._lattice import Lattice
from privloss.paper._realization import Realization


@dataclass(frozen=True)
class Plan:
    """alpha' and beta' of one allocation: the step of its grids, the cut of a single step, and that of a square."""

    step: float
    cut: float
    square: float
    least: float  # mass at 0 that may be rounded, of a law that has more than the cut there (``range_renorm``)

    def convolver(self, leaf: Lattice) -> Convolver:
        """conv as the paper has it; where a step has an atom at 0, on grids prolonged for it."""
        least = self.least if leaf.bottom > self.cut else 1.0
        return lambda one, two: conv(one, two, least)

    @staticmethod
    def made(steps: int, alpha: float, beta: float, truncated: bool) -> Plan:
        cut = beta / steps * (0.5 if truncated else 1.0)
        return Plan(alpha / parts(steps), cut, cut if truncated else 0.0, cut / steps)


def rand_alloc_remove(
    realization: Realization,
    steps: int,
    alpha: float,
    beta: float,
    side: Side = "upper",
    *,
    truncated: bool = True,
    convolve: Convolver | None = None,
) -> Lattice:
    """rand-alloc-rem (Algorithm alg:main_alg_rem), and its lower-bound variant."""
    steps, alpha, beta, side = checked(realization, steps, alpha, beta, side)
    return remove(realization, steps, Plan.made(steps, alpha, beta, truncated), side, convolve)


def rand_alloc_add(
    realization: Realization,
    steps: int,
    alpha: float,
    beta: float,
    side: Side = "upper",
    *,
    truncated: bool = True,
    convolve: Convolver | None = None,
) -> Lattice:
    """rand-alloc-add (Algorithm alg:main_alg_add), and its lower-bound variant.

    ``realization`` is L_{Q,P}, as in the paper: for a mechanism's own L_{P,Q} give its ``dual``.
    """
    steps, alpha, beta, side = checked(realization, steps, alpha, beta, side)
    return add(realization, steps, Plan.made(steps, alpha, beta, truncated), side, convolve)


def checked(
    realization: Realization, steps: int, alpha: float, beta: float, side: str
) -> tuple[int, float, float, Side]:
    return count(steps=steps), positive(alpha=alpha), tail(beta), bounding(realization, side)


def parts(steps: int) -> int:
    """2 ceil(log2 t) + 1: how often losses are rounded at most."""
    return 2 * (steps - 1).bit_length() + 1


def tail(beta: float) -> float:
    if not 0.0 < positive(beta=beta) < 1.0:
        raise ValueError(f"beta must be above 0 and below 1, got {beta!r}")
    return float(beta)


def bounding(realization: Realization, side: str) -> Side:
    choice(side=side, among=("upper", "lower"))
    instance(Realization, "a realization, such as Realization.gaussian(1.0)", realization=realization)
    if side == "upper":
        return "upper"
    if realization.side is not None:
        raise ValueError(
            "side must be 'upper' for a realization that is an upper bound, got 'lower': start from the exact one"
        )
    return "lower"


def remove(realization: Realization, steps: int, plan: Plan, side: Side, convolve: Convolver | None = None) -> Lattice:
    """The steps of Algorithm alg:main_alg_rem."""
    loss = disc_dist(realization.loss, plan.step, plan.cut, side)
    if steps == 1:
        return loss
    other = disc_dist(realization.other, plan.step, plan.cut, side)  # of -D; the dual is that of the exact realization
    convolve = convolve or plan.convolver(other)
    rest = self_conv(other, steps - 1, plan.square, convolve)
    return convolve(rest, loss).divided(steps)


def add(realization: Realization, steps: int, plan: Plan, side: Side, convolve: Convolver | None = None) -> Lattice:
    """The steps of Algorithm alg:main_alg_add."""
    loss = disc_dist(realization.loss, plan.step, plan.cut, side)
    if steps == 1:
        return loss
    values = loss.negated()
    convolve = convolve or plan.convolver(values)
    return self_conv(values, steps, plan.square, convolve).divided(steps).negated()


def blocks(steps: int, picks: int) -> list[tuple[int, int]]:
    """Lemma lem:multAlloc: (size, how many) of the blocks that k-out-of-t is split into, one pick in each.

    >>> from privloss import paper
    >>> paper.blocks(10, 4)  # 2 + 2 + 3 + 3
    [(2, 2), (3, 2)]
    """
    steps, picks = count(steps=steps), count(picks=picks)
    if picks > steps:
        raise ValueError(f"picks must be at most steps, got picks={picks} and steps={steps}")
    size, more = divmod(steps, picks)
    return [(size, picks - more), (size + 1, more)] if more else [(size, picks)]


def rand_alloc(
    realization: Realization,
    steps: int,
    picks: int,
    alpha: float,
    beta: float,
    direction: Direction = "remove",
    side: Side = "upper",
    *,
    truncated: bool = True,
) -> Lattice:
    """k-out-of-t through Lemma lem:multAlloc: one allocation a block, composed by FFT.

    Each of the k blocks has alpha/k and beta/(2k); the other half of beta is what the composition may cut. Where
    1 < k < t a lower bound is one of the composition that bounds the scheme, not of the scheme itself. For ``add`` the
    realization is L_{Q,P}, as in ``rand_alloc_add``.
    """
    from privloss.paper._compose import compose

    choice(direction=direction, among=("remove", "add"))
    sizes = blocks(steps, picks)
    _, alpha, beta, side = checked(realization, steps, alpha, beta, side)
    share = beta if picks == 1 else 0.5 * beta / picks
    plans = [Plan.made(size, alpha / picks, share, truncated) for size, _ in sizes]
    step = min(plan.step for plan in plans)  # one for all, so that they compose without rounding
    run = remove if direction == "remove" else add
    made = [
        (run(realization, size, replace(plan, step=step), side), times)
        for (size, times), plan in zip(sizes, plans, strict=True)
    ]
    return made[0][0] if picks == 1 else compose(made, 0.5 * beta)
