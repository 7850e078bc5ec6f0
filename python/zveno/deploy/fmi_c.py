"""C of an FMU around a step: what both versions of the standard share, then what each of them has alone.

The interface is declared here, by the text of the standards (FMI 2.0 and 3.0, Modelica Association).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

__all__ = ["GENERATED", "LIBRARY", "VERSIONS", "fmi_source"]

# ${...}: tables of the model, and names in which the versions differ. Modes are bits, so that a function names those in
# which it may be called.
COMMON: Final = r"""
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "${step}.h"

#if defined(__cplusplus)
#define C_NAME extern "C"
#else
#define C_NAME
#endif
#if defined(_WIN32)
#define EXPORT C_NAME __declspec(dllexport)
#elif defined(__GNUC__)
#define EXPORT C_NAME __attribute__((visibility("default")))
#else
#define EXPORT C_NAME
#endif

#define TOKEN "${token}"
#define INPUTS ${STEP}_INPUTS
#define OUTPUTS ${STEP}_OUTPUTS
#define START ${STEP}_START
#define STEP_SIZE ${STEP}_PERIOD
#define DERIVED ${derived}
#define EXCHANGE ${exchange}

/* Variables in the order of their value references: in version 2 each number has its own, the flat index. */
enum store { TIME, INPUT, OUTPUT, TUNABLE, FIXED, STATUS, ROTATION };
enum kind { REAL, WHOLE, TRUTH };
typedef struct variable {
  enum store store;
  enum kind kind;
  uint32_t flat;
  uint32_t first; /* in its store */
  uint32_t size;
  int exact; /* an output whose start may be set */
  double least;
  double most;
} variable;
#define VARIABLES ${variables}u
static const variable variables[VARIABLES] = {
${places}
};
static const double defaults[INPUTS] = {${defaults}};

enum mode {
  INSTANTIATED = 1,
  INITIALIZING = 2,
  STEPPING = 4,
  EVENT = 8,
  CONTINUOUS = 16,
  TERMINATED = 32
};

/* everything that a snapshot holds */
typedef struct model_data {
  char token[72];
  double in[INPUTS];
  double out[OUTPUTS];
  double slope[INPUTS]; /* of inputs over the next step, 1/s */
  double start[START];
  double time;      /* of a state in model exchange, and of the start */
  ${step}_state state;
  int32_t status;
  int32_t fresh; /* out belongs to state and in */
  int32_t mode;
  int32_t exchange;
  int64_t sloped; /* some slope is not zero */
  uint64_t check; /* of a snapshot: of everything above */
} model_data;

/* what every instance begins with */
typedef struct front {
  model_data data;
  void *engine;
} front;
#define ENGINE(d) (((front *)(void *)(d))->engine)
${engine}
/* 0 or a code of the step */
static int refresh(model_data *d)
{
  int code = 0;
  if (d->fresh == 0) {
    code = ${step}_outputs(${handle}&d->state, d->in, d->out);
    d->status = code;
    d->fresh = (code == 0) ? 1 : 0;
  }
  return code;
}

static void set_defaults(model_data *d)
{
  (void)memset(d, 0, sizeof *d);
  (void)strncpy(d->token, TOKEN, sizeof d->token - 1);
  (void)memcpy(d->start, ${step}_start, sizeof d->start);
  (void)memcpy(d->in, defaults, sizeof d->in);
  d->mode = INSTANTIATED;
}

/* the state of the start values, and its outputs */
static int initialise(model_data *d)
{
  int code = ${step}_init(${handle}&d->state, d->start);
  d->state.origin = d->time;
  d->fresh = 0;
  if (code == 0) {
    code = refresh(d);
  }
  d->status = code;
  return code;
}

static int before_start(const model_data *d) { return ((d->mode & (INSTANTIATED | INITIALIZING)) != 0) ? 1 : 0; }

/* the variable with this flat index, which grows along the table; one that does not have it, if there is none */
static const variable *found(uint32_t flat)
{
  uint32_t at = 0;
  for (uint32_t half = 0x80000000u; half > 0u; half /= 2u) {
    if ((half < VARIABLES - at) && (variables[at + half].flat <= flat)) {
      at += half;
    }
  }
  return &variables[at];
}

${rotation}

/* whether the numbers of a variable are outputs that are known already */
static int is_known(const model_data *d, const variable *v, enum kind kind)
{
  return ((v->store == OUTPUT) && (v->kind == kind) && (d->fresh != 0) && (before_start(d) == 0)) ? 1 : 0;
}

/* element e of a variable; 0, or 1: refused */
static int get_number(model_data *d, const variable *v, uint32_t e, enum kind kind, double *value)
{
  const uint32_t k = v->first + e;
  int bad = 0;
  if ((e >= v->size) || (v->kind != kind)) {
    bad = 1;
  } else if (v->store == TIME) {
    *value = d->state.origin + STEP_SIZE * d->state.steps;
    if ((d->exchange != 0) || (before_start(d) != 0)) {
      *value = d->time;
    }
  } else if (v->store == STATUS) {
    *value = (double)d->status;
  } else if ((v->store == INPUT) || (v->store == TUNABLE)) {
    *value = d->in[k];
  } else if (v->store == FIXED) {
    *value = d->start[k];
  } else if ((before_start(d) != 0) && (v->exact != 0)) {
    *value = d->start[k];
  } else if (d->mode == INSTANTIATED) {
    bad = 1;
  } else {
    if (d->mode == INITIALIZING) {
      bad = (d->fresh == 0) ? initialise(d) : 0;
    } else {
      bad = refresh(d);
    }
    if (v->store == ROTATION) { /* of a quaternion among the outputs */
      double R[9];
      zv_rotation(d->out + v->first, R);
      *value = R[e];
    } else {
      *value = d->out[k];
    }
  }
  return bad;
}

