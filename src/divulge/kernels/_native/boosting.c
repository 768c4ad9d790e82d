/* Gradient boosting: grow a tree for one class on sums of whole numbers, and add what many trees say about rows.
 *
 * Gradients and curvatures are whole multiples of 1 / SCALE, so that sums have the same digits in any order of rows.
 */

#include "divulge.h"

#define SCALE 1048576.0
#define ROWS_BITS 24 /* of a second sum: the number of rows; above it the curvature */
#define LEAVES 15
#define NODES (2 * LEAVES - 1)
#define LEAST_ROWS 20 /* of a leaf */
#define LEAST_OF_CATEGORY 10
#define LEAST_GAIN 1e-9
#define CODES 256

typedef int64_t sums_t __attribute__((vector_size(16), aligned(8))); /* gradient; curvature and number of rows */

typedef struct {
    const uint8_t *codes; /* (n, n_features) */
    int64_t n, n_features;
    const int64_t *start;       /* (n_features + 1,): first bin of each feature; its last bin holds the missing */
    const uint8_t *is_category; /* (n_features,) */
    const int64_t *of_row;      /* (n,): class of each row */
    double rate, shrinkage;
    int64_t *pairs; /* (n, 2): room */
    uint32_t *rows; /* (2, n): room */
    int64_t *sums;  /* (LEAVES, n_bins, 2): room */
} boosting_t;

typedef struct {
    int64_t first, last, place; /* its rows, and the place of its sums */
    int32_t node;
    sums_t all;
    double gain; /* of its best split; 0 without one */
    int32_t feature;
    uint64_t left[CODES / 64]; /* codes that go left */
} leaf_t;

typedef struct {
    double key;
    int64_t bin;
} category_t;

INLINE int64_t rows_of(sums_t s) { return s[1] & ((INT64_C(1) << ROWS_BITS) - 1); }
INLINE double curvature_of(sums_t s) { return (double)(s[1] >> ROWS_BITS) / SCALE; }
INLINE double gradient_of(sums_t s) { return (double)s[0] / SCALE; }
INLINE double part(sums_t s, double shrinkage) {
    double g = gradient_of(s);
    return g * g / (curvature_of(s) + shrinkage);
}

static void add_rows(const boosting_t *task, const uint32_t *rows, int64_t n, sums_t *out) {
    int64_t width = task->n_features, n_bins = task->start[width];
    const sums_t *pairs = (const sums_t *)task->pairs;
    memset(out, 0, (size_t)n_bins * sizeof *out);
    for (int64_t i = 0; i < n; i++) {
        int64_t row = rows ? (int64_t)rows[i] : i;
        const uint8_t *code = task->codes + row * width;
        sums_t pair = pairs[row];
        for (int64_t f = 0; f < width; f++)
            out[task->start[f] + code[f]] += pair;
    }
}

/* Whether a split is the best so far. */
INLINE int better(const boosting_t *task, leaf_t *leaf, sums_t left) {
    sums_t right = leaf->all - left;
    if (rows_of(left) < LEAST_ROWS || rows_of(right) < LEAST_ROWS)
        return 0;
    double gain = part(left, task->shrinkage) + part(right, task->shrinkage) - part(leaf->all, task->shrinkage);
    if (!(gain > LEAST_GAIN && gain > leaf->gain))
        return 0;
    leaf->gain = gain;
    return 1;
}

INLINE void add_code(leaf_t *leaf, int64_t code) { leaf->left[code >> 6] |= UINT64_C(1) << (code & 63); }

static void split_numbers(const boosting_t *task, leaf_t *leaf, int64_t feature, const sums_t *bins, int64_t n) {
    sums_t missing = bins[n], left = {0, 0};
    int64_t best = -1, with_missing = 0;
    for (int64_t b = 0; b < n; b++) {
        left += bins[b];
        if (better(task, leaf, left))
            best = b;
    }
    left = missing;
    for (int64_t b = 0; rows_of(missing) && b < n - 1; b++) {
        left += bins[b];
        if (better(task, leaf, left))
            best = b, with_missing = 1;
    }
    if (best < 0)
        return;
    leaf->feature = (int32_t)feature;
    memset(leaf->left, 0, sizeof leaf->left);
    left = (sums_t){0, 0};
    for (int64_t b = 0; b <= best; b++) {
        left += bins[b];
        add_code(leaf, b);
    }
    if (with_missing || (!rows_of(missing) && 2 * rows_of(left) > rows_of(leaf->all))) /* unknown: to the larger part */
        add_code(leaf, n);
}

