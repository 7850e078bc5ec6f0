"""Time inverse kinematics: one call and batches, numeric and closed forms, against other libraries.

python bench/ik_table.py [--targets N] [--cpp] [--peers PYTHON]

Targets are poses of random configurations inside of the limits, first starts are other random ones. Times are means
over the targets, of the processor, in one run, the engines one after another on one thread. A machine that others use
is now faster, now slower: numeric solutions, and those of `ik` as a user calls it, which has closed forms, take turns
with Pinocchio's, and the medians of the ratios are shown.
Success: 1e-6 m and 1e-6 rad, inside of the limits. --cpp builds bench/cpp/ik_pinocchio.cpp (damped least squares with
restarts, Pinocchio's usual form). --peers, perhaps several times: an interpreter that has roboticstoolbox, EAIK or
ssik, each is timed where it is found; they are not needed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import zveno as zv

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import arms

ARMS: dict[str, Callable[[], zv.Chain]] = {
    "Panda": arms.panda,
    "UR5": arms.ur5,
    "iiwa": arms.iiwa,
    "FS020N": zv.robots.kawasaki_fs020n,
    "planar 3R": arms.planar,
}
SINGLES = 2000
PASSES = 3  # after a first one
TURNS = 9


def mean_time(work: Callable[[], Any], count: int, passes: int = PASSES) -> float:
    """Microseconds of the processor for one of `count` targets, mean over all passes."""
    work()
    began = time.process_time()
    for _ in range(passes):
        work()
    return 1e6 * (time.process_time() - began) / (passes * count)


def numeric(chain: zv.Chain) -> Callable[..., Any]:
    """The numeric method of `ik`, also where there is a closed form: of one target as `ik` calls it, and of many."""
    from zveno.kinematics.arms import _EVERYTHING, _Known

    known = _Known.of(chain)
    reach = known.reach("ik", chain, ((arms.tip(chain), _EVERYTHING),))

    def solve(T: Any, q0: Any) -> Any:
        if T.ndim == 2:
            return reach.one(T, q0, True)
        return reach.solve([T], q0, known.middle, True, False, 1e-6, 1e-6, 301, 0, 1)

    return solve


def works(chain: zv.Chain, count: int) -> list[tuple[Callable[[], Any], int]]:
    """The numeric method for targets one by one and for all at once, with the number of targets."""
    link, solve = arms.tip(chain), numeric(chain)
    T, q0 = chain.pose(arms.uniform(chain, count, 1), link), arms.uniform(chain, count, 2)
    few = list(zip(T[:SINGLES], q0[:SINGLES], strict=True))
    return [(lambda: [solve(*pair) for pair in few], len(few)), (lambda: solve(T, q0), count)]


def users(chain: zv.Chain, count: int) -> list[tuple[Callable[[], Any], int]]:
    """`Chain.ik` as a user calls it, one by one and all at once: the closed form where there is one."""
    link = arms.tip(chain)
    T, q0 = chain.pose(arms.uniform(chain, count, 1), link), arms.uniform(chain, count, 2)
    few = list(zip(T[:SINGLES], q0[:SINGLES], strict=True))
    return [
        (lambda: [chain.ik(T, link, q0=q0) for T, q0 in few], len(few)),
        (lambda: chain.ik(T, link, q0=q0, threads=1), count),
    ]


def rows(count: int) -> Iterator[tuple[str, ...]]:
    """Arm, method, microseconds of one call and in a batch, success, iterations."""
    for name, make in ARMS.items():
        chain = make()
        link = arms.tip(chain)
        T, q0 = chain.pose(arms.uniform(chain, count, 1), link), arms.uniform(chain, count, 2)
        few = list(zip(T[:SINGLES], q0[:SINGLES], strict=True))
        _, status, _, iterations, _ = numeric(chain)(T, q0)
        one, batch = (mean_time(call, size) for call, size in works(chain, count))
        yield (
            name,
            "numeric",
            f"{one:.1f}",
            f"{batch:.2f}",
            f"{100 * (status == 0).mean():.3f} %",
            f"{iterations.mean():.1f}",
        )
        try:
            chain.ik_all(T[0], link)
        except ValueError:
            continue
        batch = mean_time(lambda chain=chain, T=T, link=link: chain.ik_all(T, link, limits=False, threads=1), count)
        one = mean_time(
            lambda chain=chain, link=link, few=few: [chain.ik_all(T, link, limits=False) for T, _ in few], len(few)
        )
        found = chain.ik_all(T, link, limits=False)
        share = f"{100 * (found.counts > 0).mean():.3f} %"
        yield name, f"closed form, all {found.counts.mean():.1f}", f"{one:.1f}", f"{batch:.2f}", share, "0"
        one, batch = (mean_time(call, size) for call, size in users(chain, count))
        yield name, "closed form, nearest", f"{one:.1f}", f"{batch:.2f}", share, "0"


def numbers_of(r: Any, R: Any) -> str:
    return " ".join(f"{x:.17g}" for x in [*np.ravel(r), *np.ravel(R)])


def write(chain: zv.Chain, count: int, path: Path) -> None:
    """A chain of revolute joints, its targets and starts as text for bench/cpp/ik_pinocchio.cpp."""
    link = arms.tip(chain)
    T, q0 = chain.pose(arms.uniform(chain, count, 1), link), arms.uniform(chain, count, 2)
    lines = [f"{chain.n} {count}"]
    for item in chain.links:
        if item.joint == "fixed":
            lines.append(numbers_of(item.position, item.rotation))
            continue
        limits = f"{max(item.lower, -np.pi):.17g} {min(item.upper, np.pi):.17g}"
        lines.append(f"{numbers_of(item.position, item.rotation)} {' '.join(f'{x:.17g}' for x in item.axis)} {limits}")
    for pose, start in zip(T, q0, strict=True):
        lines.append(f"{numbers_of(pose[:3, 3], pose[:3, :3])} {' '.join(f'{x:.17g}' for x in start)}")
    path.write_text("\n".join(lines))


def pinocchio_rows(count: int, folder: Path) -> Iterator[tuple[str, ...]]:
    """The same of Pinocchio in C++."""
    import pinocchio as pin

    prefix = next(parent for parent in Path(pin.__file__).parents if parent.name == "cmeel.prefix")
    program = folder / "ik_pinocchio"
    source = Path(__file__).parent / "cpp" / "ik_pinocchio.cpp"
    defines = ["BOOST_MPL_LIMIT_LIST_SIZE=30", "BOOST_MPL_LIMIT_VECTOR_SIZE=30", "BOOST_FUSION_INVOKE_MAX_ARITY=12"]
    defines += ["BOOST_MPL_CFG_NO_PREPROCESSED_HEADERS", "PINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION", "NDEBUG"]
    command = ["g++", "-std=c++17", "-O3", "-w", *(f"-D{name}" for name in defines), "-isystem", f"{prefix}/include"]
    command += ["-isystem", f"{prefix}/include/eigen3", str(source), "-o", str(program), f"-L{prefix}/lib"]
    subprocess.run([*command, "-lpinocchio_default", f"-Wl,-rpath,{prefix}/lib"], check=True)
    for name, make in ARMS.items():
        path = folder / "arm.txt"
        write(make(), count, path)
        work = works(make(), count) + users(make(), count)
        ratios = []
        for _ in range(TURNS):
            told = subprocess.run([program, path], check=True, text=True, stdout=subprocess.PIPE).stdout.split()
            ratios.append([float(told[0]) / mean_time(call, size, 1) for call, size in work])
        one, batch, user_one, user_batch = np.median(ratios, axis=0)
        yield (
            name,
            f"Pinocchio {pin.__version__} CLIK, C++",
            f"{float(told[0]):.1f}",
            "",
            f"{100 * float(told[1]):.3f} %",
            told[2],
            f"{one:.1f}, batch {batch:.0f}; ik {user_one:.1f}, batch {user_batch:.0f}",
        )


PEERS = r"""
import json, sys, time, importlib.metadata
import numpy as np
data = json.load(open(sys.argv[1]))
T, q0 = np.array(data["T"]), np.array(data["q0"])
def show(arm, name, package, T, q0, work, all_at_once=None):
    work(T[0], q0[0])
    began = time.process_time()
    good = sum(bool(work(a, b)) for a, b in zip(T, q0))
    one, batch = 1e6 * (time.process_time() - began) / len(T), None
    if all_at_once:
        all_at_once()
        began = time.process_time()
        for _ in range(3):
            all_at_once()
        batch = 1e6 * (time.process_time() - began) / (3 * len(T))
    print(json.dumps([arm, name + " " + importlib.metadata.version(package), one, batch, good / len(T)]))