static int set_number(model_data *d, const variable *v, uint32_t e, enum kind kind, double value)
{
  int bad = 1;
  if ((e < v->size) && (v->kind == kind) && (isfinite(value) != 0) && (value >= v->least) && (value <= v->most)) {
    const uint32_t k = v->first + e;
    if ((v->store == INPUT) || (v->store == TUNABLE)) {
      d->in[k] = value;
      bad = 0;
    } else if ((before_start(d) != 0) && ((v->store == FIXED) || ((v->store == OUTPUT) && (v->exact != 0)))) {
      d->start[k] = value;
      bad = 0;
    }
  }
  if (bad == 0) {
    d->fresh = 0;
  }
  return bad;
}

${reason}

/* Steps to the next communication point. 0; 1: the arguments do not fit, 2: a step could not be made; text says why. */
static int advance(model_data *d, double now, double size, char *text, size_t room)
{
  const double reached = d->state.origin + STEP_SIZE * d->state.steps;
  const double ratio = size / STEP_SIZE;
  const double count = floor(ratio + 0.5);
  int result = 0;
  if (!(fabs(now - reached) <= 1e-6 * STEP_SIZE + 1e-12 * fabs(reached))) {
    (void)snprintf(text, room, "the communication point is %.17g, expected %.17g", now, reached);
    result = 1;
  } else if (!(fabs(ratio - count) <= 1e-6) || !(count >= 1.0) || !(count <= 1e9)) {
    (void)snprintf(text, room, "the communication step is %.17g, expected a multiple of %.17g; the nearest is %.17g",
                   size, STEP_SIZE, STEP_SIZE * ((count >= 1.0) ? count : 1.0));
    result = 1;
  } else {
    const int64_t last = (int64_t)count;
    double first[INPUTS];
    if (d->sloped != 0) {
      (void)memcpy(first, d->in, sizeof first);
    }
    for (int64_t k = 0; (k < last) && (result == 0); ++k) {
      for (int j = 0; (j < INPUTS) && (d->sloped != 0); ++j) {
        if (d->slope[j] != 0.0) {
          d->in[j] = first[j] + d->slope[j] * (STEP_SIZE * (double)k);
        }
      }
      d->status = ${step}(${handle}&d->state, d->in, d->out);
      if (d->status != 0) {
        (void)snprintf(text, room, "%s at time %.17g", reason(d->status), d->state.origin + STEP_SIZE * d->state.steps);
        result = 2;
      }
    }
    if (d->sloped != 0) {
      (void)memset(d->slope, 0, sizeof d->slope);
      d->sloped = 0;
    }
    d->fresh = (result == 0) ? 1 : 0;
  }
  return result;
}

/* any change of one number changes it */
static uint64_t check_of(const model_data *d)
{
  uint64_t sum = UINT64_C(14695981039346656037);
  for (size_t at = 0; at < offsetof(model_data, check); at += sizeof sum) {
    uint64_t word;
    (void)memcpy(&word, (const char *)d + at, sizeof word);
    sum = (sum ^ word) * UINT64_C(1099511628211);
    sum ^= sum >> 29;
  }
  return sum;
}

static int usable(const model_data *d)
{
  int good = (strncmp(d->token, TOKEN, sizeof d->token) == 0) ? 1 : 0;
  good &= (d->check == check_of(d)) ? 1 : 0;
  good &= ((d->mode == INSTANTIATED) || (d->mode == INITIALIZING) || (d->mode == STEPPING) || (d->mode == EVENT) ||
           (d->mode == CONTINUOUS) || (d->mode == TERMINATED)) ? 1 : 0;
  return good;
}
"""

# functions of an instance whose text is the same but for names
_ENTER: Final = r"""#define ANY_MODE (INSTANTIATED | INITIALIZING | STEPPING | EVENT | CONTINUOUS | TERMINATED)
#define ENTER(modes)                                                        \
  instance *const i = (instance *)c;                                        \
  if (i == NULL) {                                                          \
    return ${f}Error;                                                       \
  }                                                                         \
  if ((i->data.mode & (modes)) == 0) {                                      \
    return refuse(i, ${f}Error, __func__, "not allowed in this state");     \
  }
#define NEED(condition, text)                       \
  if (!(condition)) {                               \
    return refuse(i, ${f}Error, __func__, (text));  \
  }

/* null: not enough memory, or what the model needs is not there */
static instance *made(const instance *stand, const char *who, int32_t exchange)
{
  instance *i = (instance *)claim(stand, sizeof *i);
  if (i != NULL) {
    *i = *stand;
    set_defaults(&i->data);
    i->data.exchange = exchange;
    if (opened(&i->engine) == 0) {
      (void)refuse(i, ${f}Error, who, "the library of the model beside this one cannot be loaded");
      release(stand, i);
      i = NULL;
    }
  }
  return i;
}

EXPORT void ${f}FreeInstance(${f}${Instance} c)
{
  if (c != NULL) {
    const instance copy = *(const instance *)c;
    closed(copy.engine);
    release(&copy, c);
  }
}
"""

_SHARED: Final = r"""
EXPORT ${f}Status ${f}SetDebugLogging(${f}${Instance} c, ${f}Boolean on, size_t count, const ${f}String categories[])
{
  ENTER(ANY_MODE)
  NEED((count == 0) || (categories != NULL), "categories is null")
  for (size_t k = 0; k < count; ++k) {
    NEED((categories[k] != NULL) && (strcmp(categories[k], "logStatusError") == 0), "unknown category")
  }
  i->logging = on ? 1 : 0;
  return ${f}OK;
}

EXPORT ${f}Status ${f}ExitInitializationMode(${f}${Instance} c)
{
  ENTER(INITIALIZING)
  const int code = initialise(&i->data);
  NEED(code == 0, reason(code))
  i->data.mode = (i->data.exchange != 0) ? EVENT : STEPPING;
  return ${f}OK;
}

