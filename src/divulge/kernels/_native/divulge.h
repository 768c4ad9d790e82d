/* What all compiled loops share. Each file is compiled once for each level of processor (DIVULGE_LEVEL), and all
 * levels are in one library; `library.py` chooses the level when it loads the library.
 *
 * A kernel is `EXPORT int KERNEL(name)(...)`. It takes pointers to contiguous arrays, int64_t, double, or a pointer to a
 * struct of these, keeps nothing between calls, and returns DONE, NO_MEMORY or STOPPED.
 *
 * Results are the same at every level: no fused multiply-add (-ffp-contract=off), no reordered sums.
 */
#ifndef DIVULGE_H
#define DIVULGE_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>

#if defined(__AVX512BW__) || defined(__AVX2__) || defined(__SSE2__)
#include <immintrin.h>
#endif

#ifndef DIVULGE_LEVEL
#define DIVULGE_LEVEL plain
#endif

#define PASTE_(a, b, c) a##b##_##c
#define PASTE(a, b, c) PASTE_(a, b, c)
#define KERNEL(name) PASTE(divulge_, name, DIVULGE_LEVEL)

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

#define INLINE static inline __attribute__((always_inline, unused))

enum { DONE = 0, NO_MEMORY = 1, STOPPED = 2 };

/* Whether Python asked the kernel to stop: `stop` is an int32 that another thread may set, or NULL. */
INLINE int asked_to_stop(const volatile int32_t *stop) { return stop && *stop; }

/* n elements of some bytes; NULL without memory, also where the size overflows. Never of size 0. */
INLINE void *room(int64_t n, size_t each) {
    if (n < 0 || (uint64_t)n > (uint64_t)(PTRDIFF_MAX / 2) / each) return NULL;
    return malloc((n ? (size_t)n : 1) * each);
}
INLINE void *zeroed(int64_t n, size_t each) {
    if (n < 0 || (uint64_t)n > (uint64_t)(PTRDIFF_MAX / 2) / each) return NULL;
    return calloc(n ? (size_t)n : 1, each);
}

INLINE int lowest_bit(uint64_t bits) { return __builtin_ctzll(bits); }
INLINE int count_bits(uint64_t bits) { return __builtin_popcountll(bits); }

/* ---- vectors: as wide as a register of the level (WIDE bytes), so that no compiler has to split them */

#if defined(__AVX512BW__)
#define WIDE 64
#elif defined(__AVX2__)
#define WIDE 32
#else
#define WIDE 16
#endif

#define VECTOR(type) __attribute__((vector_size(WIDE))) type
typedef VECTOR(float) vf32;
typedef VECTOR(double) vf64;
typedef VECTOR(int8_t) vi8;
typedef VECTOR(uint8_t) vu8;
typedef VECTOR(int16_t) vi16;
typedef VECTOR(uint16_t) vu16;
typedef VECTOR(int32_t) vi32;
typedef VECTOR(uint32_t) vu32;
typedef VECTOR(int64_t) vi64;
typedef VECTOR(uint64_t) vu64;
/* As many lanes as of 64 bits. */
typedef __attribute__((vector_size(WIDE / 2))) int32_t vi32h;
typedef __attribute__((vector_size(WIDE / 2))) float vf32h;
enum { LANES8 = WIDE, LANES16 = WIDE / 2, LANES32 = WIDE / 4, LANES64 = WIDE / 8 };

/* LOAD(vf32, p) reads adjacent elements, which need no alignment; STORE(p, v) writes them. */
#define LOAD(vector, p) __extension__({ vector v_; memcpy(&v_, (p), sizeof v_); v_; })
#define STORE(p, v) __extension__({ __typeof__(v) v_ = (v); memcpy((p), &v_, sizeof v_); })
/* A vector that holds one value everywhere. */
#define SPLAT(vector, value) ((vector){0} + (__typeof__(((vector){0})[0]))(value))

/* The lanes of a comparison, which are 0 or -1, as bits; lane 0 is bit 0. */
INLINE uint64_t bits8(vi8 m) {
#if defined(__AVX512BW__)
    return _mm512_movepi8_mask((__m512i)m);
#elif defined(__AVX2__)
    return (uint32_t)_mm256_movemask_epi8((__m256i)m);
#elif defined(__SSE2__)
    return (uint32_t)_mm_movemask_epi8((__m128i)m);
#else
    uint64_t out = 0;
    for (int i = 0; i < LANES8; i++) out |= (uint64_t)(m[i] & 1) << i;
    return out;
#endif
}
INLINE uint64_t bits16(vi16 m) {
#if defined(__AVX512BW__)
    return _mm512_movepi16_mask((__m512i)m);
#elif defined(__AVX2__)
    __m256i packed = _mm256_packs_epi16((__m256i)m, _mm256_setzero_si256());
    uint32_t b = (uint32_t)_mm256_movemask_epi8(packed);
    return (b & 0xFF) | ((b >> 8) & 0xFF00);
#elif defined(__SSE2__)
    return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16((__m128i)m, _mm_setzero_si128()));
