/* Sums and squares of sequences of numbers, each added from its first row to its last. */

#include "divulge.h"

/* Totals with the compensation of Kahan, as pandas adds within groups. */
EXPORT int KERNEL(sums_in_turn)(
    const double *values, const int64_t *start, int64_t n, double *total, double *compensation) {
    for (int64_t s = 0; s < n; s++) {
        double t = 0.0, c = 0.0;
        for (int64_t r = start[s]; r < start[s + 1]; r++) {
            double y = values[r] - c, after = t + y;
            c = after - t - y;
            if (c != c)
                c = 0.0;
            t = after;
        }
        total[s] = t, compensation[s] = c;
    }
    return DONE;
}

/* Means and sums of squared differences from them, as Welford adds them. */
EXPORT int KERNEL(squares_in_turn)(
    const double *values, const int64_t *start, int64_t n, double *mean, double *squares) {
    for (int64_t s = 0; s < n; s++) {
        double m = 0.0, q = 0.0;
        for (int64_t r = start[s]; r < start[s + 1]; r++) {
            double after = m + (values[r] - m) / (double)(r - start[s] + 1);
            q += (values[r] - after) * (values[r] - m);
            m = after;
        }
        mean[s] = m, squares[s] = q;
    }
    return DONE;
}
