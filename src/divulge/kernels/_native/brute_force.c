/* The scan in 16 bits: every query against every row. _brute_force.py describes it. */
#include "neighbours.h"

#if defined(__ARM_NEON)
#include <arm_neon.h>
#endif

enum { TILE = 128, MISSING = -32768, NO_LIMIT = 32767, BLOCK = 16 };

/* `Tiles` of _brute_force.py. */
typedef struct {
    const int16_t *numbers;     /* (n_tiles, n_numbers, TILE): MISSING stands for a missing number */
    const uint8_t *codes;       /* (n_tiles, n_codes, TILE) */
    const int16_t *asked;       /* (n, n_numbers) */
    const uint8_t *asked_codes; /* (n, n_codes) */
    const int64_t *group;       /* (n_groups + 1,): at most 255 columns each */
    const int16_t *unit;        /* (n_groups,): what one mismatch adds */
    double per_distance;        /* units of a distance of 1 */
    int64_t slack, n_whole;     /* n_whole: number columns without a missing value come first */
    int64_t n_numbers, n_codes, n_groups, n_tiles;
} tiles_t;

/* ---------------------------------------------------------------- saturating arithmetic */

/* a + b of numbers that are not negative, at most 32767. */
INLINE vi16 added(vi16 a, vi16 b) {
#if defined(__AVX512BW__)
    return (vi16)_mm512_adds_epi16((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return (vi16)_mm256_adds_epi16((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
    return (vi16)_mm_adds_epi16((__m128i)a, (__m128i)b);
#elif defined(__ARM_NEON)
    return (vi16)vqaddq_s16((int16x8_t)a, (int16x8_t)b);
#else
    vi16 sum = (vi16)((vu16)a + (vu16)b);
    return (sum | (vi16)(sum < (vi16){0})) & SPLAT(vi16, 32767);
#endif
}

INLINE vi16 size_of(vi16 d) {
#if defined(__AVX512BW__)
    return (vi16)_mm512_abs_epi16((__m512i)d);
#elif defined(__AVX2__)
    return (vi16)_mm256_abs_epi16((__m256i)d);
#elif defined(__SSSE3__)
    return (vi16)_mm_abs_epi16((__m128i)d);
#else
    vi16 sign = (vi16)(d < (vi16){0});
    return (d ^ sign) - sign;
#endif
}

INLINE vi16 smaller(vi16 a, vi16 b) {
#if defined(__AVX512BW__)
    return (vi16)_mm512_min_epi16((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return (vi16)_mm256_min_epi16((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
    return (vi16)_mm_min_epi16((__m128i)a, (__m128i)b);
#else
    vi16 first = (vi16)(a < b);
    return (a & first) | (b & ~first);
#endif
}

/* ---------------------------------------------------------------- bounds of a tile */

enum { BYTES = TILE / WIDE, PARTS = TILE / LANES16 };

/* Numbers are added up for so many parts at a time, and after so many columns the limit is looked at. As many sums as
 * fit into registers, since each waits for its last addition; a whole tile of long vectors is looked at more often. */
enum { TOGETHER = PARTS < 8 ? PARTS : 8, COLUMNS = PARTS < 8 ? 4 : 8 };

/* A query's values, each repeated to fill 32 bits: a load spreads these over a vector without a further instruction. */
typedef struct {
    uint32_t *numbers, *codes;
} spread_t;

static void spread(const tiles_t *t, int64_t query, spread_t out) {
    for (int64_t j = 0; j < t->n_numbers; j++)
        out.numbers[j] = 0x10001u * (uint16_t)t->asked[query * t->n_numbers + j];
    for (int64_t j = 0; j < t->n_codes; j++) out.codes[j] = 0x1010101u * t->asked_codes[query * t->n_codes + j];
}

/* Count the mismatches of columns [first, last) in each row of a tile; they saturate at 255. */
INLINE void count_mismatches(const uint8_t *codes, const uint32_t *asked, int64_t first, int64_t last,
                             vu8 count[BYTES]) {
    int64_t j = first, none_wraps = last - first <= 255 ? last : first + 255;
    for (int p = 0; p < BYTES; p++) count[p] = SPLAT(vu8, none_wraps - first);
#pragma GCC unroll 4
    for (; j < none_wraps; j++) {
        vu8 value = (vu8)SPLAT(vu32, asked[j]);
        for (int p = 0; p < BYTES; p++) count[p] = less_matches(count[p], LOAD(vu8, codes + j * TILE + p * WIDE), value);
    }
    for (; j < last; j++) {
        vu8 value = (vu8)SPLAT(vu32, asked[j]);
        for (int p = 0; p < BYTES; p++) {
            vu8 more = count[p] - (vu8)(LOAD(vu8, codes + j * TILE + p * WIDE) != value);
            count[p] = more | (vu8)(more < count[p]);
        }
    }
}

/* Add what the counted mismatches are worth. */
INLINE void add_units(const vu8 count[BYTES], int16_t unit, vi16 sum[PARTS]) {
    uint8_t counted[TILE];
    for (int p = 0; p < BYTES; p++) STORE(counted + p * WIDE, count[p]);
    vu16 most = SPLAT(vu16, unit > 0 ? NO_LIMIT / unit : 255), each = SPLAT(vu16, unit), full = SPLAT(vu16, NO_LIMIT);
    for (int p = 0; p < PARTS; p++) {
        vu16 n = widened16(counted + p * LANES16), over = (vu16)(n > most);
        sum[p] = added(sum[p], (vi16)((n * each & ~over) | (full & over)));
    }
}

/* Add the numbers of some rows of a tile to their sums, until every row is beyond the limit. */
INLINE void add_numbers(const tiles_t *t, const int16_t *rows, const uint32_t *asked, vi16 sum[TOGETHER], vi16 limit) {
    vi16 gap = SPLAT(vi16, MISSING);
    for (int64_t j = 0; j < t->n_numbers;) {
        vi16 least = sum[0];
        for (int p = 1; p < TOGETHER; p++) least = smaller(least, sum[p]);
        if (!bits16((vi16)(least <= limit))) return;
        int64_t whole = t->n_whole - j < COLUMNS ? t->n_whole : j + COLUMNS;
        for (; j < whole; j++) {
            vi16 value = (vi16)SPLAT(vu32, asked[j]);
            for (int p = 0; p < TOGETHER; p++)
                sum[p] = added(sum[p], size_of(LOAD(vi16, rows + j * TILE + p * LANES16) - value));
        }
        int64_t last = t->n_numbers - j < COLUMNS ? t->n_numbers : j + COLUMNS;
        for (; j >= t->n_whole && j < last; j++) {
            if ((int16_t)asked[j] == MISSING) continue;
            vi16 value = (vi16)SPLAT(vu32, asked[j]);
            for (int p = 0; p < TOGETHER; p++) {
                vi16 column = LOAD(vi16, rows + j * TILE + p * LANES16);
                sum[p] = added(sum[p], size_of((vi16)((vu16)column - (vu16)value)) & (vi16)(column != gap));
            }
        }
    }
}

/* Lower bounds of the distances from one query to the rows of one tile, in units; they saturate at NO_LIMIT.
 *
 * most: mismatches beyond which every row is outside; within takes the bits of the rows whose bound is at most the
 * limit. Returns whether there are any. Where a row is outside, `out` takes some part of its bound, above the limit:
 * numbers are touched only as long as some row may be inside. */
INLINE int tile_bounds(const tiles_t *t, int64_t tile, spread_t asked, uint8_t most, int16_t limit, int16_t *out,
                       uint64_t within[2]) {
    const uint8_t *codes = t->codes + tile * t->n_codes * TILE;
    const int16_t *numbers = t->numbers + tile * t->n_numbers * TILE;
    vu8 count[BYTES], any = {0}, allowed = SPLAT(vu8, most);
    vi16 sum[PARTS];
    count_mismatches(codes, asked.codes, 0, t->n_codes, count);
    for (int p = 0; p < BYTES; p++) any |= (vu8)(count[p] <= allowed);
    if (!bits8((vi8)any)) return 0;
    for (int p = 0; p < PARTS; p++) sum[p] = (vi16){0};
    if (t->n_groups == 1)
        add_units(count, t->unit[0], sum);
    else
        for (int64_t g = 0; g < t->n_groups; g++) {
            count_mismatches(codes, asked.codes, t->group[g], t->group[g + 1], count);
            add_units(count, t->unit[g], sum);
        }
    vi16 border = SPLAT(vi16, limit);
    within[0] = within[1] = 0;
    for (int p = 0; p < PARTS; p += TOGETHER)
        add_numbers(t, numbers + p * LANES16, asked.numbers, sum + p, border);
    for (int p = 0; p < PARTS; p++) {
        STORE(out + p * LANES16, sum[p]);
        within[p * LANES16 / 64] |= bits16((vi16)(sum[p] <= border)) << (p * LANES16 % 64);
    }
    return (within[0] | within[1]) != 0;
}

/* For tests: the bounds of one tile. some[0] takes whether there are any within. */
EXPORT int KERNEL(tile_bounds)(const tiles_t *t, int64_t tile, int64_t query, int64_t most, int64_t limit, int16_t *out,
                               uint64_t *within, int64_t *some) {
    spread_t asked = {room(t->n_numbers, sizeof(uint32_t)), room(t->n_codes, sizeof(uint32_t))};
    int made = asked.numbers && asked.codes;
    if (made) {
        spread(t, query, asked);
        *some = tile_bounds(t, tile, asked, (uint8_t)most, (int16_t)limit, out, within);
    }
    free(asked.numbers), free(asked.codes);
    return made ? DONE : NO_MEMORY;
}

/* ---------------------------------------------------------------- the scan */

/* One query of a block. */
typedef struct {
    kept_t kept;
    spread_t asked;
    double limit;
    int64_t border; /* the largest bound that a row within the limit may have */
    int64_t most;   /* the most mismatches that such a row may have; 255 stands for any number */
} query_t;

static void set_limit(const tiles_t *t, query_t *q, double limit) {
    double units = ceil(limit * t->per_distance) + (double)t->slack;
    int64_t least = NO_LIMIT;
    q->limit = limit;
    q->border = units < NO_LIMIT ? (int64_t)units : NO_LIMIT;
    for (int64_t g = 0; g < t->n_groups; g++) least = t->unit[g] < least ? t->unit[g] : least;
    q->most = q->border == NO_LIMIT || least == 0 || q->border / least > 255 ? 255 : q->border / least;
}

/* The lane with the smallest bound, the first of equal ones; -1 without any. */
static inline int nearest_lane(const uint64_t within[2], const int16_t *bound) {
    int best = -1;
    for (int half = 0; half < 2; half++)
        for (uint64_t bits = within[half]; bits; bits &= bits - 1) {
            int j = lowest_bit(bits) + 64 * half;
            if (best < 0 || bound[j] < bound[best]) best = j;
        }
    return best;
}

/* Leave out the lanes behind the last row. */
static inline void cut(uint64_t within[2], int64_t n) {
    if (n >= TILE) return;
    if (n <= 64) within[1] = 0;
    if (n < 64)
        within[0] &= ((uint64_t)1 << n) - 1;
    else if (n > 64)
        within[1] &= ((uint64_t)1 << (n - 64)) - 1;
}

/* Compute the distance of query i to a row and keep it if it counts; return 0 where its pair does not fit. */
static inline int try_row(const tiles_t *t, const exact_t *e, const asked_t *a, query_t *q, int64_t i, int64_t row,
                          const pairs_t *found, int64_t *n_found) {
    int64_t times = e->times[row], k = a->k;
    if (row == e->own[i] && --times == 0) return 1;
    double d = exact(e, i, row);
    if (d > q->limit) return 1;
    if (k == 0) {
        q->kept.beyond += times;
        if (!a->listing) return 1;
        if (*n_found == found->room) return 0;
        found->query[*n_found] = i, found->row[(*n_found)++] = row;
        return 1;
    }
    add(&q->kept, k, d, row, times);
    if (q->kept.filled == k && q->kept.far[k - 1] < q->limit) set_limit(t, q, q->kept.far[k - 1]);
    return 1;
}

/* Search one block of queries; return the new number of pairs, or -1 where they did not fit, -2 when asked to stop. */
static int64_t scan_block(const tiles_t *t, const exact_t *e, const asked_t *a, const pairs_t *found, query_t *block,
                          int64_t first, int64_t n, int64_t n_found) {
    int16_t bound[TILE];
    uint64_t within[2];
    int64_t k = a->k;
    for (int64_t x = 0; x < n; x++) {
        block[x].kept.filled = block[x].kept.beyond = 0;
        spread(t, a->queries[first + x], block[x].asked);
        set_limit(t, &block[x], a->radius[a->queries[first + x]]);
    }
    for (int64_t tile = 0; tile < t->n_tiles; tile++) {
        int64_t left = e->n_rows - tile * TILE;
        if (asked_to_stop(a->stop)) return -2;
        for (int64_t x = 0; x < n; x++) {
            query_t *q = &block[x];
            int64_t i = a->queries[first + x];
            if (!tile_bounds(t, tile, q->asked, (uint8_t)q->most, (int16_t)q->border, bound, within)) continue;
            cut(within, left);
            int best = k > 0 ? nearest_lane(within, bound) : -1; /* the nearest first: it makes the limit small */
            if (best >= 0) try_row(t, e, a, q, i, tile * TILE + best, found, &n_found);
            for (int half = 0; half < 2; half++)
                for (uint64_t bits = within[half]; bits; bits &= bits - 1) {
                    int j = lowest_bit(bits) + 64 * half;
                    if (j == best || bound[j] > q->border) continue;
                    if (!try_row(t, e, a, q, i, tile * TILE + j, found, &n_found)) return -1;
                }
        }
    }
    for (int64_t x = 0; x < n; x++) {
        const kept_t *kept = &block[x].kept;
        int64_t i = a->queries[first + x];
        a->out_beyond[i] = kept->beyond;
        for (int64_t h = 0; h < kept->filled; h++)
            a->out_distance[i * k + h] = kept->far[h], a->out_row[i * k + h] = kept->rows[h];
    }
    return n_found;
}

/* Search all rows for queries[first:last]; the results are those of `search`, and so is what done[0:2] takes. */
EXPORT int KERNEL(scan)(const tiles_t *t, const exact_t *e, const asked_t *a, const pairs_t *found, int64_t first,
                        int64_t last, int64_t *done) {
    int64_t k = a->k, n_found = 0, at = first;
    double *far = room(BLOCK * (k + 1), sizeof *far);
    int64_t *rows = room(2 * BLOCK * (k + 1), sizeof *rows);
    uint32_t *values = room(BLOCK * (t->n_numbers + t->n_codes), sizeof *values);
    int status = far && rows && values ? DONE : NO_MEMORY;
    query_t block[BLOCK];
    for (int64_t x = 0; status == DONE && x < BLOCK; x++) {
        kept_t *kept = &block[x].kept;
        block[x].asked.numbers = values + x * (t->n_numbers + t->n_codes);
        block[x].asked.codes = block[x].asked.numbers + t->n_numbers;
        kept->far = far + x * (k + 1), kept->rows = rows + 2 * x * (k + 1), kept->times = kept->rows + k + 1;
    }
    while (status == DONE && at < last) {
        int64_t n = last - at < BLOCK ? last - at : BLOCK;
        int64_t now = scan_block(t, e, a, found, block, at, n, n_found);
        if (now == -2) status = STOPPED;
        if (now < 0) break;
        n_found = now, at += n;
    }
    done[0] = n_found, done[1] = at;
    free(far), free(rows), free(values);
    return status;
}
