/* Nearest keys under the Hamming distance: pairs of keys within buckets, and all queries against all references.
 *
 * The keys of both sides are sorted by bucket; keys that agree in a block of columns share a bucket. Within a bucket
 * the pairs at the distance of the level are found in one of two ways. Either every pair is compared: the exclusive or
 * of two packed keys has bits in the columns that differ, and an addition moves them to the top bit of each column,
 * where they are counted. Or, for each choice of dropped columns, the queries are put into a hash table and the
 * references are looked up in it, so that the cost of a large bucket is linear in its keys. */

#include "divulge.h"

/* The targets that occur with each key, in one long list, and how often each does. */
typedef struct {
    const int64_t *start;          /* (n_keys + 1,) */
    const int64_t *target, *count; /* (n_cells,) */
} cells_t;

/* The keys of one side by bucket. */
typedef struct {
    const uint64_t *words; /* (n_sorted, n_words) */
    const int64_t *order;  /* (n_sorted,): number of each key */
    const int64_t *bound;  /* (n_buckets + 1,) */
    cells_t cells;
} side_t;

/* The pairs to find differ in so many columns, none of these in the block and one in each earlier block. */
typedef struct {
    side_t queries, references;
    int64_t n_words, n_differing, n_earlier, n_choices, n_targets, listing;
    const uint64_t *block;     /* (n_words,): bits of the columns of the block */
    const uint64_t *earlier;   /* (n_earlier, n_words) */
    const uint64_t *choices;   /* (n_choices, n_words): bits of the columns kept */
    const uint64_t *low;       /* (n_words,): all bits of each column but the top one */
    const uint64_t *high;      /* (n_words,): the top bit of each column */
    const uint8_t *by_pairs;   /* (n_buckets,) */
    int64_t *tally;            /* (n_queries, 5): votes, groups, listed votes, largest vote of a single group, how many */
    int64_t *of_cell;          /* (n_query_cells,) */
    int64_t *fill;             /* (n_queries,): where the next listed vote goes */
    int64_t *target, *count;   /* (n_listed,) */
} walk_t;

typedef struct {
    const void *codes; /* (n, n_columns), as wide as `columns` */
    int64_t n;
    const int64_t *query_start, *query_target;
    const void *columns; /* (n_columns, m) */
    int64_t m, n_columns, code_bytes, n_targets;
    cells_t references;
    int64_t *distance, *total, *largest, *n_largest; /* (n,) */
    int64_t *of_cell;
} pairs_t;

/* ---------------------------------------------------------------- votes of the references of one chain */

typedef struct {
    int64_t *of_target; /* votes of each target, 0 between two chains */
    int64_t *touched;   /* targets that have votes */
    int64_t n_touched, total;
} votes_t;

INLINE void add_votes(votes_t *votes, const cells_t *references, int64_t r) {
    for (int64_t e = references->start[r]; e < references->start[r + 1]; e++) {
        int64_t t = references->target[e];
        if (votes->of_target[t] == 0)
            votes->touched[votes->n_touched++] = t;
        votes->of_target[t] += references->count[e];
        votes->total += references->count[e];
    }
}

/* Find the largest vote and how many targets have it. */
INLINE void commonest_of(const votes_t *votes, int64_t *largest, int64_t *n_largest) {
    int64_t most = 0, n = 0;
    for (int64_t e = 0; e < votes->n_touched; e++) {
        int64_t v = votes->of_target[votes->touched[e]];
        if (v > most)
            most = v, n = 0;
        n += v == most;
    }
    *largest = most, *n_largest = n;
}

INLINE void forget(votes_t *votes) {
    for (int64_t e = 0; e < votes->n_touched; e++)
        votes->of_target[votes->touched[e]] = 0;
    votes->n_touched = votes->total = 0;
}

/* ---------------------------------------------------------------- buckets */

