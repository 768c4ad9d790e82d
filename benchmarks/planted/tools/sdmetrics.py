"""SDMetrics: the four privacy metrics of its documentation, one minus their score.

Flag: none; the documentation gives a best and a worst score and no threshold. People: none. Columns: numbers with more
than 20 values are numerical, all others categorical; a unit and ignored columns are left out (metadata "id").

What its authors would object to: DCROverfittingProtection asks whether a generator overfits and wants more rows;
CategoricalCAP is deprecated in favour of DisclosureProtection; none of them is meant for texts or identifiers, which
SDV's metadata would take out. They are asked here about the columns that a user has.
"""

NAME = "sdmetrics"
PACKAGES = ["sdmetrics==0.32.0", "pyarrow"]
FRAME = "pandas"
SECONDS = 2.4
MEASURES = {
    "DCROverfittingProtection": "DCROverfittingProtection",
    "DCRBaselineProtection": "DCRBaselineProtection",
    "DisclosureProtection": "DisclosureProtection",
    "CategoricalCAP": "CategoricalCAP",
}


def assess(real, synthetic, holdout, world):
    from sdmetrics.single_table import (
        CategoricalCAP,
        DCRBaselineProtection,
        DCROverfittingProtection,
        DisclosureProtection,
    )

    out = [c for c in (world["unit"], *world["ignore"]) if c]
    real, synthetic, holdout = (t.drop(columns=out, errors="ignore") for t in (real, synthetic, holdout))
    numbers = [c for c in real.columns if real[c].dtype.kind in "if" and real[c].nunique() > 20]
    sdtypes = {c: {"sdtype": "numerical" if c in numbers else "categorical"} for c in real.columns}
    metadata = {"tables": {"people": {"columns": sdtypes}}}
    keys, secret = list(world["keys"]), [world["secret"]]
    known_numbers = [c for c in numbers if c in (*keys, *secret)]
    scores = {
        "DCROverfittingProtection": lambda: DCROverfittingProtection.compute(
            real, synthetic, holdout, metadata, "people"
        ),
        "DCRBaselineProtection": lambda: DCRBaselineProtection.compute(real, synthetic, metadata, "people"),
        "DisclosureProtection": lambda: DisclosureProtection.compute(
            real, synthetic, keys, secret, continuous_column_names=known_numbers or None
        ),
        "CategoricalCAP": lambda: CategoricalCAP.compute(real, synthetic, key_fields=keys, sensitive_fields=secret),
    }
    return {name: lambda score=score: {"score": 1 - float(score()), "flag": None, "people": None}
            for name, score in scores.items()}  # fmt: skip
