/* Lists of the nearest rows of some queries, merged with those of a further part of the reference. */

#include "divulge.h"

typedef struct {
    double *far;     /* (n, k), ascending; infinite where there are fewer */
    int64_t *row;    /* (n, k), ascending at equal distances; -1 where there are fewer */
    int64_t *n_last; /* (n,): rows at the last distance, listed or not */
} lists_t;

INLINE int64_t at_distance(const double *far, const int64_t *row, const int64_t *times, int64_t k, double last) {
    int64_t n = 0;
    for (int64_t j = k - 1; j >= 0 && far[j] >= last; j--)
        if (far[j] == last && row[j] >= 0) n += times ? times[row[j]] : 1;
    return n;
}

INLINE int64_t all_at(
    const double *far, const int64_t *row, const int64_t *times, int64_t n_last, int64_t k, double last) {
    return far[k - 1] == last ? n_last : at_distance(far, row, times, k, last);
}

/* Put the rows of `more` among those of `kept`: its list i, for the query which[i] of `kept`, i from first to last - 1.
 * times: for how many rows each row stands; NULL for one each. */
EXPORT int KERNEL(merge_near)(
    const lists_t *kept, const lists_t *more, const int64_t *which, const int64_t *times, int64_t k, int64_t first,
    int64_t last) {
    double *far = room(k, sizeof *far);
    int64_t *row = room(k, sizeof *row);
    int enough = far && row;
    for (int64_t i = first; enough && i < last; i++) {
        double *a = kept->far + which[i] * k;
        const double *b = more->far + i * k;
        int64_t *a_row = kept->row + which[i] * k;
        const int64_t *b_row = more->row + i * k;
        if (b_row[0] < 0 || b[0] > a[k - 1]) continue;
        for (int64_t j = 0, x = 0, y = 0; j < k; j++) {
            int own = b_row[y] < 0 || a[x] < b[y] || (a[x] == b[y] && a_row[x] < b_row[y]);
            far[j] = own ? a[x] : b[y];
            row[j] = own ? a_row[x++] : b_row[y++];
        }
        double end = far[k - 1];
        int64_t n = isfinite(end) ? all_at(a, a_row, times, kept->n_last[which[i]], k, end) +
                                        all_at(b, b_row, times, more->n_last[i], k, end)
                                  : 0;
        memcpy(a, far, (size_t)k * sizeof *a);
        memcpy(a_row, row, (size_t)k * sizeof *a_row);
        kept->n_last[which[i]] = n;
    }
    free(far);
    free(row);
    return enough ? DONE : NO_MEMORY;
}
