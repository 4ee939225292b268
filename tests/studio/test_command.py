"""`recollect studio` and `recollect serve` print where Studio is; the demo leaves a store to look at."""

import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path

import pytest

import recollect

COMMAND = [sys.executable, "-c", "from recollect.interfaces.cli import main; main()"]


@pytest.mark.parametrize("command", [["studio"], ["serve", "--http", "127.0.0.1:0"]], ids=["studio", "serve"])
def test_the_link_that_is_printed_opens_once_and_the_command_ends_cleanly(command: list[str], tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    with recollect.open(store) as memory:
        memory.add("Ana likes tea", owner="ana")
    given = [*COMMAND, "--store", str(store), *command]
    with subprocess.Popen(given, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as started:
        try:
            assert started.stdout is not None
            link = next(found[0] for line in started.stdout if (found := re.search(r"http\S+token=\S+", line)))
            browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
            with browser.open(link) as answer:
                assert answer.url.endswith("/studio/") and "Ana likes tea" in answer.read().decode()
            with pytest.raises(urllib.error.HTTPError, match="403") as refused:
                urllib.request.urlopen(link)
            refused.value.close()
        finally:
            started.send_signal(signal.SIGINT)
        assert started.wait(20) == 0


def test_the_demo_keeps_a_sound_store(tmp_path: Path) -> None:
    kept = tmp_path / "folder" / "demo.db"
    done = subprocess.run([*COMMAND, "demo", "--keep", str(kept)], capture_output=True, text=True, check=True)
    assert f"--store {kept} studio" in done.stdout.replace("\n", "")
    with recollect.open(kept) as memory:
        assert memory.verify().ok and memory.stats()["by_status"]["contradictory"] == 1
    again = subprocess.run([*COMMAND, "demo", "--keep", str(kept)], capture_output=True, text=True)
    assert again.returncode == 2 and "is there already" in again.stderr
