"""List every reason code with its meaning, and tell a turn's governance events as plain sentences."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from recollect.model.rendering import one_line
from recollect.model.trace import Trace, TraceType
from recollect.rules.extraction import RULES as EXTRACTION_RULES
from recollect.rules.gates.writing import FAULTS as WRITING_FAULTS
from recollect.rules.identity.change import RULES as CHANGE_RULES
from recollect.rules.identity.decision import READER_RULES

REASONS: dict[str, str] = {
    # Why a write was refused.
    "write_policy_none": "the policy admits no writes at all",
    "write_policy_minimal": "the minimal policy admits only preferences, decisions and corrections",
    "event_type_denied": "the policy's deny list names this event type",
    "event_type_not_allowed": "the policy's allow list does not name this event type",
    "event_type_not_of_kind": "the policy does not admit this event type for this kind of memory",
    "border:no_write_right": "the caller has no right to write",
    "border:not_your_space": "the space or owner is not the caller's",
    "border:not_your_scope": "the scope is another agent's",
    "border:category_not_yours": "the agent's list does not name this category",
    "border:not_your_name": "it was signed with another's name",
    "border:space_closed": "the policy lets this space be reached by promotion alone",
    "border:source_not_yours": "only an operator may speak as the operator or the system",
    "noise_signal": "it is a journal entry, not a memory",
    "tier_log": "the log tier is never stored",
    "canon_needs_authority": "what a model or a tool inferred cannot be canon",
    "too_long": "it is longer than its kind allows",
    "writing_constraints": "a model or an agent wrote it against the writing constraints",
    "procedure_category": "it is a procedure, and a category other than `procedural` was given",
    "procedure_not_numbered": "a procedure is numbered steps, and it is none",
    "procedure_not_imperative": "one of its steps does not say what to do",
    "procedure_too_many_steps": "it has more steps than the policy allows",
    "privacy_deny_sensitive": "it holds sensitive data that the policy denies",
    "privacy_profile_key_not_allowed": "the policy does not list this profile key",
    "key_collision": "its key is taken by another name of the same spelling",
    "near_duplicate": "it is almost the same as a memory under another key",
    "provenance:self_reference": "it names itself as what it builds upon",
    "provenance:unresolved": "it builds upon something that is not here",
    "provenance:cycle": "what it builds upon builds upon it",
    "rejected:value": "a person rejected this value as never true",
    "capacity_full": "as many memories are active as the policy allows",
    # Whether what a language model proposes is in the memories that it was made from.
    "grounded:fact": "the quoted spans say it",
    "grounded:inference": "it is inferred from the quoted spans, and stored as an inference",
    "ungrounded:source": "it names no source, or one that is not there",
    "ungrounded:span": "it quotes nothing, or a span that is not in its source",
    "ungrounded:name": "it has a name that its spans do not have",
    "ungrounded:date": "it has a date that its spans do not have, and that does not follow from when they were said",
    "ungrounded:amount": "it has an amount that its spans do not have",
    "ungrounded:number": "it has a number that its spans do not have, or not of that",
    "ungrounded:negation": "it denies what its spans do not deny, or leaves out that they deny it",
    "ungrounded:opposite": "it says the opposite of its spans",
    "ungrounded:hedge": "it states what its source only asks, supposes, plans or reports",
    "ungrounded:tense": "it says of today what its source says of the past, or the other way round",
    "ungrounded:order": "it has the words of its source, and who does what to whom is another",
    "ungrounded:subject": "it says of one what its source says of another",
    "ungrounded:material": "its source hands that over as a text, quotes it or makes it up, and does not say so",
    "ungrounded:mixed": "it joins words of statements that have nothing to do with each other",
    "ungrounded:words": "too few of its words are in its spans",
    "ungrounded:authority": "a proposal of a model is inferred, and it claims to be more",
    "ungrounded:two_owners": "its sources are of different owners or spaces, and those never meet",
    "ungrounded:owner": "it would be stored with another owner than its sources",
    "ungrounded:space": "it would be stored in another space, namespace or tenant than its sources",
    "ungrounded:scope": "an agent could see it that cannot see all of its sources",
    "ungrounded:category": "an agent may read its category and not that of each of its sources",
    # Why a language model is not called.
    "model:none": "the policy configures no language model",
    "model:call_limit": "one call would use more than the policy allows",
    "model:run_limit": "the run has used what the policy allows",
    "model:day_limit": "all runs of the day have used what the policy allows",
    "model:tenant_limit": "the tenant's runs of the day have used what the policy allows",
    # What the gates decided on the way.
    "namespace:test:source": "the test suite wrote it, so it is test data",
    "namespace:test:tag": "a tag says that it is test data",
    "namespace:test:category": "its category says that it is test data",
    "namespace:test:pattern": "its words are those of test data",
    "namespace:ephemeral:flagged": "it was flagged as a temporary diagnostic",
    "namespace:as_asked": "it went to the namespace that was asked for",
    "namespace:prod:default": "nothing marks it as test or temporary, so it is production's",
    "border:allowed": "the caller may write here",
    "border:read_allowed": "the caller may read here",
    "border:no_read_right": "the caller has no right to read",
    "border:not_in_read_order": "the policy does not have this space read",
    "border:no_govern_right": "an agent may not hide what was known without the right to govern",
    "allowed_by:write_policy:minimal": "the minimal write policy admits it",
    "allowed_by:write_policy:normal": "the normal write policy admits it",
    "allowed_by:write_policy:aggressive": "the aggressive write policy admits it",
    "allowed_by:allow_event_types": "the policy's allow list names its event type",
    "noise:none": "it is not a journal entry",
    "length:within_limit": "it is short enough",
    "procedure:as_given": "its steps are numbered and say what to do",
    "procedure:numbered": "its lines say what to do, and were numbered",
    "privacy:clean": "it holds nothing that must not be remembered",
    "privacy:nothing_denied": "nothing else in it must not be remembered",
    "privacy:redacted": "sensitive parts were redacted",
    # How it was named.
    "key:explicit": "the caller named the concept",
    "key:topic": "the register's topic names the concept",
    "key:profile": "the profile's fact key names the concept",
    "key:reader": "the statement reader named the concept from its words",
    "key:slot": "it is about what an active memory says, so it goes on under that memory's key",
    "key:supersedes": "the caller said which memory it replaces, so it goes on under that memory's key",
    "key:contested": "another value of what is known may hold as well, so the key is its own",
    "key:fallback": "no rule was sure, so the key is its own",
    "key:event": "it records an event, so its number names it",
    # How it was classified.
    "event_type:as_given": "the caller gave the event type",
    "event_type:kind_is_an_event": "this kind of memory records context",
    "event_type:source_is_a_tool": "a tool's output is an execution",
    "event_type:opens_as_correction": "it opens as a correction does",
    "event_type:says_decided": "it says that something was decided",
    "event_type:says_preference": "it says what someone likes or dislikes",
    "event_type:states_rule": "it states a rule to follow",
    "event_type:reports_action": "it reports something that was done",
    "event_type:default": "nothing else fits, so it is a fact",
    "layer:as_given": "the caller gave the layer",
    "layer:of_given_sublayer": "the given sublayer belongs to this layer",
    "layer:first_of_given_layer": "the first sublayer of the given layer",
    "layer:names_anti_pattern": "it names an anti-pattern",
    "layer:states_limit": "it states what not to do",
    "layer:states_rule": "it states a rule",
    "layer:states_goal": "it states a goal",
    "layer:reports_failure": "it reports a failure",
    "layer:tells_how": "it tells how something is done",
    "layer:says_preference": "it says what someone likes or dislikes",
    "layer:says_who": "it says who someone is",
    "layer:rule_needs_authority": "what a model or a tool inferred may tell of a rule, and is none",
    "writing:passed": "it meets the writing constraints",
    "writing:trimmed": "it was cut to the leading sentences that fit",
    **WRITING_FAULTS,
    "layer:default": "nothing else fits, so it is a fact about the world",
    "authority:system_imposed": "the operator imposed it",
    "authority:tool_verified": "a tool that the policy trusts verified it",
    "authority:raised": "a higher authority said the same, and what the lower one attached no longer counts",
    "authority:user_asserted": "a person said it",
    "authority:ai_inferred": "a model inferred it, or nothing vouches for it",
    "importance:as_given": "the caller gave the importance",
    "importance:carried_over": "it matters as much as where it came from",
    "importance:edited": "somebody set the importance",
    "importance:canon": "canon matters most",
    "importance:event_type:correction": "corrections matter",
    "importance:event_type:decision": "decisions matter",
    "importance:event_type:preference": "preferences matter somewhat",
    "importance:event_type:fact": "a plain fact",
    "importance:event_type:execution": "a plain execution",
    "importance:event_type:context": "context matters least",
    "importance:sublayer:identity": "who someone is matters",
    "importance:sublayer:constraint": "constraints matter",
    "importance:sublayer:rule": "rules matter",
    "importance:sublayer:anti-pattern": "anti-patterns matter",
    "importance:says_important": "it says itself that it is important",
    # What it is to what was known.
    "identity:key_given_back": "its key belongs to another concept, of someone who is believed more",
    "identity:new": "no active memory that its writer can see has this key",
    "identity:same_fingerprint": "the same words are known already",
    "identity:nothing_differs": "other words, but nothing that matters differs",
    "identity:update": "it updates what was known",
    "version:takes_over": "it keeps what was decided about the one that it supersedes, and that it does not state itself",
    "near_duplicate:nothing_differs": "the same is known under another key, and nothing that matters differs",
    "near_duplicate:linked": "a similar memory under another key was linked",
    "conflict:authority": "they contradict, and the higher authority is believed",
    "conflict:correction": "they contradict, and a correction is believed",
    "conflict:recency": "they contradict with equal authority, and the newer is believed",
    "conflict:importance": "they contradict at the same tick: the more important is believed, of equals the later",
    "conflict:manual": "they contradict, and a person decides",
    "conflict:tentative": "it only asks or supposes, and what was stated stands",
    "conflict:other_subject": "it shares no word with what its title names, so it may be about something else",
    "conflict:said_again": "the same claim waits already, and was counted once more",
    "conflict:latest_wins": "they contradict, and the policy believes the latest",
    "conflict:source_priority": "they contradict, and the policy believes the better source",
    "conflict:consolidation": "consolidation found that they contradict",
    "consent:pending": "it is for the person alone to set, so it waits for their consent",
    "consent:said_again": "the same proposal waits already, and was counted once more",
    "consent:given": "the person consented",
    "consent:said_so": "the person said so themselves, which is consent",
    "consent:declined": "the person declined it",
    "consent:lapsed": "nobody decided about it in time",
    "consent:overtaken": "the person stated this field otherwise, so the proposal no longer waits",
    "consent:corroborated": "two independent signals agree on a harmless field",
    "consent:insight": "an insight that is sure enough stands behind a harmless field",
    "change:stated_by_caller": "the caller said how it relates to what was known",
    "change:register_moves_on": "a register's new state replaces the old",
    # How long it is kept.
    "kept_by:retention_rule": "the policy keeps it",
    "retention:stated": "it was given a time of its own",
    "retention:ttl": "the policy keeps it for so many ticks",
    "retention:decay": "the policy keeps it for so many ticks after it was last said",
    # How long it holds.
    "validity:as_given": "the caller said from when until when it holds",
    "validity:read": "its words say from when until when it holds",
    # Crossing from one space into another.
    "promotion:allowed": "the policy has a way there, and it may take it",
    "promotion:path_closed": "the policy has no way from that space to this one",
    "promotion:authority_too_low": "it is not believed enough to cross",
    "promotion:event_type_not_allowed": "the way does not admit this type of memory",
    "promotion:not_for_this_agent": "a person said it, and the agent may not speak for them",
    "promotion:lost": "what is believed there outranks it, so it waits there as contradictory",
    "promotion:requested": "somebody asked to have it there",
    "promotion:at_once": "the policy takes what a person says of themselves along at once",
    "promotion:said_so": "the person asked to have it kept there",
    # Turns.
    "turn:continues": "it continues the line before it",
    "turn:off_the_record": "the person asked not to keep what was said",
    "turn:nobody_named": "nobody said whose memory it is, so it stays in the session",
    "turn:no_project": "it was to be kept for the project, and none was named",
    # Phases.
    "identity:confirmed": "a higher authority said what a lower one had stated: its words are the version that counts",
    "identity:older": "it says that it is older than what is active, and is kept as an earlier version",
    "identity:said_again_in_a_new_phase": "the same was said again in a new phase, and belongs to it now",
    "phase:first_write": "the first phase begins with the first write",
    "phase:requested": "a new phase was asked for",
    "phase:beyond_max": "its phase is longer ago than the policy keeps",
    # What happened later.
    "resolved:by_hand": "a person settled the contradiction",
    "supersede:by_hand": "somebody said that it replaces the other",
    "supersede:takes_key": "it goes on under the key of what it replaces",
    "archived:by_hand": "a person archived it",
    "forgotten:by_hand": "a person forgot it",
    "forgotten:said_so": "the person asked in a turn to forget what they had said",
    "restored:by_hand": "a person brought it back",
    "rejected:by_hand": "a person said that it was never true",
    "rejected:said_so": "the person said in a turn that it was never true",
    "rejected:same_value": "it says what a person rejected as never true",
    "lifted:by_hand": "the rejection of its value was lifted",
    "lifted:said_again": "the person said it again, which ends the rejection of its value",
    "edited:by_hand": "a person edited its metadata",
    "ttl_expired": "it was past its date or tick",
    "decay": "it was long ago that it was last said or used",
    "lifecycle:unused": "it was not used for long and matters little",
    "lifecycle:past_purge_date": "it was past its purge date",
    "vouched:by_another": "somebody other than the author stands for it",
    "vouched:elsewhere": "somebody vouched for it where it comes from, after it came here",
    "vouched:withdrawn": "whoever vouched for it took that back",
    "forgotten:here": "it was deleted in this store, and a file does not bring it back: `restore` does, while it can",
    "forgotten:with_its_copy": "the same words were forgotten elsewhere, from where they came or to where they were carried",
    "erased:by_right": "its content was erased on request",
    "erased:with_its_source": "it was made of what was erased, or for whoever was, and the policy erases that too",
    "erased:name": "the name of an owner, or of somebody who acted, was erased",
    "erased:link_cut": "what it was linked to, or whom it named, was erased, and the link or the name with it",
    "erased:for_review": "it was made of what was erased, or for whoever was, and waits for somebody to restore or erase it",
    "consolidation:redundant": "consolidation found a better memory that says the same",
    "consolidation:related": "consolidation found a similar memory",
    "consolidation:rekeyed": "today's rules name the concept otherwise",
    "consolidation:moved": "it is test data, and was moved out of production",
    "consolidation:undone": "the consolidation was undone",
    # In traces and recalls.
    "interaction_recorded": "a write was recorded",
    "superseded": "a newer version took its place",
    "expired": "its time was over",
    "matches_query": "its words match the query",
    "relation:by_hand": "somebody linked the two by hand",
    "relation:when_written": "the two were alike when the later one was written",
    "relation:same_key": "today's rules give the two one key, so the later one may replace the earlier one",
    "relation:dismissed": "somebody decided that both hold, so neither is outdated",
    "relation:undone": "the consolidation that linked the two was undone",
    "relation:with_a_new_version": "an earlier version was linked by hand, and the newer one takes the link over",
    "near_a_match": "it was said next to what matches the query",
    "has_similar_words": "it shares no word with the query, but has one that means much like one of the query's",
    "means_alike": "it shares no word with the query, but means something alike",
    "bears_on_query": "it is about what the question depends on, such as what somebody cannot eat",
    "about_the_person": "the question asks for what is known of the person, and it is that",
    "related_to_a_match": "it is related to what matches the query",
    "recency": "it was said just before",
    "importance": "it matters whatever is asked",
    "active_rule": "it is a rule to follow whatever is asked",
    "abstained:nothing_matches": "nothing that may be read has anything to do with the question",
    "abstained:not_sure": "no memory has both whom the question names and what it asks of them, so an answer would be a guess",
    "abstained:threshold": "what was found has less to do with the question than the threshold asks for",
    "on_demand:unsure": "whoever answers was less sure than the policy asks for, so memory was asked",
    "on_demand:sure_enough": "whoever answers was sure enough, so memory was not asked",
    # What was found in what a person said.
    **EXTRACTION_RULES,
    "extracted:procedure": "the message says how to do something, in numbered steps",
    # How new words relate to what was known.
    **{f"change:{code}": rule.meaning for code, rule in CHANGE_RULES.items()},
    **{f"change:{code}": meaning for code, meaning in READER_RULES.items()},
}


def plain(code: str) -> str:
    """What a code means; a code that is unknown here is shown as it is."""
    return REASONS.get(code, code)


MAX_TRACES = 500
"""How far back a turn is looked for."""
RECENT = 20
"""How many events are told when none of them begins a turn."""
MAX_NAMED = 5
"""Beyond so many memories the rest are only counted."""
QUOTED_CHARACTERS = 60

_CAME_BECAUSE = {
    "matches_query": ("matched the words", "matched the words"),
    "near_a_match": ("was said next to a match", "were said next to a match"),
    "has_similar_words": ("has a similar word", "have similar words"),
    "means_alike": ("means something alike", "mean something alike"),
    "related_to_a_match": ("has to do with a match", "have to do with a match"),
    "recency": ("is recent", "are recent"),
    "importance": ("is important", "are important"),
    "active_rule": ("is an active rule", "are active rules"),
}
_WINS_BECAUSE = {
    "authority": "the higher authority is believed",
    "correction": "a correction is believed",
    "recency": "the newer is believed",
    "importance": "the more important is believed",
    "manual": "a person has yet to decide",
    "tentative": "the other only asks or supposes",
    "other_subject": "the other shares no word with it and may be about something else",
    "latest_wins": "the policy believes the latest",
    "source_priority": "the policy believes the better source",
}
_DOING = {"read": "reading", "write": "writing to", "promote": "moving something to"}
NOTHING = "No events of it were kept. The setting traces.keep says which are: all keeps every one."


def sentences(traces: Sequence[Trace]) -> tuple[str, ...]:
    """What the events say, in the order: asked, written, refused, settled, moved, gone, phases, borders."""
    names = _Names(traces)
    told = [sentence for tell in _TELLERS for sentence in tell(traces, names)]
    return tuple(told) or (NOTHING,)


def last_turn(traces: Sequence[Trace]) -> Sequence[Trace]:
    """The events of the last turn: from the last recall of the session that spoke last, and the reads before it.

    Where nothing was recalled there is no turn, and the last few events are told.
    """
    if not traces:
        return traces
    spoken = [event for event in traces if event["session"] == traces[-1]["session"]]
    starts = _starts(spoken)
    return spoken[starts[-1] :] if starts else spoken[-RECENT:]


def turn_of(traces: Sequence[Trace], number: int) -> Sequence[Trace]:
    """The events of one session's turn to which the event of a number belongs; before the first recall, the event alone."""
    starts = [*_starts(traces), len(traces)]
    for start, end in pairwise(starts):
        if any(event["number"] == number for event in traces[start:end]):
            return traces[start:end]
    return [event for event in traces if event["number"] == number]


