/* One walk through the tree of boxes for several searches, each of which leaves out one column. leave_one_out.py
 * describes it.
 *
 * With d the part of a column, the distance without it is D - d. A box or row is out of reach if it is so without each
 * of the columns. Of what may be within reach the distance is added up without the column, as its definition says. */
#ifndef LEAVE_ONE_OUT_H
#define LEAVE_ONE_OUT_H

#include "box_tree.h"

/* The searches: the column that each leaves out, its ruler, and the values that the rows vote for. Lanes beyond the
 * searches are padding, up to `width`. */
typedef struct {
    const double *rate;    /* (n_numbers, width): 0 where the search leaves the number out */
    const double *total;   /* (width,): the sum of the weights without the column */
    const double *cap;     /* (width,) */
    const double *split;   /* (width,) */
    const int64_t *number; /* (n_targets,): the number that is left out, or -1 */
    const int64_t *code;   /* (n_targets,): the code that is left out, or -1 */
    const int32_t *place;  /* (m, n_targets): place of the value of each reference row */
    const int64_t *begin;  /* (n_targets + 1,): where the places of each target begin */
    const int64_t *first;  /* (n_places,): a value at place p reaches the places first[p] to last[p] - 1 */
    const int64_t *last;   /* (n_places,) */
    int64_t n_targets, width;
} left_out_t;

/* The values of the rows; the weight of each column is 1. The reference rows are in the order of the tree. The codes
 * are in lanes: first, for each search, the code that it leaves out (0 where it has none), then all others. */
typedef struct {
    const double *numbers;           /* (n, n_numbers) of the queries */
    const int32_t *codes;            /* (n, n_lanes) */
    const double *reference_numbers; /* (m, n_numbers) */
    const int32_t *reference_codes;  /* (m, n_lanes) */
    const int64_t *times;            /* (m,): how many rows each reference row stands for */
    const int64_t *queries;          /* (n,): in the order in which they are searched */
    const int64_t *start;            /* (n + 1,): query x of this order stands for the people start[x] to start[x + 1] - 1 */
    const volatile int32_t *stop;
    int64_t n_numbers, n_lanes, k;
} asking_t;

/* The state of all searches for one query, one lane each. */
typedef struct {
    double *limit;     /* (width,): the k-th distance so far; -1 in padding */
    double *kept;      /* (k, width): the nearest distances so far, ascending; equal rows count one by one */
    double *far;       /* (width,): the distances of one row */
    float *bound;      /* (width,): the largest bound that a row within the limit may have */
    int64_t *row;      /* (size,): rows that were within a limit when they were met */
    double *near;      /* (size, width): their distances */
    int64_t n, size;   /* of these rows */
    int32_t *stack;    /* (depth,) */
    float *sum;        /* (depth,): bounds with all columns */
    double *term;      /* (n_numbers,) */
    uint32_t *bits;    /* (n_codes,): the query's own bit of each mask */
    int64_t *hits;     /* (size,): rows of `row` that vote */
    int64_t *votes;    /* (most places,): 0 between two votes */
    int64_t *touched;  /* (most places,): places that have votes */
    int64_t *count;    /* (most places,): the votes of each of these */
    int64_t *before;   /* (most places + 1,) */
} walk_t;

static void free_walk(walk_t *w) {
    free(w->limit), free(w->kept), free(w->far), free(w->bound), free(w->row), free(w->near), free(w->stack);
    free(w->sum), free(w->term), free(w->bits), free(w->hits), free(w->votes), free(w->touched), free(w->count);
    free(w->before);
}

