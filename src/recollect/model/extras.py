"""The parts that are installed apart, and how."""


def how_to_install(extra: str) -> str:
    """What to do where a package of an extra is missing. No index is named: the name there may be somebody else's.

    >>> how_to_install("mcp")
    "Install the extra `mcp`: pip install -e '.[mcp]' in Recollect's folder."
    """
    return f"Install the extra `{extra}`: pip install -e '.[{extra}]' in Recollect's folder."
