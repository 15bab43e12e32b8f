-- Projects with a key of their own: when their mail waits, and what is deleted when their grants end.

CREATE OR REPLACE FUNCTION mailqueue.keep_project_lock(p_project uuid) RETURNS timestamptz
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_from timestamptz;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.lock_lanes(p_project);
    SELECT min(coalesce(g.expires_at, '-infinity')) INTO v_from
      FROM mailqueue.data_keys AS k LEFT JOIN mailqueue.key_grants AS g ON g.data_key_id = k.id
     WHERE k.project_id = p_project AND k.wrapped_by = 'own' AND k.wrapped IS NOT NULL;
    UPDATE mailqueue.limits AS m SET locked_from = v_from
     WHERE m.project_id = p_project AND m.sender_account_id IS NULL;
    -- Close the circuits of accounts whose password a worker could not open after the grant ended.
    UPDATE mailqueue.limits AS m SET failures = 0, blocked_reason = NULL, blocked_until = NULL
     WHERE m.project_id = p_project AND m.sender_account_id IS NOT NULL AND m.blocked_reason = 'unreachable';
    PERFORM mailqueue.wake_lanes(p_project);
    RETURN v_from;
END $$;
COMMENT ON FUNCTION mailqueue.keep_project_lock(uuid) IS
    'Set the time from which a project''s mail waits because its secrets cannot be opened; NULL: never.';

CREATE OR REPLACE FUNCTION mailqueue.forget_expired_grants() RETURNS bigint
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    WITH gone AS (
        DELETE FROM mailqueue.key_grants AS g WHERE g.expires_at <= clock_timestamp()
        RETURNING g.data_key_id, g.project_id
    ), noted AS (
        INSERT INTO mailqueue.audit_events (project_id, action, subject)
        SELECT DISTINCT g.project_id, 'vault.expired', 'project ' || p.name
          FROM gone AS g JOIN mailqueue.projects AS p ON p.id = g.project_id
    )
    SELECT count(*) FROM gone
$$;
COMMENT ON FUNCTION mailqueue.forget_expired_grants() IS
    'Delete expired grants to use data keys. Workers call it every few seconds.';
