"""divulge: what does your synthetic table divulge about real people?

Public names load on first use, so that `import divulge` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "divulge.assessment": ("assess",),
    "divulge.attacks.attribution": ("baseline_cap", "cap", "cap_minimum", "dcap", "modal_guess", "tcap", "weap"),
    "divulge.attacks.copying": ("copies",),
    "divulge.attacks.disclosive": ("abstention", "disco", "prc", "rapid"),
    "divulge.attacks.distance": ("dcr", "identical_match_share", "nndr"),
    "divulge.attacks.exposure": ("exposure",),
    "divulge.attacks.inference": ("inference",),
    "divulge.attacks.linkability": ("linkability",),
    "divulge.attacks.nearest_tests": (
        "authenticity",
        "dcr_baseline",
        "epsilon_identifiability",
        "hitting_rate",
        "nnaa",
    ),
    "divulge.attacks.singling_out": ("singling_out",),
    "divulge.attacks.uniqueness": (
        "delta_presence",
        "k_anonymity",
        "l_diversity",
        "replicated_uniques",
        "t_closeness",
    ),
    "divulge.case": ("infer_schema",),
    "divulge.comparing": ("compare",),
    "divulge.counts": ("ContingencyTable",),
    "divulge.distances": ("Neighbours", "nearest"),
    "divulge.errors": ("ColumnError", "DivulgeError", "FrameError", "SettingError", "TableError"),
    "divulge.files": ("read", "read_schema"),
    "divulge.report.comparison": ("ComparisonReport",),
    "divulge.report.report": ("Report",),
    "divulge.result": ("Result",),
    "divulge.schema": ("Schema", "schema_from_sdv", "schema_from_toml"),
    "divulge.splitting": ("split",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = ["__version__", *sorted(_HOME_OF)]  # names are text

if TYPE_CHECKING:
    from divulge.assessment import assess
    from divulge.attacks.attribution import baseline_cap, cap, cap_minimum, dcap, modal_guess, tcap, weap
    from divulge.attacks.copying import copies
    from divulge.attacks.disclosive import abstention, disco, prc, rapid
    from divulge.attacks.distance import dcr, identical_match_share, nndr
    from divulge.attacks.exposure import exposure
    from divulge.attacks.inference import inference
    from divulge.attacks.linkability import linkability
    from divulge.attacks.nearest_tests import (
        authenticity,
        dcr_baseline,
        epsilon_identifiability,
        hitting_rate,
        nnaa,
    )
    from divulge.attacks.singling_out import singling_out
    from divulge.attacks.uniqueness import (
        delta_presence,
        k_anonymity,
        l_diversity,
        replicated_uniques,
        t_closeness,
    )
    from divulge.case import infer_schema
    from divulge.comparing import compare
    from divulge.counts import ContingencyTable
    from divulge.distances import Neighbours, nearest
    from divulge.errors import ColumnError, DivulgeError, FrameError, SettingError, TableError
    from divulge.files import read, read_schema
    from divulge.report.comparison import ComparisonReport
    from divulge.report.report import Report
    from divulge.result import Result
    from divulge.schema import Schema, schema_from_sdv, schema_from_toml
    from divulge.splitting import split


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'divulge' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
