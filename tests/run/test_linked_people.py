"""People of linked tables: worked numbers, the leaks that only their rows show, preconditions, laws and messy input."""

import datetime

import msgspec
import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import divulge
from divulge.attacks.copying.histories import NEAR_HISTORY, NUMBERS_ROWS, OWN_ROW, WHOLE_HISTORY
from divulge.case.relational import people_columns as module
from divulge.case.relational.people import PEOPLE_TOGETHER, people_of
from divulge.cli import cli
from divulge.core.errors import DivulgeError, SettingError
from divulge.core.relations import Relation, RelationalSchema
from divulge.measures.linked.tables import linked_tables
from divulge.release.regimes.answers import answers
from divulge.release.regimes.regime import read_regime
from divulge.report.prose.advice import advice
from divulge.report.prose.bounds import NO_RELATION
from divulge.report.prose.decision import decision
from divulge.tables.readers import read_relational_schema

N = 200
FAST = {"models": False, "search": "off", "membership": False, "fidelity": False, "jobs": 1}


def shop(rng, n=N, first=0, *, least=2, most=8, items=12):
    """Users and their orders, of a few kinds that many have."""
    users = pl.DataFrame(
        {"uid": np.arange(first, first + n), "age": rng.integers(18, 80, n), "sex": rng.choice(["f", "m"], n)}
    )
    owner = np.repeat(users["uid"].to_numpy(), rng.integers(least, most, n))
    orders = pl.DataFrame(
        {
            "uid": owner,
            "item": [f"i{k}" for k in rng.integers(0, items, len(owner))],
            "times": rng.integers(1, 4, len(owner)),
        }
    )
    return {"users": users, "orders": orders}


def shops(seed, **more):
    rng = np.random.default_rng([seed, 48])
    return [shop(rng, first=first, **more) for first in (0, 10_000, 20_000)]


def copied(real, synthetic, share=0.2, tables=("orders",)):
    """The synthetic tables, of whose people a share have the rows of members."""
    k = round(share * real["users"].height)
    ids, first = real["users"]["uid"][:k].to_list(), synthetic["users"]["uid"][0] - real["users"]["uid"][0]
    own = [first + i for i in ids]
    moved = {name: real[name].filter(pl.col("uid").is_in(ids)).with_columns(pl.col("uid") + first) for name in tables}
    return {
        name: pl.concat([moved[name], t.filter(~pl.col("uid").is_in(own))]) if name in tables else t
        for name, t in synthetic.items()
    }


def by_variant(report):
    return {(r.variant, r.keys): r for r in report.results if r.variant in (WHOLE_HISTORY, NEAR_HISTORY, OWN_ROW)}


def made(real, synthetic=None, holdout=None, unit=None, **more):
    return people_of(linked_tables(real, synthetic or real, holdout, **more), unit)


# ---------------------------------------------------------------- worked numbers


def test_columns_of_people_are_those_of_plain_python():
    rng = np.random.default_rng(3)
    users = pl.DataFrame({"uid": [5, 3, 9, 7], "age": [30.5, 41.25, 52.0, 63.5]})
    orders = pl.DataFrame({
        "uid": [3, 5, 3, 5, 3, 9], "kind": ["a", "b", "b", None, "b", "a"], "price": [1.5, 2.5, None, 4.5, 0.5, 8.25],
        "day": [datetime.date(2024, 1, d) for d in (1, 1, 3, 9, 2, 5)],
    })  # fmt: skip
    order = rng.permutation(6)
    tables = made({"orders": orders[order], "users": users})
    frame = tables.frames[0]
    assert frame["users.age"].to_list() == [30.5, 41.25, 52.0, 63.5]
    assert frame["orders: rows"].to_list() == [2, 3, 1, 0]
    assert frame["orders.kind: distinct values"].to_list() == [1, 2, 1, 0]
    assert frame["orders.kind: commonest value"].to_list() == ["b", "b", "a", None]
    assert frame["orders.kind: first value"].to_list() == ["b", "a", "a", None]
    assert frame["orders.kind: last value"].to_list() == [None, "b", "a", None]
    assert frame["orders.kind: rows with the 1st commonest value"].to_list() == [0, 1, 1, 0]  # a: two people have each
    assert frame["orders.price: mean"].to_list() == [3.5, 1.0, 8.25, None]
    assert frame["orders.price: sum"].to_list() == [7.0, 2.0, 8.25, None]
    assert frame["orders.price: maximum"].to_list() == [4.5, 1.5, 8.25, None]
    assert frame["orders.price: last"].to_list() == [4.5, None, 8.25, None]
    assert frame["orders.day: days from first to last"].to_list() == [8.0, 2.0, 0.0, None]
    assert tables.unit is None
    assert tables.persons.table == "users"


