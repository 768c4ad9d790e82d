"""The external edition: what a recipient of the synthetic table may read, made from what the custodian has.

It is built field by field: what is not named here is not let through, a field of a later version included.

What is left out: records, hashes of real and holdout, the command, the machine, curves and further numbers that come
down to single people (nearest and farthest distances, precision at each recall), and any note or setting that this
version does not know how to read.

Counts. A count of people below 10 is withheld, 0 too, and so is one that leaves fewer than 10 of its n: hits and rate
are None. Where one side of a comparison is withheld, all that follows from it goes: difference, risk, p-values, score,
curves. The verdict stays, and limits of the risk that are those of any count that would be withheld, of 0 to 10 people:
they are worked out anew from what is shown here, with Bonferroni over the comparisons of the attack, so that they tell
no more than that. (They reach as far as the custodian's where these are wider, as with several rows to a unit.) Where
rows or guesses are counted, no limits are given but the acceptable risk, where the verdict says that it is kept; of
rows both sides are withheld. Parts of a result are withheld together, as they add up to a number that may be shown.

All other counts are multiples of 5. Where people are counted, each right or wrong, rates, difference, risk, band and
score follow from these, the limits are those of any counts that would be shown so, p-values are at most .001, .01, .05
or 1, and groups have no risk: exact numbers would give exact counts back, and two of nearly the same people a third.
 Shares without an interval are on a grid of at least 5 people, curves go in steps of 10
people, and quantiles lie at least 10 people apart and from either end.

Numbers. One with an interval has the decimals of the leading digit of half its width, limits are rounded outward;
seconds have none, others 3 significant digits.

Names. Columns are "column 1", "column 2" in the order of the schema, unless `reveal` names "columns". Lists that are
in the order of names are put into that of the schema. Sentences are made anew from the numbers shown here, or stand as
they are written in `known_sentences`, but for what is quoted: a column may be called like any word of theirs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite, isnan
from typing import Any

import numpy as np

from divulge.attacks import CATALOGUE
from divulge.attacks.checks import SHOWN
from divulge.core.errors import SettingError
from divulge.core.result import TOWARDS, number, percent
from divulge.report import formatting
from divulge.report.external.known_sentences import is_ours
from divulge.report.external.masking import HIDDEN, Names, masked
from divulge.report.external.rounding import (
    BASE,
    FEW,
    WITHHELD,
    Limits,
    count,
    digits,
    few_hidden,
    grid,
    places,
    quantiles,
    rounded,
    share,
    stairs,
    to_step,
)
from divulge.report.model import NOT_TESTED
from divulge.stats.intervals import mover_residual
from divulge.stats.outcomes import Outcomes
from divulge.stats.two_sample import compare

__all__ = ["REVEALS", "checked_reveal", "external", "in_schema_order", "masked"]

Json = Mapping[str, Any]

REVEALS = ("columns",)
"""What an external edition can be asked to show."""


def external(data: Json, *, reveal: Sequence[str] = ()) -> dict[str, Any]:
    """Return the external edition of an assessment.

    Parameters
    ----------
    data
        The content of assessment.json, custodian's edition; it is left as it is. Of an external edition the columns
        can lose their names, and the numbers stay or get coarser.
    reveal
        Any of `REVEALS`: "columns" keeps the names of columns.

    Raises
    ------
    SettingError
        `reveal` names something else, or something that an external edition does not hold any more.

    Examples
    --------
    >>> import divulge, polars as pl
    >>> people = pl.DataFrame({"age": [30, 40, 50] * 20, "ill": ["yes", "no"] * 30})
    >>> report = divulge.assess(people, people, holdout=people, keys=["age"], targets=["ill"], models=False)
    >>> data = external(report.data)
    >>> data["settings"]["keys"], data["records"], data["tables"]["real"]["sha256"]
    (['column 1'], None, None)
    """
    shown = checked_reveal(reveal)
    gone = [s for s in shown if s not in data["revealed"]]
    if data["edition"] == "external" and gone:
        raise SettingError(
            f"reveal: this is an external edition that does not hold {', '.join(gone)}. hint: start from the "
            "custodian's assessment.json."
        )
    names = Names.of([c["name"] for c in data["schema"]], reveal="columns" in shown)
    return _Edition(in_schema_order(data), names, shown).made()


def in_schema_order(data: Json) -> dict[str, Any]:
    """Return an assessment whose lists are in the order of the schema where they may be in that of names or scores.

    These are results, their column sets, key sets and comparisons with a previous run. Attacks and variants keep the
    order in which they come.

    Examples
    --------
    >>> import divulge, polars as pl
    >>> people = pl.DataFrame({"b": [30, 40, 50] * 20, "a": ["yes", "no"] * 30})
    >>> data = divulge.assess(people, people, holdout=people, models=False).data
    >>> list(dict.fromkeys(r["target"] for r in in_schema_order(data)["results"] if r["target"]))
    ['b', 'a']
    """
    place = {c["name"]: i for i, c in enumerate(data["schema"])}
    numbers = Names.of(place, reveal=False)

    def where(r: Json) -> tuple[int, list[int]]:
        target = -1 if r["target"] is None else place.get(r["target"], len(place))
        return target, sorted(place.get(k, len(place)) for k in r["keys"])

    def ordered(rows: Sequence[Json]) -> list[Json]:
        attacks = {a: i for i, a in enumerate(dict.fromkeys(r["attack"] for r in rows))}
        kinds = {v: i for i, v in enumerate(dict.fromkeys(_kind(r["variant"]) for r in rows))}

        def key(r: Json) -> tuple[Any, ...]:
            named = place.get(r["variant"].removeprefix(_IDENTIFIER), len(place))
            return attacks[r["attack"]], where(r), kinds[_kind(r["variant"])], named

        return sorted(rows, key=key)

    def sets(r: Json) -> Json:
        if r["attack"] != "singling_out":
            return r
        return {**r, "groups": sorted(r["groups"], key=lambda g: _numbers(numbers.joined(g["name"]) or ""))}

    change = data["change"]
    return {
        **data,
        "results": [sets(r) for r in ordered(data["results"])],
        "key_sets": sorted(data["key_sets"], key=lambda k: (where(k)[0], -(digits(k["share"]) or 0), where(k)[1])),
        "minimal_key_sets": sorted(data["minimal_key_sets"], key=lambda m: (where(m)[0], len(m["keys"]), where(m)[1])),
        "change": change and {**change, "comparisons": ordered(change["comparisons"])},
    }


def _kind(variant: str) -> str:
    return _IDENTIFIER if variant.startswith(_IDENTIFIER) else variant


def _numbers(text: str) -> list[int]:
    return [int(n) for n in re.findall(r"\d+", text)]


def checked_reveal(reveal: Sequence[str]) -> list[str]:
    """Return what is to be shown, each once and in a fixed order; a `SettingError` for anything else."""
    given = [reveal] if isinstance(reveal, str) else list(reveal)
    if not set(given) <= set(REVEALS):
        raise SettingError(f"reveal: not a known part. hint: any of {', '.join(REVEALS)}.")
    return [r for r in REVEALS if r in given]


# ---------------------------------------------------------------- what is let through

_SHARES = {
    "CAP of the original on itself": "real",
    "baseline CAP": "real",
    "baseline: commonest value": "real",
    "guessing in proportion to how often each value occurs": "real",
    "maximum attainable": "real",
    "minimum attainable": "real",
    "model trained on other members, about members": "real",
    "model trained on strangers, about members": "real",
    "original on itself": "real",
    "real records alone on their key": "real",
    "real records in classes below 5": "real",
    "share of people whose link is drawn from ties": "real",
    "share of real rows that equal another real row": "real",
    "share of records whose key is in the synthetic table": "real",
    "share of synthetic rows counted": "synthetic",
    "share of synthetic rows that equal a real row": "synthetic",
    "share of synthetic rows with several nearest people": "synthetic",
}
"""Entries of `context` that are shares, and of whose rows."""

_COUNTS = {
    "classes in real": "real",
    "distinct keys in real": "real",
    "distinct people singled out": "real",
    "distinct people singled out, strangers": "holdout",
    "guesses that fit nobody": None,
}
"""Entries that are counts, and of whose people."""

_DECIMALS = {
    "ALC": 2,
    "confidence cut-off": 2,
    "chance that a member is closer than a stranger": 3,
    "expected under permuted labels": 2,
    "independent guesses": -1,
    "largest share of one column": 2,
    "mean gain": 2,
    "mean presence": 2,
    "privacy loss": 2,
    "risk that a full copy of the real table would have": 2,
    "share of the way from baseline to original": 2,
    SHOWN: 2,
}
"""Entries that are no counts and rest on everybody: decimals."""

_DIGITS = (
    "CAP of the synthetic table",
    "accuracy of data that cannot be told apart",
    "baseline: uniform",
    "classes in synthetic",
    "fdr",
    "fewest people that can be flagged",
    "fewest units that can be flagged",
    "leak-free chance that a member is closer",
    "leak-free excess over strangers",
    "leak-free privacy loss",
    "leak-free share of holdout, without ties",
    "leak-free share of real, without ties",
    "leak-free share, without ties",
    TOWARDS,
    "n w (1 - w)^(n - 1)",
    "synthetic records described",
    "tries",
)
"""Entries that sizes, settings or the synthetic table alone decide."""

_MEDIANS = {
    "leak-free ratio (that of the holdout)": "holdout",
    "median among holdout": "synthetic",
    "median among real": "synthetic",
    "median of holdout": "holdout",
    "median of members": "real",
    "median of strangers": "holdout",
    "median of synthetic": "synthetic",
    "median of the random table": "synthetic",
}
"""Medians, and of how many rows."""

_QUANTILE = re.compile(r"(?:(of|to) (members|strangers|real|holdout), )?(\d+)% quantile(?: of (members|strangers))?")
_FITTING = re.compile(r"guesses that fit more than \d+ people")

_SETTINGS = (
    "tau",
    "k",
    "fdr",
    "neighbour",
    "within",
    "known",
    "tolerance",
    "c",
    "split",
    "subsamples",
    "ratio at most",
    "guesses",
    "most people",
    "tries",
    "weight at most",
)
"""Settings of a result that are let through as they are; lists of columns and numbers of rows are seen to besides."""

_RUN = ("seed", "level", "jobs", "acceptable", "search", "models", "missing")
_NAMED = ("keys", "targets", "subgroups", "ignore")

_VALUES: dict[str, str] = {
    "authenticity": "share", "identical_match_share": "share", "epsilon_identifiability": "share",
    "disco": "share", "replicated_uniques": "share", "weap": "share",
    "abstention": "two", "dcap": "two", "nnaa": "two", "t_closeness": "two", "delta_presence": "two",
    "k_anonymity": "class", "l_diversity": "digits", "nndr": "tail",
    "dcr": "median", "dcr_baseline": "median", "exposure": "median",
}  # fmt: skip
"""How the three values of an attack are made coarse."""

_OF_ROWS = ("authenticity", "identical_match_share", "nndr", "weap", "disco", "replicated_uniques")
"""Attacks whose values are of synthetic rows, beside those of `dcr` by rows; the others are of each table's own."""

