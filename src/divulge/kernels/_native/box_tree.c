/* The tree of boxes: how it is built, and the search through it. _box_tree.py describes it. */
#include "box_tree.h"
#include "neighbours.h"

/* ---------------------------------------------------------------- building */

typedef struct {
    const float *numbers; /* (n_rows, n_numbers) */
    const uint8_t *codes; /* (n_rows, n_codes) */
    const float *weight;  /* (n_codes,) */
    int64_t *order;       /* (n_rows,): reordered */
    int64_t n_numbers, n_codes;
} rows_t;

enum { SAMPLE = 128 }; /* pairs of rows by which the column of a split is chosen; start value */

/* The value at a given place of n values in sorted order (Hoare's selection; reorders the values). */
static float middle_of(float *values, int64_t n, int64_t place) {
    int64_t low = 0, high = n - 1;
    while (low < high) {
        float pivot = values[(low + high) / 2];
        int64_t i = low, j = high;
        while (i <= j) {
            while (values[i] < pivot) i++;
            while (values[j] > pivot) j--;
            if (i <= j) {
                float swapped = values[i];
                values[i++] = values[j];
                values[j--] = swapped;
            }
        }
        if (place <= j)
            high = j;
        else if (place >= i)
            low = i;
        else
            break;
    }
    return values[place];
}

/* Add up for each column the differences between pairs of rows, one from each end of the set. */
static void contrast_of(const rows_t *t, int64_t first, int64_t last, double *contrast) {
    int64_t n_numbers = t->n_numbers, n_codes = t->n_codes, n_pairs = (last - first) / 2;
    for (int64_t j = 0; j < n_numbers + n_codes; j++) contrast[j] = 0.0;
    if (n_pairs > SAMPLE) n_pairs = SAMPLE;
    double step = (double)(last - first) / (2.0 * (double)n_pairs);
    for (int64_t r = 0; r < n_pairs; r++) {
        int64_t a = t->order[first + (int64_t)((double)r * step)];
        int64_t b = t->order[first + (int64_t)((double)(r + n_pairs) * step)];
        const float *x = t->numbers + a * n_numbers, *y = t->numbers + b * n_numbers;
        const uint8_t *u = t->codes + a * n_codes, *v = t->codes + b * n_codes;
        for (int64_t j = 0; j < n_numbers; j++) {
            float d = fabsf(x[j] - y[j]);
            if (d > 0) contrast[j] += d;
        }
        for (int64_t j = 0; j < n_codes; j++)
            if (u[j] != v[j]) contrast[n_numbers + j] += t->weight[j];
    }
}

static inline void swap(int64_t *order, int64_t i, int64_t j) {
    int64_t swapped = order[i];
    order[i] = order[j];
    order[j] = swapped;
}

static inline float or_below(float v) { return v == v ? v : -3e38f; }

/* Move the rows below the median (and missing ones) to the front; return where the others begin, -1 if none do. */
static int64_t partition_number(const rows_t *t, int64_t column, int64_t first, int64_t last, float *values) {
    const float *numbers = t->numbers + column;
    int64_t n = last - first, d = t->n_numbers, half = n / 2, n_less = 0, n_equal = 0;
    for (int64_t r = 0; r < n; r++) values[r] = or_below(numbers[t->order[first + r] * d]);
    if (n > 2 * LEAF)
        half = (n / 2 + LEAF / 2) / LEAF * LEAF; /* full leaves */
    else if (n > LEAF)
        half = LEAF;
    float pivot = middle_of(values, n, half);
    for (int64_t r = 0; r < n; r++) n_less += values[r] < pivot, n_equal += values[r] == pivot;
    int strict = n_less > 0 && (n_less + n_equal >= n || half - n_less <= n_less + n_equal - half);
    if (!strict && n_less + n_equal >= n) return -1;
    int64_t i = first, j = last - 1;
    while (i <= j) {
        float v = or_below(numbers[t->order[i] * d]);
        if (v < pivot || (!strict && v == pivot))
            i++;
        else
            swap(t->order, i, j--);
    }
    return i;
}

/* Assign the values to two sides, commonest first, each to the smaller side; return where the second one begins. */
static int64_t partition_code(const rows_t *t, int64_t column, int64_t first, int64_t last) {
    const uint8_t *codes = t->codes + column;
    int64_t count[256] = {0}, d = t->n_codes, left = 0, right = 0;
    uint8_t side[256];
    memset(side, 2, sizeof side);
    for (int64_t r = first; r < last; r++) count[codes[t->order[r] * d]]++;
    for (;;) {
        int64_t most = 0;
        int which = -1;
        for (int v = 0; v < 256; v++)
            if (side[v] == 2 && count[v] > most) most = count[v], which = v;
        if (which < 0) break;
        if (left <= right)
            side[which] = 0, left += most;
        else
            side[which] = 1, right += most;
    }
    if (left == 0 || right == 0) return -1;
    int64_t i = first, j = last - 1;
    while (i <= j) {
        if (side[codes[t->order[i] * d]] == 0)
            i++;
        else
            swap(t->order, i, j--);
    }
    return i;
}

