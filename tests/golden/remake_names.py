"""Write `names.json`: the modules of SDMetrics and the names that each has, and the shapes of its demos.

Tool: SDMetrics 0.32.0 (MIT). Remade with:

    python -m venv .golden && .golden/bin/pip install sdmetrics==0.32.0 "pandas<3"
    .golden/bin/python tests/golden/remake_names.py
"""

import importlib
import inspect
import json
import pkgutil
import sys
import types
import warnings
from pathlib import Path

warnings.simplefilter("ignore")
for absent in ("xgboost",):  # its names are not needed to list ours
    stand_in = types.ModuleType(absent)
    stand_in.XGBClassifier = object
    sys.modules.setdefault(absent, stand_in)

import sdmetrics  # noqa: E402


def names_of(module: types.ModuleType) -> list[str]:
    """Return the public classes and functions that a module defines or lists."""
    own = {
        name
        for name, value in vars(module).items()
        if (inspect.isclass(value) or inspect.isfunction(value)) and value.__module__ == module.__name__
    }
    listed = {name for name in getattr(module, "__all__", ()) if isinstance(name, str)}
    return sorted(name for name in own | listed if not name.startswith("_"))


def main() -> None:
    paths = ["sdmetrics", *(m.name for m in pkgutil.walk_packages(sdmetrics.__path__, "sdmetrics."))]
    public = [path for path in paths if not any(part.startswith("_") for part in path.split("."))]
    demos = {}
    for modality in ("multi_table", "single_table", "timeseries"):
        real, synthetic, metadata = sdmetrics.load_demo(modality)
        tables = {
            name: {
                "rows": [len(real[name]), len(synthetic[name])],
                "dtypes": {c: t.kind for c, t in real[name].dtypes.items()},
            }
            for name in real
        }
        demos[modality] = {"tables": tables, "metadata": metadata}
    found = {
        "tool": f"SDMetrics {sdmetrics.__version__}",
        "command": "python tests/golden/remake_names.py",
        "modules": {path: names_of(importlib.import_module(path)) for path in public},
        "demos": demos,
    }
    Path(__file__).with_name("names.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
