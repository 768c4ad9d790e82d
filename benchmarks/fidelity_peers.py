"""What other fidelity programs score for a perfect generator and planted defects: one repeat of `fresh_samples.py`.

    ENV/bin/python benchmarks/fidelity_peers.py syntheval DIR            in an environment with syntheval and polars
    ENV/bin/python benchmarks/fidelity_peers.py mostlyai DIR --rows 1000 in one with mostlyai-qa and polars

    python benchmarks/fidelity_peers.py docs PAGE FILE ...               the tables of what was printed, into a page

Prints one JSON line for each synthetic table.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

import polars as pl
from fresh_samples import DEFECTS, samples


def syntheval(real: Any, other: Any) -> dict[str, float]:
    """Return the utility scores of SynthEval's presets that compare columns and pairs."""
    from syntheval import SynthEval

    found = SynthEval(real, verbose=False).evaluate(
        other, analysis_target="income", h_dist={}, corr_diff={}, mi_diff={}, ks_test={"sig_lvl": 0.05}
    )
    rows = found.reset_index() if hasattr(found, "reset_index") else found
    return {str(r["metric"]): float(r["val"]) for r in rows.to_dict("records")}


def mostlyai(real: Any, other: Any) -> dict[str, float]:
    """Return the accuracies of mostlyai-qa by its own functions; the pictures of its report take most of its time."""
    from joblib import parallel_config
    from mostlyai.qa import _accuracy as accuracy
    from mostlyai.qa._sampling import prepare_data_for_accuracy

    kinds = {"univariate": accuracy.calculate_univariates, "bivariate": accuracy.calculate_bivariates,
             "trivariate": accuracy.calculate_trivariates}  # fmt: skip
    with parallel_config(n_jobs=1):
        known = prepare_data_for_accuracy(df_tgt=real.copy(), setup="1:1")
        asked = prepare_data_for_accuracy(df_tgt=other.copy(), setup="1:1", ori_dtypes=known.dtypes.to_dict())
        known, bins = accuracy.bin_data(known, 10)
        found = {name: count(known, accuracy.bin_data(asked, bins)[0]) for name, count in kinds.items()}
    scores = {name: float(f.accuracy.mean()) for name, f in found.items()}
    best = {f"{name}_max": float(f.accuracy_max.mean()) for name, f in found.items()}
    means = {"overall": sum(scores.values()) / 3, "overall_max": sum(best.values()) / 3}
    return {"overall": means["overall"], **scores, "overall_max": means["overall_max"], **best}


def table(lines: list[dict[str, Any]]) -> list[str]:
    """Return the Markdown table of one program."""
    names = list(dict.fromkeys(name for line in lines for name in line["scores"]))
    head = ["synthetic table", *names]
    out = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    for line in lines:
        cells = [f"{line['scores'][n]:.3f}" if n in line["scores"] else "" for n in names]
        out.append("| " + " | ".join([line["defect"], *cells]) + " |")
    return out


def main() -> None:
    """Print a line for each synthetic table, or the tables of several programs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("data", type=Path, nargs="+")
    parser.add_argument("--rows", type=int, default=1_000)
    options = parser.parse_args()
    if options.program == "docs":
        _into(options.data[0], options.data[1:])
        return
    people = pl.concat([pl.read_parquet(options.data[0] / f"{part}.parquet") for part in ("train", "control")])
    for defect in DEFECTS:
        real, other = (t.to_pandas() for t in samples(people, options.rows, 0, defect))
        with contextlib.redirect_stdout(io.StringIO()):
            scores = {"syntheval": syntheval, "mostlyai": mostlyai}[options.program](real, other)
        print(json.dumps({"program": options.program, "rows": options.rows, "defect": defect, "scores": scores}))
        sys.stdout.flush()


def _into(page: Path, files: list[Path]) -> None:
    parts = []
    for file in files:
        lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        parts += [f"**{lines[0]['program']}**, {lines[0]['rows']:,} rows, one repeat", "", *table(lines), ""]
    before, _, rest = page.read_text(encoding="utf-8").partition("<!-- peers -->")
    after = rest.partition("<!-- /peers -->")[2]
    page.write_text(f"{before}<!-- peers -->\n\n" + "\n".join(parts) + f"\n<!-- /peers -->{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
