"""Several tables with relations: each array against plain Python, and the laws on rows, columns and kinds of frames."""

import random
import time

import numpy as np
import polars as pl
import pytest
from amount import tries
from hypothesis import given, settings
from hypothesis import strategies as st

from divulge.case.case import infer_schema
from divulge.case.relational.inferred import infer_relational
from divulge.case.relational.linked import build_linked
from divulge.core.errors import ColumnError, FrameError, SettingError, TableError
from divulge.core.relations import Relation, RelationalSchema
from divulge.core.schema import Column, Schema
from divulge.kernels.relations import MISSING, ORPHAN, children_of, composed, order_of, parent_rows

ORDERS = Relation("users", ("uid",), "orders", ("uid",))
USERS = pl.DataFrame({"uid": [7, 8, 9, 3], "sex": ["f", "m", "f", None]})
BOUGHT = pl.DataFrame({"uid": [9, 7, 9, 1, None, 9], "price": [1.5, 2.0, 1.5, 3.0, 2.5, 0.5]})


def schema_of(tables, *relations, **roles):
    """Return the schema of frames; `orders={"sequence": ["uid"]}` gives roles to columns of a table."""
    own = {n: infer_schema(t).give_roles(**roles.get(n, {})) for n, t in tables.items()}
    return RelationalSchema(own, relations)


def linked(tables, *relations, synthetic=None, **roles):
    return build_linked(tables, synthetic, schema=schema_of(tables, *relations, **roles))


def shop():
    return linked({"users": USERS, "orders": BOUGHT}, ORDERS)


# ---------------------------------------------------------------- relations


def test_rows_children_and_facts():
    found = shop()
    assert found.rows(ORDERS, "real").tolist() == [2, 0, 2, ORPHAN, MISSING, 2]
    assert found.rows(ORDERS, "real").dtype == np.int32
    assert found.children(ORDERS, "real").tolist() == [1, 0, 3, 0]
    facts = found.key_facts(ORDERS, "real")
    assert (facts.n_parents, facts.n_children, facts.missing, facts.orphans) == (4, 6, 1, 1)
    assert (facts.repeated, facts.childless) == (0, 2)


def test_codes_of_the_parent_as_its_children_see_them():
    found = shop()
    codes = found.gathered([ORDERS], "sex", "real")
    case = found.case("users")
    f = int(case.codes("sex")[0][0])
    assert codes.tolist() == [f, f, f, -1, -1, f]
    # the same from the parent's own codes: a parent whose value is missing has code 0
    lost = linked({"users": USERS, "orders": pl.DataFrame({"uid": [3, 3], "p": [1, 2]})}, ORDERS)
    assert lost.gathered([ORDERS], "sex", "real").tolist() == [0, 0]


def test_the_first_of_repeated_parents_has_the_children():
    users = pl.DataFrame({"uid": [1, 2, 1, None, None]})
    found = linked({"users": users, "orders": pl.DataFrame({"uid": [1, 1, 2]})}, ORDERS)
    assert found.rows(ORDERS, "real").tolist() == [0, 0, 1]
    assert found.children(ORDERS, "real").tolist() == [2, 1, 0, 0, 0]
    assert found.key_facts(ORDERS, "real").repeated == 1  # missing keys are not repeated keys


def test_keys_are_compared_by_meaning():
    """As everywhere in divulge, the number 1 and the text "1" are one value; what cannot be read leads nowhere."""
    found = linked({"users": USERS, "orders": pl.DataFrame({"uid": ["9", "x", None, "7", ""]})}, ORDERS)
    assert found.rows(ORDERS, "real").tolist() == [2, ORPHAN, MISSING, 0, MISSING]


