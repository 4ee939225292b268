-- The schema, and the table that remembers which migrations it was built with.
DO $$
BEGIN
    IF to_regnamespace('recollect') IS NULL THEN
        CREATE SCHEMA recollect;
    END IF;
END
$$;
SET LOCAL search_path TO recollect, pg_temp;
CREATE TABLE IF NOT EXISTS migrations (
    number BIGINT NOT NULL PRIMARY KEY,
    name   TEXT COLLATE "C" NOT NULL,
    sha256 TEXT COLLATE "C" NOT NULL
);
GRANT USAGE ON SCHEMA recollect TO recollect_app;
GRANT SELECT ON migrations TO recollect_app;
