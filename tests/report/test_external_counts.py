"""What an external edition gives back of the counts behind it: every true count is tried, and those of one edition kept."""

import json
from collections import defaultdict

import msgspec
import pytest
from msgspec import inspect
from msgspec.structs import replace

from divulge.core.result import Difference, Risk, Value
from divulge.core.threat_model import Threat
from divulge.report.external.declared import DECISIONS, NUMBERS
from divulge.report.external.edition import external
from divulge.report.external.masking import Names
from divulge.report.external.results import result
from divulge.report.external.rounding import BASE, FEW
from divulge.report.external.source import Source
from divulge.report.model import (
    FORMAT,
    Assessment,
    Bound,
    Change,
    Changed,
    Column,
    Condition,
    Facts,
    Found,
    Group,
    MinimalKeySet,
    Overall,
    Planted,
    Policy,
    PositiveControl,
    Rate,
    Repeated,
    ResultRecord,
    Settings,
    Smallest,
    Table,
    Tables,
    Utility,
    Verbatim,
)


@pytest.fixture(scope="module")
def base():
    """An assessment whose results and parts the tests replace."""
    table = Table(rows=60, columns=3, sha256="0" * 64, hashed="file", missing=0.25, repeated=7)
    given = Settings(
        seed=0, level=0.95, jobs=1, acceptable=0.05, search="off", models=False, keys=("age",), targets=("ill",),
        subgroups=(), unit=None, ignore=(), missing=0,
    )  # fmt: skip
    read = [Column(name=c, kind="categorical", roles=(), why="", bins="") for c in ("age", "sex", "ill")]
    return Assessment(
        format=FORMAT, divulge="1", command="", edition="custodian", revealed=(), settings=given, seconds=1.0,
        started="2026-11-22T05:15:56+00:00", verdict=Overall(verdict="cannot tell", sentence=""), schema=tuple(read),
        tables=Tables(real=table, synthetic=table, holdout=table), preconditions=(), results=(), key_sets=(),
        minimal_key_sets=(), records=None, positive_control=(), failed=(), left_out=(), not_run=(), utility=(),
        policy=None, change=None, not_tested=(), threat=Threat(), versions={}, machine="", attacks={}, notes=(),
    )  # fmt: skip


def bare(base, **parts):
    return replace(base, **parts)


def sized(base, n, m, units=None, synthetic=60, repeated=None):
    t = base.tables
    real, holdout = (replace(x, rows=k, units=units, repeated=repeated) for x, k in ((t.real, n), (t.holdout, m)))
    return replace(t, real=real, holdout=holdout, synthetic=replace(t.synthetic, rows=synthetic))


EMPTY = {"variant": "", "keys": (), "target": None, "settings": {}, "baseline": None, "value": None, "context": {},
         "curves": {}, "groups": (), "notes": ()}  # fmt: skip


def comparison(a, n, b, m, attack="linkability", **more):
    """A result whose exact numbers follow from these counts; the verdict is the same for all."""
    p, q = (x / of if of else None for x, of in ((a, n), (b, m)))
    exact = 0.001234 * a + 0.01234 * b  # a number that gives the counts back, wherever one is not withheld
    number = {"low": exact, "high": exact, "low_simultaneous": exact, "high_simultaneous": exact}
    return ResultRecord(
        attack=attack,
        real=Rate(hits=float(a), n=n, rate=p),
        holdout=Rate(hits=float(b), n=m, rate=q),
        difference=Difference(value=exact, **number),
        risk=Risk(value=exact, **number, level=0.95, method="any", leak_free_low=exact, leak_free_high=exact),
        p_value=exact,
        p_adjusted=exact,
        smallest_detectable=exact,
        score=exact,
        seconds=exact,
        verdict="cannot tell",
        **{**EMPTY, **more},
    )


def shown(base, r, **parts):
    """One result as an external edition shows it, with the sizes of its tables."""
    data = bare(base, results=(r,), **parts)
    source = Source(data, Names.of([c.name for c in data.schema], reveal=False))
    made = result(source, r)
    return msgspec.json.encode((made, source.rows("real"), source.rows("holdout")))


def smallest_sets(editions):
    """The smallest number of values that any one of the true counts has behind one edition, for each count.

    editions: pairs of true counts (a tuple) and what is shown of them.
    """
    behind = defaultdict(set)
    for true, edition in editions:
        behind[edition].add(true)
    return [min(len({true[i] for true in one}) for one in behind.values()) for i in range(len(true))]


# ---------------------------------------------------------------- every field is declared


def fields(of=Assessment):
    """Each field of the model, as struct.field, with the kinds of what it holds."""
    out, seen = {}, set()

    def kinds(t):
        match t:
            case inspect.StructType():
                walk(t)
                return set()
            case inspect.UnionType():
                return set().union(*map(kinds, t.types))
            case inspect.Metadata():
                return kinds(t.type)
            case inspect.DictType():
                return kinds(t.value_type)
            case inspect.ListType() | inspect.VarTupleType():
                return kinds(t.item_type)
            case inspect.IntType() | inspect.FloatType() | inspect.AnyType():
                return {"number"}
            case inspect.BoolType():
                return {"decision"}
            case inspect.StrType() | inspect.LiteralType() | inspect.NoneType():
                return set()
        raise TypeError(t)

    def walk(t):
        if t.cls not in seen:
            seen.add(t.cls)
            for f in t.fields:
                out[f"{t.cls.__name__}.{f.name}"] = kinds(f.type)

    walk(inspect.type_info(of))
    return out


