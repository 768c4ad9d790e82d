"""A shop of simulated users and orders, real and synthetic; `how-to/quality.md` scores it."""

from pathlib import Path

import numpy as np
import polars as pl

__all__ = ["bases"]


def shop(n, tied, seed):
    """Users and their orders; the price of an order depends on the age of its user only where they are tied."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n)
    users = pl.DataFrame(
        {"id": np.arange(n), "age": age, "plan": np.where(age + rng.normal(0, 9, n) < 45, "basic", "full")}
    )
    times = np.where(age < 40, rng.poisson(3, n), rng.poisson(2, n)) if tied else rng.poisson(2.5, n)
    user = np.repeat(np.arange(n), times)
    of = age[user] if tied else rng.permutation(age[user])
    dates = pl.Series("day", np.datetime64("2024-01-01") + rng.integers(0, 365, len(user)).astype("timedelta64[D]"))
    price = np.round(of * 0.8 + rng.normal(0, 6, len(user)), 2)
    return {"users": users, "orders": pl.DataFrame({"user_id": user, "day": dates, "price": price})}


def bases():
    """Return both bases by side, each a dictionary of tables, and write them into folders of CSV files."""
    found = {"real": shop(600, True, 1), "synthetic": shop(600, False, 2)}
    for side, base in found.items():
        Path(f"{side}_shop").mkdir()
        for name, table in base.items():
            table.write_csv(f"{side}_shop/{name}.csv")
    return found
