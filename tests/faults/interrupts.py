"""Ctrl-C at a chosen moment: the first, the second, … of all those at which Python would let it strike."""

import dis
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

PYTHON_LOOKS_UP_AFTER = ("CALL", "PRECALL", "RESUME", "JUMP_BACKWARD")
"""Python runs signal handlers when a function begins, when a call returns, and when a loop goes round; not in between."""

IN_BETWEEN = ("CALL", "PUSH_EXC_INFO")
"""The second half of a call, and the first step after a call that failed: too early, and too late."""


def interrupted(moment: int, within: tuple[Path, ...], operation: Callable[[], object]) -> bool:
    """Run an operation and press Ctrl-C at a moment, counted over the code in some folders or files.

    Returns whether that moment came; if not, the operation went through undisturbed.
    """
    ctrl_c = _CtrlC(moment, tuple(map(str, within)))
    before = sys.gettrace()
    sys.settrace(ctrl_c.enter)
    try:
        operation()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return ctrl_c.struck


class _CtrlC:
    """Counts moments down, and strikes at the last one."""

    def __init__(self, moment: int, within: tuple[str, ...]) -> None:
        self._left, self._within = moment, within
        self.struck = False

    def enter(self, frame: FrameType, event: str, arg: Any) -> Any:
        """Called for every function that begins, and every generator that goes on."""
        if self.struck or not frame.f_code.co_filename.startswith(self._within):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        instructions = _instructions(frame.f_code)
        return self._follow(instructions, instructions[frame.f_lasti])

    def _follow(self, instructions: dict[int, str], done: str) -> Any:

        def follow(frame: FrameType, event: str, arg: Any) -> Any:
            nonlocal done
            if event == "opcode":
                done, last = instructions[frame.f_lasti], done
                if last.startswith(PYTHON_LOOKS_UP_AFTER) and not done.startswith(IN_BETWEEN):
                    self._count_down()
            return follow

        return follow

    def _count_down(self) -> None:
        self._left -= 1
        if self._left == 0:
            self.struck = True
            raise KeyboardInterrupt


@cache
def _instructions(code: CodeType) -> dict[int, str]:
    return {instruction.offset: instruction.opname for instruction in dis.get_instructions(code)}