_STAIRS = ("members", "strangers", "real", "synthetic", "holdout")
_GRIDS = ("at_least", "class size", "diversity at most", "distance at most", "presence at most")
_CURVES = {"members": "real", "strangers": "holdout"}

_SUBGROUP = re.compile(
    r"value \d+, by frequency|all other values|lowest tenth|highest tenth|the middle(?:, and people without a number)?"
    r"|values of fewer than \d+ people on a side(?:, and the next)?"
)

_WHY = re.compile(
    r"(?:every value is missing|every row has the same value|true and false|dates or times, # distinct"
    r"|numbers with decimals, # distinct|# whole numbers that all differ.*|whole numbers with # distinct values, .*"
    r"|# texts of # characters on average.*|# distinct values in # rows: nearly all differ"
    r"|text that reads as numbers throughout, # distinct|numbers beside # other value\(s\), .*"
    r"|# distinct texts in # rows|text with # distinct values|sdtype \w+ of the SDV metadata"
    r"|primary key of the SDV metadata)(?:, though not in every table)?(?:; # of # values missing)?"
)
"""Reasons that this program gives, their numbers left out; others come from a schema file."""

_BINS = re.compile(r"\d+ [a-z -]*bins?[a-z ,-]*|")


# ---------------------------------------------------------------- numbers