/* A chain of keys of a bucket: its head is the number of a key in the bucket plus 1, 0 ends it. */
static void gather(const side_t *references, int64_t base, uint64_t head, const uint32_t *after, votes_t *votes) {
    for (; head > 0; head = after[head - 1])
        add_votes(votes, &references->cells, references->order[base + (int64_t)head - 1]);
}

/* Give the gathered votes to each query of a chain, and forget them. */
static void give(const walk_t *task, int64_t base, uint64_t head, const uint32_t *after, votes_t *votes) {
    const side_t *queries = &task->queries;
    int64_t largest, n_largest;
    commonest_of(votes, &largest, &n_largest);
    for (; head > 0; head = after ? after[head - 1] : 0) {
        int64_t q = queries->order[base + (int64_t)head - 1];
        int64_t *tally = task->tally + 5 * q;
        tally[0] += votes->total;
        tally[1] += 1;
        tally[2] += votes->n_touched;
        tally[3] += largest;
        tally[4] += n_largest;
        for (int64_t e = queries->cells.start[q]; e < queries->cells.start[q + 1]; e++)
            task->of_cell[e] += votes->of_target[queries->cells.target[e]];
        if (task->listing) {
            int64_t at = task->fill[q];
            for (int64_t e = 0; e < votes->n_touched; e++) {
                task->target[at + e] = votes->touched[e];
                task->count[at + e] = votes->of_target[votes->touched[e]];
            }
            task->fill[q] = at + votes->n_touched;
        }
    }
    forget(votes);
}

/* Chain the references of a bucket whose distance from the query is that of the level; return the head. */
INLINE uint64_t ties_of(
    const walk_t *task, int64_t n_words, const uint64_t *query, int64_t first, int64_t last, uint32_t *after) {
    uint64_t head = 0;
    for (int64_t r = first; r < last; r++) {
        const uint64_t *words = task->references.words + r * n_words;
        int64_t n = 0;
        uint64_t apart = 0;
        for (int64_t w = 0; w < n_words; w++) {
            uint64_t d = query[w] ^ words[w];
            apart |= d & task->block[w];
            n += __builtin_popcountll((((d & task->low[w]) + task->low[w]) | d) & task->high[w]);
        }
        if (n != task->n_differing || apart != 0)
            continue;
        int own = 1;
        for (int64_t k = 0; k < task->n_earlier; k++) {
            apart = 0;
            for (int64_t w = 0; w < n_words; w++)
                apart |= (query[w] ^ words[w]) & task->earlier[k * n_words + w];
            own &= apart != 0;
        }
        if (own) {
            after[r - first] = (uint32_t)head;
            head = (uint64_t)(r - first) + 1;
        }
    }
    return head;
}

static uint64_t ties(const walk_t *task, const uint64_t *query, int64_t first, int64_t last, uint32_t *after) {
    if (task->n_words == 1)
        return ties_of(task, 1, query, first, last, after);
    if (task->n_words == 2)
        return ties_of(task, 2, query, first, last, after);
    return ties_of(task, task->n_words, query, first, last, after);
}

/* The hash of the kept columns of a key; the hash of one word is invertible, so different words differ. */
INLINE uint64_t hash_of(const uint64_t *words, const uint64_t *kept, int64_t n_words) {
    uint64_t x = 0;
    for (int64_t w = 0; w < n_words; w++) {
        x ^= words[w] & kept[w];
        x = (x ^ (x >> 32)) * UINT64_C(0xD6E8FEB86659FD93);
        x = (x ^ (x >> 32)) * UINT64_C(0xD6E8FEB86659FD93);
    }
    return x;
}

INLINE int same(const uint64_t *one, const uint64_t *other, const uint64_t *kept, int64_t n_words) {
    for (int64_t w = 0; w < n_words; w++)
        if ((one[w] ^ other[w]) & kept[w])
            return 0;
    return 1;
}

/* A slot of the hash table: a hash, and the last key of either side that has it, plus 1. */
typedef struct {
    uint64_t hash;
    uint32_t query, reference;
} slot_t;

