/* The votes of the rows that a walk found, for each search, and what they say about the people of a query. */
#ifndef LEFT_OUT_VOTES_H
#define LEFT_OUT_VOTES_H

#include "leave_one_out.h"

enum { FEW = 32 }; /* places that are looked through one by one */

/* The people of a part of the queries, in the order of the search, and what is found about them. */
typedef struct {
    const int32_t *truth;                      /* (n_people, n_targets) */
    double *nearest, *distance, *vote, *share; /* (n_people, n_targets) */
    int64_t first;                             /* the number of the first of these people */
} answers_t;

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

/* List the rows within the limit of a search. */
static int64_t list_hits(walk_t *w, const left_out_t *l, int64_t i) {
    int64_t n = 0;
    double limit = w->limit[i];
    const double *far = w->near + i;
    for (int64_t e = 0; e < w->n; e++, far += l->width) w->hits[n] = e, n += *far <= limit;
    return n;
}

static void add_up(walk_t *w, int64_t n) {
    w->before[0] = 0;
    for (int64_t e = 0; e < n; e++) w->before[e + 1] = w->before[e] + w->count[e];
}

/* Give a value some votes; return how many places have some, of which there were n before. */
INLINE int64_t vote(walk_t *w, int64_t n, int64_t place, int64_t times) {
    if (w->votes[place] == 0) w->touched[n++] = place;
    w->votes[place] += times;
    return n;
}

/* Have the votes of n places counted. */
static void count_votes(walk_t *w, int64_t n) {
    if (n > FEW) sort(w->touched, n);
    for (int64_t e = 0; e < n; e++) w->count[e] = w->votes[w->touched[e]], w->votes[w->touched[e]] = 0;
    if (n > FEW) add_up(w, n);
}

/* What is counted at the places that reach a value. */
INLINE int64_t counted_for(const walk_t *w, const left_out_t *l, int64_t i, int64_t n, int64_t value) {
    int64_t first = l->first[l->begin[i] + value], last = l->last[l->begin[i] + value], out = 0;
    if (n <= FEW) {
        for (int64_t e = 0; e < n; e++)
            out += w->count[e] & -(int64_t)(w->touched[e] >= first && w->touched[e] < last);
        return out;
    }
    int64_t from = first_from(w->touched, n, first);
    return w->before[from + first_from(w->touched + from, n - from, last)] - w->before[from];
}

/* Write what the nearest rows say about the people of a query. */
static void answer_nearest(walk_t *w, const asking_t *a, const left_out_t *l, const answers_t *out, int64_t i,
                           int64_t x, int64_t n, int64_t total) {
    for (int64_t who = a->start[x]; who < a->start[x + 1]; who++) {
        int64_t place = (who - out->first) * l->n_targets + i;
        out->distance[place] = w->kept[i];
        out->nearest[place] = (double)counted_for(w, l, i, n, out->truth[place]) / (double)total;
    }
}

/* Write what the vote says about them. */
static void answer_vote(walk_t *w, const asking_t *a, const left_out_t *l, const answers_t *out, int64_t i, int64_t x,
                        int64_t n, int64_t total) {
    int64_t most = 0, n_winners = 0;
    for (int64_t e = 0; e < n; e++) {
        int64_t support = w->votes[e] = counted_for(w, l, i, n, w->touched[e]);
        most = support > most ? support : most;
    }
    for (int64_t e = 0; e < n; e++) { /* from here on the winners are counted, each once */
        w->count[e] = w->votes[e] == most, n_winners += w->count[e];
        w->votes[e] = 0;
    }
    if (n > FEW) add_up(w, n);
    for (int64_t who = a->start[x]; who < a->start[x + 1]; who++) {
        int64_t place = (who - out->first) * l->n_targets + i;
        out->vote[place] = (double)counted_for(w, l, i, n, out->truth[place]) / (double)n_winners;
        out->share[place] = (double)most / (double)total;
    }
}

#endif
