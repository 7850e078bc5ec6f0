#!/bin/sh
# Usage: sanitized.sh PYTHON BUILD ARGUMENTS OF PYTEST
# Tests of the installed package with the module that Python calls, _core, from BUILD, where it was compiled with address and
# undefined-behaviour sanitizers; the kernels are those of the installation.
set -eu

python=${1:?usage: sanitized.sh PYTHON BUILD ARGUMENTS}
build=${2:?usage: sanitized.sh PYTHON BUILD ARGUMENTS}
shift 2
package=$("$python" -c 'import os, zveno._core; print(os.path.dirname(zveno._core.__file__))')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$package" "$work/zveno"
cp "$build"/_core.*.so "$work/zveno"

preload=
for library in asan ubsan stdc++; do # before all that Python loads
  preload="$preload $(c++ -print-file-name=lib$library.so)"
done
report=log_path=$work/report # standard error may be pytest's
if ! LD_PRELOAD=$preload PYTHONPATH=$work PYTHONMALLOC=malloc ASAN_OPTIONS=detect_leaks=0:$report \
  UBSAN_OPTIONS=print_stacktrace=1:$report "$python" -m pytest -p no:cacheprovider "$@"; then
  cat "$work"/report.* 2>/dev/null || true
  exit 1
fi
