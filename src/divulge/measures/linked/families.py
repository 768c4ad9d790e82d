"""Rows of related tables in blocks: a row of a root table and all that belongs to it are dealt whole.

A family is a row of a root table with the rows below it (orders of a customer, items of these orders), or a sequence.
Its rows share a block in each table, so that relabelled blocks are relabelled families.
"""

from __future__ import annotations

import zlib
from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.case.encoded import ROLES
from divulge.case.relational.linked import Linked
from divulge.core.hashing import value_hashes
from divulge.core.relations import Relation
from divulge.measures.blocks import FEWEST, Dealt, in_blocks, said_by_rows
from divulge.measures.noise_floor import block_numbers, draw_labels

__all__ = ["Families", "Floats", "Ints", "Pair"]

Hashes = NDArray[np.uint64]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Pair = tuple[NDArray[Any], NDArray[Any]]


class Families:
    """The families of the real tables and of others, in blocks; each array is computed once.

    Which families share a block, and which row is drawn, depends on the seed and on what the rows say, not on their
    order or on their keys.

    Parameters
    ----------
    linked
        Tables and relations; keys have the role `ignore`, so that they are not compared.
    other
        The role that the real tables are compared with: "synthetic" or "holdout".
    seed
        Of every draw.
    """

    def __init__(self, linked: Linked, other: str, seed: int) -> None:
        self.linked, self.roles, self._seed = linked, ("real", other), seed
        self._kept: dict[Hashable, Any] = {}

    def rng(self, step: str) -> np.random.Generator:
        """Return the random generator of one step."""
        key = zlib.crc32(f"{self.roles[1]} {step}".encode())
        return np.random.default_rng(np.random.SeedSequence(self._seed, spawn_key=(key,)))

    def dealt(self, table: str, what: str, rows: Pair | None = None) -> Dealt | None:
        """Return rows of a table in the blocks of their families.

        Parameters
        ----------
        table
            Its name.
        what
            What the rows are, which names the draw of the labels.
        rows
            Numbers of the rows of both sides that count; a row may count several times. None takes all.

        Returns
        -------
        Dealt or None
            Its `both` takes pairs of arrays, one entry for each of `rows`. None where a side has fewer than three
            families.
        """
        found = self._blocks(table)
        if found is None:
            return None
        sides, n_first, n_blocks = found
        own = [side if rows is None else side[rows[i]] for i, side in enumerate(sides)]
        kept = [np.flatnonzero(side >= 0) for side in own]
        n, m = (len(k) for k in kept)
        if min(n, m) < FEWEST:
            return None
        block = np.concatenate([side[k] for side, k in zip(own, kept, strict=True)]).astype(np.int32)
        notes = tuple(
            f"{len(k):,} of {len(side):,} {role} rows were drawn: the other table is far smaller"
            for role, side, k in zip(self.roles, own, kept, strict=True)
            if len(k) < len(side)
        )
        sizes = np.bincount(block, minlength=n_blocks)
        labels = draw_labels(sizes, n_first, self.rng(f"labels {table} {what}"))
        return Dealt((0, 1), (kept[0], kept[1]), block, labels, n, m, notes)

    def codes(self, table: str, codes: tuple[NDArray[Any], ...]) -> Pair:
        """Return, of the codes of a column in each role, those of both sides."""
        return codes[0], codes[ROLES.index(self.roles[1])]

    def draws(self, table: str, step: str) -> Pair:
        """Return a random number for each row of both sides, the same for any order of the rows, and for a copy."""
        out = []
        for i in range(2):
            place = self._place(table, i)
            out.append(self.rng(f"rows {table} {step}").random(len(place))[place])
        return out[0], out[1]

    # ------------------------------------------------------------ inside

    def _once(self, key: Hashable, make: Any) -> Any:
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    def _blocks(self, table: str) -> tuple[list[Ints], int, int] | None:
        return self._once(("blocks", table), lambda: self._dealt_out(table))  # type: ignore[no-any-return] # the key says what it is

    def _dealt_out(self, table: str) -> tuple[list[Ints], int, int] | None:
        """Return the block of each row of both sides, the blocks of the first side, and all blocks."""
        families = [self._families(table, i) for i in range(2)]
        counts = [n for _, n in families]
        if min(counts) < FEWEST:
            return None
        root = self.linked.root_rows(table, "real")[0]
        blocks, n_dealt = block_numbers(counts[0], counts[1])
        out = []
        rng = self.rng(f"families {root}")
        for i, (family, n) in enumerate(families):
            own = in_blocks(np.arange(n), n, blocks[i], n_dealt[i], rng)
            block = np.where(family >= 0, own[np.maximum(family, 0)], -1)
            lost = np.flatnonzero(family < 0)
            if len(lost):
                block[lost] = self._lost_blocks(table, i, blocks[i])[lost]
            out.append(np.where(block >= 0, block + (blocks[0] if i else 0), -1))
        return out, blocks[0], sum(blocks)

    def _lost_blocks(self, table: str, side: int, n_blocks: int) -> Ints:
        """Return a block for each row: rows whose way up breaks off share that of the last row on their way.

        It is drawn for each by itself: dealt evenly, lost rows would be in all blocks alike, and seem to be no chance.
        """
        out = np.zeros(self.linked.n_rows(table, self.roles[side]), dtype=np.int64)
        at, passed = table, {table}
        here = rows = np.arange(len(out))
        while True:
            number = self.linked.n_rows(at, self.roles[side])
            drawn = self.rng(f"lost {at} {side}").integers(0, n_blocks, number)
            out[here] = drawn[self._place(at, side)[rows]]
            up = next((r for r in self.linked.relations if r.child == at and r.parent not in passed), None)
            if up is None:
                return out
            above = self.linked.rows(up, self.roles[side])[rows].astype(np.int64)
            here, rows = here[above >= 0], above[above >= 0]
            at = up.parent
            passed.add(at)

    def _families(self, table: str, side: int) -> tuple[Ints, int]:
        """Return the family of each row, numbered by what its rows say; below 0 for none. And how many there are."""
        root, rows = self.linked.root_rows(table, self.roles[side])
        of_root, n = self._once(("roots", root, side), lambda: self._of_roots(root, side))
        return np.where(rows >= 0, np.append(of_root, -1)[np.maximum(rows, -1)], -1), n

    def _of_roots(self, root: str, side: int) -> tuple[Ints, int]:
        said, ties = self._said_below(root, side)
        case, role = self.linked.case(root), ROLES.index(self.roles[side])
        group = np.arange(len(said))
        keys = case.schema.with_role("sequence")
        if keys:
            codes = np.stack([case.codes(k, binned=False)[role] for k in keys])
            group = np.unique(codes, axis=1, return_inverse=True)[1].ravel()
            lost = (codes == 0).any(axis=0)
            group[lost] = len(group) + np.arange(int(lost.sum()))
        _, number = np.unique(group, return_inverse=True)
        n = int(number.max(initial=-1)) + 1
        of_group = [np.zeros(n, dtype=np.uint64) for _ in range(2)]
        for found, rows in zip(of_group, (said, ties), strict=True):
            np.add.at(found, number, rows)
        place = np.empty(n, dtype=np.int64)
        place[np.lexsort((of_group[1], of_group[0]))] = np.arange(n)
        return place[number], n

    def _said_below(self, table: str, side: int, above: tuple[str, ...] = ()) -> list[Hashes]:
        """Return two hashes of each row and of all rows that belong to it."""
        role = ROLES.index(self.roles[side])
        out = [np.asarray(hashes[role]).copy() for hashes in said_by_rows(self.linked.case(table))]
        for j, relation in enumerate(self.linked.relations):
            first = next((r for r in self.linked.relations if r.child == relation.child), None)
            if relation.parent != table or relation != first or relation.child in (*above, table):
                continue
            rows = self.linked.rows(relation, self.roles[side])
            there = rows >= 0
            for mine, theirs in zip(out, self._said_below(relation.child, side, (*above, table)), strict=True):
                np.add.at(mine, rows[there], value_hashes(theirs[there], 50_000 + j))
        return out

    def _place(self, table: str, side: int) -> Ints:
        return self._once(("place", table, side), lambda: self._placed(table, side))  # type: ignore[no-any-return] # the key says what it is

    def _placed(self, table: str, side: int) -> Ints:
        """Return the place of each row in an order that depends on what its family says: by its parent, then by it."""
        said, ties = self._said_below(table, side)
        up = self._up(table)
        above = self._families(table, side)[0]
        if up is not None:
            rows = self.linked.rows(up, self.roles[side])
            above = np.where(rows >= 0, np.append(self._place(up.parent, side), 0)[np.maximum(rows, -1)], -1)
        place = np.empty(len(said), dtype=np.int64)
        place[np.lexsort((ties, said, above))] = np.arange(len(said))
        return place

    def _up(self, table: str) -> Relation | None:
        """Return the relation to the parent that a table's rows belong to; None for a root, and in a circle."""
        found = next((r for r in self.linked.relations if r.child == table and r.parent != table), None)
        at, passed = found, {table}
        while at is not None and at.parent not in passed:
            passed.add(at.parent)
            at = next((r for r in self.linked.relations if r.child == at.parent and r.parent != at.parent), None)
        return found if at is None else None
