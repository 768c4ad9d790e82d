"""dataxid-syntheval: its three measures of privacy, with a holdout.

Flag: its own sentence says that synthetic rows are closer to the training table: DCR share above 55% ("suggests some
overfitting", "potential memorization"), identical matches that "replicate training records", NNDR more than a tenth
below the holdout's. Scores: DCR share, identical matches beyond the holdout's, minus the ratio of NNDRs. People: none.

What its authors would object to: of 500 rows the share that lies closer has a standard error of 2.2%, and a history of
several rows is compared row by row.
"""

NAME = "dataxid-syntheval"
PACKAGES = ["dataxid-syntheval==0.3.0"]
FRAME = "polars"
SECONDS = 1.2
MEASURES = {"dcr_share": "DCR share", "ims": "identical matches", "nndr": "NNDR ratio"}
WORDS = {"dcr_share": ("suggests", "indicates"), "ims": ("replicate",), "nndr": ("closer to training",)}


def assess(real, synthetic, holdout, world):
    from dataxid_syntheval import SynthEval

    out = [c for c in (world["unit"], *world["ignore"]) if c]
    tables = [t.drop(out, strict=False) for t in (real, synthetic, holdout)]
    privacy = SynthEval(original=tables[0], synthetic=tables[1], holdout=tables[2]).scores.privacy
    sentences = {a.metric: a.text for a in privacy.assessments}
    scores = {
        "dcr_share": privacy.dcr_share,
        "ims": privacy.ims_training - privacy.ims_holdout,
        "nndr": -privacy.nndr_ratio,
    }

    def measure(name):
        flag = any(word in sentences[name] for word in WORDS[name])
        return {"score": float(scores[name]), "flag": flag, "people": None}

    return {name: lambda name=name: measure(name) for name in MEASURES}