def _starts(traces: Sequence[Trace]) -> list[int]:
    """Where turns begin: at a recall, or at the first of the reads just before it."""
    starts = []
    for place, event in enumerate(traces):
        if event["type"] == TraceType.RECALL:
            start = place
            while start > 0 and _is_read(traces[start - 1]):
                start -= 1
            starts.append(start)
    return starts


def _is_read(event: Trace) -> bool:
    return bool(event["type"] == TraceType.BORDER_CHECK and event["action"] == "read")


class _Names:
    """What memories are called: by their words if some event shows them, else by their short ids."""

    def __init__(self, traces: Iterable[Trace]) -> None:
        shown = (item for event in traces for item in (*event.get("recalled", ()), *event.get("written", ())))
        self._items: dict[str, Mapping[str, Any]] = {item["id"]: item for item in shown}

    def of(self, id: str) -> str:
        item = self._items.get(id)
        return f"memory {id.replace('-', '')[:12]}" if item is None else _quoted(item["text"])

    def owner(self, id: str) -> str | None:
        owner: str | None = self._items.get(id, {}).get("meta", {}).get("owner")
        return owner


Teller = Callable[[Sequence[Trace], _Names], Iterator[str]]


def _of(traces: Iterable[Trace], *types: TraceType) -> list[Trace]:
    return [event for event in traces if event["type"] in types]


