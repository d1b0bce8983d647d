"""Random allocation of a PLD realization (Theorem thm:PLDrandAlloc), one step of t: Algorithms alg:main_alg_rem,
_add.

    remove   psi_t(L) = log((e^L_0 + sum of t - 1 copies of e^-D) / t)
    add      psi_t(L) = -log((sum of t copies of e^-L) / t)

D is the PLD dual of L. In the add direction L is the realization seen from there, L_{Q,P}: the dual of L_{P,Q}.

Guarantee (Theorem num_acc_RA). With alpha' = alpha/(2 ceil(log2 t) + 1) and beta' = beta/t the upper result (alpha,
beta)-tightly stochastically dominates psi_t(L), and the lower one is dominated by it as tightly. Shifts: at most 2
ceil(log2 t) convs and one disc_dist, each within alpha' and not amplified by later sums (Lemma lem:mult_tight).
Tails: a cut at a sum of m steps happens to t/m of them. Without truncation there are only the cuts of the single
steps, beta' each. With it every cut is beta'/2: t beta'/2 for the steps, and t beta'/2 (1/2 + 1/4 + ...) for the
squares. """

from __future__ import annotations

from privloss._ask import Direction, Side
from privloss._check import choice, count, positive
from privloss.paper._convolve import Convolver, conv, self_conv
from privloss.paper._grid import disc_dist
from privloss.paper._lattice import Lattice
from privloss.paper._realization import Realization


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
    step, cut, squares = parameters(steps, alpha, beta, truncated)
    return remove(realization, steps, step, cut, squares, bounding(realization, side), convolve)


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
    step, cut, squares = parameters(steps, alpha, beta, truncated)
    return add(realization, steps, step, cut, squares, bounding(realization, side), convolve)


def parameters(steps: int, alpha: float, beta: float, truncated: bool) -> tuple[float, float, float]:
    """(alpha', the cut of a single step, the cut of a square)."""
    steps, alpha, beta = count(steps=steps), positive(alpha=alpha), tail(beta)
    cut = beta / steps
    return alpha / parts(steps), (0.5 * cut if truncated else cut), (0.5 * cut if truncated else 0.0)


def parts(steps: int) -> int:
    """2 ceil(log2 t) + 1: how often losses are rounded at most."""
    return 2 * (steps - 1).bit_length() + 1


def tail(beta: float) -> float:
    if not 0.0 < positive(beta=beta) < 1.0:
        raise ValueError(f"beta must be above 0 and below 1, got {beta!r}")
    return float(beta)


def bounding(realization: Realization, side: str) -> Side:
    choice(side=side, among=("upper", "lower"))
    if side == "upper":
        return "upper"
    if realization.side is not None:
        raise ValueError(
            "side must be 'upper' for a realization that is an upper bound, got 'lower': start from the exact one"
        )
    return "lower"


def remove(
    realization: Realization,
    steps: int,
    step: float,
    cut: float,
    squares: float,
    side: Side,
    convolve: Convolver | None = None,
) -> Lattice:
    """The steps of Algorithm alg:main_alg_rem, at a given alpha' and cuts."""
    loss = disc_dist(realization.loss, step, cut, side)
    if steps == 1:
        return loss
    other = disc_dist(realization.other, step, cut, side)  # of -D; the dual is that of the exact realization
    convolve = convolve or (lambda one, two: conv(one, two, cut))
    rest = self_conv(other, steps - 1, squares, convolve)
    return convolve(rest, loss).divided(steps)


def add(
    realization: Realization,
    steps: int,
    step: float,
    cut: float,
    squares: float,
    side: Side,
    convolve: Convolver | None = None,
) -> Lattice:
    """The steps of Algorithm alg:main_alg_add, at a given alpha' and cuts."""
    loss = disc_dist(realization.loss, step, cut, side)
    if steps == 1:
        return loss
    convolve = convolve or (lambda one, two: conv(one, two, cut))
    return self_conv(loss.negated(), steps, squares, convolve).divided(steps).negated()


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
    alpha, beta, side = positive(alpha=alpha), tail(beta), bounding(realization, side)
    sizes = blocks(steps, picks)
    share = 1 if picks == 1 else 2 * picks
    step = min(alpha / picks / parts(size) for size, _ in sizes)  # one for all, so that they compose without rounding
    run = remove if direction == "remove" else add
    made = []
    for size, times in sizes:
        cut = beta / share / size * (0.5 if truncated else 1.0)
        made.append((run(realization, size, step, cut, cut if truncated else 0.0, side), times))
    return made[0][0] if picks == 1 else compose(made, 0.5 * beta)
