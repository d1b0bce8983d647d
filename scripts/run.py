"""The command line from a fresh checkout: `python3 scripts/run.py epsilon --sigma 1 --delta 1e-6`.

Makes a virtual environment under .venv/ when there is none yet, then runs `privloss` with the arguments.
"""

from __future__ import annotations

import subprocess
import sys

from pythons import SUPPORTED, available, environment


def main() -> int:
    version, executable = next(available(), ("", ""))
    if not executable:
        print(f"needs one of Python {', '.join(SUPPORTED)}, with the venv module", file=sys.stderr)
        return 2
    python = environment(f"run-{version}", executable, ".[cli]")
    return subprocess.run([python, "-m", "privloss", *sys.argv[1:]], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
