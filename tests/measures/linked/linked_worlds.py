"""Simulated shops and simulated visits whose defects are known."""

import numpy as np
import polars as pl


def shop(seed, n=150, defect=""):
    """Users with orders with items: orders depend on their user, items on their order."""
    rng = np.random.default_rng(seed)
    woman, level = rng.random(n) < 0.5, rng.normal(size=n)
    k = 1 + rng.poisson(1 + 2 * woman)
    k = rng.permutation(k) if defect == "cardinality" else k
    user = np.repeat(np.arange(n), k)
    price = level[user] + 0.6 * rng.normal(size=len(user))
    vip = rng.random(len(user)) < np.where(woman[user], 0.8, 0.2)
    if defect == "related_pairs":  # the orders of a user go together to another one
        first = np.flatnonzero(np.diff(user, prepend=-1))
        other = np.concatenate([np.arange(a, a + c) for a, c in _swapped(first, k, rng)])
        price, vip = price[other], vip[other]
    if defect == "siblings":
        for sex in (True, False):  # as many of each sex
            own = np.flatnonzero(woman[user] == sex)
            price[own] = price[rng.permutation(own)]
    order = np.arange(len(user))
    item = np.repeat(order, 1 + rng.poisson(1, len(order)))
    weight = price[item] + 0.3 * rng.normal(size=len(item))
    if defect == "referential_integrity":
        user = np.where(rng.random(len(user)) < 0.06, 10_000 + user, user)
    start = 1_000_000 * (seed % 7)
    return {
        "users": pl.DataFrame({"uid": start + np.arange(n), "sex": np.where(woman, "f", "m")}),
        "orders": pl.DataFrame({"oid": start + order, "uid": start + user, "price": price.round(3), "vip": np.where(vip, "y", "n")}),
        "items": pl.DataFrame({"oid": start + item, "weight": weight.round(3)}),
    }  # fmt: skip


def _swapped(first, sizes, rng):
    """Yield the first row and the size of each user's orders, exchanged among users with as many."""
    own = np.arange(len(first))
    for size in np.unique(sizes):
        same = np.flatnonzero(sizes == size)
        own[same] = rng.permutation(same)
    return zip(first[own], sizes[own], strict=True)


def visits(seed, n=150, defect=""):
    """People with visits: a level of their own, a state that lasts, a sex that the state depends on."""
    rng = np.random.default_rng(seed)
    woman = rng.random(n) < 0.5
    lengths = 3 + rng.poisson(3, n) + (2 * woman if defect == "sequences" else 0)
    who, day, state, x = [], [], [], []
    for i in range(n):
        t, s, v = int(rng.integers(0, 20)), rng.random() < (0.7 if woman[i] else 0.3), rng.normal()
        for _ in range(lengths[i]):
            who.append(i)
            day.append(t)
            state.append("ill" if s else "well")
            x.append(round(float(v), 3))
            t += 1 + int(rng.integers(0, 3))
            s = s if rng.random() < 0.7 else rng.random() < (0.7 if woman[i] else 0.3)
            v = 0.7 * v + np.sqrt(1 - 0.49) * rng.normal()
    who, state, x = np.array(who), np.array(state), np.array(x)
    sex = np.where(woman, "f", "m")[who]
    for i in range(n if defect in ("transitions", "autocorrelation") else 0):
        own = np.flatnonzero(who == i)
        if defect == "transitions":
            state[own] = state[rng.permutation(own)]
        else:
            x[own] = x[rng.permutation(own)]
    if defect == "static_by_dynamic":
        sex = np.where(rng.permutation(woman), "f", "m")[who]
    order = rng.permutation(len(who))
    return pl.DataFrame({"who": who + 500 * (seed % 7), "day": day, "sex": sex, "state": state, "x": x})[order]
