"""Inference: brute force over whole tables, each target's own search, what must be right, laws, bad input."""

import importlib
import json
import math
import warnings

import numpy as np
import polars as pl
import pytest

import divulge
from divulge.attacks.entry import WAYS
from divulge.attacks.inference.inference import OF_A_COPY
from divulge.case.case import COLLECTED
from divulge.core import coded_scores
from divulge.core.coded_scores import CodedScores
from divulge.core.errors import ColumnError, SettingError
from divulge.core.schema import Column, Schema
from divulge.kernels._native.library import at_level, levels

COUNTED = ["nearest record", "CAP", "k-vote"]


def run(tables, **options):
    """The results of the ways that only count, by target and way."""
    real, synthetic, *rest = tables
    options = {"ways": COUNTED} | options
    found = divulge.inference(real, synthetic, holdout=rest[0] if rest else None, **options)
    return {(r.target, r.variant): r for r in found}


# ---------------------------------------------------------------- brute force

NUMBERS, LETTERS = ("x", "y"), ("c", "d", "e")
SCHEMA = Schema((*(Column(n, "numeric") for n in NUMBERS), *(Column(n, "categorical") for n in LETTERS)))


def small(rng, n):
    """Few values, so that rows tie; gaps everywhere; numbers in quarters of their range, which add up exactly."""
    columns = {c: rng.integers(0, 5, n) * 2.5 for c in NUMBERS} | {c: rng.integers(0, 3, n) for c in LETTERS}
    gaps = {c: (rng.random(n) < 0.15) & (np.arange(n) > 1) for c in columns}
    for c in NUMBERS:
        columns[c][:2] = 0, 10
    return [
        {c: None if gaps[c][i] else float(v[i]) if c in NUMBERS else "pqr"[v[i]] for c, v in columns.items()}
        for i in range(n)
    ]


def frame(rows):
    return pl.DataFrame(rows, schema=dict.fromkeys(NUMBERS, pl.Float64) | dict.fromkeys(LETTERS, pl.String))


def distance(a, b, known, ranges):
    """Gower's, by the definition."""
    total = 0.0
    for c in known:
        if a[c] is None or b[c] is None or c in LETTERS:
            total += a[c] != b[c]
        else:
            total += min(1.0, abs(a[c] - b[c]) / ranges[c])
    return total


def brute(person, synthetic, known, target, k, ranges, reach):
    """Chance of the nearest record and of the vote to be right about one person."""

    def right(a, b):
        if a is None or b is None or target in LETTERS:
            return a == b
        return abs(a - b) <= reach * (1 + 1e-9)

    far = [distance(person, s, known, ranges) for s in synthetic]
    near = [s[target] for s, d in zip(synthetic, far, strict=True) if d == min(far)]
    last = sorted(far)[min(k, len(far)) - 1]
    votes = [s[target] for s, d in zip(synthetic, far, strict=True) if d <= last]
    support = {v: sum(right(v, w) for w in votes) for v in votes}
    best = [v for v in support if support[v] == max(support.values())]
    return (
        sum(right(person[target], v) for v in near) / len(near),
        sum(right(person[target], v) for v in best) / len(best),
    )


@pytest.mark.first(4)
@pytest.mark.parametrize("seed", range(12))
def test_every_target_is_guessed_as_brute_force_does(seed):
    rng = np.random.default_rng(seed)
    real, synthetic, holdout = (small(rng, int(n)) for n in rng.integers(8, 25, 3))
    k, people = int(rng.integers(1, 6)), real + holdout
    keys = None if seed % 3 else ["x", "c", "d"]
    found = run([frame(t) for t in (real, synthetic, holdout)], k=k, schema=SCHEMA, keys=keys, tolerance=0.1)
    # a table in which every row stands several times counts once
    repeats = math.gcd(*(synthetic.count(s) for s in synthetic))
    assert repeats == 1
    columns = [c for c in (*NUMBERS, *LETTERS) if c not in (keys or ())]
    assert {t for t, _ in found} == set(columns)
    ranges = dict.fromkeys(NUMBERS, 10)
    for target in columns:
        reach = 0.0
        if target in NUMBERS:
            known = sorted(p[target] for p in people if p[target] is not None)
            low, high = (known[math.ceil(q * len(known) / 100) - 1] for q in (5, 95))
            reach = 0.1 * (high - low)
        others = keys or [c for c in (*NUMBERS, *LETTERS) if c != target]
        expected = np.array([brute(p, synthetic, others, target, k, ranges, reach) for p in people])
        for j, way in enumerate(("nearest record", "k-vote")):
            r = found[target, way]
            scores = np.concatenate([r.individual.real, r.individual.holdout])
            assert np.abs(scores - expected[:, j]).max() <= 1e-12, (target, way)
            assert r.real.rate == pytest.approx(expected[: len(real), j].mean(), abs=1e-12)
            assert r.holdout.rate == pytest.approx(expected[len(real) :, j].mean(), abs=1e-12)
            a, b = r.real.rate, r.holdout.rate
            assert r.difference.value == pytest.approx(a - b, abs=1e-12)
            assert r.settings == {"known": len(others), "tolerance": 0.1} | ({"k": k} if way == "k-vote" else {})
            assert r.keys == tuple(keys or ())


