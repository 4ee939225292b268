"""The container file and the compose file, which no test builds: whatever they name is there, and fits together."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

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


def test_what_is_copied_and_installed_is_there() -> None:
    for copied in [words.split() for name, words in STEPS if name == "COPY"]:
        assert all((ROOT / source).exists() for source in copied[:-1]), copied
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    copied_files = {source for name, words in STEPS if name == "COPY" for source in words.split()[:-1]}
    assert {"pyproject.toml", "src", project["readme"], *project["license-files"]} == copied_files
    (extras,) = re.findall(r"/src\[([\w,]+)\]", " ".join(words for _, words in STEPS))
    assert set(extras.split(",")) <= set(project["optional-dependencies"])
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
