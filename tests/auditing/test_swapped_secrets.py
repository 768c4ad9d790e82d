"""Swapped secrets: pairs and exchanges by law, evidence by loops, planted leaks found at their rate, an exact null."""

import numpy as np
import polars as pl
import pytest
from small_audits import audited, bootstrap, copies, elsewhere, partly, people, pool_of

from divulge.auditing import predicted, secrets
from divulge.auditing.evidence import centred, guessing, row_evidence
from divulge.auditing.pairs import exchanged, neighbours, pair_up, secret_of, widened
from divulge.auditing.pool import Training
from divulge.auditing.secrets import SwappedSecrets
from divulge.auditing.worlds import case_of, encoded, made_of
from divulge.core.errors import ColumnError, SettingError
from divulge.tables.frames import table_of


@pytest.fixture(autouse=True)
def small_forests(monkeypatch):
    monkeypatch.setattr(predicted, "TREES", 30)


def made_pairs(frame, secret, n_strata=3, **settings):
    everybody = encoded(pool_of(frame, **settings))
    of = secret_of(everybody.case, [secret], everybody.units)
    strata = np.arange(everybody.n_units) % n_strata
    pairs = pair_up(of, strata, np.arange(everybody.n_units), np.random.default_rng(0))
    return everybody, of, strata, pairs


@pytest.mark.parametrize("secret", ["job", "income"])
def test_pairs_are_alike_and_their_secrets_differ(secret):
    frame = people(90)
    _, of, strata, pairs = made_pairs(frame, secret)
    assert len(pairs) > 30
    assert len(np.unique(pairs)) == pairs.size
    assert (strata[pairs[:, 0]] == strata[pairs[:, 1]]).all()
    assert of.differ(pairs[:, 0], pairs[:, 1]).all()
    if secret == "income":
        values = np.sort(frame["income"].to_numpy())
        spread = values[int(0.95 * 89)] - values[int(0.05 * 89)]
        a, b = (frame["income"].to_numpy()[pairs[:, i]] for i in (0, 1))
        assert np.abs(a - b).min() > 0.05 * spread


def test_near_people_come_first_and_twins_never():
    frame = people(80).with_columns(pl.col("height").round(0), pl.col("weight").round(0))
    frame = pl.concat([frame, frame[:10].with_columns(pl.lit("nurse").alias("job"))])
    everybody = encoded(pool_of(frame))
    known = ["height", "weight", "place", "income"]
    near = neighbours(everybody.case, known)
    assert near.shape == (90, 60)
    for i in range(10):
        assert i + 80 not in near[i] and i not in near[i + 80]  # they agree in all that is known
    of = secret_of(everybody.case, ["job"], everybody.units)
    pairs = pair_up(of, np.zeros(90, dtype=int), np.arange(0, 90, 2), np.random.default_rng(0), near)
    assert (pairs % 2 == 0).all()
    assert len(np.unique(pairs)) == pairs.size > 30
    assert of.differ(pairs[:, 0], pairs[:, 1]).all()
    far = pair_up(of, np.zeros(90, dtype=int), np.arange(0, 90, 2), np.random.default_rng(0))
    apart = [
        np.abs(frame["height"].to_numpy()[p[:, 0]] - frame["height"].to_numpy()[p[:, 1]]).mean() for p in (pairs, far)
    ]
    assert apart[0] < 0.8 * apart[1]


def test_an_exchange_moves_secrets_within_pairs_and_nothing_else():
    frame = people(60)
    everybody, of, _, pairs = made_pairs(frame, "job")
    rows = exchanged(everybody.units, of, pairs)
    assert (rows[rows] == np.arange(60)).all()
    trained = made_of(table_of(frame, "real"), Training(np.arange(60), {"job": rows})).named()
    assert trained.drop("job").equals(frame.drop("job"))
    assert trained["job"].sort().equals(frame["job"].sort())
    for a, b in pairs.tolist():
        assert (trained["job"][a], trained["job"][b]) == (frame["job"][b], frame["job"][a])
        assert trained["job"][a] != frame["job"][a]


