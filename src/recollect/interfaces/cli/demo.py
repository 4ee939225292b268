"""The guided run: six things that a plain vector store does not do, each shown on a real, throw-away store."""

import shutil
import sqlite3
import sys
import tempfile
import time
from pathlib import Path
from typing import Literal

from rich.panel import Panel

from recollect.compose import open as open_memory
from recollect.interfaces.cli import screen
from recollect.interfaces.python import Recollect
from recollect.model.receipt import Receipt

_console = screen.console
NAME = "recollect"


def run(keep: Path | None = None) -> None:
    """Show everything, and leave nothing behind but what is to be kept."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="recollect-demo-") as folder:
        path = Path(folder) / "memory.db"
        _console.print(Panel.fit("[bold]Recollect[/]: one concept, one live memory, and a reason for everything"))
        with open_memory(path) as memory:
            _show_duplicates(memory)
            _show_update(memory)
            _show_contradiction(memory)
            _show_secret(memory, path)
            _show_test_data(memory)
            _show_explanation(memory)
        if keep is not None:
            _keep(path, keep)
        _show_tampering(path)
    seconds = f"{time.monotonic() - began:.1f} s"
    if keep is None:
        _console.print(f"\n[dim]{seconds}, on a store that is gone again. Yours: `recollect add …`[/]")
        return
    program = Path(sys.argv[0])
    shown = program if program.name != NAME or not shutil.which(NAME) else Path(NAME)
    _console.print(f"\n[dim]{seconds}. Yours: `recollect add …`[/]", soft_wrap=True)
    _console.print(f"See this store in Studio:  [bold]{shown} --store {keep} studio[/]", soft_wrap=True)


def _keep(path: Path, keep: Path) -> None:
    """Copy the store as it is now, before somebody tampers with it, with something that waits for a decision."""
    keep.parent.mkdir(parents=True, exist_ok=True)
    with open_memory(path) as memory:
        memory.backup(keep)
    with open_memory(keep) as kept:
        kept.add("Ana lives in Madrid", owner="ana", source="agent")
        kept.checkpoint()


def _step(title: str) -> None:
    _console.print(f"\n[bold blue]{title}[/]")


def _say(memory: Recollect, words: str, who: Literal["user", "agent"] = "user") -> Receipt:
    _console.print(f"  [dim]{who} says[/]  “{words}”")
    receipt = memory.add(words, owner="ana", source=who)
    key = f"  {receipt.memory.canonical_key} v{receipt.memory.version}" if receipt.memory else ""
    _console.print(f"    → {screen.colour_word(str(receipt.outcome))}{key}  [dim]{receipt.reasons[0]}[/]")
    return receipt


def _show_duplicates(memory: Recollect) -> None:
    _step("1. The same thing twice is one memory")
    _say(memory, "No emojis")
    _say(memory, "Don't use emojis")
    count = len(memory.list(owner="ana").items)
    _console.print(f"    {count} memory in the store; a list of embeddings would hold 2.")


def _show_update(memory: Recollect) -> None:
    _step("2. News replaces what it updates, and the old version stays in the chain")
    _say(memory, "Ana lives in Lisbon")
    moved = _say(memory, "Ana now lives in Porto")
    assert moved.memory is not None
    for version in memory.chain(moved.memory.id):
        _console.print(f"    v{version.version} {version.to_dict().get('content')}", highlight=False)
    found = memory.query("where does Ana live", owner="ana", top_k=1).items[0].memory
    _console.print(f"    asked where Ana lives: [green]{found.content}[/]")


def _show_contradiction(memory: Recollect) -> None:
    _step("3. A guess cannot overwrite what a person said: it waits for someone to decide")
    _say(memory, "The API port is 8080")
    guess = _say(memory, "The API port is 9090", who="agent")
    assert guess.memory is not None
    memory.resolve(guess.memory.id, winner=guess.memory.id)
    id = guess.memory.short_id
    _console.print(f"    a person decides that the guess is right:  [dim]recollect resolve {id} --winner {id}[/]")
    _console.print(f"    asked for the port: [green]{memory.query('api port', owner='ana').items[0].memory.content}[/]")


def _show_secret(memory: Recollect, path: Path) -> None:
    _step("4. A secret is refused before it touches the disk")
    secret = "hunter2-" + "Zx9Q"
    receipt = memory.add(f"My password is {secret}", owner="ana")
    _console.print(f"  [dim]user says[/]  “My password is {'•' * len(secret)}”")
    _console.print(f"    → {screen.colour_word('denied')}  [dim]{receipt.reasons[0]}[/]")
    files = sorted(path.parent.iterdir())
    found = sum(secret.encode() in file.read_bytes() for file in files)
    _console.print(f"    searched the bytes of {len(files)} files, log included: found in {found}")


def _show_test_data(memory: Recollect) -> None:
    _step("5. Test data never reaches production")
    receipt = _say(memory, "E2E test memory 42: the sky is green")
    assert receipt.memory is not None
    seen = len(memory.query("sky green", owner="ana").items)
    asked = len(memory.query("sky green", owner="ana", include_namespaces=["test"]).items)
    _console.print(f"    it went to [yellow]{receipt.memory.namespace}[/]: {seen} hits by default, {asked} when asked")


def _show_explanation(memory: Recollect) -> None:
    _step("6. Every memory can say why it is as it is")
    found = memory.query("where does Ana live", owner="ana", top_k=1).items[0].memory
    _console.print(memory.explain(found.id).text, markup=False, style="dim")


def _show_tampering(path: Path) -> None:
    _step("7. History cannot be rewritten unseen")
    with open_memory(path) as memory:
        _console.print(f"    verify: {'[green]ok[/]' if memory.verify().ok else '[red]broken[/]'}")
    raw = sqlite3.connect(path)
    raw.execute("UPDATE versions SET body = replace(body, 'Lisbon', 'London') WHERE body LIKE '%Lisbon%'")
    raw.commit()
    raw.close()
    _console.print("    someone edits one row of the file behind its back: Lisbon becomes London")
    with open_memory(path) as memory:
        for problem in memory.verify().problems:
            _console.print(f"    verify: [red]broken[/] at {problem.where}")
            _console.print(f"            {problem.what}")
