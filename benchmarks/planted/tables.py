"""The numbers of the page, from the runs that were kept; nothing is run here."""

from __future__ import annotations

import statistics
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from .doses import Threshold, around, wilson
from .runs import RULES, Runs, alarm, null_name
from .world import FIRST_DOSE, WORLDS, World


@dataclass(frozen=True)
class Cell:
    """What a tool said of a world on a base, by one rule."""

    tool: str
    world: World
    base: str
    rule: str
    threshold: Threshold
    failed: int
    """Runs without an answer."""

    @property
    def at_first(self) -> tuple[int, int]:
        """How many tables raised an alarm at a dose of a tenth, and of how many."""
        return self.threshold.alarms.get(FIRST_DOSE, (0, 0))

    @property
    def power(self) -> float:
        k, n = self.at_first
        return k / n if n else float("nan")

    @property
    def dose(self) -> str:
        """The smallest dose that was found, as a cell of a table; "failed" where no run has an answer."""
        asked, found = self.threshold.alarms, self.threshold.dose
        if not asked:
            return ""
        if self.failed >= sum(n for _, n in asked.values()):
            return "failed"
        if found is None:
            return f"> {percent(max(asked))}"
        return percent(found) if len(asked) > 1 else f"≤ {percent(found)}"


def percent(share: float) -> str:
    return f"{100 * share:.3g}%"


class Numbers:
    """All numbers of a folder of runs."""

    def __init__(self, runs: Runs) -> None:
        self.runs = runs
        self.by: dict[tuple[str, str, str], list[dict[str, Any]]] = defaultdict(list)
        for key, row in runs.rows.items():
            self.by[key[:3]].append(row)

    def tools(self) -> list[str]:
        return list(dict.fromkeys(k[0] for k in self.by))

    def worlds(self) -> list[tuple[World, str]]:
        """Return the worlds and bases that were asked of any tool, in the order of the list of worlds."""
        asked = {(k[2], k[1]) for k in self.by}
        return [(w, base) for w in WORLDS.values() for base in w.bases if (w.name, base) in asked]

    def nulls(self, tool: str, world: World, base: str) -> list[dict[str, Any]]:
        return self.by.get((tool, base, null_name(world)), [])

    def has_words(self, tool: str) -> bool:
        rows = [r for k, rows in self.by.items() if k[0] == tool for r in rows]
        return any(m.get("flag") is not None for r in rows for m in (r.get("measures") or {}).values())

    def cell(self, tool: str, world: World, base: str, rule: str) -> Cell:
        rows, nulls = self.by.get((tool, base, world.name), []), self.nulls(tool, world, base)
        said: dict[float, tuple[int, int]] = {}
        failed = 0
        for row in rows:
            alarmed = alarm(row, rule, nulls)
            k, n = said.get(row["dose"], (0, 0))
            said[row["dose"]] = (k + alarmed, n + 1)
            failed += not answered(row)
        if rule == "5%" and len(nulls) < 19:  # too few for a bar at 5%
            said = {}
        below, above = around(said)
        return Cell(tool, world, base, rule, Threshold(above, below, dict(sorted(said.items()))), failed)

    def null_alarms(self, tool: str) -> dict[tuple[str, str], tuple[int, int]]:
        """Return by base and ground how many null worlds raised an alarm by the tool's own words, and of how many."""
        said = {}
        for (name, base, world), rows in self.by.items():
            if name == tool and world.startswith("null: "):
                flags = [any(m.get("flag") for m in r["measures"].values()) for r in rows if r.get("measures")]
                said[base, world.removeprefix("null: ")] = (sum(flags), len(flags))
        return said

    def named(self, tool: str) -> tuple[int, int, int] | None:
        """Return, at a dose of a tenth, how many planted people were named, how many were planted, and how many named.

        None where the tool names nobody.
        """
        rows = [r for (name, _, world), rows in self.by.items() if name == tool for r in rows
                if r["dose"] == FIRST_DOSE and world in WORLDS]  # fmt: skip
        found = [(m["named_planted"], r["planted"], m["named"]) for r in rows
                 for m in (r.get("measures") or {}).values() if "named" in m]  # fmt: skip
        return tuple(map(sum, zip(*found, strict=True))) if found else None  # type: ignore[return-value]

    def cost(self, tool: str) -> tuple[float, int, int, int]:
        """Return the median CPU seconds, the highest memory in MiB, the runs, and those without any answer."""
        rows = [r for k, rows in self.by.items() if k[0] == tool for r in rows]
        cpu = [r["cpu"] for r in rows if r.get("cpu") is not None]
        memory = max((r.get("memory") or 0 for r in rows), default=0)
        return statistics.median(cpu) if cpu else float("nan"), memory, len(rows), sum("error" in r for r in rows)

    def versions(self, tool: str) -> dict[str, str]:
        found: dict[str, str] = {}
        for k, rows in self.by.items():
            for row in rows if k[0] == tool else []:
                found |= row.get("versions") or {}
        return found

    def better_elsewhere(self, than: str = "divulge", margin: float = 0.2) -> list[tuple[Cell, Cell]]:
        """Return the worlds where a tool finds more tables at a tenth than `than` does, by `margin`, by either rule.

        Its share must be above what alarms explain: 5%, or more where its own words raise more on the null worlds.
        """
        found = []
        for world, base in self.worlds():
            for rule in RULES:
                mine = self.cell(than, world, base, rule)
                others = [self.cell(t, world, base, rule) for t in self.tools() if t != than]
                others = [c for c in others if c.at_first[1] and wilson(*c.at_first)[0] > self.alarm_rate(c)]
                best = max(others, key=lambda c: c.power, default=None)
                if best is not None and mine.at_first[1] and best.power >= mine.power + margin:
                    found.append((mine, best))
        return found

    def alarm_rate(self, cell: Cell) -> float:
        """Return the share of null worlds of the ground that raise an alarm by the rule of the cell."""
        if cell.rule == "5%":
            return 0.05
        k, n = self.null_alarms(cell.tool).get((cell.base, null_name(cell.world).removeprefix("null: ")), (0, 0))
        return max(0.05, k / n) if n else 0.05


def answered(row: dict[str, Any]) -> bool:
    return any("score" in m for m in (row.get("measures") or {}).values())
