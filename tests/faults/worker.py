"""One warm process that forks a child for each task, so that hundreds of runs need a single start of Python.

It reads requests as JSON lines, and answers each with one: ``start`` gives a pid, ``wait`` the status of that child.
A child writes what it wants to say, a JSON line at a time, straight to its own file: a line that was written is there
even if the process is killed at the very next instruction.
"""

import ctypes
import json
import os
import resource
import signal
import sys
import traceback
from typing import Any

from . import tasks
from .disk import Fault, arm, disarm, mark

PR_SET_PDEATHSIG = 1


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        if request["do"] == "start":
            answer = {"pid": _fork(request)}
        else:
            answer = {"status": os.waitstatus_to_exitcode(os.waitpid(request["pid"], 0)[1])}
        print(json.dumps(answer), flush=True)


def _fork(request: dict[str, Any]) -> int:
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        try:
            _be_the_child(request)
        except BaseException:  # noqa: BLE001 - a child must not run on as a second worker
            traceback.print_exc()
        finally:
            os._exit(1)
    return pid


def _be_the_child(request: dict[str, Any]) -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # no child outlives a test that failed
    said = os.open(request["said"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    noise = os.open(request["noise"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(noise, 1)
    os.dup2(noise, 2)
    recording = bool(request["fault"] and request["fault"]["log"])

    def say(**words: Any) -> None:
        if recording:
            mark(json.dumps(words))
        os.write(said, (json.dumps(words) + "\n").encode())

    if request["unprivileged"]:
        _drop_capabilities()
    if request["fault"]:
        arm(request["prefix"], Fault(**request["fault"]))
    try:
        value = getattr(tasks, request["task"])(say, **request["arguments"])
    except BaseException as error:  # noqa: BLE001 - whatever went wrong is the test's business, which reads it here
        sys.stdout.flush()
        say(error=type(error).__name__, message=str(error), traceback=traceback.format_exc())
        os._exit(1)
    calls = disarm()
    say(value=value, calls=calls)
    sys.stdout.flush()
    os._exit(0)


def _drop_capabilities() -> None:
    """Permissions do not stop root; without its capabilities they do."""
    if os.geteuid() != 0:
        return
    version_3 = (ctypes.c_uint32 * 2)(0x20080522, 0)
    nothing = (ctypes.c_uint32 * 6)()
    if ctypes.CDLL(None, use_errno=True).capset(version_3, nothing) != 0:
        raise OSError(ctypes.get_errno(), "capset")


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    tasks.warm_up()
    main()