/* Find the slot of a key, or the free one where it belongs. */
INLINE uint64_t slot_of(
    const slot_t *table, uint64_t x, int bits, const uint64_t *words, const uint64_t *queries, const uint64_t *kept,
    int64_t n_words) {
    uint64_t slot = x >> (64 - bits), last = (UINT64_C(1) << bits) - 1;
    while (table[slot].query != 0) {
        if (table[slot].hash == x &&
            (n_words == 1 || same(words, queries + (int64_t)(table[slot].query - 1) * n_words, kept, n_words)))
            break;
        slot = (slot + 1) & last;
    }
    return slot;
}

static int bits_of(int64_t n_keys) {
    int bits = 3;
    while ((INT64_C(1) << bits) < 2 * n_keys)
        bits++;
    return bits;
}

/* Chain the keys of a bucket that agree in the kept columns; return how many slots have keys of both sides. */
static int64_t group(
    const walk_t *task, int64_t bucket, const uint64_t *kept, slot_t *table, uint32_t *after_query,
    uint32_t *after_reference, uint64_t *shared) {
    const side_t *queries = &task->queries, *references = &task->references;
    int64_t a = queries->bound[bucket], n = queries->bound[bucket + 1] - a, n_words = task->n_words;
    int64_t b = references->bound[bucket], m = references->bound[bucket + 1] - b, n_shared = 0;
    const uint64_t *asked = queries->words + a * n_words;
    int bits = bits_of(n);
    memset(table, 0, sizeof(slot_t) << bits);
    for (int64_t i = 0; i < n; i++) {
        const uint64_t *words = asked + i * n_words;
        uint64_t x = hash_of(words, kept, n_words), slot = slot_of(table, x, bits, words, asked, kept, n_words);
        after_query[i] = table[slot].query;
        table[slot].hash = x;
        table[slot].query = (uint32_t)(i + 1);
    }
    for (int64_t i = 0; i < m; i++) {
        const uint64_t *words = references->words + (b + i) * n_words;
        uint64_t slot = slot_of(table, hash_of(words, kept, n_words), bits, words, asked, kept, n_words);
        if (table[slot].query == 0)
            continue;
        if (table[slot].reference == 0)
            shared[n_shared++] = slot;
        after_reference[i] = table[slot].reference;
        table[slot].reference = (uint32_t)(i + 1);
    }
    return n_shared;
}

static void walk_bucket(
    const walk_t *task, int64_t bucket, slot_t *table, uint32_t *after_query, uint32_t *after_reference,
    uint64_t *shared, votes_t *votes) {
    int64_t a = task->queries.bound[bucket], a_end = task->queries.bound[bucket + 1];
    int64_t b = task->references.bound[bucket], b_end = task->references.bound[bucket + 1];
    if (a == a_end || b == b_end)
        return;
    if (task->by_pairs[bucket]) {
        for (int64_t q = a; q < a_end; q++) {
            uint64_t head = ties(task, task->queries.words + q * task->n_words, b, b_end, after_reference);
            if (head > 0) {
                gather(&task->references, b, head, after_reference, votes);
                give(task, q, 1, NULL, votes);
            }
        }
        return;
    }
    for (int64_t c = 0; c < task->n_choices; c++) {
        int64_t n = group(
            task, bucket, task->choices + c * task->n_words, table, after_query, after_reference, shared);
        for (int64_t s = 0; s < n; s++) {
            gather(&task->references, b, table[shared[s]].reference, after_reference, votes);
            give(task, a, table[shared[s]].query, after_query, votes);
        }
    }
}

