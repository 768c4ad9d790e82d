"""The runs: each tool on each world, dose and seed, kept as JSON lines so that a next call goes on with them."""

from __future__ import annotations

import json
import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from .doses import Threshold, bar, smallest_dose
from .tool import Tool
from .world import FEW_SEEDS, FIRST_DOSE, NULLS, SEEDS, WORLDS, World, make

SLOW = 60.0
"""CPU seconds that a tool may take for all seeds of a world at one dose; one that takes more gets few seeds."""
NULL_SEED = 1000
"""Null worlds have other seeds than planted ones."""
RULES = ("own", "5%")
"""An alarm by the tool's own words, and by its score at 5% alarms on null worlds."""

Key = tuple[str, str, str, float, int]


@dataclass
class Runs:
    """The runs of a folder, by tool, base, world (or ground, at dose 0), dose and seed."""

    folder: Path
    rows: dict[Key, dict[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        if self.parquet.exists():
            self._read_parquet()
        if self.file.exists():  # runs that are not in the other file yet, or were made again
            for line in self.file.read_text().splitlines():
                if line.endswith("}"):  # the last line of a run that was stopped may be half
                    row = json.loads(line)
                    self.rows[self.key(row)] = row

    def _read_parquet(self) -> None:
        """Take the runs from the file that is passed on, which has a row for each measure of each run."""
        for row in pl.read_parquet(self.parquet).iter_rows(named=True):
            measure, error = row.pop("measure"), row.pop("error")
            said = {k: row.pop(k, None) for k in ("score", "flag", "detail", "named", "named_planted")}
            run = self.rows.setdefault(self.key(row), row | {"versions": json.loads(row["versions"])})
            if measure:
                given = {k: json.loads(v) if k == "detail" else v for k, v in said.items() if v is not None}
                run.setdefault("measures", {})[measure] = {"flag": None} | given | ({"error": error} if error else {})
            elif error:
                run["error"] = error

    @property
    def file(self) -> Path:
        return self.folder / "runs.jsonl"

    @property
    def parquet(self) -> Path:
        return self.folder / "runs.parquet"

    def documented(self) -> dict[str, dict[str, int]]:
        """Return for each tool how many examples of its documentation were tried, and how many were right."""
        file = self.folder / "documented.json"
        return json.loads(file.read_text()) if file.exists() else {}

    def keep_documented(self, tool: str, said: dict[str, Any]) -> None:
        kept = self.documented() | {tool: {k: said[k] for k in ("right", "examples")}}
        (self.folder / "documented.json").write_text(json.dumps(kept, indent=1) + "\n")

    @staticmethod
    def key(row: dict[str, Any]) -> Key:
        return row["tool"], row["base"], row["world"], row["dose"], row["seed"]

    def add(self, row: dict[str, Any]) -> None:
        self.rows[self.key(row)] = row
        with self.file.open("a") as file:
            file.write(json.dumps(row) + "\n")

    def of(self, tool: str, base: str, world: str) -> list[dict[str, Any]]:
        return [r for k, r in self.rows.items() if k[:3] == (tool, base, world)]

    def seconds(self, tool: str) -> list[float]:
        """Return the CPU seconds of each run of a tool that did not fail, and was made on the machine of the page."""
        return [r["cpu"] for k, r in self.rows.items() if k[0] == tool and r.get("cpu") is not None]

    def to_parquet(self) -> Path:
        """Write one row for each measure of each run, and return the file."""
        rows = []
        for row in self.rows.values():
            rest = {k: v for k, v in row.items() if k not in ("measures", "versions")}
            rest["versions"] = json.dumps(row.get("versions", {}))
            for measure, said in (row.get("measures") or {"": {}}).items():
                error = row.get("error") or said.get("error")
                said = {k: v if k != "detail" else json.dumps(v) for k, v in said.items()}
                rows.append(rest | said | {"measure": measure, "error": error})
        pl.DataFrame(rows, infer_schema_length=None).write_parquet(self.parquet)
        return self.parquet


SHORT = (
    "verbatim",
    "one column changed",
    "four columns and a secret",
    "certain cells",
    "shares",
    "blurred rows",
    "kernel",
    "moved together",
    "synonyms",
    "texts",
    "identifiers as MD5",
    "digits",
    "whole histories",
)
"""Worlds of the short form: five grounds, so that the null worlds are few."""


FEWEST_NULLS = 19
"""Null worlds below which no alarm at 5% is told."""


def is_slow(seconds: float) -> bool:
    """Return whether a tool that takes so long for one run gets few seeds, and in the short form fewer worlds."""
    return seconds * SEEDS > SLOW


def null_name(world: World) -> str:
    return f"null: {world.ground or 'as it is'}"


@dataclass
class Bench:
    """A tool on worlds of one base: asks the tool what is not there yet, and counts."""

    name: str
    tool: Tool
    runs: Runs
    tables: Path
    nulls: int = NULLS
    seeds: int = SEEDS
    on_run: Callable[[dict[str, Any]], None] = lambda row: None
    again: bool = False
    """Whether runs that failed are made again, once in a call."""
    tried: set[Key] = field(default_factory=set)

    def run(self, world: World, base: str, dose: float, seed: int) -> dict[str, Any]:
        """Return one run; at dose 0 the seed is that of a null world, which all worlds of the ground share."""
        name = world.name if dose else null_name(world)
        key = (self.name, base, name, dose, seed)
        known = self.runs.rows.get(key)
        if known is None or (self.again and "error" in known and key not in self.tried):
            self.tried.add(key)
            tables = make(world, self.tables, dose, seed + (0 if dose else NULL_SEED), base)
            said = self.tool.ask(tables, seed)
            for measure in (said.get("measures") or {}).values():
                people = measure.pop("people", None)
                if people is not None:
                    measure |= {"named": len(people), "named_planted": len({*people} & {*tables.planted})}
            row = dict(zip(("tool", "base", "world", "dose", "seed"), key, strict=True))
            row |= {"planted": len(tables.planted), **{k: v for k, v in said.items() if k != "id"}}
            row |= {"versions": self.tool.versions, "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
            self.runs.add(row)
            self.on_run(row)
        return self.runs.rows[key]

    def null_runs(self, world: World, base: str) -> list[dict[str, Any]]:
        return [self.run(world, base, 0.0, seed) for seed in range(self.nulls)]

    def planted_runs(self, world: World, base: str, dose: float, n: int) -> list[dict[str, Any]]:
        return [self.run(world, base, dose, seed) for seed in range(min(n, self.seeds))]

    def alarms(self, world: World, base: str, rule: str) -> Callable[[float, int], list[bool]]:
        """Return a function that asks the tool at a dose, and says in which runs it raised an alarm."""
        nulls = self.null_runs(world, base)
        return lambda dose, n: [alarm(r, rule, nulls) for r in self.planted_runs(world, base, dose, n)]

    def rules(self, world: World, base: str) -> list[str]:
        """Return the rules by which an alarm can be raised: a tool may lack words, null worlds be too few."""
        nulls = self.null_runs(world, base)
        words = any(m.get("flag") is not None for r in nulls for m in (r.get("measures") or {}).values())
        return ["own"] * words + ["5%"] * (len(nulls) >= FEWEST_NULLS)

    def threshold(self, world: World, base: str, rule: str) -> Threshold:
        highest = min(world.highest, 1.0)
        few = min(FEW_SEEDS, self.seeds)
        return smallest_dose(self.alarms(world, base, rule), highest=highest, few=few, seeds=self.seeds)

    def first_dose(self, world: World, base: str) -> list[str]:
        """Ask the null worlds and the first dose alone: the short form; return how many alarms were raised."""
        nulls = self.null_runs(world, base)
        planted = self.planted_runs(world, base, min(FIRST_DOSE, world.highest), self.seeds)
        told = {rule: [sum(alarm(r, rule, nulls) for r in runs) for runs in (planted, nulls)] for rule in RULES}
        return [
            f"{rule} {told[rule][0]} of {len(planted)}"
            + (f", {told[rule][1]} of {len(nulls)} null worlds" if rule == "own" else "")
            for rule in self.rules(world, base)
        ]

    def failures(self, world: World, base: str) -> list[str]:
        """Return what is said of the runs of a world, null worlds too, that failed."""
        names = (world.name, null_name(world))
        return [
            r["error"]
            for (t, b, w, *_), r in self.runs.rows.items()
            if (t, b) == (self.name, base) and w in names and "error" in r
        ]


def alarm(row: dict[str, Any], rule: str, nulls: list[dict[str, Any]]) -> bool:
    """Return whether a tool raised an alarm, by all its measures together; a run that failed raised none."""
    if rule == "own":
        return any(bool(m.get("flag")) for m in (row.get("measures") or {}).values())
    mine, *others = joint_scores([row, *nulls])
    return bool(others) and mine > bar(others)


def joint_scores(rows: list[dict[str, Any]]) -> list[float]:
    """Return one score of a tool for each row: the highest standard score of its measures among these rows.

    A planted world and its null worlds are standardised together: where nothing is planted, each is highest with the
    same chance.
    """
    best = [-math.inf] * len(rows)
    for m in dict.fromkeys(m for r in rows for m in r.get("measures") or {}):
        values = [score(r, m) for r in rows]
        scores = [v for v in values if v is not None]
        spread = statistics.pstdev(scores) if len(scores) > 1 else 0.0
        if spread:
            middle = statistics.fmean(scores)
            best = [b if v is None else max(b, (v - middle) / spread) for b, v in zip(best, values, strict=True)]
    return best


def score(row: dict[str, Any], measure: str) -> float | None:
    value = ((row.get("measures") or {}).get(measure) or {}).get("score")
    return None if value is None or value != value else float(value)


def chosen_worlds(names: str, base: str) -> list[World]:
    """Return the worlds of a list separated by commas, `all`, or `short`, that go with the base."""
    if names == "all":
        worlds = list(WORLDS.values())
    elif names == "short":
        worlds = [WORLDS[n] for n in SHORT]
    else:
        wanted = [n.strip() for n in names.split(";" if ";" in names else ",")]
        unknown = [n for n in wanted if n not in WORLDS]
        if unknown:
            raise SystemExit(f"no world {', '.join(unknown)}; there are: {'; '.join(WORLDS)}")
        worlds = [WORLDS[n] for n in wanted]
    return [w for w in worlds if not base or base in w.bases]
