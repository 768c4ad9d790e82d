"""Generators that never copy anybody, and tables that repeat people: each gives m synthetic rows for a real table."""

import numpy as np
import polars as pl
from scipy.stats import norm
from sklearn.tree import DecisionTreeRegressor
from worlds import WORLDS


def _numbers(real):
    """The table as numbers, and the values that the codes of its texts stand for."""
    levels = {c: sorted(set(real[c])) for c in real.columns if real[c].dtype == pl.String}
    columns = [np.searchsorted(levels[c], real[c].to_numpy()) if c in levels else real[c] for c in real.columns]
    return np.column_stack(columns).astype(float), levels


def _frame(values, real, levels):
    columns = {c: values[:, j] for j, c in enumerate(real.columns)}
    return pl.DataFrame(
        {c: [levels[c][int(v)] for v in x] if c in levels else x for c, x in columns.items()}, schema=real.schema
    )


def fresh(rng, real, m, world):
    """Other people of the same population."""
    return WORLDS[world](rng, m)


def copula(rng, real, m, world):
    """Ranks of a normal distribution with the correlations of the real ranks; the margins are the real ones."""
    values, levels = _numbers(real)
    n, width = values.shape
    ranks = np.argsort(np.argsort(values + 1e-9 * rng.random(values.shape), axis=0), axis=0)
    normal = rng.multivariate_normal(np.zeros(width), np.corrcoef(norm.ppf((ranks + 0.5) / n).T), m)
    shares = norm.cdf(normal)
    drawn = [np.quantile(values[:, j], shares[:, j], method="inverted_cdf") for j in range(width)]
    return _frame(np.column_stack(drawn), real, levels)


def _trees(leaf):
    def synthesize(rng, real, m, world):
        values, levels = _numbers(real)
        out = np.empty((m, values.shape[1]))
        out[:, 0] = rng.choice(values[:, 0], m)
        for j in range(1, values.shape[1]):
            tree = DecisionTreeRegressor(min_samples_leaf=leaf, random_state=int(rng.integers(2**31)))
            own = tree.fit(values[:, :j], values[:, j]).apply(values[:, :j])
            wanted = tree.apply(out[:, :j])
            for one in np.unique(wanted):
                rows = wanted == one
                out[rows, j] = rng.choice(values[own == one, j], int(rows.sum()))
        return _frame(out, real, levels)

    return synthesize


def half_copied(rng, real, m, world):
    rows = rng.choice(len(real), m // 2, replace=m // 2 > len(real))
    return pl.concat([real[np.sort(rows)], WORLDS[world](rng, m - m // 2)])


def copied(rng, real, m, world):
    """Nine of ten rows are people, each once."""
    rows = rng.permutation(len(real))[: round(0.9 * m)]
    return pl.concat([real[np.sort(rows)], WORLDS[world](rng, m - len(rows))])


def _between(rng, made, real, ranks=10):
    """The table with each number moved by a few places in the order of the real ones, to a point between two of them."""
    out = {}
    for c in made.columns:
        x, known = made[c].to_numpy(), np.sort(real[c].to_numpy())
        if made[c].dtype == pl.String:
            out[c] = x
            continue
        first, last = (np.searchsorted(known, x, side=side) for side in ("left", "right"))
        place = first + rng.random(len(x)) * (last - first) - 0.5 + rng.uniform(-ranks, ranks, len(x))
        moved = np.interp(place, np.arange(len(known)), known)
        places = next((d for d in (0, 1) if np.allclose(known, known.round(d), atol=1e-9, rtol=0)), None)
        out[c] = moved if places is None else moved.round(places)
    return pl.DataFrame(out)


def _smooth(generator):
    return lambda rng, real, m, world: _between(rng, generator(rng, real, m, world), real)


CLEAN = {"fresh": fresh, "copula": copula, "trees of 50": _trees(50)}
"""Other people; a copula with the real margins; trees with 50 people in a leaf (Reiter 2005). They repeat no rows."""
SMOOTH = {"smooth copula": _smooth(copula), "smooth trees of 50": _smooth(_trees(50))}
"""The same without exact values of people: in `CLEAN` each number is somebody's, which the attacks find."""
OTHERS = {"trees of 5": _trees(5), "half copied": half_copied, "copied": copied}