@pytest.mark.first(3)
@pytest.mark.parametrize("seed", range(8))
def test_agreement_is_generalised_cap(seed):
    """Without bins CAP of inference is the CAP of attribution with unseen="nearest"."""
    rng = np.random.default_rng(seed)
    tables = [frame(small(rng, int(n))).select(LETTERS) for n in rng.integers(8, 40, 3)]
    schema = Schema(tuple(Column(c, "categorical") for c in LETTERS))
    for (target, _), r in run(tables, ways=["CAP"], schema=schema).items():
        keys = [c for c in LETTERS if c != target]
        cap = divulge.cap(
            tables[0], tables[1], holdout=tables[2], keys=keys, target=target, unseen="nearest", schema=schema
        )
        assert np.abs(r.individual.real - cap.individual.real).max() <= 1e-12
        assert np.abs(r.individual.holdout - cap.individual.holdout).max() <= 1e-12
        # people of both tables, where the attribution family has members alone
        people = pl.concat([tables[0], tables[2]])[target].value_counts()["count"].to_numpy()
        assert r.baseline.rate == pytest.approx(people.max() / people.sum())


# ---------------------------------------------------------------- what must be right


@pytest.mark.parametrize("value", ["x", 7.5, None])
def test_everybody_is_right_about_a_constant(value):
    """Anonymeter 1.1.0's baseline had 16% here, because it pairs guesses and people by row label."""
    rng = np.random.default_rng(0)
    tables = [pl.DataFrame({"a": rng.random(60), "t": [value] * 60}, strict=False) for _ in range(3)]
    for r in run(tables, target="t", ways=None).values():
        assert (r.real.rate, r.holdout.rate, r.baseline.rate) == (1, 1, 1)
        assert r.context["guessing in proportion to how often each value occurs"] == 1
        assert r.verdict == "cannot tell"
        assert r.individual.real.tolist() == [1] * 60


def test_a_negative_guess_is_not_always_right():
    """Anonymeter 1.1.0 divides the error by the guess: -5 for a truth of 100 is right there."""
    rng = np.random.default_rng(1)
    real, holdout = (pl.DataFrame({"a": rng.random(50), "t": 100 + rng.random(50)}) for _ in range(2))
    synthetic = pl.DataFrame({"a": rng.random(50), "t": -5 - rng.random(50)})
    for r in run((real, synthetic, holdout), target="t", ways=None).values():
        assert (r.real.hits, r.holdout.hits) == (0, 0)


def test_missing_is_met_by_missing_alone():
    real = pl.DataFrame({"a": [0.5, 1.5, 2.5, 3.5], "t": ["x", None, "y", None]})
    synthetic = pl.DataFrame({"a": [0.5, 1.5, 2.5, 3.5], "t": [None, None, "y", "x"]})
    (r,) = run((real, synthetic), target="t", ways=["nearest record"]).values()
    assert r.individual.real.tolist() == [0, 1, 1, 0]


def test_the_target_is_never_among_the_known():
    """A synthetic row that agrees in the target alone would be nearest if it counted."""
    rng = np.random.default_rng(2)
    tables = [pl.DataFrame({f"c{j}": [f"v{v}" for v in rng.integers(0, 40, 80)] for j in range(3)}) for _ in range(3)]
    all_known = run(tables)
    for target in ("c0", "c1", "c2"):
        others = [c for c in tables[0].columns if c != target]
        given = run([t.select([*others, target]) for t in tables], target=target, keys=others)
        for way in COUNTED:
            assert np.array_equal(all_known[target, way].individual.real, given[target, way].individual.real)
            # a target nobody can know: levels of its own, drawn at random
            assert all_known[target, way].real.rate < 0.15
        shuffled = [t.with_columns(pl.col(target).shuffle(seed=3)) for t in tables[::2]]
        moved = run((shuffled[0], tables[1], shuffled[1]), target=target)
        for way in COUNTED:
            truth = shuffled[0][target] == tables[0][target]
            same = all_known[target, way].individual.real[truth] == moved[target, way].individual.real[truth]
            assert same.all()


