/* Log ratios of how often a person's values on small sets of columns occur among synthetic rows and other people.
 *
 * The rows of a set's cells are counted in an array, or in a hash table where the cells are too many. */

#include "divulge.h"

typedef struct {
    const int32_t *people;    /* (n_columns, n) */
    const uint8_t *synthetic; /* (n_columns, m), codes of `wide` bytes: 1 or 2 without a sign, or int32 */
    int64_t n, m, wide;
    const int64_t *sizes; /* (n_columns,) */
    const int64_t *sets;  /* (n_sets, set_width) */
    int64_t n_sets, set_width;
    const int64_t *order; /* (n,): people by unit */
    const int64_t *start; /* (n_units + 1,) */
    int64_t n_units;
    const double *logs;
    int64_t rare_at, direct;
    double *total, *rare; /* (n,) */
} margins_t;

#define BLOCK_ROWS 1024

typedef struct {
    uint32_t *people, *synthetic; /* counts of each cell, or of each slot of the hash table */
    int64_t *cell;                /* cell of each person */
    int64_t *key;                 /* of each slot: the key, or -1 */
    int64_t *row;                 /* of each slot: the first row with the key; only where keys may wrap around */
    int64_t slots, limit;
} margin_cells_t;

INLINE uint32_t code_at(const void *codes, int64_t wide, int64_t i) {
    if (wide == 1)
        return ((const uint8_t *)codes)[i];
    return wide == 2 ? ((const uint16_t *)codes)[i] : (uint32_t)((const int32_t *)codes)[i];
}

INLINE uint32_t code_of_row(const margins_t *task, int64_t column, int64_t row) {
    if (row < task->n)
        return (uint32_t)task->people[column * task->n + row];
    return code_at(task->synthetic, task->wide, column * task->m + row - task->n);
}

/* Whether two rows have the same values on a set; rows from n on are synthetic. */
static int same_values(const margins_t *task, const int64_t *set, int64_t one, int64_t other) {
    for (int64_t c = 0; c < task->set_width; c++)
        if (code_of_row(task, set[c], one) != code_of_row(task, set[c], other))
            return 0;
    return 1;
}

INLINE int64_t slot_of_key(
    const margins_t *task, const margin_cells_t *cells, const int64_t *set, int64_t key, int64_t row, int wraps) {
    uint64_t x = (uint64_t)(key ^ (key >> 29)) * UINT64_C(0x5851F42D4C957F2D);
    int64_t place = (int64_t)((x ^ (x >> 32)) & (uint64_t)(cells->slots - 1));
    while (cells->key[place] != -1 &&
           (cells->key[place] != key || (wraps && !same_values(task, set, cells->row[place], row))))
        place = (place + 1) & (cells->slots - 1);
    cells->key[place] = key;
    if (wraps)
        cells->row[place] = row;
    return place;
}

static void count_hashed(
    const margins_t *task, margin_cells_t *cells, const int64_t *set, int wraps, const void *codes, int64_t wide,
    int64_t n_rows, int64_t first_row, uint32_t *counts, int64_t *cell) {
    for (int64_t i = 0; i < n_rows; i++) {
        uint64_t key = 0;
        for (int64_t c = 0; c < task->set_width; c++)
            key = key * (uint64_t)task->sizes[set[c]] + code_at(codes, wide, set[c] * n_rows + i);
        int64_t place = slot_of_key(task, cells, set, (int64_t)(key & INT64_MAX), first_row + i, wraps);
        counts[place]++;
        if (cell)
            cell[i] = place;
    }
}

#define ADD_CODES(TYPE)                                                                                               \
    for (int64_t i = 0; i < size; i++)                                                                                \
        key[i] = key[i] * width + (uint32_t)((const TYPE *)codes)[column + i]

static void count_directly(
    const margins_t *task, const int64_t *set, const void *codes, int64_t wide, int64_t n_rows, uint32_t *counts,
    int64_t *cell) {
    uint32_t key[BLOCK_ROWS];
    for (int64_t from = 0; from < n_rows; from += BLOCK_ROWS) {
        int64_t size = n_rows - from < BLOCK_ROWS ? n_rows - from : BLOCK_ROWS;
        memset(key, 0, sizeof key);
        for (int64_t c = 0; c < task->set_width; c++) {
            int64_t column = set[c] * n_rows + from;
            uint32_t width = (uint32_t)task->sizes[set[c]];
            if (wide == 1)
                ADD_CODES(uint8_t);
            else if (wide == 2)
                ADD_CODES(uint16_t);
            else
                ADD_CODES(int32_t);
        }
        for (int64_t i = 0; i < size; i++)
            counts[key[i]]++;
        for (int64_t i = 0; cell && i < size; i++)
            cell[from + i] = key[i];
    }
}