EXPORT ${f}Status ${f}Terminate(${f}${Instance} c)
{
  ENTER(STEPPING | EVENT | CONTINUOUS)
  i->data.mode = TERMINATED;
  return ${f}OK;
}

EXPORT ${f}Status ${f}Reset(${f}${Instance} c)
{
  ENTER(ANY_MODE)
  const int32_t exchange = i->data.exchange;
  set_defaults(&i->data);
  i->data.exchange = exchange;
  forget(i);
  return ${f}OK;
}

EXPORT ${f}Status ${f}Get${FMUState}(${f}${Instance} c, ${f}${FMUState} *state)
{
  ENTER(ANY_MODE)
  NEED(state != NULL, "${FMUState} is null")
  if (*state == NULL) {
    *state = claim(i, sizeof(model_data));
  }
  NEED(*state != NULL, "not enough memory")
  i->data.check = check_of(&i->data);
  (void)memcpy(*state, &i->data, sizeof(model_data));
  return ${f}OK;
}

EXPORT ${f}Status ${f}Set${FMUState}(${f}${Instance} c, ${f}${FMUState} state)
{
  ENTER(ANY_MODE)
  NEED(state != NULL, "${FMUState} is null")
  NEED((usable((const model_data *)state) != 0) && (((const model_data *)state)->exchange == i->data.exchange),
       "the state is not of this FMU")
  (void)memcpy(&i->data, state, sizeof(model_data));
  forget(i);
  return ${f}OK;
}

EXPORT ${f}Status ${f}Free${FMUState}(${f}${Instance} c, ${f}${FMUState} *state)
{
  ENTER(ANY_MODE)
  if ((state != NULL) && (*state != NULL)) {
    release(i, *state);
    *state = NULL;
  }
  return ${f}OK;
}

EXPORT ${f}Status ${f}Serialized${FMUState}Size(${f}${Instance} c, ${f}${FMUState} state, size_t *size)
{
  ENTER(ANY_MODE)
  NEED((state != NULL) && (size != NULL), "an argument is null")
  *size = sizeof(model_data);
  return ${f}OK;
}

EXPORT ${f}Status ${f}Serialize${FMUState}(${f}${Instance} c, ${f}${FMUState} state, ${f}Byte bytes[], size_t size)
{
  ENTER(ANY_MODE)
  NEED((state != NULL) && (bytes != NULL), "an argument is null")
  NEED(size == sizeof(model_data), "the size is not that of a state")
  (void)memcpy(bytes, state, size);
  return ${f}OK;
}

EXPORT ${f}Status ${f}${Deserialize}${FMUState}(${f}${Instance} c, const ${f}Byte bytes[], size_t size,
    ${f}${FMUState} *state)
{
  ENTER(ANY_MODE)
  model_data copy;
  NEED((state != NULL) && (bytes != NULL), "an argument is null")
  NEED(size == sizeof copy, "the size is not that of a state")
  (void)memcpy(&copy, bytes, size);
  NEED(usable(&copy) != 0, "the bytes are not a state of this FMU")
  if (*state == NULL) {
    *state = claim(i, sizeof copy);
  }
  NEED(*state != NULL, "not enough memory")
  (void)memcpy(*state, &copy, sizeof copy);
  return ${f}OK;
}

/* ---- model exchange */

EXPORT ${f}Status ${f}EnterEventMode(${f}${Instance} c)
{
  ENTER(${event_modes})
  i->data.mode = EVENT;
  return ${f}OK;
}

EXPORT ${f}Status ${f}EnterContinuousTimeMode(${f}${Instance} c)
{
  ENTER(EVENT)
  i->data.mode = CONTINUOUS;
  return ${f}OK;
}

EXPORT ${f}Status ${f}CompletedIntegratorStep(${f}${Instance} c, ${f}Boolean never, ${f}Boolean *event,
    ${f}Boolean *stop)
{
  ENTER(CONTINUOUS)
  (void)never;
  NEED((event != NULL) && (stop != NULL), "an argument is null")
  *event = false;
  *stop = false;
  return ${f}OK;
}

EXPORT ${f}Status ${f}SetTime(${f}${Instance} c, ${f}${Real} time)
{
  ENTER(EVENT | CONTINUOUS)
  NEED(isfinite(time) != 0, "time is not finite")
  i->data.time = time;
  i->data.state.origin = time;
  i->data.fresh = 0;
  return ${f}OK;
}

EXPORT ${f}Status ${f}SetContinuousStates(${f}${Instance} c, const ${f}${Real} x[], size_t count)
{
  ENTER(${state_modes})
  NEED((x != NULL) && (count == DERIVED), "the number of states is wrong, or their array null")
  for (size_t k = 0; k < count; ++k) {
    NEED(isfinite(x[k]) != 0, "a state is not finite")
  }
  (void)memcpy(i->data.state.y, x, count * sizeof *x);
  i->data.fresh = 0;
  return ${f}OK;
}

EXPORT ${f}Status ${f}GetEventIndicators(${f}${Instance} c, ${f}${Real} x[], size_t count)
{
  ENTER(INITIALIZING | EVENT | CONTINUOUS)
  NEED(i->data.exchange != 0, "this is no model exchange")
  (void)x;
  NEED(count == 0, "there are no event indicators")
  return ${f}OK;
}

EXPORT ${f}Status ${f}GetContinuousStates(${f}${Instance} c, ${f}${Real} x[], size_t count)
{
  ENTER(INITIALIZING | EVENT | CONTINUOUS)
  NEED(i->data.exchange != 0, "this is no model exchange")
  NEED((x != NULL) && (count == DERIVED), "the number of states is wrong, or their array null")
  (void)memcpy(x, (i->data.mode == INITIALIZING) ? i->data.start : i->data.state.y, count * sizeof *x);
  return ${f}OK;
}

