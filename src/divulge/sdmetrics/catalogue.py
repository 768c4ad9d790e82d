"""The table of metrics, one row each, from which the classes are made.

A new metric needs a row here, an adapter that returns SDMetrics' breakdown, and golden values.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from textwrap import fill
from typing import Any

from divulge.sdmetrics import attribution, closest, guessing, new_rows, numerical, sound
from divulge.sdmetrics.base import SingleTableMetric
from divulge.sdmetrics.computed import Breakdown, computed_by, refused

__all__ = ["METRICS", "ROWS", "CategoricalPrivacyMetric", "NumericalPrivacyMetric"]


_INSTEAD = (
    ": divulge makes its metrics from a table of rows and does not read MODEL. hint: for an attacker of your own pass "
    'model_kwargs={"attackers": [YourAttacker]} to CategoricalEnsemble.'
)


class CategoricalPrivacyMetric(SingleTableMetric):
    """Metrics in which an attacker guesses sensitive categories from keys that are categories."""

    _instead = _INSTEAD


class NumericalPrivacyMetric(SingleTableMetric):
    """Metrics in which an attacker guesses sensitive numbers from keys that are numbers."""

    _instead = _INSTEAD


@dataclass(frozen=True, slots=True)
class Row:
    """One metric."""

    name: str
    """Name of the class."""
    title: str | None
    """Its attribute `name`."""
    breakdown: Callable[..., Breakdown]
    """The adapter: takes the arguments of SDMetrics' `compute_breakdown` and `seed`, and returns the same breakdown."""
    native: str
    """The function of divulge that answers the question, as a call to write down."""
    sound: Callable[..., Breakdown] | None
    """The sound counterpart: takes the same arguments, without `seed`, and `real_validation_data`; or None."""
    doc: str
    """First paragraphs of the docstring."""
    sound_doc: str = ""
    """What `mode="sound"` changes, and why."""
    compute: Callable[..., Any] | None = None
    """The function of `compute`, with the same arguments by name, where it does not return the breakdown's score."""
    base: type[SingleTableMetric] | str = SingleTableMetric
    """Class above it, or the name of an earlier row."""
    min_value: float = 0
    max_value: float = 1


_TABLES = """
Parameters
----------
real_data, synthetic_data
    pandas.DataFrame, or any frame that divulge reads; both with the same columns."""
_FIELDS = f"""{_TABLES}
metadata
    None, or a dictionary: {{"columns": ...}}, or {{"tables": ...}} with one table or a `table_name`. It may hold
    "key_fields" and "sensitive_fields", which go before the arguments.
table_name
    Table of the metadata.
key_fields, sensitive_fields
    Lists of columns: what the attacker knows, and what he wants, all of it at once."""
_CONTROL = """
mode, seed
    "compatible" gives SDMetrics' numbers, "sound" ours. A run with `seed` draws what SDMetrics draws after
    ``numpy.random.seed(seed)``."""
_VALIDATION = """
real_validation_data
    With mode="sound": people of the same population whom the synthesizer never saw."""
_DISCLOSURE = f"""{_TABLES}
known_column_names, sensitive_column_names
    Lists of columns: what the attacker knows, and what he wants, all of it at once.
computation_method
    "cap", "zero_cap" or "generalized_cap".
continuous_column_names
    Columns that are cut into `num_discrete_bins` bins of equal width over the real range."""
_CLOSEST = """
metadata, table_name
    As SDMetrics takes them; `table_name` may be left out. Columns of sdtype numerical, categorical, boolean and
    datetime are compared.
num_rows_subsample, num_iterations
    Draw so many rows of each table, so many times."""

_CAP_SOUND = """
A missing value is a value, and equal to itself whatever the dtype; a number and its text are one value. The score is
1 less the share of what is left to be guessed that the table gives away, (CAP - b) / (1 - b), bounded to [0, 1];
`risk` is not. With `real_validation_data` b is the CAP of people whom the synthesizer never saw. Without, and where
the attack reaches none of them, b is the better of two guesses without the keys: in proportion to how often each
sensitive value occurs among the people, or in the synthetic table. So a skewed target is no alarm by itself.
`compute_breakdown` carries `low` and `high`, a 95% interval with 2.5% on either side; `n`, the people attacked (those
who have a match, for CategoricalCAP); and `baseline`, which b it is. The score is about guessing through these keys: a
copy whose keys single nobody out scores high, and DCROverfittingProtection or ``divulge.copies`` see it."""
_DISCLOSURE_SOUND = f"""{_CAP_SOUND}
Continuous columns are cut at quantiles of the real and validation data together: bins of equal width put all but
the tail of a skewed column into one. The baseline is never a uniform guess."""

