/* Sums of the absolute sums of cells over the blocks that have a label, for many labellings, unit by unit.
 *
 * Blocks are taken in groups of six. Each of the 64 subsets of a group has its sum in a table, so that a labelling adds
 * one entry a group. Sums are of whole numbers: no order changes a digit. */

#include "divulge.h"

typedef struct {
    const void *cells; /* (n_blocks, n_cells), int32 or int64 */
    int64_t n_blocks, n_cells, cell_bytes;
    const uint8_t *subset; /* (n_labellings, n_groups): which blocks of each group have the label, a bit a block */
    int64_t n_labellings, n_groups;
    const int64_t *start; /* (n_units + 1,): first cell of each unit, and the number of all cells */
    int64_t *sums;        /* (n_units, n_labellings) */
} relabelled_t;

#define GROUP 6
#define SUBSETS (1 << GROUP)
#define ALIGNED 64

#define RELABELLED(NAME, WHOLE, VECTOR_OF, LANES)                                                                      \
    static void NAME##_subsets(const relabelled_t *task, int64_t from, int64_t width, VECTOR_OF *table) {              \
        for (int64_t g = 0; g < task->n_groups; g++, table += SUBSETS) {                                               \
            table[0] = (VECTOR_OF){0};                                                                                 \
            for (int64_t i = 0; i < GROUP; i++) {                                                                      \
                WHOLE lane[LANES] = {0};                                                                               \
                int64_t block = g * GROUP + i;                                                                         \
                if (block < task->n_blocks)                                                                            \
                    memcpy(lane, (const WHOLE *)task->cells + block * task->n_cells + from, width * sizeof *lane);     \
                VECTOR_OF own = LOAD(VECTOR_OF, lane);                                                                 \
                for (int64_t s = 0; s < INT64_C(1) << i; s++)                                                          \
                    table[(INT64_C(1) << i) + s] = table[s] + own;                                                     \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static void NAME(const relabelled_t *task, int64_t unit, VECTOR_OF *table, VECTOR_OF *sums) {                      \
        int64_t end = task->start[unit + 1], n = task->n_labellings, groups = task->n_groups;                          \
        memset(sums, 0, n * sizeof *sums);                                                                             \
        for (int64_t from = task->start[unit]; from < end; from += LANES) {                                            \
            NAME##_subsets(task, from, end - from < LANES ? end - from : LANES, table);                                \
            for (int64_t d = 0; d < n; d++) {                                                                          \
                const uint8_t *subset = task->subset + d * groups;                                                     \
                VECTOR_OF sum = table[subset[0]];                                                                      \
                for (int64_t g = 1; g < groups; g++)                                                                   \
                    sum += table[g * SUBSETS + subset[g]];                                                             \
                VECTOR_OF below = (VECTOR_OF)(sum < 0);                                                                \
                sums[d] += (sum ^ below) - below;                                                                      \
            }                                                                                                          \
        }                                                                                                              \
        for (int64_t d = 0; d < n; d++) {                                                                              \
            int64_t sum = 0;                                                                                           \
            for (int i = 0; i < LANES; i++)                                                                            \
                sum += sums[d][i];                                                                                     \
            task->sums[unit * n + d] = sum;                                                                            \
        }                                                                                                              \
    }

RELABELLED(relabelled_32, int32_t, vi32, LANES32)
RELABELLED(relabelled_64, int64_t, vi64, LANES64)

/* Fill the sums of the units first to last - 1. */
EXPORT int KERNEL(relabelled)(const relabelled_t *task, int64_t first, int64_t last) {
    int64_t table_bytes = task->n_groups * SUBSETS * WIDE;
    char *room_of_both = room(table_bytes + task->n_labellings * WIDE + ALIGNED, 1);
    if (!room_of_both)
        return NO_MEMORY;
    char *table = room_of_both + (ALIGNED - (uintptr_t)room_of_both % ALIGNED) % ALIGNED, *sums = table + table_bytes;
    for (int64_t u = first; u < last; u++)
        if (task->cell_bytes == 4)
            relabelled_32(task, u, (vi32 *)table, (vi32 *)sums);
        else
            relabelled_64(task, u, (vi64 *)table, (vi64 *)sums);
    free(room_of_both);
    return DONE;
}
