"""What the default run leaves out; a plain polars frame as each kind of table that divulge takes; shared runs."""

import collections
import gzip
import itertools
import logging
import os
import re
import signal
import sys
from pathlib import Path
from unittest.mock import patch

if "--slow" not in sys.argv and "PYTEST_XDIST_WORKER" not in os.environ:
    # before numpy and polars are imported: on tables as small as those of the default run their threads cost a quarter
    # of the CPU time and gain none; --slow leaves them
    for pool in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS"):
        os.environ.setdefault(pool, "1")

# a shell that starts the tests in the background has interrupts ignored, and tests of interrupts would wait for ever
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# processes that tests start would each compile the whole package anew (three seconds)
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

import amount
import numpy as np
import polars as pl
import pytest
import report_helpers
from hypothesis import HealthCheck, settings

import divulge
from divulge.attacks.membership import classifier_score
from divulge.run.planning.options import RunOptions

# they make the golden files again, with the other tools installed
collect_ignore_glob = ["golden/remake_*.py", "corpus/remake_*.py", "spark_lost_executor.py"]

NOT_SLOW = " and not slow"
"""How `addopts` ends the expression that chooses tests."""

CALIBRATION = Path(__file__).parent / "calibration"
ON_REQUEST = ("spark", "browser", "full")
"""Markers that `--slow` leaves out."""


def pytest_addoption(parser):
    group = parser.getgroup("divulge")
    group.addoption("--slow", action="store_true", help="run the slow tests too, with every example of hypothesis")
    group.addoption(
        "--rest", action="store_true", help="with --slow: leave out the tests that the default run makes in full"
    )
    group.addoption(
        "--published", type=Path, help="folder of published tables (adult/train.parquet, ...), for tests that need them"
    )
    group.addoption("--update", action="store_true", help="write anew what README and docs/ show (tests/test_pages.py)")
    group.addoption(
        "--all-kinds", action="store_true", help=f"run each kind of table, not only {', '.join(sorted(USUAL_KINDS))}"
    )


def pytest_configure(config):
    if config.option.slow:
        config.option.markexpr = config.option.markexpr.removesuffix(NOT_SLOW)
    amount.everything = not config.option.markexpr.endswith(NOT_SLOW)
    # machines differ in speed, so no example has a deadline; CI draws the same examples each time, people new ones
    settings.register_profile(
        "divulge", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize="CI" in os.environ,
        max_examples=amount.tries(100),
    )  # fmt: skip
    settings.load_profile("divulge")


_LEFT_OUT = re.compile(r"^pytestmark = .*\b(slow|spark|browser|full)\b", re.M)