@dataclass(frozen=True)
class _Coarse:
    """How the numbers of one comparison are rounded: to decimals, or on a grid."""

    decimals: int | None
    step: float | None = None

    def near(self, value: float | None) -> float | None:
        return rounded(value, self.decimals) if self.step is None else to_step(value, self.step)

    def outward(self, limits: Limits) -> Limits:
        low, high = limits
        if self.step is not None:
            return to_step(low, self.step, "down"), to_step(high, self.step, "up")
        under = rounded(low, self.decimals, "down")
        if under == 0 and low:  # above 0 it stays there: the verdict says so too
            under = float(f"{low:.0e}") if float(f"{low:.0e}") <= low else float(f"{low / 2:.0e}")
        return under, rounded(high, self.decimals, "up")

    def of(self, part: Json | None, extra: Sequence[str] = ()) -> dict[str, Any] | None:
        """Return value and limits of a difference or a risk."""
        if part is None:
            return None
        out: dict[str, Any] = {"value": self.near(part["value"])}
        for kind in ("", "_simultaneous"):
            low, high = self.outward((part.get(f"low{kind}"), part.get(f"high{kind}")))
            out |= {f"low{kind}": low, f"high{kind}": high}
        if extra:
            low, high = self.outward((part.get("leak_free_low"), part.get("leak_free_high")))
            out |= {f: part[f] for f in extra} | {"leak_free_low": low, "leak_free_high": high}
        return out


def _coarse(part: Json | None) -> _Coarse:
    if part is None:
        return _Coarse(None)
    found = places((part["low"], part["high"]))
    if found is None:
        found = places((part.get("low_simultaneous"), part.get("high_simultaneous")))
    return _Coarse(found)