EXPORT ${f}Status ${f}GetNominalsOfContinuousStates(${f}${Instance} c, ${f}${Real} x[], size_t count)
{
  ENTER(INITIALIZING | EVENT | CONTINUOUS)
  NEED(i->data.exchange != 0, "this is no model exchange")
  NEED((x != NULL) && (count == DERIVED), "the number of states is wrong, or their array null")
  for (size_t k = 0; k < count; ++k) {
    x[k] = 1.0;
  }
  return ${f}OK;
}

EXPORT ${f}Status ${f}${Derivatives}(${f}${Instance} c, ${f}${Real} x[], size_t count)
{
  ENTER(INITIALIZING | EVENT | CONTINUOUS)
  NEED(i->data.exchange != 0, "this is no model exchange")
  NEED((x != NULL) && (count == DERIVED), "the number of states is wrong, or their array null")
  if (i->data.mode == INITIALIZING) {
    NEED(initialise(&i->data) == 0, "the start has no accelerations")
  }
  const int code = ${rates}(&i->data.state, i->data.time, i->data.in, x);
  if (code != 0) {
    return refuse(i, ${f}Discard, __func__, reason(code));
  }
  return ${f}OK;
}
"""

_TYPES2: Final = r"""
typedef void *fmi2Component;
typedef void *fmi2ComponentEnvironment;
typedef void *fmi2FMUstate;
typedef unsigned int fmi2ValueReference;
typedef double fmi2Real;
typedef int fmi2Integer;
typedef int fmi2Boolean;
typedef const char *fmi2String;
typedef char fmi2Byte;
typedef enum { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending } fmi2Status;
typedef enum { fmi2ModelExchange, fmi2CoSimulation } fmi2Type;
typedef enum { fmi2DoStepStatus, fmi2PendingStatus, fmi2LastSuccessfulTime, fmi2Terminated } fmi2StatusKind;
typedef struct {
  void (*logger)(fmi2ComponentEnvironment, fmi2String, fmi2Status, fmi2String, fmi2String, ...);
  void *(*allocateMemory)(size_t, size_t);
  void (*freeMemory)(void *);
  void (*stepFinished)(fmi2ComponentEnvironment, fmi2Status);
  fmi2ComponentEnvironment environment;
} fmi2CallbackFunctions;
typedef struct {
  fmi2Boolean newDiscreteStatesNeeded;
  fmi2Boolean terminateSimulation;
  fmi2Boolean nominalsOfContinuousStatesChanged;
  fmi2Boolean valuesOfContinuousStatesChanged;
  fmi2Boolean nextEventTimeDefined;
  fmi2Real nextEventTime;
} fmi2EventInfo;
"""

_FRONT2: Final = r"""
typedef struct instance {
  model_data data;
  void *engine;
  int logging;
  fmi2CallbackFunctions callbacks;
  int terminated; /* the last step could not be made */
  char name[64];
} instance;

static void *claim(const instance *i, size_t size)
{
  return (i->callbacks.allocateMemory != NULL) ? i->callbacks.allocateMemory(1, size) : calloc(1, size);
}

static void release(const instance *i, void *memory)
{
  if (i->callbacks.freeMemory != NULL) {
    i->callbacks.freeMemory(memory);
  } else {
    free(memory);
  }
}

static fmi2Status refuse(const instance *i, fmi2Status status, const char *who, const char *why)
{
  if ((i->logging != 0) && (i->callbacks.logger != NULL)) {
    i->callbacks.logger(i->callbacks.environment, i->name, status, "logStatusError", "%s: %s", who, why);
  }
  return status;
}

static void forget(instance *i) { i->terminated = 0; }
"""

_OWN2: Final = r"""
EXPORT const char *fmi2GetTypesPlatform(void) { return "default"; }
EXPORT const char *fmi2GetVersion(void) { return "2.0"; }

EXPORT fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                                     const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logging)
{
  instance *i = NULL;
  instance stand;
  (void)resources;
  (void)visible;
  (void)memset(&stand, 0, sizeof stand);
  if (functions != NULL) {
    stand.callbacks = *functions;
  }
  if ((stand.callbacks.allocateMemory == NULL) || (stand.callbacks.freeMemory == NULL)) {
    stand.callbacks.allocateMemory = NULL; /* what one has given the other must take back */
    stand.callbacks.freeMemory = NULL;
  }
  stand.logging = logging;
  if ((name == NULL) || (name[0] == '\0')) {
    (void)refuse(&stand, fmi2Error, __func__, "the instance has no name");
  } else if ((guid == NULL) || (strcmp(guid, TOKEN) != 0)) {
    (void)refuse(&stand, fmi2Error, __func__, "the GUID is not that of this FMU");
  } else if ((type != fmi2CoSimulation) && ((type != fmi2ModelExchange) || (EXCHANGE == 0))) {
    (void)refuse(&stand, fmi2Error, __func__, "this kind of simulation is not offered");
  } else {
    (void)strncpy(stand.name, name, sizeof stand.name - 1);
    i = made(&stand, __func__, (type == fmi2ModelExchange) ? 1 : 0);
  }
  return i;
}

EXPORT fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean given, fmi2Real tolerance, fmi2Real start,
                                      fmi2Boolean stops, fmi2Real stop)
{
  ENTER(INSTANTIATED)
  (void)given;
  (void)tolerance;
  NEED(isfinite(start) != 0, "startTime is not finite")
  NEED((stops == 0) || (stop > start), "stopTime is not after startTime")
  i->data.time = start;
  return fmi2OK;
}

EXPORT fmi2Status fmi2EnterInitializationMode(fmi2Component c)
{
  ENTER(INSTANTIATED)
  i->data.mode = INITIALIZING;
  return fmi2OK;
}

