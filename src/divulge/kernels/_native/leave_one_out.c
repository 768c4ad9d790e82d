/* One walk through the tree of boxes for several searches, each of which leaves out one column: the votes of the k
 * nearest rows on the other columns. leave_one_out.py describes it.
 *
 * With d the part of a column, the distance without it is D - d. A box or row is out of reach if it is so without each
 * of the columns. Of what may be within reach the distance is added up without the column, as its definition says. */
#include "box_tree.h"

/* One search: the column that it leaves out, its ruler, and the values that the rows vote for. */
typedef struct {
    const double *rate;    /* (n_targets, n_numbers) */
    const double *total;   /* (n_targets,): the sum of the weights without the column */
    const double *cap;     /* (n_targets,) */
    const double *split;   /* (n_targets,) */
    const int64_t *number; /* (n_targets,): the number that is left out, or -1 */
    const int64_t *code;   /* (n_targets,): the code that is left out, or -1 */
    const int32_t *place;  /* (m, n_targets): place of the value of each reference row */
    const int32_t *truth;  /* (n_targets, n_people) */
    const int64_t *begin;  /* (n_targets + 1,): where the places of each target begin */
    const int64_t *first;  /* (n_places,): a value at place p reaches the places first[p] to last[p] - 1 */
    const int64_t *last;   /* (n_places,) */
    int64_t n_targets, n_people;
} left_out_t;

/* The values of the rows; the weight of each column is 1. The reference rows are in the order of the tree. */
typedef struct {
    const double *numbers;           /* (n, n_numbers) of the queries */
    const int32_t *codes;            /* (n, n_codes) */
    const double *reference_numbers; /* (m, n_numbers) */
    const int32_t *reference_codes;  /* (m, n_codes) */
    const int64_t *times;            /* (m,): how many rows each reference row stands for */
    const int64_t *start;            /* (n + 1,): query i stands for the people members[start[i]:start[i + 1]] */
    const int64_t *members;          /* (n_people,) */
    const int64_t *queries;          /* (n,): in the order in which they are searched */
    const volatile int32_t *stop;
    int64_t n_numbers, n_codes, k;
} asking_t;

/* What is found: (n_targets, n_people) each. */
typedef struct {
    double *nearest, *distance, *vote, *share;
} answers_t;

/* A row that may be among the nearest. */
typedef struct {
    double far;
    int64_t row;
} near_t;

/* The state of one search for one query. */
typedef struct {
    double limit;      /* the k-th distance so far */
    double *kept;      /* (k,): the nearest distances so far, ascending; equal rows count one by one */
    int64_t filled;    /* of kept */
    near_t *near;      /* rows that were within the limit when they were met */
    int64_t n, size;   /* of near */
} state_t;

typedef struct {
    state_t *state;    /* (n_targets,) */
    float *bound;      /* (width,): the largest bound that a row within the limit may have; -1 where there is no target */
    float *low;        /* (depth, width): bounds of the entries of the stack; then (n_targets, NODE) of a node */
    int32_t *stack;    /* (depth,) */
    float *sum;        /* (depth,): bounds with all columns */
    double *term;      /* (n_numbers,) */
    uint32_t *bits;    /* (n_codes,): the query's own bit of each mask */
    uint64_t *within;  /* (n_targets,): rows of a leaf */
    int64_t *votes;    /* (most places,): 0 between two votes */
    int64_t *touched;  /* (most places,) */
    int64_t *before;   /* (most places + 1,) */
    int64_t width;
} walk_t;

static void free_walk(walk_t *w, int64_t n_targets) {
    for (int64_t t = 0; w->state && t < n_targets; t++) free(w->state[t].kept), free(w->state[t].near);
    free(w->state), free(w->bound), free(w->low), free(w->stack), free(w->sum), free(w->term), free(w->within);
    free(w->votes), free(w->touched), free(w->before), free(w->bits);
}