/* Make room for the votes and for the k nearest distances; return 0 without memory. */
static int make_votes(walk_t *w, const left_out_t *l, int64_t k) {
    int64_t n = l->n_targets, most = 0;
    for (int64_t i = 0; i < n; i++) most = l->begin[i + 1] - l->begin[i] > most ? l->begin[i + 1] - l->begin[i] : most;
    w->limit = room(l->width, sizeof(double));
    w->kept = k > INT64_MAX / 64 / l->width ? NULL : room(k * l->width, sizeof(double));
    w->votes = zeroed(most, sizeof(int64_t)), w->touched = room(most, sizeof(int64_t));
    w->count = room(most, sizeof(int64_t)), w->before = room(most + 1, sizeof(int64_t));
    return w->limit && w->kept && w->votes && w->touched && w->count && w->before;
}

/* Make room for all that a walk needs; return 0 without memory. */
static int make_walk(walk_t *w, const tree_t *t, const left_out_t *l, int64_t k) {
    if (!make_votes(w, l, k)) return 0;
    w->far = room(l->width, sizeof(double)), w->bound = room(l->width, sizeof(float)), w->size = 4 * k + 256;
    w->row = room(w->size, sizeof(int64_t)), w->hits = room(w->size, sizeof(int64_t));
    w->near = room(w->size * l->width, sizeof(double));
    w->stack = room(t->depth, sizeof(int32_t)), w->sum = room(t->depth, sizeof(float));
    w->term = room(t->n_numbers, sizeof(double)), w->bits = room(t->n_codes, sizeof(uint32_t));
    return w->far && w->bound && w->row && w->hits && w->near && w->stack && w->sum && w->term && w->bits;
}

/* ---------------------------------------------------------------- bounds */

/* The rows of a leaf that may be within the limit of any search, as bits; sum takes the bounds with all columns. */
INLINE uint64_t rows_within(const tree_t *t, const left_out_t *l, int64_t leaf, int64_t n, const float *asked,
                            const uint8_t *asked_codes, float farthest, const float *bound, float *sum) {
    enum { PARTS = LEAF / LANES32 };
    uint64_t any = leaf_bounds(t, leaf, asked, asked_codes, farthest, sum), some = 0;
    if (n < LEAF) any &= ((uint64_t)1 << n) - 1;
    const uint8_t *codes = t->codes + leaf * t->n_codes * LEAF;
    const float *numbers = t->numbers + leaf * t->n_numbers * LEAF;
    for (int64_t i = 0; i < l->n_targets && some != any; i++) {
        int64_t number = l->number[i], code = l->code[i];
        uint64_t bits = 0, differ = 0;
        vf32 most = SPLAT(vf32, bound[i]);
        if (code >= 0) {
            vu8 value = SPLAT(vu8, asked_codes[code]);
            for (int p = 0; p < LEAF / WIDE; p++)
                differ |= bits8((vi8)(LOAD(vu8, codes + code * LEAF + p * WIDE) != value)) << (p * WIDE % 64);
        }
        vf32 value = SPLAT(vf32, number < 0 ? 0.0f : asked[number]), one_more = most + 1.0f;
        uint64_t further = 0; /* rows that are within if they differ in the code */
        for (int p = 0; p < PARTS; p++) {
            vf32 rest = LOAD(vf32, sum + p * LANES32);
            if (number >= 0)
                rest -= larger(magnitude(LOAD(vf32, numbers + number * LEAF + p * LANES32) - value), (vf32){0});
            bits |= bits32((vi32)(rest <= most)) << (p * LANES32);
            further |= bits32((vi32)(rest <= one_more)) << (p * LANES32);
        }
        some |= (bits | (further & differ)) & any;
    }
    return some;
}

/* The children of a node that may hold a row within the limit of any search, as bits; sum (NODE,) takes their bounds
 * with all columns. */