def test_keys_are_all_that_is_known():
    rng = np.random.default_rng(4)
    real, holdout, synthetic = (
        pl.DataFrame({c: rng.random(90) for c in "abc"}).with_columns(t=(10 * pl.col("a")).floor().cast(int).cast(str))
        for _ in range(3)
    )
    tables = real, synthetic, holdout
    told, untold, every = (run(tables, target="t", keys=k)["t", "nearest record"] for k in (["a"], ["b", "c"], None))
    assert told.real.rate > every.real.rate > untold.real.rate
    assert (told.keys, told.settings["known"], every.keys, every.settings["known"]) == (("a",), 1, (), 3)
    left = run(tables, keys=["a", "t"])
    assert {t for t, _ in left} == {"b", "c"}
    noise = [t.with_columns(b=pl.lit(0.0)) for t in tables]
    assert np.array_equal(
        run(noise, target="t", keys=["a"])["t", "k-vote"].individual.real,
        run(tables, target="t", keys=["a"])["t", "k-vote"].individual.real,
    )


def test_releasing_the_real_table_tells_all():
    rng = np.random.default_rng(5)
    real, holdout = (
        pl.DataFrame({"a": rng.random(300), "b": rng.random(300), "t": [f"v{i}" for i in rng.integers(0, 5, 300)]})
        for _ in range(2)
    )
    found = run((real, real, holdout))
    for target in ("a", "b", "t"):
        r = found[target, "nearest record"]
        assert (r.real.rate, r.risk.value, r.verdict) == (1, pytest.approx(1), "excess found")
        assert r.individual.real.tolist() == [1] * 300
    for r in run((real, holdout, holdout), target="t", ways=["nearest record"]).values():
        assert r.holdout.rate == 1 > r.real.rate
        assert r.risk.value is None
        assert r.verdict == "cannot tell"


def test_people_without_the_commonest_value_show_copies_that_blind_guessing_hides():
    """Nine in ten have one value and 40% are copied: blind guessing is right about as many as the attack."""
    n = 1000
    key, rare = np.arange(3 * n).reshape(3, n) * 1.0, np.arange(n) % 10 == 5
    copied = np.arange(n) // 10 % 5 < 2  # as many among the rare as among the others
    real, holdout = (pl.DataFrame({"key": k, "ill": np.where(rare, "yes", "no")}) for k in key[::2])
    # strangers in all other rows, without anybody who is ill
    synthetic = pl.DataFrame({"key": np.where(copied, key[0], key[1]), "ill": np.where(copied & rare, "yes", "no")})
    schema = Schema((Column("key", "numeric"), Column("ill", "categorical")))
    tables = real, synthetic, holdout
    found = run(tables, target="ill", ways=["nearest record"], schema=schema)["ill", "nearest record"]
    told = [found.context[f"right about people without the commonest value{of}"] for of in ("", ", strangers")]
    members = 0.4  # by hand: 100 are ill, of whom 40 are copied, and the rows nearest to the others say no
    assert told == [members, 0]
    assert found.real.rate == pytest.approx(0.94)
    assert found.baseline.rate == 0.9
    assert told[0] - told[1] > 5 * (found.real.rate - found.baseline.rate)


@pytest.mark.parametrize("n_rare", [0, 19, 500])
def test_nobody_is_counted_apart_where_few_or_half_are(n_rare):
    table = pl.DataFrame({"key": np.arange(1000) % 300, "ill": np.arange(1000) < n_rare})
    found = divulge.inference(table, table, holdout=table, target="ill", ways=["nearest record"])[0]
    assert not any("commonest" in name for name in found.context)


