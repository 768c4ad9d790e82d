/* The rows that meet conjunctions of conditions: lists of rows by code, and a tree of boxes that counts. */

#include "divulge.h"

typedef struct {
    const int32_t *column, *low, *high; /* (n_predicates, width) */
    const int64_t *n_conditions;        /* (n_predicates,) */
    int64_t width, n, n_columns, n_sampled, most, few, sample_from, stack_size;
    const int32_t *values;    /* (n_columns * n + 64,): columns, one after the other; rows in the order of the leaves */
    const int32_t *lists;     /* rows in the order of their codes, n for each column that has a list */
    const int64_t *list_of;   /* (n_columns,): where the list of a column begins */
    const int32_t *starts;    /* where each code of each column begins in the order of codes */
    const int64_t *of_column; /* (n_columns + 1,): where each column begins in `starts` */
    const int32_t *sample;    /* (n_columns, n_sampled) */
    const int32_t *box_low, *box_high; /* (n_nodes, n_columns, 16): boxes of the children of a node */
    const int32_t *child;              /* (n_nodes, 16): a node, -1 for a leaf, or neither */
    const int32_t *begin, *end;        /* (n_nodes, 16): where the rows of a child begin and end */
} predicates_t;

enum { LEAF = 64, NODE = 16, LEAF_CHILD = -1 };

/* ---------------------------------------------------------------- 16 or 64 adjacent codes at once, answers as bits */

#if defined(__AVX512BW__) /* comparisons give bits at once */

/* Which of 64 codes lie in [least, most]; least is at most `most`, so that one comparison tests both ends. */
INLINE uint64_t rows_within(const int32_t *values, int32_t least, int32_t most) {
    __m512i low = _mm512_set1_epi32(least), width = _mm512_set1_epi32((int32_t)((uint32_t)most - (uint32_t)least));
    uint64_t bits = 0;
    for (int i = 0; i < LEAF; i += LANES32) {
        __m512i above = _mm512_sub_epi32(_mm512_loadu_si512(values + i), low);
        bits |= (uint64_t)_mm512_cmple_epu32_mask(above, width) << i;
    }
    return bits;
}

/* Which of 16 boxes have a lower end of at most `low` and an upper end of at least `high`. */
INLINE uint64_t boxes_reach(const int32_t *lower, const int32_t *upper, int32_t low, int32_t high) {
    __mmask16 below = _mm512_cmple_epi32_mask(_mm512_loadu_si512(lower), _mm512_set1_epi32(low));
    return _mm512_mask_cmpge_epi32_mask(below, _mm512_loadu_si512(upper), _mm512_set1_epi32(high));
}

#else

INLINE uint64_t rows_within(const int32_t *values, int32_t least, int32_t most) {
    vu32 low = SPLAT(vu32, least), width = SPLAT(vu32, (uint32_t)most - (uint32_t)least);
    uint64_t bits = 0;
    for (int i = 0; i < LEAF; i += LANES32)
        bits |= bits32((vi32)(LOAD(vu32, values + i) - low <= width)) << i;
    return bits;
}

INLINE uint64_t boxes_reach(const int32_t *lower, const int32_t *upper, int32_t low, int32_t high) {
    vi32 l = SPLAT(vi32, low), h = SPLAT(vi32, high);
    uint64_t bits = 0;
    for (int i = 0; i < NODE; i += LANES32)
        bits |= bits32((LOAD(vi32, lower + i) <= l) & (LOAD(vi32, upper + i) >= h)) << i;
    return bits;
}

#endif

/* Write the rows in the order of their codes; start[c] is where code c begins, and place a copy of it. */
static void list_column(const int32_t *values, int64_t n, int32_t *place, int32_t *rows) {
    for (int64_t i = 0; i < n; i++)
        rows[place[values[i]]++] = (int32_t)i;
}

