-- Which of our roles are members of others. All other rights are in grants.sql.

-- Whoever migrates acts as the owner. Only the connected user can give that away, and only where it may.
DO $$
BEGIN
    IF to_regrole('mailqueue_migrator') IS NOT NULL
       AND NOT pg_has_role('mailqueue_migrator', 'mailqueue_owner', 'MEMBER') THEN
        PERFORM set_config('role', 'none', true);
        GRANT mailqueue_owner TO mailqueue_migrator;
        PERFORM set_config('role', 'mailqueue_owner', true);
    END IF;
EXCEPTION
    WHEN insufficient_privilege THEN
        RAISE NOTICE 'mailqueue_migrator is no member of mailqueue_owner: an administrator may grant it';
    WHEN unique_violation OR internal_error THEN
        NULL;  -- another database of this server is migrated at this moment and gives it
END $$;

-- The API's transactions take its role, whoever logs in: row-level security passes over the owner. As above, only where
-- the connected user may give the role away; elsewhere an administrator grants it to the API's login, and `mailqueue
-- doctor` says so.
DO $$
BEGIN
    IF to_regrole('mailqueue_api') IS NOT NULL AND NOT pg_has_role('mailqueue_owner', 'mailqueue_api', 'MEMBER') THEN
        PERFORM set_config('role', 'none', true);
        GRANT mailqueue_api TO mailqueue_owner;
        PERFORM set_config('role', 'mailqueue_owner', true);
    END IF;
EXCEPTION
    WHEN insufficient_privilege THEN
        RAISE NOTICE 'mailqueue_owner is no member of mailqueue_api: an administrator may grant it';
    WHEN unique_violation OR internal_error THEN
        NULL;  -- another database of this server is migrated at this moment and gives it
END $$;