def test_rows_of_grandchildren_and_described_rows_count(monkeypatch):
    users = pl.DataFrame({"uid": [1, 2, 3], "age": [1.5, 2.5, 3.5]})
    orders = pl.DataFrame({"oid": [11, 12, 13], "uid": [1, 1, 2], "shop": ["x", "y", "x"]})
    items = pl.DataFrame({"oid": [11, 11, 13], "pid": ["p1", "p2", "p2"], "n": [1, 2, 3]})
    products = pl.DataFrame({"pid": ["p1", "p2", "p3"], "colour": ["red", "blue", "red"]})
    schema = RelationalSchema(
        {n: divulge.infer_schema(t) for n, t in
         {"users": users, "orders": orders, "items": items, "products": products}.items()},
        (Relation("users", ("uid",), "orders", ("uid",)), Relation("orders", ("oid",), "items", ("oid",)),
         Relation("products", ("pid",), "items", ("pid",))),
    )  # fmt: skip
    tables = {"users": users, "orders": orders, "items": items, "products": products}
    found = made(tables, schema=schema, unit="users")
    assert found.frames[0]["items: rows"].to_list() == [2, 1, 0]
    assert found.frames[0]["items.products.colour: distinct values"].to_list() == [2, 1, 0]
    assert found.persons.apart == ()
    assert [h.keys for h in found.persons.histories] == [("items",), ("orders",), ("users", "items", "orders")]
    monkeypatch.setattr(module, "MOST_FEATURES", 5)
    few = made(tables, schema=schema, unit="users")
    assert few.frames[0].width == 2 + 5  # age, and the key, as these synthetic people have real ones
    assert any("5 are made columns" in n for n in few.persons.notes)


def test_people_of_one_row_and_of_a_row_that_names_another_one_count_together():
    rng = np.random.default_rng(1)
    users = pl.DataFrame({"uid": np.arange(60), "age": rng.integers(0, 9, 60), "parent": [None, 0, *[None] * 58]})
    friends = pl.DataFrame({"one": [4, 10], "other": [5, 4], "since": ["a", "b"]})
    schema = RelationalSchema(
        {"users": divulge.infer_schema(users), "friends": divulge.infer_schema(friends)},
        (Relation("users", ("uid",), "users", ("parent",)), Relation("users", ("uid",), "friends", ("one",)),
         Relation("users", ("uid",), "friends", ("other",))),
    )  # fmt: skip
    found = made({"users": users, "friends": friends}, schema=schema)
    together = found.frames[0][PEOPLE_TOGETHER].to_list()
    assert found.unit == PEOPLE_TOGETHER
    assert together[0] == together[1]
    assert together[4] == together[5] == together[10]
    assert len(set(together)) == 57
    assert found.frames[0]["friends: rows"].to_list()[4] == 2
    with pytest.raises(SettingError, match="link 60 of 60 people together"):
        made({"users": users, "friends": pl.DataFrame({"one": [0] * 59, "other": range(1, 60), "since": ["a"] * 59})},
             schema=schema)  # fmt: skip


# ---------------------------------------------------------------- leaks


@pytest.mark.usefixtures("copies_alone")
def test_whole_histories_under_fresh_people_are_found():
    real, synthetic, holdout = shops(0)
    report = divulge.assess(real, copied(real, synthetic), holdout, **FAST)
    found = by_variant(report)
    assert report.verdict == "excess found"
    assert found[WHOLE_HISTORY, ("orders",)].verdict == "excess found"
    assert found[WHOLE_HISTORY, ("orders",)].real.hits >= 35
    assert found[WHOLE_HISTORY, ("users", "orders")].real.hits == 0
    both = divulge.assess(real, copied(real, synthetic, tables=("users", "orders")), holdout, **FAST)
    whole = by_variant(both)[WHOLE_HISTORY, ("users", "orders")]
    assert (whole.real.hits, whole.holdout.hits, whole.verdict) == (40, 0, "excess found")
    assert "under one synthetic unit" in str(whole)


@pytest.mark.usefixtures("copies_alone")
def test_rows_that_were_dealt_out_to_others_are_found_as_own_rows():
    real, synthetic, holdout = shops(1, items=4_000)
    rng = np.random.default_rng(0)
    rows = (
        real["orders"]
        .sample(fraction=0.3, seed=1)
        .with_columns(uid=rng.choice(synthetic["users"]["uid"], 10**6)[: round(0.3 * real["orders"].height)])
    )
    dealt = {"users": synthetic["users"], "orders": pl.concat([synthetic["orders"], rows])}
    found = by_variant(divulge.assess(real, dealt, holdout, **FAST))
    assert found[OWN_ROW, ("orders",)].verdict == "excess found"
    assert found[WHOLE_HISTORY, ("orders",)].verdict != "excess found"


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.usefixtures("copies_alone")
def test_fresh_people_have_no_finding(seed):
    found = by_variant(divulge.assess(*shops(seed + 50), **FAST))
    assert len(found) >= 3
    assert not [r for r in found.values() if r.verdict == "excess found"]


# ---------------------------------------------------------------- preconditions and scope


def failing(report):
    return {c.check for c in report.assessment.preconditions if not c.ok}


@pytest.mark.usefixtures("copies_alone")
def test_checks_of_people_hold_where_they_should():
    real, synthetic, holdout = shops(2)
    report = divulge.assess(real, synthetic, holdout, **FAST)
    assert not failing(report)
    assert {"references", "people apart", "same lengths"} <= {c.check for c in report.assessment.preconditions}


@pytest.mark.usefixtures("copies_alone")
def test_rows_that_lead_nowhere_are_counted_and_hold_back():
    real, synthetic, holdout = shops(2)
    lost = pl.concat([real["orders"], real["orders"][:7].with_columns(uid=pl.lit(999_999, pl.Int64))])
    report = divulge.assess(real | {"orders": lost}, synthetic, holdout, **FAST)
    assert failing(report) == {"references"}
    (check,) = (c for c in report.assessment.preconditions if c.check == "references")
    assert "real: 7 of" in check.detail
    assert report.verdict == "cannot tell"


