"""A primary that dies, restarts, freezes or is slow, seen by those who write through it: nothing that was acknowledged is lost.

Everything goes through ``recollect.open`` with one URL that names both servers, as an application would.
"""

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

import recollect
from recollect.model.receipt import Receipt
from support.postgres_server import HAS_STANDBY, PostgresServer, ServerPair, running_pair, running_server

from .soundness import assert_sound, every_memory, kept
from .steady_writers import assert_kept_once, assert_ledger_gapless, wait_for_progress, writing

IN_COMMIT = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
"""Answered while a commit is on the primary's disk and waits for the standby: the moment in which it is in doubt."""
ALL_SENT = "SELECT 1 FROM pg_stat_replication WHERE sent_lsn = pg_current_wal_flush_lsn()"
ANSWER_WITHIN_S = 30.0
TEA: dict[str, Any] = {
    "content": "Ana likes green tea",
    "owner": "ana",
    "canonical_key": "Tea",
    "idempotency_key": "k1",
}


@pytest.fixture(scope="module")
def two_servers() -> Iterator[ServerPair]:
    with running_pair() as pair:
        yield pair


@pytest.fixture
def pair(two_servers: ServerPair) -> ServerPair:
    """A primary and its standby, whatever the test before did to them."""
    two_servers.standby.thaw()
    two_servers.primary.revive()
    if not two_servers.primary.execute(HAS_STANDBY):
        two_servers.join()
    return two_servers


@pytest.fixture(scope="module")
def one_server() -> Iterator[PostgresServer]:
    with running_server() as server:
        yield server


@pytest.fixture
def server(one_server: PostgresServer) -> PostgresServer:
    """A server without a standby, whatever the test before did to it."""
    one_server.revive()
    return one_server


def _sound(server: PostgresServer, database: str) -> list[str]:
    """What the store holds, once all of it has been checked."""
    with recollect.open(server.url(database)) as mem:
        assert_sound(mem)
        contents = sorted(memory.content for memory in every_memory(mem))
    assert_ledger_gapless(server, server.url(database))
    return contents


@contextmanager
def _committing(pair: ServerPair, database: str) -> Iterator["Future[Receipt]"]:
    """An ``add`` that has come to its commit, which no standby confirms."""
    with recollect.open(pair.url(database), timeout_s=ANSWER_WITHIN_S) as mem, ThreadPoolExecutor(1) as thread:
        answer = thread.submit(mem.add, **TEA)
        pair.primary.wait_until(IN_COMMIT)
        assert not answer.done()
        yield answer


def _opened_once(pair: ServerPair) -> str:
    """A database with a store in it, so that what follows waits for nothing but its own commit."""
    database = pair.new_database()
    recollect.open(pair.url(database)).close()
    return database


def test_a_repeated_answer_waits_for_the_standby_as_the_first_one_did(pair: ServerPair) -> None:
    """The primary comes back with the write, and nobody else has it: to say so now would be a promise for one disk."""
    database = _opened_once(pair)
    pair.standby.kill()
    with _committing(pair, database) as answer:
        pair.primary.kill()
        pair.primary.start()
        pair.primary.wait_until(IN_COMMIT)
        assert not answer.done()
        pair.standby.start()
        receipt = answer.result(ANSWER_WITHIN_S)
    assert receipt.replayed
    pair.standby.wait_until("SELECT 1 FROM recollect.versions", pair.standby.url(database))
    assert _sound(pair.primary, database) == [TEA["content"]]


def test_a_commit_whose_wait_was_cancelled_is_not_taken_for_an_answer(pair: ServerPair) -> None:
    """An operator ends a wait that seems stuck. The server then says "committed", and warns that the standby has nothing."""
    database = _opened_once(pair)
    pair.standby.kill()
    with _committing(pair, database) as answer:
        cancelled = pair.primary.execute(
            "SELECT xact_start::text, pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
        )
        pair.primary.wait_until(f"{IN_COMMIT} AND xact_start > '{cancelled[0][0]}'")
        assert not answer.done()
        pair.standby.start()
        assert answer.result(ANSWER_WITHIN_S).replayed
    assert _sound(pair.primary, database) == [TEA["content"]]


def test_a_commit_that_freezes_is_a_bounded_wait_and_is_settled_later(pair: ServerPair) -> None:
    database = _opened_once(pair)
    with recollect.open(pair.url(database), timeout_s=1) as mem:
        pair.standby.freeze()
        with ThreadPoolExecutor(1) as thread:
            answer = thread.submit(mem.add, **TEA)
            pair.primary.wait_until(IN_COMMIT)
            pair.primary.freeze()
            began = time.monotonic()
            with pytest.raises(recollect.OutcomeUnknown):
                answer.result(ANSWER_WITHIN_S)
            assert time.monotonic() - began < 15
        pair.standby.thaw()
        pair.primary.thaw()
        assert mem.add(**TEA).replayed
    assert _sound(pair.primary, database) == [TEA["content"]]


