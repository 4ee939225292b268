"""Without LangGraph the rest of Recollect works, and this part says what is missing."""

import subprocess
import sys

WITHOUT = """
import sys
sys.modules["langgraph"] = None  # what Python leaves there for a package that cannot be imported
import recollect
with recollect.open(":memory:") as mem:
    mem.add("Ana likes tea")
try:
    import recollect.langgraph
except ModuleNotFoundError as error:
    print(error)
"""


def test_the_error_names_the_extra() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True)
    assert "pip install -e '.[langgraph]'" in done.stdout


def test_the_public_names_are_these() -> None:
    import recollect.langgraph

    assert sorted(recollect.langgraph.__all__) == [
        "ImportedCheckpoints",
        "RecollectSaver",
        "RecollectStore",
        "Retention",
        "ThreadHead",
        "ThreadState",
        "import_checkpoints",
    ]
