/* How far the sets of rows of persons are from each other (Chamfer distance), and for each row the nearest persons.
 *
 * The distance of two rows is a whole number: a category that differs counts `unit`, a number the gap of the positions,
 * at most `unit`. Persons are compared tile by tile of others, so that the codes stay in cache; each sum runs over the
 * rows of one person, in their order, so that tiles and blocks change no digit. */

#include "divulge.h"

typedef struct {
    int64_t n_categories, n_columns, unit;
    int64_t first, last;          /* persons who are asked */
    const int64_t *own_start;     /* (n_people + 1,) */
    const uint16_t *own;          /* (n_own, n_columns): categories first */
    const double *own_share;      /* (n_own,): share of the person's rows */
    int64_t n_others, n_rows;
    const int64_t *start;         /* (n_others + 1,) */
    const uint16_t *codes;        /* (n_columns, n_rows) */
    const double *share;          /* (n_rows,) */
    int64_t themselves;           /* whether others are the people who are asked: nobody is near to himself */
    int64_t n_near;
    double *forth, *back;         /* (last - first, n_others): mean distance to the nearest row of the other, and back */
    uint16_t *near;               /* (rows of the asked, n_near): distances of the nearest others, ascending */
    int32_t *who;                 /* their numbers; -1 where there are fewer */
} sets_t;

enum { TILE = 4096, FARTHEST = 65535 };

static void distances_of(const sets_t *t, const uint16_t *row, int64_t a, int64_t n, uint16_t *restrict out) {
    uint16_t unit = (uint16_t)t->unit;
    memset(out, 0, (size_t)n * sizeof *out);
    for (int64_t c = 0; c < t->n_columns; c++) {
        const uint16_t *restrict other = t->codes + c * t->n_rows + a;
        uint16_t x = row[c];
        if (c < t->n_categories) {
            for (int64_t r = 0; r < n; r++)
                out[r] = (uint16_t)(out[r] + (other[r] != x ? unit : 0));
        } else {
            for (int64_t r = 0; r < n; r++) {
                uint16_t gap = (uint16_t)(other[r] > x ? other[r] - x : x - other[r]);
                out[r] = (uint16_t)(out[r] + (gap < unit ? gap : unit));
            }
        }
    }
}

INLINE uint16_t smallest(const uint16_t *values, int64_t n) {
    uint16_t least = FARTHEST;
    for (int64_t r = 0; r < n; r++)
        least = values[r] < least ? values[r] : least;
    return least;
}

/* Put a person into the list of the nearest, which ascends. */
INLINE void enlisted(uint16_t *near, int32_t *who, int64_t n, uint16_t distance, int32_t person) {
    int64_t at = n - 1;
    for (; at > 0 && near[at - 1] > distance; at--)
        near[at] = near[at - 1], who[at] = who[at - 1];
    near[at] = distance, who[at] = person;
}

/* The person p and others o to e - 1, whose rows are a to b - 1. */
static void of_tile(const sets_t *t, int64_t p, int64_t o, int64_t e, uint16_t *row_of, uint16_t *back_of) {
    int64_t a = t->start[o], n = t->start[e] - a, base = t->own_start[t->first];
    double *forth = t->forth + (p - t->first) * t->n_others, *back = t->back + (p - t->first) * t->n_others;
    memset(back_of, 255, (size_t)n * sizeof *back_of);
    for (int64_t i = t->own_start[p]; i < t->own_start[p + 1]; i++) {
        uint16_t *near = t->near + (i - base) * t->n_near;
        int32_t *who = t->who + (i - base) * t->n_near;
        double share = t->own_share[i];
        distances_of(t, t->own + i * t->n_columns, a, n, row_of);
        for (int64_t r = 0; r < n; r++)
            back_of[r] = row_of[r] < back_of[r] ? row_of[r] : back_of[r];
        for (int64_t q = o; q < e; q++) {
            int64_t s = t->start[q] - a, size = t->start[q + 1] - t->start[q];
            if (!size) continue;
            uint16_t least = smallest(row_of + s, size);
            forth[q] += share * least;
            if (least < near[t->n_near - 1] && !(t->themselves && q == p))
                enlisted(near, who, t->n_near, least, (int32_t)q);
        }
    }
    for (int64_t q = o; q < e; q++)
        for (int64_t r = t->start[q]; r < t->start[q + 1]; r++)
            back[q] += t->share[r] * back_of[r - a];
}

static void begin(const sets_t *t) {
    double full = (double)(t->unit * t->n_columns);
    int64_t rows = t->own_start[t->last] - t->own_start[t->first];
    for (int64_t p = t->first; p < t->last; p++)
        for (int64_t q = 0; q < t->n_others; q++) {
            int none = t->own_start[p] == t->own_start[p + 1], nor = t->start[q] == t->start[q + 1];
            int64_t at = (p - t->first) * t->n_others + q;
            t->forth[at] = t->back[at] = none != nor ? full : 0.0;
        }
    for (int64_t i = 0; i < rows * t->n_near; i++)
        t->near[i] = FARTHEST, t->who[i] = -1;
}

EXPORT int KERNEL(set_distances)(const sets_t *t, const volatile int32_t *stop) {
    int64_t most = TILE;
    for (int64_t q = 0; q < t->n_others; q++)
        if (t->start[q + 1] - t->start[q] > most) most = t->start[q + 1] - t->start[q];
    uint16_t *row_of = room(most, sizeof *row_of), *back_of = room(most, sizeof *back_of);
    int status = row_of && back_of ? DONE : NO_MEMORY;
    if (!status) begin(t);
    for (int64_t o = 0; !status && o < t->n_others;) {
        int64_t e = o + 1;
        while (e < t->n_others && t->start[e + 1] - t->start[o] <= TILE)
            e++;
        for (int64_t p = t->first; p < t->last && !status; p++) {
            if (t->own_start[p] < t->own_start[p + 1]) of_tile(t, p, o, e, row_of, back_of);
            if (asked_to_stop(stop)) status = STOPPED;
        }
        o = e;
    }
    free(row_of), free(back_of);
    return status;
}
