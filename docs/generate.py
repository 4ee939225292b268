"""Writes the reference pages that are made from the code: the command line, the policy, the reason codes, and
the description of the REST server.

Run by ``make docs``; a test compares the pages with what this makes.
"""

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import Any

import typer

from recollect.interfaces.cli.app import COMMANDS, OF_EVERY_COMMAND, app
from recollect.model.policy import settings
from recollect.policies import PRESETS
from recollect.rules import privacy
from recollect.rules.reasons import REASONS

HERE = Path(__file__).parent


def pages() -> dict[str, str]:
    """Every generated page by its file name."""
    return {
        "cli.md": cli_page(),
        "policy.md": policy_page(),
        "reasons.md": reasons_page(),
        "openapi.json": openapi_page(),
    }


def cli_page() -> str:
    lines = [
        "# The command line",
        "",
        "A call is `recollect`, a command, and what the command takes. Some options belong to every command: they choose the",
        "store and the form of the answer, and may stand before the command or after it. Every command has `--help`, and",
        "`recollect --version` prints the version.",
        "",
        "With `--json` a command prints exactly one JSON document, errors included. Long output is written as JSON lines, one",
        "document a line: `export`, `history --jsonl`, `traces --jsonl` and `import --report FILE`. `export` in another tool's",
        "format writes that format, also with `--json`.",
        "",
        "Exit codes: **0** done, **1** refused or not found, **2** bad usage, **3** the store failed.",
        "",
        "These commands make the store's file if it is not there: `add`, `add-many`, `turn`, `record`, `import`, `phase start`,",
        "`identity new`, `identity register`, `key create`, `mcp`, `serve`, `vault add` and `vault topic`. `recall-for`, with",
        "which a first turn begins, makes none and finds nothing. Every other command that needs a store is then refused with",
        "exit code 3.",
        "",
        "## Options of every command",
        "",
        "| option | what it does |",
        "|---|---|",
    ]
    group = typer.main.get_command(app)
    lines += [_option_row(option) for option in group.params if option.name in OF_EVERY_COMMAND]
    lines += ["", "## Commands by purpose", ""]
    for purpose, names in COMMANDS.items():
        lines.append(f"- **{purpose}**: {', '.join(f'[`{name}`](#{name})' for name in names)}")
    for name, command in sorted(group.commands.items()):
        lines += ["", f"## {name}", "", command.help.strip(), ""]
        arguments = " ".join(f"<{p.name}>" for p in command.params if p.param_type_name == "argument")
        lines += ["```", f"recollect {name} {arguments}".rstrip(), "```", ""]
        lines += _own_options(command)
        for sub, inner in sorted(getattr(command, "commands", {}).items()):
            lines += _subcommand(name, sub, inner)
    return "\n".join(lines) + "\n"


def _subcommand(group: str, name: str, command: Any) -> list[str]:
    arguments = " ".join(f"<{p.name}>" for p in command.params if p.param_type_name == "argument")
    usage = ["```", f"recollect {group} {name} {arguments}".rstrip(), "```", ""]
    return ["", f"### {group} {name}", "", command.help.strip(), "", *usage, *_own_options(command)]


def _own_options(command: Any) -> list[str]:
    """The tables of what this command takes and not every other: its arguments in order, then its options."""
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    shown = [f"| `{p.name}` | {p.help or ''}{'' if p.required else ' May be left out.'} |" for p in arguments]
    table = ["| argument | what it is |", "|---|---|", *shown, ""] if arguments else []
    return [*table, *_options(command)]


def _options(command: Any) -> list[str]:
    options = [p for p in command.params if p.param_type_name == "option" and p.name not in {"help", *OF_EVERY_COMMAND}]
    return ["| option | what it does |", "|---|---|", *map(_option_row, options)] if options else []


def _option_row(option: Any) -> str:
    flags = ", ".join(f"`{flag}`" for flag in [*option.opts, *option.secondary_opts])
    words = option.bare_type if isinstance(option.bare_type, type) and issubclass(option.bare_type, StrEnum) else ()
    known = f" ({', '.join(words)})" if words else ""
    return f"| {flags} | {option.help or ''}{known} |"


def policy_page() -> str:
    lines = [
        "# The policy",
        "",
        "Every number and switch that a rule reads is a setting of one policy. `recollect policy` shows the one in force;",
        "`--policy` (or `RECOLLECT_POLICY`, or `recollect.open(policy=…)`) names a preset or a YAML file such as:",
        "",
        "```yaml",
        "preset: default",
        "conflict: {policy: manual}",
        "privacy:",
        "  actions: {email: redact}",
        "lifecycle: {unused_after_days: 90}",
        "```",
        "",
        "Without a name it is `default`; for a [vault's file](vault.md#the-same-file-as-a-store), whose name ends in `.jsonl`, "
        "it is `vault`.",
        "",
        "A setting that does not exist is an error that names it. Presets: "
        + ", ".join(f"`{p}`" for p in PRESETS)
        + ".",
        "",
        'The `ranking` settings are weights. In their meanings, "it" is a memory that is compared with the question.',
        "",
        "| setting | default | meaning |",
        "|---|---|---|",
    ]
    for name, meaning, default in settings():
        shown = json.dumps(default, ensure_ascii=False).replace("|", "\\|")
        lines.append(f"| `{name}` | `{shown}` | {meaning} |")
    lines += ["", "## Types of sensitive data", "", "| type | default action | what it is |", "|---|---|---|"]
    lines += [f"| `{t.name}` | {t.default_action} | {t.description} |" for t in privacy.TYPES.values()]
    return "\n".join(lines) + "\n"


def reasons_page() -> str:
    lines = [
        "# Reason codes",
        "",
        "Every outcome carries codes from this list: in receipts (`reasons`), in traces (`reason`, `rule`), in history and in",
        '`explain`. They are stable; programs may rely on them. In the meanings, "it" is the memory, the write or the model\'s',
        "proposal that the code is about.",
        "",
        "| code | meaning |",
        "|---|---|",
        *(f"| `{code}` | {meaning} |" for code, meaning in REASONS.items()),
    ]
    return "\n".join(lines) + "\n"


def openapi_page() -> str:
    """Return what the REST server describes itself with."""
    import recollect
    from recollect.interfaces.rest import create_app

    with recollect.open(":memory:") as memory:
        app = create_app(memory)
        document = app.openapi()
        app.state.server.close()
    return json.dumps(document, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def main() -> int:
    for name, text in pages().items():
        (HERE / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
