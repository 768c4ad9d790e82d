"""Write what SDV says of the cases: python tests/golden/remake_sdv_overlap.py, with SDV 2.0.0 installed."""

import contextlib
import io
import json
from pathlib import Path

import pandas as pd
import sdv
from sdv.evaluation.utils import get_combination_overlap, get_pii_overlap
from sdv_overlap_cases import CASES

found = {}
for name, (real, synthetic, columns) in CASES.items():
    tables = [{"t": pd.DataFrame(data)} for data in (real, synthetic)]
    calls = [(get_combination_overlap, columns), *([(get_pii_overlap, columns[0])] if len(columns) == 1 else [])]
    for function, asked in calls:
        with contextlib.redirect_stdout(io.StringIO()) as said:
            number = function(*tables, "t", asked)
        found[f"{name}: {function.__name__}"] = [number, said.getvalue()]
path = Path(__file__).with_name("sdv_overlap.json")
path.write_text(json.dumps({"sdv": sdv.__version__, "found": found}, indent=1, ensure_ascii=False) + "\n", "utf-8")
