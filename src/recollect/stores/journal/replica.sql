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

-- name: list_of_changes
CREATE TEMP TABLE changed (
    "table" TEXT NOT NULL,
    key     TEXT NOT NULL,
    PRIMARY KEY ("table", key)
) WITHOUT ROWID

-- Not INSERT OR IGNORE: an upsert that fires the trigger would overrule the OR.
-- name: watch
CREATE TEMP TRIGGER {table}_{verb}_{side} AFTER {verb} ON main.{table}
BEGIN
    INSERT INTO changed SELECT '{table}', json_array({key})
     WHERE NOT EXISTS (SELECT 1 FROM changed WHERE "table" = '{table}' AND key = json_array({key}));
END

-- name: changed_tables
SELECT DISTINCT "table" FROM changed ORDER BY "table"

-- name: nothing_changed
DELETE FROM changed

-- Each changed row as it is now, after its key; a row that is gone has nulls.
-- name: changed_rows
SELECT c.key, {columns} FROM changed c LEFT JOIN {table} t ON {same_key} WHERE c."table" = '{table}' ORDER BY c.key

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