EXPORT int KERNEL(list_by_code)(
    const int32_t *values, int64_t n, const int32_t *start, int64_t n_codes, int32_t *rows) {
    int32_t *place = room(n_codes, sizeof *place);
    if (!place)
        return NO_MEMORY;
    memcpy(place, start, n_codes * sizeof *place);
    list_column(values, n, place, rows);
    free(place);
    return DONE;
}

/* Write the smallest and the largest code of each column in each node of the binary tree. */
EXPORT int KERNEL(code_boxes)(
    const int32_t *values, int64_t n, int64_t n_columns, const int64_t *begin, const int64_t *end, const int64_t *left,
    int64_t n_nodes, int32_t *low, int32_t *high) {
    for (int64_t k = n_nodes - 1; k >= 0; k--) { /* children come after their parents */
        int64_t a = left[k] * n_columns, b = a + n_columns, own = k * n_columns;
        for (int64_t j = 0; j < n_columns; j++) {
            int32_t least, most;
            if (left[k] >= 0) {
                least = low[a + j] < low[b + j] ? low[a + j] : low[b + j];
                most = high[a + j] > high[b + j] ? high[a + j] : high[b + j];
            } else {
                const int32_t *column = values + j * n;
                least = most = column[begin[k]];
                for (int64_t i = begin[k]; i < end[k]; i++) {
                    least = column[i] < least ? column[i] : least;
                    most = column[i] > most ? column[i] : most;
                }
            }
            low[own + j] = least, high[own + j] = most;
        }
    }
    return DONE;
}

/* ---------------------------------------------------------------- conditions */

/* One condition: an interval of codes that the column has, and how many rows are in it. */
typedef struct {
    int64_t column;
    int32_t least, most;
    int64_t size, list_at;
    const int32_t *values; /* of the column */
} condition_t;

static condition_t condition_of(const predicates_t *task, int64_t column, int64_t low, int64_t high) {
    const int32_t *starts = task->starts + task->of_column[column];
    int64_t n_codes = task->of_column[column + 1] - task->of_column[column] - 1;
    int64_t a = low > 0 ? low : 0, b = high < n_codes - 1 ? high : n_codes - 1;
    condition_t found = {column, (int32_t)a, (int32_t)b, 0, 0, task->values + column * task->n};
    if (a <= b) {
        found.list_at = starts[a];
        found.size = starts[b + 1] - found.list_at;
    }
    return found;
}

/* Write the conditions of a predicate, the one with the fewest rows first; return how many. */
static int64_t conditions_of(const predicates_t *task, int64_t predicate, condition_t *out) {
    int64_t n = task->n_conditions[predicate], at = predicate * task->width;
    if (n == 0) { /* every row matches */
        out[0] = condition_of(task, 0, 0, INT32_MAX);
        return 1;
    }
    for (int64_t k = 0; k < n; k++) {
        condition_t next = condition_of(task, task->column[at + k], task->low[at + k], task->high[at + k]);
        int64_t place = k;
        for (; place > 0 && out[place - 1].size > next.size; place--)
            out[place] = out[place - 1];
        out[place] = next;
    }
    return n;
}

/* ---------------------------------------------------------------- three ways of searching */

/* Whether more than `most` rows of the sample match. */
static int sample_exceeds(const predicates_t *task, const condition_t *c, int64_t n) {
    int64_t count = 0;
    for (int64_t t = 0; t < task->n_sampled; t += LEAF) {
        uint64_t bits = ~UINT64_C(0);
        for (int64_t q = 0; q < n && bits; q++)
            bits &= rows_within(task->sample + c[q].column * task->n_sampled + t, c[q].least, c[q].most);
        count += count_bits(bits);
        if (count > task->most)
            return 1;
    }
    return 0;
}

