"""Measures on a graded lattice, and their convolution.

A graded lattice is uniform in blocks. The block of ``shift`` k has its points at the whole multiples of 2^k
units, and the shifts grow away from a core, so a law with a narrow body and a long tail costs a few hundred
points for each factor of two of its range. All points of all blocks lie on one arithmetic lattice: sums of
points are points again, exactly, whatever the blocks, and a point may only have to move when it lands where
the lattice is coarser. An odd point then goes half to the left and half to the right (the shares are those of
a spread, on the upper side, or of a split and merge, on the lower).

Convolution goes through the shifts from fine to coarse. At each, what is finer has been brought to the same
spacing, so one plain convolution of positive numbers serves all pairs whose coarser member is there:

    own_k * (own_k + fine_k) + fine_k * own_k

Everything is a sum of non-negative terms: each mass keeps its *relative* accuracy, in both tails, to the
smallest double.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from privloss._pair import FloatArray


class Piece(NamedTuple):
    """``values[channel, i]`` sits at position (start + i) * 2^shift."""

    shift: int
    start: int
    values: FloatArray

    @property
    def stop(self) -> int:
        return self.start + int(self.values.shape[1])


class Slot(NamedTuple):
    """A block of a layout, without its masses."""

    shift: int
    start: int
    stop: int


Layout = list[Slot]
Shares = Callable[[int], tuple[float | FloatArray, float | FloatArray]]
AT_ONCE = 3  # shifts that a point crosses in one move
FEW = 64  # points in half a core so few that the blocks cost more than their points


@dataclass(frozen=True)
class Channels:
    """How the channels of a piece move to the next coarser shift.

    ``shares(shift)`` are the factors, one row a channel, for an odd point of that shift going left and right;
    ``scaled`` says that the first channel is stored times 2^shift (which keeps q from underflowing in the
    right tail).
    """

    rows: int
    scaled: bool
    shares: Shares
    _moves: dict[tuple[int, int], FloatArray] = field(default_factory=dict, compare=False)

    def moves(self, shift: int, jump: int) -> FloatArray:
        """The factors with which the points 0 .. 2^jump - 1 of that shift go to 0 and to 2^jump: [channel, point,
        where], of one channel or of each. An odd point goes to both its neighbours, and they go on from there."""
        key = (0 if self.scaled else shift), jump  # ratios have the same shares at all shifts
        if key not in self._moves:
            left, right = np.ones((1, 1)), np.zeros((1, 1))
            for k in range(shift + jump - 1, shift - 1, -1):
                back, on = (np.reshape(share, (-1, 1)) for share in self.shares(k))
                last = np.zeros((left.shape[0], 1))
                next_left, next_right = np.hstack((left[:, 1:], last)), np.hstack((right[:, 1:], last + 1.0))
                left = _interleaved(left, back * left + on * next_left)
                right = _interleaved(right, back * right + on * next_right)
            self._moves[key] = np.stack((left, right), axis=2)
        return self._moves[key]


def _interleaved(even: FloatArray, odd: FloatArray) -> FloatArray:
    out = np.empty((odd.shape[0], 2 * odd.shape[1]))
    out[:, 0::2], out[:, 1::2] = even, odd
    return out


def layout(center: int, half: int, lo: int, hi: int, shift: int) -> Layout:
    """Blocks that cover the positions lo..hi: a core of ``half`` points on either side of ``center``, at ``shift``,
    and beyond it blocks whose spacing grows in proportion to the distance from the center.

    A boundary is a multiple of the coarser of its two spacings.
    """
    unit = 1 << shift
    middle = (center // unit) * unit
    lo, hi = min(lo, hi), max(lo, hi)
    octaves = (max(hi - middle, middle - lo) // (half * unit)).bit_length()
    jump = 4 if octaves <= (16 if half <= FEW else 96) else 8  # ranges beyond the largest double are afforded too
    left: Layout = []
    right: Layout = []
    core_start = start = _floor(middle - half * unit, jump * unit)
    core_stop = stop = _ceil(middle + half * unit, jump * unit)
    width, step = half * unit, unit
    while start > lo:
        step, width = jump * step, jump * width
        edge = max(_floor(middle - width, jump * step), _floor(lo, jump * step))
        left.append(Slot(step.bit_length() - 1, edge // step, start // step))
        start = edge
    width, step = half * unit, unit
    while stop - step < hi:  # the last point, not only the last cell, must be beyond hi
        step, width = jump * step, jump * width
        least = _ceil(stop + 1, jump * step)
        edge = max(min(_ceil(middle + width, jump * step), _ceil(hi + step, jump * step)), least)
        right.append(Slot(step.bit_length() - 1, stop // step, edge // step))
        stop = edge
    if not left:
        core_start = max(core_start, _floor(lo, jump * unit)) if lo < core_stop else core_stop - jump * unit
    if not right:
        core_stop = min(core_stop, _ceil(hi + unit, jump * unit)) if hi >= core_start else core_start + jump * unit
    core = [Slot(shift, core_start // unit, core_stop // unit)] if core_stop > core_start else []
    return [*left[::-1], *core, *right]


def _floor(value: int, step: int) -> int:
    return value // step * step


def _ceil(value: int, step: int) -> int:
    return -(-value // step) * step


def positions(slots: Layout) -> list[tuple[int, FloatArray]]:
    """(shift, whole positions within the shift) of each block."""
    return [(s.shift, np.arange(s.start, s.stop, dtype=np.float64)) for s in slots]


def add_pieces(pieces: list[Piece]) -> Piece | None:
    """One piece from several of the same shift; the holes between them are zeros."""
    if len(pieces) <= 1:
        return pieces[0] if pieces else None
    ends = [(start, start + values.shape[1]) for _, start, values in pieces]
    first, last = min(ends)[0], max(stop for _, stop in ends)
    total = np.zeros((pieces[0].values.shape[0], last - first))
    for (start, stop), piece in zip(ends, pieces, strict=True):
        total[:, start - first : stop - first] += piece.values
    return Piece(pieces[0].shift, first, total)


def joined(pieces: list[Piece]) -> list[Piece]:
    """The same masses in fewer pieces of the same shift: those with more holes than points between them stay apart."""
    if len(pieces) == 1:
        return pieces
    groups: list[list[Piece]] = []
    stop, points = 0, 0
    for piece in sorted(pieces, key=lambda piece: piece.start):
        size = piece.values.shape[1]
        if not groups or piece.start - stop > points + size:
            groups.append([])
            stop, points = piece.stop, 0
        groups[-1].append(piece)
        stop, points = max(stop, piece.stop), points + size
    return [total for group in groups if (total := add_pieces(group)) is not None]


def coarsen(piece: Piece, channels: Channels, to: int, *, scaled: bool) -> Piece:
    """To a coarser shift: points that it has stay, the others go to both neighbours."""
    while piece.shift < to:
        piece = _coarser(piece, channels, min(to - piece.shift, AT_ONCE), scaled)
    return piece


def _coarser(piece: Piece, channels: Channels, jump: int, scaled: bool) -> Piece:
    shift, start, values = piece
    size, rows, n = 1 << jump, values.shape[0], values.shape[1]
    first, head = start // size, start % size
    count = -(-(head + n) // size)
    cells = np.zeros((rows, count * size))
    cells[:, head : head + n] = values
    moved = cells.reshape(rows, count, size) @ channels.moves(shift, jump)
    out = np.zeros((rows, count + 1))
    out[:, :-1] = moved[:, :, 0]
    out[:, 1:] += moved[:, :, 1]
    if (head + n) % size == 1:  # the last point stays where it is
        out = out[:, :-1]
    if scaled and channels.scaled:
        out[0] *= size
    return Piece(shift + jump, first, out)


def unscale(piece: Piece, channels: Channels) -> Piece:
    """Plain masses from stored ones."""
    if not channels.scaled or piece.shift == 0:
        return piece
    values = piece.values.copy()
    values[0] *= 2.0**-piece.shift
    return Piece(piece.shift, piece.start, values)


class Level(NamedTuple):
    """One shift of a measure: its own blocks as stored, all that is finer as plain masses, and both together, plain."""

    own: list[Piece]
    fine: Piece | None
    plain: Piece | None


def levels(blocks: list[Piece], channels: Channels, shifts: Sequence[int]) -> Iterator[Level]:
    """At each of the shifts, in increasing order; all those of the blocks must be among them."""
    fine: Piece | None = None
    by_shift: dict[int, list[Piece]] = {}
    for block in blocks:
        by_shift.setdefault(block.shift, []).append(block)
    for shift, then in zip(shifts, (*shifts[1:], None), strict=True):
        own = by_shift.get(shift, [])
        plain = [unscale(piece, channels) for piece in own] + ([fine] if fine is not None else [])
        total = add_pieces(plain)
        yield Level(own, fine, total)
        if then is not None and total is not None:
            fine = coarsen(total, channels, then, scaled=False)


def crossed(pieces: list[Piece], slots: Layout | None = None) -> float:
    """Roundings on the way of a mass through the shifts of the pieces, or from the finest of them to the coarsest of a
    layout: at most 9 a shift, counting its shares, the masses that it joins (16 where it crosses 3 shifts at once) and
    the joining of pieces."""
    last = max(block.shift for block in slots or pieces)
    return 10.0 * max(last - min(piece.shift for piece in pieces) + 1, 0) + 20.0


def deposit(pieces: list[Piece], slots: Layout, channels: Channels) -> list[Piece]:
    """Bring pieces onto a layout that covers them; what lands where the layout is coarser is coarsened on its way."""
    out = [np.zeros((channels.rows, slot.stop - slot.start)) for slot in slots]
    starts = [slot.start << slot.shift for slot in slots]
    there = sorted({slot.shift for slot in slots})
    waiting: dict[int, list[Piece]] = {}
    for piece in pieces:
        waiting.setdefault(piece.shift, []).append(piece)
    while waiting:
        shift = min(waiting)
        inside = [slot for slot in slots if slot.shift <= shift]
        lo = inside[0].start << inside[0].shift if inside else None
        hi = inside[-1].stop << inside[-1].shift if inside else None
        for piece in joined(waiting.pop(shift)):
            rest = [piece]
            if lo is not None and hi is not None:
                rest = _place(piece, slots, out, starts, (lo, hi), channels)
            for part in rest:
                if shift >= there[-1]:
                    raise AssertionError("a layout must cover what is deposited on it")
                then = min(there[bisect_right(there, shift)], *waiting, part.shift + AT_ONCE)
                waiting.setdefault(then, []).append(coarsen(part, channels, then, scaled=True))
    return [Piece(slot.shift, slot.start, values) for slot, values in zip(slots, out, strict=True)]


def _place(
    piece: Piece,
    slots: Layout,
    out: list[FloatArray],
    starts: list[int],
    inside: tuple[int, int],
    channels: Channels,
) -> list[Piece]:
    """Add what lies within ``inside``, where the layout is at least as fine as the piece; return the rest."""
    unit = 1 << piece.shift
    a, b = max(piece.start, -(-inside[0] // unit)), min(piece.stop, -(-inside[1] // unit))
    if a >= b:
        return [piece]
    k = max(bisect_right(starts, a * unit) - 1, 0)
    while k < len(slots) and starts[k] < b * unit:
        slot, target = slots[k], out[k]
        stride = 1 << (piece.shift - slot.shift)
        i0, i1 = max(a, -(-slot.start // stride)), min(b, -(-slot.stop // stride))
        if i0 < i1:
            part = piece.values[:, i0 - piece.start : i1 - piece.start]
            if stride > 1 and channels.scaled:
                part = unscale(Piece(piece.shift - slot.shift, 0, part), channels).values
            offset = i0 * stride - slot.start
            target[:, offset : offset + (i1 - i0 - 1) * stride + 1 : stride] += part
        k += 1
    rest = []
    if piece.start < a:
        rest.append(Piece(piece.shift, piece.start, piece.values[:, : a - piece.start]))
    if piece.stop > b:
        rest.append(Piece(piece.shift, b, piece.values[:, b - piece.start :]))
    return rest
