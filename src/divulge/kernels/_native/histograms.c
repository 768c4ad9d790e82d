/* Histograms of columns and of pairs of columns, per block of rows, in one pass over the rows of each. */

#include "divulge.h"

typedef struct {
    const void *rows; /* (n_columns, n) */
    int64_t n, code_bytes;
    const int64_t *first, *second; /* (n_units,): columns of each unit; the second is -1 where there is none */
    const int64_t *width;          /* (n_units,): codes of the second column */
    const int64_t *start;          /* (n_units + 1,): first cell of each unit */
    const int32_t *block;          /* (n,), or NULL where `ends` says it or there is one block */
    const int64_t *ends;           /* (n_blocks,): where rows are in order of blocks, the row after each; or NULL */
    int64_t n_blocks, n_cells;
    int64_t *counts; /* (n_blocks, n_cells) */
} histograms_t;

#define CELLS_OF_PARTS 4096 /* cells of which four counts stay in the processor's fastest cache */

#define ROWS_AT_ONCE 2048
#define PART_ROWS (INT64_C(1) << 32) /* a count of a part cannot overflow: it gets a quarter of these rows */

/* Add the counts of the four parts, and forget them. */
static void add_parts(uint32_t *parts, int64_t cells, int64_t *counts) {
    uint32_t *p = parts, *q = p + CELLS_OF_PARTS, *s = q + CELLS_OF_PARTS, *t = s + CELLS_OF_PARTS;
    for (int64_t c = 0; c < cells; c++) {
        counts[c] += (int64_t)p[c] + q[c] + s[c] + t[c];
        p[c] = q[c] = s[c] = t[c] = 0;
    }
}

/* Rows next to each other often have one cell, and each addition would wait for the one before: so every fourth row has
 * counts of its own. The cells of some rows are computed together, as vectors. */
#define HISTOGRAMS(NAME, CODE)                                                                                         \
    static void NAME##_in_parts(                                                                                       \
        const CODE *restrict a, const CODE *restrict b, uint32_t width, int64_t n, uint32_t *restrict parts) {         \
        uint32_t *p = parts, *q = p + CELLS_OF_PARTS, *s = q + CELLS_OF_PARTS, *t = s + CELLS_OF_PARTS;                \
        uint16_t cell[ROWS_AT_ONCE];                                                                                   \
        for (int64_t from = 0; from < n; from += ROWS_AT_ONCE) {                                                       \
            int64_t r = 0, size = n - from < ROWS_AT_ONCE ? n - from : ROWS_AT_ONCE;                                   \
            for (int64_t i = 0; i < size; i++)                                                                         \
                cell[i] = (uint16_t)((uint32_t)a[from + i] * width + (uint32_t)b[from + i]);                           \
            for (; r + 4 <= size; r += 4)                                                                              \
                p[cell[r]]++, q[cell[r + 1]]++, s[cell[r + 2]]++, t[cell[r + 3]]++;                                    \
            for (; r < size; r++)                                                                                      \
                p[cell[r]]++;                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static void NAME##_rows(                                                                                           \
        const CODE *a, const CODE *b, int64_t width, int64_t cells, int64_t n, int64_t *counts, uint32_t *parts) {     \
        if (!b)                                                                                                        \
            for (int64_t r = 0; r < n; r++)                                                                            \
                counts[a[r]]++;                                                                                        \
        else if (cells > CELLS_OF_PARTS || 4 * cells > n)                                                              \
            for (int64_t r = 0; r < n; r++)                                                                            \
                counts[a[r] * width + b[r]]++;                                                                         \
        else                                                                                                           \
            for (int64_t from = 0; from < n; from += PART_ROWS) {                                                      \
                int64_t size = n - from < PART_ROWS ? n - from : PART_ROWS;                                            \
                NAME##_in_parts(a + from, b + from, (uint32_t)width, size, parts);                                     \
                add_parts(parts, cells, counts);                                                                       \
            }                                                                                                          \
    }                                                                                                                  \
                                                                                                                       \
    static void NAME(const histograms_t *task, int64_t first, int64_t last, uint32_t *parts) {                         \
        int64_t n = task->n;                                                                                           \
        for (int64_t u = first; u < last; u++) {                                                                       \
            const CODE *a = (const CODE *)task->rows + task->first[u] * n;                                             \
            const CODE *b = task->second[u] < 0 ? NULL : (const CODE *)task->rows + task->second[u] * n;               \
            int64_t *counts = task->counts + task->start[u], width = task->width[u];                                   \
            int64_t cells = task->start[u + 1] - task->start[u];                                                       \
            if (task->ends)                                                                                            \
                for (int64_t k = 0, from = 0; k < task->n_blocks; from = task->ends[k++])                              \
                    NAME##_rows(                                                                                       \
                        a + from, b ? b + from : NULL, width, cells, task->ends[k] - from,                             \
                        counts + k * task->n_cells, parts);                                                            \
            else if (task->block && b)                                                                                 \
                for (int64_t r = 0; r < n; r++)                                                                        \
                    counts[task->block[r] * task->n_cells + a[r] * width + b[r]]++;                                    \
            else if (task->block)                                                                                      \
                for (int64_t r = 0; r < n; r++)                                                                        \
                    counts[task->block[r] * task->n_cells + a[r]]++;                                                   \
            else                                                                                                       \
                NAME##_rows(a, b, width, cells, n, counts, parts);                                                     \
        }                                                                                                              \
    }

HISTOGRAMS(histograms_8, uint8_t)
HISTOGRAMS(histograms_16, uint16_t)
HISTOGRAMS(histograms_32, int32_t)

/* Add all rows to the counts of the units first to last - 1. */
EXPORT int KERNEL(histograms)(const histograms_t *task, int64_t first, int64_t last) {
    uint32_t *parts = zeroed(4 * CELLS_OF_PARTS, sizeof *parts);
    if (!parts)
        return NO_MEMORY;
    if (task->code_bytes == 1)
        histograms_8(task, first, last, parts);
    else if (task->code_bytes == 2)
        histograms_16(task, first, last, parts);
    else
        histograms_32(task, first, last, parts);
    free(parts);
    return DONE;
}