INLINE uint64_t boxes_within(const tree_t *t, const left_out_t *l, int64_t node, const float *asked,
                             const uint32_t *asked_bits, float farthest, const float *bound, float *sum) {
    enum { PARTS = NODE / LANES32 };
    uint64_t any = node_bounds(t, node, asked, asked_bits, farthest, sum), some = 0;
    const uint32_t *masks = t->masks + node * t->n_codes * NODE;
    const float *least = t->low + node * t->n_numbers * NODE, *largest = t->high + node * t->n_numbers * NODE;
    for (int64_t i = 0; i < l->n_targets && some != any; i++) {
        int64_t number = l->number[i], code = l->code[i];
        vf32 most = SPLAT(vf32, bound[i]);
        for (int p = 0; p < PARTS; p++) {
            vf32 rest = LOAD(vf32, sum + p * LANES32);
            if (number >= 0) {
                vf32 value = SPLAT(vf32, asked[number]);
                vf32 below = LOAD(vf32, least + number * NODE + p * LANES32) - value;
                vf32 above = value - LOAD(vf32, largest + number * NODE + p * LANES32);
                rest -= larger(larger(below, above), (vf32){0});
            }
            if (code >= 0) {
                vu32 bit = SPLAT(vu32, asked_bits[code]);
                vi32 differ = (vi32)((LOAD(vu32, masks + code * NODE + p * LANES32) & bit) == (vu32){0});
                rest += __builtin_convertvector(differ, vf32);
            }
            some |= (bits32((vi32)(rest <= most)) << (p * LANES32)) & any;
        }
    }
    return some;
}

/* ---------------------------------------------------------------- distances */

/* Compute the distances of a query to a row without each of the columns in turn, one lane a search. */
INLINE void distances(walk_t *w, const asking_t *a, const left_out_t *l, int64_t query, int64_t row) {
    const double *x = a->numbers + query * a->n_numbers, *y = a->reference_numbers + row * a->n_numbers;
    const int32_t *u = a->codes + query * a->n_lanes, *v = a->reference_codes + row * a->n_lanes;
    int64_t differ = 0;
    for (int64_t j = 0; j < a->n_numbers; j++) w->term[j] = fabs(x[j] - y[j]);
    for (int64_t j = 0; j < a->n_lanes; j += LANES32)
        differ += count_bits(bits32((vi32)(LOAD(vi32, u + j) != LOAD(vi32, v + j))));
    for (int64_t i = 0; i < l->width; i += LANES64) {
        vf64 s = (vf64){0}, cap = LOAD(vf64, l->cap + i);
        for (int64_t j = 0; j < a->n_numbers; j++) {
            vf64 d = SPLAT(vf64, w->term[j]) * LOAD(vf64, l->rate + j * l->width + i);
            s += smaller64(larger64(d, (vf64){0}), cap); /* nan, where a number is missing or left out, adds nothing */
        }
        vf64 own = __builtin_convertvector((vi32h)(LOAD(vi32h, u + i) != LOAD(vi32h, v + i)), vf64); /* 0 or -1 */
        s += (SPLAT(vf64, (double)differ) + own) * cap;
        vf64 carried = s * LOAD(vf64, l->split + i);
        STORE(w->far + i, (carried - (carried - s)) / (LOAD(vf64, l->total + i) * cap));
    }
}

/* Whether the row of `far` is within the limit of any search. */
INLINE int is_within(const walk_t *w, const double *far, int64_t width) {
    for (int64_t i = 0; i < width; i += LANES64)
        if (bits64((vi64)(LOAD(vf64, far + i) <= LOAD(vf64, w->limit + i)))) return 1;
    return 0;
}

/* Insert the distances of `far` into those kept, `times` times; return whether one of the k-th fell. */
INLINE int insert(walk_t *w, int64_t k, int64_t width, int64_t times) {
    uint64_t fell = 0;
    for (int64_t i = 0; i < width; i += LANES64) {
        double *last = w->kept + (k - 1) * width + i;
        for (int64_t c = times < k ? times : k; c > 0; c--) {
            vf64 d = LOAD(vf64, w->far + i);
            if (!bits64((vi64)(d < LOAD(vf64, last)))) break;
            for (double *at = w->kept + i; at <= last; at += width) {
                vf64 here = LOAD(vf64, at);
                STORE(at, smaller64(here, d));
                d = larger64(here, d);
            }
        }
        fell |= bits64((vi64)(LOAD(vf64, last) < LOAD(vf64, w->limit + i)));
    }
    return fell != 0;
}

