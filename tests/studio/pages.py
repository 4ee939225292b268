"""The address of every page, on the house of the tests."""

from .house import House


def every_page(house: House) -> dict[str, str]:
    """Return the pages by name; one that shows a list in several ways is here in each of them."""
    turn = house.memory.traces(session="s1", type="memory_recall").items[0]["number"]
    return {
        "home": "/",
        "memories": "/memories",
        "search": "/memories?q=where+does+Ana+live&owner=ana&threshold=55",
        "filters": "/memories?status=any&kind=semantic&owner=ana",
        "memory": f"/memories/{house.home}",
        "waiting": f"/memories/{house.guess}",
        "provenance": f"/memories/{house.summary}?would_go=yes",
        "conflicts": "/conflicts",
        "outdated": "/outdated",
        "consent": "/consent",
        "proposals": "/proposals",
        "run": f"/runs/{house.memory.runs().items[0].id}",
        "rejections": "/rejections",
        "time": "/time?stream=user%2Fana&from=1",
        "days": "/time?stream=user%2Fana&by=day",
        "phases": "/time?stream=session%2Fs1&from=phase-1&at=phase-2",
        "traces": "/traces",
        "trace": f"/traces/{turn}",
        "json": f"/traces/{turn}?view=json",
        "turn": f"/turns/{turn}",
        "policy": "/policy",
        "proof": "/proof",
        "erasure": "/erasure?owner=ana",
        "erasing-one": f"/erasure?id={house.home}",
        "prompt": "/prompt?text=what+does+Ana+drink&owner=ana",
        "past-prompt": f"/prompt?event={turn}",
        "missing": "/no-such-page",
    }
