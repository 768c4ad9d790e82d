"""SynthEval: the measures of its preset "privacy" that compare with a holdout or with the real table.

Flag: none; the tool reports values and errors, and no threshold. Scores: the excess over the holdout where it is given
(`eps_risk` and `nndr` as privacy loss), the F1 of the membership attack, hitting rate, one minus the median distance,
recall of attribute disclosure. People: none. Columns of text, and numbers with at most 20 values, are categorical.

What its authors would object to: attribute disclosure, membership and distances are meant to be read together, for
several tables beside each other, and SynthEval ranks; a column of identifiers is to be dropped before.
"""

NAME = "syntheval"
PACKAGES = ["syntheval==1.7.3", "pyarrow"]
FRAME = "pandas"
SECONDS = 1.5
DOCUMENTED = [
    f"syntheval.metrics.privacy.metric_{name}"
    for name in ("epsilon_identifiability", "nn_distance_ratio", "distance_closest_record", "hitting_rate", "AttrDis")
]
MEASURES = {
    "eps_risk": "epsilon identifiability, loss against the holdout",
    "nndr": "NNDR, loss against the holdout",
    "dcr": "median DCR",
    "hit_rate": "hitting rate",
    "mia": "membership attack, macro F1",
    "att_discl": "attribute disclosure, recall",
}


def assess(real, synthetic, holdout, world):
    from syntheval import AnalysisConfig, SynthEval

    out = [c for c in (world["unit"], *world["ignore"]) if c]
    real, synthetic, holdout = (t.drop(columns=out, errors="ignore") for t in (real, synthetic, holdout))
    codes = [c for c in real.columns if real[c].dtype.kind not in "if" or real[c].nunique() <= 20]

    target = AnalysisConfig(dataset=real, target_vars=world["secret"], sensitive_vars=[world["secret"]])

    def raw(metric):
        tool = SynthEval(real.copy(), holdout_dataframe=holdout.copy(), cat_cols=codes, verbose=False)
        tool.evaluate(synthetic.copy(), analysis_target=target, **{metric: {}})
        return tool._raw_results[metric]

    def measure(metric):
        said = raw(metric)
        return {"score": SCORES[metric](said), "flag": None, "people": None}

    return {metric: lambda metric=metric: measure(metric) for metric in MEASURES}


SCORES = {
    "eps_risk": lambda r: r["priv_loss"],
    "nndr": lambda r: r["priv_loss"],
    "dcr": lambda r: -r["mDCR"],
    "hit_rate": lambda r: r["hit rate"],
    "mia": lambda r: r["MIA macro F1"],
    "att_discl": lambda r: r["Attr Dis recall"],
}