@pytest.mark.usefixtures("copies_alone")
def test_people_on_both_sides_are_told_and_keys_that_start_anew_are_not():
    real, synthetic, holdout = shops(3)
    both = {n: pl.concat([holdout[n], real[n].filter(pl.col("uid") < 20)]) for n in real}
    assert "people apart" in failing(divulge.assess(real, synthetic, both, **FAST))
    anew = {n: t.with_columns(pl.col("uid") - 20_000) for n, t in holdout.items()}
    assert "people apart" not in failing(divulge.assess(real, synthetic, anew, **FAST))


@pytest.mark.usefixtures("copies_alone")
def test_other_lengths_and_other_times_are_told():
    real, synthetic, _ = shops(4)
    longer = shop(np.random.default_rng(9), first=20_000, least=4, most=9)
    assert "same lengths" in failing(divulge.assess(real, synthetic, longer, **FAST))

    def dated(tables, start, seed):
        n = tables["orders"].height
        days = np.datetime64(start) + np.random.default_rng(seed).integers(0, 300, n)
        return tables | {"orders": tables["orders"].with_columns(day=pl.Series(days))}

    three = shops(4)
    same = [dated(t, "2024-01-01", i) for i, t in enumerate(three)]
    assert "same window" not in failing(divulge.assess(*same, **FAST))
    later = [*same[:2], dated(three[2], "2024-05-01", 2)]
    assert "same window" in failing(divulge.assess(*later, **FAST))


def test_people_linked_together_are_one_in_the_checks_of_lengths_and_times():
    """Thirty families of ten: as single people, members would have fewer rows, and later ones, than strangers."""

    def families(first, least, latest):
        users = pl.DataFrame({"uid": np.arange(first, first + 300)}).with_columns(
            head=first + (pl.col("uid") - first) // 10 * 10, age=(pl.col("uid") * 7) % 50
        )
        times = np.repeat(least + np.arange(30) % 5, 10)
        owner = np.repeat(users["uid"].to_numpy(), times)
        day = np.datetime64("2024-01-01") + np.arange(len(owner)) % 300
        day[np.isin(owner - first, np.arange(20))] = np.datetime64(latest)
        return {"users": users, "orders": pl.DataFrame({"uid": owner, "day": day, "item": ["a"] * len(owner)})}

    three = [families(0, 2, "2026-05-01"), families(1_000, 2, "2024-05-01"), families(2_000, 3, "2024-05-01")]
    schema = RelationalSchema(
        {name: divulge.infer_schema(t) for name, t in three[0].items()},
        (Relation("users", ("uid",), "orders", ("uid",)), Relation("users", ("uid",), "users", ("head",))),
    )
    linked = people_of(linked_tables(*three, schema=schema))
    assert linked.unit == PEOPLE_TOGETHER
    assert [c.check for c in linked.persons.checks if not c.ok] == []
    alone = RelationalSchema(schema.tables, schema.relations[:1])
    failed = [c.check for c in people_of(linked_tables(*three, schema=alone)).persons.checks if not c.ok]
    assert failed == ["same lengths", "same window"]


def test_a_table_without_a_way_to_people_is_listed():
    real, synthetic, holdout = (
        t | {"weather": pl.DataFrame({"town": ["a", "b"] * 20, "rain": [1, 2] * 20})} for t in shops(5)
    )
    report = divulge.assess(real, synthetic, holdout, **FAST)
    data = report.assessment
    assert [(c.column, c.why) for c in data.verdict.not_compared] == [("weather", NO_RELATION)]
    told = decision(data)
    assert told.not_tested.startswith("“weather” (no relation leads from there to the people), ")
    open_ = msgspec.structs.replace(data, verdict=msgspec.structs.replace(data.verdict, verdict="cannot tell"))
    (do,) = (a.do for a in advice(open_) if "weather" in a.do)
    assert do.startswith("Relate “weather” to the people by a [[relation]] in the schema file")
    said = next(line.said for line in answers(read_regime("ehds"), data) if line.line.results == ("copies",))
    assert [(s.text, s.state) for s in said if s.name == "verdict.not_compared"] == [
        ("“weather”, as no relation leads from there to the people.", "cannot tell")
    ]


def clinic(first, n=N):
    rng = np.random.default_rng([first, 5])
    patients = pl.DataFrame({"patient_id": np.arange(first, first + n), "age": rng.integers(18, 80, n)})
    owner = np.repeat(patients["patient_id"].to_numpy(), rng.integers(1, 5, n))
    visits = {"visit_id": np.arange(len(owner)) + 7, "pid": owner, "days": rng.integers(0, 9, len(owner))}
    return {"patients": patients, "visits": pl.DataFrame(visits)}


def test_tables_without_a_relation_are_told_which_columns_overlap():
    three = [clinic(first) for first in (50_000, 60_000, 70_000)]
    with pytest.raises(SettingError) as error:
        divulge.assess(*three, **FAST)
    assert str(error.value).startswith("relations: none was found between the tables 'patients', 'visits'")
    wanted = 'parent = "patients", parent_key = ["patient_id"], child = "visits", child_key = ["pid"]'
    assert f"[[relation]] {wanted}; then --schema" in str(error.value)
    with pytest.raises(SettingError, match="its comment shows how; then --schema"):
        divulge.assess(*({**t, "visits": t["visits"].select("days")} for t in three), **FAST)