# ── one function for each kind of event ─────────────────────────────────────────────────────────────────────────────


def _recalled(traces: Sequence[Trace], names: _Names) -> Iterator[str]:
    for event in _of(traces, TraceType.RECALL):
        items, question = event["recalled"], f"for the question {_quoted(event['query'])}"
        if items:
            yield f"Recalled {_count(len(items), 'memory', 'memories')} {question}: {_reasons_of(items)}."
        else:
            yield f"Recalled nothing {question}."


def _reasons_of(items: Sequence[Mapping[str, Any]]) -> str:
    counts = Counter(reason for item in items for reason in item["meta"].get("recall_reason", ()))
    told = []
    for code in sorted(counts, key=lambda code: (-counts[code], code)):
        one, many = _CAME_BECAUSE.get(code, (plain(code), plain(code)))
        told.append(f"{counts[code]} {one if counts[code] == 1 else many}")
    return ", ".join(told) or "no reasons were noted"


def _written(traces: Sequence[Trace], names: _Names) -> Iterator[str]:
    items = [item for event in _of(traces, TraceType.WRITE) for item in event["written"]]
    passing = [item for item in items if item["kind"] == "short_term"]
    lasting = [item for item in items if item["kind"] != "short_term"]
    if passing:
        yield f"Kept {_count(len(passing), 'line', 'lines')} of the conversation in short-term memory."
    for item in lasting[:MAX_NAMED]:
        yield _wrote(item)
    if len(lasting) > MAX_NAMED:
        yield f"Wrote {_count(len(lasting) - MAX_NAMED, 'more memory', 'more memories')}."


