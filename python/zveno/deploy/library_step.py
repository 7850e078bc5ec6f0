"""A step in C that the library makes: for FMUs of what has no fixed list of operations."""

from __future__ import annotations

import json
from pathlib import Path
from string import Template
from typing import Final

from .. import _core
from ..codegen.c import identifier
from ..model import Chain, Hexapod, Linkage
from .description import Channel, Description
from .dockings import docking_numbers
from .library import Stepper, c_library
from .step import StepCode

__all__ = ["library_files", "library_step"]

_WIDTH: Final = 24  # of a number of 17 digits


def library_step(d: Description, name: str) -> StepCode:
    """Code of a step with the functions of a generated one."""
    word = identifier(name)
    stepper = Stepper(d.model, **d.options())
    start = d.start_numbers
    text, places, numbers = _with_room(d)
    lines = [", ".join(map(str, text[i : i + 24])) for i in range(0, len(text), 24)]
    values = {
        "name": word,
        "NAME": word.upper(),
        "period": repr(d.period),
        "inputs": sum(x.size for x in d.inputs),
        "outputs": sum(part.stop - part.start for part in stepper.outputs.values()),
        "states": len(stepper.state),
        "reset": len(start),
        "start_size": len(start) + len(numbers),
        "start": ", ".join(repr(float(x)) for x in (*start, *numbers)),
        "numbers": len(numbers),
        "room": max(1, len(numbers)),
        "width": _WIDTH,
        "places": ", ".join(map(str, places)) or "0",
        "size": len(text),
        "text": ",\n  ".join(lines),
        "library": c_library().library.name,
    }
    outputs = tuple(Channel(key, x.stop - x.start, stepper.units[key]) for key, x in stepper.outputs.items())
    header, source = Template(_HEADER).substitute(values), Template(_SOURCE).substitute(values)
    return StepCode(word, header, source, d, d.inputs, outputs, len(stepper.state))


def _with_room(d: Description) -> tuple[bytes, list[int], list[float]]:
    """The text of a rig, where numbers stand in it that others may be written over, and their values."""
    data = d.to_dict()
    rows = [] if isinstance(d.model, Chain | Hexapod | Linkage) else docking_numbers(d.model)
    for k, ((key, place), _) in enumerate(rows):
        data["model"][key][place] = f"@{k}@"
    text = json.dumps(data, allow_nan=False)
    places = []
    for k, (_, parameter) in enumerate(rows):
        mark = f'"@{k}@"'
        places.append(text.index(mark))
        text = text.replace(mark, repr(parameter.values[0]).ljust(_WIDTH), 1)
    assert text.isascii()
    return text.encode(), places, [parameter.values[0] for _, parameter in rows]


def library_files() -> dict[str, bytes]:
    """What the library consists of on this machine: itself and its kernels, by name."""
    files = [c_library().library, *sorted(Path(_core.__file__).parent.glob("_kernels_*"))]
    return {path.name: path.read_bytes() for path in files if path.suffix in (".so", ".dylib", ".dll", ".pyd")}


_HEADER: Final = """\
/* $name: one period of a rig, which zveno's library beside this one makes. Generated code, do not edit. */
#ifndef ${NAME}_H
#define ${NAME}_H

#define ${NAME}_PERIOD $period
#define ${NAME}_INPUTS $inputs
#define ${NAME}_OUTPUTS $outputs
#define ${NAME}_STATES $states
#define ${NAME}_START $start_size

typedef struct ${name}_state {
  double y[${NAME}_STATES];
  double numbers[$room]; /* of the model, that may be others than its own */
  double steps;
  double origin;
} ${name}_state;

extern const double ${name}_start[${NAME}_START];

/* null: there is no library, or it refuses the model */
void *${name}_open(void);
void ${name}_close(void *engine);
int ${name}_init(void *engine, ${name}_state *state, const double *start);
int ${name}(void *engine, ${name}_state *state, const double *in, double *out);
int ${name}_outputs(void *engine, const ${name}_state *state, const double *in, double *out);
const char *${name}_reason(int code);

#endif
"""