@dataclass(frozen=True)
class _Edition:
    """Makes one external edition."""

    data: Json
    names: Names
    shown: Sequence[str]

    # ------------------------------------------------------------ the whole

    def made(self) -> dict[str, Any]:
        d = self.data
        results = [self.result(r) for r in d["results"]]
        out = {
            "format": d["format"],
            "divulge": d["divulge"],
            "command": "",
            "edition": "external",
            "revealed": list(self.shown),
            "settings": self.settings(d["settings"]),
            "started": d["started"],
            "seconds": float(round(d["seconds"])),
            "verdict": {
                "verdict": d["verdict"]["verdict"], "sentence": _verdict_sentence(d, results, self.sentence),
            },
            "tables": {role: self.table(role) for role in ("real", "synthetic", "holdout")},
            "schema": [self.column(c) for c in d["schema"]],
            "preconditions": [
                {"check": c["check"], "ok": c["ok"], "detail": self.sentence(c["detail"])} for c in d["preconditions"]
            ],
            "results": results,
            "key_sets": [self.pair(k) | {"share": digits(k["share"])} for k in d["key_sets"]],
            "minimal_key_sets": [self.minimal(m) for m in d["minimal_key_sets"]],
            "records": None,
            "positive_control": self.controls,
            "failed": [{"attack": f["attack"], "why": self.failure(f["why"])} for f in d["failed"]],
            "left_out": [
                {k: o[k] for k in ("attack", "n", "of")} | {"why": self.sentence(o["why"])} for o in d["left_out"]
            ],
            "utility": [self.utility(u) for u in d["utility"]],
            "policy": self.policy(d["policy"], results),
            "change": self.change(d["change"]),
            "not_tested": [self.untested(n) for n in d["not_tested"]],
            "threat": self.threat(d["threat"]),
            "versions": {str(k): str(v) for k, v in d["versions"].items()},
            "machine": "",
            "attacks": {
                name: {k: a[k] for k in ("family", "question", "needs", "reference")}
                for name, a in d["attacks"].items()
            },
            "notes": [few_hidden(n) for n in map(self.names.note, d["notes"]) if n],
        }  # fmt: skip
        return out

    def sentence(self, text: str) -> str:
        """Return one of our sentences; of one that is not known, and that may name a column unquoted, nothing."""
        kept = self.names.note(text)
        return few_hidden(kept) if kept or not text else HIDDEN

    def failure(self, why: str) -> str:
        """Return why an attack failed, without the columns on which it did."""
        known = re.fullmatch(r"(\w+) inside the attack \(.*\); please report it", why, re.DOTALL)
        return f"{known[1]} inside the attack; please report it" if known else self.sentence(why)

    @cached_property
    def labels(self) -> dict[str, Json]:
        """Return for the label of each comparison, in each way in which it is written, what it compares."""
        rows = [*((self.data["change"] or {}).get("comparisons", ())), *self.data["results"]]
        return {form: r for r in rows for form in (_whole(r), formatting.tidy(_whole(r)), formatting.label(r, "->"),
                                                   formatting.tidy(formatting.label(r, "->")))}  # fmt: skip

    def relabelled(self, r: Json) -> str:
        return formatting.label(self.pair(r) | self.variant(r), "->")

    @cached_property
    def withheld(self) -> set[tuple[Any, ...]]:
        """Return the names of the comparisons of which a count is withheld."""
        return {
            _named(r)
            for r in self.data["results"]
            if _hidden({role: self.rate(r[role], role) for role in ("real", "holdout")})
        }

    # ------------------------------------------------------------ tables, columns, settings

    def rows(self, role: str) -> int:
        table = self.data["tables"].get(role)
        return int(table["rows"] or 0) if table else 0

    def people(self) -> int:
        """Return the size of the smaller table of people."""
        return min(n for n in (self.rows("real"), self.rows("holdout") or self.rows("real")))

    def table(self, role: str) -> dict[str, Any] | None:
        t = self.data["tables"].get(role)
        if t is None:
            return None
        sha256 = t["sha256"] if role == "synthetic" else None
        return {
            "rows": t["rows"],
            "columns": t["columns"],
            "sha256": sha256,
            "hashed": t["hashed"],
            "missing": digits(t.get("missing"), 2) if role == "synthetic" else self.empty(t),
            "repeated": count(t.get("repeated"), t["rows"]),
            "units": t.get("units"),
        }

    def empty(self, t: Json) -> float | None:
        """Return the share of cells without a value; None where fewer than 10 are, or are not."""
        return share(t.get("missing"), (t["rows"] or 0) * t["columns"])

    def column(self, c: Json) -> dict[str, Any]:
        return {
            "name": self.names.name(c["name"]), "kind": c["kind"], "roles": list(c["roles"]), "why": _why(c["why"]),
            "bins": c["bins"] if _BINS.fullmatch(c["bins"]) else "",
        }  # fmt: skip

    def settings(self, settings: Json) -> dict[str, Any]:
        out = {k: settings[k] for k in _RUN if k in settings}
        out |= {k: None if settings[k] is None else self.of(settings[k]) for k in _NAMED if k in settings}
        unit = settings.get("unit")
        return out | {"unit": None if unit is None else self.names.name(unit)}

    def of(self, columns: Iterable[str]) -> list[str]:
        return self.names.several(columns)

    def pair(self, row: Json) -> dict[str, Any]:
        target = row["target"]
        return {"keys": self.of(row["keys"]), "target": None if target is None else self.names.name(target)}

    def variant(self, r: Json) -> dict[str, Any]:
        variant = r["variant"]
        if variant.startswith(_IDENTIFIER):
            variant = _IDENTIFIER + self.names.name(variant.removeprefix(_IDENTIFIER))
        elif variant and r["attack"] not in CATALOGUE:
            variant = self.names.text(variant)
        return {"attack": r["attack"], "variant": variant}

    # ------------------------------------------------------------ one result

    def result(self, r: Json) -> dict[str, Any]:
        sides = {role: self.rate(r[role], role) for role in ("real", "holdout")}
        hidden = _hidden(sides)
        if hidden and formatting.of_rows(r):  # members' rows and strangers' rows add up to those that are counted
            sides = {role: self.rate(r[role], role, few=True) for role in sides}
        whole = not hidden and _whole_people(r)
        risk = self.any_count(r, sides) if hidden or whole else self.risk(r)
        curves = {} if hidden else self.curves(r)
        return {
            **self.variant(r),
            **self.pair(r),
            "settings": self.result_settings(r["settings"]),
            "real": sides["real"],
            "holdout": sides["holdout"],
            "baseline": self.baseline(r),
            "difference": None
            if hidden
            else _shown_difference(sides, r["difference"])
            if whole
            else (_coarse(r["difference"]).of(r["difference"])),
            "value": self.value(r),
            "risk": risk,
            "context": (context := self.context(r, hidden)),
            "score": None if hidden else _score(r, risk, context),
            "p_value": None if hidden else _at_most(r["p_value"]),
            "p_adjusted": None if hidden else _at_most(r["p_adjusted"]),
            "smallest_detectable": None if hidden else digits(r["smallest_detectable"], 1),
            "verdict": r["verdict"],
            "curves": curves,
            "groups": self.groups(r),
            "notes": self.notes(r, hidden),
            "seconds": float(round(r["seconds"])),
        }

    def rate(self, rate: Json | None, role: str, few: bool = False) -> dict[str, Any] | None:
        """Return counts and rate; all but n are None where a count of fewer than 10 would follow."""
        if rate is None:
            return None
        n, hits = rate["n"], rate["hits"]
        if n in {self.rows(t) for t in ("real", "synthetic", "holdout")}:
            size: float | None = n
        else:
            size = count(n, self.rows(role) if n is not None and n < self.rows(role) else None)
        found = None if few or size is None or hits is None else count(hits, n)
        rate_ = None if found is None or not size else round(min(1.0, found / size), 4)
        return {"hits": found, "n": None if size is None else int(size), "rate": rate_}

    def risk(self, r: Json) -> dict[str, Any] | None:
        out = _coarse(r["risk"]).of(r["risk"], ("level", "method"))
        if out and self.is_kept(r):  # the verdict says so too
            out["high_simultaneous"] = min(out["high_simultaneous"], self.data["settings"]["acceptable"])
        return out

    def is_kept(self, r: Json) -> bool:
        """Return whether the verdict says that the upper limit of risk is at most the acceptable one."""
        high, most = r["risk"]["high_simultaneous"], self.data["settings"].get("acceptable")
        return r["verdict"] == "none found" and bool(most) and high is not None and bool(high <= most)

    def any_count(self, r: Json, sides: Mapping[str, Json | None]) -> dict[str, Any] | None:
        """Return the limits of risk that are those of any count that would be shown, or withheld, like these."""
        if r["risk"] is None:
            return None
        risk = r["risk"]
        out: dict[str, Any] = {"value": None, "level": risk["level"], "method": "of any count shown like these"}
        out |= dict.fromkeys(("leak_free_low", "leak_free_high"))
        tests = sum(o["attack"] == r["attack"] and o["risk"] is not None for o in self.data["results"])
        hits = [_any_hits(r[role], sides[role]) for role in ("real", "holdout")]
        for kind, times in (("", 1), ("_simultaneous", tests)):
            limits: Limits = (None, None)
            if None not in hits and not formatting.of_rows(r) and r["attack"] != "singling_out":
                level = 1 - (1 - risk["level"]) / times
                limits = _envelope([h for h in hits if h], level, (risk[f"low{kind}"], risk[f"high{kind}"]))
            out |= {f"low{kind}": rounded(limits[0], 2, "down"), f"high{kind}": rounded(limits[1], 2, "up")}
        if not _hidden(sides):
            out |= _of_shown(sides, 1 - (1 - risk["level"]) / tests, places((risk["low"], risk["high"])))
        if r["verdict"] == "excess found":  # which says as much
            out |= {k: 0.0 if (low := out[k]) is None else max(low, 0.0) for k in ("low", "low_simultaneous")}
        if self.is_kept(r):
            most, high = self.data["settings"]["acceptable"], out["high_simultaneous"]
            out["high_simultaneous"] = most if high is None else min(high, most)
        return out

    def baseline(self, r: Json) -> dict[str, Any] | None:
        b = r["baseline"]
        if b is None:
            return None
        rate = digits(b["rate"]) if r["attack"] in ("linkability", "singling_out") else share(b["rate"], self.people())
        return {"rate": rate, "what": self.sentence(b["what"])}

    def value(self, r: Json) -> dict[str, Any] | None:
        if r["value"] is None:
            return None
        how = _VALUES.get(r["attack"], "")
        by_rows = r["attack"] in _OF_ROWS or (r["attack"], r["variant"]) == ("dcr", "synthetic rows")
        out = {}
        for role in ("real", "holdout", "synthetic"):
            n = self.rows("synthetic" if by_rows else role)
            own = role == "synthetic" and how in ("share", "class")  # the recipient can count there himself
            out[role] = digits(r["value"][role]) if own else _value(r["value"][role], how, n)
        return out

    def context(self, r: Json, hidden: bool) -> dict[str, Any]:
        if hidden:
            return {k: digits(v) for k, v in r["context"].items() if k in (TOWARDS, SHOWN, "fdr")}
        found = {k: self.further(k, v) for k, v in r["context"].items()}
        found |= self.answered(r)
        return {k: v for k, v in found.items() if v is not None}

    def further(self, name: str, value: float | None) -> float | None:
        """Return one further number, None where its name is not known here."""
        if value is None:
            return None
        if name in _SHARES:
            return share(value, self.rows(_SHARES[name]))
        if name in _COUNTS:
            role = _COUNTS[name]
            return count(value, self.rows(role) if role else None)
        if _FITTING.fullmatch(name):
            return count(value)
        if name in _DECIMALS:
            return rounded(value, _DECIMALS[name])
        if name in _MEDIANS:
            return _value(value, "median", self.rows(_MEDIANS[name]))
        if name in _DIGITS:
            return digits(value)
        found = _QUANTILE.fullmatch(name)
        if found is None:
            return None
        role = {"members": "real", "strangers": "holdout"}.get(found[2] or found[4] or "", "synthetic")
        return quantiles([int(found[3]) / 100], [value], self.rows(role))[0]

    def answered(self, r: Json) -> dict[str, float | None]:
        """Return how often somebody who may abstain answers, and is right then; nothing where few are answered."""
        out: dict[str, float | None] = {}
        for side, role in (("", "real"), (", strangers", "holdout"), (", reference", "holdout")):
            recall, n = r["context"].get(f"recall{side}"), self.rows(role)
            people = None if recall is None else recall * n
            if people is None or count(people, n) is None:
                continue
            out[f"recall{side}"] = share(recall, n)
            for name in ("precision", "PRC"):
                if (value := r["context"].get(f"{name}{side}")) is not None:
                    out[f"{name}{side}"] = share(value, people)
        return out

    def curves(self, r: Json) -> dict[str, list[float | None]]:
        curves = r["curves"]
        if "share" in curves:
            by_rows = r["attack"] == "nndr" or r["variant"] == "synthetic rows"
            lines = {n: "synthetic" if by_rows else _CURVES.get(n) for n in curves if n in _QUANTILES}
            return {"share": [rounded(s, 4) for s in curves["share"]]} | {
                n: quantiles(curves["share"], curves[n], self.rows(role)) for n, role in lines.items() if role
            }
        axis = next((g for g in _GRIDS if g in curves), None)
        if axis is None:
            return {}
        out: dict[str, list[float | None]] = {axis: [digits(x) for x in curves[axis]]}
        for n in _STAIRS:
            if n in curves:
                role = _CURVES.get(n, n)
                own = (r.get(role) or {}).get("n") if role != "synthetic" else None
                out[n] = stairs(curves[n], own or self.rows(role))
        return out

    def result_settings(self, settings: Json) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for name, value in settings.items():
            if name in _SETTINGS and not isinstance(value, list | dict):
                out[name] = value
            elif name in ("columns", "first", "second") and isinstance(value, list):
                out[name] = self.of(value)
            elif name in ("columns", "rows") and isinstance(value, int):
                out[name] = value
        return out

    def groups(self, r: Json) -> list[dict[str, Any]]:
        """Return the parts of a result; those that add up to one number are withheld together."""
        sides = [[self.rate(g[role], role) for role in ("real", "holdout")] for g in r["groups"]]
        few = {
            g["of"] for g, both in zip(r["groups"], sides, strict=True) if any(s and s["hits"] is None for s in both)
        }
        out = []
        r_of = {"attack": r["attack"], "context": {}}
        for i, g in enumerate(r["groups"], 1):
            hidden = g["of"] in few
            out.append({
                **self.group_name(r, g, i),
                "real": self.rate(g["real"], "real", hidden),
                "holdout": self.rate(g["holdout"], "holdout", hidden),
                "risk": None if hidden or _whole_people(g | r_of) else (
                    _coarse(g["risk"]).of(g["risk"], ("level", "method"))),
            })  # fmt: skip
        return out

    def group_name(self, r: Json, g: Json, i: int) -> dict[str, str]:
        if r["attack"] == "singling_out":
            return {"of": "column set", "name": self.names.joined(g["name"]) or f"set {i}"}
        name = g["name"] if _SUBGROUP.fullmatch(g["name"]) else f"group {i}"
        return {"of": self.names.name(g["of"]), "name": name}

    def notes(self, r: Json, hidden: bool) -> list[str]:
        out = []
        for note in r["notes"]:
            if note.startswith(_TOO_WIDE):
                out.append(_TOO_WIDE)  # the size that would do is worked out from exact limits
            elif hidden and note.startswith(_BOUNDED):
                continue
            elif note.startswith("near: "):
                out.append("near: a synthetic row at a small distance, taken from how near people lie to each other")
            else:
                out.append(few_hidden(self.names.note(note)))
        return [n for n in out if n]

    # ------------------------------------------------------------ further parts

    def untested(self, n: Json) -> dict[str, str]:
        known = (n["what"].replace(" ", "_"), n["question"]) in NOT_TESTED
        return {k: n[k] if known else self.names.prose(n[k]) for k in ("what", "question")}

    def minimal(self, m: Json) -> dict[str, Any]:
        n = self.rows("real")
        found = count(m["n_disclosed"], n)
        return self.pair(m) | {
            "n_disclosed": found, "share": None if found is None else round(found / n, 4),
            "synthetic_share": digits(m["synthetic_share"]),
        }  # fmt: skip

    @cached_property
    def controls(self) -> list[dict[str, Any]]:
        return [self.control(c) for c in self.data["positive_control"]]

    def control(self, c: Json) -> dict[str, Any]:
        coarse = _Coarse(None, grid(self.people()))
        hidden = {form for form, r in self.labels.items() if _named(r) in self.withheld}
        found = []
        for f in c["found"]:
            low, high = coarse.outward((f["low"], f["high"]))
            found.append({"attack": self.worded(f["attack"]), "risk": coarse.near(f["risk"])}
                         | {"low": low, "high": high, "without": f["without"]})  # fmt: skip
        smallest: list[dict[str, Any]] = [
            {
                "attack": self.worded(a["attack"]),
                "difference_without": coarse.near(a["difference_without"]),
                "difference_with": coarse.near(a["difference_with"]),
                "smallest_detectable": digits(a["smallest_detectable"], 2),
                "smallest_share": digits(a["smallest_share"], 2),
            }
            for a in c["attacks"]
            if a["attack"] not in hidden
        ]
        people = c["people"] and {
            k: count(c["people"][k]) for k in ("planted", "flagged", "others_flagged", "flagged_without")
        }
        return {
            **{k: c[k] for k in ("kind", "share", "n_planted", "verdict", "n_judged")},
            "found": sorted(found, key=lambda f: (-(f["low"] or 0.0), f["attack"].partition(":")[0],
                                                  _numbers(f["attack"]))),
            "people": None if not people or None in people.values() else people,
            "attacks": sorted(smallest, key=lambda a: (a["smallest_share"] or 0.0, a["attack"].partition(":")[0],
                                                       _numbers(a["attack"]))),
            # of a comparison that is shown here: that of a withheld one would tell its count
            "smallest_share": min((s for a in smallest if (s := a["smallest_share"] or 0.0) <= 1), default=None),
            "method": self.sentence(c["method"]),
            "note": self.sentence(c["note"]),
        }  # fmt: skip

    def worded(self, label: str) -> str:
        """Return the label of a comparison under the names of this edition."""
        known = self.labels.get(label)
        if known is not None:
            return self.relabelled(known)
        head, colon, rest = label.partition(": ")
        head, arrow, target = head.partition(" -> ") if not colon else (head, "", "")
        head = head if re.match(r"\w*", head)[0] in CATALOGUE and _IDENTIFIER not in head else HIDDEN  # type: ignore[index] # an empty match at least
        if colon:
            for place in [m.start() for m in re.finditer(" -> ", rest)] or [len(rest)]:
                keys = self.names.joined(rest[:place])
                wanted = rest[place + 4 :]
                if keys is not None and (not wanted or wanted in self.names.shown):
                    return f"{head}: {keys}" + (f" -> {self.names.name(wanted)}" if wanted else "")
            return f"{head}: {HIDDEN}"
        return head + (f" -> {self.names.name(target)}" if arrow else "")

    def utility(self, u: Json) -> dict[str, Any]:
        # the list of targets, each with its numbers, is in the order of their names
        notes = [few_hidden(self.names.note(n)) for n in u["notes"] if is_ours(n) or not n.startswith("targets, ")]
        return {
            "measure": self.sentence(u["measure"]), "value": digits(u["value"]), "reference": digits(u["reference"]),
            "better": u["better"], "about": u["about"] if is_ours(u["about"]) else "", "notes": [n for n in notes if n],
        }  # fmt: skip

    # ------------------------------------------------------------ policy and change

    def policy(self, p: Json | None, results: Sequence[Json]) -> dict[str, Any] | None:
        if p is None:
            return None
        name = p["name"]
        if name not in ("policy", "--fail-on") and self.names.text(name) != name:
            name = HIDDEN  # a name of people's own, or a file's
        conditions = [self.condition(c, results) for c in p["conditions"]]
        return {"name": name, "sha256": p["sha256"], "kept": p["kept"], "conditions": conditions}

    def condition(self, c: Json, results: Sequence[Json]) -> dict[str, Any]:
        """Return one condition of a policy: its limit as it is, what was found as it is shown here."""
        words, found = c["condition"], c["found"]
        rule, power = _RULE.fullmatch(words), _POWER.fullmatch(words)
        if rule:
            words = rule[1] + (f" ({self.asked_variant(rule[2])})" if rule[2] else "") + f": {rule[3]}"
            found = self.found(c, results, lambda e: _bound_shown(e, rule[4]), (rule[5], rule[6]))
        elif power:
            found = self.found(c, results, lambda e: e["smallest_detectable"], ("at most", power[2]))
        elif found not in _FIXED_FOUND:
            found = self.found_else(words, found)
        if not (rule or power or _PLAIN_CONDITION.fullmatch(words)):
            words = HIDDEN
        return {"condition": words, "found": found, "kept": c["kept"], "why": self.why(c["why"])}

    def asked_variant(self, variant: str) -> str:
        known = {r["variant"]: r for r in self.data["results"]}
        return str(self.variant(known[variant])["variant"]) if variant in known else HIDDEN

    def found(
        self, c: Json, results: Sequence[Json], of: Callable[[Json], float | None], limit: tuple[str, str]
    ) -> str:
        """Return the number that a comparison shows in this edition, "withheld" where it shows none."""
        if c["found"] in _FIXED_FOUND:
            return str(c["found"])
        known = _FOUND.fullmatch(c["found"])
        r = self.labels.get(known[1]) if known else None
        if r is None:
            return WITHHELD
        shown = [of(e) for one, e in zip(self.data["results"], results, strict=True) if _named(one) == _named(r)]
        value = shown[0] if len(shown) == 1 else None
        # rounded outward it may lie on the other side of the limit
        says = "withheld" if value is None or _keeps(value, *limit) != c["kept"] else f"{value:.12g}"
        return f"{says} ({self.relabelled(r)})"

    def found_else(self, words: str, found: str) -> str:
        """Return what was found about a condition that sets no limit on a comparison."""
        head, _, rest = words.partition(": ")
        if head == "precondition":
            made = [self.sentence(c["detail"]) for c in self.data["preconditions"] if c["check"] == rest]
            return "; ".join(made) or HIDDEN
        if head == "change":
            change = self.change(self.data["change"])
            return f"«{change['verdict']}»: {change['sentence']}" if change else HIDDEN
        if head == "positive control" and "as small as" in rest:
            return "; ".join(f"{c['kind']}: {self.seen_from(c, i)}" for i, c in enumerate(self.controls))
        return found if _PLAIN_FOUND.fullmatch(found) else HIDDEN

    def seen_from(self, control: Json, i: int) -> str:
        """Return the smallest share of planted people that a comparison which is shown here would see."""
        own, shown = (
            min((s for a in c["attacks"] if (s := formatting.share_seen(a)) is not None), default=None)
            for c in (self.data["positive_control"][i], control)
        )
        if own is None:
            return "none"
        return "withheld" if shown is None or shown != digits(own, 2) else f"{shown:.12g}"

    def why(self, why: str) -> str:
        """Return why a condition is not kept."""
        lacking = _LACKING.fullmatch(why)
        if lacking:
            return lacking[1] + self.worded(lacking[2])
        return why if _PLAIN_WHY.fullmatch(why) else HIDDEN

    def change(self, c: Json | None) -> dict[str, Any] | None:
        if c is None:
            return None
        same = ("previous_started", "previous_divulge", "previous_verdict", "same_people", "same_synthetic", "level",
                "new", "gone", "verdict")  # fmt: skip
        rows = [self.changed(r) for r in c["comparisons"]]
        return {k: c[k] for k in same} | {"comparisons": rows, "sentence": _change_sentence(c, rows)}

    def changed(self, r: Json) -> dict[str, Any]:
        """Return one comparison then and now, on a grid: what was withheld then is not known here."""
        coarse = _Coarse(None, grid(self.people()))
        out = self.variant(r) | self.pair(r)
        if _named(r) in self.withheld:
            numbers = ("before", "now", "difference", "low", "high", "low_simultaneous", "high_simultaneous")
            return out | dict.fromkeys((*numbers, "p_adjusted")) | {"verdict": r["verdict"]}
        out |= {k: coarse.near(r[k]) for k in ("before", "now", "difference")}
        for kind in ("", "_simultaneous"):
            low, high = coarse.outward((r[f"low{kind}"], r[f"high{kind}"]))
            out |= {f"low{kind}": low, f"high{kind}": high}
        return out | {"p_adjusted": rounded(r["p_adjusted"], 1), "verdict": r["verdict"]}

    def threat(self, threat: Json) -> dict[str, Any]:
        from divulge.core.threat_model import TABLES

        return {
            table: {
                key: [self.names.prose(t) for t in (threat.get(table) or {}).get(key, ())]
                for key in struct.__struct_fields__
            }
            for table, struct in TABLES.items()
        }


