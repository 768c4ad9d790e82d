"""One search answers all that ask for no more rows."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from divulge.case.searches import Searches
from divulge.kernels.neighbours.nearest import Nearest


def searching(asked):
    def search(k):
        asked.append(k)
        return Nearest(np.tile(np.arange(k) / 8, (3, 1)), np.tile(np.arange(k), (3, 1)), np.ones(3, dtype=np.int64))

    return search


def test_a_search_that_was_announced_answers_those_for_fewer():
    asked, searches = [], Searches()
    searches.expect(5)
    assert searches.most() is None
    assert searches.first(2, searching(asked)).rows.tolist() == [[0, 1]] * 3
    assert searches.first(5, searching(asked)).rows.shape == searches.most().rows.shape == (3, 5)
    assert searches.first(6, searching(asked)).rows.shape == (3, 6)
    assert asked == [5, 6]


def test_threads_wait_for_the_search_of_the_first():
    asked, searches = [], Searches()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: searches.first(3, searching(asked)), range(64)))
    assert asked == [3]
    assert all(np.array_equal(f.rows, found[0].rows) for f in found)


def test_lists_that_nobody_wants_go_and_the_nearest_rows_stay():
    asked, searches = [], Searches()
    searches.first(20, searching(asked)), searches.first(30, searching(asked))
    searches.keep(2)
    kept = searches.most()
    assert kept.distances.shape == kept.rows.shape == (3, 2)
    assert kept.distances.base is None and kept.rows.base is None  # the longer lists are freed
    assert searches.first(1, searching(asked)).rows.tolist() == [[0]] * 3
    assert asked == [20, 30]
    assert searches.first(3, searching(asked)).rows.shape == (3, 3)  # searched again
    assert asked == [20, 30, 3]


def test_nothing_is_kept_of_no_search():
    searches = Searches()
    searches.expect(5)
    searches.keep(1)
    assert searches.most() is None
    assert searches.sizes() == {5}
