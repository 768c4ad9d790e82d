"""Write `membership.json`: what the DOMIAS package says about the people of `membership_cases.py`.

Tool: domias 0.0.5 (Apache 2.0), its baselines of kernel densities, Monte Carlo and calibrated GAN-Leaks. Remade with:

    python -m venv .golden && .golden/bin/pip install numpy scipy scikit-learn && .golden/bin/pip install --no-deps domias==0.0.5
    .golden/bin/python tests/golden/remake_membership.py

The module imports torch for other attacks, which these do not use: an empty module stands in for it. domias is not
needed to run the tests.
"""

import json
import platform
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from unittest.mock import MagicMock

import numpy as np
import scipy.stats
import sklearn.metrics  # noqa: F401 (before the stand-in, of which it would make use)
from membership_cases import CLOUD, LINE

for name in ("torch", "torch.nn", "torch.nn.functional"):
    sys.modules[name] = MagicMock()
from domias.baselines import MC, GAN_leaks_cal, kde_baseline  # noqa: E402 (after the stand-in)

for name in ("torch", "torch.nn", "torch.nn.functional"):
    del sys.modules[name]  # scipy asks whether an array is torch's


def whitened(points: np.ndarray) -> np.ndarray:
    """Points with covariance 1 and mean 0, as the package's densities assume of themselves."""
    centred = points - points.mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov(centred.T))
    return centred @ vectors @ np.diag(values**-0.5) @ vectors.T


def main() -> None:
    people, synthetic = np.array(LINE["real"] + LINE["holdout"]), np.array(LINE["synthetic"])
    calibrated = [
        float(GAN_leaks_cal(people[[i]], synthetic, np.delete(people, i, axis=0))[0]) for i in range(len(people))
    ]
    asked = np.array(CLOUD["asked"])
    tables = (whitened(np.array(CLOUD[name])) for name in ("synthetic", "reference"))
    ratio = kde_baseline(asked, *tables)[1]
    out = {
        "tool": f"domias {version('domias')}",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "date": datetime.now(UTC).date().isoformat(),
        "command": "python tests/golden/remake_membership.py",
        "monte carlo": MC(people, synthetic).tolist(),
        "calibrated": calibrated,
        "domias": ratio.tolist(),
    }
    Path(__file__).with_name("membership.json").write_text(json.dumps(out, indent=1) + "\n")


if __name__ == "__main__":
    main()
