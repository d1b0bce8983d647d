"""Write docs/looseness.md from the vectors of k_of_t: `python tests/vectors/looseness.py`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))


def main() -> int:
    from truth import looseness

    page = Path(__file__).resolve().parent.parent.parent / "docs" / "looseness.md"
    page.write_text(looseness.page(), encoding="utf-8")
    print(f"wrote {page.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
