/* Every function of FMI 3 with right and wrong arguments, against the standard's own headers. argv: library, token, size of
 * the first input, value reference of the first output, its size, value reference of an output that is calculated, its size,
 * states, offers model exchange, value reference of the status. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmi3Functions.h"

static int failures, logged;
#define CHECK(condition)                              \
  do {                                                \
    if (!(condition)) {                               \
      printf("line %d: %s\n", __LINE__, #condition);  \
      ++failures;                                     \
    }                                                 \
  } while (0)
#define GET(name) name##TYPE *const f##name = (name##TYPE *)dlsym(library, #name); if (!f##name) { printf("no %s\n", #name); return 1; }
#define NONE(type)                                                                  \
  do {                                                                              \
    GET(fmi3Get##type) GET(fmi3Set##type)                                           \
    fmi3##type value[1];                                                            \
    memset(value, 0, sizeof value);                                                 \
    CHECK(ffmi3Get##type(c, &in, 1, value, 1) == fmi3Error);                        \
    CHECK(ffmi3Set##type(c, &in, 1, value, 1) == fmi3Error);                        \
    CHECK(ffmi3Get##type(c, NULL, 0, NULL, 0) == fmi3OK);                           \
    CHECK(ffmi3Get##type(NULL, NULL, 0, NULL, 0) == fmi3Error);                     \
  } while (0)

static void logger(fmi3InstanceEnvironment e, fmi3Status s, fmi3String c, fmi3String m) {
  if (e && c && s != fmi3OK && strlen(m) > 5) ++logged;
}

int main(int argc, char **argv) {
  if (argc != 11) return 2;
  void *library = dlopen(argv[1], RTLD_NOW);
  if (!library) return puts(dlerror()), 1;
  GET(fmi3GetVersion) GET(fmi3SetDebugLogging) GET(fmi3InstantiateModelExchange) GET(fmi3InstantiateCoSimulation)
  GET(fmi3InstantiateScheduledExecution) GET(fmi3FreeInstance) GET(fmi3EnterInitializationMode)
  GET(fmi3ExitInitializationMode) GET(fmi3EnterEventMode) GET(fmi3Terminate) GET(fmi3Reset) GET(fmi3GetFloat64)
  GET(fmi3SetFloat64) GET(fmi3GetInt32) GET(fmi3SetInt32) GET(fmi3GetBinary) GET(fmi3SetBinary) GET(fmi3GetClock)
  GET(fmi3SetClock) GET(fmi3GetNumberOfVariableDependencies) GET(fmi3GetVariableDependencies) GET(fmi3GetFMUState)
  GET(fmi3SetFMUState) GET(fmi3FreeFMUState) GET(fmi3SerializedFMUStateSize) GET(fmi3SerializeFMUState)
  GET(fmi3DeserializeFMUState) GET(fmi3GetDirectionalDerivative) GET(fmi3GetAdjointDerivative)
  GET(fmi3EnterConfigurationMode) GET(fmi3ExitConfigurationMode) GET(fmi3GetIntervalDecimal) GET(fmi3GetIntervalFraction)
  GET(fmi3GetShiftDecimal) GET(fmi3GetShiftFraction) GET(fmi3SetIntervalDecimal) GET(fmi3SetIntervalFraction)
  GET(fmi3SetShiftDecimal) GET(fmi3SetShiftFraction) GET(fmi3EvaluateDiscreteStates) GET(fmi3UpdateDiscreteStates)
  GET(fmi3EnterContinuousTimeMode) GET(fmi3CompletedIntegratorStep) GET(fmi3SetTime) GET(fmi3SetContinuousStates)
  GET(fmi3GetContinuousStateDerivatives) GET(fmi3GetEventIndicators) GET(fmi3GetContinuousStates)
  GET(fmi3GetNominalsOfContinuousStates) GET(fmi3GetNumberOfEventIndicators) GET(fmi3GetNumberOfContinuousStates)
  GET(fmi3EnterStepMode) GET(fmi3GetOutputDerivatives) GET(fmi3DoStep) GET(fmi3ActivateModelPartition)
  const char *token = argv[2];
  const size_t wide = (size_t)atoi(argv[3]), size1 = (size_t)atoi(argv[5]), size2 = (size_t)atoi(argv[7]);
  const fmi3ValueReference in = 1, time = 0, far = 1000, out = (fmi3ValueReference)atoi(argv[4]);
  const fmi3ValueReference made = (fmi3ValueReference)atoi(argv[6]), code = (fmi3ValueReference)atoi(argv[10]);
  const size_t many = (size_t)atoi(argv[8]);
  const int exchange = atoi(argv[9]);
  double x[200] = {0}, y[200] = {0}, reached = -1;
  bool a, b, e, f, g;
  CHECK(strcmp(ffmi3GetVersion(), "3.0") == 0);
  CHECK(!ffmi3InstantiateCoSimulation(NULL, token, NULL, false, true, false, false, NULL, 0, &failures, logger, NULL));
  CHECK(!ffmi3InstantiateCoSimulation("c", "{other}", NULL, false, true, false, false, NULL, 0, &failures, logger, NULL));
  CHECK(!ffmi3InstantiateCoSimulation("c", token, NULL, false, true, true, false, NULL, 0, &failures, logger, NULL));
  CHECK(!ffmi3InstantiateCoSimulation("c", token, NULL, false, true, false, false, &in, 1, &failures, logger, NULL));
  CHECK(!ffmi3InstantiateScheduledExecution("c", token, NULL, false, true, &failures, logger, NULL, NULL, NULL));
  CHECK(logged == 5);
  fmi3Instance c = ffmi3InstantiateCoSimulation("c", token, NULL, false, true, false, false, NULL, 0, &failures, logger, NULL);
  fmi3Instance d = ffmi3InstantiateCoSimulation("d", token, NULL, false, false, false, false, NULL, 0, NULL, NULL, NULL);
  CHECK(c && d && c != d);
  ffmi3FreeInstance(NULL);
  CHECK(ffmi3GetFloat64(NULL, &in, 1, x, wide) == fmi3Error && ffmi3Reset(NULL) == fmi3Error);
  /* before initialisation */
  CHECK(ffmi3DoStep(c, 0, 1e-3, true, &a, &b, &e, &reached) == fmi3Error && ffmi3ExitInitializationMode(c) == fmi3Error);
  CHECK(ffmi3EnterEventMode(c) == fmi3Error && ffmi3Terminate(c) == fmi3Error && ffmi3SetTime(c, 0) == fmi3Error);
  const fmi3String categories[] = {"logStatusError"}, unknown[] = {"no"};
  CHECK(ffmi3SetDebugLogging(c, true, 1, categories) == fmi3OK && ffmi3SetDebugLogging(c, true, 1, unknown) == fmi3Error);
  CHECK(ffmi3SetDebugLogging(c, true, 1, NULL) == fmi3Error);
  CHECK(ffmi3GetFloat64(c, &out, 1, x, size1) == fmi3OK && ffmi3GetFloat64(c, &made, 1, y, size2) == fmi3Error);
  CHECK(ffmi3SetFloat64(c, &out, 1, x, size1) == fmi3OK && ffmi3SetFloat64(c, &out, 1, x, size1 + 1) == fmi3Error);
  CHECK(ffmi3SetFloat64(c, &in, 1, x, wide - 1) == fmi3Error && ffmi3SetFloat64(c, &far, 1, x, 1) == fmi3Error);
  CHECK(ffmi3SetFloat64(c, &time, 1, x, 1) == fmi3Error && ffmi3SetFloat64(c, NULL, 1, x, 1) == fmi3Error && ffmi3SetFloat64(c, NULL, 0, NULL, 0) == fmi3OK);
  y[0] = NAN;
  CHECK(ffmi3SetFloat64(c, &in, 1, y, wide) == fmi3Error);
  CHECK(ffmi3EnterInitializationMode(c, false, 0, NAN, false, 0) == fmi3Error && ffmi3EnterInitializationMode(c, false, 0, 1, true, 0) == fmi3Error);
  CHECK(ffmi3EnterInitializationMode(c, false, 0, 0, true, 1) == fmi3OK && ffmi3EnterInitializationMode(c, false, 0, 0, true, 1) == fmi3Error);
  CHECK(ffmi3GetFloat64(c, &made, 1, y, size2) == fmi3OK && isfinite(y[0]) && ffmi3SetFloat64(c, &made, 1, y, size2) == fmi3Error);
  CHECK(ffmi3ExitInitializationMode(c) == fmi3OK);
  /* steps */
  CHECK(ffmi3DoStep(c, 0, 1.5e-3, true, &a, &b, &e, &reached) == fmi3Error && ffmi3DoStep(c, 0, NAN, true, &a, &b, &e, &reached) == fmi3Error);
  CHECK(ffmi3DoStep(c, 1, 1e-3, true, &a, &b, &e, &reached) == fmi3Error && ffmi3DoStep(c, 0, 1e-3, true, NULL, &b, &e, &reached) == fmi3Error);
  CHECK(ffmi3DoStep(c, 0, 1e-3, true, &a, &b, &e, &reached) == fmi3OK && !a && !b && !e && fabs(reached - 1e-3) < 1e-15);
  CHECK(ffmi3SetFloat64(c, &out, 1, x, size1) == fmi3Error); /* a state, now */
  CHECK(ffmi3GetFloat64(c, &time, 1, y, 1) == fmi3OK && y[0] == reached);
  CHECK(ffmi3GetFloat64(c, &out, 1, y, size1 - 1) == fmi3Error && ffmi3GetFloat64(c, &out, 1, y, size1 + 1) == fmi3Error);
  CHECK(ffmi3GetFloat64(c, &far, 1, y, 1) == fmi3Error && ffmi3GetFloat64(c, NULL, 1, y, 1) == fmi3Error && ffmi3GetFloat64(c, NULL, 0, NULL, 0) == fmi3OK);
  fmi3FMUState saved = NULL, again = NULL;
  CHECK(ffmi3GetFMUState(c, &saved) == fmi3OK && saved && ffmi3GetFMUState(c, NULL) == fmi3Error && ffmi3SetFMUState(c, NULL) == fmi3Error);
  for (size_t k = 0; k < wide; ++k) x[k] = 0.1 * (double)k;
  CHECK(ffmi3SetFloat64(c, &in, 1, x, wide) == fmi3OK);
  CHECK(ffmi3DoStep(c, 1e-3, 1e-3, true, &a, &b, &e, &reached) == fmi3OK && ffmi3DoStep(c, 2e-3, 1e-3, true, &a, &b, &e, &reached) == fmi3OK);
  const fmi3ValueReference both[] = {out, made};
  CHECK(ffmi3GetFloat64(c, both, 2, y, size1 + size2) == fmi3OK);
  /* the same again from the snapshot, in one call of two steps, in another instance, through bytes */
  size_t size = 0;
  CHECK(ffmi3SerializedFMUStateSize(c, saved, &size) == fmi3OK && ffmi3SerializedFMUStateSize(c, NULL, &size) == fmi3Error);
  fmi3Byte *bytes = malloc(size);
  CHECK(ffmi3SerializeFMUState(c, saved, bytes, size) == fmi3OK && ffmi3SerializeFMUState(c, saved, bytes, size + 1) == fmi3Error);
  CHECK(ffmi3DeserializeFMUState(d, bytes, size, &again) == fmi3OK && ffmi3SetFMUState(d, again) == fmi3OK);
  CHECK(ffmi3SetFloat64(d, &in, 1, x, wide) == fmi3OK && ffmi3DoStep(d, 1e-3, 2e-3, true, &a, &b, &e, &reached) == fmi3OK);
  double z[200];
  CHECK(ffmi3GetFloat64(d, both, 2, z, size1 + size2) == fmi3OK && memcmp(y, z, (size1 + size2) * sizeof *y) == 0);
  bytes[1] ^= 1;
  CHECK(ffmi3DeserializeFMUState(d, bytes, size, &again) == fmi3Error && ffmi3DeserializeFMUState(d, bytes, 5, &again) == fmi3Error && ffmi3DeserializeFMUState(d, NULL, size, &again) == fmi3Error);
  CHECK(ffmi3FreeFMUState(d, &again) == fmi3OK && !again && ffmi3FreeFMUState(c, &saved) == fmi3OK && ffmi3FreeFMUState(c, NULL) == fmi3OK);
  free(bytes);
  /* a step that cannot be made */
  x[0] = 1e306;
  fmi3Int32 status = -1;
  CHECK(ffmi3SetFloat64(c, &in, 1, x, wide) == fmi3OK && ffmi3DoStep(c, 3e-3, 1e-3, true, &a, &b, &e, &reached) == fmi3Discard && fabs(reached - 3e-3) < 1e-15);
  CHECK(ffmi3GetInt32(c, &code, 1, &status, 1) == fmi3OK && status > 0 && ffmi3GetInt32(c, &in, 1, &status, 1) == fmi3Error && ffmi3GetInt32(c, &code, 1, &status, 2) == fmi3Error);
  CHECK(ffmi3SetInt32(c, &code, 1, &status, 1) == fmi3Error);
  x[0] = 0;
  CHECK(ffmi3SetFloat64(c, &in, 1, x, wide) == fmi3OK && ffmi3DoStep(c, 3e-3, 1e-3, true, &a, &b, &e, &reached) == fmi3OK);
  /* types without variables, and what is not provided */
  NONE(Float32); NONE(Int8); NONE(UInt8); NONE(Int16); NONE(UInt16); NONE(UInt32); NONE(Int64); NONE(UInt64); NONE(Boolean); NONE(String);
  fmi3Binary binary[1] = {NULL};
  fmi3Clock clock[1] = {false};
  fmi3UInt64 count[1] = {0};
  fmi3IntervalQualifier qualifier[1];
  fmi3DependencyKind kind[1];
  fmi3ValueReference who[1];
  const fmi3Int32 order[1] = {1};
  size_t sizes[1] = {0};
  CHECK(ffmi3GetBinary(c, &in, 1, sizes, binary, 1) == fmi3Error && ffmi3SetBinary(c, &in, 1, sizes, binary, 1) == fmi3Error);
  CHECK(ffmi3GetClock(c, &in, 1, clock) == fmi3Error && ffmi3SetClock(c, &in, 1, clock) == fmi3Error);
  CHECK(ffmi3GetNumberOfVariableDependencies(c, in, sizes) == fmi3Error && ffmi3GetVariableDependencies(c, in, sizes, who, sizes, kind, 1) == fmi3Error);
  CHECK(ffmi3GetDirectionalDerivative(c, &out, 1, &in, 1, x, wide, y, size1) == fmi3Error && ffmi3GetAdjointDerivative(c, &out, 1, &in, 1, x, wide, y, size1) == fmi3Error);
  CHECK(ffmi3EnterConfigurationMode(c) == fmi3Error && ffmi3ExitConfigurationMode(c) == fmi3Error && ffmi3EnterStepMode(c) == fmi3Error);
  CHECK(ffmi3GetIntervalDecimal(c, &in, 1, y, qualifier) == fmi3Error && ffmi3GetIntervalFraction(c, &in, 1, count, count, qualifier) == fmi3Error);
  CHECK(ffmi3GetShiftDecimal(c, &in, 1, y) == fmi3Error && ffmi3GetShiftFraction(c, &in, 1, count, count) == fmi3Error);
  CHECK(ffmi3SetIntervalDecimal(c, &in, 1, y) == fmi3Error && ffmi3SetIntervalFraction(c, &in, 1, count, count) == fmi3Error);
  CHECK(ffmi3SetShiftDecimal(c, &in, 1, y) == fmi3Error && ffmi3SetShiftFraction(c, &in, 1, count, count) == fmi3Error);
  CHECK(ffmi3GetOutputDerivatives(c, &out, 1, order, y, size1) == fmi3Error && ffmi3ActivateModelPartition(c, in, 0) == fmi3Error);
  /* model exchange functions in a co-simulation */
  CHECK(ffmi3EvaluateDiscreteStates(c) == fmi3Error && ffmi3UpdateDiscreteStates(c, &a, &b, &e, &f, &g, y) == fmi3Error && ffmi3EnterContinuousTimeMode(c) == fmi3Error);
  CHECK(ffmi3GetContinuousStates(c, y, many) == fmi3Error && ffmi3CompletedIntegratorStep(c, true, &a, &b) == fmi3Error);
  CHECK(ffmi3GetNumberOfEventIndicators(c, &size) == fmi3OK && size == 0 && ffmi3GetNumberOfEventIndicators(c, NULL) == fmi3Error);
  CHECK(ffmi3GetNumberOfContinuousStates(c, &size) == fmi3OK && size == (exchange ? many : 0) && ffmi3GetNumberOfContinuousStates(c, NULL) == fmi3Error);
  /* the end, and a new start */
  CHECK(ffmi3Terminate(c) == fmi3OK && ffmi3Terminate(c) == fmi3Error && ffmi3SetFloat64(c, &in, 1, x, wide) == fmi3Error);
  CHECK(ffmi3GetFloat64(c, &out, 1, y, size1) == fmi3OK);
  CHECK(ffmi3Reset(c) == fmi3OK && ffmi3EnterInitializationMode(c, false, 0, 5, false, 0) == fmi3OK && ffmi3ExitInitializationMode(c) == fmi3OK);
  CHECK(ffmi3DoStep(c, 5, 1e-3, true, &a, &b, &e, &reached) == fmi3OK && fabs(reached - 5.001) < 1e-14);
  ffmi3FreeInstance(c);
  ffmi3FreeInstance(d);
  /* model exchange */
  c = ffmi3InstantiateModelExchange("m", token, NULL, false, true, &failures, logger);
  CHECK((c != NULL) == exchange);
  if (c) {
    CHECK(ffmi3EnterInitializationMode(c, false, 0, 0, false, 0) == fmi3OK && ffmi3GetContinuousStateDerivatives(c, y, many) == fmi3OK && ffmi3ExitInitializationMode(c) == fmi3OK);
    CHECK(ffmi3EvaluateDiscreteStates(c) == fmi3OK && ffmi3UpdateDiscreteStates(c, &a, &b, &e, &f, &g, y) == fmi3OK && !a && ffmi3UpdateDiscreteStates(c, NULL, &b, &e, &f, &g, y) == fmi3Error);
    CHECK(ffmi3DoStep(c, 0, 1e-3, true, &a, &b, &e, &reached) == fmi3Error && ffmi3SetContinuousStates(c, x, many) == fmi3Error);
    CHECK(ffmi3EnterContinuousTimeMode(c) == fmi3OK && ffmi3EnterContinuousTimeMode(c) == fmi3Error && ffmi3SetTime(c, 0.5) == fmi3OK && ffmi3SetTime(c, INFINITY) == fmi3Error);
    CHECK(ffmi3GetContinuousStates(c, x, many) == fmi3OK && ffmi3GetContinuousStates(c, x, many - 1) == fmi3Error && ffmi3SetContinuousStates(c, x, many) == fmi3OK);
    CHECK(ffmi3SetContinuousStates(c, NULL, many) == fmi3Error && ffmi3GetContinuousStateDerivatives(c, y, many) == fmi3OK && memcmp(y, x + many / 2, many / 2 * sizeof *x) == 0);
    x[0] = NAN;
    CHECK(ffmi3SetContinuousStates(c, x, many) == fmi3Error && ffmi3GetNominalsOfContinuousStates(c, x, many) == fmi3OK && ffmi3GetNominalsOfContinuousStates(c, NULL, many) == fmi3Error);
    CHECK(ffmi3GetEventIndicators(c, NULL, 0) == fmi3OK && ffmi3GetEventIndicators(c, x, 1) == fmi3Error);
    CHECK(ffmi3CompletedIntegratorStep(c, true, &a, &b) == fmi3OK && !a && !b && ffmi3CompletedIntegratorStep(c, true, NULL, &b) == fmi3Error);
    CHECK(ffmi3EnterEventMode(c) == fmi3OK && ffmi3EnterEventMode(c) == fmi3Error && ffmi3Terminate(c) == fmi3OK);
    ffmi3FreeInstance(c);
  }
  CHECK(logged > 50);
  printf("%d failures\n", failures);
  return failures != 0;
}
