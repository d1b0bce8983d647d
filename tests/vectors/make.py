"""Make sets of vectors anew: `python tests/vectors/make.py [SET ...]`, all without an argument."""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))


def main() -> int:
    from truth import vectors

    for name in sys.argv[1:] or vectors.SETS:
        start = time.perf_counter()
        count = vectors.write(name)
        size = vectors.path(name).stat().st_size
        print(f"{name}: {count} vectors, {size / 1e3:.0f} kB, {time.perf_counter() - start:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