static void split_categories(const boosting_t *task, leaf_t *leaf, int64_t feature, const sums_t *bins, int64_t n) {
    category_t order[CODES];
    int64_t m = 0, best = -1, from_end = 0;
    for (int64_t b = 0; b <= n; b++) { /* the missing are a category */
        if (rows_of(bins[b]) < LEAST_OF_CATEGORY)
            continue;
        category_t one = {gradient_of(bins[b]) / (curvature_of(bins[b]) + LEAST_OF_CATEGORY), b};
        int64_t place = m++;
        for (; place && order[place - 1].key > one.key; place--)
            order[place] = order[place - 1];
        order[place] = one;
    }
    for (int64_t end = 0; end < 2; end++) {
        sums_t left = {0, 0};
        for (int64_t i = 0; i < (m + 1) / 2; i++) {
            left += bins[order[end ? m - 1 - i : i].bin];
            if (better(task, leaf, left))
                best = i, from_end = end;
        }
    }
    if (best < 0)
        return;
    leaf->feature = (int32_t)feature;
    memset(leaf->left, 0, sizeof leaf->left);
    for (int64_t i = 0; i <= best; i++)
        add_code(leaf, order[from_end ? m - 1 - i : i].bin);
}

static void find_split(const boosting_t *task, leaf_t *leaf) {
    const sums_t *sums = (const sums_t *)task->sums + leaf->place * task->start[task->n_features];
    leaf->gain = 0;
    if (rows_of(leaf->all) < 2 * LEAST_ROWS)
        return;
    for (int64_t f = 0; f < task->n_features; f++) {
        int64_t n = task->start[f + 1] - task->start[f] - 1;
        (task->is_category[f] ? split_categories : split_numbers)(task, leaf, f, sums + task->start[f], n);
    }
}

/* Move the rows that go left to the front; return where the others begin. */
static int64_t partition(const boosting_t *task, const leaf_t *leaf) {
    uint32_t *rows = task->rows, *others = task->rows + task->n;
    int64_t n_left = leaf->first, n_right = 0;
    for (int64_t i = leaf->first; i < leaf->last; i++) {
        uint32_t row = rows[i];
        uint8_t code = task->codes[(int64_t)row * task->n_features + leaf->feature];
        int64_t left = (leaf->left[code >> 6] >> (code & 63)) & 1;
        others[n_right] = row;
        rows[n_left] = row;
        n_left += left;
        n_right += 1 - left;
    }
    memcpy(rows + n_left, others, (size_t)n_right * sizeof *rows);
    return n_left;
}

/* Sums of both children: those of the smaller are added up, those of the larger are what is left of the parent's. */
static void sums_of_children(const boosting_t *task, leaf_t *left, leaf_t *right, int64_t free) {
    int64_t n_bins = task->start[task->n_features];
    leaf_t *small = left->last - left->first <= right->last - right->first ? left : right;
    leaf_t *large = small == left ? right : left;
    sums_t *all = (sums_t *)task->sums + large->place * n_bins, *few = (sums_t *)task->sums + free * n_bins;
    small->place = free;
    add_rows(task, task->rows + small->first, small->last - small->first, few);
    for (int64_t b = 0; b < n_bins; b++)
        all[b] -= few[b];
    sums_t of_small = {0, 0};
    for (int64_t b = 0; b < task->start[1]; b++)
        of_small += few[b];
    small->all = of_small;
    large->all = large->all - of_small;
}