_IDENTIFIER = "identifier "
_QUANTILES = ("members", "strangers", "to real", "to holdout", "among real", "among holdout")
_BOUNDED = "the score was bounded"
_TOO_WIDE = "cannot tell: the interval is too wide"

_LIMIT = r"-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?"
_BOUND = "simultaneous upper limit of risk|simultaneous lower limit of risk|risk|score"
_SIDE = "at most|below|at least|above"
_RULE = re.compile(
    rf"(all attacks|[a-z_]+)(?: \((.*)\))?: ((?:the largest |the smallest )?({_BOUND}) ({_SIDE}) ({_LIMIT}))",
    re.DOTALL,
)
_POWER = re.compile(rf"(all attacks|[a-z_]+): smallest detectable excess of the headline comparison at most ({_LIMIT})")
"""Conditions that set a limit, as `divulge.release.rules.in_words` and `divulge.release.policy` word them."""

_FOUND = re.compile(rf"(?:{_LIMIT}|withheld) \((.*)\)", re.DOTALL)
_FIXED_FOUND = ("not tested", "nothing against it", "no column of units was named")
_KINDS = "(?:random people|unusual people|near copies)"
_PLAIN_FOUND = re.compile(rf"«[a-z ]+»|[\d,]+ comparisons? with strangers|seen: (?:none|{_KINDS}(?:, {_KINDS})*)")
_SOME = r"(?:[\d,]+ of [\d,]+|the one)"
_LACKING = re.compile(rf"({_SOME} comparisons? ha(?:ve|s) (?:no such bound|none), as )(.*)", re.DOTALL)
_UNFINISHED = rf"(?:[a-z_]+ failed|{_SOME} tests? of [a-z_ ]+ (?:was|were) left out)"
_PLAIN_CONDITION = re.compile(
    r"overall verdict: [a-z «»]+|precondition: [a-z ]+|[a-z_]+: was run and compared with strangers"
    r"|positive control: each kind of planted people is seen"
    rf"|positive control: of each kind a share of planted rows as small as {_LIMIT} would be seen"
    r"|change: no risk rose since the previous run"
)
_PLAIN_WHY = re.compile(
    r"|not allowed|it fails|was not tested|it did not run|it ran, and nothing was compared with strangers"
    r"|no headline comparison was made|no positive control was run|no previous run was given|a risk rose"
    rf"|nothing could be compared|(?:above|below|not above|not below) {_LIMIT}"
    rf"|not (?:seen|so small): {_KINDS}(?:, {_KINDS})*"
    rf"|{_KINDS}: could not be planted(?:; {_KINDS}: could not be planted)*"
    rf"|{_UNFINISHED}(?:; {_UNFINISHED})*"
)
"""Conditions, what is found about them, and why they are not kept, in words that name no column."""


