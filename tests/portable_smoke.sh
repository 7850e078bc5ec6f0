#!/bin/sh
# Usage: portable_smoke.sh PYTHON
# The installed package on processors older than this one, emulated by qemu-user: no AVX (Nehalem) takes the baseline
# kernels, AVX2 without AVX-512 (Haswell) takes those; both give the numbers of the native run, bit for bit. And no
# instruction of a newer processor has leaked into the modules that every machine loads.
set -eu
unset OPENBLAS_CORETYPE # NumPy's kernels must be those of the emulated processor

python=${1:?usage: portable_smoke.sh PYTHON}
for tool in qemu-x86_64 objdump; do
  command -v $tool >/dev/null || { echo "portable_smoke: $tool is missing (apt install qemu-user binutils)" >&2; exit 2; }
done
python=$("$python" -c 'import sys; print(sys.executable)') # the program itself: qemu does not run scripts
package=$("$python" -c 'import os, zveno._core; print(os.path.dirname(zveno._core.__file__))')
example=$(cd "$(dirname "$0")/.." && pwd)/examples/cpp/main.cpp
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

for module in "$package"/_core.*.so "$package"/_kernels_baseline.*.so; do
  # wide registers, masks, and every mnemonic in v: compilers write no other instructions of that letter
  if objdump -d --no-show-raw-insn "$module" | grep -E '%[yz]mm[0-9]|%k[0-7]|:[[:space:]]+v[a-z]' >leaks; then
    echo "portable_smoke: $(wc -l <leaks) AVX instructions in $module, for example" >&2
    head -n 3 leaks >&2
    exit 1
  fi
done
echo "no AVX instruction in _core and _kernels_baseline"
for module in "$package"/_kernels_*.so; do
  # Compilers form alternating ones even when contraction is off. They are wanted in one object file, whose code stands together:
  # transcendental_fused.cpp, 7 to 10 kB of 760.
  objdump -d --no-show-raw-insn "$module" | grep -E 'vfn?m(add|sub)' | cut -d: -f1 >fused || true
  "$python" - "$module" <<'PYTHON'
import sys

with open("fused") as file:
    places = [int(line, 16) for line in file]
if places and max(places) - min(places) > 16_384:
    sys.exit(f"portable_smoke: {len(places)} fused multiplications all over {sys.argv[1]} round otherwise than the baseline does")
PYTHON
done
echo "no fused multiplication in any kernel, but for the sines of generated code"

cat >everything.py <<'PYTHON'
"""Every function once, single and batch; writes the numbers, or compares them with those written."""

import pathlib
import sys

import numpy as np
import zveno as zv

expected_isa, file = sys.argv[1:]
selected = zv.cpu_features()["selected"]
if expected_isa != "any" and selected != expected_isa:
    sys.exit(f"portable_smoke: {selected} kernels were chosen, expected {expected_isa}")

results = []


def keep(*arrays):
    results.extend(np.asarray(a, float).ravel() for a in arrays)


for chain in (zv.robots.puma560(), zv.robots.stanford()):
    rng = np.random.default_rng(7)
    tip = chain.link_names[-1]
    for lead in ((), (11,)):
        q, qd, third = rng.normal(size=(3, *lead, chain.n))
        load = {tip: rng.normal(size=(*lead, 6))}
        for method in ("crba", "crba-walk", "crba-columns", "kane", "kane-triangular", "kane-recurrent", "kane-collapsed", "kosynka"):
            keep(chain.mass_matrix(q, method))
        for method in ("rnea", "kane"):
            keep(chain.bias(q, qd, load, method))
        for method in ("aba", "cholesky", "cholesky-walk"):
            keep(chain.forward_dynamics(q, qd, third, load, method))
        keep(chain.inverse_dynamics(q, qd, third, load, threads=2), chain.base_wrench(q, qd, third, load))
        for frame in ("world", "link"):
            keep(chain.reactions(q, qd, third, load, frame), chain.jacobian(q, tip, frame=frame))
            keep(chain.jacobian_rate(q, qd, tip, frame=frame))
        keep(chain.pose(q, tip), chain.kinetic_energy(q, qd), chain.potential_energy(q))
        slopes = chain.derivatives(q, qd, third, load)
        keep(slopes.dtau_dq, slopes.dtau_dqd, slopes.dtau_dqdd)
    count = chain.operations("inverse_dynamics")
    keep([count.mul, count.add])

numbers, path = np.concatenate(results), pathlib.Path(file)
if not path.exists():
    path.write_bytes(numbers.tobytes())
elif path.read_bytes() != numbers.tobytes():
    want = np.frombuffer(path.read_bytes())
    sys.exit(f"portable_smoke: {selected} differs from the native run by {np.abs(numbers - want).max():.3g}")
print(f"{selected}: {numbers.size} numbers")
PYTHON

"$python" everything.py any numbers
run() { # processor, kernels
  echo "-- qemu-x86_64 -cpu $1"
  # the linear algebra library that NumPy loads would start its threads under the emulator
  OPENBLAS_NUM_THREADS=1 qemu-x86_64 -cpu "$1" "$python" everything.py "$2" numbers
}
run Nehalem baseline
run Haswell avx2

echo "-- the library for C++ on a processor without AVX: numbers, or the words that it was compiled for another"
c++ -std=c++17 -I"$package/include" "$example" "$package/lib/libzveno.a" -lpthread -o example
qemu-x86_64 -cpu Nehalem ./example >told 2>&1 || grep 'compiled for processors with' told || { cat told >&2; exit 1; }
echo "portable"