/* Halve order[first:last] by the column that separates its rows best; return where the second half begins. */
static int64_t halve(const rows_t *t, int64_t first, int64_t last, double *contrast, float *values) {
    int64_t n_columns = t->n_numbers + t->n_codes;
    contrast_of(t, first, last, contrast);
    for (int attempt = 0; attempt < 2; attempt++) {
        if (attempt == 1) /* the sampled pairs are equal in all columns: try each column once */
            for (int64_t j = 0; j < n_columns; j++) contrast[j] = contrast[j] == 0.0 ? 1.0 : -1.0;
        for (;;) {
            int64_t best = -1, middle;
            for (int64_t j = 0; j < n_columns; j++)
                if (contrast[j] > 0 && (best < 0 || contrast[j] > contrast[best])) best = j;
            if (best < 0) break;
            if (best < t->n_numbers)
                middle = partition_number(t, best, first, last, values);
            else
                middle = partition_code(t, best - t->n_numbers, first, last);
            if (middle > 0) return middle;
            contrast[best] = -1.0;
        }
    }
    return (first + last) / 2; /* all rows are equal: any split is right */
}

/* Halve order[first:last] once; middle[0] takes where the second half begins. */
EXPORT int KERNEL(split)(const rows_t *t, int64_t first, int64_t last, int64_t *middle) {
    double *contrast = room(t->n_numbers + t->n_codes, sizeof *contrast);
    float *values = room(last - first, sizeof *values);
    int made = contrast && values;
    if (made) *middle = halve(t, first, last, contrast, values);
    free(contrast), free(values);
    return made ? DONE : NO_MEMORY;
}

/* Fill in the binary tree over order[first:last]: begin and end of each node, and its left child or -1. The arrays need
 * at most two entries a row. n_nodes[0] takes the number of nodes. */
EXPORT int KERNEL(build)(const rows_t *t, int64_t first, int64_t last, int64_t *begin, int64_t *end, int64_t *left,
                         int64_t *n_nodes) {
    double *contrast = room(t->n_numbers + t->n_codes, sizeof *contrast);
    float *values = room(last - first, sizeof *values);
    int64_t n = 1;
    int made = contrast && values;
    if (made) {
        begin[0] = first, end[0] = last, left[0] = -1;
        for (int64_t k = 0; k < n; k++) {
            if (end[k] - begin[k] <= LEAF) continue;
            int64_t middle = halve(t, begin[k], end[k], contrast, values);
            left[k] = n;
            begin[n] = begin[k], end[n] = middle, left[n] = -1;
            begin[n + 1] = middle, end[n + 1] = end[k], left[n + 1] = -1;
            n += 2;
        }
        *n_nodes = n;
    }
    free(contrast), free(values);
    return made ? DONE : NO_MEMORY;
}

/* Write the rows of the leaves x to y, column by column, and their boxes. */
EXPORT int KERNEL(fill_leaves)(const rows_t *t, const int64_t *begin, const int64_t *end, int64_t x, int64_t y,
                               float *leaf_numbers, uint8_t *leaf_codes, float *low, float *high, uint32_t *masks) {
    int64_t n_numbers = t->n_numbers, n_codes = t->n_codes;
    for (int64_t leaf = x; leaf < y; leaf++) {
        const int64_t *rows = t->order + begin[leaf];
        int64_t n = end[leaf] - begin[leaf];
        for (int64_t j = 0; j < n_numbers; j++) {
            float least = INFINITY, most = -INFINITY, *out = leaf_numbers + (leaf * n_numbers + j) * LEAF;
            int missing = 0;
            for (int64_t r = 0; r < n; r++) {
                float v = t->numbers[rows[r] * n_numbers + j];
                out[r] = v;
                missing |= v != v;
                least = v < least ? v : least, most = v > most ? v : most;
            }
            /* the bound treats a missing number as equal to any number */
            low[leaf * n_numbers + j] = missing ? -INFINITY : least;
            high[leaf * n_numbers + j] = missing ? INFINITY : most;
        }
        for (int64_t j = 0; j < n_codes; j++) {
            uint32_t mask = 0;
            uint8_t *out = leaf_codes + (leaf * n_codes + j) * LEAF;
            for (int64_t r = 0; r < n; r++) {
                out[r] = t->codes[rows[r] * n_codes + j];
                mask |= (uint32_t)1 << (out[r] & 31);
            }
            masks[leaf * n_codes + j] = mask;
        }
    }
    return DONE;
}

