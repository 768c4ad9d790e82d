"""Which evaluator finds which planted disclosure, at which dose, and how often is there an alarm without one.

    python benchmarks/planted --tools divulge,anonymeter --worlds "verbatim;texts" --results DIR --cache DIR
    python benchmarks/planted --short --results DIR            13 worlds at a dose of 10%, and null worlds; five seeds
    python benchmarks/planted --list                           worlds and tools
    python benchmarks/planted --results DIR --page docs/planted.md     the page and its figures from the results

The first call makes an environment for each tool and the base tables in the folder of the cache. A call says its
budget before it starts, tells its progress, and goes on where one before it stopped.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from planted import doses, environments, runs, tool, worker, world
from planted.worlds import WORLDS

USUAL_CACHE = Path.home() / ".cache" / "divulge-planted"
ASKS = 55
FEW_ASKS = 30
"""Runs that a world takes at the usual and at few seeds, where all measures need the same doses."""


def listing() -> None:
    for w in WORLDS.values():
        print(
            f"{w.name:34} {'/'.join(w.bases):15} {w.words} [{w.source}]"
            + (f"; home of {', '.join(w.home)}" if w.home else "")
        )
    for name, path in environments.adapters().items():
        adapter = worker.load(path)
        print(f"{name:34} {' '.join(adapter.PACKAGES) or 'this repository'}: {', '.join(adapter.MEASURES.values())}")


def budget(names: list[str], worlds: list[world.World], options: argparse.Namespace, kept: runs.Runs) -> float:
    """Print what the call may cost, tool by tool, and return the CPU minutes."""
    total = 0.0
    for name in names:
        measured = kept.seconds(name)[-20:]
        usual = worker.load(environments.adapters()[name]).SECONDS
        each = sum(measured) / len(measured) if measured else usual
        mine = asked_worlds(worlds, usual, options)
        grounds = {(options.base or w.bases[0], w.ground) for w in mine}
        asks = options.seeds if options.short else FEW_ASKS if runs.is_slow(usual) else ASKS
        n = len(grounds) * options.nulls + len(mine) * asks
        there = sum(1 for k in kept.rows if k[0] == name)
        minutes = max(0, n - there) * each / 60
        total += minutes
        print(f"{name:28} about {n} runs of {each:.1f} CPU s, {there} kept: {minutes:.0f} CPU minutes", flush=True)
    print(f"in all {total:.0f} CPU minutes", flush=True)
    return total


def asked_worlds(worlds: list[world.World], seconds: float, options: argparse.Namespace) -> list[world.World]:
    """Return the worlds that a tool is asked: in the usual short form a slow one gets those of the plain base."""
    if not options.short or options.worlds or not runs.is_slow(seconds):
        return worlds
    return [w for w in worlds if not w.ground and w.bases[0] == "visits"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", default="all", help="names separated by commas")
    parser.add_argument("--worlds", default="", help="names separated by semicolons or commas, all, or short")
    parser.add_argument(
        "--base", default="", choices=["", "visits", "assays", "claims"], help="not each world's usual one"
    )
    parser.add_argument("--results", type=Path, default=Path("planted-results"))
    parser.add_argument("--cache", type=Path, default=USUAL_CACHE, help="environments and base tables")
    parser.add_argument("--short", action="store_true", help="only a dose of 10%% and null worlds")
    parser.add_argument("--again", action="store_true", help="make runs that failed again")
    parser.add_argument("--seeds", type=int, default=0, help=f"usually {world.SEEDS}, short {world.FEW_SEEDS}")
    parser.add_argument("--nulls", type=int, default=0, help=f"null worlds of each ground; usually {world.NULLS}")
    parser.add_argument("--seconds", type=float, default=600, help="limit of one run, wall clock")
    parser.add_argument("--memory", type=int, default=8000, help="limit of a tool, MiB")
    parser.add_argument("--minutes", type=float, default=0, help="stop before the next world after so many minutes")
    parser.add_argument("--budget", action="store_true", help="say what it would cost, and stop")
    parser.add_argument("--documented", action="store_true", help="only try the examples of the tools' documentation")
    parser.add_argument("--list", action="store_true", help="list worlds and tools")
    parser.add_argument("--page", type=Path, help="write the page and its figures from the results, and run nothing")
    options = parser.parse_args()
    options.seeds = options.seeds or (world.FEW_SEEDS if options.short else world.SEEDS)
    options.nulls = options.nulls or world.NULLS
    if options.list:
        return listing()
    kept, options.cache = runs.Runs(options.results), options.cache.resolve()
    if options.page:
        from planted import page

        if not kept.rows:
            raise SystemExit(
                f"{options.results}: no runs there, and a page without any says nothing. Name --results DIR."
            )
        return page.write(kept, options.page)
    adapters = environments.adapters()
    names = list(adapters) if options.tools == "all" else options.tools.split(",")
    unknown = [n for n in names if n not in adapters]
    if unknown:
        raise SystemExit(f"no tool {', '.join(unknown)}; there are: {', '.join(adapters)}")
    worlds = runs.chosen_worlds(options.worlds or ("short" if options.short else "all"), options.base)
    if not options.documented:
        budget(names, worlds, options, kept)
    if options.budget:
        return None
    tables, began = environments.base_tables(options.cache), time.monotonic()
    for name in names:
        adapter = worker.load(adapters[name])
        command, variables = environments.command_of(adapters[name], adapter, options.cache)
        asked = tool.Tool(command, variables, seconds=options.seconds, memory=options.memory)
        seeds = min(options.seeds, world.FEW_SEEDS) if runs.is_slow(adapter.SECONDS) else options.seeds
        bench = runs.Bench(name, asked, kept, tables, options.nulls, seeds, again=options.again)
        if options.documented:
            said = asked.documented()
            print(f"{name}: {said}", flush=True)
            if "examples" in said:
                kept.keep_documented(name, said)
            asked.close()
            continue
        mine = asked_worlds(worlds, adapter.SECONDS, options)
        for number, w in enumerate(mine, 1):
            if options.minutes and time.monotonic() - began > 60 * options.minutes:
                break
            base = options.base or w.bases[0]
            if options.short:
                told = bench.first_dose(w, base)
            else:
                told = [line(rule, bench.threshold(w, base, rule)) for rule in bench.rules(w, base)]
            if failed := bench.failures(w, base):
                told.append(f"{len(failed)} runs failed ({failed[0][:200]}); --again makes them anew")
            print(f"{name}: {number} of {len(mine)}, {w.name} in {base}: {'; '.join(told)}", flush=True)
        asked.close()
    print(f"results: {kept.to_parquet()}")
    return None


def line(rule: str, found: doses.Threshold) -> str:
    return f"{rule} " + ("not found" if found.dose is None else f"{100 * found.dose:.3g}%")


if __name__ == "__main__":
    main()
