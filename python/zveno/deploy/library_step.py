"""A step in C that the library makes: for FMUs of what has no fixed list of operations."""

from __future__ import annotations

import json
import re
from pathlib import Path
from string import Template
from typing import Any, Final

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
    }
    outputs = tuple(Channel(key, x.stop - x.start, stepper.units[key]) for key, x in stepper.outputs.items())
    header, source = Template(_HEADER).substitute(values), Template(_SOURCE).substitute(values)
    return StepCode(word, header, source, d, d.inputs, outputs, len(stepper.state))


def _with_room(d: Description) -> tuple[bytes, list[int], list[float]]:
    """The text of a rig, where numbers stand in it that others may be written over, and their values."""
    data = d.to_dict()
    rows = [] if isinstance(d.model, Chain | Hexapod | Linkage) else docking_numbers(d.model)
    numbers = [x for _, parameter in rows for x in parameter.values]
    for k, path in enumerate(path for paths, _ in rows for path in paths):
        part: Any = data["model"]
        for key in path[:-1]:
            part = part[key]
        part[path[-1]] = f"@zveno{k}@"
    _make_rotations(data["model"])
    text = json.dumps(data, allow_nan=False)
    places = [0] * len(numbers)
    pieces = re.split('"@zveno([0-9]+)@"', text)
    text = pieces[0]
    for k, behind in zip(map(int, pieces[1::2]), pieces[2::2], strict=True):
        places[k] = len(text)
        text += repr(numbers[k]).ljust(_WIDTH) + behind
    assert text.isascii()
    return text.encode(), places, numbers


def _make_rotations(part: Any) -> None:
    """Rotations of chains become those that they are computed with: sources have no decomposition to find them."""
    for key, value in part.items() if isinstance(part, dict) else enumerate(part):
        if key == "rotation":
            part[key] = _core.rotation_of(value).tolist()
        elif isinstance(value, dict | list):
            _make_rotations(value)


def library_files() -> dict[str, bytes]:
    """What the library consists of on this machine: itself and its kernels, by name."""
    files = [c_library().library, *sorted(Path(_core.__file__).parent.glob("_kernels_*"))]
    return {path.name: path.read_bytes() for path in files if path.suffix in (".so", ".dylib", ".dll", ".pyd")}


_HEADER: Final = """\
/* $name: one period of a rig, which zveno's library makes. Generated code, do not edit. */
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
/* $name: one period of a rig, which zveno's library makes. Generated code, do not edit.
 *
 * The library is compiled with this file; or it stands beside the binary under the name ZVENO_BESIDE. */
#if defined(ZVENO_BESIDE) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "$name.h"

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

typedef struct engine {
  void *library;
  void *rig;
  double numbers[$room];
#if defined(ZVENO_BESIDE)
  void *(*create)(const char *, size_t, char *, size_t);
  void (*release)(void *);
  int (*reset)(void *, const double *);
  int (*step)(void *, const double *, double *);
  int (*outputs)(const void *, double *);
  int (*get_state)(const void *, double *);
  int (*set_state)(void *, const double *);
#endif
} engine;

/* codes of zveno.h without their sign */
static int positive(int code) { return (code < 0) ? -code : code; }

/* ---- functions of zveno.h */
#if defined(ZVENO_BESIDE)
#include <dlfcn.h>

/* a function of the library; 0: it is missing */
static int get(void *library, const char *name, void *to)
{
  void *const symbol = dlsym(library, name);
  (void)memcpy(to, &symbol, sizeof symbol);
  return (symbol != NULL) ? 1 : 0;
}

static int opened_library(engine *e)
{
  static const char name[] = ZVENO_BESIDE;
  int fine = 0;
  Dl_info info;
  if ((dladdr((const void *)&text, &info) != 0) && (info.dli_fname != NULL)) {
    const char *const slash = strrchr(info.dli_fname, '/');
    const size_t folder = (slash != NULL) ? (size_t)(slash - info.dli_fname) + 1u : 0u;
    char *const path = (char *)malloc(folder + sizeof name);
    if (path != NULL) {
      (void)memcpy(path, info.dli_fname, folder);
      (void)memcpy(path + folder, name, sizeof name);
      e->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
      free(path);
    }
  }
  if (e->library != NULL) {
    fine = get(e->library, "zv_rig_create", &e->create) & get(e->library, "zv_rig_free", &e->release) &
           get(e->library, "zv_rig_reset", &e->reset) & get(e->library, "zv_rig_step", &e->step) &
           get(e->library, "zv_rig_outputs", &e->outputs) & get(e->library, "zv_rig_get_state", &e->get_state) &
           get(e->library, "zv_rig_set_state", &e->set_state);
  }
  return fine;
}

static void close_library(engine *e)
{
  if (e->library != NULL) {
    (void)dlclose(e->library);
  }
}

static void *create(const engine *e, const char *model, size_t size) { return e->create(model, size, NULL, 0); }
static void release(engine *e) { e->release(e->rig); }
static int reset(engine *e, const double *start) { return positive(e->reset(e->rig, start)); }
static int step(engine *e, const double *in, double *out) { return positive(e->step(e->rig, in, out)); }
static int outputs(engine *e, double *out) { return positive(e->outputs(e->rig, out)); }
static void get_state(engine *e, double *state) { (void)e->get_state(e->rig, state); }
static int set_state(engine *e, const double *state) { return positive(e->set_state(e->rig, state)); }
#else
#define ZVENO_C_INSIDE
#include "zveno.h"

static int opened_library(engine *e)
{
  e->library = NULL;
  return 1;
}

static void close_library(engine *e) { (void)e; }

static void *create(const engine *e, const char *model, size_t size)
{
  (void)e;
  return zv_rig_create(model, size, NULL, 0);
}

static void release(engine *e) { zv_rig_free((zv_rig *)e->rig); }
static int reset(engine *e, const double *start) { return positive(zv_rig_reset((zv_rig *)e->rig, start)); }
static int step(engine *e, const double *in, double *out) { return positive(zv_rig_step((zv_rig *)e->rig, in, out)); }
static int outputs(engine *e, double *out) { return positive(zv_rig_outputs((zv_rig *)e->rig, out)); }
static void get_state(engine *e, double *state) { (void)zv_rig_get_state((zv_rig *)e->rig, state); }
static int set_state(engine *e, const double *state) { return positive(zv_rig_set_state((zv_rig *)e->rig, state)); }
#endif

void *${name}_open(void)
{
  engine *e = (engine *)calloc(1, sizeof *e);
  if (e != NULL) {
    if (opened_library(e) != 0) {
      e->rig = create(e, (const char *)text, sizeof text);
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
      release(e);
    }
    close_library(e);
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
  for (const char *c = digits; (*c != '\\0') && (k < WIDTH); ++c) {
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
      rig = create(e, copy, sizeof text);
      free(copy);
    }
    if (rig == NULL) {
      code = 7;
    } else {
      release(e);
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
    code = reset(e, from);
  }
  state->steps = 0.0;
  state->origin = 0.0;
  get_state(e, state->y);
  return code;
}

int ${name}(void *engine_, ${name}_state *state, const double *in, double *out)
{
  engine *const e = (engine *)engine_;
  int code = with_numbers(e, state->numbers);
  if (code == 0) {
    code = set_state(e, state->y);
  }
  if (code == 0) {
    code = step(e, in, out);
    if (code == 0) {
      get_state(e, state->y);
      state->steps += 1.0;
    } else {
      (void)set_state(e, state->y);
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
    code = set_state(e, state->y);
  }
  (void)in;
  return (code == 0) ? outputs(e, out) : code;
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