def test_households_exchange_as_one():
    home = np.repeat(np.arange(40), 3)
    frame = people(120).with_columns(pl.Series("home", home), pl.Series("tenure", np.array(["own", "let"])[home % 2]))
    everybody, of, _, pairs = made_pairs(frame, "tenure", unit="home")
    rows = exchanged(everybody.units, of, pairs)
    assert len(pairs) > 10
    for a, b in pairs.tolist():
        assert (home[rows[home == a]] == b).all()
    # secrets of single persons: the whole list moves, in order, between households of one size
    everybody, of, _, pairs = made_pairs(frame, "job", unit="home")
    rows = exchanged(everybody.units, of, pairs)
    for a, b in pairs.tolist():
        assert rows[home == a].tolist() == np.flatnonzero(home == b).tolist()


def test_what_determines_the_secret_goes_with_it():
    frame = people(200).with_columns(
        (pl.col("place") + "-code").alias("code"),
        pl.col("place").replace_strict({"N": "up", "E": "up", "S": "down", "W": "down"}).alias("half"),
    )
    case = encoded(pool_of(frame)).case
    assert widened(case, "place") == ("code", "half")
    assert widened(case, "half") == ("code", "place")
    assert widened(case, "job") == ()
    assert widened(case, "income") == ()  # nobody shares an income: it determines nothing


ALL = ["height", "weight", "place", "job", "income"]


def test_nearest_evidence_is_the_log_of_both_distances():
    frame, synthetic = people(40), people(30, seed=5)
    everybody, of, _, pairs = made_pairs(frame, "job", 1)
    rows = np.sort(pairs.ravel())
    full = exchanged(everybody.units, of, pairs)
    pool = pool_of(frame)
    worlds = Training(rows), Training(rows, {"job": full[rows]})
    case = case_of(pool, everybody.schema, worlds[0], table_of(synthetic, "synthetic"), worlds[1])
    found = row_evidence(case, ["job"], ["nearest"])["nearest"]
    tables = [made_of(pool.table, w).named().select(ALL) for w in worlds]
    numbers = {"height", "weight", "income"}
    ranges = {c: tables[0][c].max() - tables[0][c].min() for c in numbers}

    def nearest(record):
        each = []
        for s in synthetic.select(ALL).iter_rows():
            parts = [min(1.0, abs(x - y) / ranges[c]) if c in numbers else float(x != y)
                     for c, x, y in zip(ALL, record, s, strict=True)]  # fmt: skip
            each.append(np.mean(parts))
        return min(each)

    own, other = ([nearest(r) for r in t.iter_rows()] for t in tables)
    assert found == pytest.approx(np.log(other) - np.log(own), abs=1e-9)


def test_margin_evidence_counts_combinations_with_the_secret():
    frame, synthetic = people(40).select("place", "job"), people(300, seed=5).select("place", "job")
    everybody, of, _, pairs = made_pairs(frame, "job", 1)
    rows = np.sort(pairs.ravel())
    full = exchanged(everybody.units, of, pairs)
    worlds = Training(rows), Training(rows, {"job": full[rows]})
    pool = pool_of(frame)
    case = case_of(pool, everybody.schema, worlds[0], table_of(synthetic, "synthetic"), worlds[1])
    found = row_evidence(case, ["job"], ["margins"])["margins"]
    tables = [list(made_of(pool.table, w).named().select("place", "job").iter_rows()) for w in worlds]
    both, made = tables[0] + tables[1], list(synthetic.iter_rows())

    def score(record):
        return np.log(made.count(record) + 0.5) - np.log(both.count(record) - 1 + 0.5)

    assert found == pytest.approx([score(a) - score(b) for a, b in zip(*tables, strict=True)], abs=1e-9)


