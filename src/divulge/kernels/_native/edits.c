/* Edit (Levenshtein) distances of short texts, and for rows of texts the smallest sum of them over columns.
 *
 * Myers' bit vectors: a text of at most 64 letters is compared with another one, letter by letter of that one. Columns of
 * few texts are looked up, some columns by one number; those of many texts are compared for some rows
 * at a time, as long as the sum of one of them is below the smallest one. */

#include "divulge.h"

typedef struct {
    const int32_t *letters; /* of all texts, each column's numbered from the first one of the column */
    const int64_t *start;   /* (n_texts + 1,): where each text begins */
    const int64_t *alphabet; /* (n_columns + 1,): the first letter of each column among all alphabets */
    const int64_t *first;   /* (n_columns + 1,): the first text of each column */
    int64_t n_columns;
    const int32_t *queries; /* (n_queries, n_columns): a text of each column */
    int64_t n_queries;
    const int64_t *of_group; /* (n_groups + 1,): the first of each group's columns among `grouped` */
    const int64_t *grouped;  /* columns of groups, one after the other */
    const int64_t *size;     /* (n_groups,): how many different combinations of texts each group has */
    const int32_t *joint;    /* of each grouped column: its text in each combination, one column after the other */
    int64_t n_groups;
    const int32_t *combination; /* (n_groups, n_rows) */
    const int64_t *wide;        /* (n_wide,): columns that are in no group */
    int64_t n_wide;
    const int64_t *plane;     /* (n_wide + 1,): the first of each such column's planes */
    const uint16_t *planes;   /* (n_planes, n_rows): the first letters of the rows' texts, the second ones, ...; 1 is the
                                 first letter of the alphabet, and 0 is none */
    const uint8_t *lengths;   /* (n_wide, n_rows) */
    int64_t n_rows;
    const int64_t *unit;      /* (n_rows,): rows of the query's unit are passed over; or NULL */
    const int64_t *of_query;  /* (n_queries,): the unit of each query; or NULL */
    int32_t *smallest;        /* (n_queries,): the smallest sum, no larger than what stands there */
    const volatile int32_t *stop;
} edits_t;

#define TOGETHER 8 /* texts compared with one at a time */
#define CHUNK 1024 /* rows whose sums are made at a time */
#define LANES 32   /* rows whose texts are compared at a time */
#define TABLE 64   /* letters of an alphabet whose places lie together, and one for none */
#define FAR (INT32_MAX / 2) /* the sum of a row that is passed over */

INLINE int64_t length_of(const edits_t *task, int64_t text) { return task->start[text + 1] - task->start[text]; }

/* Mark where the letters of a text stand in it, or with 0 take the marks away. */
static void mark(const edits_t *task, int64_t text, uint64_t *places, int set) {
    const int32_t *letters = task->letters + task->start[text];
    int64_t n = length_of(task, text);
    for (int64_t i = 0; i < n; i++)
        places[letters[i]] = set ? places[letters[i]] | (UINT64_C(1) << i) : 0;
}

/* Distances of a text of `m` letters, whose places are marked, to so many others, at most TOGETHER. */
static void distances(
    const edits_t *task, const uint64_t *places, int64_t m, const int32_t *others, int n, int32_t *out) {
    uint64_t up[TOGETHER], down[TOGETHER], last = m ? UINT64_C(1) << (m - 1) : 0;
    const int32_t *letters[TOGETHER];
    int32_t length[TOGETHER], longest = 0, shortest = INT32_MAX;
    for (int k = 0; k < TOGETHER; k++) {
        int64_t text = others[k < n ? k : 0];
        letters[k] = task->letters + task->start[text];
        length[k] = (int32_t)length_of(task, text);
        longest = length[k] > longest ? length[k] : longest;
        shortest = length[k] < shortest ? length[k] : shortest;
        up[k] = ~UINT64_C(0), down[k] = 0;
        out[k] = m ? (int32_t)m : length[k];
    }
    for (int32_t j = 0; m && j < longest; j++) {
        uint64_t equal[TOGETHER];
        for (int k = 0; k < TOGETHER; k++)
            equal[k] = j < length[k] ? places[letters[k][j]] : 0;
        int32_t goes[TOGETHER];
        for (int k = 0; k < TOGETHER; k++) {
            uint64_t x = equal[k] | down[k];
            uint64_t d = (((equal[k] & up[k]) + up[k]) ^ up[k]) | equal[k];
            uint64_t h = down[k] | ~(d | up[k]), l = up[k] & d;
            goes[k] = (int32_t)((h & last) != 0) - (int32_t)((l & last) != 0);
            h = (h << 1) | 1, l <<= 1;
            up[k] = l | ~(x | h);
            down[k] = h & x;
        }
        if (j < shortest)
            for (int k = 0; k < TOGETHER; k++)
                out[k] += goes[k];
        else
            for (int k = 0; k < TOGETHER; k++)
                out[k] += j < length[k] ? goes[k] : 0;
    }
}

