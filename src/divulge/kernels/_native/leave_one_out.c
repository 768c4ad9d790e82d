/* The votes of the k nearest rows on all columns but one, for each of several columns, in one walk (leave_one_out.h). */
#include "left_out_votes.h"

/* Count the votes of the listed rows up to a distance; return how many places have some, and in total all votes. */
static int64_t votes_of_rows(walk_t *w, const asking_t *a, const left_out_t *l, int64_t i, int64_t n_hits, double upto,
                             int64_t *total) {
    int64_t n = 0;
    for (int64_t h = 0; h < n_hits; h++) {
        int64_t e = w->hits[h], row = w->row[e];
        if (w->near[e * l->width + i] > upto) continue;
        n = vote(w, n, l->place[row * l->n_targets + i], a->times[row]);
        *total += a->times[row];
    }
    count_votes(w, n);
    return n;
}

/* Answer about the people of query x without one of the columns. */
static void answer(walk_t *w, const asking_t *a, const left_out_t *l, const answers_t *out, int64_t i, int64_t x) {
    int64_t total = 0, n_hits = list_hits(w, l, i), n = votes_of_rows(w, a, l, i, n_hits, w->kept[i], &total);
    answer_nearest(w, a, l, out, i, x, n, total);
    if (w->kept[i] < w->limit[i]) total = 0, n = votes_of_rows(w, a, l, i, n_hits, w->limit[i], &total);
    answer_vote(w, a, l, out, i, x, n, total);
}

/* Answer the queries first to last - 1, in the order of the search, without each of the columns in turn. */
EXPORT int KERNEL(leave_one_out)(const tree_t *t, const box_queries_t *b, const asking_t *a, const left_out_t *l,
                                 const answers_t *out, int64_t first, int64_t last) {
    walk_t w = {0};
    int status = make_walk(&w, t, l, a->k) ? DONE : NO_MEMORY;
    for (int64_t x = first; status == DONE && x < last; x++) {
        int64_t i = a->queries[x];
        query_t q = asked_for(&w, t, b, i);
        if (asked_to_stop(a->stop)) {
            status = STOPPED;
            break;
        }
        first_limits(&w, a, l, &q);
        if (!walk(&w, t, a, l, &q)) {
            status = NO_MEMORY;
            break;
        }
        for (int64_t s = 0; s < l->n_targets; s++) answer(&w, a, l, out, s, x);
    }
    free_walk(&w);
    return status;
}
