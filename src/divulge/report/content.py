"""Conversion between the typed assessment and the plain dictionaries of assessment.json."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from divulge.core.bounded_read import read_at_most
from divulge.core.errors import SettingError, TableError
from divulge.core.result import tidy
from divulge.report.first_page import summary
from divulge.report.model import ANY_COUNT, FORMAT, Assessment, Records
from divulge.report.schema import fault

__all__ = [
    "LATER",
    "RECORDS",
    "assessment_bytes",
    "assessment_of",
    "assessment_text",
    "content_of",
    "read_assessment",
    "read_records",
    "settings_of",
    "text_of",
]

RECORDS = "records.parquet"
"""Name of the file of records."""

LATER: dict[str, Any] = {
    "edition": "custodian",
    "revealed": [],
    "left_out": [],
    "facts": None,
    "not_run": [],
    "fidelity": [],
    "fidelity_scope": None,
    "policy": None,
    "change": None,
    "machine": "",
    "versions": {},
}
"""Defaults of fields that a file of an earlier version does not have."""

# ---------------------------------------------------------------- written

_OUTSIDE = {
    "settings": ("keys", "targets", "subgroups", "ignore", "unit"),
    "result": ("score", "p_value", "p_adjusted", "smallest_detectable", "verdict", "curves", "groups", "notes",
               "seconds"),
    "risk": ("low", "high", "low_simultaneous", "high_simultaneous"),
    "change": ("comparisons", "sentence"),
}  # fmt: skip
"""Fields that an external edition writes last; those of risk only where its method is `ANY_COUNT`."""

_CHANGED = (
    "before", "difference", "low", "high", "low_simultaneous", "high_simultaneous", "p_adjusted", "verdict",
)  # fmt: skip
"""Fields of a changed comparison that a custodian's edition writes last."""


def content_of(assessment: Assessment) -> dict[str, Any]:
    """Return the content of assessment.json for an assessment."""
    whole = msgspec.structs.replace(assessment, summary=summary(assessment))
    data: dict[str, Any] = _plain(msgspec.to_builtins(whole))
    change = data["change"]
    if assessment.edition == "custodian":
        rows = change and [_last(r, _CHANGED) for r in change["comparisons"]]
        return data | {"change": change and change | {"comparisons": rows}}
    return data | {
        "settings": settings_of(assessment),
        "results": [_result_outside(r) for r in data["results"]],
        "change": change and _last(change, _OUTSIDE["change"]),
    }


def assessment_text(assessment: Assessment) -> str:
    """Return assessment.json as text."""
    return text_of(content_of(assessment))


def text_of(data: Mapping[str, Any]) -> str:
    """Return the content of assessment.json as text."""
    return json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def settings_of(assessment: Assessment) -> dict[str, Any]:
    """Return the settings of the run by name, in the order in which the edition writes them."""
    settings: dict[str, Any] = _plain(msgspec.to_builtins(assessment.settings))
    return settings if assessment.edition == "custodian" else _last(settings, _OUTSIDE["settings"])


def _result_outside(r: dict[str, Any]) -> dict[str, Any]:
    risk = r["risk"]
    if risk and risk["method"] == ANY_COUNT:
        r = r | {"risk": _last(risk, _OUTSIDE["risk"])}
    return _last(r, _OUTSIDE["result"])


def _last(data: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return the dictionary with these fields moved to its end."""
    last = {name: data[name] for name in names}
    return {name: value for name, value in data.items() if name not in last} | last


def _plain(value: Any) -> Any:
    """Return builtins with lists in place of tuples, as in JSON."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


# ---------------------------------------------------------------- read


def read_assessment(path: Path) -> Assessment:
    """Return the assessment in a file.

    Raises
    ------
    SettingError
        The file cannot be read, is not JSON, or is not an assessment of this version.
    """
    return assessment_of(_read_json(path), _named(path))


def _named(path: Path) -> str:
    """Return the name of a file, at the start of a message."""
    return tidy(path.name) or "assessment"


def assessment_of(data: Any, where: str = "assessment") -> Assessment:
    """Return the assessment with this content; absent fields that a later version added take their defaults.

    `where` names the file at the start of a message.

    Raises
    ------
    SettingError
        The content has another format than this version reads, or a field is absent or of the wrong type.
    """
    if not isinstance(data, Mapping) or not str(data.get("format", "")).startswith("divulge-assessment/"):
        raise SettingError(f"{where}: no assessment. hint: name the assessment.json that `divulge assess` wrote.")
    if data["format"] != FORMAT:
        raise SettingError(
            f"{where}: of another format than {FORMAT}. hint: read it with the version of divulge that wrote it."
        )
    whole = dict(data) | {field: default for field, default in LATER.items() if field not in data}
    place = fault(whole)
    if place:
        raise SettingError(f"{where}: damaged at {place}. hint: run `divulge assess` again, or restore the file.")
    return msgspec.structs.replace(msgspec.convert(whole, Assessment), summary=None)


def _read_json(path: Path) -> Any:
    try:
        # NaN and Infinity are not JSON, and divulge never writes them
        content = assessment_bytes(path)
        return json.loads(content.decode("utf-8-sig"), parse_constant=_no_number)
    except SettingError:
        raise
    except OSError as error:
        raise SettingError(f"{_named(path)}: cannot be read ({error.strerror}). hint: check the path.") from None
    except (ValueError, RecursionError):
        raise SettingError(
            f"{_named(path)}: no JSON. hint: name the assessment.json that `divulge assess` wrote."
        ) from None


def assessment_bytes(path: Path) -> bytes:
    """Return the bytes of an assessment.json; above the largest size that is read, raise a `SettingError`."""
    return read_at_most(path, _LARGEST, _named(path))


def _no_number(text: str) -> float:
    raise ValueError(text)


_LARGEST = 512  # megabytes of an assessment; start value
_TEXTS = ("disclosed", "disclosed_to", "highest_cap_target", "reasons", "recognised_by")
_TRUTHS = ("copied", "flagged", "named", "named_in_texts", "recognised", "repeated", "replicated_unique")


def _is_of_records(name: str, dtype: pl.DataType) -> bool:
    """Return whether a column of records has this type; a column that an attack adds has numbers or truth values."""
    if name in _TEXTS:
        return isinstance(dtype, pl.String)
    number = bool(dtype.is_numeric() and not dtype.is_decimal())
    return isinstance(dtype, pl.Boolean) or (number and name not in _TRUTHS)


def read_records(path: Path, summary: Records) -> pl.DataFrame:
    """Return the content of records.parquet.

    Raises
    ------
    TableError
        It cannot be read, has a column of another type, or has another number of records than the summary.
    """
    try:
        frame = pl.read_parquet(read_at_most(path, 8 * _LARGEST, RECORDS))
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
        raise TableError(f"{RECORDS}: cannot be read. hint: run `divulge assess` again.") from None
    odd = [name for name, dtype in frame.schema.items() if not (dtype == pl.Null or _is_of_records(name, dtype))]
    if odd:
        raise TableError(
            f"{RECORDS}: damaged at {odd[0]!r}, a column of another type. hint: run `divulge assess` again, or restore "
            "the file."
        )
    if len(frame) != summary.n:
        raise TableError(
            f"{RECORDS}: {len(frame):,} records, where the assessment has {summary.n:,}. hint: it is of another "
            "run; remove it, or put the right one there."
        )
    return frame
