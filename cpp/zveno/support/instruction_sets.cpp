#include <zveno/support/instruction_sets.hpp>

#include <zveno/support/compiler.hpp>

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>

#include <intrin.h>
#elif defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

namespace zveno {

std::vector<std::string> cpu_levels() {
  std::vector<std::string> levels;
#if defined(_WIN32) && defined(_M_X64)
  int one[4], seven[4];  // eax, ebx, ecx, edx; what the system saves is its own answer
  __cpuid(one, 1);
  __cpuidex(seven, 7, 0);
  const auto has = [](int word, int bit) { return (word >> bit & 1) != 0; };
  if (IsProcessorFeaturePresent(PF_AVX512F_INSTRUCTIONS_AVAILABLE) && has(seven[1], 17) && has(seven[1], 31))  // DQ, VL
    levels.push_back("avx512");
  if (IsProcessorFeaturePresent(PF_AVX2_INSTRUCTIONS_AVAILABLE) && has(one[2], 12)) levels.push_back("avx2");  // FMA
#elif (defined(__x86_64__) || defined(__i386__)) && ZVENO_GNU
  // not __builtin_cpu_supports: with clang's own runtime it cannot be linked into a module
  unsigned one[4] = {}, seven[4] = {}, saved = 0, high;  // eax, ebx, ecx, edx; registers that the system saves
  __get_cpuid(1, one, one + 1, one + 2, one + 3);
  __get_cpuid_count(7, 0, seven, seven + 1, seven + 2, seven + 3);
  const auto has = [](unsigned word, int bit) { return (word >> bit & 1) != 0; };
  if (has(one[2], 27)) __asm__("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
  if ((saved & 0xe6) == 0xe6 && has(seven[1], 16) && has(seven[1], 17) && has(seven[1], 31))  // F, DQ, VL
    levels.push_back("avx512");
  if ((saved & 6) == 6 && has(seven[1], 5) && has(one[2], 12)) levels.push_back("avx2");  // AVX2, FMA
#endif
  levels.push_back("baseline");
  return levels;
}

}  // namespace zveno
