"""The two additions that privacy accounting is made of, on graded lattices.

* ``RatioSum``: ratios add. It is the heart of allocation: of m steps one is chosen, Q is the product of the
  steps' Q and P the mixture over which step is chosen, so the ratio is the mean of the m ratios. Positions
  hold the *sum*, P is normalised.
* ``LossSum``: losses add. It is composition.

Each comes for the upper side (one channel: the ratio of a point is the point's own, so one measure says both)
and for the lower side (two channels: p and q of a cell, whose ratio is anywhere near its point). Legend: m is
the number of terms summed so far, u the unit, o the origin of one term, i a position within shift k, so that
the value is m o + u i 2^k.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

import numpy as np

from privloss._ask import Side, check_time
from privloss._graded import Channels, Layout, Level, Piece, add_pieces, crossed, levels, positions
from privloss._pair import EXP_ULPS, FloatArray, Law, Masses, Pair, U

Losses = TypeVar("Losses", float, FloatArray)  # of one measure, or of rows

LN2 = math.log(2.0)
TOO_MUCH = 1e120
FAINT, PLAIN = 1e-290, 1e-275  # a second measure below the one beside a first above the other may have underflowed
WIDE = 2.0  # spacing of losses from which a move goes one way: less is lost so
REACH = 300.0  # losses to which the measure that is not stored is followed: twice that is still within a double
UNSEEN = 2 * REACH + 50.0  # losses beyond this are said to be this
AT_ONCE = 10_000_000  # products between two looks at the clock: tens of milliseconds, more where many underflow
VANISHED = 1e-300  # more than all that can underflow in one sum


@dataclass(frozen=True)
class State:
    """A measure on the lattice, with its atoms and the allowance it has used.

    ``q_only`` of a sum of ratios is the mass at position 0 that the blocks leave out: ratio 0, or, where
    terms have an origin, the least ratio there is. ``offset`` is the sum of the origins of its terms;
    ``weight`` the sum of their weights (ratios only: the mean ratio is the value over the weight, and the
    share of a factor in a mixture its weight over the whole).
    """

    blocks: list[Piece]
    count: int
    offset: float
    weight: float
    q_only: float
    p_only: float
    eta_q: float
    eta_x: float

    @property
    def points(self) -> int:
        return sum(block.values.shape[1] for block in self.blocks)


def convolved(a: FloatArray, b: FloatArray, deadline: float = math.inf) -> FloatArray:
    """The convolution; a large one in parts, the time watched between them. However it is cut, an entry sums as many
    products."""
    if a.size * b.size <= AT_ONCE:
        return np.convolve(a, b)
    a, b = (a, b) if a.size >= b.size else (b, a)
    out, part = np.zeros(a.size + b.size - 1), AT_ONCE // b.size + 1
    for at in range(0, a.size, part):
        check_time(deadline)
        piece = np.convolve(a[at : at + part], b)
        out[at : at + piece.size] += piece
    return out


def _half(shift: int) -> tuple[float, float]:
    return 0.5, 0.5


HALVES: dict[Side, Channels] = {"upper": Channels(1, True, _half), "lower": Channels(2, True, _half)}


def filled(
    got: Masses, cuts: FloatArray, up: FloatArray, down: FloatArray, lowest: FloatArray, highest: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """q e^up and p e^down of cells, between the lowest and the highest loss. Where one of the two underflows, the other
    and the cell's edge bound it from above: that lowers the ratio on the right and raises it on the left, which is
    the safe way on the lower side."""
    low = np.concatenate((np.minimum(lowest, cuts[..., :1]), cuts), axis=-1)
    high = np.concatenate((cuts, np.maximum(highest, cuts[..., -1:])), axis=-1)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        q = np.where((got.q < 1e-290) & (got.p > got.q), got.p * np.exp(up - low), got.q * np.exp(up))
        p = np.where((got.p < 1e-290) & (got.q > got.p), got.q * np.exp(down + high), got.p * np.exp(down))
    return np.nan_to_num(q, nan=0.0, posinf=np.inf), np.nan_to_num(p, nan=0.0, posinf=np.inf)


def _ends(law: Law) -> tuple[FloatArray, FloatArray]:
    return np.array([law.low]), np.array([law.high])


def start_error(law: Law, side: Side) -> tuple[float, float]:
    """(eta_q, eta_x) of a law put on a lattice: its own, and what summing into points and cells adds.

    On the lower side p and q of a cell are found apart, so their ratio has the error of both.
    """
    own = law.loss.size * U if isinstance(law, Pair) else law.eta_q
    summing = own if isinstance(law, Pair) else 0.0
    return law.eta_q + summing + 16 * U, law.eta_x + (2 * own if side == "lower" else 0.0)


@dataclass(frozen=True)
class Arithmetic:
    """What both additions share: walking the shifts, and cutting the tails."""

    unit: float
    origin: float
    side: Side
    deadline: float = field(default=math.inf, kw_only=True)

    @cached_property
    def channels(self) -> Channels:
        raise NotImplementedError

    def convolved(self, a: FloatArray, b: FloatArray) -> FloatArray:
        return convolved(a, b, self.deadline)

    def clean(self, blocks: list[Piece]) -> list[Piece]:
        """Blocks whose numbers are fit for another product."""
        return blocks

    def centred(self, state: State) -> State:
        """The same measure, its numbers of moderate size."""
        return state

    def times(self, own: Piece, plain: Piece, weights: tuple[float, float]) -> Piece:
        """All pairs of a stored piece and a plain one; ``weights`` are the shares of steps of the two."""
        raise NotImplementedError

    def square(self, level: Level) -> list[Piece]:
        """All pairs of one measure with itself whose coarser member is at this level."""
        raise NotImplementedError

    def atoms(self, a: State, b: State) -> tuple[float, float, list[Piece]]:
        """q_only and p_only of the sum, and the ordinary outcomes that atoms give."""
        raise NotImplementedError

    def masses(self, block: Piece, state: State) -> tuple[FloatArray, FloatArray]:
        """(q, p) of the points of a block."""
        raise NotImplementedError

    def out_of_reach(self, block: Piece, state: State, *, right: bool) -> int:
        """How many points at this end of the block must be cut, whatever mass they have."""
        return 0

    def fold(self, cut: list[Piece], edge: Piece, at: int, state: State, *, right: bool) -> tuple[float, float]:
        """Move the masses of ``cut`` into point ``at`` of ``edge`` (in place) and the atoms: returns their growth
        (q, p)."""
        raise NotImplementedError

    def eta_of_sum(self, a: State, b: State, terms: float) -> tuple[float, float]:
        raise NotImplementedError

    def add(self, a: State, b: State) -> tuple[list[Piece], State]:
        """The pieces of the sum of two independent measures, and its state but for the blocks."""
        shifts = sorted({p.shift for p in (*a.blocks, *b.blocks)})
        pieces: list[Piece] = []
        if a is b:
            for level in levels(a.blocks, self.channels, shifts):
                pieces += self.square(level)
        else:
            shares = a.weight / (a.weight + b.weight), b.weight / (a.weight + b.weight)
            both = zip(levels(a.blocks, self.channels, shifts), levels(b.blocks, self.channels, shifts), strict=True)
            for one, two in both:
                pieces += self._pairs(one, two, shares)
        q_only, p_only, extra = self.atoms(a, b)
        longest = max(block.values.shape[1] for block in (*a.blocks, *b.blocks))
        terms = 1.0 * min(a.points, b.points, longest) + crossed(a.blocks + b.blocks)
        eta_q, eta_x = self.eta_of_sum(a, b, terms)
        return pieces + extra, State(
            [], a.count + b.count, a.offset + b.offset, a.weight + b.weight, q_only, p_only, eta_q, eta_x
        )

    def allowances(self, error: float) -> tuple[float, float]:
        """What more relative error of masses adds to (eta_q, eta_x): on the lower side p and q err apart, so their
        ratio does too."""
        return error, 2 * error if self.side == "lower" else 0.0

    def _pairs(self, one: Level, two: Level, weights: tuple[float, float]) -> list[Piece]:
        pieces = []
        if two.plain is not None:
            pieces += [self.times(own, two.plain, weights) for own in one.own]
        if one.fine is not None:
            pieces += [self.times(own, one.fine, weights[::-1]) for own in two.own]
        return pieces

    def trim(self, state: State, left: tuple[float, float], right: tuple[float, float]) -> State:
        """Cut both ends while the (q, p) mass cut stays within the budgets; nothing is thrown away."""
        blocks = [piece for piece in state.blocks if piece.values.shape[1]]
        q_only, p_only, eta_q, eta_x = state.q_only, state.p_only, state.eta_q, state.eta_x
        for end, (budget_q, budget_p) in ((True, right), (False, left)):
            blocks, cut = self._cut(blocks, state, budget_q, budget_p, right=end)
            if cut:
                where = len(blocks) - 1 if end else 0
                edge = Piece(blocks[where].shift, blocks[where].start, blocks[where].values.copy())
                at = edge.values.shape[1] - 1 if end else 0
                more_q, more_p = self.fold(cut, edge, at, state, right=end)
                q_only, p_only = q_only + more_q, p_only + more_p
                blocks[where] = edge
                error = (8 + sum(piece.values.shape[1] for piece in cut)) * U
                more_eta = self.allowances(error)
                eta_q, eta_x = eta_q + more_eta[0], eta_x + more_eta[1]
        return replace(state, blocks=blocks, q_only=q_only, p_only=p_only, eta_q=eta_q, eta_x=eta_x)

    def _cut(
        self, blocks: list[Piece], state: State, budget_q: float, budget_p: float, *, right: bool
    ) -> tuple[list[Piece], list[Piece]]:
        kept, cut = list(blocks), []
        while kept:
            block = kept[-1] if right else kept[0]
            q, p = self.masses(block, state)
            if right:
                q, p = q[::-1], p[::-1]
            sum_q, sum_p = np.cumsum(q), np.cumsum(p)
            n = int(min(np.searchsorted(sum_q, budget_q, "right"), np.searchsorted(sum_p, budget_p, "right")))
            n, size = max(n, self.out_of_reach(block, state, right=right)), q.size
            if n >= size and len(kept) > 1:
                cut.append(kept.pop(-1 if right else 0))
                budget_q, budget_p = budget_q - float(sum_q[-1]), budget_p - float(sum_p[-1])
                continue
            n = min(n, size - 1)
            if n:
                at = size - n if right else n
                head = Piece(block.shift, block.start, block.values[:, :at])
                tail = Piece(block.shift, block.start + at, block.values[:, at:])
                kept[-1 if right else 0] = head if right else tail
                cut.append(tail if right else head)
            break
        return kept, cut


@dataclass(frozen=True)
class RatioSum(Arithmetic):
    """Ratios add. Channels: q times 2^k; on the lower side also p."""

    @cached_property
    def channels(self) -> Channels:
        return HALVES[self.side]

    def ratio(self, shift: int, i: FloatArray, offset: float, weight: float) -> FloatArray:
        """The ratio of positions, divided by 2^shift so that it cannot overflow."""
        return (i * self.unit + math.ldexp(offset, -shift)) / weight

    def log_ratio(self, shift: int, i: FloatArray, offset: float, weight: float) -> FloatArray:
        ratio = self.ratio(shift, i, offset, weight)
        with np.errstate(divide="ignore", over="ignore"):
            plain = np.ldexp(ratio, shift)
            return np.where(plain < np.inf, np.log(plain), np.log(ratio) + shift * LN2)

    def start(self, law: Law, slots: Layout, weight: float = 1.0) -> State:
        """Put one step on the lattice. The point of ratio 0, where the lattice has it, takes ``q_only``."""
        offset = self.origin * weight
        grid = positions(slots)
        shifts = np.concatenate([np.full(i.size, k, np.int32) for k, i in grid])
        loss = np.concatenate([self.log_ratio(k, i, offset, weight) for k, i in grid])
        zero = int(np.isneginf(loss[0]))
        if self.side == "upper":
            got = law.hats(loss[zero:])
            with np.errstate(under="ignore"):
                tail = got.p * np.exp(np.minimum(shifts[zero:] * LN2 - loss[zero:], 700.0))
                q = np.where(loss[zero:] >= 0, tail, np.ldexp(got.q, shifts[zero:]))
            rows = q[None, :]
            head = np.array([[math.ldexp(got.q_only, int(shifts[0]))]])
        else:
            cuts = np.logaddexp(loss[:-1], loss[1:]) - LN2
            got = law.cells(cuts)
            q, _ = filled(got, cuts, shifts * LN2, np.zeros_like(loss), *_ends(law))
            rows = np.stack((np.where(q < np.inf, q, 0.0), got.p))  # what says nothing of its ratio will be dropped
            if zero:
                rows[0, 0] += math.ldexp(got.q_only, int(shifts[0]))
            head = np.zeros((2, 0))
        if zero and self.side == "upper":
            rows = np.concatenate((head, rows), axis=1)
        blocks, at = [], 0
        for slot in slots:
            size = slot.stop - slot.start
            blocks.append(Piece(slot.shift, slot.start, rows[:, at : at + size]))
            at += size
        eta_q, eta_x = start_error(law, self.side)
        eta_x += EXP_ULPS * U * (2 + float(np.abs(loss[zero:]).max(initial=0.0)))
        q_only = got.q_only
        # position 0 is a point; with an origin, only a roundoff of the origin's mass is below it
        if zero or offset > 0:
            blocks[0].values[0, 0] += 0.0 if zero else math.ldexp(q_only, slots[0].shift)
            q_only = 0.0
        return State(blocks, 1, offset, weight, q_only, got.p_only, eta_q, eta_x)

    def times(self, own: Piece, plain: Piece, weights: tuple[float, float]) -> Piece:
        start = own.start + plain.start
        if self.side == "upper":
            return Piece(own.shift, start, self.convolved(own.values[0], plain.values[0])[None, :])
        p = weights[0] * self.convolved(own.values[1], plain.values[0])
        p += weights[1] * np.ldexp(self.convolved(own.values[0], plain.values[1]), -own.shift)
        return Piece(own.shift, start, np.stack((self.convolved(own.values[0], plain.values[0]), p)))

    def square(self, level: Level) -> list[Piece]:
        once, fine = level.plain, [level.fine] if level.fine is not None else []
        if not level.own or once is None:
            return []
        twice = add_pieces([once, *fine]) or once
        pieces = []
        for own in level.own:
            q = self.convolved(own.values[0], twice.values[0])[None, :]
            if self.side == "upper":
                pieces.append(Piece(own.shift, own.start + twice.start, q))
                continue
            p = self.convolved(own.values[1], once.values[0])
            pieces.append(Piece(own.shift, own.start + twice.start, np.stack((q[0], p))))
            if level.fine is not None:
                cross = np.ldexp(self.convolved(own.values[0], level.fine.values[1]), -own.shift)
                rows = np.stack((np.zeros_like(cross), cross))
                pieces.append(Piece(own.shift, own.start + level.fine.start, rows))
        return pieces

    def atoms(self, a: State, b: State) -> tuple[float, float, list[Piece]]:
        share, rest = a.weight / (a.weight + b.weight), b.weight / (a.weight + b.weight)
        p_only = share * a.p_only + rest * b.p_only
        pieces: list[Piece] = []
        for atom, other, weight in ((a.q_only, b, rest), (b.q_only, a, share)):
            if atom > 0:
                factor = np.array([[atom], [atom * weight]][: self.channels.rows])
                pieces += [Piece(k, start, factor * values) for k, start, values in other.blocks]
        return a.q_only * b.q_only, p_only, pieces

    def eta_of_sum(self, a: State, b: State, terms: float) -> tuple[float, float]:
        masses, own = self.allowances(terms * U)
        return a.eta_q + b.eta_q + masses, max(a.eta_x, b.eta_x) + own + 4 * U

    def masses(self, block: Piece, state: State) -> tuple[FloatArray, FloatArray]:
        i = np.arange(block.start, block.stop, dtype=np.float64)
        if self.side == "upper":
            p = block.values[0] * self.ratio(block.shift, i, state.offset, state.weight)
        else:
            p = block.values[1]
        return np.ldexp(block.values[0], -block.shift), p

    def fold(self, cut: list[Piece], edge: Piece, at: int, state: State, *, right: bool) -> tuple[float, float]:
        more_q = more_p = 0.0
        k_e, i_e = edge.shift, edge.start + at
        for piece in cut:
            k = piece.shift
            if self.side == "lower":
                edge.values[0, at] += math.ldexp(float(piece.values[0].sum()), k_e - k)
                edge.values[1, at] += float(piece.values[1].sum())
                continue
            i = np.arange(piece.start, piece.stop, dtype=np.float64)
            if right:
                away = (i - math.ldexp(i_e, k_e - k)) * self.unit / state.weight  # ratio past the edge, over 2^k
                edge.values[0, at] += math.ldexp(float(piece.values[0].sum()), k_e - k)
                more_p += float(piece.values[0] @ away)
            else:
                near = np.ldexp(i, k - k_e) / i_e  # between position 0 and the edge
                edge.values[0, at] += math.ldexp(float(piece.values[0] @ near), k_e - k)
                more_q += math.ldexp(float(piece.values[0] @ ((i_e - np.ldexp(i, k - k_e)) / i_e)), -k)
        return more_q, more_p

    def finish(self, state: State) -> Pair:
        loss: list[FloatArray] = []
        q: list[FloatArray] = []
        p: list[FloatArray] = []
        q_only = state.q_only
        if state.offset > 0 and q_only > 0:
            least = state.offset / state.weight
            loss.append(np.array([math.log(least)]))
            q.append(np.array([q_only]))
            p.append(np.array([q_only * least]))
            q_only = 0.0
        for block in state.blocks:
            k = block.shift
            i = np.arange(block.start, block.stop, dtype=np.float64)
            plain = np.ldexp(block.values[0], -k)
            if self.side == "upper":
                ratio = self.ratio(k, i, state.offset, state.weight)
                here, mass = self.log_ratio(k, i, state.offset, state.weight), block.values[0] * ratio
                keep = (ratio > 0) & (block.values[0] > 0)
                q_only += float(plain[ratio <= 0].sum())
            else:
                mass, keep = block.values[1], (block.values[0] > 0) & (block.values[1] > 0)
                q_only += float(plain[block.values[1] <= 0].sum())
                with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                    near = np.log1p((mass - plain) / plain)
                    far = np.log(mass / block.values[0]) + k * LN2
                    here = np.where(np.abs(mass - plain) < 0.5 * plain, near, far)
            loss.append(here[keep])
            q.append(plain[keep])
            p.append(mass[keep])
        return _sorted_pair(loss, q, p, q_only, state, self.side)


def absorbed(a: Losses, b: Losses, more: Losses) -> Losses:
    """The atom of a composition, and what is charged to it; all of the mass at most."""
    total: Losses = np.minimum(a + b * (1 - a) + more, 1.0)
    return total


@dataclass(frozen=True)
class LossSum(Arithmetic):
    """Losses add. The stored measure is ``gauge``: p itself, or q; the other is e^-loss (e^loss) times it.

    On the lower side the second channel is the other measure brought to the same scale by the loss of its *point*, so
    that neither underflows when losses run to thousands: the ratio of the two channels is the offset from the point.

    Where the pair must bound both directions, the far tail of the other measure is cut at ``REACH``, so that no product
    is lost to underflow where the other measure is large; what may still be lost is charged to its atom.
    """

    gauge: str = "p"
    whole: bool = True  # whether the pair must bound both directions; else only the one of its gauge

    @cached_property
    def channels(self) -> Channels:
        return Channels(1 if self.side == "upper" else 2, False, self._shares)

    def _shares(self, shift: int) -> tuple[float | FloatArray, float | FloatArray]:
        s = math.ldexp(self.unit, shift)
        up = self.gauge == "p"
        if self.side == "upper":  # spread: q e^s/(1+e^s) to the left and q/(1+e^s) to the right; p the other way round
            major, minor = 1.0 / (1.0 + math.exp(-s)), math.exp(-s) / (1.0 + math.exp(-s))
            left, right = (minor, major) if up else (major, minor)
            return left, right
        if s > WIDE:  # halves would overflow: merge all of it into the neighbour where the second measure shrinks
            whole, none = np.array([[1.0], [math.exp(-s)]]), np.zeros((2, 1))
            return (whole, none) if up else (none, whole)
        grow, fall = 0.5 * math.exp(s), 0.5 * math.exp(-s)  # split in two equal halves, then merge
        left, right = (fall, grow) if up else (grow, fall)
        return np.array([[0.5], [left]]), np.array([[0.5], [right]])

    def loss(self, shift: int, i: FloatArray, offset: float) -> FloatArray:
        return np.ldexp(i, shift) * self.unit + offset

    def cuts(self, loss: FloatArray) -> FloatArray:
        """Where cells of the points end: halfway, or where points are far apart at the one side that moves go to, so
        that the second measure cannot overflow."""
        low, high = loss[..., :-1], loss[..., 1:]
        return np.where(high - low > WIDE, high if self.gauge == "p" else low, 0.5 * (low + high))

    def reached(self, loss: Losses) -> Losses:
        """The nearest loss that is followed."""
        if not self.whole:
            return loss
        reached: Losses = np.maximum(loss, -REACH) if self.gauge == "p" else np.minimum(loss, REACH)
        return reached

    def out_of_reach(self, block: Piece, state: State, *, right: bool) -> int:
        if right == (self.gauge == "p"):
            return 0
        loss = self.loss(block.shift, np.arange(block.start, block.stop, dtype=np.float64), state.offset)
        return int(np.count_nonzero(self.reached(loss) != loss))

    def charge(self, far: Losses) -> tuple[Losses, Losses]:
        """(q_only, p_only) for what underflows of the other measure, ``far`` being the loss where it is largest."""
        none = 0.0 * far
        if not self.whole or self.side == "lower":
            return none, none
        lost = VANISHED * np.exp(np.clip(-far if self.gauge == "p" else far, 0.0, 690.0))
        return (lost, none) if self.gauge == "p" else (none, lost)

    def far(self, blocks: list[Piece], offset: Losses) -> Losses:
        """The loss where the other measure is largest."""
        shift, i = (blocks[0].shift, blocks[0].start) if self.gauge == "p" else (blocks[-1].shift, blocks[-1].stop - 1)
        return math.ldexp(i, shift) * self.unit + offset

    def start(self, law: Law, slots: Layout) -> State:
        loss = np.concatenate([self.loss(k, i, self.origin) for k, i in positions(slots)])
        if self.side == "upper":
            got = law.hats(loss)
            p, q = self._both(got.p, got.q, loss)
            rows = (p if self.gauge == "p" else q)[None, :]
            more_q, more_p = self.charge(float(loss[0 if self.gauge == "p" else -1]))
            got = Masses(got.q, got.p, got.q_only + more_q, got.p_only + more_p)
        else:
            cuts = self.cuts(loss)
            got = law.cells(cuts)
            q, p = filled(got, cuts, loss, -loss, *_ends(law))
            rows = np.stack((got.p, q) if self.gauge == "p" else (got.q, p))
            endless = math.isinf(law.low if self.gauge == "p" else law.high)
            # The cell beyond the window, where the other measure may be large: see ``fold``.
            if endless and not self.whole:
                outer = 0 if self.gauge == "p" else -1
                lost = got.q[0] if self.gauge == "p" else got.p[-1]
                rows[:, outer] = 0.0
                kept = (float(lost), 0.0) if self.gauge == "p" else (0.0, float(lost))
                got = Masses(got.q, got.p, got.q_only + kept[0], got.p_only + kept[1])
        blocks, at = [], 0
        for slot in slots:
            size = slot.stop - slot.start
            blocks.append(Piece(slot.shift, slot.start, rows[:, at : at + size]))
            at += size
        eta_q, eta_x = start_error(law, self.side)
        eta_x += 4 * U * float(np.abs(loss).max())
        eta_q += EXP_ULPS * U * (2 + float(np.abs(loss).max()))
        blocks = self.clean(blocks)
        return State(blocks, 1, self.origin, 1.0, got.q_only, got.p_only, eta_q, eta_x)

    @staticmethod
    def _both(p: FloatArray, q: FloatArray, loss: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Each mass from the one that is accurate at its loss."""
        with np.errstate(under="ignore", over="ignore"):
            up = loss >= 0
            return np.where(up, p, q * np.exp(np.minimum(loss, 0))), np.where(up, p * np.exp(-np.maximum(loss, 0)), q)

    def clean(self, blocks: list[Piece]) -> list[Piece]:
        if self.side == "lower":
            for block in blocks:
                self.only_sound(block.values[0], block.values[1])
        return blocks

    def only_sound(self, one: FloatArray, other: FloatArray) -> None:
        """Leave, in place, outcomes whose second measure is fit for products. One out of all proportion overflows, and
        says nothing of the answer: dropped. One that may have underflowed would show a loss too large: it is raised,
        which lowers the bound of its gauge's direction; where both directions count the outcome is dropped."""
        wrong, faint = ~(other < TOO_MUCH), (other < FAINT) & (one > PLAIN)
        if self.whole:
            wrong |= faint
        else:
            other[faint] = FAINT
        one[wrong] = other[wrong] = 0.0

    def centred(self, state: State) -> State:
        """On the lower side merges wider than a loss of 1 leave losses that are off their points, all to one side. To
        move the points there instead changes nothing."""
        if self.side == "upper":
            return state
        one, other = (sum(float(block.values[row].sum()) for block in state.blocks) for row in (0, 1))
        off = math.log(other / one) if one > 0 and other > 0 else 0.0  # by how much losses are below their points
        if abs(off) < 1.0:
            return state
        for block in state.blocks:
            block.values[1] *= math.exp(-off)
        more = off if self.gauge == "p" else -off
        eta_x = state.eta_x + (EXP_ULPS + 2 + abs(off)) * U + U * abs(state.offset)
        return replace(state, offset=state.offset - more, eta_x=eta_x)

    def times(self, own: Piece, plain: Piece, weights: tuple[float, float]) -> Piece:
        rows = [self.convolved(x, y) for x, y in zip(own.values, plain.values, strict=True)]
        return Piece(own.shift, own.start + plain.start, np.stack(rows))

    def square(self, level: Level) -> list[Piece]:
        fine = [level.fine] if level.fine is not None else []
        twice = add_pieces([*level.own, *fine, *fine])
        return [self.times(own, twice, (0.5, 0.5)) for own in level.own] if twice is not None else []

    def atoms(self, a: State, b: State) -> tuple[float, float, list[Piece]]:
        more = self.charge(self.far(a.blocks, a.offset) + self.far(b.blocks, b.offset))
        return absorbed(a.q_only, b.q_only, more[0]), absorbed(a.p_only, b.p_only, more[1]), []

    def eta_of_sum(self, a: State, b: State, terms: float) -> tuple[float, float]:
        masses, own = self.allowances((terms + 16) * U)
        offset = 2 * U * abs(a.offset + b.offset)
        return a.eta_q + b.eta_q + masses, a.eta_x + b.eta_x + own + offset

    def masses(self, block: Piece, state: State) -> tuple[FloatArray, FloatArray]:
        loss = self.loss(block.shift, np.arange(block.start, block.stop, dtype=np.float64), state.offset)
        mass = block.values[0]
        with np.errstate(under="ignore", over="ignore", invalid="ignore"):
            other = block.values[-1] * np.exp(-loss if self.gauge == "p" else loss)
        other = np.nan_to_num(other, nan=0.0, posinf=1.0)
        return (other, mass) if self.gauge == "p" else (mass, other)

    def fold(self, cut: list[Piece], edge: Piece, at: int, state: State, *, right: bool) -> tuple[float, float]:
        more_q = more_p = 0.0
        end = math.ldexp(edge.start + at, edge.shift)
        for piece in cut:
            i = np.arange(piece.start, piece.stop, dtype=np.float64)
            loss = self.loss(piece.shift, i, state.offset)
            away = (np.ldexp(i, piece.shift) - end) * self.unit  # positive on the right, negative on the left
            mass = piece.values[0]
            with np.errstate(over="ignore", under="ignore", invalid="ignore"):
                if self.side == "lower" and not self.whole and right == (self.gauge == "q"):
                    # Merging would mix the far end of the other measure into this one's edge and, from there, into
                    # everything. To drop this measure's small share is a lower bound of its direction too.
                    other = piece.values[1] * np.exp(loss if right else -loss)
                    lost = min(float(np.nan_to_num(other, nan=1.0, posinf=1.0).sum()), 1.0)
                    more_q, more_p = more_q + lost * (not right), more_p + lost * right
                    continue
                if self.side == "lower":
                    edge.values[0, at] += float(mass.sum())
                    shift = -away if self.gauge == "p" else away
                    edge.values[1, at] += float(np.nan_to_num(piece.values[1] * np.exp(shift), nan=0.0).sum())
                    self.only_sound(edge.values[0, at : at + 1], edge.values[1, at : at + 1])
                    continue
                if self.gauge == "p":
                    stays = np.exp(-away) if right else np.ones_like(away)
                    more = mass * -np.expm1(-away) if right else mass * np.exp(-loss) * -np.expm1(away)
                else:
                    stays = np.ones_like(away) if right else np.exp(away)
                    more = mass * np.exp(loss) * -np.expm1(-away) if right else mass * -np.expm1(away)
                more = np.nan_to_num(more, nan=0.0, posinf=1.0)
            edge.values[0, at] += float(mass @ stays)
            more_q, more_p = more_q + float(more.sum()) * (not right), more_p + float(more.sum()) * right
        return more_q, more_p

    def finish(self, state: State) -> Pair:
        loss, q, p = [], [], []
        for block in state.blocks:
            point = self.loss(block.shift, np.arange(block.start, block.stop, dtype=np.float64), state.offset)
            one = block.values[0]
            if self.side == "lower":
                other = block.values[1]
                one = self._seen(one, other, point)
                keep = (one > 0) & (other > 0) & np.isfinite(other)
                with np.errstate(divide="ignore", invalid="ignore"):
                    top, bottom = (one, other) if self.gauge == "p" else (other, one)
                    near = np.log1p((top - bottom) / bottom)
                    far = np.log(top) - np.log(bottom)
                    point = point + np.where(np.abs(top - bottom) < 0.5 * bottom, near, far)
            else:
                keep = one > 0
            point, one = point[keep], one[keep]
            with np.errstate(over="ignore", under="ignore"):
                loss.append(point)
                q.append(one * np.exp(-point) if self.gauge == "p" else one)
                p.append(one if self.gauge == "p" else one * np.exp(point))
        return _sorted_pair(loss, q, p, state.q_only, state, self.side)

    def _seen(self, one: FloatArray, other: FloatArray, point: FloatArray) -> FloatArray:
        """The stored measure where it has underflowed beside a large share of the other: at least e^-650 of that,
        which lowers the bound of the other's direction, and is nothing beside the floor of its own."""
        if not self.whole:
            return one
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            least = other * np.exp((-point if self.gauge == "p" else point) - UNSEEN)
        return np.maximum(one, np.minimum(np.nan_to_num(least, nan=0.0), math.exp(-UNSEEN)))


def _sorted_pair(
    loss: list[FloatArray], q: list[FloatArray], p: list[FloatArray], q_only: float, state: State, side: Side
) -> Pair:
    points = np.concatenate(loss)
    order = np.argsort(points, kind="stable")
    worst = float(np.abs(points).max(initial=0.0))
    eta_x = state.eta_x + EXP_ULPS * U * (2 + worst)
    masses = np.concatenate(q)[order], np.concatenate(p)[order]
    return Pair(points[order], *masses, q_only, state.p_only, side, state.eta_q + EXP_ULPS * U * (2 + worst), eta_x)
