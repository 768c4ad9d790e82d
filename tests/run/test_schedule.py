"""Tasks in threads: which of them run at a time, what the caller hears, and how all of it ends."""

import threading
import time

import pytest

from divulge.run.schedule import Posts, as_they_end


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
def test_every_task_is_made_once_and_one_of_those_that_go_alone_at_a_time(threads, in_order):
    alone = range(0, 20, 2)
    make = Busy(alone)
    found = dict(as_they_end(make, range(20), threads, Posts(), alone=alone, in_order=in_order))
    assert found == {i: -i for i in range(20)}
    assert sorted(make.begun) == list(range(20))
    assert make.most <= threads
    assert make.most_alone == 1
    assert (make.begun == list(range(20))) or not (in_order or threads == 1)


def test_tasks_run_side_by_side():
    both = threading.Barrier(2)
    assert dict(as_they_end(lambda i: both.wait(10) >= 0, range(2), 2, Posts())) == {0: True, 1: True}


def test_who_waits_for_its_turn_is_overtaken():
    small = threading.Event()

    def make(task):
        if task == 2:
            small.set()
        return small.wait(10)

    assert dict(as_they_end(make, range(3), 2, Posts(), alone=[0, 1])) == {0: True, 1: True, 2: True}


def test_what_is_posted_is_done_in_the_thread_of_the_caller_before_the_end_of_its_task():
    posts, heard = Posts(), []

    def make(task):
        posts.put(lambda: heard.append((task, threading.get_ident())))

    for n, (task, _) in enumerate(as_they_end(make, range(9), 3, posts), start=1):
        assert task in [t for t, _ in heard]
        assert len(heard) >= n
    assert {thread for _, thread in heard} == {threading.get_ident()}


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_ends_all(threads):
    begun = []

    def make(task):
        begun.append(task)
        if task == 4:
            raise ZeroDivisionError
        time.sleep(0.005)

    with pytest.raises(ZeroDivisionError):
        list(as_they_end(make, range(100), threads, Posts()))
    time.sleep(0.05)
    assert len(begun) < 20


def test_no_task_begins_after_the_caller_stops():
    make, threads = Busy(), threading.active_count()
    found = as_they_end(make, range(100), 4, Posts())
    next(found)
    found.close()
    n = len(make.begun)
    began = time.perf_counter()
    while threading.active_count() > threads and time.perf_counter() - began < 10:
        time.sleep(0.005)
    assert threading.active_count() == threads
    assert len(make.begun) <= n + 1 < 20
