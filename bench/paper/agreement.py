"""200 random settings answered by PLD-accounting, kept in tests/vectors/pld_accounting.json for the tests to meet.

    python bench/paper/agreement.py

It makes .venv/peers (the same as bench/peers/run.py) and asks there, about a minute. Settings are coarse on purpose:
two methods of one design agree within their brackets, whatever the grid.
"""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from pythons import available, environment  # noqa: E402

TARGET = ROOT / "tests" / "vectors" / "pld_accounting.json"
PACKAGE, VERSION = "PLD-accounting", "2.0"


def peers() -> str:
    """The Python of the environment that bench/peers/run.py makes."""
    _, executable = next(available())
    lines = (ROOT / "bench" / "peers" / "requirements.txt").read_text(encoding="utf-8").splitlines()
    return environment("peers", executable, *(line for line in lines if line and not line.startswith("#")), ".")


def settings() -> list[dict[str, Any]]:
    """70 of Gaussian noise, 70 of Laplace noise, 60 of listed losses; half of each with one pick."""
    generator = random.Random(20261119)
    kinds = ["gaussian"] * 70 + ["laplace"] * 70 + ["listed"] * 60
    return [setting(generator, kind, one=i % 2 == 0) for i, kind in enumerate(kinds)]


def setting(generator: random.Random, kind: str, one: bool) -> dict[str, Any]:
    picks = 1 if one else generator.randint(2, 8)
    steps = max(round(10 ** generator.uniform(0.3, 2.5)), picks + 1)
    delta = generator.choice([1e-4, 1e-5, 1e-6, 1e-8])
    alpha = generator.choice([0.05, 0.1, 0.2]) * (1 if one else 2)
    common = {"kind": kind, "steps": steps, "picks": picks, "delta": delta, "alpha": alpha, "beta": delta / 100}
    if kind == "gaussian":
        return common | {"sigma": round(10 ** generator.uniform(-0.15, 0.5), 3)}
    if kind == "laplace":
        return common | {"scale": round(10 ** generator.uniform(-0.2, 0.5), 3), "grid": alpha / 200}
    return common | listed(generator)


def listed(generator: random.Random) -> dict[str, Any]:
    """Masses at multiples of 1/4, and a little at infinity: random, then leaned upwards until E[e^-L] is below 1."""
    first = -generator.randint(2, 8)
    size = generator.randint(4, 8) - first
    weights = [generator.random() ** 3 for _ in range(size)]
    top = generator.choice([0.0, 1e-9])
    for lean in range(1000):
        leaned = [w * math.exp(0.02 * lean * i) for i, w in enumerate(weights)]
        total = math.fsum(leaned) / (1 - top)
        masses = [w / total for w in leaned]
        if math.fsum(m * math.exp(-0.25 * (first + i)) for i, m in enumerate(masses)) < 0.999:
            return {"first": first, "grid": 0.25, "masses": masses, "top": top}
    raise AssertionError("no lean is enough")


def main() -> None:
    python = sys.argv[1] if len(sys.argv) > 1 else peers()
    asked = "\n".join(json.dumps(each) for each in settings())
    said = subprocess.run([python, HERE / "peer.py"], input=asked, stdout=subprocess.PIPE, text=True, check=True).stdout
    rows = [json.loads(line) for line in said.splitlines()]
    spent = sum(row.pop("seconds") for row in rows)
    head = {
        "source": f"{PACKAGE} {VERSION}, the paper's authors' implementation (Apache-2.0); https://pypi.org/project/PLD-accounting",
        "generator": "bench/paper/agreement.py",
        "meaning": "epsilon at delta, the worse direction: its dominated and its dominating bound, at alpha "
        "(loss_discretization) and beta (tail_truncation); laplace: of the realization rounded up onto steps of grid",
    }
    lines = ",\n".join(json.dumps(row) for row in rows)
    TARGET.write_text(json.dumps(head, indent=1)[:-2] + f',\n "settings": [\n{lines}\n]}}\n', encoding="utf-8")
    print(f"{len(rows)} settings in {spent:.0f} s")


if __name__ == "__main__":
    main()