try:
    import roboticstoolbox as rtb
    from spatialmath import SE3
    links = [rtb.RevoluteMDH(d=d, a=a, alpha=al, qlim=[lo, hi]) for d, a, al, lo, hi in data["rows"]]
    robot = rtb.DHRobot(links, tool=SE3(np.array(data["tool"]), check=False)).ets()
    lm = lambda T, q0: robot.ik_LM(T, q0=q0, tol=1e-12)[1]
    show("Panda", "roboticstoolbox LM", "roboticstoolbox-python", T, q0, lm)
except ImportError:
    pass
T = np.array(data["ur5"])
try:
    from eaik.IK_DH import DhRobot
    d, a, alpha = np.array(data["ur5 rows"]).T
    robot = DhRobot(alpha, a, d)
    together = lambda: robot.IK_batched(T, num_worker_threads=1)
    show("UR5", "EAIK, all", "EAIK", T, q0, lambda T, q0: len(robot.IK(T).Q), together)
except ImportError:
    pass
try:
    from ssik.prebuilt.universal_robots import ur5_ik
    T = np.array([ur5_ik.fk(q[:6]) for q in q0])  # its own tool frame
    show("UR5", "ssik, all", "ssik", T, q0, lambda T, q0: len(ur5_ik.solve(T, enumerate_windings=False)))
