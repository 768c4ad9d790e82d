"""What an external edition gives back of the counts behind it: every true count is tried, and those of one edition kept."""

import itertools
import json
from collections import defaultdict
from types import SimpleNamespace
from typing import Annotated

import msgspec
import pytest
from msgspec import inspect
from msgspec.structs import replace

from divulge.attacks.catalogue import CATALOGUE
from divulge.attacks.checks import SHOWN
from divulge.attacks.entry import Count, Exact
from divulge.core.records import COUNTS
from divulge.core.result import TOWARDS, Baseline, Difference, Risk, Value
from divulge.core.threat_model import Threat
from divulge.report.control_model import Found, Planted, PositiveControl, Smallest
from divulge.report.external.edition import external
from divulge.report.external.masking import Names
from divulge.report.external.narrowing import _verdict
from divulge.report.external.published import WITHHELD, marks, published
from divulge.report.external.results import _score, result
from divulge.report.external.rounding import BASE, FEW
from divulge.report.external.source import Source
from divulge.report.model import (
    FORMAT,
    Assessment,
    Bound,
    Column,
    Facts,
    Group,
    MinimalKeySet,
    Overall,
    Rate,
    Repeated,
    ResultRecord,
    Settings,
    Table,
    Tables,
    Verbatim,
)
from divulge.report.policy_model import Change, Changed, Condition, Policy, PolicyRule


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
        minimal_key_sets=(), records=None, positive_control=(), failed=(), left_out=(), not_run=(),
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


def structs(of=Assessment):
    """The structs of the model."""
    out = {}

    def walk(t):
        match t:
            case inspect.StructType() if t.cls not in out:
                out[t.cls] = t
                for f in t.fields:
                    walk(f.type)
            case inspect.UnionType():
                for inner in t.types:
                    walk(inner)
            case inspect.Metadata():
                walk(t.type)
            case inspect.DictType():
                walk(t.value_type)
            case inspect.ListType() | inspect.VarTupleType():
                walk(t.item_type)

    walk(inspect.type_info(of))
    return tuple(out)


MARKS = {f"{struct.__name__}.{name}": mark for struct in structs() for name, mark in marks(struct).items()}
"""Each field of the model that holds a number or a decision, as struct.field, with how an edition makes it."""


def test_marks_are_those_that_the_model_knows():
    assert set(MARKS.values()) == {"counts", "public", "listing", "clock", "decision", WITHHELD}
    assert {k for k, mark in MARKS.items() if mark == "clock"} == {"Assessment.seconds"}
    assert MARKS["Rate.hits"] == "counts" and MARKS["Settings.level"] == "public" and MARKS["Records.n"] == WITHHELD


def test_a_number_of_a_new_field_is_withheld_until_it_has_a_mark():
    class Part(msgspec.Struct, frozen=True):
        age: dict[str, list[float | None]]
        name: str
        sure: bool | None
        n: Annotated[int, COUNTS] = 0
        more: float = 0.5

    class New(msgspec.Struct, frozen=True):
        part: Part
        parts: tuple[Part, ...]

    assert marks(Part) == {"age": WITHHELD, "sure": WITHHELD, "n": "counts", "more": WITHHELD}
    part = Part({"a": [1.0]}, "x", True, 5, 0.25)
    assert published(New(part, (part,))) == New(Part(None, "x", None, 5), (Part(None, "x", None, 5),))


def leaves(part):
    """Every number that a part of an assessment holds, with the field it stands in."""
    for f in part.__struct_fields__:
        value, name = getattr(part, f), f"{type(part).__name__}.{f}"
        for one in value if isinstance(value, tuple | list) else [value]:
            if isinstance(one, msgspec.Struct):
                yield from leaves(one)
            elif isinstance(one, dict) and name in MARKS:
                yield from ((name, v) for v in one.values())
            elif isinstance(one, int | float) and not isinstance(one, bool):
                yield name, one


