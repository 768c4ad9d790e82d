/* Numbers of the distinct values of an array, in the order in which they occur first, by a hash table. */

#include "divulge.h"

typedef struct {
    int64_t key, number; /* the number is -1 where the slot is empty */
} slot_t;

INLINE int64_t slot_of(int64_t key, int bits) {
    return (int64_t)(((uint64_t)key * UINT64_C(0x9E3779B97F4A7C15)) >> (64 - bits));
}

/* A table of 2 ** bits slots with the keys that are known; NULL without memory. */
static slot_t *table_of(const int64_t *keys, int64_t n, int bits) {
    int64_t size = INT64_C(1) << bits;
    slot_t *slots = room(size, sizeof *slots);
    for (int64_t i = 0; slots && i < size; i++)
        slots[i].number = -1;
    for (int64_t i = 0; slots && i < n; i++) {
        int64_t at = slot_of(keys[i], bits);
        while (slots[at].number >= 0)
            at = (at + 1) & (size - 1);
        slots[at] = (slot_t){keys[i], i};
    }
    return slots;
}

/* Whether so many values are different that sorting takes less time: half of all, or nine tenths of the first eighth. */
INLINE int mostly_different(int64_t known, int64_t i, int64_t n) {
    return 2 * known > n || (i == n / 8 && 10 * known > 9 * i);
}

/* values (n,); place (n,): the number of each one's value; distinct (n,): the values in the order of their numbers.
 * The number of values is -1 where they are given up, being mostly different. */
EXPORT int KERNEL(places)(
    const int64_t *values, int64_t n, int64_t *place, int64_t *distinct, int64_t *n_distinct) {
    int bits = 10;
    int64_t known = 0;
    slot_t *slots = table_of(distinct, 0, bits);
    for (int64_t i = 0; slots && i < n; i++) {
        int64_t key = values[i], last = (INT64_C(1) << bits) - 1, at = slot_of(key, bits);
        while (slots[at].number >= 0 && slots[at].key != key)
            at = (at + 1) & last;
        if (slots[at].number < 0) {
            slots[at] = (slot_t){key, known};
            distinct[known++] = key;
        }
        place[i] = slots[at].number;
        if (mostly_different(known, i, n)) {
            free(slots);
            *n_distinct = -1;
            return DONE;
        }
        if (2 * known > last) {
            free(slots);
            slots = table_of(distinct, known, bits += 2);
        }
    }
    int found = slots != NULL;
    free(slots);
    *n_distinct = known;
    return found ? DONE : NO_MEMORY;
}