except ImportError:
    pass
"""


def peer_rows(count: int, python: str, folder: Path) -> Iterator[tuple[str, ...]]:
    """Other libraries in another interpreter: on the Panda, and closed forms of the UR5."""
    chain = arms.panda()
    T, q0 = chain.pose(arms.uniform(chain, count, 1), "tool"), arms.uniform(chain, count, 2)
    a, d = (0, 0, 0, 0.0825, -0.0825, 0, 0.088), (0.333, 0, 0.316, 0, 0.384, 0, 0)
    alpha = (0, -arms.RIGHT, arms.RIGHT, arms.RIGHT, -arms.RIGHT, arms.RIGHT, arms.RIGHT)
    data = {
        "T": T.tolist(),
        "q0": q0.tolist(),
        "rows": [list(map(float, row)) for row in zip(d, a, alpha, chain.lower, chain.upper, strict=True)],
        "ur5": (ur5 := arms.ur5()).pose(arms.uniform(ur5, count, 1), "tool").tolist(),
        "ur5 rows": [row[1:] for row in arms.UR5],
        "tool": np.linalg.solve(chain.pose(np.zeros(7), chain.link_names[6]), chain.pose(np.zeros(7), "tool")).tolist(),
    }
    (folder / "peers.json").write_text(json.dumps(data))
    (folder / "peers.py").write_text(PEERS)
    command = [python, str(folder / "peers.py"), str(folder / "peers.json")]
    for line in subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout.splitlines():
        arm, name, one, batch, share = json.loads(line)
        yield arm, name, f"{one:.1f}", f"{batch:.2f}" if batch else "", f"{100 * share:.3f} %", ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--targets", type=int, default=20000)
    parser.add_argument("--cpp", action="store_true", help="Pinocchio in C++ too")
    parser.add_argument(
        "--peers", metavar="PYTHON", action="append", default=[], help="interpreter with other libraries"
    )
    options = parser.parse_args()
    print("| arm | method | one call, us | in a batch, us | success | iterations | times faster |\n" + "|---" * 7 + "|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tables = [rows(options.targets)]
        if options.cpp:
            tables.append(pinocchio_rows(min(options.targets, 5000), folder))
        tables += [peer_rows(min(options.targets, 2000), python, folder) for python in options.peers]
        for table in tables:
            for row in table:
                print("|", " | ".join([*row, ""][:7]), "|", flush=True)


if __name__ == "__main__":
    main()
