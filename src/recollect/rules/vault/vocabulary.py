"""The vault's words: who may see a memory, what it is about, how durable it is, and where it came from."""

AGENTS = ("orion", "elysia")
"""The agents that have a scope of their own, unless a profile names others."""

CANON, REGISTER, LOG = "canon", "register", "log"
TIERS = (CANON, REGISTER)
"""What can be stored. ``log`` may be asked for, and is always refused."""

SOURCES = ("chat", "manual", "tool", "operator", "promotion")

CATEGORIES = (
    "bio",
    "mission",
    "identity",
    "constraint",
    "project",
    "goal",
    "priority",
    "self_state",
    "preference",
    "relationship",
    "decision",
    "lesson",
    "fact",
    "general",
)
"""What a memory may be about, unless a profile names others."""

GENERAL = "general"
MAX_TOPIC = 256
MAX_TAGS = 64