static int make_walk(walk_t *w, const tree_t *t, const left_out_t *l, int64_t k) {
    int64_t n = l->n_targets, most = 0;
    for (int64_t i = 0; i < n; i++) most = l->begin[i + 1] - l->begin[i] > most ? l->begin[i + 1] - l->begin[i] : most;
    w->width = (n + 15) / 16 * 16;
    w->state = zeroed(n, sizeof *w->state);
    w->bound = room(w->width, sizeof(float)), w->low = room(t->depth * w->width + n * NODE, sizeof(float));
    w->stack = room(t->depth, sizeof(int32_t)), w->sum = room(t->depth, sizeof(float));
    w->term = room(t->n_numbers, sizeof(double)), w->within = room(n, sizeof(uint64_t));
    w->votes = zeroed(most, sizeof(int64_t)), w->touched = room(most, sizeof(int64_t));
    w->before = room(most + 1, sizeof(int64_t)), w->bits = room(t->n_codes, sizeof(uint32_t));
    int made = w->state && w->bound && w->low && w->stack && w->sum && w->term && w->within && w->votes &&
               w->touched && w->before && w->bits;
    for (int64_t i = 0; made && i < n; i++) {
        state_t *s = &w->state[i];
        s->size = 4 * k + 256;
        s->kept = room(k, sizeof(double)), s->near = room(s->size, sizeof(near_t));
        made = s->kept && s->near;
    }
    return made;
}

/* ---------------------------------------------------------------- bounds */

/* Find for each target the rows of a leaf that may be within its limit, as bits; return the bits of any target. sum
 * takes the bounds with all columns. */
INLINE uint64_t rows_within(const tree_t *t, const left_out_t *l, int64_t leaf, int64_t n, const float *asked,
                            const uint8_t *asked_codes, float farthest, const float *bound, float *sum,
                            uint64_t *within) {
    enum { PARTS = LEAF / LANES32 };
    uint64_t any = leaf_bounds(t, leaf, asked, asked_codes, farthest, sum), some = 0;
    if (n < LEAF) any &= ((uint64_t)1 << n) - 1;
    if (!any) return 0;
    const uint8_t *codes = t->codes + leaf * t->n_codes * LEAF;
    const float *numbers = t->numbers + leaf * t->n_numbers * LEAF;
    for (int64_t i = 0; i < l->n_targets; i++) {
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
        bits |= further & differ;
        some |= within[i] = bits & any;
    }
    return some;
}

/* Find for each target the bounds of the children of a node without its column, low (n_targets, NODE), and those with
 * all columns, sum (NODE,); return the bits of the children that may hold a row within the limit of any target. */
INLINE uint64_t boxes_within(const tree_t *t, const left_out_t *l, int64_t node, const float *asked,
                             const uint32_t *asked_bits, float farthest, const float *bound, float *sum, float *low) {
    enum { PARTS = NODE / LANES32 };
    uint64_t any = node_bounds(t, node, asked, asked_bits, farthest, sum), some = 0;
    if (!any) return 0;
    const uint32_t *masks = t->masks + node * t->n_codes * NODE;
    const float *least = t->low + node * t->n_numbers * NODE, *largest = t->high + node * t->n_numbers * NODE;
    for (int64_t i = 0; i < l->n_targets; i++) {
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
            STORE(low + i * NODE + p * LANES32, rest);
            some |= bits32((vi32)(rest <= most)) << (p * LANES32);
        }
    }
    return some & any;
}

/* ---------------------------------------------------------------- distances */

/* The distance of a query to a row without the column of a target; term: the differences of the numbers. */
INLINE double distance_without(const left_out_t *l, int64_t i, const double *term, int64_t n_numbers, int64_t differ) {
    const double *rate = l->rate + i * n_numbers;
    double s = 0.0, cap = l->cap[i];
    for (int64_t j = 0; j < n_numbers; j++) {
        if (j == l->number[i]) continue;
        double d = term[j] * rate[j];
        d = d > 0.0 ? d : 0.0; /* nan: one of them is missing */
        s += d < cap ? d : cap;
    }
    s += (double)differ * cap;
    double carried = s * l->split[i];
    return (carried - (carried - s)) / (l->total[i] * cap);
}

/* The differences of the numbers of a query and a row, and in how many codes they differ. */
INLINE int64_t differences(const asking_t *a, int64_t query, int64_t row, double *term) {
    const double *x = a->numbers + query * a->n_numbers, *y = a->reference_numbers + row * a->n_numbers;
    const int32_t *u = a->codes + query * a->n_codes, *v = a->reference_codes + row * a->n_codes;
    int64_t differ = 0;
    for (int64_t j = 0; j < a->n_numbers; j++) term[j] = fabs(x[j] - y[j]);
    for (int64_t j = 0; j < a->n_codes; j++) differ += u[j] != v[j];
    return differ;
}

INLINE int64_t differ_without(const asking_t *a, int64_t query, int64_t row, int64_t differ, int64_t code) {
    if (code < 0) return differ;
    return differ - (a->codes[query * a->n_codes + code] != a->reference_codes[row * a->n_codes + code]);
}

