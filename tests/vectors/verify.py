"""Confirm sets of vectors by another method: `python tests/vectors/verify.py [SET ...]`, all without an argument.

Prints the largest relative disagreement of each set, and every vector that differs by more than one unit of
its last digit. The exit status is 1 if there is one.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))


def main() -> int:
    import mpmath

    from truth import vectors

    wrong = 0
    for name in sys.argv[1:] or vectors.SETS:
        start, largest = time.perf_counter(), mpmath.mpf(0)
        known = vectors.read(name)
        for vector in known:
            for each, difference, agreed in vectors.checked(name, vector):
                largest = max(largest, difference)
                if not agreed:
                    wrong += 1
                    print(f"{name}: differs by {mpmath.nstr(difference, 3)}: {each.text}", flush=True)
        seconds = time.perf_counter() - start
        print(f"{name}: {len(known)} vectors, {mpmath.nstr(largest, 3)} at most, {seconds:.0f} s", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
