"""Generators as Python objects: one call trains on a table and returns a synthetic one.

| object | what is called |
|---|---|
| function | `generator(table, seed)`, or `generator(table)` |
| `fit` and `sample` (SDV, scikit-learn) | `fit(table)`, `sample(rows)`; of SDV from 2.0 on `fit({name: table})` |
| `fit` and `generate` (synthcity) | `fit(table)`, `generate(rows)`, and `dataframe()` of what it returns |

An object gets the table as pandas; a function gets the kind of frame that the audit was given.
"""

from __future__ import annotations

import copy
import inspect
import random
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from divulge.core.errors import SettingError
from divulge.tables.frames import Table, table_of

__all__ = ["check_generator", "synthesize"]

_HINT = "hint: pass a function of (table, seed), an object with fit and sample or generate, or a command."


def check_generator(generator: Any) -> None:
    """Raise a `SettingError` for what is no generator.

    Examples
    --------
    >>> check_generator(3)
    Traceback (most recent call last):
    divulge.core.errors.SettingError: generator: a int is none. hint: pass a function of (table, seed), an object with fit and sample or generate, or a command.
    """  # noqa: E501
    if isinstance(generator, type):
        raise SettingError("generator: this is a class. hint: pass an object of it, not trained yet.")
    if not _is_fitted_object(generator) and not callable(generator):
        raise SettingError(f"generator: a {type(generator).__name__} is none. {_HINT}")


def synthesize(generator: Any, table: Any, seed: int, rows: int) -> Table:
    """Train a fresh copy of a generator on a table, and return what it makes.

    Parameters
    ----------
    generator
        See the table of this module.
    table
        The training table.
    seed
        Set for Python's, numpy's and torch's random numbers, and given to what takes a seed.
    rows
        Rows to make, where the generator asks for a number.

    Raises
    ------
    DivulgeError
        What the generator returns is no table.

    Examples
    --------
    >>> import polars as pl
    >>> synthesize(lambda table: table.head(2), pl.DataFrame({"age": [1, 2, 3]}), 0, 3).n_rows
    2
    """
    _seed_all(seed)
    if not _is_fitted_object(generator):
        return table_of(_called(generator, table, seed), "synthetic")
    own, frame = copy.deepcopy(generator), _as_pandas(table)
    _set_seed(own, seed)
    own.fit(_by_name(own, frame))
    made = own.sample(rows) if hasattr(own, "sample") else own.generate(rows)
    return table_of(_as_frame(made, frame), "synthetic")


def _is_fitted_object(generator: Any) -> bool:
    return hasattr(generator, "fit") and (hasattr(generator, "sample") or hasattr(generator, "generate"))


def _called(generator: Any, table: Any, seed: int) -> Any:
    try:
        parameters = inspect.signature(generator).parameters
    except (TypeError, ValueError):
        return generator(table, seed)
    if "seed" in parameters:
        return generator(table, seed=seed)
    kinds = [p.kind for p in parameters.values()]
    placed = sum(k in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD) for k in kinds)
    takes_two = placed > 1 or inspect.Parameter.VAR_POSITIONAL in kinds
    return generator(table, seed) if takes_two else generator(table)


def _set_seed(generator: Any, seed: int) -> None:
    """Set `random_state` of a scikit-learn object."""
    if hasattr(generator, "get_params") and hasattr(generator, "set_params"):
        try:
            known = generator.get_params()
        except Exception:  # objects of other packages have methods of this name
            return
        if isinstance(known, dict) and "random_state" in known:
            generator.set_params(random_state=seed)


def _seed_all(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002 # generators that take no seed draw from here
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "manual_seed"):
        torch.manual_seed(seed)


def _as_pandas(table: Any) -> Any:
    if type(table).__module__.split(".")[0] == "pandas":
        return table
    return table.to_pandas()


def _by_name(generator: Any, frame: Any) -> Any:
    """Return what `fit` takes: the table; of SDV from 2.0 on a dictionary with it, under its name in the metadata."""
    if not any(kind.__module__.split(".")[0] == "sdv" for kind in type(generator).__mro__):
        return frame
    try:
        major = int(version("sdv").split(".")[0])
    except (PackageNotFoundError, ValueError):
        return frame
    names = list(getattr(getattr(generator, "metadata", None), "tables", ()))
    return {names[0]: frame} if major >= 2 and len(names) == 1 else frame


def _as_frame(made: Any, trained: Any) -> Any:
    """Return what `sample` or `generate` gave as a frame: an array has the columns of the training table."""
    if isinstance(made, tuple):  # scikit-learn's mixtures return points and components
        made = made[0]
    if isinstance(made, dict) and len(made) == 1:  # SDV from 2.0 on returns tables by name
        (alone,) = made.values()
        made = alone if hasattr(alone, "columns") else made
    if isinstance(made, np.ndarray) and made.ndim == 2 and made.shape[1] == trained.shape[1]:
        return type(trained)(made, columns=trained.columns)
    if callable(getattr(made, "dataframe", None)):
        return made.dataframe()
    return made