def test_the_schema_holds_a_possible_relation_as_a_comment(tmp_path):
    for name, table in clinic(50_000).items():
        table.write_csv(tmp_path / f"{name}.csv")
    told = CliRunner().invoke(cli, ["schema", "--tables", str(tmp_path)]).output
    assert told.startswith("# no relation was found of 'patients', 'visits', and nothing compares a table without one")
    wanted = ["[[relation]]", 'parent = "patients"', 'parent_key = ["patient_id"]', 'child = "visits"',
              'child_key = ["pid"]']  # fmt: skip
    assert [line.removeprefix("# ") for line in told.splitlines()[3:8]] == wanted
    uncommented = told
    for line in wanted:
        uncommented = uncommented.replace(f"# {line}\n", f"{line}\n")
    (tmp_path / "schema.toml").write_text(uncommented)
    relation = Relation("patients", ("patient_id",), "visits", ("pid",))
    assert read_relational_schema(tmp_path / "schema.toml").relations == (relation,)
    (tmp_path / "visits.csv").write_text("days\n1\n1\n")
    assert (
        '# child_key = ["COLUMN WITH THAT KEY"]'
        in CliRunner().invoke(cli, ["schema", "--tables", str(tmp_path)]).output
    )


# ---------------------------------------------------------------- laws


def figures(report):
    return [
        {**r.to_dict(), "seconds": 0} for r in report.results if "place" not in r.variant and r.variant != "row order"
    ]


def test_order_of_rows_and_tables_and_names_of_keys_change_nothing():
    real, synthetic, holdout = shops(6)
    synthetic = copied(real, synthetic)
    before = figures(divulge.assess(real, synthetic, holdout, **FAST))
    rng = np.random.default_rng(0)

    def turned(tables):
        key = lambda c: pl.col(c).cast(pl.String) + "-k"  # noqa: E731
        out = {"orders": tables["orders"].with_columns(key("uid")), "users": tables["users"].with_columns(key("uid"))}
        return {
            n: (t[rng.permutation(t.height)] if n == "orders" else t).select(t.columns[::-1]).to_pandas()
            for n, t in out.items()
        }

    after = figures(divulge.assess(turned(real), turned(synthetic), turned(holdout), **FAST))
    known = [
        sorted(str((r["attack"], r["variant"], sorted(r["keys"]), r["target"], r["real"], r["holdout"])) for r in x)
        for x in (before, after)
    ]
    assert known[0] == known[1]


@pytest.mark.usefixtures("copies_alone")
def test_every_row_twice_moves_no_history():
    real, synthetic, holdout = shops(7)
    synthetic = copied(real, synthetic)
    twice = lambda t: t | {"orders": pl.concat([t["orders"], t["orders"]])}  # noqa: E731
    once, doubled = (by_variant(divulge.assess(*three, **FAST)) for three in (
        (real, synthetic, holdout), (twice(real), twice(synthetic), twice(holdout))))  # fmt: skip
    assert {k: (r.real, r.holdout, r.risk) for k, r in once.items()} == {
        k: (r.real, r.holdout, r.risk) for k, r in doubled.items()
    }


# ---------------------------------------------------------------- messy input


def edited(change, seed=8):
    return [change({n: t.clone() for n, t in tables.items()}) for tables in shops(seed)]


MESSY = {
    "one person has half of all rows": lambda t: t | {"orders": pl.concat([t["orders"], t["orders"].with_columns(uid=pl.lit(t["users"]["uid"][0], pl.Int64))])},
    "people without values": lambda t: t | {"users": t["users"].select("uid")},
    "rows without values": lambda t: t | {"orders": t["orders"].select("uid")},
    "a column is all missing": lambda t: t | {"orders": t["orders"].with_columns(item=pl.lit(None, pl.String))},
    "keys are missing": lambda t: t | {"orders": t["orders"].with_columns(uid=pl.when(pl.int_range(pl.len()) % 5 > 0).then("uid"))},
    "keys are texts in one table": lambda t: t | {"orders": t["orders"].with_columns(pl.col("uid").cast(pl.String))},
    "one row each": lambda t: t | {"orders": t["orders"].unique("uid", maintain_order=True)},
    "texts": lambda t: t | {"orders": t["orders"].with_columns(note="order no " + pl.col("item") + " of " + pl.col("uid").cast(pl.String) + " was fine")},
    "ten people": lambda t: {"users": t["users"][:10], "orders": t["orders"].filter(pl.col("uid").is_in(t["users"]["uid"][:10].to_list()))},
    "infinities": lambda t: t | {"orders": t["orders"].with_columns(x=pl.Series([np.inf, -np.inf, np.nan, 1.5] * 10**4)[: t["orders"].height])},
}  # fmt: skip


@pytest.mark.parametrize("what", MESSY)
def test_messy_tables_have_an_answer(what):
    report = divulge.assess(*edited(MESSY[what]), **FAST)
    assert report.verdict != "excess found"
    assert report.to_html()
    report.external().to_html()


