"""The container file and the compose file: whatever they name is there, and fits together.

No test builds the image. `container_steps.py`, which `make test-container` runs, takes every step of the file without one.
"""

import json
import re
import signal
import subprocess
import sys
import tomllib
from importlib.metadata import distribution, packages_distributions
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from recollect import NotAllowed, Recollect
from recollect.interfaces.rest.serving import LEAVE_S, listen

from .serving import listening

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "deploy/Containerfile").read_text("utf-8")
LINES = TEXT.replace("\\\n", " ").splitlines()
STEPS = [tuple(line.split(maxsplit=1)) for line in LINES if line and not line.startswith("#")]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text("utf-8"))
SERVER = COMPOSE["services"]["server"]


def step(name: str) -> str:
    """Return the words of the one step of a name."""
    (found,) = [words for step, words in STEPS if step == name]
    return str(found)


def extras() -> set[str]:
    """Return the extras of the project that the file installs."""
    (named,) = re.findall(r"/src\[([\w,]+)\]", " ".join(words for _, words in STEPS))
    return set(named.split(","))


def test_what_is_copied_and_installed_is_there() -> None:
    for copied in [words.split() for name, words in STEPS if name == "COPY"]:
        assert all((ROOT / source).exists() for source in copied[:-1]), copied
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    copied_files = {source for name, words in STEPS if name == "COPY" for source in words.split()[:-1]}
    assert {"pyproject.toml", "src", project["readme"], *project["license-files"]} == copied_files
    assert extras() <= set(project["optional-dependencies"])
    (command,) = json.loads(step("ENTRYPOINT"))
    assert command in project["scripts"]


def test_the_builder_is_sent_what_is_copied_alone() -> None:
    first, *rest = [line for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line[:1] != "#"]
    copied = {source for name, words in STEPS if name == "COPY" for source in words.split()[:-1]}
    assert first == "*" and {line[1:] for line in rest if line.startswith("!")} == copied


def test_whoever_builds_with_podman_is_told_to_keep_the_health_check() -> None:
    guide = (ROOT / "docs/server.md").read_text("utf-8")
    found = [line for text in (TEXT, guide) for line in text.splitlines() if "podman build" in line]
    assert len(found) == 2 and all("podman build --format docker " in line for line in found), found


def test_it_runs_as_an_ordinary_user_who_may_write_its_store() -> None:
    user, made = step("USER"), next(words for name, words in STEPS if name == "RUN")
    assert made.split()[-1] == user != "root" and f"--home-dir {step('VOLUME')}" in made
    assert step("ENV").startswith(f"RECOLLECT_STORE={step('VOLUME')}/") and step("WORKDIR") == step("VOLUME")
    assert SERVER["cap_drop"] == ["ALL"] and SERVER["read_only"] and "no-new-privileges:true" in SERVER["security_opt"]


def test_its_command_needs_a_key_and_its_health_check_does_not(memory: Recollect) -> None:
    command, (interpreter, option, program) = (
        json.loads(step("CMD")),
        json.loads(step("HEALTHCHECK").partition("CMD")[2]),
    )
    port = step("EXPOSE")
    assert command == ["serve", "--http", f"0.0.0.0:{port}"] and (interpreter, option) == ("python", "-c")
    assert SERVER["ports"] == [f"127.0.0.1:{port}:{port}"]
    with pytest.raises(NotAllowed, match="there is no key") as refused:
        listen(memory, command[-1])
    assert "recollect key create" in (refused.value.hint or "")
    with listening(memory) as url:
        assert f"http://127.0.0.1:{port}/readyz" in program
        program = program.replace(f"http://127.0.0.1:{port}", url)
        exec(program)
    with pytest.raises(OSError, match="refused"):
        exec(program)


def test_the_services_find_each_other() -> None:
    assert (ROOT / "deploy" / SERVER["build"]["context"] / SERVER["build"]["dockerfile"]).is_file()
    database = COMPOSE["services"]["database"]
    named = re.fullmatch(r"postgresql://(\w+):\$\{(\w+)\}@(\w+)/(\w+)", SERVER["environment"]["RECOLLECT_STORE"])
    assert named is not None
    user, variable, host, name = named.groups()
    given = database["environment"]
    assert (user, name) == (given["POSTGRES_USER"], given["POSTGRES_DB"]) and variable in given["POSTGRES_PASSWORD"]
    assert host in COMPOSE["services"] and SERVER["depends_on"][host]["condition"] == "service_healthy"
    assert "healthcheck" in database and int(SERVER["stop_grace_period"].rstrip("s")) > LEAVE_S
    assert {volume.partition(":")[0] for volume in database["volumes"]} <= set(COMPOSE["volumes"])


def installed_with(project: dict[str, Any], extras: set[str]) -> set[str]:
    """Return the names of the distributions that come with the project and some of its extras."""
    wanted = [*project["dependencies"], *(one for extra in extras for one in project["optional-dependencies"][extra])]
    found: set[tuple[str, str]] = set()
    waiting = [(Requirement(one), "") for one in wanted]
    while waiting:
        one, of = waiting.pop()
        for extra in ("", *one.extras):
            named = canonicalize_name(one.name), extra
            if (one.marker is None or one.marker.evaluate({"extra": of})) and named not in found:
                found.add(named)
                waiting += [(Requirement(text), extra) for text in distribution(one.name).requires or ()]
    return {name for name, _ in found}


WITH_NOTHING_ELSE = """
import sys

sys.modules.update(dict.fromkeys(sys.argv.pop(1).split()))

from recollect.interfaces.cli import main

main()
"""


def test_its_command_runs_with_what_it_installs_and_nothing_else(tmp_path: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    kept = installed_with(project, extras()) | {project["name"], "pip"}
    others = [
        package
        for package, homes in packages_distributions().items()
        if not kept.intersection(map(canonicalize_name, homes))
    ]
    assert {"httpx", "mcp", "pytest"} <= set(others) and not {"fastapi", "psycopg"} & set(others)

    def command(*words: str) -> list[str]:
        return [sys.executable, "-c", WITH_NOTHING_ELSE, " ".join(others), "--store", f"{tmp_path}/m.db", *words]

    made = subprocess.run(command("key", "create", "k", "--user", "ana"), capture_output=True, text=True, check=True)
    serve = [word.replace(f"0.0.0.0:{step('EXPOSE')}", "127.0.0.1:0") for word in json.loads(step("CMD"))]
    with subprocess.Popen(command(*serve), stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        (url,) = re.findall(r"(http\S+)/v1", server.stderr.readline())
        key = {"Authorization": f"Bearer {made.stdout.strip()}"}
        assert httpx.post(f"{url}/v1/memories", json={"content": "Ana likes tea"}, headers=key).status_code == 200
        assert httpx.get(f"{url}/v1/export", headers=key).text and httpx.get(f"{url}/openapi.json").status_code == 200
        assert httpx.post(f"{url}/studio/sign-in", data={"key": made.stdout.strip()}).status_code == 303
        server.send_signal(signal.SIGTERM)
    assert server.returncode == 0
