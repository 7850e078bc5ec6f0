/* FMI 2. argv: library, GUID, flat numbers, continuous states, seed, calls. */
#include "fmu_fuzz.h"

#include "fmi2Functions.h"

#define GET(name) name##TYPE *const f##name = (name##TYPE *)dlsym(library, #name); if (!f##name) { printf("no %s\n", #name); return 1; }
/* the same call to the instance and to its twin; k is which */
#define BOTH(name, ...) (k = 0, first = f##name(one[0], __VA_ARGS__), k = 1, same(first, f##name(one[1], __VA_ARGS__), fmi2Error, #name))
#define BARE(name) same(f##name(one[0]), f##name(one[1]), fmi2Error, #name)

static void logger(fmi2ComponentEnvironment e, fmi2String i, fmi2Status s, fmi2String c, fmi2String m, ...) {
  char text[500];
  va_list list;
  va_start(list, m);
  vsnprintf(text, sizeof text, m, list);
  va_end(list);
  if (!e || !i || !c || s == fmi2OK || strlen(text) < 5) printf("odd log: %s\n", text), ++failures;
}

int main(int argc, char **argv) {
  if (argc != 7) return 2;
  void *library = dlopen(argv[1], RTLD_NOW);
  if (!library) return puts(dlerror()), 1;
  GET(fmi2SetDebugLogging) GET(fmi2Instantiate) GET(fmi2FreeInstance) GET(fmi2SetupExperiment) GET(fmi2EnterInitializationMode)
  GET(fmi2ExitInitializationMode) GET(fmi2Terminate) GET(fmi2Reset) GET(fmi2GetReal) GET(fmi2GetInteger) GET(fmi2GetBoolean)
  GET(fmi2GetString) GET(fmi2SetReal) GET(fmi2SetInteger) GET(fmi2SetBoolean) GET(fmi2SetString) GET(fmi2GetFMUstate)
  GET(fmi2SetFMUstate) GET(fmi2FreeFMUstate) GET(fmi2SerializedFMUstateSize) GET(fmi2SerializeFMUstate)
  GET(fmi2DeSerializeFMUstate) GET(fmi2GetDirectionalDerivative) GET(fmi2EnterEventMode) GET(fmi2NewDiscreteStates)
  GET(fmi2EnterContinuousTimeMode) GET(fmi2CompletedIntegratorStep) GET(fmi2SetTime) GET(fmi2SetContinuousStates)
  GET(fmi2GetDerivatives) GET(fmi2GetEventIndicators) GET(fmi2GetContinuousStates) GET(fmi2GetNominalsOfContinuousStates)
  GET(fmi2SetRealInputDerivatives) GET(fmi2GetRealOutputDerivatives) GET(fmi2DoStep) GET(fmi2CancelStep) GET(fmi2GetStatus)
  GET(fmi2GetRealStatus) GET(fmi2GetIntegerStatus) GET(fmi2GetBooleanStatus) GET(fmi2GetStringStatus)
  const char *guid = argv[2];
  const uint32_t flat = (uint32_t)atoi(argv[3]);
  const size_t states = (size_t)atoi(argv[4]);
  const long calls = atol(argv[6]);
  const fmi2CallbackFunctions callbacks = {logger, calloc, free, NULL, &failures}, half = {logger, calloc, NULL, NULL, &failures};
  fmi2Component none[2] = {NULL, NULL}, slot[SLOTS][2] = {{NULL}};
  fmi2FMUstate saved[STATES] = {NULL};
  long made = 0;
  dice = (uint64_t)atol(argv[5]);
  for (long call = 0; call < calls; ++call) {
    const uint32_t which = roll(SLOTS), kept = roll(STATES);
    fmi2Component *const one = roll(200) == 0 ? none : slot[which];
    const size_t count = roll(4) == 0 ? 0 : 1 + roll(5);
    const int null = roll(25) == 0, event = roll(2) == 0;
    const uint32_t few = roll(3);
    const double some = number();
    int k, first;
    if (one != none && !one[0]) {
      const char *const name = roll(30) == 0 ? (roll(2) ? NULL : "") : "x";
      const char *const token = roll(30) == 0 ? (roll(2) ? NULL : "{}") : guid;
      const fmi2Type type = roll(30) == 0 ? (fmi2Type)7 : roll(4) == 0 ? fmi2ModelExchange : fmi2CoSimulation;
      const fmi2CallbackFunctions *const f = roll(8) == 0 ? NULL : roll(8) == 0 ? &half : &callbacks;
      one[0] = ffmi2Instantiate(name, type, token, roll(2) ? NULL : "file:///nowhere", f, 0, event);
      one[1] = ffmi2Instantiate(name, type, token, NULL, f, 1, event);
      same(one[0] != NULL, one[1] != NULL, 1, "fmi2Instantiate");
      made += one[0] != NULL;
      continue;
    }
    fmi2ValueReference *const vr = null ? NULL : room(count * sizeof *vr);
    fmi2Real *const x[2] = {room(count * sizeof **x), room(count * sizeof **x)};
    fmi2Integer *const n[2] = {room(count * sizeof **n), room(count * sizeof **n)};
    fmi2Real *const y[2] = {room(states * sizeof **y), room(states * sizeof **y)};
    fmi2String *const text = room(count * sizeof *text);
    const int right = roll(4) != 0; /* as many states as there are */
    fmi2Boolean yes[2] = {0, 0}, no[2] = {0, 0};
    fmi2EventInfo info[2];
    for (size_t j = 0; vr && j < count; ++j) vr[j] = roll(40) == 0 ? 0xffffffffu - roll(3) : roll(flat + 2);
    for (size_t j = 0; j < count; ++j) x[0][j] = x[1][j] = number(), n[0][j] = n[1][j] = (int)roll(7) - 1;
    for (size_t j = 0; j < states; ++j) y[0][j] = y[1][j] = number();
    switch (roll(46)) {
      case 0: if (roll(4) == 0) ffmi2FreeInstance(one[0]), ffmi2FreeInstance(one[1]), one[0] = one[1] = NULL; break;
      case 1: if (roll(4) == 0) BARE(fmi2Reset); break;
      case 2: if (roll(4) == 0) BARE(fmi2Terminate); break;
      case 3: BOTH(fmi2SetupExperiment, event, some, few ? 0.0 : some, event, 10.0); break;
      case 4: case 5: BARE(fmi2EnterInitializationMode); break;
      case 6: case 7: case 8: BARE(fmi2ExitInitializationMode); break;
      case 9: case 10: case 11: case 12: case 13: case 14: case 15: case 16: {
        const fmi2ValueReference time = 0;
        const double sizes[] = {1e-3, 1e-3, 1e-3, 2e-3, 5e-3, 0, -1e-3, 1.5e-3, 1e300, NAN};
        const double size = sizes[roll(10)], wrong = roll(12) == 0 ? number() : 0;
        double now = 0;
        if (one[0]) ffmi2GetReal(one[0], &time, 1, &now);
        BOTH(fmi2DoStep, now + wrong, size, event);
        break;
      }
      case 17: case 18: case 19: case 20: case 21:
        if (BOTH(fmi2GetReal, vr, count, null && few ? NULL : x[k]) == fmi2OK) {
          same_bits(x[0], x[1], count * sizeof **x, "fmi2GetReal");
          for (size_t j = 0; j < count; ++j)
            if (!isfinite(x[0][j])) printf("value %u is %g\n", vr[j], x[0][j]), ++failures;
        }
        break;
      case 22: if (BOTH(fmi2GetInteger, vr, count, n[k]) == fmi2OK) same_bits(n[0], n[1], count * sizeof **n, "fmi2GetInteger"); break;
      case 23: if (BOTH(fmi2GetBoolean, vr, count, n[k]) == fmi2OK) same_bits(n[0], n[1], count * sizeof **n, "fmi2GetBoolean"); break;
      case 24: BOTH(fmi2GetString, vr, count, text); BOTH(fmi2SetString, vr, count, text); break;
      case 25: case 26: case 27: BOTH(fmi2SetReal, vr, count, null ? NULL : x[0]); break;
      case 28: BOTH(fmi2SetInteger, vr, count, n[0]); break;
      case 29: BOTH(fmi2SetBoolean, vr, count, n[0]); break;
      case 30: { /* a snapshot is of one of the twins */
        fmi2FMUstate *const to = null ? NULL : &saved[kept];
        ++answers[ffmi2GetFMUstate(one[roll(2)], to)];
        break;
      }
      case 31: case 32: BOTH(fmi2SetFMUstate, saved[kept]); break;
      case 33: if (one[0]) ++answers[ffmi2FreeFMUstate(one[0], null ? NULL : &saved[kept])]; break;
      case 34: { /* through bytes, some of them changed */
        size_t size = 0;
        if (ffmi2SerializedFMUstateSize(one[0], saved[kept], null ? NULL : &size) != fmi2OK) break;
        const size_t told = roll(8) == 0 ? size + roll(3) - 1 : size;
        char *const bytes = room(told);
        if (ffmi2SerializeFMUstate(one[0], saved[kept], bytes, told) == fmi2OK) {
          const int changes = roll(2) ? 0 : 1 + (int)roll(4);
          char *const before = room(told);
          memcpy(before, bytes, told);
          for (int j = 0; j < changes; ++j) bytes[roll((uint32_t)told)] ^= (char)roll(256);
          const int answer = ffmi2DeSerializeFMUstate(one[0], bytes, told, &saved[kept]);
          if ((answer == fmi2OK) != (memcmp(before, bytes, told) == 0)) printf("damaged bytes are taken, or good ones refused\n"), ++failures;
          free(before);
        }
        free(bytes);
        break;
      }
      case 35: if (roll(3) == 0) BARE(fmi2EnterEventMode); break;
      case 36: BARE(fmi2EnterContinuousTimeMode); break;
      case 37: BOTH(fmi2NewDiscreteStates, null ? NULL : &info[k]); BOTH(fmi2CompletedIntegratorStep, 1, &yes[k], null ? NULL : &no[k]); break;
      case 38: BOTH(fmi2SetTime, some); break;
      case 39: BOTH(fmi2SetContinuousStates, null ? NULL : y[0], right ? states : states + few); break;
      case 40: if (BOTH(fmi2GetDerivatives, null ? NULL : y[k], right ? states : states + 1 + few) == fmi2OK) same_bits(y[0], y[1], states * sizeof **y, "fmi2GetDerivatives"); break;
      case 41: if (BOTH(fmi2GetContinuousStates, null ? NULL : y[k], right ? states : states + 1) == fmi2OK) same_bits(y[0], y[1], states * sizeof **y, "fmi2GetContinuousStates"); break;
      case 42: BOTH(fmi2GetNominalsOfContinuousStates, null ? NULL : y[k], right ? states : states - 1); BOTH(fmi2GetEventIndicators, NULL, few); break;
      case 43: BOTH(fmi2SetRealInputDerivatives, vr, count, null ? NULL : n[0], x[0]); BOTH(fmi2GetRealOutputDerivatives, vr, count, n[0], x[k]); break;
      case 44: BOTH(fmi2GetDirectionalDerivative, vr, count, vr, count, x[0], x[k]); if (roll(4) == 0) BARE(fmi2CancelStep); break;
      default: {
        const fmi2StatusKind kind = (fmi2StatusKind)roll(6);
        const fmi2String categories[] = {roll(2) ? "logStatusError" : roll(2) ? "x" : NULL};
        fmi2Status status;
        fmi2Integer whole[2];
        fmi2Real real[2];
        fmi2String word;
        BOTH(fmi2GetStatus, kind, &status); BOTH(fmi2GetIntegerStatus, kind, &whole[k]); BOTH(fmi2GetStringStatus, kind, &word);
        BOTH(fmi2GetRealStatus, kind, null ? NULL : &real[k]); BOTH(fmi2GetBooleanStatus, kind, null ? NULL : &yes[k]);
        BOTH(fmi2SetDebugLogging, event, few > 0, null ? NULL : categories);
      }
    }
    free(vr), free(x[0]), free(x[1]), free(n[0]), free(n[1]), free(y[0]), free(y[1]), free(text);
  }
  fmi2Component last = ffmi2Instantiate("last", fmi2CoSimulation, guid, NULL, &callbacks, 0, 0);
  for (int j = 0; j < STATES; ++j) ffmi2FreeFMUstate(last, &saved[j]);
  ffmi2FreeInstance(last);
  for (int j = 0; j < SLOTS; ++j) ffmi2FreeInstance(slot[j][0]), ffmi2FreeInstance(slot[j][1]);
  printf("%d failures, %ld instances, %ld done, %ld discarded, %ld refused\n", failures, made, answers[0], answers[2], answers[3]);
  return failures != 0;
}