def test_nan_among_numbers_is_no_key():
    users, keys = pl.DataFrame({"uid": [1.5, float("nan"), 2.5]}), ["NaN", "1.5", "x", "2.5"]
    found = linked({"users": users, "orders": pl.DataFrame({"uid": keys})}, ORDERS)
    assert found.rows(ORDERS, "real").tolist() == [MISSING, 0, ORPHAN, 2]
    names = linked({"users": pl.DataFrame({"uid": ["x", "NaN"]}), "orders": pl.DataFrame({"uid": keys})}, ORDERS)
    assert names.rows(ORDERS, "real").tolist() == [1, ORPHAN, 0, ORPHAN]  # among texts it is one


def test_missing_codes():
    tables = {"users": USERS, "orders": pl.DataFrame({"uid": [9, -8, 4]})}
    found = build_linked(tables, schema=schema_of(tables, ORDERS), missing=["-8"])
    assert found.rows(ORDERS, "real").tolist() == [2, MISSING, ORPHAN]


def test_composite_keys():
    parent = pl.DataFrame({"site": ["x", "x", "y", None], "day": [1, 2, 1, 1], "wind": [1.0, 2.0, 3.0, 4.0]})
    child = pl.DataFrame({"day": [1, 1, 2, 2, None, 1], "place": ["y", "x", "x", "y", "x", None]})
    relation = Relation("weather", ("site", "day"), "trips", ("place", "day"))
    found = linked({"weather": parent, "trips": child}, relation)
    assert found.rows(relation, "real").tolist() == [2, 0, 1, ORPHAN, MISSING, MISSING]


def test_several_relations_to_one_parent_stand_apart():
    ports = pl.DataFrame({"faa": ["a", "b", "c"]})
    trips = pl.DataFrame({"origin": ["a", "a", "c"], "dest": ["b", "c", "zz"]})
    origin, dest = (Relation("ports", ("faa",), "trips", (c,)) for c in ("origin", "dest"))
    found = linked({"ports": ports, "trips": trips}, origin, dest)
    assert found.rows(origin, "real").tolist() == [0, 0, 2]
    assert found.rows(dest, "real").tolist() == [1, 2, ORPHAN]


def test_self_relations_and_cycles():
    staff = pl.DataFrame({"id": [1, 2, 3, 4], "boss": [None, 1, 2, 2], "pay": [9, 8, 7, 6]})
    boss = Relation("staff", ("id",), "staff", ("boss",))
    found = linked({"staff": staff}, boss)
    assert found.rows(boss, "real").tolist() == [MISSING, 0, 1, 1]
    assert found.ancestor_rows([boss, boss], "real").tolist() == [MISSING, MISSING, 0, 0]
    assert found.ancestor_rows([boss] * 3, "real").tolist() == [MISSING] * 4
    assert found.root_rows("staff", "real")[0] == "staff"
    a, b = pl.DataFrame({"k": [1, 2], "b": [5, 6]}), pl.DataFrame({"k": [5, 6], "a": [2, 1]})
    up, down = Relation("a", ("k",), "b", ("a",)), Relation("b", ("k",), "a", ("b",))
    circle = linked({"a": a, "b": b}, up, down)
    assert circle.root_rows("b", "real")[0] == "a"
    assert circle.root_rows("a", "real")[0] == "b"
    assert circle.ancestor_rows([up, down], "real").tolist() == [1, 0]


def test_hops_and_roots():
    tables = {
        "a": pl.DataFrame({"id": [1, 2], "x": ["p", "q"]}),
        "b": pl.DataFrame({"id": [10, 20, 30], "a": [2, 1, 9]}),
        "c": pl.DataFrame({"b": [30, 20, 10, None, 10]}),
    }
    ab, bc = Relation("a", ("id",), "b", ("a",)), Relation("b", ("id",), "c", ("b",))
    found = linked(tables, ab, bc)
    assert found.ancestor_rows([bc, ab], "real").tolist() == [ORPHAN, 0, 1, MISSING, 1]
    name, rows = found.root_rows("c", "real")
    assert (name, rows.tolist()) == ("a", [ORPHAN, 0, 1, MISSING, 1])
    assert found.root_rows("a", "real")[1].tolist() == [0, 1]
    x = found.case("a").codes("x")[0]
    assert found.gathered([bc, ab], "x", "real").tolist() == [-1, x[0], x[1], -1, x[1]]
    with pytest.raises(SettingError, match="from the child upwards"):
        found.ancestor_rows([ab, bc], "real")
    with pytest.raises(SettingError, match="1 to 1 are followed"):
        found.ancestor_rows([bc, ab], "real", deepest=1)