/* Fill in the boxes of the inner nodes of the binary tree from those of its leaves. */
EXPORT int KERNEL(put_together)(const int64_t *left, int64_t n, int64_t n_numbers, int64_t n_codes, float *low,
                                float *high, uint32_t *masks) {
    for (int64_t k = n - 1; k >= 0; k--) { /* children come after their parents */
        if (left[k] < 0) continue;
        int64_t a = left[k] * n_numbers, b = a + n_numbers, to = k * n_numbers;
        for (int64_t j = 0; j < n_numbers; j++) {
            low[to + j] = low[a + j] < low[b + j] ? low[a + j] : low[b + j];
            high[to + j] = high[a + j] > high[b + j] ? high[a + j] : high[b + j];
        }
        a = left[k] * n_codes, b = a + n_codes, to = k * n_codes;
        for (int64_t j = 0; j < n_codes; j++) masks[to + j] = masks[a + j] | masks[b + j];
    }
    return DONE;
}

/* Choose the binary nodes that are children of each wide node: the largest are replaced by their own children.
 * child (n, NODE) must be filled with -1; top and depth receive the binary node of each wide node and its depth, and
 * n_nodes[0] the number of wide nodes. */
EXPORT int KERNEL(widen)(const int64_t *size, const int64_t *left, int64_t *child, int64_t *top, int64_t *depth,
                         int64_t *n_nodes) {
    int64_t n = 1;
    top[0] = 0, depth[0] = 0;
    for (int64_t k = 0; k < n; k++) {
        int64_t *kids = child + k * NODE;
        int n_kids = 1;
        kids[0] = top[k];
        while (n_kids < NODE) {
            int best = -1;
            for (int i = 0; i < n_kids; i++)
                if (left[kids[i]] >= 0 && (best < 0 || size[kids[i]] > size[kids[best]])) best = i;
            if (best < 0) break;
            int64_t a = left[kids[best]];
            kids[best] = a, kids[n_kids++] = a + 1;
        }
        for (int i = 0; i < n_kids; i++)
            if (left[kids[i]] >= 0) top[n] = kids[i], depth[n] = depth[k] + 1, n++;
    }
    *n_nodes = n;
    return DONE;
}

/* ---------------------------------------------------------------- bounds */

/* For tests: the bounds of one leaf and of one node. */
EXPORT int KERNEL(leaf_bounds)(const tree_t *t, int64_t leaf, const float *asked, const uint8_t *asked_codes, double limit,
                               float *out, uint64_t *within) {
    *within = leaf_bounds(t, leaf, asked, asked_codes, (float)limit, out);
    return DONE;
}

EXPORT int KERNEL(node_bounds)(const tree_t *t, int64_t node, const float *asked, const uint32_t *asked_bits, double limit,
                               float *out, uint64_t *within) {
    *within = node_bounds(t, node, asked, asked_bits, (float)limit, out);
    return DONE;
}

/* ---------------------------------------------------------------- searching */

/* The room that one walk needs. */
typedef struct {
    int32_t *stack;
    float *bound;   /* of each entry of the stack */
    uint32_t *bits; /* (n_codes,): the query's own bit of each mask */
    kept_t kept;
} walk_t;

static void free_walk(walk_t *w) {
    free(w->stack), free(w->bound), free(w->bits), free(w->kept.far), free(w->kept.rows), free(w->kept.times);
}

static int make_walk(walk_t *w, const tree_t *t, int64_t k) {
    w->stack = room(t->depth, sizeof *w->stack), w->bound = room(t->depth, sizeof *w->bound);
    w->bits = room(t->n_codes, sizeof *w->bits);
    w->kept.far = room(k + 1, sizeof(double));
    w->kept.rows = room(k + 1, sizeof(int64_t)), w->kept.times = room(k + 1, sizeof(int64_t));
    w->kept.filled = 0;
    return w->stack && w->bound && w->bits && w->kept.far && w->kept.rows && w->kept.times;
}

/* The largest distance of a query to the neighbours of the query before it; inf where the query is one of them. */
static double farthest_kept(const exact_t *e, const kept_t *kept, int64_t k, int64_t query) {
    double out = 0.0;
    for (int64_t h = 0; h < k; h++) {
        if (kept->rows[h] == e->own[query]) return INFINITY;
        double d = exact(e, query, kept->rows[h]);
        out = d > out ? d : out;
    }
    return out;
}

static inline float capped(double sum) { return (float)(1e30 < sum ? 1e30 : sum); }

/* Put the children of a node on the stack, the nearest on top; return the new height. */
static inline int64_t push(walk_t *w, int64_t top, const int32_t *child, uint64_t bits, const float *bound) {
    int64_t base = top;
    for (; bits; bits &= bits - 1) {
        int j = lowest_bit(bits);
        if (child[j] == NO_CHILD) continue;
        int64_t place = top++;
        for (; place > base && w->bound[place - 1] < bound[j]; place--)
            w->stack[place] = w->stack[place - 1], w->bound[place] = w->bound[place - 1];
        w->stack[place] = child[j], w->bound[place] = bound[j];
    }
    return top;
}

