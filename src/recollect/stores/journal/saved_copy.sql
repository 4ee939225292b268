-- What stands in a saved copy beside the store's own tables: of which journal it is the copy, and what a vault is shown.

-- name: no_journal
PRAGMA journal_mode = OFF

-- name: table_of_facts
CREATE TABLE copy_facts (
    digest  TEXT    NOT NULL,
    "to"    INTEGER NOT NULL,
    lines   INTEGER NOT NULL,
    last    BLOB    NOT NULL,
    adopted INTEGER NOT NULL
)

-- name: table_of_lines
CREATE TABLE copy_memories (
    kind   TEXT    NOT NULL,
    place  INTEGER NOT NULL,
    heads  BLOB    NOT NULL,
    lines  BLOB    NOT NULL,
    digest TEXT    NOT NULL,
    PRIMARY KEY (kind, place)
)

-- name: note_facts
INSERT INTO copy_facts (digest, "to", lines, last, adopted) VALUES (:digest, :to, :lines, :last, :adopted)

-- name: note_lines
INSERT INTO copy_memories (kind, place, heads, lines, digest) VALUES (:kind, :place, :heads, :lines, :digest)

-- name: facts
SELECT digest, "to", lines, last, adopted FROM copy_facts

-- name: lines
SELECT heads, lines, digest FROM copy_memories WHERE kind = :kind ORDER BY place

-- name: forget_facts
DROP TABLE IF EXISTS copy_facts

-- name: forget_lines
DROP TABLE IF EXISTS copy_memories

-- name: schema
SELECT name, sql FROM sqlite_master WHERE tbl_name NOT IN ('copy_facts', 'copy_memories') ORDER BY type, name
