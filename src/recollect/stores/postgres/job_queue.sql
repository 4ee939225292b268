-- The role and the schema of the job queue. It holds names of tenants and no memory, so it is nobody's but the workers': the role of
-- operations does not see it, and its own role sees no memory.
DO $$
DECLARE
    becoming CONSTANT text := CASE WHEN current_setting('server_version_num')::int < 160000 THEN 'MEMBER' ELSE 'SET' END;
BEGIN
    IF to_regrole('recollect_jobs') IS NULL THEN
        BEGIN
            CREATE ROLE recollect_jobs NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS;
        EXCEPTION
            WHEN duplicate_object OR unique_violation THEN NULL;
        END;
    END IF;
    IF NOT pg_has_role(current_user, 'recollect_jobs', becoming) THEN
        GRANT recollect_jobs TO current_user;
    END IF;
    IF to_regnamespace('recollect_jobs') IS NULL THEN
        CREATE SCHEMA recollect_jobs AUTHORIZATION recollect_jobs;
    END IF;
END
$$;
SET LOCAL ROLE recollect_jobs;
SET LOCAL search_path TO recollect_jobs, pg_temp;
