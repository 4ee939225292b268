-- name: drop
-- What the last conversation left.
DROP TABLE IF EXISTS turn

-- name: make
-- SQLite's own text index, with Porter's stemmer.
CREATE VIRTUAL TABLE turn USING fts5(content, tokenize = 'porter unicode61')

-- name: insert
INSERT INTO turn (rowid, content) VALUES (?, ?)

-- name: search
-- The best matches by SQLite's BM25, ties by the older one.
SELECT rowid FROM turn WHERE turn MATCH ? ORDER BY rank, rowid LIMIT ?