/* Forget the rows beyond the limit, and make room for more; return 0 without memory. */
static int tidy(state_t *s) {
    int64_t n = 0;
    for (int64_t e = 0; e < s->n; e++)
        if (s->near[e].far <= s->limit) s->near[n++] = s->near[e];
    s->n = n;
    if (n <= s->size / 2) return 1;
    void *more = s->size <= INT64_MAX / 64 ? realloc(s->near, (size_t)(2 * s->size) * sizeof(near_t)) : NULL;
    if (!more) return 0;
    s->near = more, s->size *= 2;
    return 1;
}

/* Keep a row within the limit; return whether the limit fell, -1 without memory. */
INLINE int keep(state_t *s, int64_t k, double far, int64_t row, int64_t times) {
    if (s->n == s->size && !tidy(s)) return -1;
    s->near[s->n++] = (near_t){far, row};
    for (int64_t c = 0; c < times; c++) {
        if (s->filled == k && far >= s->kept[k - 1]) break;
        int64_t place = s->filled < k ? s->filled++ : k - 1;
        for (; place > 0 && s->kept[place - 1] > far; place--) s->kept[place] = s->kept[place - 1];
        s->kept[place] = far;
    }
    if (s->filled < k || !(s->kept[k - 1] < s->limit)) return 0;
    s->limit = s->kept[k - 1];
    return 1;
}

/* An upper limit of the k-th distance of a query: its largest distance to k of the nearest rows of the query before. */
static double first_limit(walk_t *w, const asking_t *a, const left_out_t *l, int64_t i, int64_t query) {
    const state_t *s = &w->state[i];
    double most = 0.0;
    int64_t n = 0;
    for (int64_t e = 0; e < s->n && n < a->k; e++) {
        if (s->near[e].far > s->limit) continue;
        int64_t row = s->near[e].row, differ = differences(a, query, row, w->term);
        differ = differ_without(a, query, row, differ, l->code[i]);
        double far = distance_without(l, i, w->term, a->n_numbers, differ);
        most = far > most ? far : most;
        n += a->times[row];
    }
    return n < a->k ? INFINITY : most;
}

/* ---------------------------------------------------------------- votes */

static void sort(int64_t *values, int64_t n) {
    int64_t gap = 1;
    while (gap < n / 3) gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3)
        for (int64_t i = gap; i < n; i++) {
            int64_t v = values[i], j = i;
            for (; j >= gap && values[j - gap] > v; j -= gap) values[j] = values[j - gap];
            values[j] = v;
        }
}

/* The first of n ascending values that is at least v. */
INLINE int64_t first_from(const int64_t *values, int64_t n, int64_t v) {
    int64_t low = 0;
    while (n > 0) {
        int64_t half = n / 2;
        if (values[low + half] < v)
            low += half + 1, n -= half + 1;
        else
            n = half;
    }
    return low;
}

/* Add up the votes of the rows up to a distance; return how many places have some, in ascending order. */
static int64_t count_votes(walk_t *w, const asking_t *a, const left_out_t *l, int64_t i, double upto) {
    const state_t *s = &w->state[i];
    int64_t n = 0;
    for (int64_t e = 0; e < s->n; e++) {
        if (s->near[e].far > upto) continue;
        int64_t row = s->near[e].row, p = l->place[row * l->n_targets + i];
        if (w->votes[p] == 0) w->touched[n++] = p;
        w->votes[p] += a->times[row];
    }
    sort(w->touched, n);
    w->before[0] = 0;
    for (int64_t e = 0; e < n; e++) w->before[e + 1] = w->before[e] + w->votes[w->touched[e]];
    for (int64_t e = 0; e < n; e++) w->votes[w->touched[e]] = 0;
    return n;
}

/* What `before` counts of the places that reach a value. */
INLINE int64_t votes_for(const walk_t *w, const left_out_t *l, int64_t i, int64_t n, int64_t value) {
    int64_t at = l->begin[i] + value;
    int64_t a = first_from(w->touched, n, l->first[at]);
    int64_t b = a + first_from(w->touched + a, n - a, l->last[at]);
    return w->before[b] - w->before[a];
}

/* Write what the nearest rows say about the people of a query. */
static void answer_nearest(walk_t *w, const asking_t *a, const left_out_t *l, const answers_t *out, int64_t i,
                           int64_t query, int64_t n) {
    double least = w->state[i].kept[0];
    for (int64_t x = a->start[query]; x < a->start[query + 1]; x++) {
        int64_t person = i * l->n_people + a->members[x];
        out->distance[person] = least;
        out->nearest[person] = (double)votes_for(w, l, i, n, l->truth[person]) / (double)w->before[n];
    }
}

