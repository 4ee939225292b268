-- The role in which every operation runs: it cannot log in and owns nothing, so that no policy can be switched off by it.
-- Roles belong to the whole server. Another database may have made it already, or be making it at this moment.
DO $$
DECLARE
    becoming CONSTANT text := CASE WHEN current_setting('server_version_num')::int < 160000 THEN 'MEMBER' ELSE 'SET' END;
BEGIN
    IF to_regrole('recollect_app') IS NULL THEN
        BEGIN
            CREATE ROLE recollect_app NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS;
        EXCEPTION
            WHEN duplicate_object OR unique_violation THEN NULL;
        END;
    END IF;
    IF NOT pg_has_role(current_user, 'recollect_app', becoming) THEN
        GRANT recollect_app TO current_user;
    END IF;
END
$$;