/* For each combination of a group the sum of the distances of its texts to the query's. */
static void sums_of_groups(
    const edits_t *task, const int32_t *query, uint64_t *places, int32_t *of_text, int32_t *sums) {
    const int32_t *joint = task->joint;
    for (int64_t g = 0; g < task->n_groups; g++) {
        int64_t size = task->size[g];
        memset(sums, 0, size * sizeof *sums);
        for (int64_t c = task->of_group[g]; c < task->of_group[g + 1]; c++, joint += size) {
            int64_t column = task->grouped[c], from = task->first[column], n = task->first[column + 1] - from;
            uint64_t *own = places + task->alphabet[column];
            mark(task, query[column], own, 1);
            for (int64_t t = 0; t < n; t += TOGETHER) {
                int32_t others[TOGETHER];
                int some = n - t < TOGETHER ? (int)(n - t) : TOGETHER;
                for (int k = 0; k < some; k++)
                    others[k] = (int32_t)(from + t + k);
                distances(task, own, length_of(task, query[column]), others, some, of_text + t);
            }
            mark(task, query[column], own, 0);
            for (int64_t u = 0; u < size; u++)
                sums[u] += of_text[joint[u]];
        }
        sums += size;
    }
}

/* Add the distances of a text of `m` letters to those of LANES rows; `places` are those of its letters, from letter 1. */
#define ADD_DISTANCES(TYPE)                                                                                           \
    static void add_##TYPE(                                                                                           \
        const uint64_t *places, int64_t n_letters, int64_t m, const uint16_t *planes, int64_t n_rows,                 \
        const uint8_t *length, int64_t longest, int32_t *sum) {                                                       \
        TYPE table[TABLE], up[LANES], down[LANES], far[LANES], last = (TYPE)((TYPE)1 << (m - 1));                     \
        int small = n_letters < TABLE;                                                                                \
        table[0] = 0;                                                                                                 \
        for (int64_t i = 0; small && i < n_letters; i++)                                                              \
            table[i + 1] = (TYPE)places[i];                                                                           \
        for (int k = 0; k < LANES; k++)                                                                               \
            up[k] = (TYPE)~(TYPE)0, down[k] = 0, far[k] = (TYPE)m;                                                    \
        for (int64_t j = 0; j < longest; j++, planes += n_rows) {                                                     \
            TYPE equal[LANES];                                                                                        \
            if (small)                                                                                                \
                for (int k = 0; k < LANES; k++)                                                                       \
                    equal[k] = table[planes[k]];                                                                      \
            else                                                                                                      \
                for (int k = 0; k < LANES; k++)                                                                       \
                    equal[k] = planes[k] ? (TYPE)places[planes[k] - 1] : 0;                                           \
            for (int k = 0; k < LANES; k++) {                                                                         \
                TYPE x = equal[k] | down[k];                                                                          \
                TYPE d = (TYPE)(((TYPE)((equal[k] & up[k]) + up[k]) ^ up[k]) | equal[k]);                             \
                TYPE h = (TYPE)(down[k] | (TYPE)~(d | up[k])), l = up[k] & d;                                         \
                TYPE there = (TYPE)(0 - (TYPE)(length[k] > j));                                                       \
                TYPE more = (TYPE)((TYPE)(h & last) != 0), less = (TYPE)((TYPE)(l & last) != 0);                      \
                far[k] = (TYPE)(far[k] + ((TYPE)(more - less) & there));                                              \
                h = (TYPE)((TYPE)(h + h) | 1), l = (TYPE)(l + l);                                                     \
                up[k] = (TYPE)(l | (TYPE)~(x | h));                                                                   \
                down[k] = h & x;                                                                                      \
            }                                                                                                         \
        }                                                                                                             \
        for (int k = 0; k < LANES; k++)                                                                               \
            sum[k] += (int32_t)far[k];                                                                                \
    }