/* Find the pairs of the level in the buckets first to last - 1, and give the votes of references to queries. */
EXPORT int KERNEL(hamming_walk)(const walk_t *task, int64_t first, int64_t last) {
    int64_t n = 0, m = 0, n_grouped = 0;
    for (int64_t bucket = first; bucket < last; bucket++) {
        int64_t of_queries = task->queries.bound[bucket + 1] - task->queries.bound[bucket];
        int64_t of_references = task->references.bound[bucket + 1] - task->references.bound[bucket];
        n = of_queries > n ? of_queries : n;
        m = of_references > m ? of_references : m;
        if (!task->by_pairs[bucket] && of_queries > n_grouped)
            n_grouped = of_queries;
    }
    votes_t votes = {0};
    uint32_t *after_query = zeroed(n, sizeof *after_query), *after_reference = zeroed(m, sizeof *after_query);
    uint64_t *shared = room(n, sizeof *shared);
    slot_t *table = room(INT64_C(1) << bits_of(n_grouped), sizeof *table);
    votes.of_target = zeroed(task->n_targets, sizeof *votes.of_target);
    votes.touched = room(task->n_targets, sizeof *votes.touched);
    int has_room = (after_query && after_reference && shared && table && votes.of_target && votes.touched);
    for (int64_t bucket = first; has_room && bucket < last; bucket++)
        walk_bucket(task, bucket, table, after_query, after_reference, shared, &votes);
    free(after_query), free(after_reference), free(shared), free(table), free(votes.of_target), free(votes.touched);
    return has_room ? DONE : NO_MEMORY;
}

/* Find the largest vote of each query, and how many targets have it, from its listed votes. */
EXPORT int KERNEL(hamming_commonest)(
    const int64_t *start, int64_t n, const int64_t *target, const int64_t *count, int64_t n_targets, int64_t *largest,
    int64_t *n_largest) {
    int64_t *votes = zeroed(n_targets, sizeof *votes);
    if (!votes)
        return NO_MEMORY;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t e = start[i]; e < start[i + 1]; e++)
            votes[target[e]] += count[e];
        for (int64_t e = start[i]; e < start[i + 1]; e++) {
            int64_t v = votes[target[e]];
            votes[target[e]] = 0; /* a target that is listed twice counts once */
            if (v > largest[i])
                largest[i] = v, n_largest[i] = 0;
            n_largest[i] += v == largest[i];
        }
    }
    free(votes);
    return DONE;
}

/* ---------------------------------------------------------------- all pairs */

#define TILE_KEYS 2048 /* keys whose distances are looked at together: they stay in the first cache */

/* In how many columns a query differs from each key of a tile. The sums of four vectors stay in registers while the
 * columns pass; a code is as wide as a sum, so that a comparison is an addend. Sums have no sign and wrap around. */
#define DIFFER(NAME, CODE, CODES)                                                                                     \
    static CODE NAME(                                                                                                 \
        const CODE *columns, int64_t m, int64_t n_columns, const CODE *query, int64_t first, int64_t size,            \
        CODE *differ) {                                                                                               \
        enum { LANES = WIDE / sizeof(CODE) };                                                                         \
        int64_t r = 0;                                                                                                \
        for (; r + 4 * LANES <= size; r += 4 * LANES) {                                                               \
            CODES p = {0}, q = {0}, s = {0}, t = {0};                                                                 \
            const CODE *column = columns + first + r;                                                                 \
            for (int64_t j = 0; j < n_columns; j++, column += m) {                                                    \
                CODES value = SPLAT(CODES, query[j]);                                                                 \
                p += (CODES)(LOAD(CODES, column) == value);                                                           \
                q += (CODES)(LOAD(CODES, column + LANES) == value);                                                   \
                s += (CODES)(LOAD(CODES, column + 2 * LANES) == value);                                               \
                t += (CODES)(LOAD(CODES, column + 3 * LANES) == value);                                               \
            }                                                                                                         \
            CODES every = SPLAT(CODES, n_columns);                                                                    \
            STORE(differ + r, p + every);                                                                             \
            STORE(differ + r + LANES, q + every);                                                                     \
            STORE(differ + r + 2 * LANES, s + every);                                                                 \
            STORE(differ + r + 3 * LANES, t + every);                                                                 \
        }                                                                                                             \
        for (int64_t rest = r; rest < size; rest++)                                                                   \
            differ[rest] = 0;                                                                                         \
        for (int64_t j = 0; r < size && j < n_columns; j++)                                                           \
            for (int64_t rest = r; rest < size; rest++)                                                               \
                differ[rest] += columns[j * m + first + rest] != query[j];                                            \
        CODE least = differ[0];                                                                                       \
        for (int64_t i = 1; i < size; i++)                                                                            \
            least = differ[i] < least ? differ[i] : least;                                                            \
        return least;                                                                                                 \
    }

