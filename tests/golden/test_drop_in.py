"""`divulge.sdmetrics` against SDMetrics 0.32.0: `drop_in.json` holds its answers, errors and warnings.

`remake_drop_in.py` writes them anew; the file says which versions gave them. Numbers agree to 1e-9 (`FITTED` metrics to 1e-5), also where chance
enters: SDMetrics ran right after `np.random.seed(seed)`, and ours draws in the same order from that seed. An error
that SDMetrics raises itself has the same type and text. Where it crashes further down, in pandas or scikit-learn, the
case has a word in DIFFERS, and ours answers or refuses in words of its own.
"""

import json
import math
import traceback
import warnings
from pathlib import Path

import pytest

pytest.importorskip("pandas")
pytest.importorskip("sklearn")
pytest.importorskip("scipy")

from drop_in_cases import (
    CASES,
    DIFFERS,
    DIFFERS_BY_ID,
    METRICS,
    QUOTES_DATA,
    SETTLED_BY_THE_PROCESSOR,
    Case,
    Frame,
    built,
)

import divulge.sdmetrics

FILE = json.loads(Path(__file__).with_name("drop_in.json").read_text(encoding="utf-8"))
GOLDEN = FILE["cases"]
OTHERS = ("sklearn", "pandas", "numpy", "scipy")
HOME = str(Path(divulge.sdmetrics.__file__).parents[1])


def crashes(golden: dict) -> bool:
    return "raised" in golden and not golden["raised"]["published"]


def package(name: str):
    return getattr(divulge.sdmetrics, name)


def call(case: Case, name: str):
    """Return what our class answers or the exception it raises, and the warnings that are not of other packages."""
    seed = {} if case.seed is None else {"seed": case.seed}
    args, kwargs = built(case.args, package), built(case.kwargs, package)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value = getattr(package(case.metric), name)(*args, **kwargs, **seed)
        except Exception as error:
            value = error
    return value, {f"{w.category.__name__}: {w.message}" for w in caught if ours(w)}


def ours(warning: warnings.WarningMessage) -> bool:
    if warning.category.__module__.split(".")[0] in OTHERS:
        return False
    parts = Path(warning.filename).parts
    return "site-packages" not in parts or "divulge" in parts


FITTED = ("NumericalLR", "NumericalMLP", "NumericalSVR", "NumericalRadiusNearestNeighbor")
"""Their scores rest on distributions that scipy fits. Where an optimiser stops depends on the last bit of BLAS, and so on
the processor: OPENBLAS_CORETYPE=Haswell and SapphireRapids give scores up to 4e-6 apart, SDMetrics' own among them."""


def tolerance(metric: str) -> float:
    return 1e-5 if metric in FITTED else 1e-9


def same(value, golden, within: float, path: str = "") -> list[str]:
    """Return where the two part ways."""
    if isinstance(golden, dict):
        if set(golden) == {"type", "message"}:
            return [] if described(value) == tuple(golden.values()) else [path]
        if not isinstance(value, dict) or value.keys() != golden.keys():
            return [f"{path}: keys"]
        return [found for k in golden for found in same(value[k], golden[k], within, f"{path}/{k}")]
    expected = {None: math.nan, "inf": math.inf, "-inf": -math.inf}.get(golden, golden)
    return [] if value == pytest.approx(expected, rel=0, abs=within, nan_ok=True) else [f"{path}: {value} for {golden}"]


def described(error) -> tuple[str, str]:
    return type(error).__name__, str(error)


def plain(message: str) -> str:
    # pandas 3 names its classes anew
    return message.replace("pandas.core.frame.DataFrame", "pandas.DataFrame")


def texts(thing) -> set[str]:
    """Return the texts of three letters and more in the tables of a case."""
    if isinstance(thing, Frame):
        return {v for _, values in thing.columns.values() for v in values if isinstance(v, str) and len(v) > 2}
    if isinstance(thing, dict):
        thing = tuple(thing.values())
    return set().union(*(texts(t) for t in thing)) if isinstance(thing, tuple | list) else set()