/* The lane with the smallest bound, the first of equal ones. */
static inline int nearest_lane(uint64_t bits, const float *bound) {
    int best = lowest_bit(bits);
    for (bits &= bits - 1; bits; bits &= bits - 1) {
        int j = lowest_bit(bits);
        if (bound[j] < bound[best]) best = j;
    }
    return best;
}

/* Search queries[first:last]: the k nearest rows of each within its radius, or (k = 0) all rows within its radius.
 *
 * k > 0 fills out_distance, out_row and out_beyond; k = 0 counts into out_beyond, and with `listing` writes the pairs.
 * done[0] takes the number of pairs, done[1] the query to continue with: `last`, or the first one whose pairs did not
 * fit; done[2] the leaves visited. */
EXPORT int KERNEL(search)(const tree_t *t, const box_queries_t *q, const exact_t *e, const asked_t *a, const pairs_t *found,
                          int64_t first, int64_t last, int64_t *done) {
    int64_t k = a->k, n_found = 0, n_leaves = 0;
    float node_bound[NODE], leaf_bound[LEAF];
    walk_t w;
    if (!make_walk(&w, t, k)) {
        free_walk(&w);
        return NO_MEMORY;
    }
    kept_t *kept = &w.kept;
    float relative = 2.4e-7f * (float)(t->n_numbers + t->n_groups + 4);
    for (int64_t x = first; x < last; x++) {
        int64_t i = a->queries[x], own = e->own[i], n_before = n_found, top = 1;
        const float *asked = q->numbers + i * t->n_numbers;
        const uint8_t *asked_codes = q->codes + i * t->n_codes;
        for (int64_t j = 0; j < t->n_codes; j++) w.bits[j] = (uint32_t)1 << (asked_codes[j] & 31);
        if (asked_to_stop(a->stop)) {
            free_walk(&w);
            return STOPPED;
        }
        float absolute = 1e-30f;
        for (int64_t j = 0; j < t->n_numbers; j++) {
            float v = fabsf(asked[j]);
            if (v == v) absolute += 2.4e-7f * v;
        }
        double limit = a->radius[i];
        if (k > 0 && x > first && kept->filled == k) {
            double known = farthest_kept(e, kept, k, i);
            limit = known < limit ? known : limit;
        }
        float total = capped(limit * e->total);
        float bound = total + (absolute + relative * total);
        kept->filled = 0, kept->beyond = 0;
        w.stack[0] = 0, w.bound[0] = 0.0f;
        while (top > 0) {
            top--;
            if (w.bound[top] > bound) continue;
            int64_t at = w.stack[top];
            if (at >= 0) {
                uint64_t bits = node_bounds(t, at, asked, w.bits, bound, node_bound);
                top = push(&w, top, t->child + at * NODE, bits, node_bound);
                continue;
            }
            n_leaves++;
            int64_t leaf = -1 - at, start = t->first[leaf], n = t->first[leaf + 1] - start;
            uint64_t bits = leaf_bounds(t, leaf, asked, asked_codes, bound, leaf_bound);
            if (n < LEAF) bits &= ((uint64_t)1 << n) - 1;
            int best = k > 0 && bits ? nearest_lane(bits, leaf_bound) : -1; /* it makes the limit small */
            while (bits) {
                int j = best >= 0 ? best : lowest_bit(bits);
                int is_best = best >= 0;
                best = -1;
                bits &= ~((uint64_t)1 << j);
                if (!is_best && leaf_bound[j] > bound) continue;
                int64_t row = t->order[start + j], times = e->times[row];
                if (row == own && --times == 0) continue;
                double d = exact(e, i, row);
                if (d > limit) continue;
                if (k == 0) {
                    kept->beyond += times;
                    if (!a->listing) continue;
                    if (n_found == found->room) {
                        done[0] = n_before, done[1] = x, done[2] = n_leaves;
                        free_walk(&w);
                        return DONE;
                    }
                    found->query[n_found] = i, found->row[n_found++] = row;
                    continue;
                }
                add(kept, k, d, row, times);
                if (kept->filled == k && kept->far[k - 1] < limit) {
                    limit = kept->far[k - 1];
                    total = (float)(limit * e->total);
                    bound = total + (absolute + relative * total);
                }
            }
        }
        a->out_beyond[i] = kept->beyond;
        for (int64_t h = 0; h < kept->filled; h++)
            a->out_distance[i * k + h] = kept->far[h], a->out_row[i * k + h] = kept->rows[h];
    }
    done[0] = n_found, done[1] = last, done[2] = n_leaves;
    free_walk(&w);
    return DONE;
}
