"""A checkpoint that was acknowledged survives a kill, and two processes on one thread leave it whole."""

import signal
import subprocess
import sys
from pathlib import Path

from graphs import thread

import recollect
from recollect.langgraph import RecollectSaver

WRITER = Path(__file__).with_name("writer.py")


def start(location: str, name: str, count: int) -> "subprocess.Popen[str]":
    command = [sys.executable, str(WRITER), location, name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def check_whole(location: str, acknowledged: list[str]) -> int:
    """Every acknowledged checkpoint is there with its values and writes; how many there are."""
    with RecollectSaver.from_conn_string(location) as saver:
        found = {one.checkpoint["id"]: one for one in saver.list(thread("shared"))}
        (head,) = saver.threads()
    assert set(acknowledged) <= set(found)
    for id in acknowledged:
        values = found[id].checkpoint["channel_values"]
        name, step = values["name"], values["step"]
        assert values["big"] == name * 20_000
        assert found[id].pending_writes == [(f"task-{name}", "said", f"{name} {step}")]
        assert found[id].parent_config is None or found[id].parent_config["configurable"]["checkpoint_id"] in found
    assert head.checkpoint_id == max(found)
    return len(found)


def test_what_was_acknowledged_survives_a_kill(location: str) -> None:
    for name in ("a", "b"):
        with start(location, name, 10_000) as writer:
            assert writer.stdout is not None
            acknowledged = [writer.stdout.readline().strip() for _ in range(8)]
            writer.send_signal(signal.SIGKILL)
            acknowledged += [line.strip() for line in writer.stdout if line.endswith("\n")]
        assert check_whole(location, acknowledged) >= 8
    with recollect.open(location) as mem:
        assert mem.verify().ok


def test_two_processes_on_one_thread(location: str) -> None:
    with start(location, "left", 20) as left, start(location, "right", 20) as right:
        said = [(one.communicate(timeout=120)[0].split(), one.returncode) for one in (left, right)]
    assert [code for _, code in said] == [0, 0]
    assert check_whole(location, [id for ids, _ in said for id in ids]) == 40
