"""divulge: what does your synthetic table divulge about real people?

Public names load on first use, so that `import divulge` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "divulge.run.assess": ("assess",),
    "divulge.attacks.attribution.abstention": ("abstention",),
    "divulge.attacks.attribution.baseline_cap": ("baseline_cap",),
    "divulge.attacks.attribution.cap": ("cap",),
    "divulge.attacks.attribution.cap_minimum": ("cap_minimum",),
    "divulge.attacks.attribution.dcap": ("dcap",),
    "divulge.attacks.attribution.disco": ("disco",),
    "divulge.attacks.attribution.modal_guess": ("modal_guess",),
    "divulge.attacks.attribution.rapid": ("rapid",),
    "divulge.attacks.attribution.tcap": ("tcap",),
    "divulge.attacks.attribution.weap": ("weap",),
    "divulge.attacks.distance.authenticity": ("authenticity",),
    "divulge.attacks.distance.copies": ("copies",),
    "divulge.attacks.distance.dcr": ("dcr",),
    "divulge.attacks.distance.dcr_baseline": ("dcr_baseline",),
    "divulge.attacks.distance.epsilon_identifiability": ("epsilon_identifiability",),
    "divulge.attacks.distance.hitting_rate": ("hitting_rate",),
    "divulge.attacks.distance.identical_match_share": ("identical_match_share",),
    "divulge.attacks.distance.nndr": ("nndr",),
    "divulge.attacks.distance.nnaa": ("nnaa",),
    "divulge.attacks.identity.delta_presence": ("delta_presence",),
    "divulge.attacks.identity.k_anonymity": ("k_anonymity",),
    "divulge.attacks.identity.l_diversity": ("l_diversity",),
    "divulge.attacks.identity.linkability": ("linkability",),
    "divulge.attacks.identity.replicated_uniques": ("replicated_uniques",),
    "divulge.attacks.identity.singling_out": ("singling_out",),
    "divulge.attacks.identity.t_closeness": ("t_closeness",),
    "divulge.attacks.inference.inference": ("inference",),
    "divulge.attacks.membership.exposure": ("exposure",),
    "divulge.stats.selective_prediction": ("prc",),
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
    from divulge.attacks.attribution.abstention import abstention
    from divulge.attacks.attribution.baseline_cap import baseline_cap
    from divulge.attacks.attribution.cap import cap
    from divulge.attacks.attribution.cap_minimum import cap_minimum
    from divulge.attacks.attribution.dcap import dcap
    from divulge.attacks.attribution.disco import disco
    from divulge.attacks.attribution.modal_guess import modal_guess
    from divulge.attacks.attribution.rapid import rapid
    from divulge.attacks.attribution.tcap import tcap
    from divulge.attacks.attribution.weap import weap
    from divulge.attacks.distance.authenticity import authenticity
    from divulge.attacks.distance.copies import copies
    from divulge.attacks.distance.dcr import dcr
    from divulge.attacks.distance.dcr_baseline import dcr_baseline
    from divulge.attacks.distance.epsilon_identifiability import epsilon_identifiability
    from divulge.attacks.distance.hitting_rate import hitting_rate
    from divulge.attacks.distance.identical_match_share import identical_match_share
    from divulge.attacks.distance.nnaa import nnaa
    from divulge.attacks.distance.nndr import nndr
    from divulge.attacks.identity.delta_presence import delta_presence
    from divulge.attacks.identity.k_anonymity import k_anonymity
    from divulge.attacks.identity.l_diversity import l_diversity
    from divulge.attacks.identity.linkability import linkability
    from divulge.attacks.identity.replicated_uniques import replicated_uniques
    from divulge.attacks.identity.singling_out import singling_out
    from divulge.attacks.identity.t_closeness import t_closeness
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
    from divulge.stats.selective_prediction import prc
    from divulge.tables.readers import read, read_schema


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'divulge' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
