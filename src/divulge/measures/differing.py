"""Which columns explain what differs: most results that differ are about one column, or about pairs with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from divulge.measures.result import FidelityResult

__all__ = ["Differing", "differing", "is_of_all_columns", "told_of"]

_Place = tuple[str, str]
"""A column and its table."""


class Differing(msgspec.Struct, frozen=True, kw_only=True):
    """A column that differs, or two columns that do not belong together, and the results that follow from it."""

    columns: tuple[str, ...]
    table: Annotated[str, Meta(description='The table or relation of the columns; "" where there is one table.')] = ""
    sentence: str
    results: Annotated[
        tuple[int, ...],
        Meta(description="Places in the list of results, from 0: results that differ and are about these columns."),
    ]


def differing(results: Sequence[FidelityResult]) -> tuple[Differing, ...]:
    """Return the columns that explain the results that differ.

    First come columns that differ by themselves: where income is shifted, each pair with income differs, too. What is
    left is explained by the column in most of its results; a column that has differing results with one other column
    only is named with this one. Each result is explained once, by the column in most results. A result about all
    columns is explained by none.

    Parameters
    ----------
    results
        Of a run, with the verdicts corrected over its measures.

    Examples
    --------
    >>> far = {"verdict": "differs", "value": 0.3}
    >>> found = [FidelityResult(measure="column_shapes", columns=("pay",), **far)]
    >>> found += [FidelityResult(measure="column_pairs", columns=(other, "pay"), **far) for other in ("age", "job")]
    >>> [told.sentence for told in differing(found)]
    ['pay differs; 2 results follow from it']
    """
    about = {i: named for i, r in enumerate(results) if r.verdict == "differs" and (named := _about(r))}
    alone = {named[0] for i, named in about.items() if _is_alone(results[i])}
    left, out = dict(about), list[Differing]()
    while left:
        named = _next(left, alone)
        places = tuple(i for i, of in left.items() if set(named) <= set(of))
        own = [i for i in places if _is_alone(results[i])] if named[0] in alone else []
        columns, table = tuple(dict.fromkeys(c for c, _ in named)), named[0][1]
        models = all(not results[i].columns for i in places)
        out.append(
            Differing(
                columns=columns, table=table, sentence=_sentence(columns, table, len(places), bool(own), models),
                results=places,
            )
        )  # fmt: skip
        left = {i: of for i, of in left.items() if i not in places}
    return tuple(out)


def is_of_all_columns(result: FidelityResult) -> bool:
    """Return whether a result is about all columns together, so that no column explains it."""
    return not _about(result)


def _about(result: FidelityResult) -> tuple[_Place, ...]:
    target = () if result.target is None else (result.target,)
    return tuple((c, result.table) for c in dict.fromkeys((*result.columns, *target)))


def _is_alone(result: FidelityResult) -> bool:
    """Return whether a result is about one column by itself, among all people."""
    return len(result.columns) == 1 and result.target is None and not result.group


def _next(left: dict[int, tuple[_Place, ...]], alone: set[_Place]) -> tuple[_Place, ...]:
    """Return the column that explains most of what is left; with its only partner where it differs with one alone."""
    counts = Counter(place for named in left.values() for place in named)
    chosen = min(counts, key=lambda place: (place not in alone, -counts[place], place))
    with_it = [named for named in left.values() if chosen in named]
    if chosen in alone or any(len(named) == 1 for named in with_it) or len({frozenset(n) for n in with_it}) > 1:
        return (chosen,)
    return with_it[0]


def _sentence(columns: Sequence[str], table: str, n: int, alone: bool, models: bool) -> str:
    told = " and ".join(columns) + (f" of {table}" if table else "")
    if alone:
        follow = f"; {n - 1:,} result{'s follow' if n > 2 else ' follows'} from it" if n > 1 else ""
        return f"{told} differs{follow}"
    shown = f"{n:,} result{'s show' if n > 1 else ' shows'} it"
    if models:
        return f"what predicts {told} differs; {shown}"
    if len(columns) == 1:
        return f"{told} does not belong to other columns as in the real table; {shown}"
    return f"{told} do not belong together as in the real table; {shown}"


def told_of(found: Differing, results: Sequence[FidelityResult]) -> Iterator[tuple[int, FidelityResult]]:
    """Yield for each measure the number of results that follow, and the one of them with the largest ruler.

    Parameters
    ----------
    found
        Of `differing`.
    results
        The results that it was found from.
    """
    of_measures: dict[str, list[FidelityResult]] = {}
    for place in found.results:
        of_measures.setdefault(results[place].measure, []).append(results[place])
    for own in of_measures.values():
        yield len(own), max(own, key=lambda r: r.ruler or 0.0)