def refused(value: Exception) -> bool:
    """Return whether our own code raised it, and not a package below."""
    last = traceback.extract_tb(value.__traceback__)[-1]
    return last.filename.startswith(HOME) and last.line.startswith("raise ") and bool(str(value))


def check_difference(case: Case, value, golden: dict) -> None:
    """Ours answers within the bounds, or refuses in words of its own or those of the crash, without a data value."""
    if isinstance(value, Exception):
        assert refused(value) or described(value) == tuple(golden.get("raised", {}).values())[:2], (
            f"ours crashes too: {value!r}"
        )
        assert not [t for t in texts(case.args) if t in str(value)]
        return
    score = value["score"] if isinstance(value, dict) else value
    metric = package(case.metric)
    assert math.isnan(score) or metric.min_value <= score <= metric.max_value


def check_error(case: Case, value, golden: dict) -> None:
    assert isinstance(value, Exception), f"{golden['type']} expected, got {value}"
    # an error of ours may be a kind of the one that SDMetrics raises
    assert golden["type"] in {c.__name__ for c in type(value).__mro__}, repr(value)
    if case.name in QUOTES_DATA:
        start = QUOTES_DATA[case.name]
        assert golden["message"].startswith(start)
        assert str(value).startswith(start)
        assert not [t for t in texts(case.args) if t in str(value)]
    else:
        assert plain(str(value)) == plain(golden["message"])


def check(case: Case, name: str, golden: dict) -> None:
    value, warned = call(case, name)
    if crashes(golden) or case.id in DIFFERS_BY_ID or case.id in SETTLED_BY_THE_PROCESSOR:
        check_difference(case, value, golden)
        return
    if "raised" in golden:
        check_error(case, value, golden["raised"])
    else:
        if isinstance(value, Exception) and "returned" not in golden:
            raise value
        assert same(value, golden.get("value", golden.get("returned")), tolerance(case.metric)) == []
    assert warned == set(golden.get("warnings", []))


def metric_by_metric(cases):
    """Each case as a parameter; behind the first of its metric it is slow."""
    first = {c.metric: c for c in reversed(cases)}
    return [pytest.param(c, id=c.id, marks=[] if c is first[c.metric] else [pytest.mark.slow]) for c in cases]


@pytest.mark.parametrize("case", metric_by_metric([c for c in CASES if not c.raw]))
def test_calls(case):
    for name in case.calls:
        check(case, name, GOLDEN[case.id][name])


@pytest.mark.parametrize("case", [c for c in CASES if c.raw], ids=lambda c: c.id)
def test_normalize(case):
    metric = package(case.metric)
    for raw, golden in zip(case.raw, GOLDEN[case.id]["normalize"], strict=True):
        if "raised" in golden:
            with pytest.raises(ValueError) as error:
                metric.normalize(raw)
            assert str(error.value) == golden["raised"]["message"]
        else:
            assert same(metric.normalize(raw), golden["value"], 1e-9) == []


@pytest.mark.parametrize("name", METRICS)
def test_attributes(name):
    metric, golden = package(name), FILE["attributes"][name]
    assert (metric.name, metric.goal.name) == (golden["name"], golden["goal"])
    assert same(metric.min_value, golden["min_value"], 0) + same(metric.max_value, golden["max_value"], 0) == []


def test_every_case_has_its_golden_values():
    assert list(GOLDEN) == [c.id for c in CASES]
    assert all(sum(c.metric == m for c in CASES) >= 8 for m in METRICS)


def test_every_crash_of_sdmetrics_has_a_word():
    crashed = {c.name for c in CASES if not c.raw and any(map(crashes, GOLDEN[c.id].values()))}
    assert crashed == set(DIFFERS)
    assert set(DIFFERS_BY_ID) | SETTLED_BY_THE_PROCESSOR <= set(GOLDEN)
