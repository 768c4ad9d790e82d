"""metis-val: its measures of privacy that compare records, one minus their calibrated score.

Flag: none; scores run from 0 to 1 without a threshold. People: none. It takes no holdout: its bounds are the real table
against itself and against noise. Numbers with more than 20 values are continuous, all other columns categorical.

What its authors would object to: one composite of 48 metrics, calibrated over five iterations, is the tool's answer;
here each measure of privacy stands alone, and is calibrated once.
"""

import tempfile

NAME = "metis-val"
PACKAGES = ["metis-val==1.1.0", "pyarrow"]
PYTHON = "3.12"
FRAME = "pandas"
SECONDS = 2.5
MEASURES = {
    "dcr": "DCR",
    "nnaa": "NNAA",
    "mia": "membership attack",
    "inference_attack": "inference attack",
    "record_linkage": "record linkage",
}


def assess(real, synthetic, holdout, world):
    from metis import Evaluator

    out = [c for c in (world["unit"], *world["ignore"]) if c]
    real, synthetic = (t.drop(columns=out, errors="ignore") for t in (real, synthetic))
    numbers = [c for c in real.columns if real[c].dtype.kind in "if" and real[c].nunique() > 20]
    schema = {c: "continuous" if c in numbers else "categorical" for c in real.columns}
    with tempfile.TemporaryDirectory() as folder:
        config = {
            "data": {"target": world["secret"], "task_type": "classification", "schema": schema},
            "metrics": [f"privacy.{m}" for m in MEASURES],
            "calibration": {"n_iterations": 1},
            "evaluation": {"n_runs": 1},
            "reproducibility": {"seed": world["seed"]},
            "report": {"formats": ["json"], "output_dir": folder},
        }
        results = {r.id.split(".")[-1]: r for r in Evaluator().evaluate(real, synthetic, config).results}
    return {m: lambda m=m: {"score": 1 - float(results[m].value), "flag": None, "people": None} for m in MEASURES}
