/* Every function of FMI 2 with right and wrong arguments, against the standard's own headers. argv: library, GUID, number
 * of inputs, first value reference of outputs, states, offers model exchange. */
#include <dlfcn.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmi2Functions.h"

static int failures, logged;
#define CHECK(condition)                              \
  do {                                                \
    if (!(condition)) {                               \
      printf("line %d: %s\n", __LINE__, #condition);  \
      ++failures;                                     \
    }                                                 \
  } while (0)
#define GET(name) name##TYPE *const f##name = (name##TYPE *)dlsym(library, #name); if (!f##name) { printf("no %s\n", #name); return 1; }

static void logger(fmi2ComponentEnvironment e, fmi2String i, fmi2Status s, fmi2String c, fmi2String m, ...) {
  char text[500];
  va_list list;
  va_start(list, m);
  vsnprintf(text, sizeof text, m, list);
  va_end(list);
  if (e && i && c && s != fmi2OK && strlen(text) > 5) ++logged;
}

int main(int argc, char **argv) {
  if (argc != 7) return 2;
  void *library = dlopen(argv[1], RTLD_NOW);
  if (!library) return puts(dlerror()), 1;
  GET(fmi2GetTypesPlatform) GET(fmi2GetVersion) GET(fmi2SetDebugLogging) GET(fmi2Instantiate) GET(fmi2FreeInstance)
  GET(fmi2SetupExperiment) GET(fmi2EnterInitializationMode) GET(fmi2ExitInitializationMode) GET(fmi2Terminate)
  GET(fmi2Reset) GET(fmi2GetReal) GET(fmi2GetInteger) GET(fmi2GetBoolean) GET(fmi2GetString) GET(fmi2SetReal)
  GET(fmi2SetInteger) GET(fmi2SetBoolean) GET(fmi2SetString) GET(fmi2GetFMUstate) GET(fmi2SetFMUstate)
  GET(fmi2FreeFMUstate) GET(fmi2SerializedFMUstateSize) GET(fmi2SerializeFMUstate) GET(fmi2DeSerializeFMUstate)
  GET(fmi2GetDirectionalDerivative) GET(fmi2EnterEventMode) GET(fmi2NewDiscreteStates) GET(fmi2EnterContinuousTimeMode)
  GET(fmi2CompletedIntegratorStep) GET(fmi2SetTime) GET(fmi2SetContinuousStates) GET(fmi2GetDerivatives)
  GET(fmi2GetEventIndicators) GET(fmi2GetContinuousStates) GET(fmi2GetNominalsOfContinuousStates)
  GET(fmi2SetRealInputDerivatives) GET(fmi2GetRealOutputDerivatives) GET(fmi2DoStep) GET(fmi2CancelStep)
  GET(fmi2GetStatus) GET(fmi2GetRealStatus) GET(fmi2GetIntegerStatus) GET(fmi2GetBooleanStatus) GET(fmi2GetStringStatus)
  const char *guid = argv[2];
  const int inputs = atoi(argv[3]), states = atoi(argv[5]), exchange = atoi(argv[6]);
  const fmi2ValueReference out = (fmi2ValueReference)atoi(argv[4]), in = 1, time = 0, far = 100000;
  const fmi2CallbackFunctions callbacks = {logger, calloc, free, NULL, &failures};
  double x[200], y[200], bad = NAN;
  int n = 0;
  fmi2EventInfo event;
  fmi2Boolean yes, no;
  fmi2Status status;
  CHECK(strcmp(ffmi2GetVersion(), "2.0") == 0 && strcmp(ffmi2GetTypesPlatform(), "default") == 0);
  CHECK(!ffmi2Instantiate(NULL, fmi2CoSimulation, guid, NULL, &callbacks, 0, 1));
  CHECK(!ffmi2Instantiate("a", fmi2CoSimulation, "{other}", NULL, &callbacks, 0, 1));
  CHECK(!ffmi2Instantiate("a", fmi2CoSimulation, NULL, NULL, &callbacks, 0, 1));
  CHECK(logged == 3);
  fmi2Component c = ffmi2Instantiate("a", fmi2CoSimulation, guid, NULL, &callbacks, 0, 1);
  fmi2Component d = ffmi2Instantiate("b", fmi2CoSimulation, guid, NULL, NULL, 0, 0);
  CHECK(c && d && c != d);
  ffmi2FreeInstance(NULL);
  /* no instance */
  CHECK(ffmi2GetReal(NULL, &in, 1, x) == fmi2Error && ffmi2DoStep(NULL, 0, 1, 0) == fmi2Error && ffmi2Reset(NULL) == fmi2Error);
  /* before initialisation */
  CHECK(ffmi2DoStep(c, 0, 1e-3, 0) == fmi2Error);
  CHECK(ffmi2ExitInitializationMode(c) == fmi2Error && ffmi2Terminate(c) == fmi2Error);
  CHECK(ffmi2SetTime(c, 0) == fmi2Error && ffmi2EnterContinuousTimeMode(c) == fmi2Error && ffmi2EnterEventMode(c) == fmi2Error);
  CHECK(ffmi2GetRealStatus(c, fmi2LastSuccessfulTime, x) == fmi2Error);
  CHECK(ffmi2SetDebugLogging(c, 1, 0, NULL) == fmi2OK);
  const fmi2String categories[] = {"logStatusError"}, unknown[] = {"logNothing"};
  CHECK(ffmi2SetDebugLogging(c, 1, 1, categories) == fmi2OK && ffmi2SetDebugLogging(c, 1, 1, unknown) == fmi2Error);
  CHECK(ffmi2SetDebugLogging(c, 1, 1, NULL) == fmi2Error);
  CHECK(ffmi2SetupExperiment(c, 0, 0, bad, 0, 0) == fmi2Error && ffmi2SetupExperiment(c, 0, 0, 1, 1, 0) == fmi2Error);
  CHECK(ffmi2SetupExperiment(c, 1, 1e-6, 0, 1, 10) == fmi2OK);
  CHECK(ffmi2GetReal(c, &out, 1, x) == fmi2OK); /* a start value */
  CHECK(ffmi2SetReal(c, &in, 1, &bad) == fmi2Error && ffmi2SetReal(c, &far, 1, x) == fmi2Error);
  CHECK(ffmi2SetReal(c, &time, 1, x) == fmi2Error && ffmi2SetReal(c, &in, 1, NULL) == fmi2Error);
  CHECK(ffmi2SetReal(c, NULL, 0, NULL) == fmi2OK);
  CHECK(ffmi2EnterInitializationMode(c) == fmi2OK && ffmi2EnterInitializationMode(c) == fmi2Error);
  CHECK(ffmi2SetupExperiment(c, 0, 0, 0, 0, 0) == fmi2Error);
  fmi2ValueReference last = out + 12;
  CHECK(ffmi2SetReal(c, &out, 1, x) == fmi2OK);
  last = out + 20;
  CHECK(ffmi2GetReal(c, &last, 1, y) == fmi2OK && isfinite(y[0])); /* calculated */
  CHECK(ffmi2SetReal(c, &last, 1, y) == fmi2Error);
  CHECK(ffmi2ExitInitializationMode(c) == fmi2OK);
  /* steps */
  CHECK(ffmi2SetReal(c, &out, 1, x) == fmi2Error); /* a state, now */
  CHECK(ffmi2DoStep(c, 0, 1.5e-3, 0) == fmi2Error && ffmi2DoStep(c, 0, 0, 0) == fmi2Error && ffmi2DoStep(c, 0, -1e-3, 0) == fmi2Error);
  CHECK(ffmi2DoStep(c, 0.5, 1e-3, 0) == fmi2Error && ffmi2DoStep(c, NAN, 1e-3, 0) == fmi2Error && ffmi2DoStep(c, 0, NAN, 0) == fmi2Error);
  CHECK(ffmi2DoStep(c, 0, 1e-3, 0) == fmi2OK && ffmi2DoStep(c, 0, 1e-3, 0) == fmi2Error);
  CHECK(ffmi2GetReal(c, &time, 1, x) == fmi2OK && fabs(x[0] - 1e-3) < 1e-15);
  fmi2ValueReference all[200];
  for (n = 0; n < 25; ++n) all[n] = out + (fmi2ValueReference)n;
  fmi2FMUstate saved = NULL;
  CHECK(ffmi2GetFMUstate(c, &saved) == fmi2OK && saved);
  CHECK(ffmi2GetFMUstate(c, NULL) == fmi2Error && ffmi2SetFMUstate(c, NULL) == fmi2Error);
  for (n = 0; n < inputs; ++n) {
    const fmi2ValueReference one = in + (fmi2ValueReference)n;
    double value = 0.1 * n;
    CHECK(ffmi2SetReal(c, &one, 1, &value) == fmi2OK);
  }
  CHECK(ffmi2DoStep(c, 1e-3, 1e-3, 0) == fmi2OK && ffmi2DoStep(c, 2e-3, 1e-3, 0) == fmi2OK);
  CHECK(ffmi2GetReal(c, all, 25, x) == fmi2OK);
  /* the same again from the snapshot, in one call of two steps, in another instance, through bytes */
  size_t size = 0;
  CHECK(ffmi2SerializedFMUstateSize(c, saved, &size) == fmi2OK && size > 100 && ffmi2SerializedFMUstateSize(c, NULL, &size) == fmi2Error);
  char *bytes = malloc(size);
  CHECK(ffmi2SerializeFMUstate(c, saved, bytes, size) == fmi2OK && ffmi2SerializeFMUstate(c, saved, bytes, size - 1) == fmi2Error);
  fmi2FMUstate again = NULL;
  CHECK(ffmi2DeSerializeFMUstate(d, bytes, size, &again) == fmi2OK && again);
  CHECK(ffmi2SetFMUstate(d, again) == fmi2OK);
  for (n = 0; n < inputs; ++n) {
    const fmi2ValueReference one = in + (fmi2ValueReference)n;
    double value = 0.1 * n;
    CHECK(ffmi2SetReal(d, &one, 1, &value) == fmi2OK);
  }
  CHECK(ffmi2DoStep(d, 1e-3, 2e-3, 0) == fmi2OK && ffmi2GetReal(d, all, 25, y) == fmi2OK);
  CHECK(memcmp(x, y, 25 * sizeof *x) == 0);
  bytes[0] ^= 1;
  CHECK(ffmi2DeSerializeFMUstate(d, bytes, size, &again) == fmi2Error && ffmi2DeSerializeFMUstate(d, bytes, 3, &again) == fmi2Error);
  CHECK(ffmi2DeSerializeFMUstate(d, NULL, size, &again) == fmi2Error);
  CHECK(ffmi2FreeFMUstate(d, &again) == fmi2OK && !again && ffmi2FreeFMUstate(d, &again) == fmi2OK && ffmi2FreeFMUstate(c, NULL) == fmi2OK);
  /* a step that cannot be made: the state is that of the last one */
  double huge = 1e306;
  CHECK(ffmi2SetReal(c, &in, 1, &huge) == fmi2OK && ffmi2DoStep(c, 3e-3, 1e-3, 0) == fmi2Discard);
  CHECK(ffmi2GetBooleanStatus(c, fmi2Terminated, &yes) == fmi2OK && yes);
  CHECK(ffmi2GetRealStatus(c, fmi2LastSuccessfulTime, y) == fmi2OK && fabs(y[0] - 3e-3) < 1e-15);
  huge = 0;
  CHECK(ffmi2SetReal(c, &in, 1, &huge) == fmi2OK && ffmi2DoStep(c, 3e-3, 1e-3, 0) == fmi2OK);
  /* values */
  CHECK(ffmi2GetReal(c, &far, 1, y) == fmi2Error && ffmi2GetReal(c, NULL, 1, y) == fmi2Error && ffmi2GetReal(c, NULL, 0, NULL) == fmi2OK);
  fmi2Integer number = 7;
  fmi2Boolean truth = 0;
  fmi2String text = "";
  CHECK(ffmi2GetInteger(c, &far, 1, &number) == fmi2Error && ffmi2GetInteger(c, NULL, 0, NULL) == fmi2OK);
  CHECK(ffmi2GetBoolean(c, &in, 1, &truth) == fmi2Error && ffmi2GetString(c, &in, 1, &text) == fmi2Error);
  CHECK(ffmi2SetInteger(c, &in, 1, &number) == fmi2Error && ffmi2SetBoolean(c, &in, 1, &truth) == fmi2Error);
  CHECK(ffmi2SetString(c, &in, 1, &text) == fmi2Error && ffmi2SetString(c, NULL, 0, NULL) == fmi2OK);
  /* derivatives of inputs */
  {
    const fmi2Integer first = 1, other = 2;
    const fmi2Real slope = 0.5;
    CHECK(ffmi2SetRealInputDerivatives(c, &in, 1, &first, &slope) == fmi2OK && ffmi2SetRealInputDerivatives(c, NULL, 0, NULL, NULL) == fmi2OK);
    CHECK(ffmi2SetRealInputDerivatives(c, &in, 1, &other, &slope) == fmi2Error && ffmi2SetRealInputDerivatives(c, &in, 1, &first, &bad) == fmi2Error);
    CHECK(ffmi2SetRealInputDerivatives(c, &out, 1, &first, &slope) == fmi2Error && ffmi2SetRealInputDerivatives(c, &far, 1, &first, &slope) == fmi2Error);
    CHECK(ffmi2SetRealInputDerivatives(c, NULL, 1, &first, &slope) == fmi2Error && ffmi2SetRealInputDerivatives(NULL, &in, 1, &first, &slope) == fmi2Error);
  }
  /* what is not provided */
  CHECK(ffmi2GetDirectionalDerivative(c, all, 1, &in, 1, x, y) == fmi2Error && ffmi2CancelStep(c) == fmi2Error);
  const fmi2Integer order = 1;
  CHECK(ffmi2GetRealOutputDerivatives(c, &in, 1, &order, y) == fmi2Error);
  CHECK(ffmi2GetStatus(c, fmi2DoStepStatus, &status) == fmi2Discard && ffmi2GetIntegerStatus(c, fmi2DoStepStatus, &number) == fmi2Discard);
  CHECK(ffmi2GetStringStatus(c, fmi2PendingStatus, &text) == fmi2Discard && ffmi2GetBooleanStatus(c, fmi2DoStepStatus, &yes) == fmi2Error);
  CHECK(ffmi2GetRealStatus(c, fmi2DoStepStatus, x) == fmi2Error);
  /* model exchange functions in a co-simulation */
  CHECK(ffmi2NewDiscreteStates(c, &event) == fmi2Error && ffmi2CompletedIntegratorStep(c, 1, &yes, &no) == fmi2Error);
  CHECK(ffmi2GetDerivatives(c, x, 1) == fmi2Error && ffmi2SetContinuousStates(c, x, 1) == fmi2Error && ffmi2GetContinuousStates(c, x, 1) == fmi2Error);
  CHECK(ffmi2GetNominalsOfContinuousStates(c, x, 1) == fmi2Error && ffmi2GetEventIndicators(c, x, 0) == fmi2Error);
  /* the end, and a new start */
  CHECK(ffmi2Terminate(c) == fmi2OK && ffmi2Terminate(c) == fmi2Error && ffmi2DoStep(c, 4e-3, 1e-3, 0) == fmi2Error);
  CHECK(ffmi2GetReal(c, &out, 1, x) == fmi2OK && ffmi2SetReal(c, &in, 1, x) == fmi2Error);
  CHECK(ffmi2Reset(c) == fmi2OK && ffmi2EnterInitializationMode(c) == fmi2OK && ffmi2ExitInitializationMode(c) == fmi2OK);
  CHECK(ffmi2DoStep(c, 0, 1e-3, 0) == fmi2OK);
  ffmi2FreeFMUstate(c, &saved);
  free(bytes);
  ffmi2FreeInstance(c);
  ffmi2FreeInstance(d);
  /* model exchange */
  c = ffmi2Instantiate("m", fmi2ModelExchange, guid, NULL, &callbacks, 0, 1);
  CHECK((c != NULL) == exchange);
  if (c) {
    const size_t many = (size_t)states;
    CHECK(ffmi2SetupExperiment(c, 0, 0, 0, 0, 0) == fmi2OK && ffmi2EnterInitializationMode(c) == fmi2OK && ffmi2ExitInitializationMode(c) == fmi2OK);
    CHECK(ffmi2DoStep(c, 0, 1e-3, 0) == fmi2Error && ffmi2CompletedIntegratorStep(c, 1, &yes, &no) == fmi2Error);
    CHECK(ffmi2NewDiscreteStates(c, &event) == fmi2OK && !event.newDiscreteStatesNeeded && ffmi2NewDiscreteStates(c, NULL) == fmi2Error);
    CHECK(ffmi2EnterContinuousTimeMode(c) == fmi2OK && ffmi2EnterContinuousTimeMode(c) == fmi2Error);
    CHECK(ffmi2SetTime(c, 0.1) == fmi2OK && ffmi2SetTime(c, NAN) == fmi2Error);
    CHECK(ffmi2GetContinuousStates(c, x, many) == fmi2OK && ffmi2GetContinuousStates(c, x, many + 1) == fmi2Error);
    CHECK(ffmi2SetContinuousStates(c, x, many) == fmi2OK && ffmi2SetContinuousStates(c, x, many - 1) == fmi2Error && ffmi2SetContinuousStates(c, NULL, many) == fmi2Error);
    CHECK(ffmi2GetDerivatives(c, y, many) == fmi2OK && ffmi2GetDerivatives(c, NULL, many) == fmi2Error);
    CHECK(memcmp(y, x + many / 2, many / 2 * sizeof *x) == 0);
    x[0] = NAN;
    CHECK(ffmi2SetContinuousStates(c, x, many) == fmi2Error);
    CHECK(ffmi2GetNominalsOfContinuousStates(c, x, many) == fmi2OK && x[0] == 1.0 && ffmi2GetEventIndicators(c, x, 0) == fmi2OK && ffmi2GetEventIndicators(c, x, 1) == fmi2Error);
    CHECK(ffmi2CompletedIntegratorStep(c, 1, &yes, &no) == fmi2OK && !yes && !no && ffmi2CompletedIntegratorStep(c, 1, NULL, &no) == fmi2Error);
    CHECK(ffmi2EnterEventMode(c) == fmi2OK && ffmi2Terminate(c) == fmi2OK);
    ffmi2FreeInstance(c);
  }
  CHECK(logged > 50);
  printf("%d failures\n", failures);
  return failures != 0;
}
