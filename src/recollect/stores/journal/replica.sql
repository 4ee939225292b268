-- How the copy in memory knows what a transaction changed, and how it takes in what others did.
-- Names of tables and columns come from the database's own catalogue.

-- name: every_table
SELECT t.name AS "table", c.name AS "column", c.pk AS place FROM sqlite_master t JOIN pragma_table_info(t.name) c
 WHERE t.type = 'table' AND t.name <> 'migrations' AND substr(t.name, 1, 7) <> 'sqlite_'
 ORDER BY t.name, c.cid

-- name: every_index
SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY name

-- name: drop_index
DROP INDEX {name}

-- Each table has a list of its own. A key may stand there more than once: it is read once, and adding to the end of a list that
-- has no order takes a fraction of the time that looking for it there does.
-- name: list_of_changes
CREATE TEMP TABLE changed_{table} ({key})

-- name: watch
CREATE TEMP TRIGGER {table}_changed_{number} AFTER {when} ON main.{table}
BEGIN
    INSERT INTO changed_{table} VALUES ({key});
END

-- name: if_changed
SELECT '{table}' WHERE EXISTS (SELECT 1 FROM changed_{table})

-- name: nothing_changed
DELETE FROM changed_{table}

-- Each changed row as it is now, once, after its key; a row that is gone has nulls.
-- name: changed_rows
SELECT c.*, {columns} FROM (SELECT * FROM changed_{table} GROUP BY {key}) c LEFT JOIN {table} t ON {same_key}

-- name: all_rows
SELECT {columns} FROM {table} t ORDER BY {key}

-- name: put_row
INSERT OR REPLACE INTO {table} ({columns}) VALUES ({values})

-- name: take_row
DELETE FROM {table} WHERE ({key}) = ({values})

-- Only the rows that are there, without what is left of those that are gone.
-- name: save_to
VACUUM INTO :path

-- name: schema
SELECT name, sql FROM sqlite_master ORDER BY type, name
