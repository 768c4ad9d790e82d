"""The statistics of divulge: intervals, comparisons of two groups, families of tests."""

from divulge.stats import _without_f2py  # noqa: F401 # before scipy.special is imported
from divulge.stats.intervals import (
    Interval,
    benjamini_hochberg,
    clopper_pearson,
    holm,
    mover_residual,
    newcombe,
    wilson,
)
from divulge.stats.multiple_testing import Family, max_t, resample
from divulge.stats.outcomes import Outcomes
from divulge.stats.power import smallest_detectable
from divulge.stats.resampling import LEAST_P
from divulge.stats.two_sample import Comparison, Tally, compare, residual_over

__all__ = [
    "LEAST_P",
    "Comparison",
    "Family",
    "Interval",
    "Outcomes",
    "Tally",
    "benjamini_hochberg",
    "clopper_pearson",
    "compare",
    "holm",
    "max_t",
    "mover_residual",
    "newcombe",
    "resample",
    "residual_over",
    "smallest_detectable",
    "wilson",
]
