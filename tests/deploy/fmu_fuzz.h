/* Calls in random order, right and wrong, on many instances of an FMU: every answer is one of the standard's, arrays have
 * exactly the sizes that are told, and twins that hear the same give the same answers and the same bits. */
#include <dlfcn.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS 6
#define STATES 4

static uint64_t dice;
static int failures;
static long answers[6]; /* by status */

static uint32_t roll(uint32_t sides) {
  dice = dice * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(dice >> 33) % sides;
}
static double number(void) {
  static const double special[] = {0, -0.0, 1, -1e3, 1e30, 1e308, 5e-324, NAN, INFINITY, -INFINITY};
  return roll(6) == 0 ? special[roll(10)] : ((double)roll(2001) - 1000.0) * 1e-3;
}
/* of a call to each of two twins */
static int same(int a, int b, int worst, const char *what) {
  if (a != b || a < 0 || a > worst) {
    printf("%s answers %d and %d\n", what, a, b);
    ++failures;
  } else {
    ++answers[a];
  }
  return a;
}
static void same_bits(const void *a, const void *b, size_t size, const char *what) {
  if (memcmp(a, b, size) != 0) {
    printf("%s: twins differ\n", what);
    ++failures;
  }
}
/* exactly so many bytes, so that the next one is seen */
static void *room(size_t size) {
  void *memory = malloc(size ? size : 1);
  memset(memory, 0, size);
  return memory;
}
