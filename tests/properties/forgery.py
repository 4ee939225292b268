"""Somebody with the file, the source code and time: rewrites history, and puts everything right again that can be.

Only what lies elsewhere is out of reach: private keys, and checkpoints that somebody kept.
"""

import json
import sqlite3
from collections.abc import Callable
from random import Random
from typing import Any

from recollect.model.canonical import canonical_json
from recollect.model.ledger import GENESIS, Entry, Event, commit_to
from recollect.model.seals import committed_text
from recollect.rules.ledger.merkle import leaf_hash, tree_head, tree_heads
from recollect.rules.ledger.proofs import entry_leaf

FIELDS = [name for name in Entry._fields if name not in ("stream", "hash")]


class Forger:
    """One forged file. ``rewrite`` changes something; ``cover_up`` makes the chains, and the log, agree with it again."""

    def __init__(self, db: sqlite3.Connection, random: Random) -> None:
        db.row_factory = sqlite3.Row
        self.db, self.random = db, random

    def words(self) -> None:
        """What a memory says."""
        row = self._any("SELECT * FROM versions WHERE body IS NOT NULL")
        body = json.loads(row["body"])
        body["content"] = body["content"][:-1] + self.random.choice("xyz")
        self.commit_version(row, canonical_json(body), row["salt"])

    def author(self) -> None:
        """Who is credited with it."""
        row = self._any("SELECT * FROM versions WHERE body IS NOT NULL")
        body = json.loads(row["body"])
        body["author"] = {"id": f"mallory{self.random.random()}", "name": "Mallory", "platform": None}
        self.commit_version(row, canonical_json(body), row["salt"])

    def salt(self) -> None:
        """The salt of a version, with a commitment to match."""
        row = self._any("SELECT * FROM versions WHERE body IS NOT NULL")
        self.commit_version(row, row["body"], self.random.randbytes(16))

    def values(self) -> None:
        """The values that an entry brought."""
        row = self._any("SELECT * FROM amendments WHERE body IS NOT NULL")
        salt = self.random.randbytes(16)
        self._run("UPDATE amendments SET salt = ? WHERE stream = ? AND seq = ?", salt, row["stream"], row["seq"])
        self._set(row["stream"], row["seq"], "commitment", commit_to(salt, row["body"]))

    def entry(self) -> None:
        """A field of an entry."""
        row = self._any("SELECT * FROM ledger")
        field = self.random.choice(
            ["tick", "rule", "at", "rules_version", "from_status", "to_status", "event", "actor"]
        )
        self._set(row["stream"], row["seq"], field, self._other(field, row[field]))

    def order(self) -> None:
        """Two entries in each other's place."""
        row = self._any("SELECT * FROM ledger WHERE seq > 1")
        stream, high = row["stream"], row["seq"]
        low = self.random.randint(1, high - 1)
        for old, new in ((low, -1), (high, low), (-1, high)):
            self._run("UPDATE ledger SET seq = ? WHERE stream = ? AND seq = ?", new, stream, old)
            self._run("UPDATE amendments SET seq = ? WHERE stream = ? AND seq = ?", new, stream, old)

    def removal(self) -> None:
        """An entry taken out of the middle, or off the end."""
        row = self._any("SELECT * FROM ledger")
        stream, gone = row["stream"], row["seq"]
        for table in ("ledger", "amendments"):
            self._run(f"DELETE FROM {table} WHERE stream = ? AND seq = ?", stream, gone)
        for (seq,) in self.db.execute(
            "SELECT seq FROM ledger WHERE stream = ? AND seq > ? ORDER BY seq", (stream, gone)
        ):
            for table in ("ledger", "amendments"):
                self._run(f"UPDATE {table} SET seq = ? WHERE stream = ? AND seq = ?", seq - 1, stream, seq)

    def addition(self) -> None:
        """An entry too many, before the end. One at the end would be no rewrite, and is what everybody may do."""
        row = self._any("SELECT * FROM ledger l WHERE seq < (SELECT last_seq FROM streams s WHERE s.stream = l.stream)")
        stream, at = row["stream"], row["seq"]
        later = "SELECT seq FROM ledger WHERE stream = ? AND seq > ? ORDER BY seq DESC"
        for (seq,) in self.db.execute(later, (stream, at)).fetchall():
            for table in ("ledger", "amendments"):
                self._run(f"UPDATE {table} SET seq = ? WHERE stream = ? AND seq = ?", seq + 1, stream, seq)
        copy = {**dict(row), "seq": at + 1, "event": str(Event.REINFORCED), "commitment": None}
        marks = ", ".join("?" for _ in copy)
        self._run(f"INSERT INTO ledger ({', '.join(copy)}) VALUES ({marks})", *copy.values())

    def stream(self) -> None:
        """A stream that never was: neither in the ledger nor in the log."""
        row = self._any("SELECT * FROM streams")
        tables = [found[0] for found in self.db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            if any(column[1] == "stream" for column in self.db.execute(f"PRAGMA table_info({table})")):
                self._run(f"DELETE FROM {table} WHERE stream = ?", row["stream"])
        self._run("DELETE FROM log_leaves WHERE kind = 'stream' AND subject = ?", row["uid"])

    def leaf(self) -> None:
        """What the log says of a stream."""
        row = self._any("SELECT * FROM log_leaves WHERE kind = 'stream'")
        said = {**json.loads(row["body"]), "head": self.random.randbytes(32).hex()}
        self._run("UPDATE log_leaves SET body = ? WHERE place = ?", canonical_json(said), row["place"])

    def key(self) -> None:
        """Whose a key is, or what became of it."""
        row = self._any("SELECT * FROM log_leaves WHERE kind = 'key'")
        said = json.loads(row["body"])
        actors = [found["uid"] for found in self.db.execute("SELECT uid FROM actors") if found["uid"] != said["actor"]]
        said |= self.random.choice([{"actor": self.random.choice(actors)}, {"at": "2001-01-01T00:00:00.000000Z"}])
        self._run("UPDATE log_leaves SET body = ? WHERE place = ?", canonical_json(said), row["place"])

    def new_log(self) -> None:
        """Another log, as if the old one had never been."""
        self._run("UPDATE log_checkpoints SET log = ?", self.random.randbytes(16).hex())

    def short_log(self) -> None:
        """The end of the log cut off."""
        sizes = [found[0] for found in self.db.execute("SELECT size FROM log_checkpoints ORDER BY size")]
        left = self.random.choice([0, *sizes[:-1]])
        self._run("DELETE FROM log_leaves WHERE place >= ?", left)
        for table in ("log_checkpoints", "log_signatures"):
            self._run(f"DELETE FROM {table} WHERE size > ?", left)

    REWRITES: tuple[Callable[["Forger"], None], ...] = (
        words, author, salt, values, entry, order, removal, addition, stream, leaf, key, new_log, short_log,
    )  # fmt: skip

    def cover_up_chains(self) -> None:
        """Every chain hashed anew, from the first entry to the head."""
        for stream in self.db.execute("SELECT * FROM streams").fetchall():
            rows = self.db.execute("SELECT * FROM ledger WHERE stream = ? ORDER BY seq", (stream["stream"],)).fetchall()
            previous = GENESIS
            for row in rows:
                fields = {name: row[name] for name in FIELDS} | {"prev_hash": previous}
                previous = Entry(stream=stream["uid"], **fields).computed_hash()
                self._set(row["stream"], row["seq"], "prev_hash", fields["prev_hash"])
                self._set(row["stream"], row["seq"], "hash", previous)
            last = rows[-1] if rows else {"seq": 0, "tick": 0, "at": ""}
            self._run(
                "UPDATE streams SET head = ?, last_seq = ?, tick = ?, last_at = ? WHERE stream = ?",
                previous, last["seq"], last["tick"], last["at"], stream["stream"],
            )  # fmt: skip

    def cover_up_log(self) -> None:
        """Every leaf and every root as they would be, had it always been so. What was signed loses its signature."""
        self._run(
            "DELETE FROM log_leaves WHERE kind = 'stream' AND subject NOT IN "
            "(SELECT s.uid FROM streams s JOIN ledger l USING (tenant, stream))"
        )
        self._renumber_leaves()
        for row in self.db.execute("SELECT * FROM log_leaves WHERE kind = 'stream' ORDER BY place").fetchall():
            said = json.loads(row["body"])
            query = "SELECT l.seq, l.hash FROM ledger l JOIN streams s USING (tenant, stream) WHERE s.uid = ? AND l.seq <= ?"
            found = self.db.execute(query + " ORDER BY l.seq DESC LIMIT 1", (said["stream"], said["to_seq"])).fetchone()
            said |= {"to_seq": found["seq"], "head": found["hash"]}
            query = "SELECT l.hash FROM ledger l JOIN streams s USING (tenant, stream) WHERE s.uid = ? AND l.seq BETWEEN ? AND ?"
            covered = self.db.execute(query + " ORDER BY l.seq", (said["stream"], said["from_seq"], said["to_seq"]))
            said["root"] = tree_head(entry_leaf(entry["hash"]) for entry in covered)
            self._run("UPDATE log_leaves SET body = ? WHERE place = ?", canonical_json(said), row["place"])
        bodies = [found["body"] for found in self.db.execute("SELECT body FROM log_leaves ORDER BY place")]
        sizes = [found["size"] for found in self.db.execute("SELECT size FROM log_checkpoints")]
        for size, root in tree_heads([leaf_hash(body.encode()) for body in bodies], sizes).items():
            self._run("UPDATE log_checkpoints SET root = ? WHERE size = ?", root, size)
        self._run("DELETE FROM log_signatures")

    def _renumber_leaves(self) -> None:
        """Leaves that were taken out leave no gap."""
        rows = self.db.execute("SELECT place FROM log_leaves ORDER BY place").fetchall()
        for place, row in enumerate(rows):
            self._run("UPDATE log_leaves SET place = ? WHERE place = ?", place, row["place"])
        self._run("DELETE FROM log_checkpoints WHERE size > ?", len(rows))
        if rows:
            last = self.db.execute("SELECT max(size) FROM log_checkpoints").fetchone()[0]
            self._run("UPDATE OR IGNORE log_checkpoints SET size = ? WHERE size = ?", len(rows), last)

    def _any(self, query: str) -> sqlite3.Row:
        found: sqlite3.Row = self.random.choice(self.db.execute(query).fetchall())
        return found

    def _run(self, statement: str, *values: Any) -> None:
        self.db.execute(statement, values)

    def _set(self, stream: int, seq: int, field: str, value: Any) -> None:
        self._run(f"UPDATE ledger SET {field} = ? WHERE stream = ? AND seq = ?", value, stream, seq)

    def commit_version(self, row: sqlite3.Row, body: str, salt: bytes) -> None:
        """Another body and salt for a version, and an entry that commits to them."""
        where = (row["stream"], row["memory"])
        self._run("UPDATE versions SET body = ?, salt = ? WHERE stream = ? AND memory = ?", body, salt, *where)
        self._run(
            "UPDATE ledger SET commitment = ? WHERE memory_id = ? AND event IN ('stored', 'contradicted')",
            commit_to(salt, committed_text(body)), row["id"],
        )  # fmt: skip

    def _other(self, field: str, value: Any) -> Any:
        if field in ("tick", "rules_version"):
            return value + self.random.randint(1, 9)
        if field == "at":
            return value[:-4] + f"{(int(value[-4:-1]) + 1) % 1000:03d}Z"
        if field == "actor":
            others = [row["uid"] for row in self.db.execute("SELECT uid FROM actors") if row["uid"] != value]
            return self.random.choice(others)
        words = {
            "event": [str(event) for event in Event],
            "rule": ["identity:new", "erased:by_right", "forged"],
            "from_status": [None, "active", "archived"],
            "to_status": [None, "active", "superseded"],
        }[field]
        return self.random.choice([word for word in words if word != value])