def _bound_shown(e: Json, what: str) -> float | None:
    if what == "score":
        return e["score"]  # type: ignore[no-any-return] # JSON
    field = {"risk": "value", "simultaneous upper limit of risk": "high_simultaneous"}.get(what, "low_simultaneous")
    return (e["risk"] or {}).get(field)


def _keeps(value: float, how: str, limit: str) -> bool:
    most = float(limit)
    return {"at most": value <= most, "below": value < most, "at least": value >= most, "above": value > most}[how]


def _whole(r: Json) -> str:
    """Return the label of a comparison, no name shortened."""
    text = str(r["attack"]) + (f" ({r['variant']})" if r["variant"] else "")
    text += ": " + " + ".join(r["keys"]) if r["keys"] else ""
    return text + ("" if r["target"] is None else f" -> {r['target'] or repr(r['target'])}")


def _change_sentence(change: Json, rows: Sequence[Json]) -> str:
    """Return what changed in words, from the comparisons of this edition."""
    verdict = change["verdict"]
    people = "" if change["same_people"] else " (of other people)"
    since = f"the run of {str(change['previous_started'])[:10]}{people}"
    if verdict == "cannot compare":
        return f"No comparison of this run has a risk that {since} had too: nothing can be said about a change."
    moved = [r for r in rows if r["verdict"] == verdict]
    shown = [r for r in moved if r["difference"] is not None]
    if verdict == "no change found":
        told = f"No risk changed for certain since {since}, in {len(moved):,} comparisons"
        if not shown:
            return f"{told}."
        most = max(shown, key=lambda r: float(r["high_simultaneous"]))
        return (
            f"{told}; the largest rise that the simultaneous limits shown here leave room for is "
            f"{number(most['high_simultaneous'])} ({formatting.label(most, '->')})."
        )
    fell = sum(r["verdict"] == "fell" for r in rows) if verdict == "rose" else 0
    told = f"Since {since} the risk {verdict} in {len(moved):,} of {len(rows):,} comparisons"
    told += f" and fell in {fell:,}" if fell else ""
    if not shown:
        return f"{told}; its numbers are withheld."
    most = max(shown, key=lambda r: abs(r["difference"]))
    least = most["low_simultaneous"] if verdict == "rose" else -most["high_simultaneous"]
    return (
        f"{told}, most of those shown here in {formatting.label(most, '->')}: from {number(most['before'])} to "
        f"{number(most['now'])}, a change of at least {number(max(0.0, least))}."
    )