def test_a_commit_that_reached_the_standby_is_found_there(pair: ServerPair) -> None:
    database = _opened_once(pair)
    pair.standby.freeze()
    with _committing(pair, database) as answer:
        pair.primary.wait_until(ALL_SENT)
        ((flushed,),) = pair.primary.execute("SELECT pg_current_wal_flush_lsn()::text")
        pair.primary.kill()
        pair.standby.thaw()
        pair.standby.wait_until(f"SELECT 1 WHERE pg_last_wal_receive_lsn() >= '{flushed}'")
        pair.take_over()
        receipt = answer.result(ANSWER_WITHIN_S)
    assert receipt.replayed and kept(receipt).content == TEA["content"]
    assert _sound(pair.primary, database) == [TEA["content"]]


def test_a_commit_that_did_not_reach_the_standby_is_made_again(pair: ServerPair) -> None:
    database = _opened_once(pair)
    pair.standby.kill()
    with _committing(pair, database) as answer:
        pair.primary.kill()
        pair.standby.start()
        pair.take_over()
        receipt = answer.result(ANSWER_WITHIN_S)
    assert not receipt.replayed and receipt.outcome == "stored"
    assert _sound(pair.primary, database) == [TEA["content"]]


def test_writers_outlive_their_primary(pair: ServerPair, torture: bool) -> None:
    """Killed again and again while four write: the standby takes over, and they go on through the same open store."""
    database = pair.new_database()
    with writing(pair.url(database)) as writers:
        wait_for_progress(writers)
        for turn in range(20 if torture else 1):
            if turn:
                pair.join()
                wait_for_progress(writers)
            pair.primary.kill()
            pair.take_over()
            wait_for_progress(writers)
    assert_kept_once(pair.url(database), writers)
    assert_ledger_gapless(pair.primary, pair.primary.url(database))
    print("writes:", sum(len(writer.acknowledged) for writer in writers), [dict(writer.told) for writer in writers])


def test_writers_outlive_restarts(server: PostgresServer) -> None:
    """Shut down in order, and then killed, with nobody to take over: they wait, and go on when it is back."""
    url = server.new_database()
    with writing(url) as writers:
        wait_for_progress(writers)
        for end in (server.stop, server.kill):
            end()
            server.start()
            wait_for_progress(writers)
    assert_kept_once(url, writers)
    assert_ledger_gapless(server, url)


def test_a_frozen_primary_is_replaced_and_acknowledges_nothing_more(pair: ServerPair) -> None:
    """It wakes up as a second primary. Its standby has left it, so that it can no longer keep a promise, nor give one."""
    database, deposed = pair.new_database(), pair.primary
    with writing(pair.url(database), count=2, timeout_s=1) as writers:
        wait_for_progress(writers)
        deposed.freeze()
        pair.take_over()
        wait_for_progress(writers)
        deposed.thaw()
        with recollect.open(deposed.url(database), timeout_s=1) as mem:
            with pytest.raises(recollect.OutcomeUnknown):
                mem.add(**TEA)
            deposed.kill()
        wait_for_progress(writers)
    assert_kept_once(pair.url(database), writers)


def test_a_frozen_server_is_a_bounded_wait_whatever_is_asked(server: PostgresServer) -> None:
    with recollect.open(server.new_database(), timeout_s=1) as mem:
        memory = kept(mem.add("The archive is on the third floor"))
        server.freeze()
        for use in (lambda: mem.add(**TEA), lambda: mem.query("archive")):
            began = time.monotonic()
            with pytest.raises(recollect.StoreUnavailable, match="Nothing was written"):
                use()
            assert time.monotonic() - began < 8
        server.thaw()
        assert mem.add(**TEA).outcome == "stored"
        assert [item.memory.id for item in mem.query("archive").items] == [memory.id]
        assert_sound(mem)


def test_a_slow_writer_makes_others_of_its_stream_give_up_in_time(server: PostgresServer) -> None:
    """Somebody holds Ana's stream for longer than the timeout. Ben's writers and all readers do not notice."""
    url = server.new_database()
    with recollect.open(url, timeout_s=1) as mem, psycopg.connect(url) as slow:
        mem.add("Ana works on the pier", owner="ana")
        slow.execute("SELECT 1 FROM recollect.streams WHERE owner = 'ana' FOR UPDATE")
        began = time.monotonic()
        with pytest.raises(recollect.StoreBusy, match="timeout_s"):
            mem.add(**TEA)
        assert 0.9 < time.monotonic() - began < 8
        assert mem.add("Ben keeps bees", owner="ben").outcome == "stored"
        assert mem.query("pier", owner="ana").items
        slow.rollback()
        assert mem.add(**TEA).outcome == "stored"
        assert_sound(mem)
