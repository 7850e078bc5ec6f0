// What the compiler is told beyond the language.
#pragma once

// vector types and attributes as GCC has them; clang-cl does not call itself GNU, but knows them too
#if defined(__GNUC__) || defined(__clang__)
#define ZVENO_GNU 1
#else
#define ZVENO_GNU 0
#endif

// before a loop whose iterations share no memory, before a short one of fixed length that is to be written out, and before
// one that is not: code that runs once is fetched slower than it computes
#if defined(__clang__)
#define ZVENO_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#define ZVENO_UNROLL _Pragma("clang loop unroll(full)")
#define ZVENO_ROLLED _Pragma("clang loop unroll(disable)")
#elif ZVENO_GNU
#define ZVENO_INDEPENDENT _Pragma("GCC ivdep")
#define ZVENO_UNROLL _Pragma("GCC unroll 16")
#define ZVENO_ROLLED _Pragma("GCC unroll 1")
#else
#define ZVENO_INDEPENDENT
#define ZVENO_UNROLL
#define ZVENO_ROLLED
#endif

// kernels are loops over bodies built from these few helpers: a call left standing in the loop costs more than its work
#if ZVENO_GNU && !defined(ZVENO_CALLS)  // sanitizers: checked calls compile ten times faster than checked giants
#define ZVENO_INLINE inline __attribute__((always_inline))
#define ZVENO_INLINED __attribute__((always_inline))  // the same after the parameters of a lambda
#else
#define ZVENO_INLINE inline
#define ZVENO_INLINED
#endif

// what a compiler cannot know and would warn about
#if ZVENO_GNU
#define ZVENO_ASSUME(condition)                \
  do {                                         \
    if (!(condition)) __builtin_unreachable(); \
  } while (0)
#else
#define ZVENO_ASSUME(condition) ((void)0)
#endif

// a function that stays one
#if ZVENO_GNU
#define ZVENO_APART __attribute__((noinline))
#else
#define ZVENO_APART
#endif

#if ZVENO_GNU
#define ZVENO_COLD __attribute__((noinline, cold))
#else
#define ZVENO_COLD
#endif