def test_keys_of_real_and_synthetic_tables_are_never_compared_and_values_are_pooled():
    synthetic = {
        "users": pl.DataFrame({"uid": ["u1", "u2"], "sex": ["m", "x"]}),
        "orders": pl.DataFrame({"uid": ["u2"], "price": [9.0]}),
    }
    found = linked({"users": USERS, "orders": BOUGHT}, ORDERS, synthetic=synthetic)
    assert found.rows(ORDERS, "synthetic").tolist() == [1]
    assert found.rows(ORDERS, "real").tolist() == shop().rows(ORDERS, "real").tolist()
    case = found.case("users")
    assert case.codes("sex")[0][1] == case.codes("sex")[1][0]  # "m" in both
    with pytest.raises(SettingError, match="one of real, synthetic"):
        found.rows(ORDERS, "holdout")


KEYS = st.one_of(st.none(), st.integers(0, 4))


@settings(max_examples=tries(150), deadline=None)
@given(
    st.lists(st.tuples(KEYS, KEYS), min_size=1, max_size=12),
    st.lists(st.tuples(KEYS, KEYS), min_size=1, max_size=20),
    st.integers(1, 2),
)
def test_rows_agree_with_a_dictionary(parents, children, width):
    parents, children = ([row[:width] for row in side] for side in (parents, children))
    names = ["a", "b"][:width]
    tables = {
        n: pl.DataFrame(rows, schema=dict.fromkeys(names, pl.Int64), orient="row")
        for n, rows in (("p", parents), ("c", children))
    }
    relation = Relation("p", tuple(names), "c", tuple(names))
    bare = RelationalSchema({n: Schema(tuple(Column(c, "identifier") for c in names)) for n in tables}, (relation,))
    first: dict = {}
    for i, key in enumerate(parents):
        first.setdefault(key, i)
    expected = [MISSING if None in key else first.get(key, ORPHAN) for key in children]
    found = build_linked(tables, schema=bare)
    assert found.rows(relation, "real").tolist() == expected
    assert found.children(relation, "real").tolist() == [expected.count(i) for i in range(len(parents))]


# ---------------------------------------------------------------- laws


def test_every_kind_of_frame_gives_the_same_rows(make):
    own = {"users": make(USERS), "orders": make(BOUGHT)}
    found = build_linked(own, schema=schema_of({"users": USERS, "orders": BOUGHT}, ORDERS))
    assert found.rows(ORDERS, "real").tolist() == [2, 0, 2, ORPHAN, MISSING, 2]


def test_the_order_of_rows_columns_and_relations_changes_nothing():
    rng = random.Random(1)
    people = rng.sample(range(len(USERS)), len(USERS))
    sold = rng.sample(range(len(BOUGHT)), len(BOUGHT))
    other = linked({"orders": BOUGHT[sold].select("price", "uid"), "users": USERS[people].select("sex", "uid")}, ORDERS)
    before, after = shop().rows(ORDERS, "real"), other.rows(ORDERS, "real")
    place = {p: i for i, p in enumerate(people)}
    assert after.tolist() == [place.get(int(before[i]), int(before[i])) for i in sold]
    one, two = (Relation("users", ("uid",), "orders", (c,)) for c in ("uid", "oid"))
    tables = {"users": USERS, "orders": BOUGHT.with_columns(oid=pl.lit(7))}
    assert linked(tables, one, two).relations == linked(tables, two, one).relations