#else
    uint64_t out = 0;
    for (int i = 0; i < LANES16; i++) out |= (uint64_t)(m[i] & 1) << i;
    return out;
#endif
}
INLINE uint64_t bits32(vi32 m) {
#if defined(__AVX512BW__)
    return _mm512_movepi32_mask((__m512i)m);
#elif defined(__AVX2__)
    return (uint32_t)_mm256_movemask_ps((__m256)m);
#elif defined(__SSE2__)
    return (uint32_t)_mm_movemask_ps((__m128)m);
#else
    uint64_t out = 0;
    for (int i = 0; i < LANES32; i++) out |= (uint64_t)(m[i] & 1) << i;
    return out;
#endif
}
INLINE uint64_t bits64(vi64 m) {
#if defined(__AVX512BW__)
    return _mm512_movepi64_mask((__m512i)m);
#elif defined(__AVX2__)
    return (uint32_t)_mm256_movemask_pd((__m256d)m);
#elif defined(__SSE2__)
    return (uint32_t)_mm_movemask_pd((__m128d)m);
#else
    uint64_t out = 0;
    for (int i = 0; i < LANES64; i++) out |= (uint64_t)(m[i] & 1) << i;
    return out;
#endif
}
/* NEON has no movemask; the loops above become a few instructions there. */

/* The larger and the smaller of two numbers; b where one is nan, or where both are 0. */
INLINE vf64 larger64(vf64 a, vf64 b) {
#if defined(__AVX512BW__)
    return (vf64)_mm512_max_pd((__m512d)a, (__m512d)b);
#elif defined(__AVX2__)
    return (vf64)_mm256_max_pd((__m256d)a, (__m256d)b);
#elif defined(__SSE2__)
    return (vf64)_mm_max_pd((__m128d)a, (__m128d)b);
#else
    vi64 first = (vi64)(a > b);
    return (vf64)(((vi64)a & first) | ((vi64)b & ~first));
#endif
}
INLINE vf64 smaller64(vf64 a, vf64 b) {
#if defined(__AVX512BW__)
    return (vf64)_mm512_min_pd((__m512d)a, (__m512d)b);
#elif defined(__AVX2__)
    return (vf64)_mm256_min_pd((__m256d)a, (__m256d)b);
#elif defined(__SSE2__)
    return (vf64)_mm_min_pd((__m128d)a, (__m128d)b);
#else
    vi64 first = (vi64)(a < b);
    return (vf64)(((vi64)a & first) | ((vi64)b & ~first));
#endif
}

/* The counts, less 1 where two bytes are equal: one instruction less than to count where they differ. */
INLINE vu8 less_matches(vu8 count, vu8 a, vu8 b) {
#if defined(__AVX512BW__)
    __mmask64 same = _mm512_cmpeq_epi8_mask((__m512i)a, (__m512i)b);
    return (vu8)_mm512_mask_sub_epi8((__m512i)count, same, (__m512i)count, _mm512_set1_epi8(1));
#else
    return count + (vu8)(a == b);
#endif
}

/* Adjacent bytes as wider lanes. */
INLINE vu16 widened16(const uint8_t *p) {
#if defined(__AVX512BW__)
    return (vu16)_mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)p));
#elif defined(__AVX2__)
    return (vu16)_mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)p));
#elif defined(__SSE4_1__)
    return (vu16)_mm_cvtepu8_epi16(_mm_loadl_epi64((const __m128i *)p));
#else
    vu16 out;
    for (int i = 0; i < LANES16; i++) out[i] = p[i];
    return out;
#endif
}
INLINE vf32 widened_f32(const uint8_t *p) {
#if defined(__AVX512BW__)
    return (vf32)_mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)p)));
#elif defined(__AVX2__)
    return (vf32)_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p)));
#else
    vf32 out;
    for (int i = 0; i < LANES32; i++) out[i] = p[i];
    return out;
#endif
}

#endif
