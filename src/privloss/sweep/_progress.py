"""How far a sweep is, on a terminal: one line that is written over, and nothing anywhere else."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import suppress

EVERY = 0.2  # seconds


class Progress:
    """``show`` whenever something happened; it decides whether to write."""

    def __init__(self, points: int, *, quiet: bool) -> None:
        self._quiet = quiet or sys.stderr is None or not sys.stderr.isatty()
        self._points = points
        self._began = time.monotonic()
        self._last, self._width = 0.0, 0

    def prepare(self, seen: int) -> None:
        """So many points have been looked at, before any is answered."""
        self._write(lambda: f"preparing {seen:,} of {self._points:,} points")

    def start(self) -> None:
        self._began = time.monotonic()

    def show(self, done: int, computed: int, failed: int, share: float) -> None:
        """``computed`` of those done were computed now, which was ``share`` of the work."""
        self._write(lambda: self._line(done, computed, failed, share))

    def _line(self, done: int, computed: int, failed: int, share: float) -> str:
        spent = max(time.monotonic() - self._began, 1e-9)
        parts = [f"{done:,} of {self._points:,} points", f"{computed / spent:.1f} a second"]
        if 0 < share <= 1:
            parts.append(f"{clock(spent * (1 - share) / share)} left")
        if failed:
            parts.append(f"{failed:,} failed")
        return ", ".join(parts)

    def _write(self, line: Callable[[], str]) -> None:
        now = time.monotonic()
        if self._quiet or now - self._last < EVERY:
            return
        self._last = now
        text = line()
        with suppress(OSError):
            sys.stderr.write(f"\r{text.ljust(self._width)}")
            sys.stderr.flush()
        self._width = len(text)

    def close(self) -> None:
        """Leave the line empty."""
        if self._width:
            with suppress(OSError):
                sys.stderr.write(f"\r{' ' * self._width}\r")
                sys.stderr.flush()
            self._width = 0


def clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
