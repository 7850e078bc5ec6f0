/* Times of single steps: each by a monotonic clock, percentiles from all of them. Compiled once for each way to step:
 * USE_LIBRARY (zveno.h), USE_STEP (generated code), USE_FMI3 (an FMU), USE_MUJOCO, USE_PINOCCHIO; USE_NOTHING spins for a
 * given time and shows what the machine adds; USE_PEAK prints what the processor can do instead. The motion starts again
 * after every AGAIN steps, so that each of them is made many times. Prints, in ns, p50, p99, p99.9 and max of all steps;
 * p99.9 of the motion's steps, each by its median; page faults and context switches. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define WARM 10000
#define AGAIN 1000 /* steps after which the motion starts again, which is not timed */

static double in[64], out[512];

#if defined(USE_LIBRARY)
#include <zveno.h>
static zv_rig *rig;
static int inputs(void) {
  zv_info info = {0};
  info.struct_size = sizeof info;
  zv_rig_info(rig, &info);
  return info.input_size;
}
static int open_it(char **argv) {
  char message[200];
  rig = zv_rig_open(argv[0], NULL, NULL, message, sizeof message);
  if (!rig) puts(message);
  return rig != NULL;
}
static void start(void) { zv_rig_reset(rig, NULL); }
static int step(void) { return zv_rig_step(rig, in, out); }
#elif defined(USE_STEP)
#include "model.h"
static model_state state;
static int inputs(void) { return MODEL_INPUTS; }
static int open_it(char **argv) { return argv != NULL; }
static void start(void) { (void)model_init(&state, NULL); }
static int step(void) { return model(&state, in, out); }
#elif defined(USE_FMI3)
#include <stdbool.h>
#include <stdint.h>
static void *unit, *saved;
static int wide, outputs;
static double now;
static uint32_t references[64];
static int (*set)(void *, const uint32_t *, size_t, const double *, size_t);
static int (*get)(void *, const uint32_t *, size_t, double *, size_t);
static int (*keep)(void *, void **), (*restore)(void *, void *);
static int (*advance)(void *, double, double, bool, bool *, bool *, bool *, double *);
static int first, last, total;
static int inputs(void) { return wide; }
/* library, token, numbers of the first input, first and last output, numbers of all outputs */
static int open_it(char **argv) {
  void *library = dlopen(argv[0], RTLD_NOW);
  if (!library) return puts(dlerror()), 0;
  void *(*make)() = (void *(*)())dlsym(library, "fmi3InstantiateCoSimulation");
  int (*enter)(void *, bool, double, double, bool, double) = (int (*)(void *, bool, double, double, bool, double))dlsym(library, "fmi3EnterInitializationMode");
  int (*leave)(void *) = (int (*)(void *))dlsym(library, "fmi3ExitInitializationMode");
  set = (int (*)(void *, const uint32_t *, size_t, const double *, size_t))dlsym(library, "fmi3SetFloat64");
  get = (int (*)(void *, const uint32_t *, size_t, double *, size_t))dlsym(library, "fmi3GetFloat64");
  keep = (int (*)(void *, void **))dlsym(library, "fmi3GetFMUState");
  restore = (int (*)(void *, void *))dlsym(library, "fmi3SetFMUState");
  advance = (int (*)(void *, double, double, bool, bool *, bool *, bool *, double *))dlsym(library, "fmi3DoStep");
  void *(*typed)(const char *, const char *, const char *, bool, bool, bool, bool, const uint32_t *, size_t, void *, void *, void *) =
      (void *(*)(const char *, const char *, const char *, bool, bool, bool, bool, const uint32_t *, size_t, void *, void *, void *))make;
  unit = typed("unit", argv[1], NULL, false, false, false, false, NULL, 0, NULL, NULL, NULL);
  wide = atoi(argv[2]), first = atoi(argv[3]), last = atoi(argv[4]), total = atoi(argv[5]);
  outputs = last - first + 1;
  for (int k = 0; k < outputs; ++k) references[k] = (uint32_t)(first + k);
  return unit && enter(unit, false, 0, 0, false, 0) == 0 && leave(unit) == 0 && keep(unit, &saved) == 0;
}
static void start(void) { (void)restore(unit, saved), now = 0; }
static int step(void) {
  static const uint32_t one = 1;
  bool a, b, c;
  double reached;
  int code = set(unit, &one, 1, in, (size_t)wide);
  code |= advance(unit, now, 1e-3, true, &a, &b, &c, &reached);
  now = reached;
  return code | get(unit, references, (size_t)outputs, out, (size_t)total);
}
#elif defined(USE_MUJOCO)
#include <mujoco/mujoco.h>
static mjModel *model;
static mjData *data;
static double begin_q[512], begin_v[512];
static int inputs(void) { return 1; }
/* model, start */
static int open_it(char **argv) {
  FILE *file = fopen(argv[1], "rb");
  model = mj_loadModel(argv[0], NULL);
  if (!model || !file) return 0;
  data = mj_makeData(model);
  const size_t read = fread(begin_q, sizeof(double), (size_t)model->nq, file) + fread(begin_v, sizeof(double), (size_t)model->nv, file);
  fclose(file);
  return read == (size_t)(model->nq + model->nv);
}
static void start(void) {
  memcpy(data->qpos, begin_q, (size_t)model->nq * sizeof(double));
  memcpy(data->qvel, begin_v, (size_t)model->nv * sizeof(double));
}
static int step(void) {
  data->qfrc_applied[0] = in[0];
  mj_step(model, data);
  return 0;
}
#elif defined(USE_PINOCCHIO)
int rig_open(const char *path);
void rig_start(void);
int rig_step(double force, double h);
static int inputs(void) { return 1; }
static int open_it(char **argv) { return rig_open(argv[0]); }
static void start(void) { rig_start(); }
static int step(void) { return rig_step(in[0], 1e-3); }
#elif defined(USE_NOTHING)
static long rounds;
static double clock_now(void);
static int inputs(void) { return 1; }
static int spin(long count) {
  static volatile double x = 0.5;
  for (long k = 0; k < count; ++k) x = x * 0.999999 + 1e-6;
  return !(x > 0);
}
/* nanoseconds */
static int open_it(char **argv) {
  double best = 1e300;
  for (int k = 0; k < 20; ++k) {
    const double begin = clock_now();
    spin(100000);
    const double time = clock_now() - begin;
    best = time < best ? time : best;
  }
  rounds = (long)(atof(argv[0]) / best * 100000);
  return 1;
}
static void start(void) {}
static int step(void) { return spin(rounds); }
#endif