_SOURCE: Final = """\
/* $name: one period of a rig, which zveno's library beside this one makes. Generated code, do not edit. */
#define _GNU_SOURCE
#include "$name.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBERS ${numbers}
#define WIDTH ${width}

const double ${name}_start[${NAME}_START] = {$start};

static const unsigned char text[$size] = {
  $text
};

/* where numbers that may be others stand in it */
static const size_t places[$room] = {$places};

/* functions of zveno.h */
typedef void *(*create_function)(const char *, size_t, char *, size_t);

typedef struct engine {
  void *library;
  void *rig;
  double numbers[$room];
  create_function create;
  void (*release)(void *);
  int (*reset)(void *, const double *);
  int (*step)(void *, const double *, double *);
  int (*outputs)(const void *, double *);
  int (*get_state)(const void *, double *);
  int (*set_state)(void *, const double *);
} engine;

/* codes of zveno.h without their sign */
static int positive(int code) { return (code < 0) ? -code : code; }

static void *opened_library(void)
{
  static const char name[] = "$library";
  Dl_info info;
  void *library = NULL;
  if ((dladdr((const void *)&text, &info) != 0) && (info.dli_fname != NULL)) {
    const char *const slash = strrchr(info.dli_fname, '/');
    const size_t folder = (slash != NULL) ? (size_t)(slash - info.dli_fname) + 1u : 0u;
    char *const path = (char *)malloc(folder + sizeof name);
    if (path != NULL) {
      (void)memcpy(path, info.dli_fname, folder);
      (void)memcpy(path + folder, name, sizeof name);
      library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
      free(path);
    }
  }
  return library;
}

/* a function of the library; 0: it is missing */
static int get(void *library, const char *name, void *to)
{
  void *const symbol = dlsym(library, name);
  (void)memcpy(to, &symbol, sizeof symbol);
  return (symbol != NULL) ? 1 : 0;
}

void *${name}_open(void)
{
  engine *e = (engine *)calloc(1, sizeof *e);
  int fine = 0;
  if (e != NULL) {
    e->library = opened_library();
    if (e->library != NULL) {
      fine = get(e->library, "zv_rig_create", &e->create) & get(e->library, "zv_rig_free", &e->release) &
             get(e->library, "zv_rig_reset", &e->reset) & get(e->library, "zv_rig_step", &e->step) &
             get(e->library, "zv_rig_outputs", &e->outputs) & get(e->library, "zv_rig_get_state", &e->get_state) &
             get(e->library, "zv_rig_set_state", &e->set_state);
    }
    if (fine != 0) {
      e->rig = e->create((const char *)text, sizeof text, NULL, 0);
      (void)memcpy(e->numbers, ${name}_start + $reset, NUMBERS * sizeof *e->numbers);
    }
    if (e->rig == NULL) {
      ${name}_close(e);
      e = NULL;
    }
  }
  return e;
}

void ${name}_close(void *engine_)
{
  engine *const e = (engine *)engine_;
  if (e != NULL) {
    if (e->rig != NULL) {
      e->release(e->rig);
    }
    if (e->library != NULL) {
      (void)dlclose(e->library);
    }
    free(e);
  }
}

/* a number as text has it, whatever the locale makes of its point */
static void write_number(double x, char *to)
{
  char digits[64];
  size_t k = 0u;
  (void)memset(to, ' ', WIDTH);
  (void)snprintf(digits, sizeof digits, "%.17g", x);
  for (const char *c = digits; (*c != '\0') && (k < WIDTH); ++c) {
    if (strchr("0123456789+-e", *c) != NULL) {
      to[k] = *c;
      ++k;
    } else if ((k > 0u) && (to[k - 1u] != '.')) {
      to[k] = '.';
      ++k;
    } else {
      /* further bytes of a point */
    }
  }
}

/* the rig of these numbers: made anew if they are others; 0, or a code */
static int with_numbers(engine *e, const double *numbers)
{
  int code = 0;
  if ((NUMBERS > 0) && (memcmp(e->numbers, numbers, NUMBERS * sizeof *numbers) != 0)) {
    char *const copy = (char *)malloc(sizeof text);
    void *rig = NULL;
    if (copy != NULL) {
      (void)memcpy(copy, text, sizeof text);
      for (size_t k = 0u; k < NUMBERS; ++k) {
        write_number(numbers[k], copy + places[k]);
      }
      rig = e->create(copy, sizeof text, NULL, 0);
      free(copy);
    }
    if (rig == NULL) {
      code = 7;
    } else {
      e->release(e->rig);
      e->rig = rig;
      (void)memcpy(e->numbers, numbers, NUMBERS * sizeof *numbers);
    }
  }
  return code;
}

int ${name}_init(void *engine_, ${name}_state *state, const double *start)
{
  engine *const e = (engine *)engine_;
  const double *const from = (start != NULL) ? start : ${name}_start;
  int code;
  (void)memset(state->numbers, 0, sizeof state->numbers);
  (void)memcpy(state->numbers, from + $reset, NUMBERS * sizeof *state->numbers);
  code = with_numbers(e, state->numbers);
  if (code == 0) {
    code = positive(e->reset(e->rig, from));
  }
  state->steps = 0.0;
  state->origin = 0.0;
  (void)e->get_state(e->rig, state->y);
  return code;
}

int ${name}(void *engine_, ${name}_state *state, const double *in, double *out)
{
  engine *const e = (engine *)engine_;
  int code = with_numbers(e, state->numbers);
  if (code == 0) {
    code = positive(e->set_state(e->rig, state->y));
  }
  if (code == 0) {
    code = positive(e->step(e->rig, in, out));
    if (code == 0) {
      (void)e->get_state(e->rig, state->y);
      state->steps += 1.0;
    } else {
      (void)e->set_state(e->rig, state->y);
    }
  }
  return code;
}

/* outputs of the last step: inputs do not act before the next one */
int ${name}_outputs(void *engine_, const ${name}_state *state, const double *in, double *out)
{
  engine *const e = (engine *)engine_;
  int code = with_numbers(e, state->numbers);
  if (code == 0) {
    code = positive(e->set_state(e->rig, state->y));
  }
  (void)in;
  return (code == 0) ? positive(e->outputs(e->rig, out)) : code;
}

const char *${name}_reason(int code)
{
  const char *text_ = "a number is not finite: too large";
  if (code == 1) {
    text_ = "an input is refused";
  } else if (code == 8) {
    text_ = "a leg cannot take the pose";
  } else if (code == 9) {
    text_ = "the state is singular: accelerations are not determined";
  } else if (code == 7) {
    text_ = "a start value or a parameter is refused, or no start";
  } else if (code == 11) {
    text_ = "not a state of this model";
  } else if (code == 14) {
    text_ = "the contact is deeper than its model reaches, rings touch at the start, or latches chatter";
  }
  return text_;
}
"""
