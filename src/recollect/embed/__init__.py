"""Vectors for texts: a static model that works offline, none at all, and two that need more.

Nothing heavy is imported until an embedder is asked for its first vector.
"""

from recollect.embed.protocol import Embedder, EmbedderSettings, EmbedderUnavailable, NoEmbedder
from recollect.model.errors import BadPolicy

__all__ = ["Embedder", "EmbedderSettings", "EmbedderUnavailable", "embedder_named", "policy_name"]


def embedder_named(settings: EmbedderSettings) -> Embedder:
    """Return the embedder that the settings ask for.

    >>> embedder_named(EmbedderSettings(name="none")).dimensions
    0
    """
    match settings.name:
        case "static":
            from recollect.embed.static import shared_static_embedder

            return shared_static_embedder()
        case "none":
            return NoEmbedder()
        case "minilm":
            from recollect.embed.minilm import MiniLMEmbedder

            return MiniLMEmbedder()
        case "openai":
            from recollect.embed.endpoint import EndpointEmbedder

            return EndpointEmbedder(settings)
    hint = "It can be one of: minilm, none, openai, static."
    raise BadPolicy(f"is {settings.name!r}.", field="embedder.name", hint=hint)


def policy_name(embedder: Embedder) -> str | None:
    """Return how the policy and the command line call an embedder; ``None`` if it is somebody's own."""
    if not embedder.dimensions:
        return "none"
    return next((name for name, begins in _BEGINS.items() if embedder.name.startswith(begins)), None)


_BEGINS: dict[str, str] = {"static": "recollect-static-", "minilm": "all-MiniLM-", "openai": "openai:"}
"""What the names begin with that are stored with their vectors."""
