/* What the library says of itself; compiled once, for the lowest level. */
#include "divulge.h"

/* The highest level that this processor has: 2, 3 or 4 of x86-64, or 0 for the plain build of another processor;
 * -1 where the processor is below all levels of the library. */
EXPORT int divulge_level(void) {
#if defined(__x86_64__) || defined(_M_X64)
    __builtin_cpu_init();
    if (!(__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("ssse3") && __builtin_cpu_supports("popcnt")))
        return -1;
    if (!(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
          __builtin_cpu_supports("fma")))
        return 2;
    if (!(__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
          __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
          __builtin_cpu_supports("avx512vl")))
        return 3;
    return 4;
#else
    return 0;
#endif
}

/* The digest of the sources that the library was built from. */
EXPORT const char *divulge_sources(void) { return DIVULGE_SOURCES; }
