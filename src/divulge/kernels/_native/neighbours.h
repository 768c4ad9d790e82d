/* The distance by its definition, and the list of the k nearest; for all loops that search neighbours. */
#ifndef NEIGHBOURS_H
#define NEIGHBOURS_H

#include "divulge.h"

/* The values from which the distance is computed: `Exact` of _box_tree.py. */
typedef struct {
    const double *numbers;           /* (n, n_numbers) of the queries */
    const int32_t *codes;            /* (n, n_codes) */
    const double *reference_numbers; /* (m, n_numbers) */
    const int32_t *reference_codes;  /* (m, n_codes) */
    const double *rate;              /* (n_numbers,) */
    const double *number_weight;     /* (n_numbers,) */
    const int64_t *group;            /* (n_groups + 1,): begin of each group of code columns of equal weight */
    const double *group_weight;      /* (n_groups,) */
    const int64_t *times;            /* (m,): how many rows each reference row stands for */
    const int64_t *own;              /* (n,): the reference row that the query itself is, or -1 */
    double total, cap, split;
    int64_t n_numbers, n_codes, n_groups, n_rows;
} exact_t;

INLINE int64_t mismatches(const int32_t *restrict a, const int32_t *restrict b, int64_t n) {
    int64_t j = 0;
    int32_t out = 0;
#if defined(__AVX512BW__)
    for (; j < n; j += 16) { /* the last lanes are masked out */
        __mmask16 lanes = n - j >= 16 ? 0xFFFF : (__mmask16)((1u << (n - j)) - 1);
        __m512i x = _mm512_maskz_loadu_epi32(lanes, a + j), y = _mm512_maskz_loadu_epi32(lanes, b + j);
        out += __builtin_popcount(_mm512_cmpneq_epi32_mask(x, y));
    }
#else
    for (; j + LANES32 <= n; j += LANES32)
        out += count_bits(bits32((vi32)(LOAD(vi32, a + j) != LOAD(vi32, b + j))));
    for (; j < n; j++) out += a[j] != b[j];
#endif
    return out;
}

/* The distance of a query to a reference row. */
INLINE double exact(const exact_t *e, int64_t query, int64_t row) {
    const double *restrict a = e->numbers + query * e->n_numbers;
    const double *restrict b = e->reference_numbers + row * e->n_numbers;
    const int32_t *restrict x = e->codes + query * e->n_codes;
    const int32_t *restrict y = e->reference_codes + row * e->n_codes;
    double s = 0.0;
    for (int64_t j = 0; j < e->n_numbers; j++) {
        double d = fabs(a[j] - b[j]) * e->rate[j];
        d = d > 0.0 ? d : 0.0; /* nan: one of them is missing */
        s += (d < e->cap ? d : e->cap) * e->number_weight[j];
    }
    for (int64_t g = 0; g < e->n_groups; g++) {
        int64_t first = e->group[g];
        s += (double)mismatches(x + first, y + first, e->group[g + 1] - first) * e->group_weight[g] * e->cap;
    }
    double carried = s * e->split;
    return (carried - (carried - s)) / (e->total * e->cap);
}

/* The k nearest of one query, ordered by distance and row number. */
typedef struct {
    double *far;
    int64_t *rows, *times;
    int64_t filled, beyond; /* beyond: rows that tie with the k-th and are not among the k */
} kept_t;

/* Insert a row that stands for `times` rows. */
INLINE void add(kept_t *kept, int64_t k, double distance, int64_t row, int64_t times) {
    double *far = kept->far, last = INFINITY;
    int64_t *rows = kept->rows, pushed = 0, place = kept->filled;
    if (kept->filled == k) {
        last = far[k - 1];
        if (distance > last) return;
        if (distance == last && row > rows[k - 1]) {
            kept->beyond += times;
            return;
        }
        pushed = kept->times[k - 1];
        place = k - 1;
    } else {
        kept->filled++;
    }
    while (place > 0 && (far[place - 1] > distance || (far[place - 1] == distance && rows[place - 1] > row))) {
        far[place] = far[place - 1], rows[place] = rows[place - 1], kept->times[place] = kept->times[place - 1];
        place--;
    }
    far[place] = distance, rows[place] = row, kept->times[place] = times;
    if (pushed) kept->beyond = far[k - 1] == last ? kept->beyond + pushed : 0;
}

/* What is asked of a search, and where its answers go: `Asked` of _box_tree.py. */
typedef struct {
    const int64_t *queries; /* in the order in which they are searched */
    const double *radius;   /* (n,): rows beyond it are not looked for; infinite where k > 0 and there is no limit */
    double *out_distance;   /* (n, k) */
    int64_t *out_row;       /* (n, k) */
    int64_t *out_beyond;    /* (n,) */
    const volatile int32_t *stop;
    int64_t k, listing;
} asked_t;

/* Pairs (query, row), as many as fit. */
typedef struct {
    int64_t *query, *row;
    int64_t room;
} pairs_t;

#endif
