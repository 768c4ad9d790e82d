"""The compiled loops of counts, sequences, linkage and predicates, at each level of processor, against their twins."""

import re
from functools import partial

import numpy as np
import pytest
from test_hamming import ANSWERS, WAYS, some_keys
from test_predicates import check_against_numpy

from divulge.core.errors import SizeError
from divulge.kernels import sequences
from divulge.kernels._native.build import HERE
from divulge.kernels._native.library import at_level, levels
from divulge.kernels.counts import _hamming_votes, hamming, histograms, margins
from divulge.kernels.counts.disclosure import disclosed, disclosed_numpy
from divulge.kernels.counts.hamming_plain import by_matrix, by_pairs
from divulge.kernels.linkage import _walk, record_linkage
from divulge.kernels.neighbours.block_index import BlockIndex
from divulge.kernels.neighbours.gower import Field, fit_ruler
from divulge.kernels.predicates import _compiled


def check_votes(rng, patch):
    n_targets, n_columns = int(rng.choice([1, 2, 6, 400])), int(rng.choice([1, 2, 3, 5, 9, 40, 200, 260]))
    shape = n_columns, int(rng.choice([2, 3, 6, 300, 70_000])), n_targets
    queries, references = (some_keys(rng, int(rng.choice([1, 9, 60, 200])), *shape) for _ in range(2))
    expected = by_matrix(queries, references)
    found = [by_pairs(queries, references, n_targets)]
    for way in ("pairs of buckets", str(rng.choice(list(WAYS)))) if n_columns < 10 else ():
        with pytest.MonkeyPatch.context() as patch_of_way:
            for name, value in {**WAYS[way], "_FEW": 0.0}.items():
                patch_of_way.setattr(hamming, name, value)
            found.append(hamming.nearest_votes(queries, references, n_targets, modal=True))
    for i, votes in enumerate(found):
        for name in ANSWERS:
            assert np.array_equal(getattr(votes, name), getattr(expected, name)), (i, name)


