"""Write `anonymeter_inference.json`: whom anonymeter guesses and links on the tables of `anonymeter_cases.py`.

Tool: anonymeter 1.1.0 (BSD 3-Clause Clear). Its own functions search, guess and link. Remade with:

    python -m venv .golden && .golden/bin/pip install anonymeter==1.1.0 statsmodels scikit-learn
    .golden/bin/python tests/golden/remake_anonymeter_inference.py

The versions and the day of the last run stand in the file itself. Anonymeter is not needed to run the tests.
"""

import importlib.metadata
import json
import platform
import warnings
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd
from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, inference_evaluator, linkability_evaluator
from anonymeter_cases import Case, cases


def bits(hits: np.ndarray) -> str:
    return "".join("1" if h else "0" for h in hits)


def guessed(real: pd.DataFrame, synthetic: pd.DataFrame, case: Case) -> str:
    """Return whether the nearest record of each person has his secret: exact equality, as its default is."""
    found = InferenceEvaluator(real, synthetic, aux_cols=case.aux, secret=case.secret, n_attacks=np.inf).evaluate(1)
    guesses = found._guesses_success.sort_index()  # it attacks in random order
    hits = inference_evaluator.evaluate_inference_guesses(guesses, real[case.secret], regression=False)
    assert hits.sum() == found.results().n_success
    return bits(hits)


def linked(real: pd.DataFrame, synthetic: pd.DataFrame, case: Case) -> dict[str, str]:
    """Return whether the k nearest rows by either list meet, for k of 1 to 3."""
    near = [linkability_evaluator._find_nn(syn=synthetic[c], ori=real[c], n_jobs=1, n_neighbors=3) for c in case.halves]
    indexes = linkability_evaluator.LinkabilityIndexes(*near)
    run = LinkabilityEvaluator(real, synthetic, aux_cols=case.halves, n_attacks=None, n_neighbors=3).evaluate(1)
    out = {}
    for k in (1, 2, 3):
        hits = np.isin(np.arange(len(real)), list(indexes.find_links(k)))
        assert hits.sum() == run.results(n_neighbors=k).n_success
        out[str(k)] = bits(hits)
    return out


def main() -> None:
    warnings.simplefilter("ignore")
    found = {}
    for name, case in cases().items():
        real, synthetic = pd.DataFrame(case.real), pd.DataFrame(case.synthetic)
        found[name] = {"guessed": guessed(real, synthetic, case), "linked": linked(real, synthetic, case)}
    head = {
        "tool": f"anonymeter {importlib.metadata.version('anonymeter')}",
        "python": platform.python_version(),
        "pandas": pd.__version__,
        "scikit-learn": importlib.metadata.version("scikit-learn"),
        "statsmodels": importlib.metadata.version("statsmodels"),
        "date": datetime.now(UTC).date().isoformat(),
        "command": "python tests/golden/remake_anonymeter_inference.py",
    }
    out = Path(__file__).with_name("anonymeter_inference.json")
    out.write_text(json.dumps(head | {"cases": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
