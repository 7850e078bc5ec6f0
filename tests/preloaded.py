"""Processes that start in milliseconds: forks of one that has imported the package, its commands and Matplotlib.

Arguments, environment, folder and the three standard files are those of a new process, and it ends like one. Not for
what a test says about importing.
"""

import atexit
import json
import os
import socket
import subprocess
import sys
import tempfile
from functools import cache

SERVER = r"""
import contextlib, gc, io, json, os, runpy, socket, sys, warnings
import matplotlib.pyplot, zveno.cli
with contextlib.redirect_stdout(io.StringIO()):  # what a command imports when it runs
    zveno.cli.app(["info", "two_link"], standalone_mode=False)
gc.freeze()
line = socket.socket(fileno=int(sys.argv[1]))
while True:
    message, files, *_ = socket.recv_fds(line, 4, 3)
    if not message:
        raise SystemExit
    size = int.from_bytes(message, "little")
    task = json.loads(line.recv(size, socket.MSG_WAITALL))
    child = os.fork()
    if child == 0:
        break
    for file in files:
        os.close(file)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    line.sendall(status.to_bytes(4, "little", signed=True))
line.close()
for target, file in enumerate(files):
    os.dup2(file, target)
    os.close(file)
os.environ.clear()
os.environ.update(task["environment"])
os.chdir(task["folder"])
sys.stdin = open(0, closefd=False)
sys.stdout = sys.__stdout__ = open(1, "w", closefd=False, buffering=1 if os.isatty(1) else -1)
sys.stderr = sys.__stderr__ = open(2, "w", closefd=False, buffering=1, errors="backslashreplace")
sys.argv[:] = task["arguments"]
if task["strict"]:
    warnings.simplefilter("error")
if task["module"]:
    sys.path[0] = task["folder"]
    runpy.run_module(task["module"], run_name="__main__", alter_sys=True)
else:
    sys.path[0] = os.path.dirname(sys.argv[0])
    runpy.run_path(sys.argv[0], run_name="__main__")
"""


@cache
def _server():
    ours, theirs = socket.socketpair()
    single = os.environ | {"OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "agg"}  # a process with threads is not forked
    command = [sys.executable, "-c", SERVER, str(theirs.fileno())]
    server = subprocess.Popen(command, pass_fds=[theirs.fileno()], env=single)
    theirs.close()

    def end():
        ours.close()
        server.wait()

    atexit.register(end)
    return ours


def _start(arguments, module, files, strict, environment, folder):
    task = {
        "arguments": [*([module] if module else []), *map(str, arguments)],
        "module": module,
        "strict": strict,
        "environment": dict(os.environ if environment is None else environment),
        "folder": str(folder or os.getcwd()),
    }
    message, line = json.dumps(task).encode(), _server()
    socket.send_fds(line, [len(message).to_bytes(4, "little")], files)
    line.sendall(message)
    return line


def _status(line):
    answer = line.recv(4, socket.MSG_WAITALL)
    assert len(answer) == 4, "the process that forks has ended"
    return int.from_bytes(answer, "little", signed=True)


def run(*arguments, module=None, strict=False, stdout=None, environment=None, folder=None):
    """Like subprocess.run of Python with a module (-m) or a script, texts of both outputs captured; `strict`: -W error.

    `stdout`: a file that takes the output instead.
    """
    with open(os.devnull) as nothing, tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        files = [nothing.fileno(), (out if stdout is None else stdout).fileno(), err.fileno()]
        code = _status(_start(arguments, module, files, strict, environment, folder))
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read())
    return subprocess.CompletedProcess([module, *arguments], code, *texts)


def on_a_terminal(*arguments, module, environment):
    """Exit code of a module run on a terminal of its own, and what a person sees there."""
    import pty

    master, slave = pty.openpty()
    line = _start(arguments, module, [slave] * 3, False, environment, None)
    os.close(slave)
    parts = []
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:  # the last writer has closed it
            break
        if not part:
            break
        parts.append(part)
    os.close(master)
    return _status(line), b"".join(parts).decode().replace("\r\n", "\n")
