"""mostlyai-qa: the distances of `qa.report`, with a holdout.

Flag: none; the report shows training beside holdout and draws no line ("we expect to see about as many identical
matches, and about the same distances"). Scores: DCR share, identical matches with the training table beyond those with
the holdout, minus the ratio of NNDRs. People: none. A unit is the key of the context, as for sequential data.

What its authors would object to: the report is made for tables of thousands and is read as a whole, with accuracy and
similarity, which cost most of the time and are not used here.
"""

import tempfile
from pathlib import Path

NAME = "mostlyai-qa"
PACKAGES = ["mostlyai-qa==1.10.11", "pyarrow"]
FRAME = "pandas"
SECONDS = 16.0
MEASURES = {"dcr_share": "DCR share", "ims": "identical matches", "nndr": "NNDR ratio"}


def assess(real, synthetic, holdout, world):
    from mostlyai import qa

    real, synthetic, holdout = (
        t.drop(columns=list(world["ignore"]), errors="ignore") for t in (real, synthetic, holdout)
    )
    with tempfile.TemporaryDirectory() as folder:
        _, metrics = qa.report(
            syn_tgt_data=synthetic,
            trn_tgt_data=real,
            hol_tgt_data=holdout,
            tgt_context_key=world["unit"],
            report_path=Path(folder) / "report.html",
        )
    d = metrics.distances
    scores = {
        "dcr_share": d.dcr_share,
        "ims": d.ims_training - d.ims_holdout,
        "nndr": -d.nndr_training / max(d.nndr_holdout, 1e-10),
    }
    return {name: lambda s=s: {"score": float(s), "flag": None, "people": None} for name, s in scores.items()}