/* The tree of class `of`: chances are those of the class; `raw` gets what the tree adds to each row. */
EXPORT int KERNEL(grow_tree)(const boosting_t *task, int64_t of, const double *chance, int32_t *feature, int32_t *child,
    uint64_t *bits, double *value, double *raw) {
    leaf_t leaves[LEAVES];
    int64_t n = task->n, n_leaves = 1, n_nodes = 1;
    sums_t *pairs = (sums_t *)task->pairs, all = {0, 0};
    for (int64_t i = 0; i < n; i++) {
        double p = chance[i];
        int64_t g = (int64_t)rint((p - (task->of_row[i] == of)) * SCALE), h = (int64_t)rint(p * (1 - p) * SCALE);
        pairs[i] = (sums_t){g, (h << ROWS_BITS) | 1};
        all += pairs[i];
        task->rows[i] = (uint32_t)i;
    }
    memset(feature, 0, NODES * sizeof *feature);
    memset(bits, 0, NODES * sizeof *leaves[0].left * (CODES / 64));
    memset(value, 0, NODES * sizeof *value);
    for (int32_t node = 0; node < NODES; node++)
        child[2 * node] = child[2 * node + 1] = node;
    leaves[0] = (leaf_t){.first = 0, .last = n, .all = all};
    add_rows(task, NULL, n, (sums_t *)task->sums);
    find_split(task, leaves);
    while (n_leaves < LEAVES) {
        leaf_t *best = leaves;
        for (int64_t i = 1; i < n_leaves; i++)
            if (leaves[i].gain > best->gain)
                best = leaves + i;
        if (!(best->gain > 0))
            break;
        int64_t middle = partition(task, best);
        int32_t node = best->node;
        feature[node] = best->feature;
        memcpy(bits + node * (CODES / 64), best->left, sizeof best->left);
        leaf_t *right = leaves + n_leaves++;
        *right = *best;
        best->last = right->first = middle;
        child[2 * node] = best->node = (int32_t)n_nodes++;
        child[2 * node + 1] = right->node = (int32_t)n_nodes++;
        sums_of_children(task, best, right, n_leaves - 1);
        if (n_leaves < LEAVES)
            find_split(task, best), find_split(task, right);
    }
    for (leaf_t *leaf = leaves; leaf < leaves + n_leaves; leaf++) {
        double step = -task->rate * gradient_of(leaf->all) / (curvature_of(leaf->all) + task->shrinkage);
        value[leaf->node] = step;
        for (int64_t i = leaf->first; i < leaf->last; i++)
            raw[task->rows[i]] += step;
    }
    return DONE;
}

typedef struct {
    const uint8_t *codes; /* (n, n_features) */
    int64_t n, n_features, n_trees, n_classes;
    const int32_t *feature; /* (n_trees, NODES) */
    const int32_t *child;   /* (n_trees, NODES, 2): a leaf is its own child */
    const uint64_t *bits;   /* (n_trees, NODES, 4) */
    const double *value;    /* (n_trees, NODES) */
    const int64_t *depth;   /* (n_trees,) */
    double *raw;            /* (n_classes, n) */
} asked_t;

#define ROWS_AT_ONCE 1024

/* Add the value of each tree to the rows first to last - 1; tree t is of class t % n_classes. */
EXPORT int KERNEL(ask_trees)(const asked_t *task, int64_t first, int64_t last) {
    for (int64_t from = first; from < last; from += ROWS_AT_ONCE) {
        int64_t to = from + ROWS_AT_ONCE < last ? from + ROWS_AT_ONCE : last;
        for (int64_t t = 0; t < task->n_trees; t++) {
            const int32_t *feature = task->feature + t * NODES, *child = task->child + t * NODES * 2;
            const uint64_t *bits = task->bits + t * NODES * (CODES / 64);
            const double *value = task->value + t * NODES;
            double *raw = task->raw + t % task->n_classes * task->n;
            for (int64_t i = from; i < to; i++) {
                const uint8_t *code = task->codes + i * task->n_features;
                int32_t node = 0;
                for (int64_t d = 0; d < task->depth[t]; d++) {
                    uint8_t c = code[feature[node]];
                    node = child[2 * node + 1 - (int32_t)((bits[node * (CODES / 64) + (c >> 6)] >> (c & 63)) & 1)];
                }
                raw[i] += value[node];
            }
        }
    }
    return DONE;
}