def _named(r: Json) -> tuple[Any, ...]:
    return r["attack"], r["variant"], tuple(r["keys"]), r["target"]


def _hidden(sides: Mapping[str, Json | None]) -> bool:
    return any(side is not None and side["hits"] is None for side in sides.values())


def _any_hits(rate: Json | None, shown: Json | None) -> tuple[float, float, int] | None:
    """Return the smallest and largest count that would be shown like this one, and n; None where n is withheld."""
    if rate is None or shown is None or not shown["n"] or (shown["hits"] is None and rate["hits"] is None):
        return None
    n = shown["n"]
    if shown["hits"] is not None:
        low, high = shown["hits"] - BASE / 2, shown["hits"] + BASE / 2
    else:
        few, many = rate["hits"] < FEW, rate["n"] - rate["hits"] < FEW
        low, high = 0.0 if few else n - FEW, n if many else FEW
    return max(0.0, low), min(float(n), high), n


def _envelope(hits: Sequence[tuple[float, float, int]], level: float, own: Limits) -> Limits:
    """Return the limits of risk that hold for all counts between these, and reach as far as its own."""
    (low_a, high_a, n_a), (low_b, high_b, n_b) = hits
    corners = [mover_residual(a, n_a, b, n_b, level) for a in (low_a, high_a) for b in (low_b, high_b)]
    ends = [c for c in corners if not isnan(c.value)]
    if len(ends) < len(corners):
        return None, None
    low, high = min(c.low for c in ends), max(c.high for c in ends)
    low = low if own[0] is None else min(low, own[0])
    high = high if own[1] is None else max(high, own[1])
    return (low if isfinite(low) else None), (high if isfinite(high) else None)


