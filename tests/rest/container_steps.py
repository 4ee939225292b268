"""Every step of the container file, without a container: its copies, its installation, its command and its health check.

`make test-container` runs it; it fetches what the file installs. The folders that the steps name become folders of a temporary
one, whose code is read-only, and if the tests run as root the command runs as an ordinary user.
"""

import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from recollect.interfaces.rest.serving import LEAVE_S

from .test_container import ROOT, STEPS, step


@pytest.fixture(scope="module")
def installed() -> Iterator[Path]:
    """Return a folder of which ``code`` holds what the file installs, and may not be written to."""
    folder = Path(tempfile.mkdtemp())  # not one of pytest's, into which only their owner may look
    folder.chmod(0o755)
    code = folder / "code"
    venv.create(code, with_pip=True, symlinks=True)
    for copied in [words.split() for name, words in STEPS if name == "COPY"]:
        *sources, target = copied
        for source in sources:
            found, aim = ROOT / source, folder / target.strip("/")
            ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
            if found.is_dir():
                shutil.copytree(found, aim, ignore=ignored)
            else:
                aim.mkdir(exist_ok=True)
                shutil.copy(found, aim)
    (install,) = [words for name, words in STEPS if name == "RUN" and "pip install" in words]
    install = install.replace("--no-cache-dir ", "").replace("/src", f"{folder}/src")
    environment = {"PATH": f"{code}/bin:{os.environ['PATH']}", "HOME": os.environ.get("HOME", "")}
    subprocess.run(["sh", "-ec", install], env=environment, check=True, capture_output=True, timeout=600)
    assert not (folder / "src").exists(), "what it was built from is left behind"
    for path in (code, *code.rglob("*")):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode & 0o555)
    yield folder
    for path in (code, *code.rglob("*")):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)
    shutil.rmtree(folder)


def ordinary_user(program: Path) -> str | None:
    """Return somebody else to be, if the tests run as root and that user may start the program."""
    if os.getuid() != 0:
        return None
    try:
        subprocess.run([program, "-c", "pass"], user="nobody", extra_groups=[], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return "nobody"


def test_what_it_installs_serves_as_an_ordinary_user_from_a_folder_that_is_read_only(installed: Path) -> None:
    data, user = installed / step("VOLUME").strip("/"), ordinary_user(installed / "code/bin/python")
    data.mkdir()
    if user is not None:
        os.chown(data, pwd.getpwnam(user).pw_uid, -1)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    name, value = step("ENV").replace(step("VOLUME"), str(data)).split("=", 1)
    as_there: dict[str, Any] = {
        "cwd": data,
        "env": {name: value, "PATH": f"{installed}/code/bin:/usr/bin:/bin", "HOME": str(data), "LANG": "C.UTF-8"},
        **({} if user is None else {"user": user, "group": "nogroup", "extra_groups": []}),
    }
    (entrypoint,) = json.loads(step("ENTRYPOINT"))
    program = [str(installed / "code/bin" / entrypoint)]
    serve = [word.replace(step("EXPOSE"), port) for word in json.loads(step("CMD"))]
    refused = subprocess.run([*program, *serve], **as_there, capture_output=True, text=True, timeout=60)
    assert refused.returncode == 1 and "recollect key create" in refused.stderr
    made = subprocess.run(
        [*program, "key", "create", "laptop", "--user", "ana"], **as_there, capture_output=True, text=True, check=True
    )
    looked = [word.replace(step("EXPOSE"), port) for word in json.loads(step("HEALTHCHECK").partition("CMD")[2])]
    looked[0] = str(installed / "code/bin" / looked[0])
    with subprocess.Popen([*program, *serve], **as_there, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None and "/v1" in server.stderr.readline()
            until = time.monotonic() + 20
            while subprocess.run(looked, **as_there, stderr=subprocess.DEVNULL).returncode and time.monotonic() < until:
                time.sleep(0.1)
            subprocess.run(looked, **as_there, check=True)
            url, key = f"http://127.0.0.1:{port}", {"Authorization": f"Bearer {made.stdout.split()[-1]}"}
            kept = httpx.post(f"{url}/v1/memories", json={"content": "Ana prefers dark mode"}, headers=key).json()
            asked = {"query": "which theme?", "return": "bullets"}
            found = httpx.post(f"{url}/v1/query", json=asked, headers=key).json()["items"]
            assert kept["outcome"] == "stored" and [one["id"] for one in found] == [kept["memory"]["id"]]
            assert httpx.get(f"{url}/studio/sign-in").status_code == 200
            assert httpx.get(f"{url}/v1/memories").status_code == 401
        finally:
            server.send_signal(signal.SIGTERM)
        assert server.wait(LEAVE_S) == 0
    assert subprocess.run(looked, **as_there, stderr=subprocess.DEVNULL).returncode != 0
    assert Path(value).is_file(), "the store lies in the volume"
