"""What the nearest rows say of a column: worked votes, full matrices on many small tables, engines, orders of rows."""

import numpy as np
import pytest
from amount import tries

from divulge.kernels.neighbours.gower import Field, fit_ruler, pairwise
from divulge.kernels.neighbours.index import Index
from divulge.kernels.neighbours.knn_vote import Values, answers, of_a_copy

ENGINES = ("numpy", "boxes", "tiles")
FIELDS = ("nearest", "distance", "vote", "share")


def numbers(name, reference, asked):
    parts = tuple(np.array(v, dtype=float) for v in (reference, asked))
    return Field(name, parts, tuple(np.isnan(p).astype(np.int32) for p in parts))


def alone(n, reference, truth):
    """A column of n values, each of which reaches itself."""
    place = np.arange(n)
    return Values(place, place + 1, np.array(reference), np.array(truth))


def asked(field, values, k):
    ruler, (reference, queries) = fit_ruler([field] if isinstance(field, Field) else field, [0, 1])
    found = answers(Index(ruler, reference), queries, values, k)
    return {name: getattr(found, name).tolist() for name in FIELDS}


# ---------------------------------------------------------------- by hand


def test_rows_that_tie_answer_together():
    """Of the three rows at distance 1 two say 0 and one says 1; the fourth is further."""
    field = numbers("x", [4, 4, 6, 9], [5, 5, 5])
    found = asked(field, alone(3, [0, 1, 0, 2], [0, 1, 2]), 1)
    assert found["nearest"] == [2 / 3, 1 / 3, 0]
    assert found["distance"] == [0.2] * 3
    # whoever counts votes takes the commoner answer
    assert found["vote"] == [1, 0, 0]
    assert found["share"] == [2 / 3] * 3


def test_answers_with_equally_many_votes_are_drawn():
    field = numbers("x", [4, 6, 9], [5, 5, 5])
    found = asked(field, alone(3, [0, 1, 2], [0, 1, 2]), 3)
    assert found["vote"] == [1 / 3] * 3
    assert found["share"] == [1 / 3] * 3
    assert found["nearest"] == [0.5, 0.5, 0]


@pytest.mark.parametrize(
    ("k", "vote", "share"), [(1, 1, 1), (2, 0, 2 / 3), (3, 0, 2 / 3), (4, 0.5, 0.5), (9, 0.5, 0.5)]
)
def test_all_that_tie_for_the_last_place_vote(k, vote, share):
    """Off by 0, 2, 2 and 4: with k = 2 three rows vote."""
    field = numbers("x", [10, 12, 8, 14], [10])
    found = asked(field, alone(2, [0, 1, 1, 0], [0]), k)
    assert (found["vote"], found["share"]) == ([vote], [share])
    assert found["nearest"] == [1]


def test_a_number_collects_the_votes_within_its_reach():
    """Numbers 10, 11, 12, 20, reach 1: 11 has the votes for 10, 11 and 12, and is right about each of these."""
    order = np.array([10, 11, 12, 20])
    first = np.array([0, 0, 1, 3])
    last = np.array([2, 3, 3, 4])
    field = numbers("x", [1, 2, 3, 4, 5, 6, 50], [0] * 4)
    said = np.searchsorted(order, [20, 20, 10, 12, 11, 10, 20])
    found = asked(field, Values(first, last, said, np.arange(4)), 6)
    # 20 is named twice; 10 twice, 11 and 12 once: 11 has four votes of six
    assert found["vote"] == [1, 1, 1, 0]
    assert found["share"] == [4 / 6] * 4
    assert found["nearest"] == [0, 0, 0, 1]


def test_a_query_without_a_number_is_nearest_to_rows_without_one():
    field = numbers("x", [np.nan, 1, 2], [np.nan, 2])
    found = asked(field, alone(2, [1, 0, 0], [1, 1]), 1)
    assert found["nearest"] == [1, 0]
    assert found["distance"] == [0, 0]


def test_more_places_than_rows_are_filled_by_all():
    field = numbers("x", [1, 2, 3], [1])
    assert asked(field, alone(2, [0, 1, 1], [1]), 3) == asked(field, alone(2, [0, 1, 1], [1]), 99)


# ---------------------------------------------------------------- full matrices