def test_every_number_of_the_model_is_declared_once():
    held = fields()
    assert {k for k, kinds in held.items() if "number" in kinds} == set(NUMBERS)
    bools = {k for k, kinds in held.items() if "decision" in kinds} - {"Settings.models"}
    parts_left_out = {"Repeated.stands_out", "Repeated.found"}  # an external edition has no facts
    assert bools - parts_left_out <= set(DECISIONS) <= set(held)


def test_a_number_of_a_new_field_is_found():
    class New(msgspec.Struct):
        age: dict[str, list[float | None]]
        name: str

    assert {k for k, kinds in fields(New).items() if "number" in kinds} == {"New.age"}


def leaves(part):
    """Every number that a part of an assessment holds, with the field it stands in."""
    for f in part.__struct_fields__:
        value, name = getattr(part, f), f"{type(part).__name__}.{f}"
        for one in value if isinstance(value, tuple | list) else [value]:
            if isinstance(one, msgspec.Struct):
                yield from leaves(one)
            elif isinstance(one, dict) and name in NUMBERS:
                yield from ((name, v) for v in one.values())
            elif isinstance(one, int | float) and not isinstance(one, bool):
                yield name, one


def full(base):
    """An assessment that has every part, with telling numbers in each."""
    x = 0.123456
    by = {"attack": "linkability", "variant": "", "keys": (), "target": None}
    limits = {"low": x, "high": x, "low_simultaneous": x, "high_simultaneous": x}
    control = PositiveControl(
        kind="near copies", share=0.1, n_planted=6, verdict="excess found", n_judged=3,
        found=(Found(attack="linkability", risk=x, low=x, high=x, without=False),), smallest_share=x, method="", note="",
        people=Planted(planted=6, flagged=x, others_flagged=x, flagged_without=x),
        attacks=(Smallest(attack="linkability", difference_without=x, difference_with=x, smallest_detectable=x,
                          smallest_share=x),),
    )  # fmt: skip
    changed = Changed(**by, before=x, now=x, difference=x, **limits, p_adjusted=x, verdict="rose")
    change = Change(
        previous_started="2026-01-01", previous_divulge="1", previous_verdict="cannot tell", same_people=True,
        same_synthetic=False, level=0.95, new=0, gone=0, comparisons=(changed,), verdict="rose", sentence="",
    )  # fmt: skip
    bound = Bound(**by, words="linkability", primary=True, limit=x, shown=x, bounded=False, people=123)
    condition = Condition(condition="linkability: risk at most 0.05", found=f"{x} (linkability)", kept=False,
                          why="above 0.05")  # fmt: skip
    verbatim = Verbatim(members=3, strangers=3, telling=3, named=3, why_not_named=None)
    repeated = Repeated(times=3, of="member", elsewhere=3, stands_out=True, p_value=x, found=True, named=3)
    side = Rate(hits=31.0, n=60, rate=31 / 60)
    group = Group(of="age", name="value 1, by frequency", real=side, holdout=side, risk=None)
    r = comparison(23, 58, 31, 58)
    r = replace(r, curves={"at_least": [x]}, groups=(group,), context={"unheard of": x}, value=Value(real=x))
    return bare(
        base, results=(r,), positive_control=(control,), change=change, facts=Facts(verbatim=verbatim, repeated=repeated),
        policy=Policy(name="policy", sha256=None, kept=False, conditions=(condition,)),
        utility=(Utility(measure="marginal total variation", value=x, reference=x, better="lower", about="", notes=()),),
        verdict=replace(base.verdict, bounds=(bound,), verdict="cannot tell"),
        minimal_key_sets=(MinimalKeySet(keys=("age",), target="ill", n_disclosed=31, share=31 / 60, synthetic_share=x),),
    )  # fmt: skip


def test_what_is_declared_as_withheld_is_withheld_and_counts_are_counts(base):
    data = external(full(base))
    found = defaultdict(list)
    for name, value in leaves(data):
        found[name].append(value)
    assert {k for k in found if NUMBERS[k] == "withheld" and any(found[k])} == set()
    assert found["Rate.hits"] == [25, 30]
    assert found["MinimalKeySet.n_disclosed"] == [30]
    assert {v for k in found if NUMBERS[k] == "counts" for v in found[k]} & {0.123456, 31 / 60} == set()
    assert "0.123" not in json.dumps(msgspec.to_builtins(replace(data, minimal_key_sets=())))


# ---------------------------------------------------------------- every count behind one edition


def one_side(base, side, other, sizes, **more):
    """Editions of every count of one side, the other side being known exactly."""
    for n in sizes:
        for a in range(n + 1):
            counts = (a, n, *other) if side == "members" else (*other, a, n)
            yield (a, n), shown(base, comparison(*counts, **more), tables=sized(base, counts[1], counts[3]))


@pytest.mark.parametrize("side", ["members", "strangers"])
@pytest.mark.parametrize("sizes", [range(18), range(28, 38), range(58, 68)], ids=["few", "some", "many"])
def test_every_count_of_people_has_five_values_behind_it(base, side, sizes):
    hits, n = smallest_sets(one_side(base, side, (20, 50), sizes))
    assert hits >= BASE
    assert n >= BASE


def test_a_withheld_count_has_ten_values_behind_it(base):
    behind = defaultdict(set)
    for n in range(28, 43):
        for a in range(n + 1):
            edition = shown(base, comparison(a, n, 20, 50), tables=sized(base, n, 50))
            if msgspec.json.decode(edition)[0]["real"]["hits"] is None:
                behind[edition].add(a)
    assert min(map(len, behind.values())) >= FEW
