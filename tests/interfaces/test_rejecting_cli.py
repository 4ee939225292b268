"""Rejecting on the command line: said, listed, refused, lifted, with the words and codes that the other doors have."""

from .shell import Shell


def test_a_rejection_is_made_listed_and_lifted(shell: Shell) -> None:
    told = shell.json("add", "Ana has a sister called Lea", "--owner", "ana")["memory"]["id"]
    assert "nothing is rejected" in shell.run("rejections")
    value = shell.json("reject", told[:13], "--reason", "I have no sister")
    assert value["memory_id"] == told and value["reason"] == "I have no sister"
    refused = shell.json("add", "Ana's sister is called Lea", "--owner", "ana", "--source", "agent", code=1)
    assert refused["reasons"] == ["rejected:value"] and value["id"] in refused["detail"]
    shown = shell.run("rejections", "--owner", "ana")
    assert value["id"][:13] in shown and "sister called Lea" in shown and "I have no sister" in shown
    assert "rejected:value" in str(shell.json("restore", told, code=1))
    assert shell.run("lift", value["id"][:13]).startswith("lifted")
    assert shell.json("rejections") == []
    assert shell.json("restore", told)["status"] == "active"


def test_a_field_that_waits_is_listed_and_accepted(shell: Shell) -> None:
    field = ("--kind", "profile", "--key", "city", "--owner", "ana")
    waits = shell.json("add", "Ana lives in Porto", *field, "--source", "agent")
    assert waits["outcome"] == "pending" and waits["reasons"] == ["consent:pending"]
    id = waits["memory"]["id"]
    assert [one["id"] for one in shell.json("list", "--status", "pending")["items"]] == [id]
    assert shell.json("resolve", id, "--winner", id)["status"] == "active"


def test_the_queue_of_consent_is_listed_granted_and_declined(shell: Shell) -> None:
    def propose(content: str, key: str) -> str:
        told = shell.json("add", content, "--kind", "profile", "--key", key, "--owner", "ana", "--source", "agent")
        return str(told["memory"]["id"])

    city, name = propose("Ana lives in Porto", "city"), propose("Ana's preferred name is Ana", "preferred_name")
    assert [one["id"] for one in shell.json("consent", "list", "--owner", "ana")] == [city, name]
    assert city[:13] in shell.run("consent", "list")
    refused = shell.json("--as-user", "ana", "--as-agent", "planner", "consent", "grant", city, code=1)
    assert refused["error"]["code"] == "not_allowed"
    assert shell.json("consent", "grant", city[:13])["status"] == "active"
    assert shell.run("consent", "decline", name, "--reason", "no").startswith("declined")
    assert shell.json("consent", "list") == [] and "nothing waits" in shell.run("consent", "list")
