"""docs/reproduction.md and what it shows, from the results of `privloss reproduce`.

With RESULTS, the folder that `privloss reproduce NAME ... --out RESULTS` wrote, it copies the data of those figures,
draws their vector pictures and writes the page. Without RESULTS it does so from the data in docs/reproduction/, so
that a change of style, or of a claim, needs no new computation. Run it with an environment that has the extra plot.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from privloss.reproduce import Data, _page, _run, catalogue

ROOT = Path(__file__).resolve().parent.parent
KEPT, PAGE = ROOT / "docs" / "reproduction", ROOT / "docs" / "reproduction.md"


def main() -> int:
    arguments = argparse.ArgumentParser(description="the page of the paper's figures")
    arguments.add_argument("results", nargs="?", metavar="RESULTS", help="a folder that `privloss reproduce` wrote")
    given = arguments.parse_args()
    source = KEPT if given.results is None else Path(given.results)
    KEPT.mkdir(exist_ok=True)
    verdicts = json.loads((source / _run.VERDICTS).read_text(encoding="utf-8"))
    for figure in catalogue():
        if figure.name in verdicts:
            data = Data.load(source / f"{figure.name}.csv")
            data.save(KEPT / f"{figure.name}.csv")
            verdicts[figure.name]["points"] = len(data)
            verdicts[figure.name]["claims"] = [_run.said(claim, _run.judged(claim, data)) for claim in figure.claims]
            for path in _run.drawn(figure, data, KEPT):
                if path.suffix != ".svg":
                    path.unlink()
            print(f"{figure.name}: {len(data)} rows")
    kept = KEPT / _run.VERDICTS
    known = json.loads(kept.read_text(encoding="utf-8")) if kept.is_file() else {}
    known.update(verdicts)  # results of some figures leave the others as they were
    known = {figure.name: known[figure.name] for figure in catalogue() if figure.name in known}
    kept.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(_page.page(KEPT), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
