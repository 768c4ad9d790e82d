"""Calls divulge with a triple, and says what it came to: a result, one sentence, or a fault."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import math
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
from triples import CANARY, CANARY_NUMBER, COMMANDS, File, Triple, triple

import divulge
from divulge.attacks.catalogue import CATALOGUE
from divulge.core.errors import MOST, DivulgeError
from divulge.report.report import Report
from divulge.report.schema import fault

SECONDS = 60
BYTES = 2 * 2**30
_SLACK = 1e-9


class Fault(Exception):
    """What must not happen."""


class _TooLong(BaseException):
    """The alarm: no exception handler of divulge may take it for an error of an attack."""


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What a triple came to."""

    kind: str
    """"result", "sentence" or "fault"."""
    why: str = ""
    trace: str = ""


def timed(seed: int) -> tuple[int, str, str, str, str, float, int]:
    """Return the seed, its triple in words, its outcome, the seconds it took and the memory so far."""
    started = time.perf_counter()
    given = triple(seed)
    outcome = judged(given)
    told = str(given).encode("ascii", "backslashreplace").decode()
    return seed, told, outcome.kind, outcome.why, outcome.trace, time.perf_counter() - started, peak()


def judged(given: Triple) -> Outcome:
    """Return what a triple came to; nothing is raised."""
    try:
        with _alarm(SECONDS), warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            outcome = _called(given)
        noise = [w for w in told if not issubclass(w.category, DeprecationWarning | ResourceWarning)]
        if noise:
            raise Fault(f"a warning: {noise[0].category.__name__} in {Path(noise[0].filename).name}:{noise[0].lineno}")
        if peak() > BYTES:
            raise Fault(f"memory: {peak() / 2**30:.1f} GiB")
    except DivulgeError as error:
        return Outcome("sentence", _sentence(str(error)))
    except _TooLong:
        return Outcome("fault", f"no end within {SECONDS} s", traceback.format_exc())
    except Fault as error:
        return Outcome("fault", str(error), traceback.format_exc())
    except BaseException as error:  # the traceback of polars' panics, too
        at = traceback.extract_tb(error.__traceback__)[-1]
        return Outcome(
            "fault", f"{type(error).__name__} in {Path(at.filename).name}:{at.lineno}", traceback.format_exc()
        )
    return outcome


