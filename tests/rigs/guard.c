/* Preloaded: counts calls that may block, by a thread between guard_enter and guard_leave. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static __thread int inside __attribute__((tls_model("initial-exec")));
static long calls;
static void seen(void) {
  if (inside) __atomic_fetch_add(&calls, 1, __ATOMIC_SEQ_CST);
}
void guard_enter(void) { inside = 1; }
void guard_leave(void) { inside = 0; }
long guard_calls(void) { return __atomic_load_n(&calls, __ATOMIC_SEQ_CST); }

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);
extern void __libc_free(void*);
void* malloc(size_t n) { return seen(), __libc_malloc(n); }
void* calloc(size_t m, size_t n) { return seen(), __libc_calloc(m, n); }
void* realloc(void* p, size_t n) { return seen(), __libc_realloc(p, n); }
void* memalign(size_t a, size_t n) { return seen(), __libc_memalign(a, n); }
void* aligned_alloc(size_t a, size_t n) { return seen(), __libc_memalign(a, n); }
int posix_memalign(void** p, size_t a, size_t n) { return seen(), (*p = __libc_memalign(a, n)) ? 0 : 12; }
void free(void* p) { seen(), __libc_free(p); }

#define PASS(result, name, declared, given)              \
  result name declared {                                 \
    static result(*real) declared;                       \
    if (!real) *(void**)&real = dlsym(RTLD_NEXT, #name); \
    seen();                                              \
    return real given;                                   \
  }
PASS(int, pthread_mutex_lock, (pthread_mutex_t * m), (m))
PASS(int, pthread_rwlock_rdlock, (pthread_rwlock_t * m), (m))
PASS(int, pthread_rwlock_wrlock, (pthread_rwlock_t * m), (m))
PASS(int, pthread_cond_wait, (pthread_cond_t * c, pthread_mutex_t* m), (c, m))
PASS(ssize_t, write, (int f, const void* p, size_t n), (f, p, n))
PASS(ssize_t, read, (int f, void* p, size_t n), (f, p, n))
PASS(FILE*, fopen, (const char* p, const char* m), (p, m))
PASS(int, nanosleep, (const struct timespec* a, struct timespec* b), (a, b))
PASS(void*, mmap, (void* a, size_t n, int p, int f, int d, off_t o), (a, n, p, f, d, o))
PASS(int, munmap, (void* a, size_t n), (a, n))
