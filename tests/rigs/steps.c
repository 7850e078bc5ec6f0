/* Steps of a rig in a section that must not block: steps rig.json count [fault]. Under RealtimeSanitizer (clang) the section
 * is a nonblocking function; else a preloaded guard.c counts what is called in it. A fault is planted to see it found. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zveno.h>

#if defined(__clang__)
#define NONBLOCKING __attribute__((nonblocking))
#else
#define NONBLOCKING
#endif

extern void guard_enter(void) __attribute__((weak));
extern void guard_leave(void) __attribute__((weak));
extern long guard_calls(void) __attribute__((weak));

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void* volatile kept;

static void plant(const char* fault) {
  if (strcmp(fault, "malloc") == 0) kept = malloc(64);
  if (strcmp(fault, "lock") == 0) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
  if (strcmp(fault, "write") == 0) (void)!write(STDERR_FILENO, "", 0);
}

static int tick(zv_rig* rig, const double* in, double* out, double* state, const char* fault) NONBLOCKING;
static int tick(zv_rig* rig, const double* in, double* out, double* state, const char* fault) {
  if (guard_enter) guard_enter();
  int code = zv_rig_step(rig, in, out);
  zv_status status = {.struct_size = sizeof status};
  zv_rig_status(rig, &status);
  zv_rig_get_state(rig, state);
  zv_rig_set_state(rig, state);
  if (fault) plant(fault);
  if (guard_leave) guard_leave();
  return code;
}

int main(int argc, char** argv) {
  char message[400];
  int code;
  zv_rig* rig = argc > 2 ? zv_rig_open(argv[1], NULL, &code, message, sizeof message) : NULL;
  if (!rig) return fprintf(stderr, "%s\n", argc > 2 ? message : "steps rig.json count [fault]"), 2;
  zv_info info = {.struct_size = sizeof info};
  zv_rig_info(rig, &info);
  double* in = calloc((size_t)info.input_size, sizeof(double));
  double* out = calloc((size_t)info.output_size, sizeof(double));
  double* state = calloc((size_t)info.state_size, sizeof(double));
  zv_rig_prepare(rig);
  const long count = strtol(argv[2], NULL, 10);
  long failures = 0, refused = 0;
  for (long k = 0; k < count; ++k) {
    if (k % 500 == 0) zv_rig_reset(rig, NULL);
    in[0] = k % 97 == 0 ? 0.0 / 0.0 : -20.0 * (double)(k % 50) / 50; /* bad inputs must not block either */
    code = tick(rig, in, out, state, argc > 3 && k == count / 2 ? argv[3] : NULL);
    failures += code < 0;
    refused += code == ZV_INPUT_HELD;
  }
  printf("%ld %ld %ld %ld\n", count, failures, refused, guard_calls ? guard_calls() : -1);
  zv_rig_free(rig);
  return 0;
}