SENTENCES = {
    "unit: no table 'clients'": (lambda r, s, h: (r, s, h), {"unit": "clients"}),
    "unit: which table has one row": (
        lambda r, s, h: ({n: t for n, t in x.items() if n == "users"} for x in (r, s, h)), {}
    ),
    "no table 'orders'": (lambda r, s, h: (r, {"users": s["users"]}, h), {}),
    "the dictionary has no table": (lambda r, s, h: (r, {}, h), {}),
    "real table 'orders': the table has 3 columns and no rows": (
        lambda r, s, h: (r | {"orders": r["orders"][:0]}, s, h), {}
    ),
    "another side is a dictionary": (lambda r, s, h: (r, s["users"], h), {}),
    "have the key of another row": (
        lambda r, s, h: (r, s, h | {"users": pl.concat([h["users"], h["users"][:3]])}), {}
    ),
    "ignore: there are several tables": (lambda r, s, h: (r, s, h), {"ignore": ["age"]}),
    "engine: duckdb counts one table": (lambda r, s, h: (r, s, h), {"engine": "duckdb"}),
}  # fmt: skip


@pytest.mark.parametrize("sentence", SENTENCES)
def test_what_cannot_be_used_is_said(sentence):
    change, more = SENTENCES[sentence]
    with pytest.raises(DivulgeError, match=sentence):
        divulge.assess(*change(*shops(9)), **FAST, **more)


def test_a_plan_counts_people_and_what_they_want():
    real, synthetic, holdout = shops(11)
    told = divulge.plan(real, synthetic, holdout, **{k: v for k, v in FAST.items() if k != "search"})
    made = divulge.assess(real, synthetic, holdout, **{k: v for k, v in FAST.items() if k != "search"})
    assert [t.rows for t in told.tables] == [N, N, N]
    targets = {r.target for r in made.results if r.target}
    assert targets <= set(made.assessment.settings.targets)
    assert {"orders: rows", "users.age"} <= set(made.assessment.settings.targets)


def test_the_schema_of_several_tables_says_who_is_a_person(tmp_path):
    real, *_ = shops(12)
    shown = {"users": real["users"], "orders": real["orders"], "weather": pl.DataFrame({"town": ["a", "b"] * 20})}
    for name, table in shown.items():
        table.write_csv(tmp_path / f"{name}.csv")
    told = CliRunner().invoke(cli, ["schema", "--tables", str(tmp_path)]).output
    assert told.startswith("# a person is a row of 'users' (--unit names another table)\n# rows of people: 'orders'\n")
    assert "# not compared, as no relation leads there: 'weather'\n" in told
    (tmp_path / "schema.toml").write_text(told)
    assert read_relational_schema(tmp_path / "schema.toml").people() == "users"


