"""Do the tests notice a bound that is wrong by a billionth? `python scripts/mutate.py [NAME ...] [--page]`.

Each site below is a place where the code rounds to a side, with a change that rounds to the wrong one by a relative 1e-9,
or leaves an allowance out. For each, a copy of the repository with that one change is tested, by the tests of exact
arithmetic first; a change that no test notices has survived. `--page` writes the table to docs/proofs/mutations.md.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "proofs" / "mutations.md"
TESTS = ("graded", "laws", "edges", "batches", "enumeration", "vectors", "values", "laws_of_operations")
LESS, MORE = "(1 - 1e-9)", "(1 + 1e-9)"


class Site(NamedTuple):
    name: str
    file: str
    old: str
    new: str


SITES = [
    # lists of outcomes
    Site("spread of a list, to the right", "_pair.py", "right = -np.expm1(a - self.loss) / width", f"right = -np.expm1(a - self.loss) / width * {LESS}"),
    Site("spread of a list, to the left", "_pair.py", "left = -np.expm1(self.loss - b) / width", f"left = -np.expm1(self.loss - b) / width * {LESS}"),
    Site("merge of a list", "_pair.py", "_binned(spot, self.p, count), self.q_only", f"_binned(spot, self.p * {MORE}, count), self.q_only"),
    Site("atoms of a list, upper", "_pair.py", "self.p_only + float(p[-1]))", f"self.p_only * {LESS} + float(p[-1]))"),
    Site("quotient of masses", "_pair.py", "return np.where(near, np.log1p((p - q) / q), apart)", f"return np.where(near, np.log1p((p - q) / q), apart) * {MORE}"),
    # mechanisms
    Site("Gaussian: the noise of a composition", "_mechanisms/gaussian.py", "margin = -ROUNDED if", "margin = ROUNDED * 1e8 if"),
    Site("Gaussian: masses of cells", "_laws/quadrature.py", "return total, (a - (total - part)) + (b - part)", "return total, 0.0 * part"),
    Site("Laplace: allowance for the ratio", "_laws/laplace.py", "self.low, self.eta_x = -self.high, abs(rest) * (1 + 8 * U)", f"self.high *= {MORE}\n        self.low, self.eta_x = -self.high, abs(rest)"),
    Site("discrete Gaussian: losses", "_laws/integers.py", "loss, _ = _over(0.5 * sensitivity * (2.0 * k - sensitivity), variance, more)", f"loss = _over(0.5 * sensitivity * (2.0 * k - sensitivity), variance, more)[0] * {MORE}"),
    Site("many integers: allowance", "_laws/integers.py", "eta_x = error.ratio + (error.cell if", "eta_x = -error.ratio - (error.cell if"),
    Site("far Gaussian: the side of a cell", "_laws/faraway.py", "mass, beyond = mass[1:], 0.0", "mass, beyond = mass[:-1], 0.0"),
    # subsampling
    Site("subsampled list: P", "_evaluate.py", "p = rate * pair.p + (1 - rate) * pair.q", f"p = rate * pair.p + (1 - rate) * {LESS} * pair.q"),
    Site("subsampled law: its atom", "_evaluate.py", "self.rate * got.p_only + extra.p_only)", f"self.rate * got.p_only * {LESS} + extra.p_only)"),
    Site("subsampled loss", "_pair.py", "np.log1p(np.clip(excess, -0.6, 1.0)), apart)", f"np.log1p(np.clip(excess, -0.6, 1.0)), apart) * {LESS}"),
    # sums of ratios
    Site("ratios: half to each side", "_arithmetic.py", "    return 0.5, 0.5", f"    return 0.5, 0.5 * {LESS}"),
    Site("ratios: P of a sum", "_arithmetic.py", "p = weights[0] * self.convolved(own.values[1], plain.values[0])", f"p = weights[0] * {MORE} * self.convolved(own.values[1], plain.values[0])"),
    Site("ratios: P of a square", "_arithmetic.py", "p = self.convolved(own.values[1], once.values[0])", f"p = {MORE} * self.convolved(own.values[1], once.values[0])"),
    Site("ratios: atom of P", "_arithmetic.py", "p_only = share * a.p_only + rest * b.p_only", f"p_only = share * a.p_only + rest * b.p_only * {LESS}"),
    Site("ratios: cut on the right", "_arithmetic.py", "more_p += float(piece.values[0] @ away)", f"more_p += float(piece.values[0] @ away) * {LESS}"),
    Site("ratios: cut on the left", "_arithmetic.py", "near = np.ldexp(i, k - k_e) / i_e", f"near = np.ldexp(i, k - k_e) / i_e * {LESS}"),
    Site("ratios: no allowance", "_arithmetic.py", "return a.eta_q + b.eta_q + masses, max(a.eta_x, b.eta_x) + own + 4 * U", "return 0.0, 0.0"),
    Site("ratios: spread for merge", "_arithmetic.py", "            cuts = np.logaddexp(loss[:-1], loss[1:]) - LN2", "            cuts = loss[:-1] * (1 - 1e-9 * np.sign(loss[:-1]))"),
    # moves between shifts
    Site("moves: an odd point to the left", "_graded.py", "back * left + on * next_left)", f"back * left + on * {LESS} * next_left)"),
    Site("moves: an odd point to the right", "_graded.py", "back * right + on * next_right)", f"back * right * {LESS} + on * next_right)"),
    # sums of losses
    Site("losses: shares of a spread", "_arithmetic.py", "major, minor = 1.0 / (1.0 + math.exp(-s))", f"major, minor = {LESS} / (1.0 + math.exp(-s))"),
    Site("losses: shares of a merge", "_arithmetic.py", "grow, fall = 0.5 * math.exp(s), 0.5 * math.exp(-s)", f"grow, fall = 0.5 * math.exp(s) * {LESS}, 0.5 * math.exp(-s) * {LESS}"),
    Site("losses: a move one way", "_arithmetic.py", "np.array([[1.0], [math.exp(-s)]])", f"np.array([[1.0], [math.exp(-s) * {LESS}]])"),
    Site("losses: the other measure beyond a double", "_arithmetic.py", "got.p * np.exp(up - low), got.q", f"got.p * np.exp(up - low) * {LESS}, got.q"),
    Site("losses: what stays of a cut", "_arithmetic.py", "stays = np.exp(-away) if right else np.ones_like(away)", f"stays = {LESS} * np.exp(-away) if right else np.ones_like(away) * {LESS}"),
    Site("losses: what a cut gives the atom", "_arithmetic.py", "more = mass * -np.expm1(-away) if right else mass * np.exp(-loss) * -np.expm1(away)", f"more = mass * -np.expm1(-away) * {LESS} if right else mass * np.exp(-loss) * -np.expm1(away)"),
    Site("losses: faint masses are left", "_arithmetic.py", "            other[faint] = FAINT", "            pass"),
    Site("losses: points moved", "_arithmetic.py", "block.values[1] *= math.exp(-off)", f"block.values[1] *= math.exp(-off) * {LESS}"),
    Site("losses: atoms", "_arithmetic.py", "np.minimum(a + b * (1 - a) + more, 1.0)", f"np.minimum((a + b * (1 - a)) * {LESS} + more, 1.0)"),
    # many parts at once
    Site("rows: what stays of a cut", "_batch.py", "(mass * (np.exp(-np.abs(away)) if near else 1.0)).sum(axis=1)", f"(mass * (np.exp(-np.abs(away)) if near else 1.0)).sum(axis=1) * {LESS}"),
    Site("rows: what a cut gives the atom", "_batch.py", "gone = mass * ratio * -np.expm1(-np.abs(away))", f"gone = mass * ratio * -np.expm1(-np.abs(away)) * {LESS}"),
    Site("rows: subsampled atom", "_laws/rows.py", "rate[:, 0] * got.p_only + extra.p_only)", f"rate[:, 0] * got.p_only * {LESS} + extra.p_only)"),
    # the largest ratio
    Site("largest: atom of P", "_largest.py", "p_only = max(1.0 - float(p.sum()) * (1 - 2 * cells.eta), 0.0)", f"p_only = max(1.0 - float(p.sum()) * (1 - 2 * cells.eta), 0.0) * {LESS}"),
    Site("largest: P of a merge", "_largest.py", "p = cells.p * rest + before * rest * cells.share_of_rest", f"p = cells.p * rest * {MORE} + before * rest * cells.share_of_rest"),
    # answers
    Site("answers: the slip of the loss", "_curve.py", "level = epsilon - self.sign * (self.slip + 2 * U * abs(epsilon))", "level = epsilon + self.sign * 1e-9 * abs(epsilon)"),
    Site("answers: epsilon", "_curve.py", "found + self.sign * (self.slip + 8 * U * (1 + found))", "found - self.sign * 1e-9 * (1 + found)"),
    Site("answers: the false positive rate", "_curve.py", "rate = fpr * (1 + sign * (self.slip + self.eta + 4 * U))", "rate = fpr * (1 - sign * 1e-9)"),
    Site("answers: delta", "_curve.py", "bound = raw * (1.0 + self.sign * self.eta)", "bound = raw * (1.0 - self.sign * 1e-9)"),
]


def tested(site: Site | None) -> tuple[str, float]:
    """The first test that fails with this change, or "" where all pass."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for part in ("src", "tests", "docs"):
            shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("pyproject.toml", "README.md"):
            shutil.copy(ROOT / name, copy / name)
        if site is not None:
            path = copy / "src" / "privloss" / site.file
            path.write_text(path.read_text(encoding="utf-8").replace(site.old, site.new), encoding="utf-8")
        files = [f"tests/test_{name}.py" for name in TESTS if (copy / f"tests/test_{name}.py").exists()]
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", "not slow", "-p", "no:cacheprovider", *files]
        start = time.perf_counter()
        environment = {**os.environ, "PYTHONPATH": str(copy / "src")}
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
        failed = [line.split(" ", 1)[1].split(" - ")[0] for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
        return (failed[0] if failed else "" if done.returncode == 0 else "error"), time.perf_counter() - start


def stale(site: Site) -> bool:
    """Whether the code is no longer what the site says."""
    text = (ROOT / "src" / "privloss" / site.file).read_text(encoding="utf-8")
    return text.count(site.old) != 1


def main() -> int:
    parser = argparse.ArgumentParser(description="whether the tests notice bounds that are wrong by a billionth")
    parser.add_argument("names", nargs="*", help="sites whose names contain one of these; all without")
    parser.add_argument("--page", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    given = parser.parse_args()
    chosen = [site for site in SITES if not given.names or any(name in site.name for name in given.names)]
    old = [site.name for site in chosen if stale(site)]
    if old:
        print(f"no longer in the code, once: {', '.join(old)}", file=sys.stderr)
        return 2
    rows = []
    for site in chosen:
        caught, seconds = tested(site)
        print(f"{site.name:45} {caught or 'SURVIVED'}  ({seconds:.0f} s)", flush=True)
        rows.append((site, caught))
    survived = [site.name for site, caught in rows if not caught]
    print(f"{len(rows) - len(survived)} of {len(rows)} caught" + (f"; survived: {survived}" if survived else ""))
    if given.page:
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(page(rows), encoding="utf-8")
    return 1 if survived else 0


def page(rows: list[tuple[Site, str]]) -> str:
    head = (
        "# Mutations\n\nEach row is a change to the code that rounds to the wrong side by a relative 1e-9, or leaves an "
        "allowance out, and\nthe first test that failed with it. Made by `python scripts/mutate.py --page`.\n\n"
        "| site | file | caught by |\n|---|---|---|\n"
    )
    lines = (f"| {site.name} | `{site.file}` | {f'`{caught}`' if caught else '**survived**'} |" for site, caught in rows)
    return head + "\n".join(line.replace("tests/", "") for line in lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