#if defined(USE_PEAK)
/* In ns: an addition, a multiplication and a division that wait for the one before; a multiplication among many that do
 * not wait. */
static int inputs(void) { return 1; }
static int open_it(char **argv) { return argv != NULL; }
static void start(void) {}
static double clock_now(void);
static double best[4] = {1e300, 1e300, 1e300, 1e300};
static void keep(int k, double begin, double count) {
  const double each = (clock_now() - begin) / count;
  best[k] = each < best[k] ? each : best[k];
}
static int step(void) {
  static volatile double given = 1.0000001, taken;
  const long count = 4000;
  const double c = given;
  double x[12], begin;
  for (int k = 0; k < 12; ++k) x[k] = 1.0 + k * given;
  begin = clock_now();
  for (long i = 0; i < count; ++i) x[0] += c;
  keep(0, begin, (double)count);
  begin = clock_now();
  for (long i = 0; i < count; ++i) x[1] *= c;
  keep(1, begin, (double)count);
  begin = clock_now();
  for (long i = 0; i < count; ++i) x[2] = c / x[2];
  keep(2, begin, (double)count);
  begin = clock_now();
  for (long i = 0; i < count; ++i)
#pragma GCC unroll 12
    for (int k = 0; k < 12; ++k) x[k] *= c;
  keep(3, begin, 12.0 * (double)count);
  for (int k = 0; k < 12; ++k) taken = x[k];
  return !(taken > 0);
}
#endif

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double clock_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* p99.9 of the AGAIN steps of the motion, each by the median of its times: what strikes at random is not in it */
static double of_motion(const double *times, long steps) {
  static double own[AGAIN];
  const long count = steps / AGAIN;
  double *same = calloc((size_t)count, sizeof *same);
  if (!same) return -1;
  for (long k = 0; k < AGAIN; ++k) {
    for (long i = 0; i < count; ++i) same[i] = times[k + i * AGAIN];
    qsort(same, (size_t)count, sizeof *same, ascending);
    own[k] = same[count / 2];
  }
  free(same);
  qsort(own, AGAIN, sizeof *own, ascending);
  return own[AGAIN - 1 - AGAIN / 1000];
}

int main(int argc, char **argv) {
  const long steps = argc > 1 ? atol(argv[1]) : 0;
  struct rusage before, after;
  double *times = calloc((size_t)steps + 1, sizeof *times);
  int wrong = 0;
  if (steps < 1000 || !times || !open_it(argv + 2)) return 1;
  memset(times, 1, (size_t)steps * sizeof *times); /* pages are there before the loop */
  for (long k = -WARM; k < steps; ++k) {
    if ((k + WARM) % AGAIN == 0) start();
    if (k == 0) getrusage(RUSAGE_SELF, &before);
    in[0] = 0.1 * (double)((k + WARM) % AGAIN % 7 - 3);
    const double begin = clock_now();
    wrong |= step();
    if (k >= 0) times[k] = clock_now() - begin;
  }
#if defined(USE_PEAK)
  return printf("0 %.4f %.4f %.4f %.4f\n", best[0], best[1], best[2], best[3]), wrong;
#endif
  getrusage(RUSAGE_SELF, &after);
  const double own = of_motion(times, steps);
  qsort(times, (size_t)steps, sizeof *times, ascending);
  printf("%d %.0f %.0f %.0f %.0f %.0f %ld %ld\n", wrong, times[steps / 2], times[steps - 1 - steps / 100],
         times[steps - 1 - steps / 1000], times[steps - 1], own, after.ru_minflt - before.ru_minflt, after.ru_nivcsw - before.ru_nivcsw);
  return inputs() < 1;
}