def _wrote(item: Mapping[str, Any]) -> str:
    meta = item["meta"]
    place = _place(meta.get("space"), meta.get("owner"))
    because = plain(f"authority:{meta['authority']}")
    return f"Wrote the {meta['event_type']} {_quoted(item['text'])} to {place}: {because}."


def _refused(traces: Sequence[Trace], names: _Names) -> Iterator[str]:
    counts = Counter(event["reason"] for event in _of(traces, TraceType.DENIED))
    for code, count in counts.items():
        yield f"Refused {_count(count, 'write', 'writes')}: {plain(code)}."


def _settled(traces: Sequence[Trace], names: _Names) -> Iterator[str]:
    for event in _of(traces, TraceType.CONFLICT):
        because = _WINS_BECAUSE.get(event["rule"], event["rule"])
        winner, loser = names.of(event["winner_id"]), names.of(event["loser_id"])
        yield f"Found a contradiction: {winner} stands against {loser}, since {because}."


def _moved(traces: Sequence[Trace], names: _Names) -> Iterator[str]:
    for event in _of(traces, TraceType.PROMOTED):
        code = event["reason"] if event["reason"] in REASONS else f"authority:{event['authority_used']}"
        yield f"Moved {names.of(event['to_id'])} {_way(event, names.owner(event['to_id']))}: {plain(code)}."
    for event in _of(traces, TraceType.PROMOTION_DENIED):
        yield f"Did not move {names.of(event['memory_id'])} {_way(event, None)}: {plain(event['reason'])}."