_CATEGORICAL = f"""

The score is 1 less the share of real rows whose sensitive fields are guessed.
{_FIELDS}{_CONTROL}"""
_NUMERICAL = f"""

The score is the mean loss over the real rows: the squared distance of guess and truth on the scale of the
distribution of each sensitive column.
{_FIELDS}
model_kwargs, loss_function, loss_function_kwargs
    Settings of the attacker and the class of the loss.{_CONTROL}"""
_CAP = "divulge.cap(real, synthetic, holdout=holdout, keys=[...], target=..., unseen={!r})"
_INFERENCE = "divulge.inference(real, synthetic, holdout=holdout, keys=[...], target=...)"

ROWS: tuple[Row, ...] = (
    Row(
        name="CategoricalCAP",
        title="CategoricalCAP",
        breakdown=attribution.cap_adapter("skip"),
        native=_CAP.format("skip"),
        sound=sound.cap_sound("skip"),
        base=CategoricalPrivacyMetric,
        doc=f"""Correct attribution probability: how hard it is to guess sensitive fields from rows with the same keys.

The score is 1 less the mean, over real rows whose keys occur in the synthetic table, of the share of synthetic rows
with the same keys that have the same sensitive fields. nan where no key occurs.
{_FIELDS}{_CONTROL}{_VALIDATION}""",
        sound_doc=_CAP_SOUND,
    ),
    Row(
        name="CategoricalZeroCAP",
        title="0CAP",
        breakdown=attribution.cap_adapter("zero"),
        native=_CAP.format("zero"),
        sound=sound.cap_sound("zero"),
        base=CategoricalPrivacyMetric,
        doc=f"""As CategoricalCAP, and a real row whose keys do not occur counts as not guessed.
{_FIELDS}{_CONTROL}{_VALIDATION}""",
        sound_doc=_CAP_SOUND,
    ),
    Row(
        name="CategoricalGeneralizedCAP",
        title="Categorical GeneralizedCAP",
        breakdown=attribution.cap_adapter("nearest"),
        native=_CAP.format("nearest"),
        sound=sound.cap_sound("nearest"),
        base=CategoricalPrivacyMetric,
        doc=f"""As CategoricalCAP, and a real row whose keys do not occur asks the rows that differ in the fewest keys.
{_FIELDS}{_CONTROL}{_VALIDATION}""",
        sound_doc=_CAP_SOUND,
    ),
    Row(
        name="DisclosureProtection",
        title=None,
        breakdown=attribution.disclosure,
        native=_CAP.format("skip"),
        sound=sound.disclosure_sound,
        doc=f"""A CAP metric, beside the protection that a uniform guess over all sensitive values leaves.
{_DISCLOSURE}{_CONTROL}{_VALIDATION}""",
        sound_doc=_DISCLOSURE_SOUND,
    ),
    Row(
        name="DisclosureProtectionEstimate",
        title=None,
        breakdown=attribution.disclosure_estimate,
        compute=attribution.disclosure_estimate_score,
        base="DisclosureProtection",
        native=_CAP.format("skip"),
        sound=sound.disclosure_estimate_sound,
        doc=f"""DisclosureProtection over the mean of CAP scores of samples.

As released, `compute` never reads `num_rows_subsample`, `num_iterations` and `verbose`: it draws 1,000 rows ten
times. `compute_breakdown` reads them.
{_DISCLOSURE}
num_rows_subsample, num_iterations, verbose
    Draw so many rows of each table, so many times. `verbose` shows nothing: there is no
    waiting.{_CONTROL}{_VALIDATION}""",
        sound_doc=f"""
All rows are counted: drawing synthetic rows thins the classes and hides copies, and there is nothing to gain.
{_DISCLOSURE_SOUND}""",
    ),
    Row(
        name="DCROverfittingProtection",
        title="DCROverfittingProtection",
        breakdown=closest.overfitting,
        native="divulge.dcr(real, synthetic, holdout=holdout)",
        sound=sound.overfitting_sound,
        min_value=0.0,
        max_value=1.0,
        doc=f"""How many synthetic rows are closer to the training data than to people whom the synthesizer never saw.

The score is twice the share of synthetic rows that are not closer to the training data, at most 1.

Parameters
----------
real_training_data, synthetic_data, real_validation_data
    pandas.DataFrame, or any frame that divulge reads.{_CLOSEST}{_CONTROL}""",
        sound_doc="""
Distances to both tables are measured by one ruler, the range of both together; as released each table brings its
own, so that one outlier decides the score. A row that is equally close to both counts half for each; as released it
counts as closer to the validation data, so that copies of coarse data score 1.0. The share is compared with that of
the training data among all people, so that tables of unequal size are no bias, and the excess is divided by the part
of a full copy that would show (`part_of_a_copy_that_would_show`), as on coarse data strangers share the records that
were copied. The score is 1 less the fraction of synthetic rows that are copied, nan where no copy would show, with a
95% interval (`low`, `high`; 2.5% on either side, of people as units) and the number of synthetic rows `n`. Ordinal
columns count, keys and columns with `pii` do not. All rows are counted: `num_rows_subsample` is not used.""",
    ),
    Row(
        name="DCRBaselineProtection",
        title="DCRBaselineProtection",
        breakdown=closest.baseline,
        native="divulge.dcr(real, synthetic, holdout=holdout)",
        sound=None,
        min_value=0.0,
        max_value=1.0,
        doc=f"""Median distance of synthetic rows to the real data, over that of random rows.

The random rows are uniform over the range of each column, so the score tells how clustered the data are.
{_TABLES}{_CLOSEST}{_CONTROL}""",
    ),
    Row(
        name="NewRowSynthesis",
        title="NewRowSynthesis",
        breakdown=new_rows.new_rows,
        native="divulge.copies(real, synthetic, holdout=holdout)",
        sound=sound.new_rows_sound,
        doc=f"""Share of synthetic rows that match no real row.

A row matches if its categories are equal and its numbers differ by at most `numerical_match_tolerance` times the
synthetic number; missing matches missing.
{_TABLES}
metadata, table_name
    As SDMetrics takes them. Keys and columns with `pii` are not compared.
numerical_match_tolerance
    As a share of the synthetic number; dates are nanoseconds since 1970, so that 0.01 is half a year.
synthetic_sample_size
    Look at so many synthetic rows.{_CONTROL}{_VALIDATION}""",
        sound_doc="""
It needs `real_validation_data`, because rows equal somebody by chance too. Among the synthetic rows that equal
anybody's record exactly, those that equal a member's are compared with those that equal a stranger's; rows that equal
several people are shared among them. The excess is divided by the part of a full copy that would show. The score is 1
less the fraction of rows that are copied, nan where no copy would show, with a 95% interval (`low`, `high`) and the
number of synthetic rows `n`; `closer_to_training` is the share of the rows that equal somebody. The tolerance and the
sample size are not used.""",
    ),
    *(
        Row(
            name=name,
            title=title,
            breakdown=breakdown,
            native=_INFERENCE,
            sound=None,
            base=CategoricalPrivacyMetric,
            doc=fill(doc, 118) + _CATEGORICAL,
        )
        for name, title, breakdown, doc in guessing.METRICS
    ),
    *(
        Row(
            name=name,
            title=title,
            breakdown=breakdown,
            native=_INFERENCE,
            sound=None,
            base=NumericalPrivacyMetric,
            max_value=math.inf,
            doc=fill(doc, 118) + _NUMERICAL,
        )
        for name, title, breakdown, doc in numerical.METRICS
    ),
)


def _metric_class(row: Row, base: type[SingleTableMetric]) -> type[SingleTableMetric]:
    compares = f"``{row.native}``,\nwhich compares members with strangers, with an interval."
    reason = f"it compares nobody with strangers. hint: {row.native} does, with an interval."
    sound_doc = row.sound_doc or f"There is no sound counterpart, and this mode raises an error. Use\n{compares}"
    doc = f"""{row.doc.strip()}

Notes
-----
**mode="sound"**

{sound_doc.strip()}

See Also
--------
{row.native}
"""
    made = type(row.name, (base,), {"__module__": "divulge.sdmetrics", "__doc__": doc, "name": row.title})
    return computed_by(
        row.breakdown,
        compute=row.compute,
        sound=row.sound or refused(row.name, reason, NotImplementedError),
        seeded=True,
        min_value=row.min_value,
        max_value=row.max_value,
    )(made)


METRICS: dict[str, type[SingleTableMetric]] = {}
"""The metrics by name."""
for _row in ROWS:
    METRICS[_row.name] = _metric_class(_row, METRICS[_row.base] if isinstance(_row.base, str) else _row.base)
