"""Compositions of many different parts: rows of one lattice, added in batches.

The parts stand in rows of blocks that all share one layout, each row about an offset of its own (its mean),
so that every step of a sum is one array operation for hundreds of parts. Rows of like variance are added in
pairs, by octaves: two rows with variances in [2^m, 2^(m+1)) have their sum in the next octave. A row that
occurs several times is added to itself.

A row costs in proportion to its points, and most rows are single parts: those get the coarsest spacing that
the tolerance affords, and sums keep it until it is as fine as asked. As in ``_power``, a bad place costs a
wide bracket, not a wrong one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from privloss._arithmetic import LossSum, State, absorbed, filled, start_error
from privloss._ask import Ask
from privloss._graded import Channels, Layout, Piece, crossed, deposit, layout, levels, positions
from privloss._laws.rows import MassRows, together
from privloss._pair import EXP_ULPS, FloatArray, IntArray, Law, Masses, Pair, U
from privloss._power import MOST_RANGE, Budget

ROWS = 128  # in one batch: enough to make Python's share small, few enough for the processor's cache
COARSE, FINE = 3.0, 0.5  # spacing of single parts, and of their sums, over the spacing asked for
SHORT = 28  # points up to which a convolution of many rows goes point by point
BODY = 5.0  # standard deviations to which the core of a single part reaches
NARROW = 1e-3  # of the mean variance: parts below it are placed as if they had it


@dataclass(frozen=True)
class Batch:
    """Measures in rows: ``blocks[k].values[channel * rows + row, i]``, and of each row what a ``State`` knows.

    ``terms`` is how many parts a row is the sum of and ``copies`` how often the row occurs in the whole.
    """

    blocks: list[Piece]
    offset: FloatArray
    q_only: FloatArray
    p_only: FloatArray
    eta_q: FloatArray
    eta_x: FloatArray
    terms: FloatArray
    copies: IntArray

    @property
    def rows(self) -> int:
        return self.offset.size

    @property
    def finest(self) -> int:
        return min(block.shift for block in self.blocks)

    @property
    def ends(self) -> tuple[int, int]:
        first, last = self.blocks[0], self.blocks[-1]
        return first.start << first.shift, (last.stop - 1) << last.shift

    def take(self, rows: IntArray) -> Batch:
        count = self.rows
        blocks = [
            Piece(k, start, values.reshape(-1, count, values.shape[1])[:, rows].reshape(-1, values.shape[1]))
            for k, start, values in self.blocks
        ]
        return Batch.of(blocks, [x[rows] for x in self.columns()], self.copies[rows])

    @classmethod
    def of(cls, blocks: list[Piece], columns: Sequence[FloatArray], copies: IntArray) -> Batch:
        """The inverse of ``columns``."""
        offset, q_only, p_only, eta_q, eta_x, terms = columns
        return cls(blocks, offset, q_only, p_only, eta_q, eta_x, terms, copies)

    def columns(self) -> tuple[FloatArray, ...]:
        return self.offset, self.q_only, self.p_only, self.eta_q, self.eta_x, self.terms


@dataclass(frozen=True)
class RowSum(LossSum):
    """``LossSum`` for ``rows`` measures that share their blocks; positions are those of the offsets of the rows."""

    rows: int = 1

    @cached_property
    def channels(self) -> Channels:
        return Channels((1 if self.side == "upper" else 2) * self.rows, False, self._row_shares)

    def _row_shares(self, shift: int) -> tuple[float | FloatArray, float | FloatArray]:
        left, right = self._shares(shift)
        if self.side == "upper":
            return left, right
        return np.repeat(left, self.rows, axis=0), np.repeat(right, self.rows, axis=0)

    def points(self, shift: int, i: FloatArray, offset: FloatArray) -> FloatArray:
        """Losses, (rows, points)."""
        return np.ldexp(i, shift) * self.unit + offset[:, None]

    def begin(self, laws: Sequence[Law], slots: Layout, offset: FloatArray, copies: IntArray) -> Batch:
        """Single parts: ``LossSum.start``."""
        loss = np.concatenate([self.points(k, i, offset) for k, i in positions(slots)], axis=1)
        rows = together(laws)
        if self.side == "upper":
            got = rows.hats(loss)
            p, q = self._both(got.p, got.q, loss)
            values = p if self.gauge == "p" else q
            more_q, more_p = self.charge(loss[:, 0 if self.gauge == "p" else -1])
            got = MassRows(got.q, got.p, got.q_only + more_q, got.p_only + more_p)
        else:
            cuts = self.cuts(loss)
            got = rows.cells(cuts)
            lowest, highest = (np.array([[getattr(law, end)] for law in laws]) for end in ("low", "high"))
            q, p = filled(Masses(got.q, got.p, 0.0, 0.0), cuts, loss, -loss, lowest, highest)
            values = np.concatenate((got.p, q) if self.gauge == "p" else (got.q, p))
        ends = np.cumsum([slot.stop - slot.start for slot in slots])
        blocks = [
            Piece(slot.shift, slot.start, values[:, end - (slot.stop - slot.start) : end])
            for slot, end in zip(slots, ends.tolist(), strict=True)
        ]
        eta_q, eta_x = np.array([start_error(law, self.side) for law in laws]).T
        largest = np.abs(loss).max(axis=1)
        eta_q, eta_x = eta_q + EXP_ULPS * U * (2 + largest), eta_x + 4 * U * largest
        blocks = self.clean(blocks)
        return Batch(blocks, offset, got.q_only, got.p_only, eta_q, eta_x, np.ones(offset.size), copies)

    def clean(self, blocks: list[Piece]) -> list[Piece]:
        if self.side == "lower":
            for block in blocks:
                self.only_sound(block.values[: self.rows], block.values[self.rows :])
        return blocks

    def times(self, own: Piece, plain: Piece, weights: tuple[float, float]) -> Piece:
        return Piece(own.shift, own.start + plain.start, _convolved(own.values, plain.values))

    def plus(self, a: Batch, b: Batch, copies: IntArray) -> tuple[list[Piece], Batch]:
        """The pieces of the sums of each row of ``a`` and its row of ``b``, and the rest: ``Arithmetic.add``."""
        shifts = sorted({block.shift for block in (*a.blocks, *b.blocks)})
        both = zip(levels(a.blocks, self.channels, shifts), levels(b.blocks, self.channels, shifts), strict=True)
        pieces = [piece for one, two in both for piece in self._pairs(one, two, (0.5, 0.5))]
        longest = float(max(block.values.shape[1] for block in (*a.blocks, *b.blocks)))
        masses, own = self.allowances((longest + crossed(a.blocks + b.blocks) + 16) * U)
        eta_q, eta_x = a.eta_q + b.eta_q + masses, a.eta_x + b.eta_x + own + 2 * U * np.abs(a.offset + b.offset)
        more = self.charge(self.far(a.blocks, a.offset) + self.far(b.blocks, b.offset))
        q_only, p_only = absorbed(a.q_only, b.q_only, more[0]), absorbed(a.p_only, b.p_only, more[1])
        return pieces, Batch([], a.offset + b.offset, q_only, p_only, eta_q, eta_x, a.terms + b.terms, copies)

    def moved(self, batch: Batch, slots: Layout) -> Batch:
        """On another layout that covers it."""
        if [(k, start, start + x.shape[1]) for k, start, x in batch.blocks] == slots:
            return batch
        return self.placed(batch, batch.blocks, slots)

    def placed(self, batch: Batch, pieces: list[Piece], slots: Layout) -> Batch:
        """With these masses, brought onto a layout."""
        eta_q, eta_x = self.allowances(crossed(pieces, slots) * U)
        blocks = deposit(pieces, slots, self.channels)
        return replace(batch, blocks=blocks, eta_q=batch.eta_q + eta_q, eta_x=batch.eta_x + eta_x)

    def cut(self, batch: Batch, budget: Budget, share: FloatArray) -> Batch:
        """Both ends cut, at the same points of all rows, each within its share of the budget: ``Arithmetic.trim``."""
        for right, budgets in ((True, budget.right), (False, budget.left)):
            kept, cut = self._divided(batch, tuple(b * share for b in budgets), right=right)
            if cut:
                error = (8 + sum(piece.values.shape[1] for piece in cut)) * U
                where = -1 if right else 0
                edge = kept[where] = Piece(kept[where].shift, kept[where].start, kept[where].values.copy())
                more_q, more_p = self._folded(cut, edge, batch.offset, right=right)
                batch = replace(
                    batch,
                    blocks=kept,
                    q_only=batch.q_only + more_q,
                    p_only=batch.p_only + more_p,
                    eta_q=batch.eta_q + error,
                    eta_x=batch.eta_x + (2 * error if self.side == "lower" else 0.0),
                )
        return batch

    def _divided(
        self, batch: Batch, budgets: tuple[FloatArray, ...], *, right: bool
    ) -> tuple[list[Piece], list[Piece]]:
        kept, cut = [block for block in batch.blocks if block.values.shape[1]], []
        where, turn = (-1, -1) if right else (0, 1)
        while kept:
            block = kept[where]
            masses = self._masses(block, batch.offset)
            sums = [np.cumsum(mass[:, ::turn], axis=1) for mass in masses]
            allowed = np.logical_and(*(x <= left[:, None] for x, left in zip(sums, budgets, strict=True)))
            n, size = int(np.min(allowed.sum(axis=1))), block.values.shape[1]
            n = max(n, self._unreached(block, batch.offset, right=right))
            if n >= size and len(kept) > 1:
                cut.append(kept.pop(where))
                budgets = tuple(left - x[:, -1] for x, left in zip(sums, budgets, strict=True))
                continue
            n = min(n, size - 1)
            if n:
                at = size - n if right else n
                head = Piece(block.shift, block.start, block.values[:, :at])
                tail = Piece(block.shift, block.start + at, block.values[:, at:])
                kept[where] = head if right else tail
                cut.append(tail if right else head)
            break
        return kept, cut

    def _unreached(self, block: Piece, offset: FloatArray, *, right: bool) -> int:
        """How many points of the block all rows have out of reach."""
        if right == (self.gauge == "p"):
            return 0
        loss = self.points(block.shift, np.arange(block.start, block.stop, dtype=np.float64), offset)
        return int(np.count_nonzero((self.reached(loss) != loss).all(axis=0)))

    def _masses(self, block: Piece, offset: FloatArray) -> tuple[FloatArray, FloatArray]:
        loss = self.points(block.shift, np.arange(block.start, block.stop, dtype=np.float64), offset)
        mass = block.values[: self.rows]
        with np.errstate(under="ignore", over="ignore", invalid="ignore"):
            other = block.values[-self.rows :] * np.exp(-loss if self.gauge == "p" else loss)
        other = np.nan_to_num(other, nan=0.0, posinf=1.0)
        return (other, mass) if self.gauge == "p" else (mass, other)

    def _folded(
        self, cut: list[Piece], edge: Piece, offset: FloatArray, *, right: bool
    ) -> tuple[FloatArray, FloatArray]:
        """The masses of ``cut`` moved into the end of ``edge``, in place, and what the atoms gain: ``LossSum.fold``."""
        rows, at = self.rows, edge.values.shape[1] - 1 if right else 0
        end = math.ldexp(edge.start + at, edge.shift)
        more = np.zeros(rows)
        for piece in cut:
            i = np.arange(piece.start, piece.stop, dtype=np.float64)
            away = (np.ldexp(i, piece.shift) - end) * self.unit  # positive on the right, negative on the left
            loss = self.points(piece.shift, i, offset)
            mass, other = piece.values[:rows], piece.values[rows:]
            with np.errstate(over="ignore", under="ignore", invalid="ignore"):
                if self.side == "lower" and not self.whole and right == (self.gauge == "q"):
                    lost = np.nan_to_num(other * np.exp(loss if right else -loss), nan=1.0, posinf=1.0)
                    more += np.minimum(lost.sum(axis=1), 1.0)
                elif self.side == "lower":
                    edge.values[:rows, at] += mass.sum(axis=1)
                    factor = np.exp(-away if self.gauge == "p" else away)
                    edge.values[rows:, at] += np.nan_to_num(other * factor, nan=0.0).sum(axis=1)
                    self.only_sound(edge.values[:rows, at], edge.values[rows:, at])
                else:  # a spread onto the end and the atom: the farther it goes, the more of p (q) stays behind
                    near = right == (self.gauge == "p")
                    edge.values[:rows, at] += (mass * (np.exp(-np.abs(away)) if near else 1.0)).sum(axis=1)
                    ratio = 1.0 if near else np.exp(loss if self.gauge == "q" else -loss)
                    gone = mass * ratio * -np.expm1(-np.abs(away))
                    more += np.nan_to_num(gone, nan=0.0, posinf=1.0).sum(axis=1)
        none = np.zeros(rows)
        return (none, more) if right else (more, none)


def _convolved(a: FloatArray, b: FloatArray) -> FloatArray:
    """Row by row; short ones point by point, all rows at once."""
    if a.shape[1] > b.shape[1]:
        a, b = b, a
    if a.shape[1] > SHORT or a.shape[0] < 8:
        return np.array([np.convolve(x, y) for x, y in zip(b, a, strict=True)])
    size = b.shape[1]
    out, term = np.zeros((a.shape[0], a.shape[1] + size - 1)), np.empty_like(b)
    for i in range(a.shape[1]):
        np.multiply(b, a[:, i : i + 1], out=term)
        out[:, i : i + size] += term
    return out


@dataclass(frozen=True)
class Parts:
    """The parts of a composition and what places them: one row each."""

    laws: Sequence[Law]
    rounds: IntArray
    mean: FloatArray
    sd: FloatArray
    lo: FloatArray
    hi: FloatArray
    between: FloatArray  # the means under P and under Q

    @cached_property
    def total_sd(self) -> float:
        return math.sqrt(float(self.sd**2 @ self.rounds))

    @property
    def apart(self) -> float:
        """How many standard deviations lie between the means of the whole under P and under Q."""
        return float(self.between @ self.rounds) / self.total_sd

    @cached_property
    def octave(self) -> IntArray:
        """m for a variance in [2^m, 2^(m+1))."""
        value: IntArray = np.floor(2 * np.log2(self.sd)).astype(np.int64)
        return value


def look(laws: Sequence[Law], rounds: Sequence[int], gauge: str, tail: float) -> Parts:
    """Where the parts are and how wide, seen under P, under Q or between the two ("pq")."""
    counts = np.array(rounds, np.int64)
    rare = 0.005 / float(counts.sum())
    found = []
    for at in range(0, len(laws), ROWS):
        rows = together(laws[at : at + ROWS])
        tails = np.full(len(laws[at : at + ROWS]), tail)
        loss, q, p = rows.sample(tails)
        (mean_p, sd_p), (mean_q, sd_q) = _moments(loss, p, rare), _moments(loss, q, rare)
        share = {"p": 1.0, "q": 0.0, "pq": 0.5}[gauge]
        mean, sd = share * mean_p + (1 - share) * mean_q, share * sd_p + (1 - share) * sd_q
        found.append((mean, sd, *rows.window(tails, tails), np.abs(mean_p - mean_q)))
    mean, sd, lo, hi, between = (np.concatenate(column) for column in zip(*found, strict=True))
    least = math.sqrt(NARROW * float(sd**2 @ counts) / float(counts.sum())) or 1.0
    return Parts(laws, counts, mean, np.maximum(sd, least), lo, np.minimum(hi, lo + MOST_RANGE), between)


def _moments(loss: FloatArray, weights: FloatArray, rare: float) -> tuple[FloatArray, FloatArray]:
    """Mean, and standard deviation of the body: what few sums contain is left to the graded tail."""

    def of(weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        total = np.maximum(weights.sum(axis=1), 1e-300)
        mean = (loss * weights).sum(axis=1) / total
        return mean, np.sqrt(((loss - mean[:, None]) ** 2 * weights).sum(axis=1) / total)

    mean, sd = of(weights)
    upper, lower = np.cumsum(weights[:, ::-1], axis=1)[:, ::-1], np.cumsum(weights, axis=1)
    inner = of(np.where((upper > rare) & (lower > rare), weights, 0.0))[1]
    return mean, np.where(inner > 0, inner, sd)


def coarse(spacing: float, octave: int) -> float:
    """The spacing of single parts: beyond a loss of about 1 a move is no longer of second order."""
    return spacing * max(1.0, min(COARSE, math.pow(2.0, -0.5 * octave) / spacing))


@dataclass(frozen=True)
class Plan:
    """Which lattice each octave gets."""

    parts: Parts
    ask: Ask
    gauge: str
    unit: float
    lean: tuple[float, float]  # how many standard deviations to the left and to the right answers lie

    def arithmetic(self, rows: int) -> RowSum:
        return RowSum(self.unit, 0.0, self.ask.side, self.gauge, self.ask.nested, rows)

    def shift(self, octave: int, spacing: float) -> int:
        return max(math.floor(math.log2(spacing / self.unit) + 0.5 * octave + 1e-9), 0)

    def spacing(self, octave: int) -> float:
        """Of sums, in standard deviations: as asked for the whole, and finer for the many that go before it."""
        return self.ask.spacing * (FINE + (1.0 - FINE) * self.part(octave))

    def part(self, octave: int) -> float:
        """The standard deviation of a row over that of the whole."""
        return min(math.pow(2.0, 0.5 * octave) / self.parts.total_sd, 1.0)

    def slots(self, octave: int, shift: int, lo: int, hi: int) -> Layout:
        """The core widens as rows approach the whole, whose answers lie out by ``lean``."""
        sd = 2.0 ** (0.5 * octave)
        part = self.part(octave)
        left, right = self.lean
        half = max(math.ceil((BODY + (1.0 + 0.5 * (left + right)) * part) * sd / math.ldexp(self.unit, shift)), 8)
        center = round(0.5 * (right - left) * part * sd / self.unit)
        return layout(center, half, lo, hi, shift)

    def singles(self, octave: int) -> Iterator[Batch]:
        """The parts of an octave, in batches of like windows."""
        parts = self.parts
        shift = self.shift(octave, coarse(self.ask.spacing, octave))
        step = math.ldexp(self.unit, shift)
        members = np.flatnonzero(parts.octave == octave)
        members = members[np.argsort(parts.hi[members] - parts.lo[members], kind="stable")]
        for at in range(0, members.size, ROWS):
            self.ask.check_time()
            chosen = members[at : at + ROWS]
            laws = [parts.laws[i] for i in chosen]
            low = np.array([law.low for law in laws])
            anchor = np.where(np.isfinite(low) & (np.abs(low) < 2.0**40 * step), low, 0.0)
            offset = anchor + step * np.round((parts.mean[chosen] - anchor) / step)
            arithmetic = self.arithmetic(chosen.size)
            lo, hi = arithmetic.reached(parts.lo[chosen]), arithmetic.reached(parts.hi[chosen])
            first = int(np.floor(((lo - offset) / self.unit).min()))
            last = int(np.ceil(((hi - offset) / self.unit).max()))
            slots = self.slots(octave, shift, first, max(last, first + 1))
            yield arithmetic.begin(laws, slots, offset, parts.rounds[chosen])

    def groups(self, octave: int, sums: list[Batch], *, singles: bool) -> Iterator[Batch]:
        """All rows of an octave in batches of at most ``ROWS``."""
        for batch in self.singles(octave) if singles else ():
            if batch.rows == ROWS:
                yield batch
            else:
                sums.append(batch)
        group: list[Batch] = []
        for batch in sums:
            if sum(other.rows for other in group) + batch.rows > ROWS:
                yield self.stacked(group, octave)
                group = []
            group.append(batch)
        if group:
            yield self.stacked(group, octave)

    def stacked(self, batches: list[Batch], octave: int) -> Batch:
        """One batch of several."""
        if len(batches) == 1:
            return batches[0]
        lo, hi = min(batch.ends[0] for batch in batches), max(batch.ends[1] for batch in batches)
        shift = max(min(batch.finest for batch in batches), self.shift(octave, self.spacing(octave)))
        slots = self.slots(octave, shift, lo, hi)
        moved = [self.arithmetic(batch.rows).moved(batch, slots) for batch in batches]
        blocks = []
        for slot, *pieces in zip(slots, *(batch.blocks for batch in moved), strict=True):
            size = slot.stop - slot.start
            channels = [piece.values.reshape(-1, batch.rows, size) for piece, batch in zip(pieces, moved, strict=True)]
            blocks.append(Piece(slot.shift, slot.start, np.concatenate(channels, axis=1).reshape(-1, size)))
        columns = [np.concatenate(column) for column in zip(*(b.columns() for b in moved), strict=True)]
        return Batch.of(blocks, columns, np.concatenate([batch.copies for batch in moved]))

    def paired(self, batch: Batch, octave: int, budget: Budget) -> Iterator[Batch]:
        """The sums of pairs of rows, for the next octave, and a row that is left over."""
        self.ask.check_time()
        twice, odd = np.flatnonzero(batch.copies >= 2), np.flatnonzero(batch.copies % 2)
        half = odd.size // 2
        one, two = np.concatenate((twice, odd[:half])), np.concatenate((twice, odd[half : 2 * half]))
        copies = np.concatenate((batch.copies[twice] // 2, np.ones(half, np.int64)))
        if one.size:
            arithmetic = self.arithmetic(one.size)
            pieces, bare = arithmetic.plus(batch.take(one), batch.take(two), copies)
            lo = min(piece.start << piece.shift for piece in pieces)
            hi = max((piece.stop - 1) << piece.shift for piece in pieces)
            shift = max(batch.finest, self.shift(octave + 1, self.spacing(octave + 1)))
            whole = arithmetic.placed(bare, pieces, self.slots(octave + 1, shift, lo, hi))
            whole = replace(whole, blocks=arithmetic.clean(whole.blocks))
            yield arithmetic.cut(whole, budget, bare.terms / float(self.parts.rounds.sum()))
        if odd.size % 2:
            yield replace(batch.take(odd[-1:]), copies=np.ones(1, np.int64))

    def finished(self, batch: Batch) -> Pair:
        columns = (float(column[0]) for column in batch.columns()[:-1])
        offset, *rest = columns
        return self.arithmetic(1).finish(State(batch.blocks, int(batch.terms[0]), offset, 1.0, *rest))


def sum_of_many(parts: Parts, ask: Ask, gauge: str, lean: tuple[float, float], budget: Budget) -> Pair:
    """The composition of all parts: the narrowest octave first."""
    lowest = int(parts.octave.min())
    unit = coarse(ask.spacing, lowest) * min(2.0 ** (0.5 * lowest), 10.0)
    plan = Plan(parts, ask, gauge, unit, lean)
    budget = budget.part(1.0 / (2 * math.log2(parts.total_sd) - lowest + 3))
    singles, sums = set(parts.octave.tolist()), dict[int, list[Batch]]()
    while True:
        octave = min(singles | set(sums))
        groups = plan.groups(octave, sums.pop(octave, []), singles=octave in singles)
        results = [result for group in groups for result in plan.paired(group, octave, budget)]
        singles.discard(octave)
        if not singles and not sums and sum(int(result.copies.sum()) for result in results) == 1:
            return plan.finished(results[0])
        sums.setdefault(octave + 1, []).extend(results)
