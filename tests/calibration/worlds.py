"""Four worlds that people are drawn from: members, strangers and synthetic rows alike, so that nothing leaks."""

import numpy as np
import polars as pl


def codes(rng, n, levels=(3, 4, 3, 5, 4, 5, 6, 4)):
    """Coarse codes that depend on a hidden class: many strangers have the record of a synthetic row."""
    hidden = rng.choice(4, n, p=[0.45, 0.3, 0.15, 0.1])
    out = {}
    for j, k in enumerate(levels):
        own = rng.integers(0, k, n)
        out[f"c{j}"] = [f"v{v}" for v in np.where(rng.random(n) < 0.65, (hidden * (j + 1)) % k, own)]
    return pl.DataFrame(out)


def continuous(rng, n, width=6):
    z = rng.standard_normal((n, 1))
    x = 0.7 * z + rng.standard_normal((n, width))
    return pl.DataFrame({f"x{j}": x[:, j] for j in range(width)})


def mixed(rng, n):
    """Five dependent codes and four correlated numbers, two of them rounded."""
    hidden = rng.standard_normal(n)
    out = {}
    for j, k in enumerate((2, 3, 4, 5, 8)):
        out[f"c{j}"] = [f"v{v}" for v in np.clip(np.round(hidden + rng.standard_normal(n) * 0.8 + k / 2), 0, k - 1)]
    for j in range(4):
        x = hidden + rng.standard_normal(n)
        out[f"x{j}"] = np.round(40 + 12 * x) if j < 2 else x
    return pl.DataFrame(out)


def skewed(rng, n):
    """Heavy tails, many zeros, a value that one in a hundred has."""
    hidden = rng.standard_normal(n)
    return pl.DataFrame(
        {
            "gain": np.where(rng.random(n) < 0.8, 0.0, np.round(np.exp(6 + 2 * rng.standard_normal(n)))),
            "pay": np.round(np.exp(3 + hidden + 0.5 * rng.standard_normal(n)), 1),
            "debt": np.where(rng.random(n) < 0.5, 0.0, np.round(np.exp(4 + hidden + rng.standard_normal(n)))),
            "rare": np.where(rng.random(n) < 0.01, "yes", "no"),
            "job": [f"j{v}" for v in np.minimum(rng.geometric(0.3, n), 12)],
            "age": np.round(np.clip(45 + 15 * hidden, 18, 90)),
        }
    )


WORLDS = {"mixed": mixed, "codes": codes, "skewed": skewed, "continuous": continuous}