/* Test the rows of the first condition one by one. */
static int64_t search_list(const predicates_t *task, const condition_t *c, int64_t n, int32_t *restrict found) {
    const int32_t *list = task->lists + task->list_of[c[0].column] + c[0].list_at;
    int64_t count = 0;
    for (int64_t i = 0; i < c[0].size && count <= task->most; i++) {
        int64_t row = list[i], q = 1;
        for (; q < n; q++) {
            int32_t v = c[q].values[row];
            if (v < c[q].least || v > c[q].most)
                break;
        }
        if (q < n)
            continue;
        if (found && count < task->most)
            found[count] = (int32_t)row;
        count++;
    }
    return count;
}

/* The rows of a leaf that match. */
static int64_t search_leaf(
    const predicates_t *task, const condition_t *c, int64_t n, int64_t start, int64_t size, int64_t count,
    int32_t *restrict found) {
    uint64_t bits = ~UINT64_C(0) >> (LEAF - size);
    for (int64_t q = 0; q < n && bits; q++)
        bits &= rows_within(c[q].values + start, c[q].least, c[q].most);
    size = count_bits(bits);
    for (int64_t z = 0; found && count + size <= task->most && z < size; z++, bits &= bits - 1)
        found[count + z] = (int32_t)(start + lowest_bit(bits));
    return size;
}

/* Open the boxes that meet all conditions and are not inside them. */
static int64_t search_tree(
    const predicates_t *task, const condition_t *c, int64_t n, int32_t *restrict stack, int32_t *restrict found) {
    int64_t count = 0, top = 1, most = task->most;
    stack[0] = 0;
    while (top > 0 && count <= most) {
        int64_t at = stack[--top];
        uint64_t meet = (UINT64_C(1) << NODE) - 1, inside = meet;
        for (int64_t q = 0; q < n && meet; q++) {
            int64_t place = (at * task->n_columns + c[q].column) * NODE;
            const int32_t *low = task->box_low + place, *high = task->box_high + place;
            meet &= boxes_reach(low, high, c[q].most, c[q].least);
            inside &= boxes_reach(high, low, c[q].most, c[q].least);
        }
        for (; meet && count <= most; meet &= meet - 1) {
            int64_t x = lowest_bit(meet), child = at * NODE + x;
            int64_t start = task->begin[child], size = task->end[child] - start;
            if (inside >> x & 1) {
                for (int64_t z = 0; found && count + size <= most && z < size; z++)
                    found[count + z] = (int32_t)(start + z);
                count += size;
            } else if (task->child[child] != LEAF_CHILD)
                stack[top++] = task->child[child];
            else
                count += search_leaf(task, c, n, start, size, count, found);
        }
    }
    return count;
}

static int64_t search(
    const predicates_t *task, int64_t predicate, condition_t *c, int32_t *restrict stack, int32_t *restrict found) {
    int64_t n = conditions_of(task, predicate, c);
    if (c[0].size == 0 || (n == 1 && !found))
        return c[0].size;
    if (c[0].size > task->sample_from && c[0].size > task->most && sample_exceeds(task, c, n))
        return task->most + 1;
    if (c[0].size <= task->few)
        return search_list(task, c, n, found);
    return search_tree(task, c, n, stack, found);
}

/* Count the rows of the predicates first to last - 1 up to most + 1; `listing` writes their places in the tree. */
EXPORT int KERNEL(predicates)(
    const predicates_t *task, int64_t first, int64_t last, int64_t listing, int64_t *out, int32_t *restrict found) {
    condition_t *conditions = room(task->width, sizeof *conditions);
    int32_t *stack = room(task->stack_size, sizeof *stack), nowhere;
    int has_room = (conditions && stack);
    for (int64_t i = first; has_room && i < last; i++) {
        /* where nothing fits into `found`, `most` is 0 and nothing is written */
        int32_t *own = !listing ? NULL : task->most > 0 ? found + (i - first) * task->most : &nowhere;
        int64_t count = search(task, i, conditions, stack, own);
        out[i - first] = count <= task->most ? count : task->most + 1;
    }
    free(conditions), free(stack);
    return has_room ? DONE : NO_MEMORY;
}
