"""A tool that stays open over many worlds: one line of JSON in, one out. It runs in the tool's own environment.

    ENV/bin/python -P worker.py tools/NAME.py

First it writes `{"ready": true, "versions": {...}}`. A request names a folder with real.parquet, synthetic.parquet and
holdout.parquet, the seed, and what a user would tell a tool: keys, secret, unit, ignored columns. The answer holds the
measures of the adapter, CPU time and peak memory, or an error. `{"documented": true}` asks for the examples of the
tool's own documentation. What a tool prints goes to the standard error.
"""

import doctest
import importlib
import importlib.util
import json
import os
import random
import re
import resource
import sys
import time
import traceback
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def load(path):
    """Return the adapter: a module with NAME, PACKAGES, FRAME and `assess(real, synthetic, holdout, world)`.

    `assess` returns a function for each measure, which returns its score (higher is worse), its flag (None where the
    tool has no words for it) and the people whom it names (None where it names nobody).
    """
    spec = importlib.util.spec_from_file_location(f"adapter_{Path(path).stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def versions(packages):
    told = {"python": ".".join(map(str, sys.version_info[:3]))}
    for package in packages:
        name = re.split(r"[=<>\[]", package)[0]
        try:
            told[name] = version(name)
        except PackageNotFoundError:
            told[name] = "not installed"
    return told


def read(folder, kind):
    if kind == "polars":
        import polars as frames
    else:
        import pandas as frames
    return [frames.read_parquet(os.path.join(folder, f"{part}.parquet")) for part in ("real", "synthetic", "holdout")]


def cpu():
    return sum(resource.getrusage(who).ru_utime + resource.getrusage(who).ru_stime
               for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))  # fmt: skip


def failure(error):
    traceback.print_exc()
    return {"error": f"{type(error).__name__}: {str(error)[:300]}"}


def measured(function):
    """Return what a measure says; one that fails does not take the others with it."""
    try:
        return function()
    except Exception as error:
        return failure(error)


def answer(adapter, world):
    """Return the answer to one request; every failure is an answer."""
    before, began = cpu(), time.perf_counter()
    random.seed(world["seed"])
    try:
        import numpy

        numpy.random.seed(world["seed"])  # noqa: NPY002 # tools draw from the global state
        measures = adapter.assess(*read(world["folder"], adapter.FRAME), world)
        told = {"measures": {name: measured(function) for name, function in measures.items()}}
    except Exception as error:
        told = failure(error)
    told["cpu"] = round(cpu() - before, 3)
    told["seconds"] = round(time.perf_counter() - began, 3)
    told["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return told


def documented(adapter):
    """Return how many examples of the tool's own documentation give what they say, of those that its package ships."""
    said = [doctest.testmod(importlib.import_module(module)) for module in getattr(adapter, "DOCUMENTED", [])]
    return {"right": sum(r.attempted - r.failed for r in said), "examples": sum(r.attempted for r in said)}


def main():
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a tool prints must not look like an answer
    adapter = load(sys.argv[1])
    print(json.dumps({"ready": True, "versions": versions(adapter.PACKAGES)}), file=replies, flush=True)
    for line in sys.stdin:
        world = json.loads(line)
        told = documented(adapter) if world.get("documented") else answer(adapter, world)
        print(json.dumps({"id": world["id"], **told}), file=replies, flush=True)


if __name__ == "__main__":
    main()