def peak() -> int:
    """Return the bytes of memory that this process has had at most."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


@contextlib.contextmanager
def _alarm(seconds: int) -> Iterator[None]:
    def ring(*_: Any) -> None:
        raise _TooLong

    before = signal.signal(signal.SIGALRM, ring)
    left, _ = signal.setitimer(signal.ITIMER_REAL, seconds)  # pytest-timeout has set one
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, left)
        signal.signal(signal.SIGALRM, before)


def _called(given: Triple) -> Outcome:
    way = given.way
    with tempfile.TemporaryDirectory() as folder:
        try:
            if way == "assess":
                return _assessed(given, Path(folder))
            if way == "attack":
                return _attacked(given, Path(folder))
            if way == "facts":
                return _told_of_one_table(given, Path(folder))
            return _commanded(given, Path(folder))
        except DivulgeError as error:
            return Outcome("sentence", _sentence(str(error)))


def _sentence(text: str) -> str:
    """Return a message, or raise a `Fault` where it is not one short sentence with a hint and without a value."""
    if "hint: " not in text:
        raise Fault(f"no hint: {text[:120]!r}")
    if len(text) > MOST or "\n" in text.strip():
        raise Fault(f"not one short sentence ({len(text)} characters): {text[:120]!r}")
    _no_canary(text, "an error")
    return text


def _no_canary(text: str, where: str) -> None:
    if CANARY in text or str(CANARY_NUMBER) in text:
        raise Fault(f"a value in {where}")


# ---------------------------------------------------------------- Python


def _tables(given: Triple, folder: Path) -> list[Any]:
    """Return the tables as they are passed; files are read."""
    missing = given.settings["missing"]
    out = []
    for role, table in zip(("real", "synthetic", "holdout"), (given.real, given.synthetic, given.holdout), strict=True):
        out.append(
            divulge.read(_file(table, folder, role), role=role, missing=missing) if isinstance(table, File) else table
        )
    return out


def _file(table: File, folder: Path, role: str) -> Path:
    path = folder / f"{role}{table.suffix}"
    path.write_bytes(table.content)
    return path


def _assessed(given: Triple, folder: Path) -> Outcome:
    real, synthetic, holdout = _tables(given, folder)
    report = divulge.assess(real, synthetic, holdout=holdout, **given.settings)
    check_report(report, revealed=bool(given.settings["reveal"]), all_documents=given.seed % 4 == 0)
    return Outcome("result", report.verdict)


def _attacked(given: Triple, folder: Path) -> Outcome:
    """Call one attack by itself, with the settings that it has."""
    r = random.Random(given.seed)
    tables = _tables(given, folder)
    entry = CATALOGUE[r.choice(sorted(CATALOGUE))]
    import inspect

    s = given.settings
    names = [str(n) for n in given.names]
    keys = s["keys"] if s["keys"] is not None else names[:2]
    target = s["targets"][0] if isinstance(s["targets"], list) and s["targets"] else names[-1]
    offered = {
        "keys": keys,
        "target": target,
        "targets": s["targets"],
        "columns": s["keys"],
        "subgroups": s["subgroups"],
    }
    own = inspect.signature(entry.run).parameters
    settings = {
        n: v for n, v in offered.items() if n in own and (v is not None or own[n].default is inspect.Parameter.empty)
    }
    shared = {n: s[n] for n in ("unit", "ignore", "missing", "seed", "level")}
    call = getattr(divulge, entry.name, None)
    if call is None:
        from divulge.case.case import build_case

        found = entry.run(build_case(*tables, **shared), **settings)
    else:
        found = call(*tables[:2], holdout=tables[2], **settings, **shared)
    for result in found if isinstance(found, tuple) else (found,):
        _check_result(result.to_dict())
        _no_canary(f"{result} {result!r} {result._repr_html_()} {result.notes}", "a result")
    return Outcome("result", "attack")


def _told_of_one_table(given: Triple, folder: Path) -> Outcome:
    table = next(t for t in _tables(given, folder) if t is not None)
    schema = divulge.infer_schema(table, missing=given.settings["missing"])
    again = divulge.schema_from_toml(schema.to_toml())
    if [(c.name, c.kind) for c in again.columns] != [(c.name, c.kind) for c in schema.columns]:
        raise Fault("the schema changes on its way through TOML")
    _no_canary(schema.to_toml(), "a schema")
    return Outcome("result", "schema")


# ---------------------------------------------------------------- the command line


def _commanded(given: Triple, folder: Path) -> Outcome:
    """Run the command line in this process, on files."""
    r = random.Random(given.seed)
    paths = [_written(t, folder, role) for role, t in (("real", given.real), ("synthetic", given.synthetic))]
    holdout = None if given.holdout is None else _written(given.holdout, folder, "holdout")
    code, out, err = _run(_words(given, r, paths, holdout, folder))
    for text, where in ((out, "standard output"), (err, "standard error")):
        _no_canary(text, where)
        if "Traceback" in text:
            raise Fault(f"a traceback on {where}: {text.strip().splitlines()[-1][:100]}")
    if code == 2:
        told = err.strip().splitlines()
        message = next((line for line in told[::-1] if not line.startswith("divulge: reading")), "")
        if message.startswith("divulge: "):
            return Outcome("sentence", _sentence(message.removeprefix("divulge: ")))
        if not message.startswith("Error: ") or len(message) > MOST + 10:
            raise Fault(f"exit status 2 with {message[:100]!r}")
        return Outcome("sentence", message)
    if code not in (0, 1):
        raise Fault(f"exit status {code}: {err.strip().splitlines()[-1:]}")
    for path in (folder / "out").rglob("*"):
        if path.is_file() and given.way != "split":
            _no_canary(path.read_text(encoding="latin-1"), path.name)
    if (folder / "out/assessment.json").exists():
        check_report(Report.from_json(folder / "out/assessment.json"), revealed=False, all_documents=False)
        if given.way == "render":
            return _rendered_again(folder / "out", r)
    return Outcome("result", given.way)


def _written(table: Any, folder: Path, role: str) -> Path:
    """Return the path of a table; a table that no file can hold is an empty file."""
    if isinstance(table, File):
        return _file(table, folder, role)
    path = folder / f"{role}.parquet"
    try:
        from divulge.tables.frames import collect, table_of

        whole = collect(table_of(table, role))
        assert whole.frame is not None
        whole.frame.rename(dict(zip(whole.frame.columns, whole.columns, strict=True))).write_parquet(path)
    except Exception:  # what divulge says of such tables is the question of the other ways
        path.write_bytes(b"")
    return path


def _listed(names: Any) -> str:
    import csv

    out = io.StringIO()
    csv.writer(out).writerow([str(n) for n in names] if isinstance(names, list | tuple) else [names])
    return out.getvalue().rstrip("\r\n")


def _words(given: Triple, r: random.Random, paths: list[Path], holdout: Path | None, folder: Path) -> list[str]:
    s, out = given.settings, folder / "out"
    if given.way in COMMANDS:
        return _words_without_a_report(given, r, paths, holdout, out)
    words: list[Any] = []
    for name in ("keys", "targets", "ignore", "missing"):
        if s[name] not in (None, ()) and not (given.way in ("schema", "split") and name in ("keys", "targets")):
            words += [f"--{name}", _listed(s[name])]
    words += ["--unit", s["unit"]] if s["unit"] is not None else []
    if given.way == "schema":
        return ["schema", str(paths[0]), *map(str, words)]
    words += ["--seed", s["seed"], "--out", out]
    if given.way == "split":
        words = [w for i, w in enumerate(words) if w != "--ignore" and (not i or words[i - 1] != "--ignore")]
        return [
            "split",
            str(paths[0]),
            *map(str, words),
            *r.choice([[], ["--together"], ["--holdout", "0.9"], ["--format", "csv"]]),
        ]
    words += ["--holdout", holdout] if holdout else []
    words += ["--level", s["level"], "--acceptable", s["acceptable"], "--jobs", s["jobs"]]
    if given.way == "compare":
        return ["compare", str(paths[0]), str(paths[1]), f"again={paths[1]}", *map(str, words)]
    words += ["--search", s["search"]] if s["search"] else []
    words += ["--models" if s["models"] else "--no-models"]
    words += ["--edition", "external"] if r.random() < 0.3 else []
    words += r.choice(
        [
            [],
            [],
            [],
            ["--fail-on", "any.low > 0"],
            ["--fail-on", "x" * 900],
            ["--nope" * 200],
            ["--junit", folder / "j.xml"],
        ]
    )
    return ["assess", *map(str, (*paths, *words))]


def _words_without_a_report(
    given: Triple, r: random.Random, paths: list[Path], holdout: Path | None, out: Path
) -> list[str]:
    """Return a command that compares tables and writes no report of an assessment."""
    s, way = given.settings, given.way
    words: list[Any] = [way, *paths]
    if way == "changes":
        words += [holdout or paths[0], paths[1], "--unit", s["unit"] or given.names[0]]
    elif way not in ("quality", "diagnose"):
        words += ["--holdout", holdout] if holdout else []
    words += ["--missing", _listed(s["missing"])] if s["missing"] != () else []
    if way in ("fidelity", "plan"):
        words += ["--ignore", _listed(s["ignore"])] if s["ignore"] != () else []
        words += ["--unit", s["unit"]] if s["unit"] is not None else []
    if way == "plan":
        words += ["--keys", _listed(s["keys"])] if s["keys"] is not None else []
    if way in ("fidelity", "membership", "plan", "changes"):
        words += ["--seed", s["seed"], "--level", s["level"]]
    out.mkdir()
    return [*map(str, words), *r.choice([[], ["--json", str(out / "found.json")]])]


def _run(words: list[str]) -> tuple[int, str, str]:
    """Return exit status, standard output and standard error of a command."""
    from divulge import cli

    out, err, before = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO(), sys.argv
    sys.argv = ["divulge", *words]
    code: Any = 0
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            cli.main()
    except SystemExit as stopped:
        code = stopped.code or 0
    finally:
        sys.argv = before
    out.flush()
    return code, out.buffer.getvalue().decode(), err.getvalue()  # type: ignore[attr-defined]


def _rendered_again(folder: Path, r: random.Random) -> Outcome:
    """Change a report that was written, and render it."""
    path = folder / r.choice(["assessment.json", "records.parquet"])
    if not path.exists():
        return Outcome("result", "render")
    if path.suffix == ".json":
        data = json.loads(path.read_text())
        _spoil(data, r)
        path.write_text(json.dumps(data))
    elif r.random() < 0.3:
        content = path.read_bytes()
        at = r.randrange(len(content))
        path.write_bytes(content[:at] + bytes([r.randrange(256)]) + content[at + 1 :])
    else:
        frame = pl.read_parquet(path)
        odd = r.choice(["x", 1.5, None, [1], -(2**62), float("inf"), b"x", {"a": 1}])
        frame.with_columns(pl.Series(r.choice([*frame.columns, "more"]), [odd] * len(frame))).write_parquet(path)
    code, _, err = _run(["render", str(folder / "assessment.json"), "--out", str(folder.parent / "again")])
    if code == 2:
        return Outcome("sentence", _sentence(err.strip().removeprefix("divulge: ")))
    if code:
        raise Fault(f"render: exit status {code}: {err.strip()[:100]}")
    return Outcome("result", "render")


def _spoil(data: Any, r: random.Random) -> None:
    """Change one value of a JSON document."""
    while True:
        places = list(data) if isinstance(data, dict) else range(len(data))
        place = r.choice(list(places))
        if isinstance(data[place], dict | list) and data[place] and r.random() < 0.9:
            data = data[place]
            continue
        data[place] = r.choice([None, "x", "\ud800", -1, 1e308, 2, [], {}, True, "<script>", 10**400, [[]]])
        return


# ---------------------------------------------------------------- results


def check_report(report: Report, *, revealed: bool, all_documents: bool) -> None:
    """Raise a `Fault` where a report is not as every report must be."""
    for failure in report.failed:
        if "please report it" in failure["why"]:
            raise Fault(f"{failure['attack']} failed: {failure['why'][:100]}")
    data = report.to_dict()
    if where := fault(json.loads(report.to_json())):
        raise Fault(f"assessment.json is damaged at {where}")
    for result in data["results"]:
        _check_result(result)
    if Report.from_dict(json.loads(report.to_json())).to_dict() != data:
        raise Fault("the report changes on its way through JSON")
    editions = [report, report.external()]
    for edition in editions:
        documents = {"JSON": edition.to_json()}
        if all_documents:
            ET.fromstring(edition.to_junit())
            documents |= {
                "HTML": edition.to_html(), "Markdown": edition.to_markdown(), "JUnit": edition.to_junit(),
                "CSV": edition.to_csv(), "repr": repr(edition),
            }  # fmt: skip
        for name, text in documents.items():
            text.encode()
            if not revealed:
                _no_canary(text, name)
    if where := fault(editions[1].to_dict()):
        raise Fault(f"the external edition is damaged at {where}")


def _check_result(r: dict[str, Any]) -> None:
    what = f"{r['attack']} ({r['variant']})"

    def must(holds: bool, says: str) -> None:
        if not holds:
            raise Fault(f"{what}: {says}")

    for part in [r, *r["groups"]]:
        for role in ("real", "holdout", "baseline"):
            if part.get(role):
                _check_rate(part[role], lambda holds, says, role=role: must(holds, f"{role}: {says}"))
        for name, most in (("risk", 1.0), ("difference", 1.0)):
            if part.get(name):
                _check_limits(part[name], most, lambda holds, says, name=name: must(holds, f"{name}: {says}"))
    for name, most in (("p_value", 1), ("p_adjusted", 1), ("score", 100), ("smallest_detectable", 1)):
        if r[name] is not None:
            must(-_SLACK <= r[name] <= most + _SLACK, f"{name} is {r[name]}")
    must(all(isinstance(n, str) for n in r["notes"]), "a note is no text")


def _check_rate(rate: dict[str, Any], must: Any) -> None:
    hits, n, value = (rate.get(k) for k in ("hits", "n", "rate"))
    if hits is not None and n is not None:
        must(-_SLACK <= hits <= n + _SLACK * max(1, n), f"{hits} hits of {n}")
    if value is not None:
        must(math.isfinite(value) and -_SLACK <= value <= 1 + _SLACK, f"rate {value}")
        _between(value, rate.get("low"), rate.get("high"), must)


def _check_limits(part: dict[str, Any], most: float, must: Any) -> None:
    value = part["value"]
    if value is not None:
        must(math.isfinite(value) and value <= most + _SLACK, f"value {value}")
        _between(value, part["low"], part["high"], must)
        _between(value, part["low_simultaneous"], part["high_simultaneous"], must)
    for name in ("low", "high", "low_simultaneous", "high_simultaneous"):
        must(part[name] is None or math.isfinite(part[name]), f"{name} is {part[name]}")


def _between(value: float, low: float | None, high: float | None, must: Any) -> None:
    if low is not None and high is not None:
        must(low - _SLACK <= value <= high + _SLACK, f"{value} is not within {low} to {high}")
