/* The walk of leave_one_out.c where the reference rows are in blocks, each with a tree of its own: the nearest rows of the
 * blocks before are carried from block to block, and answer at the end. left_out_blocks.py describes it.
 *
 * What is carried of a query and a search are the rows up to the k-th distance so far: nearer ones one by one, ascending,
 * at most k - 1; of those at the k-th distance the votes of each value. */
#include "left_out_votes.h"

/* The entries of a part of the queries, for each query and search; of the first query they begin at 0. */
typedef struct {
    const int64_t *start; /* (n * n_targets + 1,) */
    const double *far;
    const int32_t *place;
    const int64_t *votes;
} carried_t;

/* Room for the entries of the part after a block; done takes how many were written, -1 where there is no room for all.
 * Where none differs from before, nothing is written: then `done` is 0. */
typedef struct {
    int64_t *count; /* (n * n_targets,) */
    double *far;
    int32_t *place;
    int64_t *votes;
    int64_t *done; /* (1,) */
    int64_t room;
} following_t;

/* Take up what was carried of a query: its nearest distances, and with them the limits. */
static void take_up(walk_t *w, const left_out_t *l, const carried_t *c, int64_t x, int64_t k) {
    for (int64_t i = 0; i < l->n_targets; i++) {
        int64_t n = 0;
        for (int64_t e = c->start[x * l->n_targets + i]; e < c->start[x * l->n_targets + i + 1]; e++)
            for (int64_t v = 0; v < c->votes[e] && n < k; v++) w->kept[n++ * l->width + i] = c->far[e];
    }
}

/* Copy the entries of the queries a to b - 1; return how many entries there are now. */
static int64_t copy(const left_out_t *l, const carried_t *c, const following_t *f, int64_t a, int64_t b,
                    int64_t n) {
    const int64_t *start = c->start + a * l->n_targets;
    int64_t searches = (b - a) * l->n_targets, many = start[searches] - start[0];
    for (int64_t s = 0; s < searches; s++) f->count[a * l->n_targets + s] = start[s + 1] - start[s];
    memcpy(f->far + n, c->far + start[0], (size_t)many * sizeof(double));
    memcpy(f->place + n, c->place + start[0], (size_t)many * sizeof(int32_t));
    memcpy(f->votes + n, c->votes + start[0], (size_t)many * sizeof(int64_t));
    return n + many;
}

/* Put one row among the entries begin to n - 1, ascending by distance; return how many entries there are now. */
INLINE int64_t put(const following_t *f, int64_t begin, int64_t n, double far, int32_t place, int64_t votes) {
    int64_t at = n;
    for (; at > begin && f->far[at - 1] > far; at--)
        f->far[at] = f->far[at - 1], f->place[at] = f->place[at - 1], f->votes[at] = f->votes[at - 1];
    f->far[at] = far, f->place[at] = place, f->votes[at] = votes;
    return n + 1;
}

/* Write the entries of query x and search i; return how many entries there are now. */
static int64_t merge(walk_t *w, const asking_t *a, const left_out_t *l, const carried_t *c, const following_t *f,
                     int64_t x, int64_t i, int64_t n) {
    int64_t begin = n, n_places = 0, n_hits = list_hits(w, l, i);
    double limit = w->limit[i];
    for (int64_t e = c->start[x * l->n_targets + i]; e < c->start[x * l->n_targets + i + 1]; e++) {
        if (c->far[e] < limit) n = put(f, begin, n, c->far[e], c->place[e], c->votes[e]);
        if (c->far[e] == limit) n_places = vote(w, n_places, c->place[e], c->votes[e]);
    }
    for (int64_t h = 0; h < n_hits; h++) {
        int64_t row = w->row[w->hits[h]];
        int32_t place = l->place[row * l->n_targets + i];
        double far = w->near[w->hits[h] * l->width + i];
        if (far < limit) n = put(f, begin, n, far, place, a->times[row]);
        if (far == limit) n_places = vote(w, n_places, place, a->times[row]);
    }
    for (int64_t e = 0; e < n_places; e++, n++) {
        f->far[n] = limit, f->place[n] = (int32_t)w->touched[e], f->votes[n] = w->votes[w->touched[e]];
        w->votes[w->touched[e]] = 0;
    }
    return n;
}

/* Walk through a block for the queries first to last - 1 that are asked there. */
EXPORT int KERNEL(left_out_block)(const tree_t *t, const box_queries_t *b, const asking_t *a, const left_out_t *l,
                                  const carried_t *c, const following_t *f, const uint8_t *here, int64_t first,
                                  int64_t last) {
    walk_t w = {0};
    int status = make_walk(&w, t, l, a->k) ? DONE : NO_MEMORY;
    int64_t x = first, n = 0, copied = first; /* queries from `copied` on are as before */
    for (; status == DONE && x < last; x++) {
        if (!here[x]) continue;
        if (asked_to_stop(a->stop)) {
            status = STOPPED;
            break;
        }
        query_t q = asked_for(&w, t, b, x);
        first_limits(&w, a, l, &q);
        take_up(&w, l, c, x - first, a->k);
        tighten(&w, l, &q, a->k);
        if (!walk(&w, t, a, l, &q) || !tidy(&w, l->width)) {
            status = NO_MEMORY;
            break;
        }
        if (w.n == 0) continue;
        int64_t left = c->start[(last - first) * l->n_targets] - c->start[(copied - first) * l->n_targets];
        if (n + left + w.n * l->n_targets > f->room) {
            f->done[0] = -1;
            free_walk(&w);
            return DONE;
        }
        n = copy(l, c, f, copied - first, x - first, n);
        for (int64_t i = 0; i < l->n_targets; i++) {
            int64_t begin = n;
            n = merge(&w, a, l, c, f, x - first, i, n);
            f->count[(x - first) * l->n_targets + i] = n - begin;
        }
        copied = x + 1;
    }
    if (status == DONE && n > 0) n = copy(l, c, f, copied - first, last - first, n);
    f->done[0] = n;
    free_walk(&w);
    return status;
}

/* Answer about the people of the queries first to last - 1 by what was carried of them. */
EXPORT int KERNEL(left_out_answers)(const asking_t *a, const left_out_t *l, const carried_t *c, const answers_t *out,
                                    int64_t first, int64_t last) {
    walk_t w = {0};
    int status = make_votes(&w, l, 1) ? DONE : NO_MEMORY;
    for (int64_t x = first; status == DONE && x < last; x++)
        for (int64_t i = 0; i < l->n_targets; i++) {
            const int64_t *start = c->start + (x - first) * l->n_targets + i;
            int64_t near = 0, all = 0, n_near = 0, n_all = 0, e = start[0];
            w.kept[i] = c->far[e]; /* ascending: the first is the nearest */
            for (; e < start[1] && c->far[e] == w.kept[i]; e++)
                near += c->votes[e], n_near = vote(&w, n_near, c->place[e], c->votes[e]);
            count_votes(&w, n_near);
            answer_nearest(&w, a, l, out, i, x, n_near, near);
            if (e < start[1]) {
                for (e = start[0]; e < start[1]; e++)
                    all += c->votes[e], n_all = vote(&w, n_all, c->place[e], c->votes[e]);
                count_votes(&w, n_all);
            } else {
                n_all = n_near, all = near;
            }
            answer_vote(&w, a, l, out, i, x, n_all, all);
        }
    free_walk(&w);
    return status;
}
