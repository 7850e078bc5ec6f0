/* A rig engineer's program: opens a rig, steps it in a thread of its own, prints the worst code, the number of allocations, by how
 * many kB memory has grown, and the last outputs.
 * malloc and its kin are replaced, so that whatever the library asks for is seen. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <zveno.h>

static long counted;
static int counting;

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

void *malloc(size_t n) { counted += counting; return __libc_malloc(n); }
void *calloc(size_t m, size_t n) { counted += counting; return __libc_calloc(m, n); }
void *realloc(void *p, size_t n) { counted += counting; return __libc_realloc(p, n); }
void *aligned_alloc(size_t a, size_t n) { counted += counting; return __libc_memalign(a, n); }

static zv_rig *rig;
static double *in, *out, *state;
static long steps, grown;
static int worst;

static long memory(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

static void *loop(void *nothing) {
  zv_info info;
  long k;
  int i;
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  zv_rig_info(rig, &info);
  worst = zv_rig_prepare(rig);
  counting = 1;
  for (k = 0; k < steps; ++k) {
    int code;
    for (i = 0; i < info.input_size; ++i) in[i] = (double)((k + i) % 5 - 2);
    code = zv_rig_step(rig, in, out);
    if (code != ZV_OK) worst = code;
    if (k == steps / 2) zv_rig_get_state(rig, state);
    if (k == steps / 100) grown = -memory();
  }
  counting = 0;
  grown += memory();
  return nothing;
}

int main(int argc, char **argv) {
  char message[200];
  int code, i;
  zv_info info;
  zv_options options;
  pthread_t thread;
  if (argc != 3) return 2;
  if (zv_abi_version() < ZV_ABI_VERSION) return 3;
  steps = atol(argv[2]);
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  rig = zv_rig_open(argv[1], &options, &code, message, sizeof message);
  if (!rig) {
    printf("%d %s\n", code, message);
    return 1;
  }
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  zv_rig_info(rig, &info);
  in = calloc((size_t)info.input_size, sizeof *in);
  out = calloc((size_t)info.output_size, sizeof *out);
  state = calloc((size_t)info.state_size, sizeof *state);
  pthread_create(&thread, NULL, loop, NULL);
  pthread_join(thread, NULL);
  printf("%d %ld %ld\n", worst, counted, grown);
  for (i = 0; i < info.output_size; ++i) {
    uint64_t bits;
    memcpy(&bits, &out[i], sizeof bits);
    printf("%016" PRIx64 "\n", bits);
  }
  zv_rig_free(rig);
  free(in), free(out), free(state);
  return 0;
}
