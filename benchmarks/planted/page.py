"""The page and its figures, made from the runs that were kept."""

from __future__ import annotations

import subprocess
from datetime import datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment

from . import environments, figures, worker
from .doses import wilson
from .runs import Runs, null_name
from .tables import Numbers
from .world import FEW_SEEDS, FIRST_DOSE, NULLS, POWER, SEEDS, WORLDS

HERE = Path(__file__).resolve().parent
ABSENT = {
    "riskutility": "an R package (CRAN); no package for Python",
    "synthpop": "an R package (CRAN); no package for Python",
    "Synth-MIA": "code on GitHub, on no package index",
    "TAPAS": "code on GitHub; the package of that name on PyPI is another one",
}
ABSENT_DATE = "29 November 2026"
Rows = list[list[str]]


def write(runs: Runs, path: Path) -> None:
    """Write the page, and the two figures into `pictures/` beside it."""
    numbers = Numbers(runs)
    pictures = path.parent / "pictures"
    pictures.mkdir(parents=True, exist_ok=True)
    (pictures / "planted-doses.svg").write_text(figures.heat_map(numbers, "5%"))
    (pictures / "planted-alarms.svg").write_text(figures.alarms(numbers))
    path.write_text(page(numbers))


def page(numbers: Numbers) -> str:
    """Return the page as Markdown."""
    at = [r["at"] for rows in numbers.by.values() for r in rows if "at" in r]
    days = sorted({datetime.fromisoformat(x.replace("Z", "+00:00")).strftime("%-d %B %Y") for x in at})
    asked = {w.name for w, _ in numbers.worlds()}
    environment = Environment(trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True, autoescape=False)
    return environment.from_string((HERE / "page.md.jinja").read_text()).render(
        worlds=len(WORLDS),
        tools=len(numbers.tools()),
        commit=commit(),
        later=later(),
        days=", ".join(days),
        better=better(numbers),
        nulls=null_table(numbers),
        power=f"{100 * POWER:.0f}%",
        doses=doses(numbers),
        missed=missed(numbers),
        named=named(numbers),
        parts=parts(numbers),
        costs=costs(numbers),
        unasked="; ".join(w for w in WORLDS if w not in asked),
        unrun=", ".join(name for name in environments.adapters() if name not in numbers.tools()),
        absent="\n".join(f"- {name}: {why}." for name, why in ABSENT.items()),
        absent_date=ABSENT_DATE,
        objections=objections(numbers),
        few_seeds=FEW_SEEDS,
        seeds=SEEDS,
        null_worlds=NULLS,
    )


def table(head: list[str], rows: Rows) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}", *(f"| {' | '.join(r)} |" for r in rows)]
    return "\n".join(lines)


def commit() -> str:
    """Return the commit that brought the worlds in."""
    command = ["git", "log", "--diff-filter=A", "--format=%H", "--", "whole.py"]
    said = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False).stdout.split()
    return said[-1][:7] if said else "unknown"


def later() -> str:
    """Return the worlds that were added when divulge could find them already, by the day of their commit."""
    days: dict[str, list[str]] = {}
    for world in WORLDS.values():
        if world.added:
            days.setdefault(world.added, []).append(world.name)
    said = "; {} more ({}) on {}, before any tool was run on these"
    return "".join(said.format(len(names), ", ".join(names), day) for day, names in days.items())


def better(numbers: Numbers) -> str:
    pairs = numbers.better_elsewhere()
    lead = "finds at least a fifth more of the tables at a dose of a tenth, and more than its alarms explain"
    if not pairs:
        return f"In none of the worlds that were run another tool {lead}."
    rules = {"own": "by own words", "5%": "at 5% alarms"}
    rows = [
        [b.world.name, b.world.words, b.tool, rules[b.rule], share(*b.at_first), share(*m.at_first)] for m, b in pairs
    ]
    return f"Worlds where another tool {lead}:\n\n" + table(
        ["world", "planted", "tool", "alarm", "finds", "divulge finds"], rows
    )


def share(k: int, n: int) -> str:
    if not n:
        return ""
    low, high = wilson(k, n)
    return f"{k} of {n} ({100 * low:.0f} to {100 * high:.0f}%)"


def null_table(numbers: Numbers) -> str:
    rows = []
    for tool in numbers.tools():
        if not numbers.has_words(tool):
            rows.append([tool, "has no words for an alarm", "", ""])
            continue
        said = numbers.null_alarms(tool)
        k, n = sum(a for a, _ in said.values()), sum(b for _, b in said.values())
        (base, ground), worst = max(said.items(), key=lambda x: (x[1][0] / max(x[1][1], 1), x[1][1]))
        rows.append([tool, share(k, n), f"{base}, {ground}", share(*worst)])
    return table(["tool", "alarms", "most on", "there"], rows)