/* Write what the vote says about them. */
static void answer_vote(walk_t *w, const asking_t *a, const left_out_t *l, const answers_t *out, int64_t i,
                        int64_t query, int64_t n) {
    int64_t most = 0, total = w->before[n], n_winners = 0;
    for (int64_t e = 0; e < n; e++) {
        int64_t support = w->votes[e] = votes_for(w, l, i, n, w->touched[e]);
        most = support > most ? support : most;
    }
    for (int64_t e = 0; e < n; e++) { /* from here on the winners are counted, each once */
        w->before[e] = n_winners;
        n_winners += w->votes[e] == most;
        w->votes[e] = 0;
    }
    w->before[n] = n_winners;
    for (int64_t x = a->start[query]; x < a->start[query + 1]; x++) {
        int64_t person = i * l->n_people + a->members[x];
        out->vote[person] = (double)votes_for(w, l, i, n, l->truth[person]) / (double)n_winners;
        out->share[person] = (double)most / (double)total;
    }
}

static void answer(walk_t *w, const asking_t *a, const left_out_t *l, const answers_t *out, int64_t i, int64_t query) {
    const state_t *s = &w->state[i];
    int64_t n = count_votes(w, a, l, i, s->kept[0]);
    answer_nearest(w, a, l, out, i, query, n);
    if (s->kept[0] < s->limit) n = count_votes(w, a, l, i, s->limit);
    answer_vote(w, a, l, out, i, query, n);
}

/* ---------------------------------------------------------------- the walk */

/* What one query is compared by. */
typedef struct {
    const float *numbers;
    const uint8_t *codes;
    const uint32_t *bits;
    float absolute, relative; /* the rounding of a bound */
    float farthest;           /* the largest bound with all columns that a row of interest may have */
    int64_t i;
} query_t;

static void set_bound(walk_t *w, const left_out_t *l, const query_t *q, int64_t i) {
    double whole = w->state[i].limit * l->total[i];
    float most = (float)(1e30 < whole ? 1e30 : whole);
    /* the bound is a difference of two sums, of which the larger has the column itself */
    w->bound[i] = most + (q->absolute + q->relative * (most + 2.0f));
}

static void set_farthest(const walk_t *w, const left_out_t *l, query_t *q) {
    float most = 0.0f;
    for (int64_t i = 0; i < l->n_targets; i++) most = w->bound[i] > most ? w->bound[i] : most;
    q->farthest = most + 1.0f;
}

INLINE int beyond_all(const float *low, const float *bound, int64_t width) {
    int some = 0;
    for (int64_t i = 0; i < width; i++) some |= low[i] <= bound[i];
    return !some;
}

/* Put the children of a node on the stack, the nearest on top; return the new height. */
static int64_t push(walk_t *w, const left_out_t *l, int64_t top, const int32_t *child, uint64_t bits, const float *sum,
                    const float *low) {
    int64_t base = top, width = w->width;
    for (; bits; bits &= bits - 1) {
        int j = lowest_bit(bits);
        if (child[j] == NO_CHILD) continue;
        int64_t place = top++;
        for (; place > base && w->sum[place - 1] < sum[j]; place--) {
            w->stack[place] = w->stack[place - 1], w->sum[place] = w->sum[place - 1];
            memcpy(w->low + place * width, w->low + (place - 1) * width, (size_t)width * sizeof(float));
        }
        w->stack[place] = child[j], w->sum[place] = sum[j];
        for (int64_t i = 0; i < l->n_targets; i++) w->low[place * width + i] = low[i * NODE + j];
        for (int64_t i = l->n_targets; i < width; i++) w->low[place * width + i] = 0.0f;
    }
    return top;
}

