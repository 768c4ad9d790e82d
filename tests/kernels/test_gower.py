import numpy as np
import pytest

from divulge.core.errors import SettingError
from divulge.kernels.neighbours.distinct import Distinct
from divulge.kernels.neighbours.gower import Field, Ruler, fit_ruler, pairwise
from divulge.kernels.neighbours.index import Index


def number(name, *parts, weight=1.0):
    parts = tuple(np.array(p, dtype=float) for p in parts)
    return Field(name, parts, tuple(np.isnan(p).astype(np.int32) for p in parts), weight)


def category(name, *parts, weight=1.0):
    return Field(name, None, tuple(np.array(p, dtype=np.int32) for p in parts), weight)


def matrix(fields, ranges_of=(0,)):
    ruler, (a, b) = fit_ruler(fields, ranges_of)
    return pairwise(ruler, b, a).tolist()


def test_the_mean_of_terms_by_hand():
    fields = [number("x", [0, 10], [4]), category("c", [1, 2], [2]), number("y", [1, 3], [2])]
    # to row 0: .4 + 1 + .5, to row 1: .6 + 0 + .5
    assert np.allclose(matrix(fields), [[1.9 / 3, 1.1 / 3]], atol=1e-15)


def test_a_term_is_at_most_1_beyond_the_range():
    assert matrix([number("x", [0, 10], [25]), category("c", [0, 0], [0])]) == [[0.5, 0.5]]
    assert matrix([number("x", [0, 10], [25])], ranges_of=[0, 1]) == [[1.0, 0.6]]


def test_missing():
    fields = [number("x", [0, 10, np.nan], [np.nan])]
    assert matrix(fields) == [[1.0, 1.0, 0.0]]


def test_values_that_are_no_number_are_categories():
    x = Field(
        "x",
        (np.array([0.0, 10.0, np.nan, np.nan]), np.array([np.nan])),
        (np.array([0, 0, 1, 2], np.int32), np.array([2], np.int32)),
    )
    assert matrix([x]) == [[1.0, 1.0, 1.0, 0.0]]


def test_infinities():
    fields = [number("x", [0, 10, np.inf, -np.inf], [np.inf])]
    assert matrix(fields) == [[1.0, 1.0, 0.0, 1.0]]


def test_a_column_without_a_range_is_equal_or_not():
    assert matrix([number("x", [5, 5], [5]), category("c", [0, 1], [0])]) == [[0.0, 0.5]]
    assert matrix([number("x", [5, 5], [6]), category("c", [0, 1], [0])]) == [[0.5, 1.0]]
    assert matrix([number("x", [np.nan, 5], [np.nan]), category("c", [0, 0], [0])]) == [[0.0, 0.5]]


def test_the_widest_numbers_do_not_overflow():
    big = np.finfo(float).max
    assert matrix([number("x", [-big, big], [0])]) == [[0.5, 0.5]]


def test_weights():
    fields = [number("x", [0, 10], [4], weight=3), category("c", [1, 2], [2])]
    assert np.allclose(matrix(fields), [[(3 * 0.4 + 1) / 4, 3 * 0.6 / 4]])
    assert matrix([number("x", [0, 10], [4], weight=0), category("c", [1, 2], [2])]) == [[1.0, 0.0]]
    for wrong in (-1.0, np.nan, np.inf):
        with pytest.raises(SettingError, match="weight"):
            matrix([category("c", [1], [1], weight=wrong)])
    with pytest.raises(SettingError, match="no column"):
        matrix([category("c", [1], [1], weight=0)])


def test_laws():
    rng = np.random.default_rng(0)
    x, y, c, d = rng.normal(size=40), rng.normal(size=40), rng.integers(0, 4, 40), rng.integers(0, 3, 40)

    def of(x, y, c, d, order=(0, 1, 2, 3)):
        fields = [
            number("x", x[:30], x[30:]),
            category("a", c[:30], c[30:]),
            number("m", y[:30], y[30:]),
            category("b", d[:30], d[30:]),
        ]
        return np.array(matrix([fields[i] for i in order]))

    base = of(x, y, c, d)
    assert np.array_equal(of(x, y, c, d, (3, 1, 0, 2)), base)
    assert np.array_equal(of(x, y, np.array([7, 3, 900, 0])[c], d), base)
    assert np.allclose(of(4 * x + 7, y, c, d), base, atol=1e-12)
    assert np.array_equal(of(4 * x, y / 8, c, d), base)  # powers of two change no bit
    assert base.min() >= 0 and base.max() <= 1
    ruler, (a, _) = fit_ruler([number("x", x[:30], x[30:]), category("a", c[:30], c[30:])], [0])
    own = pairwise(ruler, a, a)
    assert np.array_equal(own, own.T)
    assert (np.diag(own) == 0).all()
    assert (own[:, None, :] <= own[:, :, None] + own[None, :, :] + 1e-12).all()  # the triangle inequality


def test_groups_of_equal_weight():
    one = np.ones(1)
    ruler = Ruler(one, one, one, np.array([0.5, 0.5, 2.0]), 4.0)
    bounds, weights = ruler.groups()
    assert bounds.tolist() == [0, 2, 3] and weights.tolist() == [0.5, 2.0]
    assert Ruler(one, one, one, np.empty(0), 1.0).groups()[0].tolist() == [0]


def test_rows_that_are_filled_and_hashed_in_parts(monkeypatch):
    """Many rows go part by part in threads: the same rows, and the same rows are equal."""
    rng = np.random.default_rng(0)
    x, c = rng.integers(0, 9, 500).astype(float), rng.integers(0, 9, 500)
    x[::50] = np.nan
    fields = [number("x", x, x[:70]), category("c", c, c[:70])]
    for user in ("gower", "distinct", "_compiled"):
        monkeypatch.setattr(f"divulge.kernels.neighbours.{user}.IN_CACHE", 64)
    ruler, parts = fit_ruler(fields, [0])
    assert [len(p) for p in parts] == [500, 70]
    assert np.array_equal(parts[0].numbers[:, 0], x, equal_nan=True)
    assert np.array_equal(parts[0].codes[:, 0], c)
    seen = Distinct.of(parts[0])
    assert len(seen.rows) == len(set(zip(np.nan_to_num(x, nan=-1), c, strict=True)))
    assert np.array_equal(seen.rows.codes[seen.of_row], parts[0].codes)
    tiles = Index(ruler, parts[0])._compiled_index("tiles")._packed(parts[1], 1.0)
    asked = np.where(tiles.asked < 0, np.nan, tiles.asked)
    assert np.allclose(asked[:, 0], x[:70] * np.nanmax(asked) / x[:70][~np.isnan(x[:70])].max(), equal_nan=True, atol=1)
