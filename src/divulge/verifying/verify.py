"""Whether a report follows from itself: all that can be recomputed without the data is recomputed, and compared."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from divulge.core import __version__
from divulge.core.bounded_read import read_at_most
from divulge.core.errors import SettingError
from divulge.core.result import tidy
from divulge.release.policy_again import faults_of_policy
from divulge.report.content import assessment_bytes, content_of, read_assessment, text_of
from divulge.report.external.edition import external
from divulge.report.model import Assessment
from divulge.verifying.again import faults_of_bounds, faults_of_parts, faults_of_verdict
from divulge.verifying.names import faults_of_names
from divulge.verifying.numbers import faults_of_numbers, faults_of_shown_rates

__all__ = ["CHECKED", "UNCHECKED", "UNCHECKED_OUTSIDE", "Verified", "verify"]

CHECKED = (
    "the file as divulge writes it, its order, and what the first page says (questions, advice, columns, ten numbers)",
    "rates, differences, risks, limits, scores and verdicts of results and of groups",
    "the overall verdict, its sentence and its bounds",
    "the policy, condition by condition, and the change since a previous run",
    "counts of records, verdicts of fidelity, what was not tested",
)
UNCHECKED = (
    "whether the numbers are those of the tables: counts, further numbers (context, curves), p-values by permutation, "
    "and limits from resamples follow from the data alone",
    "details of preconditions, notes, settings of attacks, facts about single people",
    "times, versions, machine, command, seed, hashes, names of files, answers of the schema file",
)
UNCHECKED_OUTSIDE = (
    "whether counts were rounded as they should be, and the verdicts that are the custodian's: they follow from exact "
    "counts, which this edition has not",
    *UNCHECKED[2:],
)
_FAULTS = (
    faults_of_numbers,
    faults_of_names,
    faults_of_bounds,
    faults_of_verdict,
    faults_of_policy,
    faults_of_parts,
)
_PAGE = "the hash in the report.html beside it"
_MOST = 20  # places that are named
_VERSION = re.compile(r"[0-9][0-9A-Za-z.+-]{0,30}")


@dataclass(frozen=True, slots=True)
class Verified:
    """What does not follow, and what was checked."""

    edition: str
    faults: tuple[str, ...]
    checked: tuple[str, ...]
    unchecked: tuple[str, ...]
    n_results: int


def verify(path: str | Path) -> Verified:
    """Return what of a report does not follow from the rest of it.

    Parameters
    ----------
    path
        The assessment.json, of either edition. Where `external/assessment.json` lies beside a custodian's, it must be
        the edition that this one gives; a report.html beside it must name its hash.

    Raises
    ------
    SettingError
        The file cannot be read, is cut short, is no assessment, or was written by another version of divulge.
    """
    path = Path(path)
    name = tidy(path.name) or "assessment"
    text = _text(path, name)
    data = read_assessment(path)
    if data.divulge != __version__:
        other = data.divulge if _VERSION.fullmatch(data.divulge) else "another version"
        raise SettingError(
            f"{name}: written by divulge {other}, and this is {__version__}: sentences and digits change between "
            f"versions, so that nothing was checked. hint: verify it with the version that wrote it."
        )
    faults = _listed(lambda d: _of_text(text, d), data)
    page, beside = path.with_name("report.html"), path.parent / "external" / "assessment.json"
    has_page = page.is_file()
    if has_page and sha256(text.encode()).hexdigest().encode() not in read_at_most(page, 64, "report.html"):
        faults.append("report.html: made of another assessment.json")
    if data.edition == "external":
        outside = (CHECKED[0], "the sentence of the verdict, by the numbers that are shown; rounding and withholding")
        shown = (*outside, *([_PAGE] if has_page else []))
        return Verified("external", (*faults, *_listed(_of_outside, data)), shown, UNCHECKED_OUTSIDE, len(data.results))
    for found in _FAULTS:
        faults += _listed(found, data)
    checked, unchecked = [*CHECKED, *([_PAGE] if has_page else [])], list(UNCHECKED)
    if beside.is_file():
        checked.append("the external edition beside it")
        faults += _listed(lambda d: _of_edition(d, beside), data)
    else:
        unchecked.insert(0, "an external edition: none lies beside it (external/assessment.json)")
    return Verified("custodian", tuple(faults), tuple(checked), tuple(unchecked), len(data.results))


def _listed(found: Callable[[Assessment], Iterable[str]], data: Assessment) -> list[str]:
    """Return what does not follow; a report of which no document can be made, as it names what is not, says so."""
    try:
        return list(found(data))
    except SettingError:
        raise
    except (
        ArithmeticError,
        AssertionError,
        AttributeError,
        LookupError,
        StopIteration,
        TypeError,
        ValueError,
    ) as error:
        return [f"it cannot be recomputed: a part names or holds what this version has not ({type(error).__name__})"]


def _text(path: Path, name: str) -> str:
    """Return the text of a file, which is read whole; one that is cut short is told."""
    try:
        text = assessment_bytes(path).decode("utf-8")
    except UnicodeDecodeError:
        raise SettingError(f"{name}: not UTF-8. hint: name the assessment.json that `divulge assess` wrote.") from None
    except OSError as error:
        raise SettingError(f"{name}: cannot be read ({error.strerror}). hint: check the path.") from None
    if text.lstrip().startswith("{") and not text.rstrip().endswith("}"):
        raise SettingError(f"{name}: cut short: its last bracket is missing. hint: take the whole file.")
    return text


def _of_text(text: str, data: Assessment) -> Iterator[str]:
    """Yield where a file is not what divulge writes of its content."""
    again = content_of(data)
    if text == text_of(again):
        return
    twice: list[str] = []

    def pairs(given: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({k for k, _ in given}) < len(given):
            twice.append("")
        return dict(given)

    shown = json.loads(text, object_pairs_hook=pairs)
    if twice:
        yield "a field stands twice"
    places = list(_differing(shown, again, ""))
    yield from (f"{place}: does not follow from the rest" for place in places[:_MOST])
    if len(places) > _MOST:
        yield f"{len(places) - _MOST} more places do not follow"
    if not places and not twice:
        yield "the file: written in another way than divulge writes it (spaces, or forms of numbers)"


def _differing(shown: Any, again: Any, place: str) -> Iterator[str]:
    """Yield the places at which two contents differ, or are in another order."""
    if isinstance(shown, dict) and isinstance(again, dict):
        for key in dict.fromkeys([*shown, *again]):
            at = f"{place}.{_plain(key)}".lstrip(".")
            if key not in shown or key not in again:
                yield f"{at} ({'missing' if key not in shown else 'unknown'})"
            else:
                yield from _differing(shown[key], again[key], at)
        if set(shown) == set(again) and list(shown) != list(again):
            yield f"{place or 'the file'} (order of fields)"
    elif isinstance(shown, list) and isinstance(again, list):
        if len(shown) != len(again):
            yield f"{place} (number of entries)"
        for i, (a, b) in enumerate(zip(shown, again, strict=False)):
            yield from _differing(a, b, f"{place}[{i}]")
    elif type(shown) is not type(again) or shown != again:
        yield place


def _plain(key: str) -> str:
    return key if re.fullmatch("[a-z_0-9]+", key) else "[...]"


def _of_outside(data: Assessment) -> Iterator[str]:
    """Yield what of an external edition is not what an edition of it shows: sentences, rounding, names, order."""
    yield from faults_of_names(data)
    yield from faults_of_shown_rates(data)
    yield from faults_of_policy(data)
    yield from faults_of_parts(data)
    again = content_of(external(data, reveal=data.revealed))
    places = list(_differing(content_of(data), again, ""))
    yield from (f"{place}: an external edition shows no such thing" for place in places[:_MOST])


def _of_edition(data: Assessment, beside: Path) -> Iterator[str]:
    """Yield where the external edition beside a report is another one than this report gives."""
    shown = read_assessment(beside)
    if shown.edition != "external":
        yield "external/assessment.json: no external edition"
        return
    made = content_of(external(data, reveal=[r for r in shown.revealed if r == "columns"]))
    places = list(_differing(content_of(shown), made, ""))
    yield from (f"external/assessment.json: {place}: does not follow from this report" for place in places[:_MOST])
