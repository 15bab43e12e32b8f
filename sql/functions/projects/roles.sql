-- Memberships between our roles. All other rights are in grants/.

-- The migrator acts as the owner. Only the connected user can grant that, if it may.
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
        RAISE NOTICE 'mailqueue_migrator is not a member of mailqueue_owner: an administrator may grant it';
    WHEN unique_violation OR internal_error THEN
        NULL;  -- a concurrent migration of another database of this server grants it
END $$;

-- Transactions of the API use its role, whatever the login: row-level security does not apply to the owner. As above,
-- the connected user grants it if it may; otherwise an administrator grants it to the login of the API, and `mailqueue
-- doctor` reports it.
DO $$
BEGIN
    IF to_regrole('mailqueue_api') IS NOT NULL AND NOT pg_has_role('mailqueue_owner', 'mailqueue_api', 'MEMBER') THEN
        PERFORM set_config('role', 'none', true);
        GRANT mailqueue_api TO mailqueue_owner;
        PERFORM set_config('role', 'mailqueue_owner', true);
    END IF;
EXCEPTION
    WHEN insufficient_privilege THEN
        RAISE NOTICE 'mailqueue_owner is not a member of mailqueue_api: an administrator may grant it';
    WHEN unique_violation OR internal_error THEN
        NULL;  -- a concurrent migration of another database of this server grants it
END $$;
