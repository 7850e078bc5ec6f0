/* zveno for C: step a chain, a linkage, a hexapod or two vehicles that dock next to real hardware, or evaluate functions.
 *
 * A rig is made from text that Python has written (zveno.save_rig, or save() of a chain or a hexapod), or from URDF.
 * Creating it allocates everything, loads the kernels for this processor and makes trial steps; after that no function of
 * this header allocates, locks, throws, writes or reads a file, looks at the locale or keeps global state. Worst case: no
 * loop depends on the data, except that angles of chains beyond 1e5 rad go to the C library's sine, and that custom legs of
 * hexapods are closed by at most 60 steps of Newton's method, that a step of a linkage is brought back onto its constraints
 * by at most three, and that a step of a docking in which latches close or thrusters switch is made in at most 16 parts.
 *
 * Threads: handles are independent. One handle may be used by one thread at a time; functions that take a const handle may
 * be called by several, as long as none of them changes it. Working memory belongs to threads: a thread other than the one
 * that created a handle calls zv_rig_prepare or zv_function_prepare once before its loop; without that its first call
 * allocates. Nothing may be called from a signal handler.
 *
 * Floating point: round to nearest is expected; the environment is left as it is found, but for ZV_FLUSH_DENORMALS, which
 * is set inside a step and restored at its end. Results have the same bits on every x86-64 processor, and the same bits as
 * Python's.
 *
 * Units are SI, radians; matrices are row major; rotations map local components to those of the reference; quaternions
 * are w, x, y, z. Pointers must not be null unless it says so and must be aligned for their type; either is refused.
 */
#ifndef ZVENO_H
#define ZVENO_H

#include <stddef.h>
#include <stdint.h>

#if defined(ZVENO_C_INSIDE) /* compiled into what calls it */
#if defined(__GNUC__) && !defined(_WIN32)
#define ZV_API __attribute__((visibility("hidden")))
#else
#define ZV_API
#endif
#elif defined(_WIN32)
#if defined(ZVENO_C_BUILD)
#define ZV_API __declspec(dllexport)
#else
#define ZV_API __declspec(dllimport)
#endif
#elif defined(__GNUC__)
#define ZV_API __attribute__((visibility("default")))
#else
#define ZV_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Grows with what is added at the end of structs and to the list of functions; zv_abi_version() of the library must not be
 * smaller. Nothing is ever removed or changed under the same soname. */
#define ZV_ABI_VERSION 2

/* What functions return. Above zero: it was done, with a remark. Below zero: it was not done. */
typedef enum zv_code {
  ZV_OK = 0,
  ZV_INPUT_HELD = 1,      /* an input was not finite, jumped or was no command: made with the last good ones */
  ZV_ERROR_ARGUMENT = -1, /* null or misaligned pointer, unknown name, wrong size */
  ZV_ERROR_TEXT = -2,     /* neither JSON nor XML, or cut short */
  ZV_ERROR_MODEL = -3,    /* that, but not a model that can be computed with */
  ZV_ERROR_MEMORY = -4,
  ZV_ERROR_KERNELS = -5,     /* shared objects with the kernels were not found beside this library */
  ZV_ERROR_FILE = -6,        /* cannot be read */
  ZV_ERROR_NOT_FINITE = -7,  /* an argument of a function is not finite, or no rotation */
  ZV_ERROR_UNREACHABLE = -8, /* a leg cannot take the pose */
  ZV_ERROR_SINGULAR = -9,    /* accelerations are not determined */
  ZV_ERROR_OVERFLOW = -10,   /* a result is not finite */
  ZV_ERROR_STATE = -11,      /* not a saved state of this rig */
  ZV_ERROR_STOPPED = -12,    /* after too many refused inputs; zv_rig_reset or zv_rig_set_state go on */
  ZV_ERROR_INTERNAL = -13,
  ZV_ERROR_CONTACT = -14 /* dockings: deeper than the contact's model reaches, rings that touch at the start */
} zv_code;

typedef struct zv_rig zv_rig;
typedef struct zv_function zv_function;

/* Structs begin with their size, which the caller sets: sizeof(zv_info). More is never written, and members that a newer
 * header has added are left alone by an older library. Names and texts belong to the handle and live as long. */

typedef enum zv_method { ZV_AS_WRITTEN = 0, ZV_RK4 = 1, ZV_SEMI_IMPLICIT = 2 } zv_method;
enum { ZV_FLUSH_DENORMALS = 1 };

/* Zero in a member keeps what the text says. */
typedef struct zv_options {
  size_t struct_size;
  double period;     /* s, between two steps; the text's default is 1e-3 */
  int32_t substeps;  /* of the integrator in a period */
  int32_t method;    /* zv_method */
  uint32_t flags;    /* ZV_FLUSH_DENORMALS */
  int32_t most_held; /* refused inputs in a row after which the rig stops; the text's default is 0: it never does */
} zv_options;

typedef struct zv_info {
  size_t struct_size;
  const char* name;    /* of the model */
  const char* kind;    /* "chain", "linkage", "hexapod" or "docking" */
  const char* kernels; /* instruction set in use */
  double period;       /* s */
  int32_t substeps;
  int32_t method; /* zv_method */
  int32_t joints; /* moving joints of a chain, driven legs of a hexapod or of a docking's first ring */
  int32_t inputs; /* channels */
  int32_t outputs;
  int32_t input_size; /* numbers of all channels together: what zv_rig_step reads and writes */
  int32_t output_size;
  int32_t start_size; /* numbers of zv_rig_reset */
  int32_t state_size; /* numbers of a saved state */
} zv_info;