/* Look at the rows of a leaf; return 0 without memory. */
static int visit_leaf(walk_t *w, const tree_t *t, const asking_t *a, const left_out_t *l, query_t *q, int64_t leaf) {
    float sum[LEAF];
    int64_t begin = t->first[leaf], n = t->first[leaf + 1] - begin;
    uint64_t some = rows_within(t, l, leaf, n, q->numbers, q->codes, q->farthest, w->bound, sum, w->within);
    int fell = 0, is_first = 1;
    while (some) {
        int j = lowest_bit(some);
        if (is_first) /* the nearest on all columns first: it makes the limits small */
            for (uint64_t bits = some; bits; bits &= bits - 1)
                if (sum[lowest_bit(bits)] < sum[j]) j = lowest_bit(bits);
        is_first = 0;
        some &= ~((uint64_t)1 << j);
        if (sum[j] > q->farthest) continue;
        int64_t row = begin + j, differ = differences(a, q->i, row, w->term);
        for (int64_t i = 0; i < l->n_targets; i++) {
            if (!(w->within[i] >> j & 1)) continue;
            int64_t others = differ_without(a, q->i, row, differ, l->code[i]);
            double far = distance_without(l, i, w->term, a->n_numbers, others);
            if (far > w->state[i].limit) continue;
            int now = keep(&w->state[i], a->k, far, row, a->times[row]);
            if (now < 0) return 0;
            if (now > 0) set_bound(w, l, q, i), fell = 1;
        }
        if (fell) set_farthest(w, l, q), fell = 0;
    }
    return 1;
}

/* Have the rows of the next leaf fetched while this one is looked at. */
INLINE void fetch_leaf(const tree_t *t, int64_t leaf) {
    const uint8_t *codes = t->codes + leaf * t->n_codes * LEAF;
    const float *numbers = t->numbers + leaf * t->n_numbers * LEAF;
    for (int64_t j = 0; j < t->n_codes; j++) __builtin_prefetch(codes + j * LEAF);
    for (int64_t j = 0; j < 4 * t->n_numbers; j++) __builtin_prefetch(numbers + j * 16);
}

/* Find the rows that answer for one query; return 0 without memory. */
static int walk(walk_t *w, const tree_t *t, const asking_t *a, const left_out_t *l, query_t *q) {
    float sum[NODE], *low = w->low + t->depth * w->width;
    int64_t top = 1;
    w->stack[0] = 0, w->sum[0] = 0.0f;
    for (int64_t i = 0; i < w->width; i++) w->low[i] = 0.0f;
    while (top > 0) {
        top--;
        if (w->sum[top] > q->farthest || beyond_all(w->low + top * w->width, w->bound, w->width)) continue;
        int64_t at = w->stack[top];
        if (top > 0 && w->stack[top - 1] < 0) fetch_leaf(t, -1 - (int64_t)w->stack[top - 1]);
        if (at < 0) {
            if (!visit_leaf(w, t, a, l, q, -1 - at)) return 0;
            continue;
        }
        uint64_t bits = boxes_within(t, l, at, q->numbers, q->bits, q->farthest, w->bound, sum, low);
        top = push(w, l, top, t->child + at * NODE, bits, sum, low);
    }
    return 1;
}

/* Answer the queries first to last - 1 without each of the columns in turn. */
EXPORT int KERNEL(leave_one_out)(const tree_t *t, const box_queries_t *b, const asking_t *a, const left_out_t *l,
                                 const answers_t *out, int64_t first, int64_t last) {
    walk_t w = {0};
    int status = make_walk(&w, t, l, a->k) ? DONE : NO_MEMORY;
    for (int64_t x = first; status == DONE && x < last; x++) {
        int64_t i = a->queries[x];
        query_t q = {b->numbers + i * t->n_numbers, b->codes + i * t->n_codes, w.bits, 1e-30f, 0, 0, i};
        if (asked_to_stop(a->stop)) {
            status = STOPPED;
            break;
        }
        for (int64_t j = 0; j < t->n_codes; j++) w.bits[j] = (uint32_t)1 << (q.codes[j] & 31);
        for (int64_t j = 0; j < t->n_numbers; j++)
            if (q.numbers[j] == q.numbers[j]) q.absolute += 4.8e-7f * fabsf(q.numbers[j]);
        q.relative = 2.4e-7f * (float)(t->n_numbers + t->n_groups + 4);
        for (int64_t s = 0; s < w.width; s++) w.bound[s] = -1.0f;
        for (int64_t s = 0; s < l->n_targets; s++) {
            w.state[s].limit = first_limit(&w, a, l, s, i);
            w.state[s].filled = w.state[s].n = 0;
            set_bound(&w, l, &q, s);
        }
        set_farthest(&w, l, &q);
        if (!walk(&w, t, a, l, &q)) {
            status = NO_MEMORY;
            break;
        }
        for (int64_t s = 0; s < l->n_targets; s++) answer(&w, a, l, out, s, i);
    }
    free_walk(&w, l->n_targets);
    return status;
}
