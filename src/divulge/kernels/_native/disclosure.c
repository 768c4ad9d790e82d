/* Counts of synthetic and real rows in groups with only one target value. */

#include "divulge.h"

/* The targets of a group: none yet, several, or the only one. */
enum { NONE = -1, SEVERAL = -2 };

EXPORT int KERNEL(disclosed)(
    const int64_t *group_synthetic, int64_t m, const int64_t *group_real, int64_t n, int64_t n_groups,
    const int32_t *synthetic, const int32_t *real, int64_t n_targets, int64_t *pure, int64_t *right) {
    int32_t *only = room(n_groups, sizeof *only);
    uint32_t *size = zeroed(n_groups, sizeof *size);
    int has_room = (only && size);
    for (int64_t i = 0; has_room && i < m; i++)
        size[group_synthetic[i]]++;
    for (int64_t j = 0; has_room && j < n_targets; j++) {
        const int32_t *target = synthetic + j * m, *wanted = real + j * n;
        for (int64_t g = 0; g < n_groups; g++)
            only[g] = NONE;
        for (int64_t i = 0; i < m; i++) {
            int32_t *of = &only[group_synthetic[i]];
            if (*of != target[i])
                *of = *of == NONE ? target[i] : SEVERAL;
        }
        int64_t n_pure = 0, n_right = 0;
        for (int64_t g = 0; g < n_groups; g++)
            n_pure += only[g] >= 0 ? size[g] : 0;
        for (int64_t i = 0; i < n; i++)
            n_right += only[group_real[i]] == wanted[i];
        pure[j] = n_pure, right[j] = n_right;
    }
    free(only), free(size);
    return has_room ? DONE : NO_MEMORY;
}
