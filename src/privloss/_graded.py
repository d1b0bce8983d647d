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
from collections.abc import Callable, Iterator
from dataclasses import dataclass
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


def layout(center: int, half: int, lo: int, hi: int, shift: int) -> Layout:
    """Blocks that cover the positions lo..hi: a core of ``half`` points on either side of ``center``, at ``shift``,
    and beyond it blocks whose spacing grows in proportion to the distance from the center.

    A boundary is a multiple of the coarser of its two spacings.
    """
    unit = 1 << shift
    middle = (center // unit) * unit
    lo, hi = min(lo, hi), max(lo, hi)
    octaves = (max(hi - middle, middle - lo) // (half * unit)).bit_length()
    jump = 2 if octaves <= 32 else 4 if octaves <= 96 else 8  # ranges beyond the largest double are afforded too
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
    start, stop = min(p.start for p in pieces), max(p.stop for p in pieces)
    values = np.zeros((pieces[0].values.shape[0], stop - start))
    for piece in pieces:
        values[:, piece.start - start : piece.stop - start] += piece.values
    return Piece(pieces[0].shift, start, values)


def coarsen(piece: Piece, channels: Channels, *, scaled: bool) -> Piece:
    """To the next shift: even points stay, odd ones go to both neighbours."""
    shift, start, values = piece
    odd_start = start % 2
    even, odd = values[:, odd_start::2], values[:, 1 - odd_start :: 2]
    out = np.zeros((channels.rows, (start + values.shape[1]) // 2 - start // 2 + 1))
    left, right = channels.shares(shift)
    out[:, odd_start : odd_start + even.shape[1]] = even
    out[:, : odd.shape[1]] += left * odd
    out[:, 1 : 1 + odd.shape[1]] += right * odd
    if scaled and channels.scaled:
        out[0] *= 2.0
    return Piece(shift + 1, start // 2, out)


def unscale(piece: Piece, channels: Channels) -> Piece:
    """Plain masses from stored ones."""
    if not channels.scaled or piece.shift == 0:
        return piece
    values = piece.values.copy()
    values[0] *= 2.0**-piece.shift
    return Piece(piece.shift, piece.start, values)


class Level(NamedTuple):
    """One shift of a measure: its own blocks as stored, and all that is finer, as plain masses."""

    own: list[Piece]
    fine: Piece | None


def levels(blocks: list[Piece], channels: Channels, shifts: range) -> Iterator[Level]:
    fine: Piece | None = None
    by_shift: dict[int, list[Piece]] = {}
    for block in blocks:
        by_shift.setdefault(block.shift, []).append(block)
    for shift in shifts:
        own = by_shift.get(shift, [])
        yield Level(own, fine)
        if shift == shifts[-1]:
            return
        below = [unscale(piece, channels) for piece in own] + ([fine] if fine is not None else [])
        total = add_pieces(below)
        fine = coarsen(total, channels, scaled=False) if total is not None else None


def deposit(pieces: list[Piece], slots: Layout, channels: Channels) -> list[Piece]:
    """Bring pieces onto a layout that covers them; what lands where the layout is coarser is coarsened on its way."""
    out = [np.zeros((channels.rows, slot.stop - slot.start)) for slot in slots]
    starts = [slot.start << slot.shift for slot in slots]
    first, last = min(p.shift for p in pieces), max(slot.shift for slot in slots)
    waiting: dict[int, list[Piece]] = {}
    for piece in pieces:
        waiting.setdefault(piece.shift, []).append(piece)
    shift = first
    while waiting:
        inside = [slot for slot in slots if slot.shift <= shift]
        lo = inside[0].start << inside[0].shift if inside else None
        hi = inside[-1].stop << inside[-1].shift if inside else None
        for piece in waiting.pop(shift, []):
            rest = [piece]
            if lo is not None and hi is not None:
                rest = _place(piece, slots, out, starts, (lo, hi), channels)
            for part in rest:
                if shift >= last:
                    raise AssertionError("a layout must cover what is deposited on it")
                waiting.setdefault(shift + 1, []).append(coarsen(part, channels, scaled=True))
        shift += 1
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
