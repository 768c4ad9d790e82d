"""A run that is killed again and again, and resumed, writes the report of a run that nobody killed.

By command: pytest -m full tests/run/test_killed.py -s. The last lines print how far each killed run had come.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest

import divulge

pytestmark = pytest.mark.full

KILLS = 10
COMMAND = [
    "assess", "real.csv", "synthetic.csv", "--holdout", "holdout.csv", "--keys", "age,region,job", "--models",
    "--resume", "--junit", "report/more.xml", "--out", "report",
]  # fmt: skip


def people(n, rng):
    age, job = rng.integers(18, 90, n), rng.integers(0, 12, n)
    return pl.DataFrame({
        "age": age, "job": job, "region": rng.integers(0, 16, n), "sex": rng.integers(0, 2, n),
        "income": np.round(np.exp(rng.normal(7 + job / 12, 0.5, n))), "ill": (age + rng.normal(0, 25, n) > 75) * 1,
        "children": rng.poisson(1.2, n), "weight": np.round(rng.normal(75, 12, n), 1),
    })  # fmt: skip


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("tables"), np.random.default_rng(15)
    real, holdout = people(1500, rng), people(1500, rng)
    pl.concat([real[:150], people(1350, rng)]).write_csv(folder / "synthetic.csv")
    real.write_csv(folder / "real.csv")
    holdout.write_csv(folder / "holdout.csv")
    return folder


def begun(place):
    environment = os.environ | {"SOURCE_DATE_EPOCH": "1600000000", "PYTHONPATH": str(Path(divulge.__file__).parents[1])}
    return subprocess.Popen(
        [sys.executable, "-m", "divulge", *COMMAND], cwd=place, env=environment, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip


class Finished(NamedTuple):
    """A run that was not killed."""

    seconds: float
    writing: float
    """Seconds from the making of the report's folder to the end."""
    tests: int
    """The most tests that were kept at a time."""
    told: bytes


def finished(place):
    """Run to the end."""
    start, most, folder_made = time.perf_counter(), 0, None
    with begun(place) as child:
        while child.poll() is None:
            most = max(most, kept(place))
            if folder_made is None and (place / "report").exists():
                folder_made = time.perf_counter()
            time.sleep(0.002)
        assert child.returncode == 0
        end = time.perf_counter()
        return Finished(end - start, end - (folder_made or end), most, child.stdout.read())


def kept(place):
    return len(list(place.glob("report.unfinished/*.kept")))


def files(place):
    return {str(p.relative_to(place)): p.read_bytes() for p in sorted(place.rglob("*")) if p.is_file()}


@pytest.fixture(scope="module")
def whole(tables, tmp_path_factory):
    """An uninterrupted run, and its files."""
    place = tmp_path_factory.mktemp("whole")
    shutil.copytree(tables, place, dirs_exist_ok=True)
    return finished(place), files(place)


def killed(child, place):
    """Kill a run, and check that each document there is whole."""
    os.killpg(child.pid, signal.SIGKILL)
    assert child.wait(60) == -signal.SIGKILL
    for path in place.glob("report/*.json"):
        json.loads(path.read_bytes())
    for path in place.glob("report/*.parquet"):
        pl.read_parquet(path)


def check(place, whole):
    last = finished(place)
    assert files(place) == whole[1]
    assert last.told == whole[0].told
    assert not (place / "report.unfinished").exists()
    return last.seconds


def test_ten_kills_during_the_tests_change_no_byte(tables, whole, tmp_path):
    shutil.copytree(tables, tmp_path, dirs_exist_ok=True)
    rng, told, n = np.random.default_rng(2026), [], whole[0].tests
    for target in sorted(rng.integers(0, n, KILLS)):  # the run is killed a random time after so many tests
        with begun(tmp_path) as child:
            while kept(tmp_path) < target and child.poll() is None:
                time.sleep(0.005)
            time.sleep(rng.uniform(0, 1.0))
            assert child.poll() is None, "the run was done before it could be killed"
            killed(child, tmp_path)
        told.append(kept(tmp_path))
    parts = len(list(tmp_path.glob("report.unfinished/*.kept-part")))
    seconds = check(tmp_path, whole)
    print(f"\nuninterrupted {whole[0].seconds:.1f} s; kept after each of {KILLS} kills: {told} of {n}; half-written: {parts}; "
          f"last run {seconds:.1f} s; {len(whole[1])} files equal")  # fmt: skip


def test_ten_kills_while_the_report_is_written_change_no_byte(tables, whole, tmp_path):
    shutil.copytree(tables, tmp_path, dirs_exist_ok=True)
    rng, told, saved = np.random.default_rng(2027), [], tmp_path / "saved"
    while len(told) < KILLS:
        shutil.rmtree(tmp_path / "report", ignore_errors=True)
        if saved.exists():  # the run before was killed while it took the kept tests away, or was done
            shutil.copytree(saved, tmp_path / "report.unfinished", dirs_exist_ok=True)
        with begun(tmp_path) as child:
            while not (tmp_path / "report").exists() and child.poll() is None:
                time.sleep(0.0005)
            if not saved.exists():
                shutil.copytree(tmp_path / "report.unfinished", saved)
            time.sleep(rng.uniform(0, whole[0].writing))
            if child.poll() is not None:
                continue
            killed(child, tmp_path)
        report = os.listdir(tmp_path / "report")
        told.append((kept(tmp_path), len(report), sum(name.endswith(".tmp") for name in report)))
    shutil.rmtree(saved)
    seconds = check(tmp_path, whole)
    print(f"\nwriting takes {whole[0].writing:.1f} s; tests kept, files of the report, temporary ones after each of {KILLS} "
          f"kills: {told}; last run {seconds:.1f} s; {len(whole[1])} files equal")  # fmt: skip