#define GET(name, type, kind)                                                                                \
  EXPORT fmi2Status name(fmi2Component c, const fmi2ValueReference vr[], size_t count, type value[])         \
  {                                                                                                          \
    ENTER(ANY_MODE)                                                                                          \
    NEED((count == 0) || ((vr != NULL) && (value != NULL)), "an array is null")                              \
    for (size_t k = 0; k < count; ++k) {                                                                     \
      const variable *const v = found(vr[k]);                                                                \
      double number;                                                                                         \
      NEED(get_number(&i->data, v, vr[k] - v->flat, (kind), &number) == 0,                                   \
           "a value reference is unknown, or its value not known now")                                       \
      value[k] = (type)number;                                                                               \
    }                                                                                                        \
    return fmi2OK;                                                                                           \
  }
#define SET(name, type, kind)                                                                                \
  EXPORT fmi2Status name(fmi2Component c, const fmi2ValueReference vr[], size_t count, const type value[])   \
  {                                                                                                          \
    ENTER(INSTANTIATED | INITIALIZING | STEPPING | EVENT | CONTINUOUS)                                       \
    NEED((count == 0) || ((vr != NULL) && (value != NULL)), "an array is null")                              \
    for (size_t k = 0; k < count; ++k) {                                                                     \
      const variable *const v = found(vr[k]);                                                                \
      NEED(set_number(&i->data, v, vr[k] - v->flat, (kind), (double)value[k]) == 0,                          \
           "a value is not finite, out of its range, or cannot be set now")                                  \
    }                                                                                                        \
    return fmi2OK;                                                                                           \
  }
GET(fmi2GetReal, fmi2Real, REAL)
GET(fmi2GetInteger, fmi2Integer, WHOLE)
GET(fmi2GetBoolean, fmi2Boolean, TRUTH)
SET(fmi2SetReal, fmi2Real, REAL)
SET(fmi2SetInteger, fmi2Integer, WHOLE)
SET(fmi2SetBoolean, fmi2Boolean, TRUTH)

/* of this type there are no variables */
#define NONE(name, constant, type)                                                                            \
  EXPORT fmi2Status name(fmi2Component c, const fmi2ValueReference vr[], size_t count, constant type value[]) \
  {                                                                                                           \
    ENTER(ANY_MODE)                                                                                           \
    (void)vr;                                                                                                 \
    (void)value;                                                                                              \
    NEED(count == 0, "there is no such variable")                                                             \
    return fmi2OK;                                                                                            \
  }
NONE(fmi2GetString, , fmi2String)
NONE(fmi2SetString, const, fmi2String)

EXPORT fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *info)
{
  ENTER(EVENT)
  NEED(info != NULL, "eventInfo is null")
  (void)memset(info, 0, sizeof *info);
  return fmi2OK;
}

/* ---- co-simulation */

/* of order 1: the inputs of the next step are straight lines, of which each internal step holds its first value */
EXPORT fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t count,
                                              const fmi2Integer order[], const fmi2Real value[])
{
  ENTER(INSTANTIATED | INITIALIZING | STEPPING)
  NEED(i->data.exchange == 0, "this is no co-simulation")
  NEED((count == 0) || ((vr != NULL) && (order != NULL) && (value != NULL)), "an array is null")
  for (size_t k = 0; k < count; ++k) {
    const variable *const v = found(vr[k]);
    const int real = ((vr[k] - v->flat < v->size) && (v->kind == REAL)) ? 1 : 0;
    NEED((real != 0) && (v->store == INPUT), "a value reference is not that of a real input")
    NEED((order[k] == 1) && (isfinite(value[k]) != 0), "an order is not 1, or a derivative not finite")
    i->data.slope[v->first + (vr[k] - v->flat)] = value[k];
    i->data.sloped = 1;
  }
  return fmi2OK;
}

EXPORT fmi2Status fmi2DoStep(fmi2Component c, fmi2Real now, fmi2Real size, fmi2Boolean never)
{
  ENTER(STEPPING)
  char text[200];
  (void)never;
  const int result = advance(&i->data, now, size, text, sizeof text);
  i->terminated = (result == 2) ? 1 : 0;
  if (result != 0) {
    return refuse(i, (result == 1) ? fmi2Error : fmi2Discard, __func__, text);
  }
  return fmi2OK;
}

EXPORT fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Real *value)
{
  ENTER(STEPPING | TERMINATED)
  NEED((kind == fmi2LastSuccessfulTime) && (value != NULL), "unknown kind, or value is null")
  *value = i->data.state.origin + STEP_SIZE * i->data.state.steps;
  return fmi2OK;
}

EXPORT fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Boolean *value)
{
  ENTER(STEPPING | TERMINATED)
  NEED((kind == fmi2Terminated) && (value != NULL), "unknown kind, or value is null")
  *value = i->terminated;
  return fmi2OK;
}

/* ---- what is not offered */

