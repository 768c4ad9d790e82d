/* The probability that the nearest rows of two halves have a row in common: the loop over the near rows of one half,
 * with the place of each in the other half. */

#include "neighbours.h"

typedef struct {
    uint32_t other, n_rows; /* a distinct row of the other half, and how many rows have both */
} cell_t;

typedef struct {
    const int64_t *pair, *place, *query, *other; /* of each pair: its row of `out`, and where it stands in each half */
    const int64_t *start, *rows;                 /* listed rows of each query of the first half */
    const double *distances;
    const int64_t *cell_start;
    const cell_t *cells;
    const int64_t *near; /* (n_others, near_width) */
    int64_t near_width;
    const int64_t *few; /* (n_others,): listed rows, or -1 where not all are listed */
    int64_t searches;
    const double *places, *other_places;                     /* (n_queries, n_near) and (n_others, n_near) */
    const int64_t *sure, *tied, *other_sure, *other_tied; /* (n_queries, n_ks) and (n_others, n_ks) */
    int64_t n_near;
    const int64_t *ks;
    int64_t n_ks, swapped;
    double *out; /* (n_pairs, n_ks) */
} linkage_t;

/* The probability that two draws share a row, or draw a row that is sure in the other list: see linkage/_chance.py. */
static double chance(
    int64_t tied, int64_t taken, int64_t other_tied, int64_t other_taken, int64_t tied_sure, int64_t sure_tied,
    int64_t both_tied) {
    double missed = 1.0; /* the first draw avoids the rows that are sure in the other list */
    for (int64_t i = 0; i < taken; i++) {
        missed *= (double)(tied - tied_sure - i) / (double)(tied - i);
        if (missed <= 0.0)
            return 1.0;
    }
    int64_t rest = tied - tied_sure;
    int64_t least = taken - (rest - both_tied) > 0 ? taken - (rest - both_tied) : 0;
    int64_t most = taken < both_tied ? taken : both_tied;
    int64_t middle = ((taken + 1) * (both_tied + 1)) / (rest + 2);
    /* hypergeometric weights of the number of `both_tied` that it draws, from the likeliest number down and up */
    double total = 0.0, avoided = 0.0;
    for (int upwards = 0; upwards < 2; upwards++) {
        double weight = 1.0;
        for (int64_t j = middle; upwards ? j <= most : j >= least; j += upwards ? 1 : -1) {
            if (j != middle || upwards) {
                double avoids = weight;
                for (int64_t i = 0; i < other_taken; i++) {
                    avoids *= (double)(other_tied - sure_tied - j - i) / (double)(other_tied - i);
                    if (avoids <= 0.0) {
                        avoids = 0.0;
                        break;
                    }
                }
                total += weight;
                avoided += avoids;
            }
            if (upwards)
                weight *= (double)((both_tied - j) * (taken - j)) /
                          (double)((j + 1) * (rest - both_tied - taken + j + 1));
            else
                weight *= (double)(j * (rest - both_tied - taken + j)) /
                          (double)((both_tied - j + 1) * (taken - j + 1));
        }
    }
    return 1.0 - missed * (avoided / total);
}

/* The cell of cells[low:high], which ascend, with this row of the other half, or -1. */
static int64_t find(const cell_t *cells, int64_t low, int64_t high, int64_t wanted) {
    int64_t end = high;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (cells[middle].other < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && cells[low].other == wanted ? low : -1;
}

/* How many rows are nearer to a query than this distance: the first place of rows at the distance. */
static int64_t nearer(const double *places, int64_t width, double distance) {
    int64_t n = 0;
    while (n < width && places[n] < distance)
        n++;
    return n;
}

/* Count in met[i, j] the rows for which i rows are nearer in the half of the loop, and j in the other half; return
 * whether there are any. */
static int meet(const linkage_t *task, const exact_t *of_other, int64_t x, int64_t *met) {
    int64_t q = task->query[x], o = task->other[x], width = task->n_near, place = task->place[x];
    const double *places = task->places + q * width, *other_places = task->other_places + o * width;
    const int64_t *near = task->near + o * task->near_width;
    double limit = other_places[width - 1];
    int any = 0;
    for (int64_t e = task->start[place]; e < task->start[place + 1]; e++) {
        int64_t begin = task->cell_start[task->rows[e]], end = task->cell_start[task->rows[e] + 1], i = -1;
        int look_up = task->few[o] >= 0 && task->few[o] * task->searches < end - begin;
        int64_t n = look_up ? task->few[o] : end - begin;
        for (int64_t c = 0; c < n; c++) {
            int64_t cell = look_up ? find(task->cells, begin, end, near[c]) : begin + c;
            if (cell < 0)
                continue;
            double d = exact(of_other, o, task->cells[cell].other);
            if (d <= limit) {
                i = i < 0 ? nearer(places, width, task->distances[e]) : i;
                met[i * width + nearer(other_places, width, d)] += task->cells[cell].n_rows;
                any = 1;
            }
        }
    }
    return any;
}

/* The probability for one k, from the rows met. */
static double probability(const linkage_t *task, int64_t x, int64_t column, const int64_t *met) {
    int64_t q = task->query[x] * task->n_ks + column, o = task->other[x] * task->n_ks + column, width = task->n_near;
    int64_t n = task->sure[q], m = task->other_sure[o], k = task->ks[column];
    int64_t both_sure = 0, here = 0, there = 0;
    for (int64_t i = 0; i < n; i++) {
        here += met[i * width + m];
        for (int64_t j = 0; j < m; j++)
            both_sure += met[i * width + j];
    }
    for (int64_t j = 0; j < m; j++)
        there += met[n * width + j];
    int64_t tied = task->tied[q], other_tied = task->other_tied[o], both = met[n * width + m];
    if (both_sure > 0)
        return 1.0;
    if (task->swapped)
        return chance(other_tied, k - m, tied, k - n, here, there, both);
    return chance(tied, k - n, other_tied, k - m, there, here, both);
}

/* Fill in the probabilities of the pairs first to last - 1, in a loop over the listed rows of each pair's first half;
 * `of_other` has the values of the second half. */
EXPORT int KERNEL(linkage)(const linkage_t *task, const exact_t *of_other, int64_t first, int64_t last) {
    int64_t n_met = task->n_near * task->n_near;
    int64_t *met = zeroed(n_met, sizeof *met);
    if (!met)
        return NO_MEMORY;
    for (int64_t x = first; x < last; x++) {
        if (!meet(task, of_other, x, met))
            continue;
        for (int64_t column = 0; column < task->n_ks; column++)
            task->out[task->pair[x] * task->n_ks + column] = probability(task, x, column, met);
        memset(met, 0, n_met * sizeof *met);
    }
    free(met);
    return DONE;
}
