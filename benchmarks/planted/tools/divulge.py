"""divulge: one call of `assess` with keys, target, and what the user ignores or names as the unit.

Flag: the verdict of the run is "excess found" or "deficit found". Score: the smallest adjusted p-value of an attack,
as minus its logarithm. People: those whom the report names, finds repeated, or recognises at a false discovery rate of
10%.

What its authors object to: at 500 people most comparisons are too uncertain to say "none found", and no difference is
made here between "none found" and "cannot tell".
"""

import math

NAME = "divulge"
PACKAGES = ["divulge", "polars"]
FRAME = "polars"
SECONDS = 2.0
MEASURES = {"verdict": "verdict of the run"}


def assess(real, synthetic, holdout, world):
    import divulge

    def verdict():
        report = divulge.assess(
            real, synthetic, holdout=holdout, keys=world["keys"], targets=[world["secret"]], unit=world["unit"],
            ignore=world["ignore"], seed=world["seed"], jobs=1,
        )  # fmt: skip
        p = [r["p_adjusted"] for r in report.data["results"] if r["p_adjusted"] is not None]
        return {
            "score": -math.log10(max(min(p, default=1.0), 1e-300)),
            "flag": report.verdict in ("excess found", "deficit found"),
            "people": people(report.records(), real, world["unit"]),
        }

    return {"verdict": verdict}


def people(records, real, unit):
    if records.is_empty():
        return []
    marks = [c for c in ("named", "repeated", "recognised", "flagged") if c in records.columns]
    rows = records.filter(records.select(marks).fill_null(False).max_horizontal())["row"]
    return sorted(set(rows.to_list() if unit is None else real[unit].gather(rows).to_list()))