"""


def _typed() -> str:
    """Getters and setters of types that no variable has."""
    kinds = ("Float32", "Int8", "UInt8", "Int16", "UInt16", "UInt32", "Int64", "UInt64", "String")
    lines = []
    for kind in kinds:
        lines += [f"NONE(fmi3Get{kind}, , fmi3{kind})", f"NONE(fmi3Set{kind}, const, fmi3{kind})"]
    return "\n".join(lines)


def _refused(fmi: int) -> str:
    """Functions of what is not offered."""
    lines = []
    for name, parameters, *answer in _REFUSED[fmi]:
        status, text = answer or ("Error", "not provided")
        modes = "ANY_MODE" if status == "Error" else "STEPPING | TERMINATED"
        instance = VERSIONS[fmi]["Instance"]
        lines += [
            f"EXPORT fmi{fmi}Status fmi{fmi}{name}({', '.join([f'fmi{fmi}{instance} c', *parameters])})",
            "{",
            f"  ENTER({modes})",
            *(f"  (void){re.split('[ *]', parameter)[-1].removesuffix('[]')};" for parameter in parameters),
            f'  return refuse(i, fmi{fmi}{status}, __func__, "{text}");',
            "}",
            "",
        ]
    return "\n".join(lines)


_VR2: Final = ("const fmi2ValueReference vr[]", "size_t count")
_VR3: Final = ("const fmi3ValueReference vr[]", "size_t count")
_KIND: Final = "const fmi2StatusKind kind"
_NEVER: Final = ("Discard", "steps are never pending")
_PARTIAL3: Final = (
    "const fmi3ValueReference unknown[]", "size_t unknowns", "const fmi3ValueReference known[]", "size_t knowns",
    "const fmi3Float64 seed[]", "size_t seeds", "fmi3Float64 out[]", "size_t outs",
)  # fmt: skip
# by version: name, parameters after the instance, and the status and its reason where they are not the usual ones
_REFUSED: Final[dict[int, Sequence[tuple[Any, ...]]]] = {
    2: (
        (
            "GetDirectionalDerivative",
            (
                "const fmi2ValueReference unknown[]", "size_t unknowns", "const fmi2ValueReference known[]",
                "size_t knowns", "const fmi2Real seed[]", "fmi2Real out[]",
            ),
        ),
        ("GetRealOutputDerivatives", (*_VR2, "const fmi2Integer order[]", "fmi2Real value[]")),
        ("CancelStep", (), "Error", "steps are never pending"),
        ("GetStatus", (_KIND, "fmi2Status *value"), *_NEVER),
        ("GetIntegerStatus", (_KIND, "fmi2Integer *value"), "Discard", "there is no such status"),
        ("GetStringStatus", (_KIND, "fmi2String *value"), *_NEVER),
    ),
    3: (
        ("GetBinary", (*_VR3, "size_t sizes[]", "fmi3Binary values[]", "size_t room")),
        ("SetBinary", (*_VR3, "const size_t sizes[]", "const fmi3Binary values[]", "size_t room")),
        ("GetClock", (*_VR3, "fmi3Clock values[]")),
        ("SetClock", (*_VR3, "const fmi3Clock values[]")),
        ("GetNumberOfVariableDependencies", ("fmi3ValueReference vr", "size_t *count")),
        (
            "GetVariableDependencies",
            (
                "fmi3ValueReference vr", "size_t of[]", "fmi3ValueReference on[]", "size_t elements[]",
                "fmi3DependencyKind kinds[]", "size_t count",
            ),
        ),
        ("GetDirectionalDerivative", _PARTIAL3),
        ("GetAdjointDerivative", _PARTIAL3),
        ("EnterConfigurationMode", ()),
        ("ExitConfigurationMode", ()),
        ("GetIntervalDecimal", (*_VR3, "fmi3Float64 values[]", "fmi3IntervalQualifier qualifiers[]")),
        (
            "GetIntervalFraction",
            (*_VR3, "fmi3UInt64 counters[]", "fmi3UInt64 resolutions[]", "fmi3IntervalQualifier qualifiers[]"),
        ),
        ("GetShiftDecimal", (*_VR3, "fmi3Float64 values[]")),
        ("GetShiftFraction", (*_VR3, "fmi3UInt64 counters[]", "fmi3UInt64 resolutions[]")),
        ("SetIntervalDecimal", (*_VR3, "const fmi3Float64 values[]")),
        ("SetIntervalFraction", (*_VR3, "const fmi3UInt64 counters[]", "const fmi3UInt64 resolutions[]")),
        ("SetShiftDecimal", (*_VR3, "const fmi3Float64 values[]")),
        ("SetShiftFraction", (*_VR3, "const fmi3UInt64 counters[]", "const fmi3UInt64 resolutions[]")),
        ("GetOutputDerivatives", (*_VR3, "const fmi3Int32 orders[]", "fmi3Float64 values[]", "size_t room")),
        ("ActivateModelPartition", ("fmi3ValueReference clock", "fmi3Float64 time")),
        ("EnterStepMode", ()),
    ),
}  # fmt: skip

_TYPES3: Final = r"""
typedef void *fmi3Instance;
typedef void *fmi3InstanceEnvironment;
typedef void *fmi3FMUState;
typedef uint32_t fmi3ValueReference;
typedef float fmi3Float32;
typedef double fmi3Float64;
typedef int8_t fmi3Int8;
typedef uint8_t fmi3UInt8;
typedef int16_t fmi3Int16;
typedef uint16_t fmi3UInt16;
typedef int32_t fmi3Int32;
typedef uint32_t fmi3UInt32;
typedef int64_t fmi3Int64;
typedef uint64_t fmi3UInt64;
typedef bool fmi3Boolean;
typedef const char *fmi3String;
typedef uint8_t fmi3Byte;
typedef const fmi3Byte *fmi3Binary;
typedef bool fmi3Clock;
typedef enum { fmi3OK, fmi3Warning, fmi3Discard, fmi3Error, fmi3Fatal } fmi3Status;
typedef enum {
  fmi3Independent,
  fmi3Constant,
  fmi3Fixed,
  fmi3Tunable,
  fmi3Discrete,
  fmi3Dependent
} fmi3DependencyKind;
typedef enum { fmi3IntervalNotYetKnown, fmi3IntervalUnchanged, fmi3IntervalChanged } fmi3IntervalQualifier;
typedef void (*fmi3LogMessageCallback)(fmi3InstanceEnvironment, fmi3Status, fmi3String, fmi3String);
typedef void (*fmi3ClockUpdateCallback)(fmi3InstanceEnvironment);
typedef void (*fmi3IntermediateUpdateCallback)(fmi3InstanceEnvironment, fmi3Float64, fmi3Boolean, fmi3Boolean,
                                               fmi3Boolean, fmi3Boolean, fmi3Boolean *, fmi3Float64 *);
typedef void (*fmi3LockPreemptionCallback)();
typedef void (*fmi3UnlockPreemptionCallback)();
"""

_FRONT3: Final = r"""
typedef struct instance {
  model_data data;
  void *engine;
  int logging;
  fmi3InstanceEnvironment environment;
  fmi3LogMessageCallback logger;
} instance;

