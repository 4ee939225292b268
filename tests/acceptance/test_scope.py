"""Scope: nothing of another's reaches a caller, whatever it asks, and whatever runs in the background."""

import itertools
from typing import Any

import pytest

from .conftest import House
from .ways import Refused, Way

KEY = "The spare key hangs behind the blue clock."
WHERE = "Where does the spare key hang?"


def hide(house: House) -> None:
    """Ana's best match, her planner's own note, and a weaker match of Ben's."""
    house.mem.add(KEY, owner="ana", source="user")
    house.mem.add("The planner noted that the spare key hangs by the door.", owner="ana", scope="planner")
    house.mem.add("Ben once lost a key on a train.", owner="ben", source="user")


def test_another_scopes_best_match_is_absent(house: House) -> None:
    hide(house)
    for way in house.ways(user="ana"):
        assert way.query(WHERE)[0] == KEY and KEY in way.prompt(WHERE), f"{way.name}: the control finds it"
        assert not way.shows("planner noted", WHERE), way.name
    for way in house.ways(user="ana", agent="planner"):
        assert way.shows("planner noted", WHERE), f"{way.name}: the control finds it"
    for way in house.ways(user="ben"):
        assert way.shows("lost a key", "Who lost a key?"), f"{way.name}: the control finds its own"
        assert not way.shows("spare key", WHERE), way.name


def asked_for(way: Way, **narrowed: Any) -> list[str]:
    """What a caller is shown that asks for more than is its own; an error shows nothing."""
    found = []
    for read in (lambda: way.query(WHERE, **narrowed), lambda: way.listed(**narrowed)):
        try:
            found += read()
        except Refused as refusal:
            assert "spare key" not in str(refusal)
    return found


def test_a_caller_cannot_widen_its_scope_by_argument_wildcard_or_empty_value(house: House) -> None:
    hide(house)
    house.mem.add(KEY, owner="ana", namespace="test", tags=["test"])
    for way in house.ways():
        assert KEY in asked_for(way, owner="ana"), f"{way.name}: the application may name an owner"
    tried = [{"owner": owner} for owner in ("ana", "*", "%", "", " ", "ana%", "../ana", "ana' OR '1'='1")]
    tried += [{"owner": "ana", "space": "user"}, {"include_namespaces": ["prod", "test", "ephemeral"]}]
    for way, narrowed in itertools.product(house.ways(user="ben", agent="stylist"), tried):
        assert not [one for one in asked_for(way, **narrowed) if "spare key" in one], (way.name, narrowed)
    for way in house.ways(user="ana", agent="stylist"):
        assert KEY in way.query(WHERE)
        for agent in ("planner", "*", "", "shared"):
            with pytest.raises(Refused):
                way.query(WHERE, agent=agent)


def test_background_work_keeps_scopes_apart(house: House) -> None:
    mem = house.mem
    places: list[dict[str, Any]] = [{"owner": "ana"}, {"owner": "ben"}, {"owner": "ana", "scope": "planner"}]
    for place in places:
        mem.add("Marmalade keeps for a year in the cellar.", title="Pantry-Marmalade", **place)
    for title in ("Cellar-Jam", "Shelf-Jam"):
        mem.add("Plum jam keeps for two years in the cellar.", title=title, owner="ana")
    mem.consolidate(force=True)
    mem.rekey(force=True)
    mem.upkeep()
    mem.reindex()
    mem.rebuild()
    by_place = [[m.content for m in mem.list(scope=p.get("scope", "shared"), owner=p["owner"]).items] for p in places]
    assert [sum("Marmalade" in one for one in found) for found in by_place] == [1, 1, 1]
    assert sum("jam" in one for one in by_place[0]) == 1, "the control: the same thing twice in one place is merged"
    for memory in mem.list(status=None).items:
        for other in mem.related(memory.id):
            assert mem.get(other.id).owner == memory.owner
    for way in house.ways(user="ben"):
        assert way.query("How long does marmalade keep?") == ["Marmalade keeps for a year in the cellar."], way.name
        assert not way.shows("Plum jam", "How long does jam keep?"), way.name