/* a quantity among inputs, outputs, or arguments of a function */
typedef struct zv_channel {
  size_t struct_size;
  const char* name; /* "tau", "ring.position", ... */
  const char* unit;
  int32_t offset; /* of its first number in the array of a step; of functions 0 */
  int32_t size;
  int32_t required; /* functions: 0 where a null pointer stands for zeros or for "not wanted" */
} zv_channel;

typedef struct zv_status {
  size_t struct_size;
  double time;         /* s, at the end of the last step */
  int64_t steps;       /* made since the last reset */
  int64_t held_inputs; /* steps made with held inputs, since the last reset */
  int64_t failures;    /* steps that could not be made */
  int32_t held_in_row;
  int32_t stopped; /* 1: zv_rig_step answers ZV_ERROR_STOPPED */
} zv_status;

ZV_API int zv_abi_version(void);
ZV_API const char* zv_version(void);
/* a code in words; never null */
ZV_API const char* zv_strerror(int code);

/* ---- rigs ----------------------------------------------------------------------------------------------------------- */

/* From `size` bytes of JSON: {"format": "zveno.rig"}, "zveno.chain" or "zveno.hexapod"; or of URDF, which is the chain of
 * Chain.from_urdf in Python, without laws. message, if not null, gets a sentence of at most message_size - 1 characters;
 * null is returned on error. */
ZV_API zv_rig* zv_rig_create(const char* text, size_t size, char* message, size_t message_size);
/* The same with options (may be null) and the code (may be null). */
ZV_API zv_rig* zv_rig_create_with(const char* text, size_t size, const zv_options* options, int* code, char* message,
                                  size_t message_size);
/* From a file of at most 64 MiB. Folders, devices and pipes are refused: nobody is waited for. */
ZV_API zv_rig* zv_rig_open(const char* path, const zv_options* options, int* code, char* message, size_t message_size);
/* null is allowed; functions made from the rig are freed before it */
ZV_API void zv_rig_free(zv_rig* rig);

ZV_API int zv_rig_info(const zv_rig* rig, zv_info* info);
ZV_API int zv_rig_input(const zv_rig* rig, int32_t index, zv_channel* channel);
ZV_API int zv_rig_output(const zv_rig* rig, int32_t index, zv_channel* channel);
ZV_API int zv_rig_status(const zv_rig* rig, zv_status* status);

/* Once in the thread that will step: reserves its working memory and makes trial steps, which change nothing. */
ZV_API int zv_rig_prepare(zv_rig* rig);

/* To the start at time 0. start: q, qd of a chain or linkage; r, quaternion, u of a hexapod; closing speed, offset (2),
 * pitch and yaw, roll, lateral velocity (2), rates (3), gap of a docking, then factors of chaser's and station's mass,
 * friction, stiffness and damping of the contact, gap and stiffness of latches, forces of the legs; null: what the text
 * says. */
ZV_API int zv_rig_reset(zv_rig* rig, const double* start);

/* One period. Inputs are held over it, outputs are those at its end, under these inputs. On a code below zero the state is
 * what it was, and `out` gets the last good outputs. in may be null: zeros; out may be null. They must not overlap. */
ZV_API int zv_rig_step(zv_rig* rig, const double* in, double* out);

/* The outputs of the last good step; before the first one and behind a reset those of the start. */
ZV_API int zv_rig_outputs(const zv_rig* rig, double* out);

/* A complete snapshot, state_size numbers: what follows a restored one has the same bits. */
ZV_API int zv_rig_get_state(const zv_rig* rig, double* state);
ZV_API int zv_rig_set_state(zv_rig* rig, const double* state);

/* What the last zv_rig_step, zv_rig_reset or zv_rig_set_state that was not done was about, in words: zero ends it; its code
 * is returned. Of other functions zv_strerror says what a code means. */
ZV_API int zv_last_detail(const zv_rig* rig, char* message, size_t message_size);

/* ---- functions of the model ----------------------------------------------------------------------------------------- */

/* By its name in Python: "mass_matrix", "inverse_dynamics", "pose", ... options: null or "key=value" pairs separated by
 * spaces: method, link, point=x,y,z, frame, about, i, j, by=a,b, motion, external=a,b (links with an external wrench),
 * tau=all (hexapods: forces of all joints). Names with spaces stand in 'quotes'. */
ZV_API zv_function* zv_function_create(const zv_rig* rig, const char* name, const char* options, int* code, char* message,
                                       size_t message_size);
ZV_API void zv_function_free(zv_function* function);
/* the number of arrays, or a code */
ZV_API int zv_function_inputs(const zv_function* function);
ZV_API int zv_function_outputs(const zv_function* function);
ZV_API int zv_function_input(const zv_function* function, int32_t index, zv_channel* channel);
ZV_API int zv_function_output(const zv_function* function, int32_t index, zv_channel* channel);
ZV_API int zv_function_prepare(zv_function* function);
/* in and out: one pointer for each array, in the order of its channels; `rows` states stand one after another. Rows that
 * fail are filled with NaN, the code is that of the first of them. */
ZV_API int zv_function_call(zv_function* function, size_t rows, const double* const* in, double* const* out);

#ifdef __cplusplus
}
#endif
#endif