def test_linear_evidence_solves_the_counts_of_all_people_together():
    frame = people(40).select("place", "job")
    everybody, of, _, pairs = made_pairs(frame, "job", 1)
    rows = np.sort(pairs.ravel())
    full = exchanged(everybody.units, of, pairs)
    worlds = Training(rows), Training(rows, {"job": full[rows]})
    pool = pool_of(frame)
    tables = [made_of(pool.table, w).named().select("place", "job") for w in worlds]
    case = case_of(pool, everybody.schema, worlds[0], table_of(tables[0], "synthetic"), worlds[1])
    found = row_evidence(case, ["job"], ["linear"])["linear"]
    own, other = (t["job"].to_numpy() for t in tables)
    place, expected = tables[0]["place"].to_numpy(), np.zeros(len(own))
    for job in pl.concat(tables)["job"].value_counts(sort=True)["job"][:4]:
        mean = np.concatenate([own == job, other == job]).mean()
        for p in np.unique(place):  # one equation a place, the same unknown for all who are there
            here, n = place == p, (place == p).sum()
            share = (own[here] == job).mean()
            x = (n * share + 0.5 * mean) / (n + 0.5)  # minimises (n x - n share)^2 / n + n (x - mean)^2 / 2, over n
            expected[here] += x * ((own == job).astype(float) - (other == job))[here]
    assert np.corrcoef(found, expected)[0, 1] > 0.9


def test_centred_evidence_is_a_residual_around_its_middle():
    rng = np.random.default_rng(0)
    natural = rng.normal(size=101)
    found = centred(3 * natural + 7 + rng.normal(size=101), natural)
    assert np.sort(found)[10:-10].mean() == pytest.approx(0, abs=1e-8)
    assert abs(np.corrcoef(found, natural)[0, 1]) < 1e-6


def test_natural_odds_are_those_of_the_own_secrets_over_the_exchanged_ones(monkeypatch):
    seen = []
    monkeypatch.setattr(secrets, "guessing", lambda found, natural: (seen.append(natural), guessing(found, natural))[1])
    trial = SwappedSecrets(("job",), share=1.0).prepare(pool_of(people(60)))
    trial.read(0, table_of(people(60, seed=9), "synthetic"))
    one = trial.about[0]
    place = {v: i for i, v in enumerate(one.odds.classes.tolist())}
    for found, (a, b) in zip(seen[0], trial.pairs(0, 0).tolist(), strict=True):
        own, other = place[one.own[a]], place[one.own[b]]
        log = one.odds.weight
        assert found == pytest.approx(log[a, own] + log[b, other] - log[a, other] - log[b, own])


def test_copies_are_found_whoever_is_copied_and_strangers_are_not():
    pool = pool_of(people(210))
    _, (job, income) = audited(SwappedSecrets(("job", "income")), pool, copies, 1)
    assert (job.rate, income.rate) == (1.0, 1.0)
    assert job.verdict == income.verdict == "excess found"
    assert job.risk.value == 1.0
    assert sorted([job.p_adjusted, income.p_adjusted])[0] == pytest.approx(2 * min(job.p_value, income.p_value))
    assert job.trainings[0].n == job.n
    assert set(np.unique(job.persons["n"])) == {0, 1}
    assert job.persons["hits"].sum() == 2 * job.hits  # two people in each pair
    assert job.epsilon.low == pytest.approx(job.epsilon.ceiling)


@pytest.mark.slow
def test_a_generator_that_reads_the_real_table_is_told_and_nothing_is_concluded():
    frame = people(210)
    _, (found,) = audited(SwappedSecrets(("income",), acceptable=0.99), pool_of(frame), lambda table, run: frame, 2)
    assert found.verdict == "cannot tell" and found.p_value > 0.01
    assert "does the generator read {train}, or the real table?" in found.sentence
    _, (other,) = audited(SwappedSecrets(("income",), acceptable=0.99), pool_of(frame), elsewhere(210), 2)
    assert other.verdict == "none found" and other.sentence.startswith(f"of {other.n} pairs of people")


