/* What the library says of itself; compiled once, for the lowest level. */
#include "divulge.h"

#if defined(__x86_64__)
#include <cpuid.h>

/* Bits of cpuid that a level needs, beside what the system must keep of the registers (xgetbv). */
enum {
    SSSE3 = 1 << 9, FMA = 1 << 12, SSE41 = 1 << 19, SSE42 = 1 << 20, MOVBE = 1 << 22, POPCNT = 1 << 23,
    OSXSAVE = 1 << 27, AVX = 1 << 28, F16C = 1 << 29, /* leaf 1, ecx */
    BMI1 = 1 << 3, AVX2 = 1 << 5, BMI2 = 1 << 8,      /* leaf 7, ebx */
    LZCNT = 1 << 5,                                   /* leaf 0x80000001, ecx */
    YMM_KEPT = 0x6, ZMM_KEPT = 0xE6
};
#define AVX512 (1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31) /* leaf 7, ebx: F, DQ, CD, BW, VL */

static int has(unsigned found, unsigned wanted) { return (found & wanted) == wanted; }

static unsigned kept_registers(void) {
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static int level(void) {
    unsigned a, b, one = 0, seven = 0, more = 0, d;
    if (!__get_cpuid(1, &a, &b, &one, &d) || !has(one, SSSE3 | SSE41 | SSE42 | POPCNT)) return -1;
    if (!has(one, OSXSAVE | AVX | FMA | MOVBE | F16C) || !has(kept_registers(), YMM_KEPT)) return 2;
    if (!__get_cpuid_count(7, 0, &a, &seven, &b, &d) || !has(seven, BMI1 | BMI2 | AVX2)) return 2;
    if (!__get_cpuid(0x80000001, &a, &b, &more, &d) || !has(more, LZCNT)) return 2;
    return has(seven, AVX512) && has(kept_registers(), ZMM_KEPT) ? 4 : 3;
}
#else
static int level(void) { return 0; }
#endif

/* The highest level that this processor and its system have: 2, 3 or 4 of x86-64; 0 for the plain build of another
 * processor; -1 below all levels of the library. */
EXPORT int divulge_level(void) { return level(); }

/* The digest of the sources that the library was built from, its levels, and "sanitized" if it is. */
EXPORT const char *divulge_sources(void) { return DIVULGE_SOURCES; }