def check_margins(rng, patch):
    n, m = int(rng.integers(1, 200)), int(rng.integers(0, 200))
    sizes = [int(rng.choice([1, 2, 7, 300, 70_000, 2**20, 2**31])) for _ in range(5)]
    pool = [rng.integers(0, size, 4) for size in sizes]
    people, synthetic = ([rng.choice(p, rows).astype(np.int32) for p in pool] for rows in (n, m))
    width = int(rng.integers(1, 5))
    sets = np.stack([np.sort(rng.permutation(5)[:width]) for _ in range(30)])
    unit = None if rng.random() < 0.5 else rng.integers(0, 1 + n // 3, n)
    unit = None if unit is None else np.unique(unit, return_inverse=True)[1]
    one, other = (margins.margin_sums(people, synthetic, sizes, sets, unit, engine=e) for e in ("numpy", "compiled"))
    assert one.total.tolist() == other.total.tolist()
    assert one.rare.tolist() == other.rare.tolist()


def check_histograms(rng, patch):
    n, n_blocks = int(rng.choice([1, 3, 64, 1001, 20_000])), int(rng.choice([1, 3, 20]))
    sizes = [int(rng.choice([1, 2, 9, 60, 256, 257, 70_000])) for _ in range(3)]
    codes = [rng.integers(0, size, n) for size in sizes]
    pairs = None if max(sizes) < 1000 else [(0, 0), (1, 1)] if max(sizes[:2]) < 1000 else []
    blocks = {} if n_blocks == 1 else {"blocks": rng.integers(0, n_blocks, n), "n_blocks": n_blocks}
    patch.setattr(histograms, "_COMPILE_FROM", 1)
    patch.setattr(histograms, "_FEW", 1)
    for count in (histograms.column_histograms, partial(histograms.pair_histograms, pairs=pairs)):
        found = count(codes, sizes, **blocks)
        with at_level("none"):
            assert np.array_equal(found.counts, count(codes, sizes, **blocks).counts)


def check_disclosed(rng, patch):
    m, n, n_groups, n_targets = (int(rng.integers(low, 80)) for low in (0, 0, 1, 1))
    groups = [rng.integers(0, n_groups, rows) for rows in (m, n)]
    targets = [rng.integers(0, int(rng.choice([1, 2, 5])), (n_targets, rows)).astype(np.int32) for rows in (m, n)]
    found = disclosed(*groups, n_groups, *targets)
    assert np.array_equal(found, disclosed_numpy(*groups, n_groups, *targets))


def check_sequences(rng, patch):
    starts = np.append(0, np.cumsum(rng.integers(1, int(rng.choice([2, 5, 90])), int(rng.integers(1, 60)))))
    values = rng.normal(float(rng.choice([0, 1e9])), 1, starts[-1])
    values[rng.random(len(values)) < rng.choice([0, 0.01])] = float(rng.choice([np.inf, np.nan, 1e300, -1e300]))
    for statistic in ("mean", "std"):
        with np.errstate(all="ignore"):
            found = sequences.per_sequence(values, starts, statistic)
            with at_level("none"):
                expected = sequences.per_sequence(values, starts, statistic)
        assert list(map(repr, found)) == list(map(repr, expected))  # nan is nan, and 0 is not -0


def half(rng, n, m):
    """Return one half of n synthetic rows and m people: some columns of numbers with gaps, some of categories."""
    fields = []
    for j in range(int(rng.integers(1, 4))):
        if rng.random() < 0.5:
            x = rng.normal(size=n + m).round(int(rng.integers(0, 3)))
            x[rng.random(n + m) < 0.1] = np.nan
            marks = np.isnan(x).astype(np.int32)
            fields.append(Field(f"n{j}", (x[:n], x[n:]), (marks[:n], marks[n:])))
        else:
            c = rng.integers(0, int(rng.choice([2, 3, 6, 20])), n + m).astype(np.int32)
            fields.append(Field(f"c{j}", None, (c[:n], c[n:]), weight=float(rng.choice([1.0, 0.3]))))
    ruler, (synthetic, people) = fit_ruler(fields, [0, 1])
    return record_linkage.ColumnHalf(ruler, synthetic, people)


def check_linkage(rng, patch):
    n, m = int(rng.choice([1, 3, 20, 200])), int(rng.choice([1, 30, 80]))
    halves = [half(rng, n, m) for _ in range(2)]
    ks = sorted({int(k) for k in rng.integers(1, min(n, 12) + 1, 4)})
    expected = record_linkage.chances(halves, ks, engine="numpy")
    patch.setattr("divulge.kernels.neighbours._reached._LISTED", int(rng.choice([5, 1000, 20_000_000])))
    patch.setattr(record_linkage, "_SEARCHES", int(rng.choice([0, 8, 10_000])))
    patch.setattr(record_linkage, "_LEAST_CELLS", int(rng.choice([1, 20_000])))
    assert np.array_equal(record_linkage.chances(halves, ks, engine="compiled", threads=2), expected)


def check_predicates(rng, patch):
    check_against_numpy(int(rng.integers(2**32, 2**40)), [str(rng.choice(["chosen", "lists", "tree", "small parts"]))])


CHECKS = {
    "votes": (check_votes, 3, 60),
    "margins": (check_margins, 3, 40),
    "histograms": (check_histograms, 3, 40),
    "disclosed": (check_disclosed, 6, 40),
    "sequences": (check_sequences, 6, 40),
    "linkage": (check_linkage, 1, 20),
    "predicates": (check_predicates, 1, 20),
}


def check(loop, first, last, at=None):
    """Compare a loop with its twin at one level, or at all of them in turn."""
    for seed in range(first, last):
        rng = np.random.default_rng(seed)
        level = at or levels()[seed % len(levels())]
        try:
            with pytest.MonkeyPatch.context() as patch, at_level(level):
                CHECKS[loop][0](rng, patch)
        except Exception as e:
            raise AssertionError(f"{loop}, seed {seed}, level {level}") from e


@pytest.mark.parametrize("loop", CHECKS)
def test_each_loop_gives_what_its_twin_gives(loop):
    check(loop, 0, CHECKS[loop][1] * len(levels()))


@pytest.mark.slow
@pytest.mark.parametrize("loop", CHECKS)
def test_more_tables(loop):
    check(loop, 1000, 1000 + CHECKS[loop][2])


@pytest.mark.full
@pytest.mark.parametrize("part", range(10))
@pytest.mark.parametrize("level", levels())
@pytest.mark.parametrize("loop", CHECKS)
def test_two_thousand_tables_at_each_level(loop, level, part):
    check(loop, 10_000 + 200 * part, 10_200 + 200 * part, level)


@pytest.mark.parametrize("at_once", [1, 7, 50, 1000])
def test_cells_of_halves_in_files_are_those_of_memory(at_once, tmp_path, monkeypatch):
    """Cells are counted some rows at a time, and their rows stand in files in the order of runs."""
    monkeypatch.setattr(record_linkage, "_AT_ONCE", at_once)
    monkeypatch.setattr(record_linkage, "_RUNS", 10)
    for seed in range(4):
        rng = np.random.default_rng(seed)
        halves = [half(rng, 120, 40) for _ in range(2)]
        expected = record_linkage.chances(halves, [1, 3, 8], engine="numpy")
        in_files = [h._replace(near=BlockIndex(h.ruler, h.synthetic, tmp_path, block_rows=25)) for h in halves]
        assert expected.any() and np.array_equal(record_linkage.chances(in_files, [1, 3, 8]), expected)


def test_more_rows_than_cells_count_are_an_error(monkeypatch):
    monkeypatch.setattr(record_linkage, "_MOST_ROWS", 19)
    halves = [half(np.random.default_rng(0), 20, 5) for _ in range(2)]
    with pytest.raises(SizeError, match="linkability: 20 synthetic rows; at most 19 can be searched"):
        record_linkage.chances(halves, [1])


STRUCTS = {
    "walk_t": ("hamming.c", _hamming_votes._WALK),
    "pairs_t": ("hamming.c", _hamming_votes._PAIRS[1]),
    "histograms_t": ("histograms.c", histograms._LOOPS[1][0]),
    "margins_t": ("margins.c", margins._SETS),
    "linkage_t": ("linkage.c", _walk.TASK),
    "predicates_t": ("predicates.c", _compiled._TASK),
}


def fields(source, struct):
    """Return the names of the fields of a C struct, those of structs in it among them, in order."""
    (body,) = re.findall(r"typedef struct \{([^}]*)\} " + struct + ";", source)
    names = []
    for kind, declared in re.findall(
        r"(\w+) ([^;]*);", re.sub(r"/\*.*?\*/|\b(?:const|volatile)\b", "", body, flags=re.S)
    ):
        within = f"}} {kind};" in source and "*" not in declared
        inner = [f"_{name}" for name in fields(source, kind)] if within else [""]
        names += [name.strip(" *") + more for name in declared.split(",") for more in inner]
    return names


@pytest.mark.parametrize("struct", STRUCTS)
def test_structs_have_the_fields_of_c_in_its_order(struct):
    """Python and C agree on nothing but the order of the fields; a struct in a struct gives its name to its fields."""
    file, declared = STRUCTS[struct]
    of_c = fields((HERE / file).read_text(), struct)
    assert len(of_c) == len(declared._kinds)
    for name, ours in zip(of_c, declared._kinds, strict=True):
        assert name.endswith(ours.removeprefix("query_").removeprefix("reference_")), (name, ours)