def _whole_people(r: Json) -> bool:
    """Return whether a result counts people, each right or wrong: exact numbers would give the exact counts back."""
    sides = [r[role] for role in ("real", "holdout")]
    counted = all(s and s["n"] and float(s["hits"] or 0).is_integer() for s in sides)
    return bool(counted and r["risk"] and not formatting.of_rows(r) and r["attack"] != "singling_out")


def _of_shown(sides: Mapping[str, Json | None], level: float, decimals: int | None) -> dict[str, float | None]:
    """Return the risk and the leak-free band of the counts that are shown."""
    counts = [(int(s["hits"]), s["n"] - int(s["hits"])) for s in sides.values() if s is not None]
    one, other = (Outcomes(np.array([1.0, 0.0]), count=np.array(c)) for c in counts)
    found = compare(one, other, rng=np.random.default_rng(0), draws=0)
    band = found.leak_free(level)
    shown = (rounded(v, decimals) if isfinite(v) else None for v in (found.risk.value, band.low, band.high))
    return dict(zip(("value", "leak_free_low", "leak_free_high"), shown, strict=True))


def _shown_difference(sides: Mapping[str, Json | None], own: Json) -> dict[str, Any] | None:
    """Return the difference of the rates that are shown, without limits: those of risk say how sure it is."""
    real, holdout = sides["real"], sides["holdout"]
    if real is None or holdout is None or real["rate"] is None or holdout["rate"] is None:
        return None
    out: dict[str, Any] = dict.fromkeys(("low", "high", "low_simultaneous", "high_simultaneous"))
    return {"value": rounded(real["rate"] - holdout["rate"], places((own["low"], own["high"]))), **out}


def _at_most(p: float | None) -> float | None:
    """Return the smallest of 0.001, 0.01, 0.05 and 1 that a p-value is at most: more digits tell exact counts."""
    return None if p is None else next(most for most in (0.001, 0.01, 0.05, 1.0) if p <= most)


def _why(text: str) -> str:
    """Return why a column was read as it was; what a schema file says is not repeated."""
    plain = re.sub(r"\d[\d,.]*(?<![,.])", "#", text)
    if not _WHY.fullmatch(plain):
        return "as the schema file says" if text else ""
    return few_hidden(re.sub(r"(?<!of )(?<!in )\b\d{3,}\b(?! of)", lambda m: str(digits(int(m[0]), 2)), text))


def _value(value: float | None, how: str, n: int) -> float | None:
    """Return a measure of n rows, made coarse; None where it comes down to few of them."""
    if value is None or not how:
        return None
    if how == "share":
        return share(value, n)
    if how == "two":
        return rounded(value, 2)
    if how == "class":  # the size of the smallest class of people
        return count(value, n)
    tail = {"median": 0.5, "tail": 0.05}.get(how, 1.0)
    return digits(value) if tail * n >= 10 else None


def _score(r: Json, risk: Json | None, context: Json) -> float | None:
    """Return the score of the rounded upper limit, downward."""
    high, part = (risk or {}).get("high"), r["context"].get(SHOWN)
    part = 1.0 if part is None else context.get(SHOWN, 1.0)
    if r["score"] is None or high is None or part <= 0:
        return None
    return rounded(min(100 * (1 - min(1.0, max(0.0, high / min(1.0, part)))), r["score"]), 0, "down")


# ---------------------------------------------------------------- the verdict in words


def _verdict_sentence(data: Json, results: Sequence[Json], said: Callable[[str], str]) -> str:
    """Return the verdict of the whole in words, from the results of this edition."""
    verdict = data["verdict"]["verdict"]
    pairs = [(r, e) for r, e in zip(data["results"], results, strict=True) if _judged(r)]
    if verdict == "no holdout" or not pairs:
        return said(data["verdict"]["sentence"])
    n = len(pairs)
    failing = formatting.meaning(data) if verdict == "cannot tell" else ""
    if verdict == "excess found":
        found = [p for p in pairs if p[0]["verdict"] == verdict] or pairs
        r, e = max(found, key=lambda p: _bound(p[0], "low_simultaneous"))
        same = sum(p[0]["attack"] == r["attack"] for p in pairs)
        how = f"{100 * e['risk']['level']:.0f}% simultaneous over the {same} comparison(s) of this attack"
        people = "" if formatting.of_rows(e) else _beside(e)
        low = e["risk"]["low_simultaneous"]
        value = "" if e["risk"]["value"] is None else f"{number(e['risk']['value'])}, "
        least = f"at least {number(low)}" if low is not None and low > 0 else "above 0"
        return f"Excess found: {formatting.label(e, '->')}{people}; risk {value}{least} ({how})."
    if verdict == "none found":
        r, e = max(pairs, key=lambda p: _bound(p[0], "high_simultaneous"))
        keys = "" if any(p[0]["keys"] for p in pairs) else " No key set was tested."
        return (
            f"None of {n} comparisons shows an excess over strangers; the largest simultaneous upper limit of risk is "
            f"{number(e['risk']['high_simultaneous'])} ({formatting.label(e, '->')}).{keys}"
        )
    if failing.startswith(formatting.UNFAIR) or all(p[0]["verdict"] == "none found" for p in pairs):
        return said(data["verdict"]["sentence"])
    still = [p for p in pairs if p[0]["verdict"] != "none found"]
    r, e = max(still, key=lambda p: _bound(p[0], "high_simultaneous"))
    high = e["risk"]["high_simultaneous"]
    up_to = "" if high is None else f", risk up to {number(high)}"
    if r["risk"]["high_simultaneous"] is None:
        up_to = ", whose risk is undefined: strangers are always hit"
    return (
        f"No excess over strangers was found, but {len(still)} of {n} comparisons are too uncertain to exclude one; "
        f"the widest is {formatting.label(e, '->')}{up_to}."
    )


def _judged(r: Json) -> bool:
    reached = all(r[role] and r[role]["n"] != 0 for role in ("real", "holdout"))
    return r["risk"] is not None and r["verdict"] is not None and reached


def _beside(e: Json) -> str:
    rates = [(e[role] or {}).get("rate") for role in ("real", "holdout")]
    if None in rates:
        return ""
    return f", {percent(rates[0])} among members and {percent(rates[1])} among strangers"


def _bound(r: Json, which: str) -> float:
    bound = r["risk"][which]
    return float("-inf") if bound is None else float(bound)
