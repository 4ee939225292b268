"""Finding model files that came with an installed package, without running that package's code."""

from importlib.util import find_spec
from pathlib import Path

from recollect.embed.protocol import EmbedderUnavailable
from recollect.model.errors import BadPolicy


def bundled_file(package: str, *parts: str, hint: str) -> Path:
    """The path of a file or folder inside an installed package; ``hint`` says how to get the package."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise BadPolicy(f"needs the package {package}, which is not installed.", field="embedder.name", hint=hint)
    path = Path(spec.submodule_search_locations[0]).joinpath(*parts)
    if not path.exists():
        raise EmbedderUnavailable(f"{path} is missing from the installed package.", field="embedder.name", hint=hint)
    return path