def full(base, x=0.123456):
    """An assessment that has every part, with telling numbers in each."""
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
    condition = Condition(
        condition="linkability: risk at most 0.05", found=f"{x} (linkability)", kept=False, why="above 0.05",
        rule=PolicyRule(kind="risk", of="linkability", field="value", operator=">", limit=0.05),
    )  # fmt: skip
    verbatim = Verbatim(members=3, strangers=3, telling=3, named=3, why_not_named=None)
    repeated = Repeated(times=3, of="member", elsewhere=3, stands_out=True, p_value=x, found=True, named=3)
    side = Rate(hits=31.0, n=60, rate=31 / 60)
    group = Group(of="age", name="value 1, by frequency", real=side, holdout=side, risk=None)
    r = comparison(23, 58, 31, 58)
    r = replace(r, curves={"at_least": [x]}, groups=(group,), context={"unheard of": x}, value=Value(real=x))
    return bare(
        base, results=(r,), positive_control=(control,), change=change, facts=Facts(verbatim=verbatim, repeated=repeated),
        policy=Policy(name="policy", sha256=None, kept=False, conditions=(condition,)),
        verdict=replace(base.verdict, bounds=(bound,), verdict="cannot tell"),
        minimal_key_sets=(MinimalKeySet(keys=("age",), target="ill", n_disclosed=31, share=31 / 60, synthetic_share=x),),
    )  # fmt: skip


def test_what_is_declared_as_withheld_is_withheld_and_counts_are_counts(base):
    data = external(full(base))
    found = defaultdict(list)
    for name, value in leaves(data):
        found[name].append(value)
    assert {k for k in found if MARKS[k] == "withheld" and any(found[k])} == set()
    assert published(data) == data
    assert found["Rate.hits"] == [25, 30]
    assert found["MinimalKeySet.n_disclosed"] == [30]
    assert {v for k in found if MARKS[k] == "counts" for v in found[k]} & {0.123456, 31 / 60} == set()
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


def test_two_editions_of_one_run_tell_no_more_than_one(base):
    columns = [c.name for c in base.schema]
    for a, n in itertools.product((3, 23, 55), (58, 60)):
        data = bare(base, results=(comparison(a, n, 20, 50),), tables=sized(base, n, 50))
        plain, named = external(data), external(data, reveal=["columns"])
        assert msgspec.json.encode(plain) == msgspec.json.encode(external(data))
        text = msgspec.json.encode(named).decode().replace('"revealed":["columns"]', '"revealed":[]')
        for i, c in enumerate(columns, 1):
            text = text.replace(f'"{c}"', f'"column {i}"')
        assert json.loads(text) == json.loads(msgspec.json.encode(plain))
        assert external(named) == plain


@pytest.mark.slow
def test_rows_of_members_and_strangers_do_not_narrow_each_other(base):
    # each row is nearest to a member, to a stranger, or counted for nobody
    n = 61
    tables = sized(base, 60, 60, synthetic=n)
    both = ((a, b) for a in range(n + 1) for b in range(n + 1 - a))
    editions = (
        ((a, b, a + b), shown(base, comparison(a, n, b, n, attack="dcr", context={TOWARDS: 0.5}), tables=tables))
        for a, b in both
    )
    assert min(smallest_sets(editions)) >= BASE


def test_rows_that_all_have_one_nearest_person_are_no_exception(base):
    n = 63  # so that one side is n minus the other
    tables = sized(base, 60, 60, synthetic=n)
    editions = (
        ((a,), shown(base, comparison(a, n, n - a, n, attack="dcr", context={TOWARDS: 0.5}), tables=tables))
        for a in range(n + 1)
    )
    assert min(smallest_sets(editions)) >= BASE


