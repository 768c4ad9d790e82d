"""Tasks in threads: which of them run at a time, what the caller hears, and how all of it ends."""

import threading
import time

import pytest

from divulge.run.making.schedule import Posts, _Line, as_they_end


class Busy:
    """Notes how many tasks run at a time."""

    def __init__(self, alone=()):
        self.now, self.most, self.most_alone, self.begun, self.alone = set(), 0, 0, [], set(alone)
        self.guard = threading.Lock()

    def __call__(self, task):
        with self.guard:
            self.begun.append(task)
            self.now.add(task)
            self.most, self.most_alone = max(self.most, len(self.now)), max(self.most_alone, len(self.now & self.alone))
        time.sleep(0.01)
        with self.guard:
            self.now.remove(task)
        return -task


@pytest.mark.parametrize("threads", [1, 2, 8])
@pytest.mark.parametrize("in_order", [True, False])
def test_every_task_is_made_once_and_no_more_at_a_time_than_fit(threads, in_order):
    alone = range(0, 20, 2)
    make = Busy(alone)
    sizes = {"size": lambda task: 0.6 - 0.5 * (task % 2), "room": 1.0}
    found = dict(as_they_end(make, range(20), threads, Posts(), in_order=in_order, **sizes))
    assert found == {i: -i for i in range(20)}
    assert sorted(make.begun) == list(range(20))
    assert make.most <= threads
    assert make.most_alone == 1
    if threads == 1:
        assert make.begun == list(range(20))


def test_none_is_overtaken_where_the_order_counts():
    line = _Line({0: 0.6, 1: 0.6, 2: 0.1, 3: 0.1}, 1.0, True)
    assert line.take() == 0
    waits = threading.Thread(target=lambda: taken.append(line.take()))
    taken = []
    waits.start()
    time.sleep(0.05)
    assert taken == []
    line.end(0)
    waits.join(10)
    assert taken == [1]
    assert (line.take(), line.take(), line.take()) == (2, 3, None)


def test_tasks_run_side_by_side():
    both = threading.Barrier(2)
    assert dict(as_they_end(lambda i: both.wait(10) >= 0, range(2), 2, Posts())) == {0: True, 1: True}


def test_who_waits_for_its_turn_is_overtaken():
    small = threading.Event()

    def make(task):
        if task == 2:
            small.set()
        return small.wait(10)

    sizes = [0.6, 0.6, 0.1]
    found = dict(as_they_end(make, range(3), 2, Posts(), size=lambda task: sizes[task], room=1.0))
    assert found == {0: True, 1: True, 2: True}


def test_one_that_fits_nowhere_is_made_where_no_other_is():
    line = _Line({0: 2.0, 1: 0.1, 2: 0.1, 3: 2.0}, 1.0, False)
    assert line.take() == 0
    line.end(0)
    assert (line.take(), line.take()) == (1, 2)
    line.end(1)
    line.end(2)
    assert line.take() == 3


def test_what_is_posted_is_done_in_the_thread_of_the_caller_before_the_end_of_its_task():
    posts, heard = Posts(), []

    def make(task):
        posts.put(lambda: heard.append((task, threading.get_ident())))

    for n, (task, _) in enumerate(as_they_end(make, range(9), 3, posts), start=1):
        assert task in [t for t, _ in heard]
        assert len(heard) >= n
    assert {thread for _, thread in heard} == {threading.get_ident()}


class Held:
    """Tasks that wait, all but the first five."""

    def __init__(self):
        self.begun, self.go_on = [], threading.Event()

    def __call__(self, task):
        self.begun.append(task)
        if task == 4:
            raise ZeroDivisionError
        return task < 4 or self.go_on.wait(10)

    def ended(self, threads):
        """Let those that wait go on, and return how many began, once no thread of ours is left."""
        self.go_on.set()
        began = time.perf_counter()
        while threading.active_count() > threads and time.perf_counter() - began < 10:
            time.sleep(0.005)
        assert threading.active_count() <= threads  # one of an earlier test may have ended meanwhile
        return len(self.begun)


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_ends_all(threads):
    make, before = Held(), threading.active_count()
    with pytest.raises(ZeroDivisionError):
        list(as_they_end(make, range(100), threads, Posts()))
    assert make.ended(before) <= 4 + threads


def test_no_task_begins_after_the_caller_stops():
    make, before = Held(), threading.active_count()
    found = as_they_end(make, [0, *range(5, 100)], 4, Posts())
    assert next(found) == (0, True)
    found.close()
    assert make.ended(before) <= 5
