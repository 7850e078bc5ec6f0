/* FMI 3. argv: library, token, variables, continuous states, seed, calls. */
#include "fmu_fuzz.h"

#include "fmi3Functions.h"

#define GET(name) name##TYPE *const f##name = (name##TYPE *)dlsym(library, #name); if (!f##name) { printf("no %s\n", #name); return 1; }
/* the same call to the instance and to its twin; k is which */
#define BOTH(name, ...) (k = 0, first = f##name(one[0], __VA_ARGS__), k = 1, same(first, f##name(one[1], __VA_ARGS__), fmi3Error, #name))
#define BARE(name) same(f##name(one[0]), f##name(one[1]), fmi3Error, #name)
/* a type that no variable has */
#define NONE(type)                                                              \
  do {                                                                          \
    GET(fmi3Get##type) GET(fmi3Set##type)                                       \
    fmi3##type *const t = room(many * sizeof *t);                               \
    BOTH(fmi3Get##type, vr, count, t, many);                                    \
    BOTH(fmi3Set##type, vr, count, t, many);                                    \
    free(t);                                                                    \
  } while (0)

static void logger(fmi3InstanceEnvironment e, fmi3Status s, fmi3String c, fmi3String m) {
  if (!e || !c || s == fmi3OK || strlen(m) < 5) printf("odd log: %s\n", m), ++failures;
}

int main(int argc, char **argv) {
  if (argc != 7) return 2;
  void *library = dlopen(argv[1], RTLD_NOW);
  if (!library) return puts(dlerror()), 1;
  GET(fmi3SetDebugLogging) GET(fmi3InstantiateModelExchange) GET(fmi3InstantiateCoSimulation) GET(fmi3InstantiateScheduledExecution)
  GET(fmi3FreeInstance) GET(fmi3EnterInitializationMode) GET(fmi3ExitInitializationMode) GET(fmi3EnterEventMode) GET(fmi3Terminate)
  GET(fmi3Reset) GET(fmi3GetFloat64) GET(fmi3GetInt32) GET(fmi3GetBoolean) GET(fmi3SetFloat64) GET(fmi3SetInt32) GET(fmi3SetBoolean)
  GET(fmi3GetBinary) GET(fmi3SetBinary) GET(fmi3GetClock) GET(fmi3SetClock) GET(fmi3GetNumberOfVariableDependencies)
  GET(fmi3GetVariableDependencies) GET(fmi3GetFMUState) GET(fmi3SetFMUState) GET(fmi3FreeFMUState) GET(fmi3SerializedFMUStateSize)
  GET(fmi3SerializeFMUState) GET(fmi3DeserializeFMUState) GET(fmi3GetDirectionalDerivative) GET(fmi3GetAdjointDerivative)
  GET(fmi3EnterConfigurationMode) GET(fmi3ExitConfigurationMode) GET(fmi3EvaluateDiscreteStates) GET(fmi3UpdateDiscreteStates)
  GET(fmi3EnterContinuousTimeMode) GET(fmi3CompletedIntegratorStep) GET(fmi3SetTime) GET(fmi3SetContinuousStates)
  GET(fmi3GetContinuousStateDerivatives) GET(fmi3GetEventIndicators) GET(fmi3GetContinuousStates)
  GET(fmi3GetNominalsOfContinuousStates) GET(fmi3GetNumberOfEventIndicators) GET(fmi3GetNumberOfContinuousStates)
  GET(fmi3EnterStepMode) GET(fmi3GetOutputDerivatives) GET(fmi3DoStep) GET(fmi3ActivateModelPartition)
  GET(fmi3GetIntervalDecimal) GET(fmi3GetIntervalFraction) GET(fmi3GetShiftDecimal) GET(fmi3GetShiftFraction)
  GET(fmi3SetIntervalDecimal) GET(fmi3SetIntervalFraction) GET(fmi3SetShiftDecimal) GET(fmi3SetShiftFraction)
  const char *token = argv[2];
  const uint32_t variables = (uint32_t)atoi(argv[3]);
  const size_t states = (size_t)atoi(argv[4]);
  const long calls = atol(argv[6]);
  fmi3Instance none[2] = {NULL, NULL}, slot[SLOTS][2] = {{NULL}};
  fmi3FMUState saved[STATES] = {NULL};
  long made = 0;
  dice = (uint64_t)atol(argv[5]);
  /* sizes of variables: what is answered */
  size_t *const sizes = room((variables + 2) * sizeof *sizes);
  fmi3Instance asked = ffmi3InstantiateCoSimulation("asked", token, NULL, false, false, false, false, NULL, 0, NULL, NULL, NULL);
  ffmi3EnterInitializationMode(asked, false, 0, 0, false, 0);
  for (fmi3ValueReference v = 0; v < variables; ++v) {
    fmi3Float64 x[40];
    for (size_t j = 1; j <= 40 && sizes[v] == 0; ++j) sizes[v] = ffmi3GetFloat64(asked, &v, 1, x, j) == fmi3OK ? j : 0;
  }
  ffmi3FreeInstance(asked);
  for (long call = 0; call < calls; ++call) {
    const uint32_t which = roll(SLOTS), kept = roll(STATES), few = roll(3);
    fmi3Instance *const one = roll(200) == 0 ? none : slot[which];
    const size_t count = roll(4) == 0 ? 0 : roll(6) == 0 ? 2 : 1;
    const int null = roll(25) == 0;
    const fmi3Boolean event = roll(2) == 0;
    const double some = number();
    int k, first;
    if (one != none && !one[0]) {
      const char *const name = roll(30) == 0 ? (roll(2) ? NULL : "") : "x";
      const char *const given = roll(30) == 0 ? (roll(2) ? NULL : "{}") : token;
      const uint32_t type = roll(30);
      const fmi3ValueReference needed = 1;
      for (k = 0; k < 2; ++k) {
        const fmi3LogMessageCallback say = few ? logger : NULL;
        one[k] = type == 0  ? ffmi3InstantiateScheduledExecution(name, given, NULL, k, event, &failures, say, NULL, NULL, NULL)
                 : type < 8 ? ffmi3InstantiateModelExchange(name, given, NULL, k, event, &failures, say)
                 : type < 10 ? ffmi3InstantiateCoSimulation(name, given, NULL, k, event, type == 8, false, &needed, type == 9, &failures, say, NULL)
                            : ffmi3InstantiateCoSimulation(name, given, "/nowhere", k, event, false, type == 11, NULL, 0, &failures, say, NULL);
      }
      same(one[0] != NULL, one[1] != NULL, 1, "fmi3Instantiate");
      made += one[0] != NULL;
      continue;
    }
    fmi3ValueReference *const vr = null ? NULL : room(count * sizeof *vr);
    size_t many = 0;
    for (size_t j = 0; vr && j < count; ++j) {
      const uint32_t variable = roll(variables + 2);
      vr[j] = roll(40) == 0 ? 0xffffffffu - roll(3) : variable;
      many += sizes[variable] ? sizes[variable] : 1;
    }
    if (roll(6) == 0) many += few;
    fmi3Float64 *const x[2] = {room(many * sizeof **x), room(many * sizeof **x)};
    fmi3Int32 *const n[2] = {room(many * sizeof **n), room(many * sizeof **n)};
    fmi3Boolean *const t[2] = {room(many * sizeof **t), room(many * sizeof **t)};
    fmi3Float64 *const y[2] = {room(states * sizeof **y), room(states * sizeof **y)};
    const int right = roll(4) != 0;
    fmi3Boolean a, b, c, d, e;
    fmi3Float64 reached[2] = {0, 0};
    size_t size[2] = {0, 0};
    for (size_t j = 0; j < many; ++j) x[0][j] = x[1][j] = number(), n[0][j] = n[1][j] = (int)roll(7) - 1, t[0][j] = t[1][j] = roll(2) == 0;
    for (size_t j = 0; j < states; ++j) y[0][j] = y[1][j] = number();
    switch (roll(46)) {
      case 0: if (roll(4) == 0) ffmi3FreeInstance(one[0]), ffmi3FreeInstance(one[1]), one[0] = one[1] = NULL; break;
      case 1: if (roll(4) == 0) BARE(fmi3Reset); break;
      case 2: if (roll(4) == 0) BARE(fmi3Terminate); break;
      case 3: case 4: case 5: BOTH(fmi3EnterInitializationMode, event, some, few ? 0.0 : some, event, 10.0); break;
      case 6: case 7: case 8: BARE(fmi3ExitInitializationMode); break;
      case 9: case 10: case 11: case 12: case 13: case 14: case 15: case 16: {
        const fmi3ValueReference time = 0;
        const double steps[] = {1e-3, 1e-3, 1e-3, 2e-3, 5e-3, 0, -1e-3, 1.5e-3, 1e300, NAN};
        const double far = steps[roll(10)], wrong = roll(12) == 0 ? number() : 0;
        double now = 0;
        if (one[0]) ffmi3GetFloat64(one[0], &time, 1, &now, 1);
        BOTH(fmi3DoStep, now + wrong, far, event, &a, &b, &c, null ? NULL : &reached[k]);
        same_bits(&reached[0], &reached[1], sizeof *reached, "fmi3DoStep");
        break;
      }
      case 17: case 18: case 19: case 20: case 21: case 22: case 23:
        if (BOTH(fmi3GetFloat64, vr, count, null && few ? NULL : x[k], many) == fmi3OK) {
          same_bits(x[0], x[1], many * sizeof **x, "fmi3GetFloat64");
          for (size_t j = 0; j < many; ++j)
            if (!isfinite(x[0][j])) printf("value %zu of %u is %g\n", j, vr[0], x[0][j]), ++failures;
        }
        break;
      case 24: if (BOTH(fmi3GetInt32, vr, count, n[k], many) == fmi3OK) same_bits(n[0], n[1], many * sizeof **n, "fmi3GetInt32"); break;
      case 25: if (BOTH(fmi3GetBoolean, vr, count, t[k], many) == fmi3OK) same_bits(t[0], t[1], many * sizeof **t, "fmi3GetBoolean"); break;
      case 26: case 27: case 28: BOTH(fmi3SetFloat64, vr, count, null ? NULL : x[0], many); break;
      case 29: BOTH(fmi3SetInt32, vr, count, n[0], many); BOTH(fmi3SetBoolean, vr, count, t[0], many); break;
      case 30: ++answers[ffmi3GetFMUState(one[roll(2)], null ? NULL : &saved[kept])]; break;
      case 31: case 32: BOTH(fmi3SetFMUState, saved[kept]); break;
      case 33: if (one[0]) ++answers[ffmi3FreeFMUState(one[0], null ? NULL : &saved[kept])]; break;
      case 34: { /* through bytes, some of them changed */
        if (ffmi3SerializedFMUStateSize(one[0], saved[kept], null ? NULL : &size[0]) != fmi3OK) break;
        const size_t told = roll(8) == 0 ? size[0] + roll(3) - 1 : size[0];
        fmi3Byte *const bytes = room(told);
        if (ffmi3SerializeFMUState(one[0], saved[kept], bytes, told) == fmi3OK) {
          const int changes = roll(2) ? 0 : 1 + (int)roll(4);
          fmi3Byte *const before = room(told);
          memcpy(before, bytes, told);
          for (int j = 0; j < changes; ++j) bytes[roll((uint32_t)told)] ^= (fmi3Byte)roll(256);
          const int answer = ffmi3DeserializeFMUState(one[0], bytes, told, &saved[kept]);
          if ((answer == fmi3OK) != (memcmp(before, bytes, told) == 0)) printf("damaged bytes are taken, or good ones refused\n"), ++failures;
          free(before);
        }
        free(bytes);
        break;
      }
      case 35: if (roll(3) == 0) BARE(fmi3EnterEventMode); BARE(fmi3EvaluateDiscreteStates); break;
      case 36: BARE(fmi3EnterContinuousTimeMode); break;
      case 37: BOTH(fmi3UpdateDiscreteStates, &a, &b, &c, &d, &e, null ? NULL : &reached[k]); BOTH(fmi3CompletedIntegratorStep, true, &a, null ? NULL : &b); break;
      case 38: BOTH(fmi3SetTime, some); break;
      case 39: BOTH(fmi3SetContinuousStates, null ? NULL : y[0], right ? states : states + few); break;
      case 40: if (BOTH(fmi3GetContinuousStateDerivatives, null ? NULL : y[k], right ? states : states + 1 + few) == fmi3OK) same_bits(y[0], y[1], states * sizeof **y, "derivatives"); break;
      case 41: if (BOTH(fmi3GetContinuousStates, null ? NULL : y[k], right ? states : states + 1) == fmi3OK) same_bits(y[0], y[1], states * sizeof **y, "states"); break;
      case 42: BOTH(fmi3GetNominalsOfContinuousStates, null ? NULL : y[k], right ? states : states - 1); BOTH(fmi3GetEventIndicators, NULL, few); break;
      case 43: BOTH(fmi3GetNumberOfEventIndicators, null ? NULL : &size[k]); BOTH(fmi3GetNumberOfContinuousStates, null ? NULL : &size[k]); break;
      case 44: {
        NONE(Float32); NONE(Int8); NONE(UInt8); NONE(Int16); NONE(UInt16); NONE(UInt32); NONE(Int64); NONE(UInt64); NONE(String);
        BOTH(fmi3GetBinary, vr, count, NULL, NULL, many); BOTH(fmi3SetBinary, vr, count, NULL, NULL, many);
        BOTH(fmi3GetClock, vr, count, NULL); BOTH(fmi3SetClock, vr, count, NULL);
        break;
      }
      default: {
        const fmi3String categories[] = {roll(2) ? "logStatusError" : roll(2) ? "x" : NULL};
        BOTH(fmi3SetDebugLogging, event, few > 0, null ? NULL : categories);
        BOTH(fmi3GetNumberOfVariableDependencies, few, &size[k]); BOTH(fmi3GetVariableDependencies, few, NULL, NULL, NULL, NULL, 0);
        BOTH(fmi3GetDirectionalDerivative, vr, count, vr, count, x[0], many, x[k], many);
        BOTH(fmi3GetAdjointDerivative, vr, count, vr, count, x[0], many, x[k], many);
        BARE(fmi3EnterConfigurationMode); BARE(fmi3ExitConfigurationMode); BARE(fmi3EnterStepMode);
        BOTH(fmi3GetOutputDerivatives, vr, count, n[0], x[k], many); BOTH(fmi3ActivateModelPartition, few, some);
        BOTH(fmi3GetIntervalDecimal, vr, count, NULL, NULL); BOTH(fmi3GetIntervalFraction, vr, count, NULL, NULL, NULL);
        BOTH(fmi3GetShiftDecimal, vr, count, NULL); BOTH(fmi3GetShiftFraction, vr, count, NULL, NULL);
        BOTH(fmi3SetIntervalDecimal, vr, count, NULL); BOTH(fmi3SetIntervalFraction, vr, count, NULL, NULL);
        BOTH(fmi3SetShiftDecimal, vr, count, NULL); BOTH(fmi3SetShiftFraction, vr, count, NULL, NULL);
      }
    }
    free(vr), free(x[0]), free(x[1]), free(n[0]), free(n[1]), free(t[0]), free(t[1]), free(y[0]), free(y[1]);
  }
  free(sizes);
  fmi3Instance last = ffmi3InstantiateCoSimulation("last", token, NULL, false, false, false, false, NULL, 0, NULL, NULL, NULL);
  for (int j = 0; j < STATES; ++j) ffmi3FreeFMUState(last, &saved[j]);
  ffmi3FreeInstance(last);
  for (int j = 0; j < SLOTS; ++j) ffmi3FreeInstance(slot[j][0]), ffmi3FreeInstance(slot[j][1]);
  printf("%d failures, %ld instances, %ld done, %ld discarded, %ld refused\n", failures, made, answers[0], answers[2], answers[3]);
  return failures != 0;
}