def table(seed):
    """Numbers and categories with ties and gaps; a column of categories, or of numbers with a reach."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.choice([1, 2, 5, 20, 60])), int(rng.choice([1, 4, 30]))
    fields = []
    for j in range(int(rng.integers(1, 4))):
        if rng.random() < 0.5:
            x = rng.normal(size=n + m).round(int(rng.integers(0, 3)))
            x[rng.random(n + m) < 0.15] = np.nan
            fields.append(numbers(f"n{j}", x[:n], x[n:]))
        else:
            c = rng.integers(0, int(rng.choice([2, 3, 9])), n + m).astype(np.int32)
            fields.append(Field(f"c{j}", None, (c[:n], c[n:])))
    ruler, (reference, queries) = fit_ruler(fields, [0, 1])
    size = int(rng.choice([1, 2, 6, 25]))
    value = np.sort(rng.normal(size=size)) if rng.random() < 0.5 else np.arange(size) * 10.0
    reach = np.abs(value[:, None] - value) <= rng.choice([0, 0.3, 1])
    first, last = reach.argmax(axis=1), size - reach[:, ::-1].argmax(axis=1)
    values = Values(first, last, rng.integers(0, size, n), rng.integers(0, size, m))
    return rng, ruler, reference, queries, values, reach


def expected(ruler, reference, queries, values, reach, k):
    """By the definition: sort each row of the matrix, count the votes one by one."""
    out = []
    for row, truth in zip(pairwise(ruler, queries, reference), values.truth, strict=True):
        near = row == row.min()
        right = reach[truth, values.reference]
        kth = np.sort(row)[min(k, len(row)) - 1]
        votes = values.reference[row <= kth]
        named = sorted(set(votes.tolist()))
        support = [sum(bool(reach[v, w]) for w in votes) for v in named]
        best = [v for v, s in zip(named, support, strict=True) if s == max(support)]
        chance = sum(bool(reach[truth, v]) for v in best) / len(best)
        out.append((right[near].sum() / near.sum(), row.min(), chance, max(support) / len(votes)))
    return np.array(out)


def found_by(ruler, reference, queries, values, k, engine=None):
    found = answers(Index(ruler, reference, engine=engine), queries, values, k)
    return np.stack([getattr(found, name) for name in FIELDS], axis=1)


@pytest.mark.parametrize("part", range(6))
def test_answers_are_those_of_the_matrices(part, monkeypatch):
    for seed in range(60 * part, 60 * part + tries(60)):
        rng, ruler, reference, queries, values, reach = table(seed)
        monkeypatch.setattr("divulge.kernels.neighbours._reached._LISTED", int(rng.choice([1, 30, 20_000_000])))
        for k in (1, int(rng.integers(2, 9)), 100):
            slow = expected(ruler, reference, queries, values, reach, k)
            assert np.abs(found_by(ruler, reference, queries, values, k) - slow).max() <= 1e-12, (seed, k)


@pytest.mark.first(10)
@pytest.mark.parametrize("seed", range(40))
def test_the_order_of_rows_changes_no_digit(seed):
    rng, ruler, reference, queries, values, _ = table(seed)
    k = int(rng.integers(1, 9))
    there = found_by(ruler, reference, queries, values, k)
    rows, people = rng.permutation(len(reference)), rng.permutation(len(queries))
    moved = Values(values.first, values.last, values.reference[rows], values.truth[people])
    back = found_by(ruler, reference.take(rows), queries.take(people), moved, k)
    assert np.array_equal(there[people], back)


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_gives_the_same_digits(engine):
    for seed in range(tries(40)):
        rng, ruler, reference, queries, values, _ = table(seed)
        k = int(rng.integers(1, 9))
        plain = found_by(ruler, reference, queries, values, k)
        assert np.array_equal(found_by(ruler, reference, queries, values, k, engine), plain), seed


def test_equal_rows_vote_one_by_one():
    """Written out three times, a table votes as one with three times the places."""
    for seed in range(tries(40)):
        _, ruler, reference, queries, values, _ = table(seed)
        thrice = np.repeat(np.arange(len(reference)), 3)
        more = Values(values.first, values.last, values.reference[thrice], values.truth)
        one = found_by(ruler, reference, queries, values, 2)
        assert np.abs(found_by(ruler, reference.take(thrice), queries, more, 6) - one).max() <= 1e-12


def test_queries_without_rows_are_no_answers():
    _, ruler, reference, queries, values, _ = table(3)
    none = np.zeros(0, dtype=np.int64)
    found = answers(
        Index(ruler, reference), queries.take(none), Values(values.first, values.last, values.reference, none), 2
    )
    assert [len(getattr(found, name)) for name in FIELDS] == [0] * 4


@pytest.mark.parametrize("seed", range(5))
def test_a_copy_answers_with_the_members_of_the_same_record(seed):
    """Counted person by person: strangers share the record of one member, of several, and of none; reaches overlap."""
    rng = np.random.default_rng(seed)
    n_values, n_members, n_people = 6, 40, 70
    first = np.maximum(np.arange(n_values) - rng.integers(0, 2), 0)
    last = np.minimum(np.arange(n_values) + 1 + rng.integers(0, 2), n_values)
    record, truth = rng.integers(0, 45, n_people) * 7, rng.integers(0, n_values, n_people)
    found = of_a_copy(record, n_members, Values(first, last, truth[:0], truth))
    for i, share in enumerate(found):
        alike = truth[:n_members][record[:n_members] == record[i]]
        right = (first[truth[i]] <= alike) & (alike < last[truth[i]])
        assert np.isnan(share) if not len(alike) else share == right.sum() / len(alike)
    assert {np.sum(record[:n_members] == r) for r in record[n_members:]} >= {0, 1, 2}
