-- The rights of every role start from none; each of the other files of this folder gives those of one role.
--
-- Applied before these, and all of them after functions and views, in one transaction. A role that this server lacks is
-- skipped. Views read with their owner's rights; functions named in them need EXECUTE for the reader all the same.

-- Objects that are created later have no rights for PUBLIC.
ALTER DEFAULT PRIVILEGES REVOKE ALL ON FUNCTIONS FROM PUBLIC;
ALTER DEFAULT PRIVILEGES REVOKE ALL ON TABLES FROM PUBLIC;
ALTER DEFAULT PRIVILEGES REVOKE ALL ON SEQUENCES FROM PUBLIC;
ALTER DEFAULT PRIVILEGES REVOKE ALL ON TYPES FROM PUBLIC;

DO $$
DECLARE
    v_role text;
BEGIN
    -- Start from no rights, so that a right removed from a file is revoked.
    FOR v_role IN
        SELECT 'PUBLIC'
        UNION ALL
        SELECT o.rolname FROM pg_catalog.pg_roles AS o
         WHERE o.rolname IN ('mailqueue_migrator', 'mailqueue_producer', 'mailqueue_worker', 'mailqueue_api',
                             'mailqueue_tracking', 'mailqueue_dba')
    LOOP
        EXECUTE format('REVOKE ALL ON SCHEMA mailqueue FROM %s', v_role);
        EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA mailqueue FROM %s', v_role);
        EXECUTE format('REVOKE ALL ON ALL SEQUENCES IN SCHEMA mailqueue FROM %s', v_role);
        EXECUTE format('REVOKE ALL ON ALL ROUTINES IN SCHEMA mailqueue FROM %s', v_role);
    END LOOP;
END $$;