@pytest.mark.slow
def test_coins_do_not_enter_what_is_read():
    pool = pool_of(people(160))
    trial = SwappedSecrets(("job",), share=1.0).prepare(pool)
    made = table_of(people(160, seed=9), "synthetic")
    before = {k: v.copy() for k, v in trial.read(0, made).items()}
    other = SwappedSecrets(("job",), share=1.0).prepare(pool)
    type(other).coins, kept = (lambda self, run, which: 1 / 0), type(other).coins
    try:
        again = other.read(0, made)
    finally:
        type(other).coins = kept
    assert all((again[k] == before[k]).all() for k in before)


def test_bad_secrets_are_told():
    pool = pool_of(people(60).with_columns(pl.lit("x").alias("one")))
    with pytest.raises(ColumnError):
        SwappedSecrets(("jobs",)).prepare(pool)
    with pytest.raises(SettingError, match="has one value"):
        SwappedSecrets(("one",)).prepare(pool)
    with pytest.raises(SettingError, match="pairs of people whose secrets differ"):
        SwappedSecrets(("job",)).prepare(pool_of(people(30)))
    with pytest.raises(SettingError, match="nothing is left"):
        SwappedSecrets(("job",)).prepare(pool_of(people(60).select("job")))
    for wrong in ({"share": 0.0}, {"share": 1.5}, {"strata": 0}):
        with pytest.raises(SettingError, match="hint"):
            SwappedSecrets(("job",), **wrong).prepare(pool)


@pytest.mark.slow
def test_a_planted_share_of_copies_is_found_at_its_rate():
    # a pair is decided when at least one of the two is copied: 1 - (1 - share)^2
    pool = pool_of(people(600))
    for share, generator in ((0.3, partly(0.3)), (1 - np.exp(-1), bootstrap)):
        _, (found,) = audited(SwappedSecrets(("job",), share=1.0), pool, generator, 3)
        expected = 0.5 + (1 - (1 - share) ** 2) / 2
        assert abs(found.rate - expected) < 3 * np.sqrt(expected * (1 - expected) / found.n) + 0.01


@pytest.mark.slow
def test_people_are_named_after_many_trainings_and_nobody_without_a_leak():
    pool = pool_of(people(120))
    design = SwappedSecrets(("job",), share=1.0, strata=1)
    _, (leak,) = audited(design, pool, copies, 10)
    assert leak.people.flagged == leak.people.tested > 90
    assert leak.rate == 1.0
    _, (none,) = audited(design, pool, elsewhere(120), 10)
    assert none.people.flagged == 0
    assert none.context["spread between trainings"] > 0


ROWS = np.random.default_rng(3).permutation(1000)[:200]


@pytest.mark.parametrize(
    ("also", "left_out", "chosen"),
    [
        ({}, (), "job"),  # the last of few values, though income is last
        ({}, ("job", "place"), "income"),
        ({"line": ROWS, "note": [f"person {i}" for i in ROWS], "same": ["x"] * 200}, (), "job"),
        ({"line": ROWS}, ("job", "place", "income"), "weight"),  # numbers of rows are nobody's secret
        ({"ward": np.arange(200) % 3}, (), "ward"),
    ],
)
def test_without_a_secret_the_last_column_that_may_be_one_is_taken_and_told(also, left_out, chosen):
    frame = people(200).with_columns(**{name: pl.Series(values) for name, values in also.items()})
    trial = SwappedSecrets(secrets=()).prepare(pool_of(frame, ignore=left_out))
    assert trial.design.secrets == (chosen,) == tuple(one.name for one in trial.about)
    assert trial.outlook(2)[0] == f"{chosen!r} is the secret, as none was named: --secrets names others"
    named = SwappedSecrets(secrets=(chosen,)).prepare(pool_of(frame, ignore=left_out))
    assert named.outlook(2) == trial.outlook(2)[1:]
    assert (named.pairs(0, 0) == trial.pairs(0, 0)).all()


def test_a_table_without_a_column_that_may_be_a_secret_asks_for_one():
    frame = pl.DataFrame({"line": ROWS, "name": [f"person {i}" for i in ROWS]})
    with pytest.raises(SettingError, match=r"no column is named .* none suggests itself; there are 'line', 'name'"):
        SwappedSecrets(secrets=()).prepare(pool_of(frame))