def test_renamed_keys_change_nothing():
    tables = {"users": USERS.with_columns(pl.col("uid") + 100), "orders": BOUGHT.with_columns(pl.col("uid") + 100)}
    assert linked(tables, ORDERS).rows(ORDERS, "real").tolist() == shop().rows(ORDERS, "real").tolist()


@pytest.mark.slow
def test_two_hundred_tables():
    tables = {"t000": pl.DataFrame({"id": range(50)})}
    relations = []
    for i in range(1, 200):
        tables[f"t{i:03}"] = pl.DataFrame({"id": range(50), "up": [(7 * j) % 50 for j in range(50)]})
        relations.append(Relation(f"t{i - 1:03}", ("id",), f"t{i:03}", ("up",)))
    bare = RelationalSchema(
        {n: Schema(tuple(Column(c, "identifier") for c in t.columns)) for n, t in tables.items()}, tuple(relations)
    )
    start = time.process_time()
    found = build_linked(tables, schema=bare)
    name, rows = found.root_rows("t199", "real")
    assert name == "t000"
    assert rows[3] == (3 * pow(7, 199, 50)) % 50
    assert time.process_time() - start < 5


# ---------------------------------------------------------------- sequences


def visits(**roles):
    table = pl.DataFrame(
        {"who": ["b", "a", "b", None, "a", "b"], "day": [2, 9, 1, 4, 3, 2], "x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}
    )
    return linked({"visits": table}, visits=roles or {"sequence": ["who"], "order": ["day"]})


def test_sequences_are_sorted_by_their_index():
    order = visits().order("visits", "real")
    assert [rows.tolist() for rows in order] == [[4, 1], [2, 0, 5]]
    assert (order.n_ties, order.n_left_out, order.lengths.tolist()) == (1, 1, [2, 3])
    assert [pair.tolist() for pair in order.lagged(1)] == [[4, 2, 0], [1, 0, 5]]
    assert [pair.tolist() for pair in order.lagged(2)] == [[2], [5]]
    assert [len(part) for part in order.lagged(99)] == [0, 0]


@pytest.mark.parametrize("roles", [{"sequence": ["who"]}, {"order": ["day"]}])
def test_an_order_is_not_guessed(roles):
    with pytest.raises(SettingError, match="no column has the role"):
        visits(**roles).order("visits", "real")


def test_dates_written_as_text_are_ordered_as_dates():
    table = pl.DataFrame({"who": ["a"] * 3, "day": ["2020-10-01", "2020-09-30", "2019-12-31"]})
    found = linked({"t": table}, t={"sequence": ["who"], "order": ["day"]})
    assert found.order("t", "real").rows.tolist() == [2, 1, 0]


# ---------------------------------------------------------------- bad input


def test_bad_input_is_one_sentence():
    tables = {"users": USERS, "orders": BOUGHT}
    good = schema_of(tables, ORDERS)
    with pytest.raises(
        SettingError, match=r"real: no table 'users'; there are 'user', 'orders'. hint: did you mean 'user'"
    ):
        build_linked({"user": USERS, "orders": BOUGHT}, schema=good)
    with pytest.raises(ColumnError, match=r"table 'users': no column 'uid'.*did you mean 'id'"):
        build_linked({"users": USERS.rename({"uid": "id"}), "orders": BOUGHT}, schema=good)
    with pytest.raises(TableError, match="no dictionary of tables"):
        build_linked(USERS, schema=good)
    with pytest.raises(FrameError, match="table 'users': a list is not a table"):
        build_linked({"users": [1], "orders": BOUGHT}, schema=good)
    with pytest.raises(TableError, match=r"table 'orders'.*no rows"):
        build_linked({"users": USERS, "orders": BOUGHT.clear()}, schema=good)
    found = build_linked(tables, schema=good)
    with pytest.raises(SettingError, match="no table 'order'"):
        found.order("order", "real")
    with pytest.raises(SettingError, match="not part of the schema"):
        found.rows(Relation("users", ("uid",), "orders", ("price",)), "real")


# ---------------------------------------------------------------- proposals


def proposed(**tables):
    found = infer_relational(tables)
    return found, {str(r) for r in found.relations}


def test_relations_are_found_by_names_and_values():
    users = pl.DataFrame({"id": [1, 2, 3], "age": [30, 41, 41]})
    orders = pl.DataFrame(
        {
            "order_id": [5, 6, 7, 8],
            "user_id": [3, 3, 1, None],
            "port": ["aa", "bb", "cc", "aa"],
            "price": [1.5, 2.0, 1.5, 3.0],
        }
    )
    ports = pl.DataFrame({"code": ["aa", "bb", "cc", "dd"], "sea": [True, False, True, True]})
    schema, relations = proposed(users=users, orders=orders, ports=ports)
    assert relations == {"orders (user_id) -> users (id)", "orders (port) -> ports (code)"}
    assert schema["users"]["id"].kind == "identifier"
    assert schema["users"].with_role("primary") == ("id",)
    assert set(schema["orders"].with_role("foreign")) == {"user_id", "port"}
    assert [r.why for r in schema.relations] == ["each key is found"] * 2


def test_a_composite_key_is_found_by_its_names():
    weather = pl.DataFrame({"site": ["x", "x", "y", "y"], "day": [1, 2, 1, 2], "wind": [0.5, 0.1, 0.2, 0.5]})
    trips = pl.DataFrame({"site": ["x", "y", "y", "x", "x"], "day": [1, 1, 2, 2, 2], "km": [0.5, 0.25, 1.5, 2.5, 0.5]})
    assert proposed(weather=weather, trips=trips)[1] == {"trips (site, day) -> weather (site, day)"}


def test_unlike_keys_are_not_related():
    users = pl.DataFrame({"uid": [1, 2, 3], "age": [30, 41, 41]})
    orders = pl.DataFrame({"uid": [7, 8, 9, 7], "n": [1, 2, 1, 2]})
    assert proposed(users=users, orders=orders)[1] == set()


def test_a_sequence_is_proposed_where_there_is_one_choice():
    panel = pl.DataFrame(
        {
            "country": ["x", "x", "y", "y"],
            "continent": ["E", "E", "E", "E"],
            "part": ["n", "n", "s", "s"],
            "year": [1, 2, 1, 2],
            "pop": [1.5, 2.5, 2.5, 3.5],
        }
    )
    schema, _ = proposed(panel=panel)
    # two columns could name the sequences: nothing is guessed
    assert schema["panel"].with_role("sequence") == ()
    schema, _ = proposed(panel=pl.concat([panel, panel.with_columns(country=pl.Series(["z", "z", "w", "w"]))]))
    assert schema["panel"].with_role("sequence") == ("country",)
    assert schema["panel"].with_role("order") == ("year",)
    assert schema["panel"].with_role("static") == ("part",)


def test_a_proposal_does_not_depend_on_the_order_of_rows():
    users = pl.DataFrame({"id": [1, 2, 3], "age": [30, 41, 41]})
    orders = pl.DataFrame({"user_id": [3, 3, 1, None], "price": [1.5, 2.0, 1.5, 3.0]})
    assert proposed(users=users, orders=orders)[1] == proposed(orders=orders[::-1], users=users[::-1])[1]


# ---------------------------------------------------------------- kernels


def test_kernels_of_empty_tables():
    none = np.zeros(0, dtype=np.int64)
    assert parent_rows(none, np.array([0, -1]), 1).tolist() == [ORPHAN, MISSING]
    assert parent_rows(np.array([0]), none, 1).tolist() == []
    assert children_of(none.astype(np.int32), 2).tolist() == [0, 0]
    assert composed([np.array([ORPHAN, MISSING], np.int32), none.astype(np.int32)]).tolist() == [ORPHAN, MISSING]
    order = order_of(none)
    assert (list(order), order.lengths.tolist(), order.starts.tolist()) == ([], [], [0])