def test_the_context_names_what_others_know():
    rng = np.random.default_rng(6)

    def some(n):
        a = rng.integers(0, 4, n)
        return pl.DataFrame({"a": [f"a{v}" for v in a], "t": [f"t{v // 2}" for v in a]})

    real, synthetic, holdout = (some(200) for _ in range(3))
    with_strangers = run((real, synthetic, holdout), target="t", ways=None)
    alone = run((real, synthetic), target="t", ways=None)
    for r in with_strangers.values():
        assert r.context["model trained on strangers, about members"] == 1
        assert {"PRC", "PRC, strangers", "PRC, reference", "ALC", "precision", "recall"} <= r.context.keys()
        assert {"recall", "precision", "recall, strangers", "precision, strangers"} == r.curves.keys()
    for r in alone.values():
        assert r.context["model trained on other members, about members"] == 1
        assert (r.verdict, r.holdout, r.risk, r.difference) == ("no holdout", None, None, None)
        assert r.individual.holdout is None
    for r in run((real, synthetic, holdout), target="t", ways=["CAP"]).values():
        assert not any("model" in c for c in r.context)


# ---------------------------------------------------------------- laws


def draw(seed, sizes=(90, 110, 70)):
    rng = np.random.default_rng(seed)

    def some(n):
        job = rng.integers(0, 4, n)
        return pl.DataFrame(
            {
                "age": rng.integers(20, 60, n) + 0.5,
                "income": np.exp(rng.normal(size=n)).round(1),
                "job": [f"j{j}" for j in job],
                "town": pl.Series([None if t == 3 else f"t{t}" for t in rng.integers(0, 4, n)], dtype=pl.String),
                "ill": [f"i{i}" for i in np.where(rng.random(n) < 0.5, job, rng.integers(0, 4, n))],
                "home": [f"h{j}" for j in rng.integers(0, n // 2 + 1, n)],
            }
        )

    return tuple(some(n) for n in sizes)


def told(found):
    """Every field but the time, and but the note that a lazy table was read into memory."""
    notes = [[n for n in r.notes if not n.startswith(COLLECTED)] for r in found]
    return [{**r.to_dict(), "seconds": 0, "notes": n} for r, n in zip(found, notes, strict=True)]


def every(tables, **options):
    options = {"holdout": tables[2], "unit": "home", "ways": COUNTED, "subgroups": ["job"]} | options
    return divulge.inference(tables[0], tables[1], **options)


def by_name(found):
    return sorted(told(found), key=lambda r: (r["target"], r["variant"]))


@pytest.mark.slow
@pytest.mark.first(1)
@pytest.mark.parametrize("seed", range(2))
def test_what_changes_no_digit(seed):
    tables = draw(seed)
    found = every(tables)
    expected = told(found)
    assert len(expected) == 15
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(len(t)) for t in tables]
    moved = every([t[o] for t, o in zip(tables, orders, strict=True)])
    assert told(moved) == expected
    for one, other in zip(found, moved, strict=True):
        assert np.array_equal(one.individual.real[orders[0]], other.individual.real)
        assert np.array_equal(one.individual.holdout[orders[2]], other.individual.holdout)
    turned = every([t.select(reversed(t.columns)) for t in tables])
    assert by_name(turned) == by_name(found)
    names = {"t0": "z", "t1": "m", "t2": "b", "j0": "q", "j1": "b", "j2": "r", "j3": "a", "i0": "o", "i1": "n"}
    assert told(every([t.with_columns(pl.col("town", "job", "ill").replace(names)) for t in tables])) == expected
    assert told(every([t.to_pandas() for t in tables])) == expected
    assert told(every([t.to_arrow() for t in tables])) == expected
    assert told(every((tables[0], tables[1].lazy(), tables[2]))) == expected
    doubled = every((tables[0], pl.concat([tables[1]] * 2), tables[2]))
    assert told(doubled) == expected
    # a power of two changes no bit of a distance
    scaled = every([t.with_columns(pl.col("age", "income") * 8) for t in tables])
    assert told(scaled) == expected


def test_another_unit_of_a_number_changes_no_guess():
    """With one known number distances are that number's: rounding in another unit parts no two rows."""
    tables = draw(3)
    for target, keys in (("age", ["job", "town"]), ("ill", ["age"]), ("income", ["age"])):
        other = [t.with_columns(pl.col("age", "income") * 3 + 7) for t in tables]
        one, two = (every(t, target=target, keys=keys) for t in (tables, other))
        assert told(one) == told(two)


def test_a_constant_column_changes_no_digit():
    tables = draw(4)
    constant = [t.with_columns(one=pl.lit("x"), again=pl.lit("x")) for t in tables]
    one, other = every(tables), every(constant)
    for a, b in zip(told(one), told(other), strict=True):
        assert [n for n in b["notes"] if "'one'" not in n] == a["notes"]
        assert {**a, "notes": 0} == {**b, "notes": 0}


def test_members_and_strangers_change_places():
    real, synthetic, holdout = draw(5)
    schema = Schema(tuple(Column(c, "numeric") for c in ("age", "income")))
    here, there = (every((a, synthetic, b), schema=schema) for a, b in ((real, holdout), (holdout, real)))
    for one, other in zip(here, there, strict=True):
        assert one.difference.value == -other.difference.value
        assert one.baseline == other.baseline
        for g, o in ((g, o) for g in one.groups for o in other.groups if (g.of, g.real) == (o.of, o.holdout)):
            assert g.holdout == o.real


@pytest.mark.slow
@pytest.mark.first(1)
@pytest.mark.parametrize("way", WAYS)
def test_threads_change_no_digit(way, monkeypatch):
    """Targets side by side, and the compiled search, in one thread and in several."""
    monkeypatch.setattr("divulge.kernels.neighbours.index._FEW", 0)
    tables = draw(6)
    found = []
    for threads in (1, 3):
        monkeypatch.setattr("os.cpu_count", lambda n=threads: n)
        monkeypatch.setattr("divulge.kernels.runtime.THREADS_FROM", 0 if threads > 1 else 10**9)
        found.append(told(every(tables, ways=[way], target=["age", "ill", "job"])))
    assert found[0] == found[1]


def test_a_target_is_answered_alone_as_among_others():
    tables = draw(7)
    together = {(r.target, r.variant): r for r in every(tables)}
    for target in ("age", "ill"):
        for r in every(tables, target=target):
            assert np.array_equal(r.individual.real, together[target, r.variant].individual.real)
            assert r.p_adjusted <= together[target, r.variant].p_adjusted
    (headline,) = every(tables, target="ill", ways=["nearest record"])
    assert headline.groups == together["ill", "nearest record"].groups
    assert headline.p_adjusted == headline.p_value


def test_all_targets_of_a_run_are_found_in_two_walks(monkeypatch):
    """One for distances and one for agreement; without compiled loops each target has searches of its own."""
    from_rows, walks = importlib.import_module("divulge.attacks.inference._from_rows"), []
    plain = from_rows.answers_without
    monkeypatch.setattr(from_rows, "answers_without", lambda *given: walks.append(len(given[3])) or plain(*given))
    monkeypatch.setattr("divulge.kernels.neighbours.leave_one_out._FEW", 0)
    tables = draw(7)
    together = every(tables)
    assert walks == ([5, 5] if levels() else [])
    with at_level("none"):
        assert told(every(tables)) == told(together)


@pytest.mark.slow
@pytest.mark.skipif(not levels(), reason="no compiled loops")
def test_answers_in_little_memory_change_no_digit(monkeypatch):
    from_rows, waiting = importlib.import_module("divulge.attacks.inference._from_rows"), []
    plain = from_rows._in_little_memory
    monkeypatch.setattr(from_rows, "_in_little_memory", lambda found: waiting.append(plain(found)) or waiting[-1])
    monkeypatch.setattr("divulge.kernels.neighbours.leave_one_out._FEW", 0)
    tables, asked = draw(8), {"target": ["age", "ill"], "subgroups": []}
    before = every(tables, **asked)
    monkeypatch.setattr(coded_scores, "CODED_FROM", 1)
    assert told(every(tables, **asked)) == told(before)
    coded = [
        [len(a) for a in answers] for answers in waiting[4:] if all(isinstance(a, CodedScores) for a in answers[::3])
    ]
    assert sorted(coded) == [[160, 0, 0, 160]] * 2 + [[160] * 4] * 2  # nobody looks at the vote of rows that agree


def test_ways_stand_in_their_own_order():
    tables = draw(8)
    found = every(tables, ways=["k-vote", "nearest record"], target=["ill", "job"])
    assert [(r.target, r.variant) for r in found] == [
        (t, w) for t in ("ill", "job") for w in ("nearest record", "k-vote")
    ]


def test_households_are_the_unit():
    """Five equal rows of a household say no more than one."""
    rng = np.random.default_rng(9)

    def homes(side, n=60):
        one = pl.DataFrame(
            {
                "a": rng.random(n),
                "t": [f"v{v}" for v in rng.integers(0, 2, n)],
                "home": [f"{side}{i}" for i in range(n)],
            }
        )
        return pl.concat([one] * 5)

    real, synthetic, holdout = (homes(s) for s in "rsh")
    schema = Schema((Column("t", "categorical"),))
    by_home, by_row = (
        divulge.inference(
            real, synthetic, holdout=holdout, target="t", keys=["a"], ways=["nearest record"], unit=u, schema=schema
        )[0]
        for u in ("home", None)
    )
    assert (by_home.real.hits, by_home.real.n) == (by_row.real.hits, by_row.real.n)
    assert by_home.difference.value == by_row.difference.value
    wide, narrow = (r.difference.high - r.difference.low for r in (by_home, by_row))
    assert wide > 2 * narrow
    assert by_home.context["ALC, low"] is None


def test_no_value_of_the_data_is_told():
    tables = [
        t.with_columns(pl.col("town").replace({"t0": "Zanzibar", "t1": "Quito"}), age=pl.col("age") + 918273)
        for t in draw(10)
    ]
    text = json.dumps(told(every(tables)))
    for value in ("Zanzibar", "Quito", *(str(918273 + a) for a in range(20, 60))):
        assert value not in text


def test_no_error_tells_a_value():
    real, synthetic, holdout = draw(11)
    with pytest.raises(SettingError) as error:
        every((real, synthetic, holdout), target=["ill", "ill"])
    assert "i0" not in str(error.value)


# ---------------------------------------------------------------- bad input

GOOD = draw(17, (40, 40, 40))
CALLS = [
    ("an unknown target", {"target": "illl"}, "target: no column 'illl'.*did you mean 'ill'"),
    ("one unknown of several", {"target": ["ill", "jobb"]}, "target: no column 'jobb'"),
    ("the target among the keys", {"target": "ill", "keys": ["age", "ill"]}, "'ill' is among the keys.*hint"),
    ("no target", {"target": []}, "target: none given.*hint"),
    ("a number as target", {"target": 3}, "target: no column '3'.*hint"),
    ("a target twice", {"target": ["ill", "ill"]}, "target: a name is given twice.*hint"),
    ("no keys", {"keys": []}, "keys: none given"),
    ("a key twice", {"target": "ill", "keys": ["age", "age"]}, "named twice"),
    ("an unknown key", {"target": "ill", "keys": ["agee"]}, "keys: no column 'agee'.*did you mean 'age'"),
    ("all known", {"keys": ["age", "income", "job", "town", "ill", "home"]}, "no column is left to attack.*hint"),
    ("k of 0", {"k": 0}, "k: 0 is below 1"),
    ("k as a truth", {"k": True}, "k: a bool is no whole number"),
    ("half a k", {"k": 1.5}, "k: a float is no whole number"),
    ("a negative tolerance", {"tolerance": -1}, "tolerance: -1 is outside"),
    ("a tolerance of 1", {"tolerance": 1}, "tolerance: 1 is outside"),
    ("a tolerance of nan", {"tolerance": math.nan}, "tolerance: nan is outside"),
    ("a tolerance as text", {"tolerance": "0.05"}, "tolerance: a str is no number.*hint"),
    ("a tolerance as truth", {"tolerance": False}, "tolerance: a bool is no number.*hint"),
    ("an unknown way", {"ways": ["CAP", "guess"]}, "ways: not a known setting.*hint: one of nearest record, CAP"),
    ("ways as a text", {"ways": "CAP"}, "ways: got the text 'CAP'.*hint"),
    ("no ways", {"ways": []}, "ways: none given.*hint"),
    ("a way twice", {"ways": ["CAP", "CAP"]}, "ways: a name is given twice"),
    ("a number of ways", {"ways": 2}, "ways: a int is no list"),
    ("an unknown subgroup", {"subgroups": ["jobs"]}, "subgroups: no column 'jobs'.*did you mean 'job'"),
    ("a subgroup twice", {"subgroups": ["job", "job"]}, "subgroups: a name is given twice"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "says"), [c[1:] for c in CALLS], ids=[c[0] for c in CALLS])
def test_a_wrong_call_says_what_was_found_and_what_to_do(options, says):
    kind = ColumnError if "no column '" in says else SettingError
    with pytest.raises(kind, match=f"(?s){says}"):
        divulge.inference(*GOOD[:2], holdout=GOOD[2], **({"ways": ["nearest record"]} | options))


def test_one_column_leaves_nothing_to_know():
    with pytest.raises(SettingError, match=r"no column is left that the attacker could know.*hint"):
        divulge.inference(GOOD[0][["age"]], GOOD[1][["age"]], ways=["CAP"])


def test_one_row_each():
    one = [t.head(1) for t in GOOD]
    for r in run(one, target="ill", keys=["age", "job"], ways=None).values():
        assert r.real.n == r.holdout.n == 1
        assert r.verdict == "cannot tell"
        assert r.groups == ()
    with pytest.raises(SettingError, match="no column is left to attack"):
        run(one)


@pytest.mark.parametrize("empty", ["real", "synthetic", "holdout"])
def test_an_empty_table_is_refused(empty):
    tables = dict(zip(("real", "synthetic", "holdout"), GOOD, strict=True))
    tables[empty] = tables[empty].head(0)
    with pytest.raises(divulge.core.errors.DivulgeError, match=f"{empty}: the table has .* no rows"):
        divulge.inference(**tables, ways=["CAP"])


def with_target(values):
    return [t.with_columns(t=pl.Series(v, strict=False)) for t, v in zip(GOOD, values, strict=True)]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([[None] * 40] * 3, None),
        ([[math.inf, -math.inf, 1.5, None, math.nan] * 8, [math.inf, 2.5] * 20, [-math.inf, 7.5] * 20], "numeric"),
        ([[f"{side}{i}" for i in range(40)] for side in "rsh"], "categorical"),
        ([[1] * 40, ["x"] * 40, [2.5] * 40], None),
        ([[1e308, -1e308] * 20, [0.0, 1.0] * 20, [5e-324] * 40], "numeric"),
    ],
    ids=["missing throughout", "infinities", "all different", "mixed types", "huge and tiny"],
)
def test_odd_targets_give_odd_but_whole_results(values, kind):
    schema = Schema((Column("t", kind),)) if kind else None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = run(with_target(values), target="t", schema=schema, subgroups=["job"])
    assert len(found) == 3
    for r in found.values():
        assert 0 <= r.real.rate <= 1
        assert 0 <= r.holdout.rate <= 1
        assert 0 < r.baseline.rate <= 1
        assert np.isfinite(r.individual.real).all()