@pytest.mark.parametrize("per_unit", [2, 4])
def test_of_people_with_several_rows_counts_stand_for_five_people(base, per_unit):
    units = 40
    n = units * per_unit
    settings = replace(base.settings, unit="sex")
    editions = (
        ((a,), shown(base, comparison(a, n, n // 2, n), tables=sized(base, n, n, units), settings=settings))
        for a in range(n + 1)
    )
    assert min(smallest_sets(editions)) >= BASE * per_unit


def test_guesses_and_their_limits_have_five_values_behind_them(base):
    tables = sized(base, 60, 60)
    editions = (
        ((a,), shown(base, comparison(a, 100, 30, 100, attack="singling_out"), tables=tables)) for a in range(101)
    )
    assert min(smallest_sets(editions)) >= BASE


def test_the_share_of_a_copy_that_would_show_is_withheld_and_with_it_the_score(base):
    made = msgspec.json.decode(shown(base, comparison(25, 60, 25, 60, context={SHOWN: 0.37})))[0]
    assert (made["context"], made["score"]) == ({SHOWN: None}, None)


def test_notes_of_a_result_go_out_without_their_numbers(base):
    notes = (
        "k above 37 was left out: there are no more synthetic rows",
        "37 guesses were left out because they fit more people than the weight allows",
    )
    made = msgspec.json.decode(shown(base, comparison(25, 60, 25, 60, notes=notes)))[0]
    assert made["notes"] == ["k above … was left out: there are no more synthetic rows"]


def test_columns_and_groups_do_not_add_up(base):
    # two column sets or subgroups, and a mean over two targets: the parts and what they sum up to
    tables = sized(base, 60, 60)
    side = Rate(hits=30.0, n=60, rate=0.5)

    def edition(a, b):
        groups = tuple(Group(of="sex", name=f"value {i}, by frequency", real=Rate(hits=float(x), n=30, rate=x / 30),
                             holdout=side, risk=None) for i, x in enumerate((a, b), 1))  # fmt: skip
        whole = comparison(a + b, 60, 30, 60, groups=groups)
        parts = [comparison(x, 60, 30, 60, attack="inference", target=t) for x, t in ((a, "ill"), (b, "sex"))]
        mean = comparison((a + b) / 2, 60, 30, 60, attack="inference", variant="mean over targets")
        return b"".join(shown(base, r, tables=tables) for r in (*parts, mean)), shown(base, whole, tables=tables)

    made = [((a, b), edition(a, b)) for a, b in itertools.product(range(8, 33), repeat=2)]
    for which in (0, 1):
        assert min(smallest_sets((true, e[which]) for true, e in made)) >= BASE


@pytest.mark.slow
def test_numbers_without_rates_have_five_values_behind_them(base):
    n = 60
    tables = sized(base, n, n)
    for name, entry in CATALOGUE.items():
        declared = [k.replace("#", "5") for k in entry.context]
        how = "withheld" if entry.coarse is None else entry.coarse.how

        def edition(k, name=name, declared=declared, entry=entry, how=how):
            rules = {c: entry.rounding(c) for c in declared}
            whole = {c: 0.5 if isinstance(r, Exact) else k for c, r in rules.items()}
            context = {c: v if isinstance(rules[c], Count | Exact) else v / n for c, v in whole.items()}
            value = float(k) if how == "class" else k / n
            r = comparison(k, n, n - k, n, attack=name, context=context)  # each row has one nearest person
            alone = Value(real=value, holdout=value, synthetic=value)
            base_rate = Baseline(rate=k / n, what="naming the commonest value")
            rateless = replace(r, real=None, holdout=None, difference=None, risk=None, verdict=None, value=alone)
            return tuple(shown(base, x, tables=tables) for x in (replace(r, baseline=base_rate), rateless))

        assert min(smallest_sets([((k,), edition(k)) for k in range(n + 1)])) >= BASE, name


def test_facts_of_the_tables_have_five_values_behind_them(base):
    def edition(rows, repeated, units):
        found = external(bare(base, tables=sized(base, rows, 60, units, repeated=repeated))).tables
        return msgspec.json.encode(found.real)

    assert min(smallest_sets(((k,), edition(60, k, None)) for k in range(61))) >= BASE
    assert min(smallest_sets(((k,), edition(k, 3, None)) for k in range(68))) >= BASE
    assert min(smallest_sets(((k,), edition(280, 3, k)) for k in range(73, 138))) >= BASE


def test_disclosing_key_sets_have_five_values_behind_them(base):
    tables = sized(base, 60, 60)

    def edition(k):
        one = MinimalKeySet(keys=("age",), target="ill", n_disclosed=k, share=k / 60, synthetic_share=0.5)
        return msgspec.json.encode(external(bare(base, tables=tables, minimal_key_sets=(one,))).minimal_key_sets)

    assert min(smallest_sets(((k,), edition(k)) for k in range(61))) >= BASE


@pytest.mark.parametrize("part", ["positive_control", "change", "policy", "facts", "verdict"])
def test_other_parts_tell_no_count(base, part):
    # the same whatever the numbers: as long as the words are the same, nothing follows
    made = set()
    for x in (0.123456, 0.2, 0.987654):
        data = full(base, x)
        made.add(msgspec.json.encode(getattr(external(data), part)))
    assert len(made) == 1


@pytest.mark.parametrize("size", [60, pytest.param(100, marks=pytest.mark.slow)])
def test_the_verdict_beside_the_counts_leaves_five_values(base, size):
    # the only comparison of a run: the attacker can work out the verdict of any two counts
    n, m = (30, 30) if size == 60 else (size, 60)
    behind = defaultdict(set)
    for a, b in itertools.product(range(n + 1), range(m + 1)):
        r = comparison(a, n, b, m)
        r = replace(r, verdict=_verdict(a, n, b, m, 0.05, 0.05))
        behind[shown(base, r, tables=sized(base, n, m))].add((a, b))
    for edition, one in behind.items():
        made = msgspec.json.decode(edition)[0]
        for i, side in enumerate(("real", "holdout")):
            assert len({x[i] for x in one}) >= (FEW if made[side]["hits"] is None else BASE)


@pytest.mark.parametrize("joined", ["real", pytest.param("holdout", marks=pytest.mark.slow)])
def test_one_person_more_shows_at_a_border_alone(base, joined):
    # two releases, of which the second has one person more: who is hit, or is not
    behind = defaultdict(set)
    for n, a, hit in itertools.product(range(58, 68), range(13, 48), (0, 1)):
        two = []
        for k, of in ((a, n), (a + hit, n + 1)):
            counts, sizes = ((k, of, 30, 60), (of, 60)) if joined == "real" else ((30, 60, k, of), (60, of))
            two.append(shown(base, comparison(*counts), tables=sized(base, *sizes)))
        behind[tuple(two)].add((a, n))
    borders = {edition: one for edition, one in behind.items() if edition[0] != edition[1]}
    within = [len({a for a, _ in one}) for edition, one in behind.items() if edition not in borders]
    assert min(within) >= BASE - 1  # the last count of a step is none whose person more was hit and did not show
    crossed = [one for (before, after), one in borders.items() if _hits(before, joined) != _hits(after, joined)]
    assert min(len({a for a, _ in one}) for one in crossed) == 1  # what the page on editions warns of
    others = [one for one in borders.values() if one not in crossed]
    assert min(len({a for a, _ in one}) for one in others) >= BASE - 1


def _hits(edition, role):
    return msgspec.json.decode(edition)[0][role]["hits"]


def test_the_score_is_what_a_limit_in_hundredths_leaves():
    for hundredths in range(101):
        one = SimpleNamespace(context={}, verdict="none found")
        risk = SimpleNamespace(low=0.0, high=hundredths / 100)
        assert _score(one, risk) == 100 - hundredths