def test_folders_on_the_command_line_are_linked_tables(tmp_path):
    for side, tables in zip(("real", "synthetic", "holdout"), shops(13), strict=True):
        (tmp_path / side).mkdir()
        for name, table in tables.items():
            table.write_csv(tmp_path / side / f"{name}.csv")
    folders = [str(tmp_path / side) for side in ("real", "synthetic", "holdout")]
    fast = ["--no-models", "--no-fidelity", "--no-membership", "--search", "off", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(cli, ["assess", *folders, *fast])
    assert done.exit_code == 0, done.output
    listed = [f"users={f}/users.csv,orders={f}/orders.csv" for f in folders]
    again = CliRunner().invoke(cli, ["assess", *listed, *fast, "--unit", "users"])
    assert again.exit_code == 0, again.output
    (tmp_path / "synthetic" / "orders.csv").unlink()
    lacking = CliRunner().invoke(cli, ["assess", *folders, *fast])
    assert "no table 'orders'" in str(lacking.exception)
    assert CliRunner().invoke(cli, ["plan", *folders[:1], *folders[:1]]).exit_code == 0


@pytest.mark.usefixtures("copies_alone")
def test_a_schema_may_be_the_path_of_its_file(tmp_path):
    real, synthetic, holdout = shops(14)
    (tmp_path / "one.toml").write_text(divulge.infer_schema(real["users"]).to_toml())
    linked = linked_tables(real, synthetic).schema
    (tmp_path / "linked.toml").write_text(linked.to_toml())
    by_file = divulge.assess(real, synthetic, holdout, schema=tmp_path / "linked.toml", **FAST)
    assert by_variant(by_file).keys() == by_variant(divulge.assess(real, synthetic, holdout, **FAST)).keys()
    alone = [t["users"] for t in (real, synthetic, holdout)]
    assert divulge.assess(*alone, schema=str(tmp_path / "one.toml"), **FAST).results
    with pytest.raises(SettingError, match="describes several tables"):
        divulge.assess(*alone, schema=tmp_path / "linked.toml", **FAST)


# ---------------------------------------------------------------- what a first version did not see


@pytest.mark.usefixtures("copies_alone")
def test_synthetic_rows_whose_key_leads_nowhere_are_compared():
    real, synthetic, holdout = shops(20)
    ids = real["users"]["uid"][:40].to_list()
    lost = real["orders"].filter(pl.col("uid").is_in(ids)).with_columns(pl.col("uid") + 700_000)
    found = by_variant(
        divulge.assess(real, synthetic | {"orders": pl.concat([synthetic["orders"], lost])}, holdout, **FAST)
    )
    assert found[WHOLE_HISTORY, ("orders",)].verdict == "excess found"
    assert found[WHOLE_HISTORY, ("orders",)].real.hits >= 35


def test_keys_of_people_that_recur_are_found_and_new_ones_are_not_compared():
    real, synthetic, holdout = shops(21)
    rng = np.random.default_rng(0)
    new = {t: rng.choice(10**9, N, replace=False) for t in "rsh"}

    def keyed(tables, ids):
        names = dict(zip(tables["users"]["uid"].to_list(), ids.tolist(), strict=True))
        return {n: t.with_columns(pl.col("uid").replace_strict(names)) for n, t in tables.items()}

    same = [keyed(real, new["r"]), keyed(synthetic, rng.permutation(new["r"])), keyed(holdout, new["h"])]
    report = divulge.assess(*same, **FAST)
    assert ("one column", ("users.uid",)) in {
        (r.variant, r.keys) for r in report.results if r.verdict == "excess found"
    }
    other = divulge.assess(same[0], keyed(synthetic, new["s"]), same[2], **FAST)
    assert not [r for r in other.results if r.keys == ("users.uid",)]


@pytest.mark.usefixtures("copies_alone")
def test_names_and_numbers_within_rows_are_compared_value_by_value():
    real, synthetic, holdout = shops(22)
    rng = np.random.default_rng(1)

    def with_cards(tables, cards=None):
        n = tables["orders"].height
        own = [f"{c:016d}" for c in rng.integers(0, 10**15, n)] if cards is None else cards
        return tables | {"orders": tables["orders"].with_columns(card=pl.Series(own[:n]))}

    real, holdout = with_cards(real), with_cards(holdout)
    n = synthetic["orders"].height
    cards = [*real["orders"]["card"].sample(fraction=0.5, seed=0), *(f"9{c:015d}" for c in rng.integers(0, 10**14, n))]
    for keep in (True, False):  # beside an order number, or taken for the key of the rows itself
        tables = [t | {"orders": t["orders"].with_row_index("oid")} if keep else t for t in (real, synthetic, holdout)]
        tables[1] = with_cards(tables[1], cards)
        found = {(r.variant, r.keys): r for r in divulge.assess(*tables, **FAST).results if r.attack == "copies"}
        own = found["own value", ("orders.card",)]
        assert (own.verdict, own.holdout.hits) == ("excess found", 0)
        assert NUMBERS_ROWS in own.notes
        assert ("own value", ("orders.oid",)) not in found


@pytest.mark.parametrize("share", [0.0, 0.05])
@pytest.mark.usefixtures("copies_alone")
def test_times_of_rows_dealt_out_to_other_people_are_own_values(share):
    """Everything else of these rows is fresh, and no person has two of them."""
    rng = np.random.default_rng(31)

    def dated(tables):
        when = np.datetime64("2020-01-01T00:00:00", "ms") + 1000 * rng.integers(0, 10**8, tables["orders"].height)
        return tables | {"orders": tables["orders"].with_columns(when=pl.Series(when))}

    real, synthetic, holdout = (dated(t) for t in shops(11, n=400))
    own = real["orders"].filter(pl.col("uid") < share * 400)["when"]
    to, fresh = rng.permutation(synthetic["orders"].height)[: len(own)], synthetic["orders"]["when"].to_numpy().copy()
    fresh[to] = own.to_numpy()
    synthetic["orders"] = synthetic["orders"].with_columns(when=pl.Series(fresh))
    (found,) = (r for r in divulge.assess(real, synthetic, holdout, **FAST).results if r.variant == "own value")
    assert found.keys == ("orders.when",) and NUMBERS_ROWS not in found.notes
    assert (found.verdict == "excess found") == bool(share)
    assert found.real.rate == pytest.approx(share, abs=1e-6)


@pytest.mark.usefixtures("copies_alone")
def test_a_table_that_describes_rows_by_a_name_alone_counts_by_its_key():
    rng = np.random.default_rng(5)
    products = pl.DataFrame({"pid": range(300), "name": [f"product number {i}" for i in range(300)]})

    def shop_of(first):
        users = pl.DataFrame({"uid": np.arange(first, first + N), "age": rng.integers(18, 80, N)})
        owner = np.repeat(users["uid"].to_numpy(), rng.integers(3, 8, N))
        return {"users": users, "orders": pl.DataFrame({"uid": owner, "pid": rng.integers(0, 300, len(owner))}),
                "products": products}  # fmt: skip

    real, synthetic, holdout = (shop_of(first) for first in (0, 10_000, 20_000))
    schema = linked_tables(real, synthetic).schema
    schema = RelationalSchema(
        schema.tables,
        (Relation("users", ("uid",), "orders", ("uid",)), Relation("products", ("pid",), "orders", ("pid",))),
    )
    found = by_variant(divulge.assess(real, copied(real, synthetic), holdout, schema=schema, unit="users", **FAST))
    assert found[WHOLE_HISTORY, ("orders",)].verdict == "excess found"
    renamed = copied(real, synthetic)
    renamed = {n: t.with_columns(pl.col("pid") + 5_000) if "pid" in t.columns else t for n, t in renamed.items()}
    report = divulge.assess(real, renamed, holdout, schema=schema, unit="users", **FAST)
    assert ("products", NO_RELATION) in [(c.column, c.why) for c in report.assessment.verdict.not_compared]


@pytest.mark.usefixtures("copies_alone")
def test_rows_that_link_people_are_own_to_those_whom_they_link():
    rng = np.random.default_rng(6)

    def bank(first):
        users = pl.DataFrame({"uid": np.arange(first, first + 200), "age": rng.integers(18, 80, 200)})
        pair = np.repeat(np.arange(100), 5)
        cents = pl.Series(rng.integers(0, 10**7, 500) / 100)
        return {
            "users": users,
            "transfers": pl.DataFrame({"a": first + 2 * pair, "b": first + 2 * pair + 1, "x": cents}),
        }

    real, synthetic, holdout = (bank(first) for first in (0, 10_000, 20_000))
    schema = RelationalSchema(
        {n: divulge.infer_schema(t) for n, t in real.items()},
        (Relation("users", ("uid",), "transfers", ("a",)), Relation("users", ("uid",), "transfers", ("b",))),
    )
    x = pl.concat([real["transfers"]["x"].sample(fraction=0.6, seed=1), synthetic["transfers"]["x"]])[:500]
    synthetic["transfers"] = synthetic["transfers"].with_columns(x=x.sample(fraction=1, shuffle=True, seed=2))
    found = by_variant(divulge.assess(real, synthetic, holdout, schema=schema, **FAST))
    own = found[OWN_ROW, ("transfers",)]
    assert own.verdict == "excess found"
    assert own.real.n == 200
    assert own.holdout.rate < 0.05


def test_two_relations_to_one_describing_table_have_names_of_their_own():
    rng = np.random.default_rng(7)
    towns = pl.DataFrame({"town": [f"t{i}" for i in range(20)], "region": ["n", "s", "e", "w"] * 5})

    def country(first):
        users = {"uid": np.arange(first, first + N), **{c: rng.choice(towns["town"], N) for c in ("home", "work")}}
        trips = {
            "uid": rng.integers(first, first + N, 3 * N),
            **{c: rng.choice(towns["town"], 3 * N) for c in ("a", "b")},
        }
        return {"users": pl.DataFrame(users), "trips": pl.DataFrame(trips), "towns": towns}

    three = [country(first) for first in (0, 10_000, 20_000)]
    relations = [Relation("users", ("uid",), "trips", ("uid",))]
    relations += [
        Relation("towns", ("town",), *end)
        for end in (("users", ("home",)), ("users", ("work",)), ("trips", ("a",)), ("trips", ("b",)))
    ]
    schema = RelationalSchema(linked_tables(three[0], three[1]).schema.tables, tuple(relations))
    assert divulge.assess(*three, schema=schema, unit="users", **FAST).verdict != "excess found"
    columns = people_of(linked_tables(*three, schema=schema), "users").frames[0].columns
    assert {"towns by home.region", "towns by work.region"} <= set(columns)
    assert {"trips.towns by a.region: distinct values", "trips.towns by b.region: distinct values"} <= set(columns)


@pytest.mark.usefixtures("copies_alone")
def test_sorted_files_that_number_anew_are_no_shared_people():
    def numbered(tables):
        users = tables["users"].sort("sex", "age").with_row_index("new")
        names = dict(zip(users["uid"].to_list(), users["new"].to_list(), strict=True))
        return {n: t.with_columns(pl.col("uid").replace_strict(names)) for n, t in tables.items()}

    report = divulge.assess(*map(numbered, shops(23)), **FAST)
    assert "people apart" not in failing(report)


def test_ties_in_time_do_not_follow_the_file():
    rng = np.random.default_rng(8)
    goods = pl.DataFrame({"pid": range(9), "kind": list("abcabcabc")})

    def shop_of(first):
        users = pl.DataFrame({"uid": np.arange(first, first + N), "age": rng.integers(18, 80, N)})
        day = np.datetime64("2024-01-01") + rng.integers(0, 4, 4 * N)
        return {"users": users, "goods": goods, "orders": pl.DataFrame(
            {"uid": rng.integers(first, first + N, 4 * N), "day": day, "pid": rng.integers(0, 9, 4 * N)})}  # fmt: skip

    three = [shop_of(first) for first in (0, 10_000, 20_000)]
    turned = [t | {"orders": t["orders"][::-1]} for t in three]
    one, other = (people_of(linked_tables(*x), "users") for x in (three, turned))
    assert one.frames[0].equals(other.frames[0])
    for a, b in zip(one.persons.histories, other.persons.histories, strict=True):
        assert (a.steps is None) == (b.steps is None)
        if a.steps is not None:
            assert all((x.values == y.values).all() for x, y in zip(a.steps, b.steps, strict=True))


@pytest.mark.usefixtures("copies_alone")
def test_who_names_nobody_is_not_lost():
    rng = np.random.default_rng(9)

    def firm(first):
        boss = [None, *(first + rng.integers(0, 20, N - 1))]
        return {"staff": pl.DataFrame({"id": np.arange(first, first + N), "boss": boss, "age": rng.integers(18, 80, N)}),
                "leave": pl.DataFrame({"id": rng.integers(first, first + N, N), "days": rng.integers(1, 20, N)})}  # fmt: skip

    three = [firm(first) for first in (0, 10_000, 20_000)]
    schema = RelationalSchema(
        {n: divulge.infer_schema(t) for n, t in three[0].items()}, (Relation("staff", ("id",), "leave", ("id",)),)
    )
    report = divulge.assess(*three, schema=schema, **FAST)
    (check,) = (c for c in report.assessment.preconditions if c.check == "references")
    assert check.ok
    with pytest.raises(SettingError, match="no independent"):
        divulge.assess(
            *three,
            schema=RelationalSchema(schema.tables, (*schema.relations, Relation("staff", ("id",), "staff", ("boss",)))),
            **FAST,
        )


# ---------------------------------------------------------------- what the report says of people and their rows


def test_a_report_speaks_of_people_and_the_rows_of_their_tables():
    real, synthetic, holdout = shops(5)
    one = pl.DataFrame({"uid": [0] * 40, "item": ["i1"] * 40, "times": [1] * 40})
    real = real | {"orders": pl.concat([real["orders"].filter(pl.col("uid") != 0), one])}
    report = divulge.assess(real, synthetic, holdout, **FAST)
    users, orders = report.assessment.tables.real.linked
    n = real["orders"].height
    assert (users.name, users.rows, users.people, users.longest) == ("users", N, N, None)
    assert (orders.name, orders.rows, orders.people, orders.longest, orders.longest_shared) == ("orders", n, N, 40, 7)
    size = f"{N} people with rows in 2 tables (users: {N}, orders: {n:,})"
    for told in (str(report), report.to_markdown(), report.to_html()):
        assert size in " ".join(told.split())
        assert f"{N} rows, " not in told
    assert repr(report).startswith(f"<Report {report.verdict}: {N} real, {N} synthetic, {N} holdout people")
    outside = report.external()
    again = outside.assessment.tables.real.linked
    assert [t.name for t in again] == ["table 1", "table 2"]
    assert (again[1].rows, again[1].longest, again[1].longest_shared) == (200 * round(n / 200), None, 7)
    assert "orders" not in outside.to_html() + outside.to_markdown()
    shown = report.external("columns").assessment
    assert [t.name for t in shown.tables.synthetic.linked] == ["users", "orders"]
    assert shown.tables.synthetic.linked[1].rows == synthetic["orders"].height


@pytest.mark.usefixtures("copies_alone")
def test_rows_that_describe_others_are_told_apart_from_those_of_people():
    rng = np.random.default_rng(0)
    items = pl.DataFrame({"item": [f"i{k}" for k in range(12)], "price": rng.random(12)})
    sides = [s | {"items": items} for s in shops(6)]
    report = divulge.assess(*sides, unit="users", **FAST)
    assert "with rows in 2 tables" in str(report)
    assert "beside 1 table of nobody's rows (items: 12)" in " ".join(report.to_markdown().split())


@pytest.mark.usefixtures("copies_alone")
def test_advice_names_no_table_as_a_column_that_carries_copies():
    real, synthetic, holdout = shops(0)
    report = divulge.assess(real, copied(real, synthetic, 0.4), holdout, **FAST)
    assert by_variant(report)[WHOLE_HISTORY, ("orders",)].verdict == "excess found"
    told = " ".join(a["do"] for a in report.advice)
    assert "“orders”" not in told
    assert "whole history: orders" in report.to_html()


# ---------------------------------------------------------------- by number of rows


def thirds(report, keys=("orders",)):
    (whole,) = (r for r in report.results if r.variant == WHOLE_HISTORY and r.keys == keys)
    assert {g.of for g in whole.groups} == {"number of rows"}
    return whole, {g.name.partition(",")[0]: g for g in whole.groups}


@pytest.mark.usefixtures("copies_alone")
def test_whole_histories_are_told_by_thirds_of_length():
    real, synthetic, holdout = shops(7)
    n = real["orders"]["uid"].value_counts()
    heavy = n.filter(pl.col("count") > 5)["uid"]
    copies = real["orders"].join(heavy.to_frame(), on="uid", how="semi")
    own = synthetic["orders"].filter(~pl.col("uid").is_in((heavy + 10_000).to_list()))
    leaky = synthetic | {"orders": pl.concat([copies.with_columns(pl.col("uid") + 10_000), own])}
    report = divulge.assess(real, leaky, holdout, **FAST)
    whole, of = thirds(report)
    light, middle, most = of["lightest third"], of["middle third"], of["heavy users"]
    assert sum(g.real.n for g in of.values()) == whole.real.n
    assert sum(g.real.hits for g in of.values()) == whole.real.hits
    assert most.real.rate == 1.0
    assert most.holdout.rate < 0.2
    assert most.risk.low_simultaneous > 0.5 > middle.risk.low_simultaneous
    assert light.risk.low_simultaneous < 0
    assert "heavy users, more than" in report.to_html()
    assert "heavy users, more than" in report.to_markdown()
    outside = report.external()
    assert not any(r.groups for r in outside.results)
    assert "heavy users" not in outside.to_html()


@pytest.mark.usefixtures("copies_alone")
def test_thirds_of_one_table_with_a_unit_are_those_of_its_linked_form():
    real, synthetic, holdout = shops(7)
    leaky = copied(real, synthetic, 0.3)
    linked = thirds(divulge.assess(real, leaky, holdout, **FAST))[1]
    sides = [s["orders"] for s in (real, leaky, holdout)]
    alone = thirds(divulge.assess(*sides, unit="uid", **FAST), ("uid",))[1]
    assert {k: (g.real, g.holdout, g.risk) for k, g in alone.items()} == {
        k: (g.real, g.holdout, g.risk) for k, g in linked.items()
    }
    doubled = [pl.concat([s, s]) for s in sides]
    again = thirds(divulge.assess(*doubled, unit="uid", **FAST), ("uid",))[1]
    assert [(g.real, g.risk) for g in again.values()] == [(g.real, g.risk) for g in alone.values()]


@pytest.mark.usefixtures("copies_alone")
def test_people_of_one_length_have_no_thirds():
    real, synthetic, holdout = shops(8, least=3, most=4)
    report = divulge.assess(real, synthetic, holdout, **FAST)
    assert not any(r.groups for r in report.results if r.variant == WHOLE_HISTORY)
