"""Numbers in sentences."""


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number and what is counted, in its plural unless it is one.

    >>> counted(1, "stream"), counted(2_000, "stream"), counted(0, "memory", "memories")
    ('1 stream', '2,000 streams', '0 memories')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def memories(number: int) -> str:
    return counted(number, "memory", "memories")


def entries(number: int) -> str:
    return counted(number, "entry", "entries")


def leaves(number: int) -> str:
    return counted(number, "leaf", "leaves")