/* Forget the rows beyond all limits, and make room for more; return 0 without memory. */
static int tidy(walk_t *w, int64_t width) {
    int64_t n = 0;
    for (int64_t e = 0; e < w->n; e++) {
        if (!is_within(w, w->near + e * width, width)) continue;
        if (n < e) memcpy(w->near + n * width, w->near + e * width, (size_t)width * sizeof(double));
        w->row[n++] = w->row[e];
    }
    w->n = n;
    if (n <= w->size / 2) return 1;
    if (w->size > INT64_MAX / 64 / width) return 0;
    void *row = realloc(w->row, (size_t)(2 * w->size) * sizeof(int64_t));
    if (row) w->row = row;
    void *hits = realloc(w->hits, (size_t)(2 * w->size) * sizeof(int64_t));
    if (hits) w->hits = hits;
    void *near = realloc(w->near, (size_t)(2 * w->size * width) * sizeof(double));
    if (near) w->near = near;
    if (!row || !hits || !near) return 0;
    w->size *= 2;
    return 1;
}

/* ---------------------------------------------------------------- the walk */

/* What one query is compared by. */
typedef struct {
    const float *numbers;
    const uint8_t *codes;
    float absolute, relative; /* the rounding of a bound */
    float farthest;           /* the largest bound with all columns that a row of interest may have */
    int64_t i;
} query_t;

/* Take up query i. */
INLINE query_t asked_for(walk_t *w, const tree_t *t, const box_queries_t *b, int64_t i) {
    query_t q = {b->numbers + i * t->n_numbers, b->codes + i * t->n_codes, 1e-30f, 0, 0, i};
    for (int64_t j = 0; j < t->n_codes; j++) w->bits[j] = (uint32_t)1 << (q.codes[j] & 31);
    for (int64_t j = 0; j < t->n_numbers; j++)
        if (q.numbers[j] == q.numbers[j]) q.absolute += 4.8e-7f * fabsf(q.numbers[j]);
    q.relative = 2.4e-7f * (float)(t->n_numbers + t->n_groups + 4);
    return q;
}

/* Lower the limits to the k-th distances, and with them the bounds. */
static void tighten(walk_t *w, const left_out_t *l, query_t *q, int64_t k) {
    float most = 0.0f;
    for (int64_t i = 0; i < l->width; i += LANES64) {
        vf64 limit = smaller64(LOAD(vf64, w->limit + i), LOAD(vf64, w->kept + (k - 1) * l->width + i));
        STORE(w->limit + i, limit);
        vf64 whole = smaller64(limit * LOAD(vf64, l->total + i), SPLAT(vf64, 1e30));
        vf32h bound = __builtin_convertvector(whole, vf32h);
        /* the bound is a difference of two sums, of which the larger has the column itself */
        STORE(w->bound + i, bound + (q->absolute + q->relative * (bound + 2.0f)));
    }
    for (int64_t i = 0; i < l->n_targets; i++) most = w->bound[i] > most ? w->bound[i] : most;
    q->farthest = most + 1.0f;
}

static void forget(walk_t *w, const left_out_t *l, int64_t k) {
    for (int64_t e = 0; e < k * l->width; e++) w->kept[e] = INFINITY;
}

/* Begin with upper limits of the k-th distances: those to rows that were near to the query before. */
static void first_limits(walk_t *w, const asking_t *a, const left_out_t *l, query_t *q) {
    int64_t k = a->k, n = 0;
    forget(w, l, k);
    for (int64_t e = 0; e < w->n && n < 16 * k + 64; e++) {
        if (!is_within(w, w->near + e * l->width, l->width)) continue;
        distances(w, a, l, q->i, w->row[e]);
        insert(w, k, l->width, a->times[w->row[e]]);
        n++;
    }
    for (int64_t i = 0; i < l->width; i++) w->limit[i] = i < l->n_targets ? INFINITY : -1.0;
    tighten(w, l, q, k);
    forget(w, l, k);
    w->n = 0;
}

