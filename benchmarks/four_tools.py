"""What four tools say of a table that copies nobody, and of one that copies one person in ten.

    python benchmarks/four_tools.py tables DIR           writes the tables, 1,500 people each (docs/gallery_reports.py)
    ENV/bin/python benchmarks/four_tools.py TOOL DIR     in an environment with TOOL and pandas

TOOL is sdmetrics, anonymeter, syntheval or divulge. Adds to docs/four_tools.json, which README shows. synthpop is not
run: it needs R.
"""

from __future__ import annotations

import json
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs"
OUT = DOCS / "four_tools.json"
KEYS, TARGET = ["age", "school", "region"], "health"


def tables(folder: Path) -> None:
    """Write real table, holdout, and the two synthetic tables."""
    sys.path.insert(0, str(DOCS))
    from gallery_reports import tables as made

    folder.mkdir(exist_ok=True)
    for name in ("clean", "copies"):
        for part, table in zip(("real", name, "holdout"), made(name), strict=True):
            table.write_csv(folder / f"{part}.csv")


def sdmetrics(real: Any, synthetic: Any, holdout: Any) -> dict[str, Any]:
    """Return the scores of its privacy metrics; 1 is no risk."""
    from sdmetrics.single_table import DCROverfittingProtection, DisclosureProtection, NewRowSynthesis

    kinds = dict.fromkeys(real.columns, "numerical") | dict.fromkeys(("school", "region"), "categorical")
    metadata = {"columns": {name: {"sdtype": kind} for name, kind in kinds.items()}}
    return {
        "DCROverfittingProtection": DCROverfittingProtection.compute(
            real, synthetic, holdout, {"tables": {"people": metadata}}, "people"
        ),
        "DisclosureProtection": DisclosureProtection.compute(real, synthetic, KEYS, [TARGET]),
        "NewRowSynthesis": NewRowSynthesis.compute(real, synthetic, metadata),
    }


def anonymeter(real: Any, synthetic: Any, holdout: Any) -> dict[str, Any]:
    """Return risk and 95% interval of each attack."""
    import anonymeter.evaluators  # noqa: F401 # before the rest: 1.1.0 imports in a circle
    import numpy as np
    from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator

    np.random.seed(1)  # noqa: NPY002 # it draws from the global state
    halves = (["age", "school"], ["income", "region", "health"])
    rest = {"control": holdout}
    attacks = {
        "singling out, 3 columns": SinglingOutEvaluator(real, synthetic, n_attacks=500, n_cols=3, seed=1, **rest),
        "linkability": LinkabilityEvaluator(real, synthetic, aux_cols=halves, n_attacks=1000, n_neighbors=1, **rest),
        "inference": InferenceEvaluator(real, synthetic, aux_cols=KEYS, secret=TARGET, n_attacks=1000, **rest),
    }
    found = {}
    for name, attack in attacks.items():
        attack.evaluate(**({"mode": "multivariate"} if name.startswith("singling") else {}))
        risk = attack.risk()
        found[name] = [float(x) for x in (risk.value, *risk.ci)]
    return found


def syntheval(real: Any, synthetic: Any, holdout: Any) -> dict[str, Any]:
    """Return the values of its preset for privacy."""
    from syntheval import SynthEval

    tool = SynthEval(real, holdout_dataframe=holdout, cat_cols=["school", "region"], verbose=False)
    rows = tool.evaluate(synthetic, analysis_target=TARGET, presets_file="privacy").reset_index().to_dict("records")
    return {str(r["metric"]): [float(r["val"]), float(r["err"])] for r in rows}


def divulge(real: Any, synthetic: Any, holdout: Any) -> dict[str, Any]:
    """Return verdict and sentence."""
    import divulge

    report = divulge.assess(real, synthetic, holdout=holdout, keys=KEYS, targets=[TARGET])
    results = [r for r in report.to_dict()["results"] if r["risk"]]
    picked = {"copies[exact]": "copies", "linkability": "linkability", "inference[nearest record]": "inference"}
    found: dict[str, Any] = {"verdict": report.verdict}
    for r in results:
        label = picked.get(f"{r['attack']}[{r['variant']}]") or picked.get(r["attack"])
        if label and label not in found:
            found[label] = [r["risk"]["value"], r["risk"]["low_simultaneous"], r["risk"]["high_simultaneous"]]
    return found


def main() -> None:
    """Write the tables, or what a tool says of them."""
    name, folder = sys.argv[1], Path(sys.argv[2])
    if name == "tables":
        tables(folder)
        return
    import pandas as pd

    # "none" is a school
    real, holdout = (pd.read_csv(folder / f"{part}.csv", keep_default_na=False) for part in ("real", "holdout"))
    tool = {"sdmetrics": sdmetrics, "anonymeter": anonymeter, "syntheval": syntheval, "divulge": divulge}[name]
    said: dict[str, Any] = {}
    for table in ("clean", "copies"):
        synthetic, before = pd.read_csv(folder / f"{table}.csv", keep_default_na=False), time.process_time()
        said[table] = tool(real.copy(), synthetic, holdout.copy())
        said["seconds"] = round(time.process_time() - before, 1)  # of the second, when everything is loaded
    told = json.loads(OUT.read_text()) if OUT.exists() else {}
    told[name] = {"version": version(name), **said}
    OUT.write_text(json.dumps(told, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