static void *claim(const instance *i, size_t size)
{
  (void)i;
  return calloc(1, size);
}

static void release(const instance *i, void *memory)
{
  (void)i;
  free(memory);
}

static fmi3Status refuse(const instance *i, fmi3Status status, const char *who, const char *why)
{
  if ((i->logging != 0) && (i->logger != NULL)) {
    char text[300];
    (void)snprintf(text, sizeof text, "%s: %s", who, why);
    i->logger(i->environment, status, "logStatusError", text);
  }
  return status;
}

static void forget(instance *i) { (void)i; }
"""

_OWN3: Final = (
    r"""
EXPORT const char *fmi3GetVersion(void) { return "3.0"; }

static fmi3Instance instantiate(fmi3String name, fmi3String token, int exchange, int offered, fmi3Boolean logging,
                                fmi3InstanceEnvironment environment, fmi3LogMessageCallback logger)
{
  instance *i = NULL;
  instance stand;
  (void)memset(&stand, 0, sizeof stand);
  stand.environment = environment;
  stand.logger = logger;
  stand.logging = logging ? 1 : 0;
  if ((name == NULL) || (name[0] == '\0')) {
    (void)refuse(&stand, fmi3Error, "fmi3Instantiate", "the instance has no name");
  } else if ((token == NULL) || (strcmp(token, TOKEN) != 0)) {
    (void)refuse(&stand, fmi3Error, "fmi3Instantiate", "the instantiation token is not that of this FMU");
  } else if (offered == 0) {
    (void)refuse(&stand, fmi3Error, "fmi3Instantiate", "this kind of simulation is not offered");
  } else {
    i = made(&stand, "fmi3Instantiate", exchange);
  }
  return i;
}

EXPORT fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String token, fmi3String resources,
                                                 fmi3Boolean visible, fmi3Boolean logging,
                                                 fmi3InstanceEnvironment environment, fmi3LogMessageCallback logger)
{
  (void)resources;
  (void)visible;
  return instantiate(name, token, 1, EXCHANGE, logging, environment, logger);
}

EXPORT fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String resources,
                                                fmi3Boolean visible, fmi3Boolean logging, fmi3Boolean events,
                                                fmi3Boolean early, const fmi3ValueReference required[], size_t count,
                                                fmi3InstanceEnvironment environment, fmi3LogMessageCallback logger,
                                                fmi3IntermediateUpdateCallback update)
{
  (void)resources;
  (void)visible;
  (void)early;
  (void)required;
  (void)update;
  return instantiate(name, token, 0, ((!events) && (count == 0)) ? 1 : 0, logging, environment, logger);
}

EXPORT fmi3Instance fmi3InstantiateScheduledExecution(fmi3String name, fmi3String token, fmi3String resources,
                                                      fmi3Boolean visible, fmi3Boolean logging,
                                                      fmi3InstanceEnvironment environment,
                                                      fmi3LogMessageCallback logger, fmi3ClockUpdateCallback update,
                                                      fmi3LockPreemptionCallback lock,
                                                      fmi3UnlockPreemptionCallback unlock)
{
  (void)resources;
  (void)visible;
  (void)update;
  (void)lock;
  (void)unlock;
  return instantiate(name, token, 0, 0, logging, environment, logger);
}

EXPORT fmi3Status fmi3EnterInitializationMode(fmi3Instance c, fmi3Boolean given, fmi3Float64 tolerance,
                                              fmi3Float64 start, fmi3Boolean stops, fmi3Float64 stop)
{
  ENTER(INSTANTIATED)
  (void)given;
  (void)tolerance;
  NEED(isfinite(start) != 0, "startTime is not finite")
  NEED((!stops) || (stop > start), "stopTime is not after startTime")
  i->data.time = start;
  i->data.mode = INITIALIZING;
  return fmi3OK;
}

#define GET(name, type, kind)                                                                                 \
  EXPORT fmi3Status name(fmi3Instance c, const fmi3ValueReference vr[], size_t count, type values[], size_t room) \
  {                                                                                                           \
    ENTER(ANY_MODE)                                                                                           \
    size_t at = 0;                                                                                            \
    NEED((count == 0) || ((vr != NULL) && (values != NULL)), "an array is null")                              \
    for (size_t k = 0; k < count; ++k) {                                                                      \
      NEED(vr[k] < VARIABLES, "unknown value reference")                                                      \
      const variable *const v = &variables[vr[k]];                                                            \
      NEED(v->size <= room - at, "there are fewer values than the variables have")                            \
      const int known = is_known(&i->data, v, (kind));                                                        \
      for (uint32_t e = 0; e < v->size; ++e) {                                                                \
        double number = i->data.out[(known != 0) ? v->first + e : 0u];                                        \
        NEED((known != 0) || (get_number(&i->data, v, e, (kind), &number) == 0),                              \
             "the variable is of another type, or its value not known now")                                   \
        values[at] = (type)number;                                                                            \
        ++at;                                                                                                 \
      }                                                                                                       \
    }                                                                                                         \
    NEED(at == room, "there are more values than the variables have")                                         \
    return fmi3OK;                                                                                            \
  }
#define SET(name, type, kind)                                                                                 \
  EXPORT fmi3Status name(fmi3Instance c, const fmi3ValueReference vr[], size_t count, const type values[],    \
                         size_t room)                                                                         \
  {                                                                                                           \
    ENTER(INSTANTIATED | INITIALIZING | STEPPING | EVENT | CONTINUOUS)                                        \
    size_t at = 0;                                                                                            \
    NEED((count == 0) || ((vr != NULL) && (values != NULL)), "an array is null")                              \
    for (size_t k = 0; k < count; ++k) {                                                                      \
      NEED(vr[k] < VARIABLES, "unknown value reference")                                                      \
      at += variables[vr[k]].size;                                                                            \
    }                                                                                                         \
    NEED(at == room, "the number of values is not that of the variables")                                     \
    at = 0;                                                                                                   \
    for (size_t k = 0; k < count; ++k) {                                                                      \
      for (uint32_t e = 0; e < variables[vr[k]].size; ++e) {                                                  \
        NEED(set_number(&i->data, &variables[vr[k]], e, (kind), (double)values[at]) == 0,                     \
             "a value is not finite, out of its range, of another type, or cannot be set now")                \
        ++at;                                                                                                 \
      }                                                                                                       \
    }                                                                                                         \
    return fmi3OK;                                                                                            \
  }