/* Each query: the smallest distance of each tile; then the votes in the tiles that have the smallest of all. */
#define PAIRS(NAME, CODE)                                                                                              \
    static void NAME##_pairs(const pairs_t *task, CODE *differ, int64_t *least_of, votes_t *votes) {                   \
        int64_t m = task->m, n_columns = task->n_columns;                                                              \
        for (int64_t i = 0; i < task->n; i++) {                                                                        \
            const CODE *query = (const CODE *)task->codes + i * n_columns;                                             \
            int64_t best = n_columns;                                                                                  \
            for (int64_t k = 0, first = 0; first < m; k++, first += TILE_KEYS) {                                       \
                int64_t size = m - first < TILE_KEYS ? m - first : TILE_KEYS;                                          \
                least_of[k] = NAME(task->columns, m, n_columns, query, first, size, differ);                           \
                best = least_of[k] < best ? least_of[k] : best;                                                        \
            }                                                                                                          \
            for (int64_t k = 0, first = 0; first < m; k++, first += TILE_KEYS) {                                       \
                int64_t size = m - first < TILE_KEYS ? m - first : TILE_KEYS;                                          \
                if (least_of[k] > best)                                                                                \
                    continue;                                                                                          \
                if (m > TILE_KEYS) /* else the only tile is still there */                                             \
                    NAME(task->columns, m, n_columns, query, first, size, differ);                                     \
                for (int64_t r = 0; r < size; r++)                                                                     \
                    if (differ[r] == best)                                                                             \
                        add_votes(votes, &task->references, first + r);                                                \
            }                                                                                                          \
            answer(task, i, best, votes);                                                                              \
        }                                                                                                              \
    }

static void answer(const pairs_t *task, int64_t i, int64_t distance, votes_t *votes) {
    task->distance[i] = distance;
    task->total[i] = votes->total;
    commonest_of(votes, &task->largest[i], &task->n_largest[i]);
    for (int64_t e = task->query_start[i]; e < task->query_start[i + 1]; e++)
        task->of_cell[e] = votes->of_target[task->query_target[e]];
    forget(votes);
}

DIFFER(differ_8, uint8_t, vu8)
DIFFER(differ_16, uint16_t, vu16)
DIFFER(differ_32, int32_t, vu32)
PAIRS(differ_8, uint8_t)
PAIRS(differ_16, uint16_t)
PAIRS(differ_32, int32_t)

/* Compare each query with all references, and add up the votes of the nearest ones. */
EXPORT int KERNEL(hamming_pairs)(const pairs_t *task) {
    votes_t votes = {0};
    votes.of_target = zeroed(task->n_targets, sizeof *votes.of_target);
    votes.touched = room(task->n_targets, sizeof *votes.touched);
    int64_t *least_of = room(task->m / TILE_KEYS + 1, sizeof *least_of);
    int has_room = (votes.of_target && votes.touched && least_of);
    int32_t differ[TILE_KEYS];
    if (has_room && task->code_bytes == 1)
        differ_8_pairs(task, (uint8_t *)differ, least_of, &votes);
    else if (has_room && task->code_bytes == 2)
        differ_16_pairs(task, (uint16_t *)differ, least_of, &votes);
    else if (has_room)
        differ_32_pairs(task, differ, least_of, &votes);
    free(votes.of_target), free(votes.touched), free(least_of);
    return has_room ? DONE : NO_MEMORY;
}