/* Put the children of a node on the stack, the nearest on top; return the new height. */
INLINE int64_t push(walk_t *w, int64_t top, const int32_t *child, uint64_t bits, const float *sum) {
    int64_t base = top;
    for (; bits; bits &= bits - 1) {
        int j = lowest_bit(bits);
        if (child[j] == NO_CHILD) continue;
        int64_t place = top++;
        for (; place > base && w->sum[place - 1] < sum[j]; place--)
            w->stack[place] = w->stack[place - 1], w->sum[place] = w->sum[place - 1];
        w->stack[place] = child[j], w->sum[place] = sum[j];
    }
    return top;
}

/* Look at the rows of a leaf; return 0 without memory. */
static int visit_leaf(walk_t *w, const tree_t *t, const asking_t *a, const left_out_t *l, query_t *q, int64_t leaf) {
    float sum[LEAF];
    int64_t begin = t->first[leaf], n = t->first[leaf + 1] - begin, width = l->width;
    uint64_t some = rows_within(t, l, leaf, n, q->numbers, q->codes, q->farthest, w->bound, sum);
    int is_first = 1;
    while (some) {
        int j = lowest_bit(some);
        if (is_first) /* the nearest on all columns first: it makes the limits small */
            for (uint64_t bits = some; bits; bits &= bits - 1)
                if (sum[lowest_bit(bits)] < sum[j]) j = lowest_bit(bits);
        is_first = 0;
        some &= ~((uint64_t)1 << j);
        if (sum[j] > q->farthest) continue;
        distances(w, a, l, q->i, begin + j);
        if (!is_within(w, w->far, width)) continue;
        if (w->n == w->size && !tidy(w, width)) return 0;
        memcpy(w->near + w->n * width, w->far, (size_t)width * sizeof(double));
        w->row[w->n++] = begin + j;
        if (insert(w, a->k, width, a->times[begin + j])) tighten(w, l, q, a->k);
    }
    return 1;
}

/* Have what is looked at next fetched while a leaf or node is looked at. */
INLINE void fetch(const tree_t *t, int64_t at) {
    if (at < 0) {
        const uint8_t *codes = t->codes + (-1 - at) * t->n_codes * LEAF;
        const float *numbers = t->numbers + (-1 - at) * t->n_numbers * LEAF;
        for (int64_t j = 0; j < t->n_codes; j++) __builtin_prefetch(codes + j * LEAF);
        for (int64_t j = 0; j < 4 * t->n_numbers; j++) __builtin_prefetch(numbers + j * 16);
        return;
    }
    const uint32_t *masks = t->masks + at * t->n_codes * NODE;
    const float *low = t->low + at * t->n_numbers * NODE, *high = t->high + at * t->n_numbers * NODE;
    for (int64_t j = 0; j < t->n_codes; j++) __builtin_prefetch(masks + j * NODE);
    for (int64_t j = 0; j < t->n_numbers; j++) __builtin_prefetch(low + j * NODE), __builtin_prefetch(high + j * NODE);
}

/* Find the rows that answer for one query; return 0 without memory. */
static int walk(walk_t *w, const tree_t *t, const asking_t *a, const left_out_t *l, query_t *q) {
    float sum[NODE];
    int64_t top = 1;
    w->stack[0] = 0, w->sum[0] = 0.0f;
    while (top > 0) {
        top--;
        if (w->sum[top] > q->farthest) continue;
        int64_t at = w->stack[top];
        if (top > 0) fetch(t, w->stack[top - 1]);
        if (at < 0) {
            if (!visit_leaf(w, t, a, l, q, -1 - at)) return 0;
            continue;
        }
        uint64_t bits = boxes_within(t, l, at, q->numbers, w->bits, q->farthest, w->bound, sum);
        top = push(w, top, t->child + at * NODE, bits, sum);
    }
    return 1;
}

#endif