ADD_DISTANCES(uint8_t)
ADD_DISTANCES(uint16_t)
ADD_DISTANCES(uint32_t)
ADD_DISTANCES(uint64_t)

/* Add the distances of the query's text in a column to those of LANES rows, from row `from` on. */
static void add_distances(
    const edits_t *task, const int32_t *query, int64_t w, int64_t from, const uint64_t *places, int32_t *sum) {
    int64_t column = task->wide[w], m = length_of(task, query[column]);
    const uint8_t *length = task->lengths + w * task->n_rows + from;
    const uint64_t *own = places + task->alphabet[column];
    int64_t n_letters = task->alphabet[column + 1] - task->alphabet[column], longest = 0;
    for (int k = 0; k < LANES; k++)
        longest = length[k] > longest ? length[k] : longest;
    const uint16_t *planes = task->planes + task->plane[w] * task->n_rows + from;
    if (m == 0)
        for (int k = 0; k < LANES; k++)
            sum[k] += length[k];
    else if (m <= 8)
        add_uint8_t(own, n_letters, m, planes, task->n_rows, length, longest, sum);
    else if (m <= 16)
        add_uint16_t(own, n_letters, m, planes, task->n_rows, length, longest, sum);
    else if (m <= 32)
        add_uint32_t(own, n_letters, m, planes, task->n_rows, length, longest, sum);
    else
        add_uint64_t(own, n_letters, m, planes, task->n_rows, length, longest, sum);
}

/* Make the sums of some rows, and return the smallest one, or what was the smallest. The number of rows is a multiple of
 * LANES. */
static int32_t smallest_of(
    const edits_t *task, const int32_t *query, int64_t unit, int64_t from, int64_t n, const int32_t *of_groups,
    const uint64_t *places, int32_t smallest) {
    int32_t sum[CHUNK];
    memset(sum, 0, sizeof sum);
    const int32_t *sums = of_groups;
    for (int64_t g = 0; g < task->n_groups; g++) {
        const int32_t *combination = task->combination + g * task->n_rows + from;
        for (int64_t i = 0; i < n; i++)
            sum[i] += sums[combination[i]];
        sums += task->size[g];
    }
    for (int64_t i = 0; task->unit && i < n; i++)
        sum[i] = task->unit[from + i] == unit ? FAR : sum[i];
    for (int64_t a = 0; a < n; a += LANES) {
        int32_t least = FAR;
        for (int64_t w = 0; w <= task->n_wide; w++) {
            least = FAR;
            for (int k = 0; k < LANES; k++)
                least = sum[a + k] < least ? sum[a + k] : least;
            if (least >= smallest || w == task->n_wide)
                break;
            add_distances(task, query, w, from + a, places, sum + a);
        }
        smallest = least < smallest ? least : smallest;
    }
    return smallest;
}

EXPORT int KERNEL(nearest_edits)(const edits_t *task) {
    int64_t widest = 0, sizes = 0;
    for (int64_t c = 0; c < task->n_columns; c++)
        widest = task->first[c + 1] - task->first[c] > widest ? task->first[c + 1] - task->first[c] : widest;
    for (int64_t g = 0; g < task->n_groups; g++)
        sizes += task->size[g];
    uint64_t *places = zeroed(task->alphabet[task->n_columns] + 1, sizeof *places);
    int32_t *of_text = room(widest + TOGETHER, sizeof *of_text), *sums = room(sizes, sizeof *sums);
    int status = places && of_text && sums ? DONE : NO_MEMORY;
    for (int64_t q = 0; status == DONE && q < task->n_queries; q++) {
        const int32_t *query = task->queries + q * task->n_columns;
        sums_of_groups(task, query, places, of_text, sums);
        for (int64_t w = 0; w < task->n_wide; w++)
            mark(task, query[task->wide[w]], places + task->alphabet[task->wide[w]], 1);
        for (int64_t from = 0; from < task->n_rows; from += CHUNK) {
            int64_t n = task->n_rows - from < CHUNK ? task->n_rows - from : CHUNK;
            int64_t unit = task->of_query ? task->of_query[q] : -1;
            task->smallest[q] = smallest_of(task, query, unit, from, n, sums, places, task->smallest[q]);
        }
        for (int64_t w = 0; w < task->n_wide; w++)
            mark(task, query[task->wide[w]], places + task->alphabet[task->wide[w]], 0);
        if (asked_to_stop(task->stop))
            status = STOPPED;
    }
    free(places), free(of_text), free(sums);
    return status;
}
