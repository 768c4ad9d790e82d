"""The inner loops of neighbour search as vector instructions, given to numba as LLVM IR.

The compiler vectorises loops over long arrays by itself, but loses a factor of 3 to 5 on blocks of 64 or 128 rows. So
three small loops are written here as operations on whole vectors; LLVM translates them into the instructions of the
machine (AVX-512, AVX2, NEON, SSE2). They do not need a particular machine.

All three compute lower bounds of distances. A bound counts mismatching categories and adds |a - b| for numbers that
were scaled so that a range is as long as its column's weight. Rows are stored in blocks, column by column. Categories
are given in groups of equal weight: `group` (n_groups + 1 entries) has the begin of each group, `weight` the amount
that one mismatch adds.

This module imports numba; import it only where something is to be compiled. `tests/kernels/test_simd.py` holds the same
loops in numpy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

__all__ = [
    "LEAF",
    "MISSING",
    "NODE",
    "NO_LIMIT",
    "TILE",
    "boxes_inside",
    "boxes_meet",
    "count_bits",
    "leaf_bounds",
    "lowest_bit",
    "node_bounds",
    "rows_within",
    "tile_bounds",
]

LEAF = 64
"""Rows of a leaf of the tree."""
NODE = 16
"""Children of a node of the tree."""
TILE = 128
"""Rows of a tile of the scan."""
MISSING = -32768
"""The 16-bit value of a missing number in a tile."""
NO_LIMIT = 32767
"""A 16-bit limit that no row exceeds."""

_F32, _I8, _I16, _I32, _I64 = ir.FloatType(), ir.IntType(8), ir.IntType(16), ir.IntType(32), ir.IntType(64)


# ---------------------------------------------------------------- helpers over llvmlite


def _int(value: int, kind: Any = _I64) -> Any:
    return ir.Constant(kind, value)


def _filled(kind: Any, n: int, value: float) -> Any:
    return ir.Constant(ir.VectorType(kind, n), [value] * n)


def _arrays(context: Any, builder: Any, signature: Any, args: Sequence[Any], which: Sequence[int]) -> list[Any]:
    return [context.make_array(signature.args[i])(context, builder, args[i]) for i in which]


def _at(builder: Any, array: Any, offset: Any, kind: Any) -> Any:
    """Return a pointer to one element."""
    return builder.gep(builder.bitcast(array.data, kind.as_pointer()), [offset])


def _element(builder: Any, array: Any, offset: Any, kind: Any) -> Any:
    return builder.load(_at(builder, array, offset, kind))


def _vector(builder: Any, array: Any, offset: Any, kind: Any, n: int) -> Any:
    """Return n adjacent elements as a vector; they need only the alignment of one element."""
    pointer = builder.bitcast(_at(builder, array, offset, kind), ir.VectorType(kind, n).as_pointer())
    value = builder.load(pointer)
    value.align = max(1, getattr(kind, "width", 32) // 8)
    return value


def _store(builder: Any, vector: Any, array: Any, offset: Any, kind: Any) -> None:
    pointer = builder.bitcast(_at(builder, array, offset, kind), vector.type.as_pointer())
    builder.store(vector, pointer).align = max(1, getattr(kind, "width", 32) // 8)


def _splat(builder: Any, value: Any, n: int) -> Any:
    """Return a vector that holds one value n times."""
    kind = ir.VectorType(value.type, n)
    first = builder.insert_element(ir.Constant(kind, ir.Undefined), value, _int(0, _I32))
    return builder.shuffle_vector(first, ir.Constant(kind, ir.Undefined), _filled(_I32, n, 0))


def _part(builder: Any, vector: Any, first: int, n: int) -> Any:
    places = ir.Constant(ir.VectorType(_I32, n), list(range(first, first + n)))
    return builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), places)


def _call(builder: Any, name: str, *values: Any) -> Any:
    """Call an LLVM intrinsic whose result has the type of its first argument."""
    kind = ir.FunctionType(values[0].type, [v.type for v in values])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), values)


def _bits(builder: Any, vector: Any) -> Any:
    """Return a vector of truth values as the bits of a 64-bit number."""
    n = vector.type.count
    whole = builder.bitcast(vector, ir.IntType(n))
    return whole if n == 64 else builder.zext(whole, _I64)


def _loop(builder: Any, first: Any, last: Any, carried: Sequence[Any], body: Callable[..., Sequence[Any]]) -> list[Any]:
    """Build a loop over [first, last) and return its final values; `body(i, *values)` gives the next values."""
    before = builder.block
    head, inside, behind = (builder.append_basic_block(name) for name in ("head", "inside", "behind"))
    builder.branch(head)
    builder.position_at_end(head)
    i = builder.phi(_I64)
    i.add_incoming(first, before)
    values = []
    for start in carried:
        value = builder.phi(start.type)
        value.add_incoming(start, before)
        values.append(value)
    builder.cbranch(builder.icmp_signed("<", i, last), inside, behind)
    builder.position_at_end(inside)
    following = body(i, *values)
    end = builder.block
    i.add_incoming(builder.add(i, _int(1)), end)
    for value, after in zip(values, following, strict=True):
        value.add_incoming(after, end)
    builder.branch(head)
    builder.position_at_end(behind)
    return values


def _contiguous(*arrays: Any) -> None:
    for array in arrays:
        if array.layout != "C":
            raise TypeError("the vector loops need C-contiguous arrays")


# ---------------------------------------------------------------- float32: the tree


@intrinsic
def leaf_bounds(typing: Any, numbers: Any, codes: Any, leaf: Any, asked: Any, asked_codes: Any, query: Any,
                group: Any, weight: Any, limit: Any, out: Any) -> Any:  # fmt: skip
    """Compute lower bounds of the distances from one query to the 64 rows of one leaf.

    numbers float32 (n_leaves, n_numbers, 64); codes uint8 (n_leaves, n_codes, 64); asked float32 (n, n_numbers);
    asked_codes uint8 (n, n_codes); group int64; weight float32; out float32 (64,) takes the bounds. Returns the bits
    of the rows whose bound is at most the limit. nan stands for missing and adds nothing.
    """
    _contiguous(numbers, codes, asked, asked_codes, group, weight, out)
    signature = types.uint64(
        numbers, codes, types.int64, asked, asked_codes, types.int64, group, weight, types.float32, out
    )

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        t, c, q, qc, g, w, o = _arrays(context, builder, signature, args, (0, 1, 3, 4, 6, 7, 9))
        leaf, query, limit = args[2], args[5], args[8]
        n_numbers, n_codes = builder.extract_value(t.shape, 1), builder.extract_value(c.shape, 1)
        lanes = 16
        n_parts = LEAF // lanes
        size = _int(LEAF)
        codes_at, asked_codes_at = builder.mul(builder.mul(leaf, n_codes), size), builder.mul(query, n_codes)
        numbers_at, asked_at = builder.mul(builder.mul(leaf, n_numbers), size), builder.mul(query, n_numbers)
        zero = _filled(_F32, lanes, 0.0)

        def category(j: Any, count: Any) -> list[Any]:
            column = _vector(builder, c, builder.add(codes_at, builder.mul(j, size)), _I8, LEAF)
            value = _splat(builder, _element(builder, qc, builder.add(asked_codes_at, j), _I8), LEAF)
            differs = builder.icmp_unsigned("!=", column, value)
            return [builder.sub(count, builder.sext(differs, count.type))]

        def one_group(i: Any, *sums: Any) -> list[Any]:
            first, last = _element(builder, g, i, _I64), _element(builder, g, builder.add(i, _int(1)), _I64)
            (count,) = _loop(builder, first, last, [_filled(_I8, LEAF, 0)], category)
            each = _splat(builder, _element(builder, w, i, _F32), lanes)
            whole = builder.uitofp(count, ir.VectorType(_F32, LEAF))
            parts = [_part(builder, whole, k * lanes, lanes) for k in range(n_parts)]
            return [builder.fadd(s, builder.fmul(p, each)) for s, p in zip(sums, parts, strict=True)]

        def number(j: Any, *sums: Any) -> list[Any]:
            at = builder.add(numbers_at, builder.mul(j, size))
            value = _splat(builder, _element(builder, q, builder.add(asked_at, j), _F32), lanes)
            out = []
            for k, s in enumerate(sums):
                column = _vector(builder, t, builder.add(at, _int(k * lanes)), _F32, lanes)
                d = _call(builder, "llvm.fabs.v16f32", builder.fsub(column, value))
                out.append(builder.fadd(s, builder.select(builder.fcmp_ordered(">", d, zero), d, zero)))
            return out

        n_groups = builder.extract_value(w.shape, 0)
        sums = _loop(builder, _int(0), n_groups, [zero] * n_parts, one_group)
        sums = _loop(builder, _int(0), n_numbers, sums, number)
        most, within = _splat(builder, limit, lanes), _int(0)
        for k, s in enumerate(sums):
            _store(builder, s, o, _int(k * lanes), _F32)
            bits = _bits(builder, builder.fcmp_ordered("<=", s, most))
            within = builder.or_(within, builder.shl(bits, _int(k * lanes)))
        return within

    return signature, codegen


@intrinsic
def node_bounds(typing: Any, low: Any, high: Any, masks: Any, node: Any, asked: Any, asked_bits: Any, query: Any,
                group: Any, weight: Any, limit: Any, out: Any) -> Any:  # fmt: skip
    """Compute lower bounds of the distances from one query to the boxes of the 16 children of one node.

    low, high float32 (n_nodes, n_numbers, 16); masks uint32 (n_nodes, n_codes, 16): bit (code & 31) is set where a
    box holds such a code; asked_bits uint32 (n, n_codes): the query's own bit; the rest as in `leaf_bounds`.
    """
    _contiguous(low, high, masks, asked, asked_bits, group, weight, out)
    signature = types.uint64(
        low, high, masks, types.int64, asked, asked_bits, types.int64, group, weight, types.float32, out
    )

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        lo, hi, m, q, qb, g, w, o = _arrays(context, builder, signature, args, (0, 1, 2, 4, 5, 7, 8, 10))
        node, query, limit = args[3], args[6], args[9]
        n_numbers, n_codes = builder.extract_value(lo.shape, 1), builder.extract_value(m.shape, 1)
        size, ints = _int(NODE), ir.VectorType(_I32, NODE)
        masks_at, bits_at = builder.mul(builder.mul(node, n_codes), size), builder.mul(query, n_codes)
        numbers_at, asked_at = builder.mul(builder.mul(node, n_numbers), size), builder.mul(query, n_numbers)
        zero, none = _filled(_F32, NODE, 0.0), _filled(_I32, NODE, 0)

        def category(j: Any, count: Any) -> list[Any]:
            mask = _vector(builder, m, builder.add(masks_at, builder.mul(j, size)), _I32, NODE)
            bit = _splat(builder, _element(builder, qb, builder.add(bits_at, j), _I32), NODE)
            lacks = builder.icmp_unsigned("==", builder.and_(mask, bit), none)
            return [builder.sub(count, builder.sext(lacks, ints))]

        def one_group(i: Any, total: Any) -> list[Any]:
            first, last = _element(builder, g, i, _I64), _element(builder, g, builder.add(i, _int(1)), _I64)
            (count,) = _loop(builder, first, last, [none], category)
            each = _splat(builder, _element(builder, w, i, _F32), NODE)
            return [builder.fadd(total, builder.fmul(builder.sitofp(count, zero.type), each))]

        def number(j: Any, total: Any) -> list[Any]:
            at = builder.add(numbers_at, builder.mul(j, size))
            value = _splat(builder, _element(builder, q, builder.add(asked_at, j), _F32), NODE)
            below = builder.fsub(_vector(builder, lo, at, _F32, NODE), value)
            above = builder.fsub(value, _vector(builder, hi, at, _F32, NODE))
            d = builder.select(builder.fcmp_ordered(">", below, above), below, above)
            return [builder.fadd(total, builder.select(builder.fcmp_ordered(">", d, zero), d, zero))]

        (total,) = _loop(builder, _int(0), builder.extract_value(w.shape, 0), [zero], one_group)
        (total,) = _loop(builder, _int(0), n_numbers, [total], number)
        _store(builder, total, o, _int(0), _F32)
        return _bits(builder, builder.fcmp_ordered("<=", total, _splat(builder, limit, NODE)))

    return signature, codegen


# ---------------------------------------------------------------- 16 bits: the scan


@intrinsic
def tile_bounds(typing: Any, numbers: Any, codes: Any, tile: Any, asked: Any, asked_codes: Any, query: Any,
                group: Any, unit: Any, n_whole: Any, most: Any, limit: Any, out: Any, within: Any) -> Any:  # fmt: skip
    """Compute lower bounds of the distances from one query to the 128 rows of one tile, in saturating 16-bit units.

    numbers int16 (n_tiles, n_numbers, 128): the first `n_whole` columns have no missing number, in the others
    MISSING stands for one; codes uint8 (n_tiles, n_codes, 128); asked int16; asked_codes uint8; group int64; unit
    int16: what a mismatch adds; most uint8: mismatches (over all groups) beyond which every row is outside; limit
    int16; out int16 (128,); within uint64 (2,) takes the bits of the rows whose bound is at most the limit. Returns
    1 if there are any. The numbers are touched only when some row is inside by its categories alone.
    """
    _contiguous(numbers, codes, asked, asked_codes, group, unit, out, within)
    signature = types.int64(
        numbers, codes, types.int64, asked, asked_codes, types.int64, group, unit, types.int64, types.uint8,
        types.int16, out, within,
    )  # fmt: skip

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        t, c, q, qc, g, u, o, bits_out = _arrays(context, builder, signature, args, (0, 1, 3, 4, 6, 7, 11, 12))
        tile, query, n_whole, most, limit = args[2], args[5], args[8], args[9], args[10]
        n_numbers, n_codes = builder.extract_value(t.shape, 1), builder.extract_value(c.shape, 1)
        n_groups = builder.extract_value(u.shape, 0)
        lanes, half = 32, 64
        n_parts, size = TILE // lanes, _int(TILE)
        codes_at, asked_codes_at = builder.mul(builder.mul(tile, n_codes), size), builder.mul(query, n_codes)
        numbers_at, asked_at = builder.mul(builder.mul(tile, n_numbers), size), builder.mul(query, n_numbers)
        zero = _filled(_I16, lanes, 0)

        def category(j: Any, *counts: Any) -> list[Any]:
            at = builder.add(codes_at, builder.mul(j, size))
            value = _splat(builder, _element(builder, qc, builder.add(asked_codes_at, j), _I8), half)
            out = []
            for k, count in enumerate(counts):
                column = _vector(builder, c, builder.add(at, _int(k * half)), _I8, half)
                differs = builder.zext(builder.icmp_unsigned("!=", column, value), count.type)
                out.append(_call(builder, "llvm.uadd.sat.v64i8", count, differs))
            return out

        def in_units(counts: Sequence[Any], sums: Sequence[Any], i: Any) -> list[Any]:
            each, out = _splat(builder, _element(builder, u, i, _I16), lanes), []
            for k, s in enumerate(sums):
                part = _part(builder, counts[k * lanes // half], k * lanes % half, lanes)
                wide = builder.zext(part, ir.VectorType(_I32, lanes))
                product = builder.mul(wide, builder.sext(each, wide.type))
                capped = _call(builder, "llvm.umin.v32i32", product, _filled(_I32, lanes, NO_LIMIT))
                out.append(_call(builder, "llvm.sadd.sat.v32i16", s, builder.trunc(capped, zero.type)))
            return out

        none = [_filled(_I8, half, 0)] * (TILE // half)
        counts = _loop(builder, _int(0), n_codes, none, category)
        inside, allowed = _int(0), _splat(builder, most, half)
        for count in counts:
            inside = builder.or_(inside, _bits(builder, builder.icmp_unsigned("<=", count, allowed)))
        found = cgutils.alloca_once_value(builder, _int(0))
        with builder.if_then(builder.icmp_unsigned("!=", inside, _int(0))):
            start = [cgutils.alloca_once_value(builder, zero) for _ in range(n_parts)]
            with builder.if_else(builder.icmp_signed("==", n_groups, _int(1))) as (single, several):
                with single:
                    for slot, s in zip(start, in_units(counts, [zero] * n_parts, _int(0)), strict=True):
                        builder.store(s, slot)
                with several:

                    def one_group(i: Any, *sums: Any) -> list[Any]:
                        first, last = (_element(builder, g, builder.add(i, _int(k)), _I64) for k in (0, 1))
                        return in_units(_loop(builder, first, last, none, category), sums, i)

                    sums = _loop(builder, _int(0), n_groups, [zero] * n_parts, one_group)
                    for slot, s in zip(start, sums, strict=True):
                        builder.store(s, slot)

            def number(j: Any, *sums: Any, missing: bool = False) -> list[Any]:
                at = builder.add(numbers_at, builder.mul(j, size))
                value = _splat(builder, _element(builder, q, builder.add(asked_at, j), _I16), lanes)
                out = []
                for k, s in enumerate(sums):
                    column = _vector(builder, t, builder.add(at, _int(k * lanes)), _I16, lanes)
                    d = _call(builder, "llvm.abs.v32i16", builder.sub(column, value), _int(0, ir.IntType(1)))
                    if missing:
                        gap = _filled(_I16, lanes, MISSING)
                        known = builder.and_(
                            builder.icmp_signed("!=", column, gap), builder.icmp_signed("!=", value, gap)
                        )
                        d = builder.select(known, d, zero)
                    out.append(_call(builder, "llvm.sadd.sat.v32i16", s, d))
                return out

            sums = _loop(builder, _int(0), n_whole, [builder.load(slot) for slot in start], number)
            sums = _loop(builder, n_whole, n_numbers, sums, lambda j, *s: number(j, *s, missing=True))
            border, masks = _splat(builder, limit, lanes), []
            for k, s in enumerate(sums):
                _store(builder, s, o, _int(k * lanes), _I16)
                masks.append(_bits(builder, builder.icmp_signed("<=", s, border)))
            low = builder.or_(masks[0], builder.shl(masks[1], _int(32)))
            high = builder.or_(masks[2], builder.shl(masks[3], _int(32)))
            builder.store(low, _at(builder, bits_out, _int(0), _I64))
            builder.store(high, _at(builder, bits_out, _int(1), _I64))
            builder.store(builder.zext(builder.icmp_unsigned("!=", builder.or_(low, high), _int(0)), _I64), found)
        return builder.load(found)

    return signature, codegen


# ---------------------------------------------------------------- int32: conjunctions


@intrinsic
def rows_within(typing: Any, values: Any, at: Any, least: Any, most: Any) -> Any:
    """Return as bits which of 64 adjacent int32 values, from place `at` on, lie in [least, most].

    With least <= most one comparison of an unsigned difference tests both ends.
    """
    _contiguous(values)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        (v,) = _arrays(context, builder, signature, args, (0,))
        column = _vector(builder, v, args[1], _I32, LEAF)
        above = builder.sub(column, _splat(builder, args[2], LEAF))
        width = _splat(builder, builder.sub(args[3], args[2]), LEAF)
        return _bits(builder, builder.icmp_unsigned("<=", above, width))

    return types.uint64(values, types.int64, types.int32, types.int32), codegen


def _boxes(low_is: str, high_is: str, swapped: bool) -> Callable[..., Any]:
    """Return the code that compares both ends of 16 boxes with the ends of an interval."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        lows, highs = _arrays(context, builder, signature, args, (0, 1))
        low, high = (_vector(builder, a, args[2], _I32, NODE) for a in (lows, highs))
        ends = [_splat(builder, a, NODE) for a in (args[3:5] if not swapped else (args[4], args[3]))]
        return _bits(
            builder,
            builder.and_(builder.icmp_signed(low_is, low, ends[0]), builder.icmp_signed(high_is, high, ends[1])),
        )

    return codegen


@intrinsic
def boxes_meet(typing: Any, low: Any, high: Any, at: Any, least: Any, most: Any) -> Any:
    """Return as bits which of 16 adjacent boxes, from place `at` on, overlap [least, most]."""
    _contiguous(low, high)
    return types.uint64(low, high, types.int64, types.int32, types.int32), _boxes("<=", ">=", swapped=True)


@intrinsic
def boxes_inside(typing: Any, low: Any, high: Any, at: Any, least: Any, most: Any) -> Any:
    """Return as bits which of 16 adjacent boxes lie entirely in [least, most]."""
    _contiguous(low, high)
    return types.uint64(low, high, types.int64, types.int32, types.int32), _boxes(">=", "<=", swapped=False)


@intrinsic
def count_bits(typing: Any, bits: Any) -> Any:
    """Return the number of bits that are set."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _call(builder, "llvm.ctpop.i64", args[0])

    return types.int64(types.uint64), codegen


@intrinsic
def lowest_bit(typing: Any, bits: Any) -> Any:
    """Return the position of the lowest set bit; the number must not be 0."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _call(builder, "llvm.cttz.i64", args[0], _int(0, ir.IntType(1)))

    return types.int64(types.uint64), codegen
