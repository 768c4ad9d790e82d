"""divulge: what does your synthetic table divulge about real people?

Public names load on first use, so that `import divulge` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "divulge.run.assess": ("assess",),
    "divulge.attacks.attribution.cap": ("baseline_cap", "cap", "cap_minimum", "dcap", "modal_guess", "tcap", "weap"),
    "divulge.attacks.distance.copies": ("copies",),
    "divulge.attacks.attribution.disclosive": ("abstention", "disco", "prc", "rapid"),
    "divulge.attacks.distance.dcr": ("dcr", "identical_match_share", "nndr"),
    "divulge.attacks.membership.exposure": ("exposure",),
    "divulge.attacks.inference.inference": ("inference",),
    "divulge.attacks.identity.linkability": ("linkability",),
    "divulge.attacks.distance.nearest_tests": (
        "authenticity",
        "dcr_baseline",
        "epsilon_identifiability",
        "hitting_rate",
        "nnaa",
    ),
    "divulge.attacks.identity.singling_out": ("singling_out",),
    "divulge.attacks.identity.uniqueness": (
        "delta_presence",
        "k_anonymity",
        "l_diversity",
        "replicated_uniques",
        "t_closeness",
    ),
    "divulge.case.case": ("infer_schema",),
    "divulge.run.compare": ("compare",),
    "divulge.kernels.counts.contingency": ("ContingencyTable",),
    "divulge.case.distances": ("Neighbours", "nearest"),
    "divulge.core.errors": ("ColumnError", "DivulgeError", "FrameError", "SettingError", "TableError"),
    "divulge.tables.readers": ("read", "read_schema"),
    "divulge.report.comparison.report": ("ComparisonReport",),
    "divulge.report.report": ("Report",),
    "divulge.core.result": ("Result",),
    "divulge.core.schema": ("Schema", "schema_from_sdv", "schema_from_toml"),
    "divulge.run.holdout_split": ("split",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = ["__version__", *sorted(_HOME_OF)]  # names are text

if TYPE_CHECKING:
    from divulge.attacks.attribution.cap import baseline_cap, cap, cap_minimum, dcap, modal_guess, tcap, weap
    from divulge.attacks.attribution.disclosive import abstention, disco, prc, rapid
    from divulge.attacks.distance.copies import copies
    from divulge.attacks.distance.dcr import dcr, identical_match_share, nndr
    from divulge.attacks.distance.nearest_tests import (
        authenticity,
        dcr_baseline,
        epsilon_identifiability,
        hitting_rate,
        nnaa,
    )
    from divulge.attacks.identity.linkability import linkability
    from divulge.attacks.identity.singling_out import singling_out
    from divulge.attacks.identity.uniqueness import (
        delta_presence,
        k_anonymity,
        l_diversity,
        replicated_uniques,
        t_closeness,
    )
    from divulge.attacks.inference.inference import inference
    from divulge.attacks.membership.exposure import exposure
    from divulge.case.case import infer_schema
    from divulge.case.distances import Neighbours, nearest
    from divulge.core.errors import ColumnError, DivulgeError, FrameError, SettingError, TableError
    from divulge.core.result import Result
    from divulge.core.schema import Schema, schema_from_sdv, schema_from_toml
    from divulge.kernels.counts.contingency import ContingencyTable
    from divulge.report.comparison.report import ComparisonReport
    from divulge.report.report import Report
    from divulge.run.assess import assess
    from divulge.run.compare import compare
    from divulge.run.holdout_split import split
    from divulge.tables.readers import read, read_schema


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'divulge' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
