/* The tree of boxes as arrays, and lower bounds of the distances from one query to the rows of a leaf or to the children
 * of a node.
 *
 * A bound counts mismatching categories and adds |a - b| for numbers that were scaled so that a range is as long as its
 * column's weight. Rows are stored in blocks, column by column. Categories are in groups of equal weight.
 */
#ifndef BOX_TREE_H
#define BOX_TREE_H

#include "divulge.h"

enum { LEAF = 64, NODE = 16 }; /* rows of a leaf, children of a node */
#define NO_CHILD INT32_MIN

/* `Tree` of _box_tree.py; a child of -1 - x is leaf x. */
typedef struct {
    const float *low, *high;   /* (n_nodes, n_numbers, NODE) */
    const uint32_t *masks;     /* (n_nodes, n_codes, NODE): bit (code & 31) is set where a box holds such a code */
    const int32_t *child;      /* (n_nodes, NODE) */
    const float *numbers;      /* (n_leaves, n_numbers, LEAF); nan stands for missing and adds nothing */
    const uint8_t *codes;      /* (n_leaves, n_codes, LEAF) */
    const int64_t *first;      /* (n_leaves + 1,): rows of leaf x are order[first[x] : first[x + 1]] */
    const int64_t *order;      /* (n_rows,) */
    const int64_t *group;      /* (n_groups + 1,): at most 255 columns each, so that a byte counts their mismatches */
    const float *weight;       /* (n_groups,): what one mismatch adds */
    int64_t n_numbers, n_codes, n_groups;
    int64_t depth;             /* entries of the stack of a search */
} tree_t;

/* The queries in the form that the search of the tree needs. */
typedef struct {
    const float *numbers; /* (n, n_numbers) */
    const uint8_t *codes; /* (n, n_codes) */
} box_queries_t;

/* The larger of two numbers; b where one is nan. */
INLINE vf32 larger(vf32 a, vf32 b) {
#if defined(__AVX512BW__)
    return (vf32)_mm512_max_ps((__m512)a, (__m512)b);
#elif defined(__AVX2__)
    return (vf32)_mm256_max_ps((__m256)a, (__m256)b);
#elif defined(__SSE2__)
    return (vf32)_mm_max_ps((__m128)a, (__m128)b);
#else
    vi32 first = (vi32)(a > b);
    return (vf32)(((vi32)a & first) | ((vi32)b & ~first));
#endif
}

INLINE vf32 magnitude(vf32 d) { return (vf32)((vi32)d & SPLAT(vi32, INT32_MAX)); }

/* The bits of the rows whose bound is at most the limit; out takes the bounds of the 64 rows. */
INLINE uint64_t leaf_bounds(const tree_t *t, int64_t leaf, const float *asked, const uint8_t *asked_codes, float limit,
                            float *out) {
    enum { BYTES = LEAF / WIDE, PARTS = LEAF / LANES32 };
    const uint8_t *codes = t->codes + leaf * t->n_codes * LEAF;
    const float *numbers = t->numbers + leaf * t->n_numbers * LEAF;
    vf32 sum[PARTS];
    for (int p = 0; p < PARTS; p++) sum[p] = (vf32){0};
    for (int64_t g = 0; g < t->n_groups; g++) {
        vu8 count[BYTES];
        uint8_t counted[LEAF];
        for (int p = 0; p < BYTES; p++) count[p] = SPLAT(vu8, t->group[g + 1] - t->group[g]);
        for (int64_t j = t->group[g]; j < t->group[g + 1]; j++) {
            vu8 value = SPLAT(vu8, asked_codes[j]);
            for (int p = 0; p < BYTES; p++) count[p] = less_matches(count[p], LOAD(vu8, codes + j * LEAF + p * WIDE), value);
        }
        for (int p = 0; p < BYTES; p++) STORE(counted + p * WIDE, count[p]);
        vf32 each = SPLAT(vf32, t->weight[g]);
        for (int p = 0; p < PARTS; p++) sum[p] += widened_f32(counted + p * LANES32) * each;
    }
    for (int64_t j = 0; j < t->n_numbers; j++) {
        vf32 value = SPLAT(vf32, asked[j]);
        for (int p = 0; p < PARTS; p++)
            sum[p] += larger(magnitude(LOAD(vf32, numbers + j * LEAF + p * LANES32) - value), (vf32){0});
    }
    uint64_t within = 0;
    vf32 most = SPLAT(vf32, limit);
    for (int p = 0; p < PARTS; p++) {
        STORE(out + p * LANES32, sum[p]);
        within |= bits32((vi32)(sum[p] <= most)) << (p * LANES32);
    }
    return within;
}

/* The bits of the children whose box may hold a row within the limit; out takes the bounds of the 16 boxes. */
INLINE uint64_t node_bounds(const tree_t *t, int64_t node, const float *asked, const uint32_t *asked_bits, float limit,
                            float *out) {
    enum { PARTS = NODE / LANES32 };
    const uint32_t *masks = t->masks + node * t->n_codes * NODE;
    const float *low = t->low + node * t->n_numbers * NODE, *high = t->high + node * t->n_numbers * NODE;
    vf32 sum[PARTS];
    for (int p = 0; p < PARTS; p++) sum[p] = (vf32){0};
    for (int64_t g = 0; g < t->n_groups; g++) {
        vi32 count[PARTS];
        for (int p = 0; p < PARTS; p++) count[p] = (vi32){0};
        for (int64_t j = t->group[g]; j < t->group[g + 1]; j++) {
            vu32 bit = SPLAT(vu32, asked_bits[j]);
            for (int p = 0; p < PARTS; p++)
                count[p] -= (vi32)((LOAD(vu32, masks + j * NODE + p * LANES32) & bit) == (vu32){0});
        }
        vf32 each = SPLAT(vf32, t->weight[g]);
        for (int p = 0; p < PARTS; p++) sum[p] += __builtin_convertvector(count[p], vf32) * each;
    }
    for (int64_t j = 0; j < t->n_numbers; j++) {
        vf32 value = SPLAT(vf32, asked[j]);
        for (int p = 0; p < PARTS; p++) {
            vf32 below = LOAD(vf32, low + j * NODE + p * LANES32) - value;
            vf32 above = value - LOAD(vf32, high + j * NODE + p * LANES32);
            sum[p] += larger(larger(below, above), (vf32){0});
        }
    }
    uint64_t within = 0;
    vf32 most = SPLAT(vf32, limit);
    for (int p = 0; p < PARTS; p++) {
        STORE(out + p * LANES32, sum[p]);
        within |= bits32((vi32)(sum[p] <= most)) << (p * LANES32);
    }
    return within;
}

#endif