def _gone(traces: Sequence[Trace], names: _Names) -> Iterator[str]:
    forgotten = _of(traces, TraceType.FORGET)
    said = {event["memory_id"] for event in forgotten}
    deleted = [event for event in _of(traces, TraceType.DELETED) if event["memory_id"] not in said]
    for verb, events in (("Forgot", forgotten), ("Took out of the active set", deleted)):
        for code in dict.fromkeys(event["reason"] for event in events):
            ids = [event["memory_id"] for event in events if event["reason"] == code]
            yield f"{verb} {_listed(ids, names)}: {plain(code)}."


def _phases(traces: Sequence[Trace], names: _Names) -> Iterator[str]:
    for event in _of(traces, TraceType.PHASE_STARTED):
        yield f"Began {event['phase_id']} in {_place(event['space'], event['owner'])}: {plain(event['reason'])}."
    for event in _of(traces, TraceType.PHASE_DIFF):
        counts = ", ".join(f"{event[f'{what}_count']} {what}" for what in ("added", "deleted", "replaced"))
        phases = f"{event['from_phase_id']} with {event['to_phase_id']}"
        yield f"Compared {phases} in {_place(event['space'], event['owner'])}: {counts}."


def _borders(traces: Sequence[Trace], names: _Names) -> Iterator[str]:
    checks = _of(traces, TraceType.BORDER_CHECK)
    closed = [event for event in checks if not event["allowed"]]
    if checks:
        state = f"{len(closed)} closed" if closed else "open" if len(checks) == 1 else "all open"
        yield f"Checked {_count(len(checks), 'border', 'borders')}: {state}."
    yield from dict.fromkeys(_stopped(event) for event in closed)


def _stopped(event: Trace) -> str:
    space = _place(event.get("to_space", event["from_space"]), None)
    return f"Stopped {_DOING[event['action']]} {space}: {plain(event['reason'])}."


_TELLERS: tuple[Teller, ...] = (_recalled, _written, _refused, _settled, _moved, _gone, _phases, _borders)


# ── words ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _listed(ids: Sequence[str], names: _Names) -> str:
    named = [names.of(id) for id in ids[:MAX_NAMED]]
    more = [f"{len(ids) - MAX_NAMED:,} more"] if len(ids) > MAX_NAMED else []
    *first, last = [*named, *more]
    return f"{', '.join(first)} and {last}" if first else last


def _quoted(text: str) -> str:
    """Return at most so many characters of it, on one line."""
    return f"“{one_line(text, QUOTED_CHARACTERS)}”"


def _way(event: Trace, owner: str | None) -> str:
    return f"from {_place(event['from_space'], None)} to {_place(event['to_space'], owner)}"


def _place(space: str | None, owner: str | None) -> str:
    if space == "user":
        return f"{owner}'s own space" if owner else "the person's own space"
    if space == "project":
        return f"the project {owner}" if owner else "the project"
    return "the system's space" if space == "system" else "the session"
