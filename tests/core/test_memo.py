"""Values that are made once, whatever threads ask for them."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from divulge.core.memo import Memo

THREADS = 8


def side_by_side(work):
    """Call work(number of the thread) in eight threads that begin together; an error is raised, and so is a deadlock."""
    begin = threading.Barrier(THREADS)

    def one(i):
        begin.wait(10)
        return work(i)

    with ThreadPoolExecutor(THREADS) as pool:
        return [f.result(30) for f in [pool.submit(one, i) for i in range(THREADS)]]


def test_each_value_is_made_once_and_all_get_it():
    memo, made, guard = Memo(), [], threading.Lock()

    def make(key):
        if key > 1:  # of two others, which others ask for too
            return make_of(key - 1) + make_of(key - 2)
        return key

    def make_of(key):
        def count():
            with guard:
                made.append(key)
            return make(key)

        return memo.once(key, count)

    def work(i):
        keys = list(range(60))
        random.Random(i).shuffle(keys)
        return {key: make_of(key) for key in keys}

    found = side_by_side(work)
    assert all(f == found[0] for f in found)
    assert found[0][59] == 956722026041
    assert sorted(made) == list(range(60))


def test_keys_do_not_wait_for_each_other():
    memo, begun, go_on = Memo(), threading.Event(), threading.Event()

    def slow():
        begun.set()
        assert go_on.wait(10)
        return "slow"

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(memo.once, "a", slow)
        assert begun.wait(10)
        second = pool.submit(memo.once, "a", lambda: "never")
        assert memo.once("b", lambda: "quick") == "quick"
        go_on.set()
        assert (first.result(10), second.result(10)) == ("slow", "slow")


def test_what_fails_is_tried_by_the_next():
    memo, tries, guard = Memo(), [], threading.Lock()

    def make():
        with guard:
            tries.append(len(tries))
            last = tries[-1]
        if last < 3:
            raise ValueError
        return last

    def work(_):
        try:
            return memo.once("a", make)
        except ValueError:
            return None

    assert sorted(map(str, side_by_side(work))) == ["3"] * 5 + ["None"] * 3
    assert "a" in memo and memo.get("a") == 3 and memo.get("b") is None


class Sized:
    def __init__(self, nbytes):
        self.nbytes = nbytes


@pytest.mark.parametrize("last_stays", [True, False])
def test_what_was_asked_for_longest_ago_goes_first(last_stays):
    memo = Memo(most_bytes=10, last_stays=last_stays)
    for key in "abc":
        memo.once(key, lambda: Sized(4))
    assert list(memo.values()) == ["b", "c"]
    memo.once("b", lambda: Sized(0))
    memo.once("d", lambda: Sized(4))
    assert list(memo.values()) == ["b", "d"]
    assert memo.once("large", lambda: Sized(11)).nbytes == 11
    assert list(memo.values()) == ["large"] * last_stays
    memo.once("e", lambda: Sized(1))
    assert list(memo.values()) == ["e"]
    memo.clear()
    assert list(memo.values()) == []


def test_a_memo_of_the_values_of_another_is_its_own():
    memo = Memo({"a": 1})
    other = Memo(memo.values())
    other["c"] = 3
    assert other.values() == {"a": 1, "c": 3}
    assert memo.values() == {"a": 1}