def doses(numbers: Numbers) -> str:
    tools = numbers.tools()
    rows = []
    for world, base in numbers.worlds():
        cells = []
        for tool in tools:
            own, level = (numbers.cell(tool, world, base, rule) for rule in ("own", "5%"))
            said = [own.dose if numbers.has_words(tool) else "–", level.dose or "–"]
            asked = own.threshold.alarms or level.threshold.alarms
            cells.append("failed" if "failed" in (own.dose, level.dose) else " / ".join(said) if asked else "")
        rows.append([world.name if base == world.bases[0] else f"{world.name} ({base})", *cells])
    return table(["world", *tools], rows)


def missed(numbers: Numbers) -> str:
    rows = []
    for world, base in numbers.worlds():
        cell = numbers.cell("divulge", world, base, "own")
        k, n = cell.at_first
        if n and k < POWER * n:
            rows.append([world.name, world.words, share(k, n)])
    if not rows:
        return "None of those that were asked."
    return table(["world", "what is planted", "verdict of the run"], rows)


def named(numbers: Numbers) -> str:
    rows = []
    for tool in numbers.tools():
        said = numbers.named(tool)
        if said is None:
            rows.append([tool, "names nobody", ""])
        else:
            right, planted, all_named = said
            rows.append([tool, f"{right:,} of {planted:,}", f"{right:,} of {all_named:,}"])
    return table(["tool", "planted people named", "named people planted"], rows)


def parts(numbers: Numbers) -> str:
    """Return what each part of divulge finds in the first table of each world."""
    details = {}
    for world, base in numbers.worlds():
        for row in numbers.by.get(("divulge", base, world.name), []):
            detail = ((row.get("measures") or {}).get("verdict") or {}).get("detail")
            if detail and row["dose"] == FIRST_DOSE and (world.name, base) not in details:
                details[world.name, base] = detail
    nulls = [r for w, base in numbers.worlds() for r in numbers.by.get(("divulge", base, null_name(w)), [])]
    clean = next((d for r in nulls if (d := ((r.get("measures") or {}).get("verdict") or {}).get("detail"))), None)
    if not details:
        return ""
    listed = ([("nothing", clean)] if clean else []) + [(name, d) for (name, _), d in details.items()]
    columns = list(dict.fromkeys(p for _, d in listed for p in d["parts"]))
    rows = [[name, d["verdict"], *(str(d["parts"].get(c, "")) for c in columns), facts(d)] for name, d in listed]
    return table(["planted", "verdict of the run", *columns, "facts and checks"], rows)


def facts(detail: dict[str, Any]) -> str:
    counts = detail["facts"]
    said = f"{counts['members']} members and {counts['strangers']} strangers verbatim, {counts['named']} named"
    return said + (f"; fails: {', '.join(detail['failing'])}" if detail["failing"] else "")


def costs(numbers: Numbers) -> str:
    rows = []
    for tool in numbers.tools():
        cpu, memory, n, failed = numbers.cost(tool)
        planted = {k[2] for k in numbers.by if k[0] == tool and k[2] in WORLDS}
        seeds = [len({r["seed"] for r in rows if r["dose"] == FIRST_DOSE}) for k, rows in numbers.by.items()
                 if k[0] == tool and k[2] in planted]  # fmt: skip
        own = numbers.runs.documented().get(tool, {})
        examples = f"{own['right']} of {own['examples']}" if own.get("examples") else "none" if own else ""
        versions = ", ".join(f"{k} {v}" for k, v in numbers.versions(tool).items())
        told = f"{min(seeds)} to {max(seeds)}" if seeds and min(seeds) < max(seeds) else f"{max(seeds, default=0)}"
        rows.append(
            [
                tool,
                versions,
                f"{len(planted)} of {len(WORLDS)}",
                told,
                f"{n}",
                f"{failed}",
                examples,
                f"{cpu:.1f}",
                f"{memory}",
            ]
        )
    heads = [
        "tool",
        "versions",
        "worlds",
        "seeds at a tenth",
        "runs",
        "failed",
        "own examples",
        "CPU s (median)",
        "memory, MiB",
    ]
    return table(heads, rows)


def objections(numbers: Numbers) -> str:
    said = []
    for name, path in environments.adapters().items():
        if name in numbers.tools():
            documentation = worker.load(path).__doc__ or ""
            paragraphs = [" ".join(p.split()) for p in documentation.strip().split("\n\n")]
            said.append("**" + paragraphs[0].replace(": ", ":** ", 1) + " " + " ".join(paragraphs[1:]))
    return "\n\n".join(said)