def pytest_ignore_collect(collection_path, config):
    """Leave out files of which the default run makes no test: rewriting their assertions takes a second in all."""
    if amount.everything or not collection_path.name.startswith("test_") or collection_path.suffix != ".py":
        return None
    if any(Path(given.partition("::")[0]).resolve() == collection_path for given in config.args):
        return None  # asked for by name: it says what it left out
    text = collection_path.read_text(encoding="utf-8")
    only_long = CALIBRATION in collection_path.parents and "quick" not in text
    return True if only_long or _LEFT_OUT.search(text) else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Mark as slow what the default run leaves out and no line beside the test says."""
    cases = collections.Counter()
    for item in items:
        if any(item.get_closest_marker(m) for m in ("slow", *ON_REQUEST)):
            continue
        test = item.nodeid.partition("[")[0]
        cases[test] += 1
        # with --rest other kinds of tables are slow, and stay: the default run leaves them out
        if _is_slow(item, cases[test], config.option.all_kinds and not config.option.rest):
            item.add_marker("slow")
    if config.option.rest:
        done = [item for item in items if not item.get_closest_marker("slow") and not _draws_more(item)]
        config.hook.pytest_deselected(items=done)
        items[:] = [item for item in items if item not in set(done)]


def _draws_more(item):
    """Whether the test is in a file whose tests draw more tables or examples with --slow."""
    names = vars(getattr(item, "module", None) or object)
    return bool({"amount", "tries", "given"} & set(names))


def _is_slow(item, number, all_kinds):
    """Whether it is a calibration, a kind of table that is not usual, or behind the first cases of its test."""
    if CALIBRATION in item.path.parents:
        return not item.get_closest_marker("quick")
    kind = item.callspec.params.get("kind") if hasattr(item, "callspec") else None
    if isinstance(kind, str) and kind in KINDS and kind not in USUAL_KINDS and not all_kinds:
        return True
    first = item.get_closest_marker("first")
    return first is not None and number > first.args[0]


def _values(series):
    """Python values; short floats keep their width."""
    if series.dtype == pl.Float32:
        return [None if v is None else np.float32(v) for v in series.to_list()]
    return series.to_list()


def _pandas_numpy(frame, path):
    pd = pytest.importorskip("pandas")
    return pd.DataFrame(
        {s.name: s.to_numpy() if s.dtype == pl.Float32 else pd.Series(s.to_list()) for s in frame.get_columns()}
    )


def _pandas_object(frame, path):
    pd = pytest.importorskip("pandas")
    return pd.DataFrame({s.name: pd.Series(_values(s), dtype=object) for s in frame.get_columns()})


def _pandas_nullable(frame, path):
    return _pandas_numpy(frame, path).convert_dtypes()


def _pandas_arrow(frame, path):
    pd = pytest.importorskip("pandas")
    return frame.to_arrow().to_pandas(types_mapper=pd.ArrowDtype)


def _pandas_categorical(frame, path):
    return _pandas_object(frame, path).astype("category")


def _duckdb(frame, path):
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    return duckdb.from_arrow(frame.to_arrow())


def _narwhals(frame, path):
    return pytest.importorskip("narwhals").from_native(frame)


def _csv(frame, path):
    frame.write_csv(path.with_suffix(".csv"))
    return divulge.read(path.with_suffix(".csv"))


def _csv_gz(frame, path):
    path = path.with_suffix(".csv.gz")
    path.write_bytes(gzip.compress(frame.write_csv(separator=";").encode()))
    return divulge.read(path)


def _parquet(frame, path):
    frame.write_parquet(path.with_suffix(".parquet"))
    return divulge.read(path.with_suffix(".parquet"))


def _feather(frame, path):
    frame.write_ipc(path.with_suffix(".feather"))
    return divulge.read(path.with_suffix(".feather"))


def _excel(frame, path):
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("fastexcel")
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()
    sheet.append(frame.columns)

    def cell(value):
        if isinstance(value, np.float32):
            return float(str(value))
        # a sheet holds no zones, and no NaN
        return value.isoformat() if getattr(value, "tzinfo", None) else None if value != value else value

    for row in zip(*map(_values, frame.get_columns()), strict=True):
        sheet.append([cell(v) for v in row])
    book.save(path.with_suffix(".xlsx"))
    return divulge.read(path.with_suffix(".xlsx"))


class Streaming:
    """An object of another library that has Arrow's stream and nothing else, as nanoarrow's have."""

    def __init__(self, frame):
        self._frame = frame.to_arrow()

    def __arrow_c_stream__(self, requested_schema=None):
        return self._frame.__arrow_c_stream__(requested_schema)


class Convertible:
    """An object of another library that has `to_pandas` and nothing else, as the datasets of Hugging Face have."""

    def __init__(self, frame):
        self._frame = frame

    def to_pandas(self):
        return _pandas_numpy(self._frame, None)


KINDS = {
    "pandas numpy": _pandas_numpy,
    "pandas object": _pandas_object,
    "pandas nullable": _pandas_nullable,
    "pandas arrow": _pandas_arrow,
    "pandas categorical": _pandas_categorical,
    "polars": lambda frame, path: frame,
    "polars lazy": lambda frame, path: frame.lazy(),
    "pyarrow": lambda frame, path: frame.to_arrow(),
    "duckdb": _duckdb,
    "narwhals": _narwhals,
    "arrow stream": lambda frame, path: Streaming(frame),
    "to_pandas": lambda frame, path: Convertible(frame),
    "csv": _csv,
    "csv.gz": _csv_gz,
    "parquet": _parquet,
    "feather": _feather,
    "excel": _excel,
}
USUAL_KINDS = {"pandas numpy", "polars", "csv"}
"""Kinds of table of a run without `--all-kinds` and `--slow`."""


@pytest.fixture(autouse=True)
def messages_as_at_the_start():
    """Let no command line that ran in this process take the messages of the tests behind it."""
    yield
    log = logging.getLogger("divulge")
    log.handlers, log.propagate = [], True
    log.setLevel(logging.NOTSET)
    if "divulge.cli.log" in sys.modules:
        sys.modules["divulge.cli.log"]._handler.formatter = None


@pytest.fixture(params=KINDS)
def kind(request):
    """The name of a kind of table: each test that asks for it runs once per kind."""
    return request.param


@pytest.fixture
def make(kind, tmp_path):
    """Return a polars frame as the kind of table at hand: `make(frame)`."""
    number = itertools.count()
    return lambda frame: KINDS[kind](frame, tmp_path / f"table{next(number)}")


# ---------------------------------------------------------------- runs that several files look at, and none changes

ASKED = {"keys": ["age", "job"], "jobs": 1, "models": False}


@pytest.fixture(scope="session", autouse=True)
def few_trees():
    """Let the classifier of membership grow 12 trees by default: 120 take half the time of a run on a small table."""
    with patch.object(classifier_score, "TREES", amount.tries(classifier_score.TREES, 12)):
        yield


@pytest.fixture
def copies_alone():
    """Let runs make the attack `copies` alone, for tests that look at its results, at preconditions or at the plan's words.

    Most of the CPU time of a run on few people goes to some thirty other attacks.
    """
    with patch.object(RunOptions, "makes", lambda options, attack: attack == "copies"):
        yield


@pytest.fixture(scope="session")
def keyed():
    """A run with strangers, keys and targets; the synthetic table copies half of its rows."""
    real, synthetic, holdout = report_helpers.tables()
    return divulge.assess(real, synthetic, holdout=holdout, targets=["income", "code"], **ASKED)


@pytest.fixture(scope="session")
def alone():
    """A run without strangers."""
    real, synthetic, _ = report_helpers.tables()
    return divulge.assess(real, synthetic, targets=["income"], **ASKED)


@pytest.fixture(scope="session")
def unsearched():
    """A run without keys and without a search for them, on two columns, one of them with a hostile name."""
    rng = np.random.default_rng(0)
    people = pl.DataFrame({"age": rng.integers(0, 7, 120), "ill\x1b[31mx": rng.integers(0, 2, 120)})
    return divulge.assess(people[:60], people[30:90], holdout=people[60:], search="off", models=False, membership=False)


@pytest.fixture(name="divulge")
def command(monkeypatch, capsys):
    """Run the command line and return exit status, standard output and standard error."""
    from divulge import cli

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["divulge", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        out = capsys.readouterr()
        return stopped.value.code or 0, out.out, out.err

    return run