GET(fmi3GetFloat64, fmi3Float64, REAL)
GET(fmi3GetInt32, fmi3Int32, WHOLE)
GET(fmi3GetBoolean, fmi3Boolean, TRUTH)
SET(fmi3SetFloat64, fmi3Float64, REAL)
SET(fmi3SetInt32, fmi3Int32, WHOLE)
SET(fmi3SetBoolean, fmi3Boolean, TRUTH)

/* of these types there are no variables */
#define NONE(name, constant, type)                                                                             \
  EXPORT fmi3Status name(fmi3Instance c, const fmi3ValueReference vr[], size_t count, constant type values[],  \
                         size_t room)                                                                          \
  {                                                                                                            \
    ENTER(ANY_MODE)                                                                                            \
    (void)vr;                                                                                                  \
    (void)values;                                                                                              \
    NEED((count == 0) && (room == 0), "there is no such variable")                                             \
    return fmi3OK;                                                                                             \
  }
"""
    + _typed()
    + r"""

EXPORT fmi3Status fmi3EvaluateDiscreteStates(fmi3Instance c)
{
  ENTER(INITIALIZING | EVENT)
  return fmi3OK;
}

EXPORT fmi3Status fmi3UpdateDiscreteStates(fmi3Instance c, fmi3Boolean *need, fmi3Boolean *stop, fmi3Boolean *nominals,
                                           fmi3Boolean *values, fmi3Boolean *defined, fmi3Float64 *next)
{
  ENTER(EVENT)
  NEED((need != NULL) && (stop != NULL) && (nominals != NULL), "an argument is null")
  NEED((values != NULL) && (defined != NULL) && (next != NULL), "an argument is null")
  *need = false;
  *stop = false;
  *nominals = false;
  *values = false;
  *defined = false;
  *next = 0.0;
  return fmi3OK;
}

EXPORT fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance c, size_t *count)
{
  ENTER(ANY_MODE)
  NEED(count != NULL, "an argument is null")
  *count = 0;
  return fmi3OK;
}

EXPORT fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance c, size_t *count)
{
  ENTER(ANY_MODE)
  NEED(count != NULL, "an argument is null")
  *count = (EXCHANGE != 0) ? DERIVED : 0;
  return fmi3OK;
}

/* ---- co-simulation */

EXPORT fmi3Status fmi3DoStep(fmi3Instance c, fmi3Float64 now, fmi3Float64 size, fmi3Boolean never, fmi3Boolean *event,
                             fmi3Boolean *stop, fmi3Boolean *early, fmi3Float64 *reached)
{
  ENTER(STEPPING)
  char text[200];
  (void)never;
  NEED((event != NULL) && (stop != NULL) && (early != NULL) && (reached != NULL), "an argument is null")
  const int result = advance(&i->data, now, size, text, sizeof text);
  *event = false;
  *stop = false;
  *early = false;
  *reached = i->data.state.origin + STEP_SIZE * i->data.state.steps;
  if (result != 0) {
    return refuse(i, (result == 1) ? fmi3Error : fmi3Discard, __func__, text);
  }
  return fmi3OK;
}

/* ---- what is not offered */

"""
)

# where the step is: in generated code, or in the library that the FMU carries
GENERATED: Final = {
    "handle": "",
    "engine": r"""
static int opened(void **engine)
{
  *engine = NULL;
  return 1;
}

static void closed(void *engine) { (void)engine; }
""",
    "reason": r"""static const char *reason(int code)
{
  const char *text = "a number is not finite: too large, or the state is singular";
  if (code == ${STEP}_UNREACHABLE) {
    text = "a leg cannot take the pose";
  } else if (code == ${STEP}_NOT_FINITE) {
    text = "an input or a start value is not finite";
  }
  return text;
}""",
    "rates": "${step}_rates",
}
LIBRARY: Final = {
    "handle": "ENGINE(d), ",
    "engine": r"""
static int opened(void **engine)
{
  *engine = ${step}_open();
  return (*engine != NULL) ? 1 : 0;
}

static void closed(void *engine) { ${step}_close(engine); }

static int no_rates(const ${step}_state *state, double time, const double *in, double *rates)
{
  (void)state;
  (void)time;
  (void)in;
  (void)rates;
  return 1;
}
""",
    "reason": "static const char *reason(int code) { return ${step}_reason(code); }",
    "rates": "no_rates",
}

VERSIONS: Final = {
    2: {
        "f": "fmi2",
        "Instance": "Component",
        "Real": "Real",
        "FMUState": "FMUstate",
        "Deserialize": "DeSerialize",
        "Derivatives": "GetDerivatives",
        "event_modes": "CONTINUOUS | EVENT",
        "state_modes": "EVENT | CONTINUOUS",
    },
    3: {
        "f": "fmi3",
        "Instance": "Instance",
        "Real": "Float64",
        "FMUState": "FMUState",
        "Deserialize": "Deserialize",
        "Derivatives": "GetContinuousStateDerivatives",
        "event_modes": "CONTINUOUS",
        "state_modes": "CONTINUOUS",
    },
}


def fmi_source(fmi: int) -> str:
    """The text of a version, with names of the model still to be put in."""
    own = (_TYPES2, _FRONT2, _OWN2) if fmi == 2 else (_TYPES3, _FRONT3, _OWN3)
    types, front, rest = own
    return COMMON + types + front + _ENTER + _SHARED + rest + _refused(fmi)
