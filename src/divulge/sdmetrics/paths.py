"""The longer paths under which SDMetrics has its metrics: a module for each, with the objects of this package.

`from divulge.sdmetrics.single_table.efficacy.binary import BinaryMLPClassifier` gives what
`divulge.sdmetrics.single_table` has under that name.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

__all__ = ["PATHS", "attach"]

_HOME = "divulge.sdmetrics"
PATHS: dict[str, dict[str, tuple[str, ...]]] = {
    "single_column": {
        "statistical": ("SequenceLengthSimilarity",),
        "statistical.boundary_adherence": ("BoundaryAdherence",),
        "statistical.category_adherence": ("CategoryAdherence",),
        "statistical.category_coverage": ("CategoryCoverage",),
        "statistical.cstest": ("CSTest",),
        "statistical.datetime_format_adherence": ("DatetimeFormatAdherence",),
        "statistical.key_uniqueness": ("KeyUniqueness",),
        "statistical.kscomplement": ("KSComplement",),
        "statistical.missing_value_similarity": ("MissingValueSimilarity",),
        "statistical.range_coverage": ("RangeCoverage",),
        "statistical.regex_format_adherence": ("RegexFormatAdherence",),
        "statistical.sequence_length_similarity": ("SequenceLengthSimilarity",),
        "statistical.statistic_similarity": ("StatisticSimilarity",),
        "statistical.tv_complement": ("TVComplement",),
    },
    "column_pairs": {
        "statistical": ("InterRowMSAS", "StatisticMSAS"),
        "statistical.cardinality_boundary_adherence": ("CardinalityBoundaryAdherence",),
        "statistical.contingency_similarity": ("ContingencySimilarity",),
        "statistical.correlation_similarity": ("CorrelationSimilarity",),
        "statistical.inter_row_msas": ("InterRowMSAS",),
        "statistical.kl_divergence": ("ContinuousKLDivergence", "DiscreteKLDivergence"),
        "statistical.referential_integrity": ("ReferentialIntegrity",),
        "statistical.statistic_msas": ("StatisticMSAS",),
    },
    "single_table": {
        "data_augmentation.binary_classifier_precision_efficacy": ("BinaryClassifierPrecisionEfficacy",),
        "data_augmentation.binary_classifier_recall_efficacy": ("BinaryClassifierRecallEfficacy",),
        "detection.base": ("DetectionMetric",),
        "detection.sklearn": ("LogisticDetection", "SVCDetection", "ScikitLearnClassifierDetectionMetric"),
        "efficacy.base": ("MLEfficacyMetric",),
        "efficacy.binary": (
            "BinaryAdaBoostClassifier",
            "BinaryDecisionTreeClassifier",
            "BinaryEfficacyMetric",
            "BinaryLogisticRegression",
            "BinaryMLPClassifier",
        ),
        "efficacy.mlefficacy": ("MLEfficacy",),
        "efficacy.multiclass": (
            "MulticlassDecisionTreeClassifier",
            "MulticlassEfficacyMetric",
            "MulticlassMLPClassifier",
        ),
        "efficacy.regression": ("LinearRegression", "MLPRegressor", "RegressionEfficacyMetric"),
        "multi_column_pairs": (
            "ContingencySimilarity",
            "ContinuousKLDivergence",
            "CorrelationSimilarity",
            "DiscreteKLDivergence",
            "MultiColumnPairsMetric",
        ),
        "new_row_synthesis": ("NewRowSynthesis",),
        "privacy.base": ("CategoricalPrivacyMetric", "NumericalPrivacyMetric", "PrivacyAttackerModel"),
        "privacy.cap": (
            "CAPAttacker",
            "CategoricalCAP",
            "CategoricalGeneralizedCAP",
            "CategoricalZeroCAP",
            "GeneralizedCAPAttacker",
            "ZeroCAPAttacker",
        ),
        "privacy.categorical_sklearn": (
            "CategoricalKNN",
            "CategoricalKNNAttacker",
            "CategoricalNB",
            "CategoricalNBAttacker",
            "CategoricalRF",
            "CategoricalRFAttacker",
            "CategoricalSVM",
            "CategoricalSVMAttacker",
        ),
        "privacy.dcr_baseline_protection": ("DCRBaselineProtection",),
        "privacy.dcr_overfitting_protection": ("DCROverfittingProtection",),
        "privacy.disclosure_protection": ("DisclosureProtection", "DisclosureProtectionEstimate"),
        "privacy.ensemble": ("CategoricalEnsemble", "CategoricalEnsembleAttacker"),
        "privacy.loss": ("InverseCDFDistance", "LossFunction"),
        "privacy.numerical_sklearn": (
            "LRAttacker",
            "MLPAttacker",
            "NumericalLR",
            "NumericalMLP",
            "NumericalSVR",
            "SVRAttacker",
        ),
        "privacy.radius_nearest_neighbor": (
            "InverseCDFCutoff",
            "NumericalRadiusNearestNeighbor",
            "NumericalRadiusNearestNeighborAttacker",
        ),
    },
    "multi_table": {
        "detection.base": ("DetectionMetric",),
        "detection.parent_child": (
            "LogisticParentChildDetection",
            "ParentChildDetectionMetric",
            "SVCParentChildDetection",
        ),
        "multi_single_table": (
            "BNLikelihood",
            "BNLogLikelihood",
            "BoundaryAdherence",
            "CSTest",
            "CategoryCoverage",
            "ContingencySimilarity",
            "CorrelationSimilarity",
            "KSComplement",
            "LogisticDetection",
            "MissingValueSimilarity",
            "NewRowSynthesis",
            "RangeCoverage",
            "SVCDetection",
            "StatisticSimilarity",
            "TVComplement",
        ),
        "statistical": ("CardinalityShapeSimilarity", "CardinalityStatisticSimilarity", "ConstraintAdherence"),
        "statistical.cardinality_shape_similarity": ("CardinalityShapeSimilarity",),
        "statistical.cardinality_statistic_similarity": ("CardinalityStatisticSimilarity",),
        "statistical.constraint_adherence": ("ConstraintAdherence",),
    },
    "timeseries": {
        "detection": ("LSTMDetection", "TimeSeriesDetectionMetric"),
        "efficacy": (
            "LSTMClassifierEfficacy",
            "TimeSeriesClassificationEfficacyMetric",
            "TimeSeriesEfficacyMetric",
        ),
        "efficacy.base": ("TimeSeriesEfficacyMetric",),
        "efficacy.classification": ("LSTMClassifierEfficacy", "TimeSeriesClassificationEfficacyMetric"),
    },
}
"""For each module of this package the paths below it, and the names that SDMetrics has there."""


def attach(home: str) -> None:
    """Make a module of each path below one of the modules of `PATHS`, and give it its names; parents come first."""
    for path, names in sorted(PATHS[home].items()):
        _attach(f"{_HOME}.{home}", path, names)


def _attach(home: str, path: str, names: tuple[str, ...]) -> None:
    full = f"{home}.{path}"
    if full not in sys.modules:
        module = ModuleType(full, f"The path under which SDMetrics has {', '.join(names)}.")
        module.__dict__["__all__"] = list(names)
        parent, _, name = full.rpartition(".")
        setattr(import_module(parent), name, module)
        sys.modules[full] = module
    for name in names:
        setattr(sys.modules[full], name, getattr(sys.modules[home], name))