def test_infinity_is_guessed_like_a_word():
    real = pl.DataFrame({"a": [1.5, 2.5, 3.5, 4.5], "t": [math.inf, -math.inf, 1.0, 2.0]})
    synthetic = pl.DataFrame({"a": [1.5, 2.5, 3.5, 4.5], "t": [math.inf, math.inf, math.inf, 2.0]})
    schema = Schema((Column("t", "numeric"),))
    (r,) = run((real, synthetic), target="t", ways=["nearest record"], schema=schema).values()
    assert r.individual.real.tolist() == [1, 0, 0, 1]


def test_what_a_full_copy_would_show_is_what_it_shows():
    """On coarse columns, of which members have every combination, whoever asks finds the members of the same record."""
    rng = np.random.default_rng(6)
    tables = [pl.DataFrame({c: rng.choice(list("abc"), n) for c in "vwx"}) for n in (120, 90)]
    for found in divulge.inference(tables[0], tables[0], holdout=tables[1], target="x", ways=["nearest record", "CAP"]):
        assert 0 < found.context[OF_A_COPY] < 0.3
        assert found.risk.value == pytest.approx(found.context[OF_A_COPY], abs=1e-12)
    # of numbers CAP compares bins: what is known is a hash of all columns less the target, in either form
    mixed = [t.with_columns(n=pl.Series(rng.integers(0, 60, len(t)) / 4)) for t in tables]
    for found in divulge.inference(mixed[0], mixed[0], holdout=mixed[1], target=["x", "n"], ways=COUNTED[:2]):
        assert found.risk.value == pytest.approx(found.context[OF_A_COPY], abs=1e-12)
    unique = [pl.DataFrame({"v": rng.normal(size=200), "x": rng.choice(list("abc"), 200)}) for _ in range(2)]
    found, vote = divulge.inference(
        unique[0], unique[0], holdout=unique[1], target="x", ways=["nearest record", "k-vote"]
    )
    assert found.context[OF_A_COPY] == pytest.approx(1)
    assert OF_A_COPY not in vote.context