/* Add the log ratios of one set; the rows of a person's unit leave the counts while the unit is looked at. */
static void add_ratios(const margins_t *task, const margin_cells_t *cells) {
    const double *logs = task->logs, of_synthetic = logs[task->m];
    for (int64_t u = 0; u < task->n_units; u++) {
        int64_t low = task->start[u], high = task->start[u + 1];
        double others = logs[task->n - (high - low)];
        for (int64_t j = low; high - low > 1 && j < high; j++)
            cells->people[cells->cell[task->order[j]]]--;
        for (int64_t j = low; j < high; j++) {
            int64_t i = task->order[j], w = (int64_t)cells->people[cells->cell[i]] - (high - low == 1);
            double ratio = (logs[cells->synthetic[cells->cell[i]]] - of_synthetic) - (logs[w] - others);
            task->total[i] += ratio;
            if (w <= task->rare_at)
                task->rare[i] += ratio;
        }
        for (int64_t j = low; high - low > 1 && j < high; j++)
            cells->people[cells->cell[task->order[j]]]++;
    }
}

/* Number of cells of a set, or -1 where they are more than the limit; `wraps` where the keys need more than 62 bits. */
static int64_t n_cells_of(const margins_t *task, const int64_t *set, int64_t limit, int *wraps) {
    int64_t n = 1;
    *wraps = 0;
    for (int64_t c = 0; c < task->set_width; c++) {
        int64_t size = task->sizes[set[c]];
        if (size > 0 && n > (INT64_C(1) << 62) / size) {
            *wraps = 1;
            return -1;
        }
        n *= size;
    }
    return n <= limit && n <= UINT32_MAX ? n : -1;
}

/* Add the log ratios of the sets to `total`, and those of rare cells to `rare`. */
EXPORT int KERNEL(margins)(const margins_t *task) {
    margin_cells_t cells = {.slots = 1};
    while (cells.slots < 2 * (task->n + task->m))
        cells.slots *= 2;
    cells.limit = cells.slots > task->direct ? cells.slots : task->direct;
    cells.people = zeroed(cells.limit, sizeof *cells.people);
    cells.synthetic = zeroed(cells.limit, sizeof *cells.synthetic);
    cells.cell = room(task->n, sizeof *cells.cell);
    int has_room = (cells.people && cells.synthetic && cells.cell);
    for (int64_t q = 0; has_room && q < task->n_sets; q++) {
        const int64_t *set = task->sets + q * task->set_width;
        int wraps;
        int64_t used = n_cells_of(task, set, cells.limit, &wraps);
        if (used >= 0) {
            count_directly(task, set, task->people, 4, task->n, cells.people, cells.cell);
            count_directly(task, set, task->synthetic, task->wide, task->m, cells.synthetic, NULL);
        } else {
            used = cells.slots;
            if (!cells.key)
                cells.key = room(cells.slots, sizeof *cells.key);
            if (wraps && !cells.row)
                cells.row = room(cells.slots, sizeof *cells.row);
            if (!cells.key || (wraps && !cells.row)) {
                has_room = 0;
                break;
            }
            memset(cells.key, 0xFF, cells.slots * sizeof *cells.key);
            count_hashed(task, &cells, set, wraps, task->people, 4, task->n, 0, cells.people, cells.cell);
            count_hashed(
                task, &cells, set, wraps, task->synthetic, task->wide, task->m, task->n, cells.synthetic, NULL);
        }
        add_ratios(task, &cells);
        memset(cells.people, 0, used * sizeof *cells.people);
        memset(cells.synthetic, 0, used * sizeof *cells.synthetic);
    }
    free(cells.people), free(cells.synthetic), free(cells.cell), free(cells.key), free(cells.row);
    return has_room ? DONE : NO_MEMORY;
}
