-- Leases for work that one process does at a time. Migrations and maintenance take theirs by statements, as the owner:
-- before the first migration there is no function.

-- A migration runner of an earlier release takes no lease: recording a migration fails, which rolls its changes back.
CREATE OR REPLACE FUNCTION mailqueue.require_migration_lease() RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF current_setting('application_name') = 'mailqueue/migrate'
       AND coalesce(current_setting('mailqueue.lease', true), '') = '' THEN
        RAISE EXCEPTION 'this schema is migrated by a newer mailqueue: run its `mailqueue migrate`'
            USING ERRCODE = '55000';
    END IF;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.require_migration_lease() IS
    'BEFORE STATEMENT on records of migrations: raises an error for a runner without a lease.';

CREATE OR REPLACE TRIGGER require_migration_lease BEFORE INSERT OR UPDATE OR DELETE ON mailqueue.schema_migrations
    FOR EACH STATEMENT EXECUTE FUNCTION mailqueue.require_migration_lease();
CREATE OR REPLACE TRIGGER require_migration_lease BEFORE INSERT OR UPDATE OR DELETE ON mailqueue.schema_objects
    FOR EACH STATEMENT EXECUTE FUNCTION mailqueue.require_migration_lease();

-- Erasing goes in steps, also by requests of the API: each step renews the lease in its own transaction, so that no
-- other process takes it over. While another holds the lease, nothing is locked and nothing waits.
CREATE OR REPLACE FUNCTION mailqueue.lease_erasure(p_erasure uuid, p_token uuid, p_holder text,
    p_seconds double precision)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_name text := 'erasure ' || p_erasure;
BEGIN
    PERFORM mailqueue.check_tenant(x.project_id) FROM mailqueue.erasures AS x
     WHERE x.id = p_erasure AND x.stage <> 'done';
    IF NOT FOUND THEN
        RETURN true;  -- there is nothing to erase
    ELSIF EXISTS (SELECT FROM mailqueue.leases AS l
                   WHERE l.name = v_name AND l.token <> p_token AND l.lease_until > clock_timestamp()
                     AND EXISTS (SELECT FROM pg_stat_activity AS a
                                  WHERE a.pid = l.pid AND coalesce(a.backend_start = l.backend_started, true))) THEN
        RETURN false;
    END IF;
    INSERT INTO mailqueue.leases AS l (name, token, holder, pid, backend_started, lease_until)
    SELECT v_name, p_token, left(p_holder, 200), pg_backend_pid(),
           (SELECT a.backend_start FROM pg_stat_activity AS a WHERE a.pid = pg_backend_pid()),
           clock_timestamp() + make_interval(secs => least(greatest(p_seconds, 1), 300))
    ON CONFLICT (name) DO UPDATE
    SET token = excluded.token, holder = excluded.holder, pid = excluded.pid,
        backend_started = excluded.backend_started,
        taken_at = CASE WHEN l.token = excluded.token THEN l.taken_at ELSE excluded.taken_at END,
        renewed_at = excluded.renewed_at, lease_until = excluded.lease_until
    WHERE l.token = excluded.token OR l.lease_until <= clock_timestamp()
       OR NOT EXISTS (SELECT FROM pg_stat_activity AS a
                       WHERE a.pid = l.pid AND coalesce(a.backend_start = l.backend_started, true));
    RETURN FOUND;
END $$;
COMMENT ON FUNCTION mailqueue.lease_erasure(uuid, uuid, text, double precision) IS
    'Take or renew the lease of an erasure; false while another process holds it.';

CREATE OR REPLACE FUNCTION mailqueue.release_erasure(p_erasure uuid, p_token uuid) RETURNS void
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    DELETE FROM mailqueue.leases AS l WHERE l.name = 'erasure ' || p_erasure AND l.token = p_token
$$;
COMMENT ON FUNCTION mailqueue.release_erasure(uuid, uuid) IS 'Release the lease of an erasure held by that token.';

CREATE OR REPLACE FUNCTION mailqueue.lease_holders()
RETURNS TABLE (name text, holder text, pid integer, taken_at timestamptz, renewed_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT l.name, l.holder, l.pid, l.taken_at, l.renewed_at FROM mailqueue.leases AS l
     WHERE l.lease_until > clock_timestamp()
       AND (l.pid IS NULL
            OR EXISTS (SELECT FROM pg_stat_activity AS a
                        WHERE a.pid = l.pid AND coalesce(a.backend_start = l.backend_started, true)))
$$;
COMMENT ON FUNCTION mailqueue.lease_holders() IS 'Leases in force.';

-- The transaction that holds a row lock is in xmax of the row.
CREATE OR REPLACE FUNCTION mailqueue.row_lock_holders()
RETURNS TABLE (name text, pid integer, xid_age integer, alarm interval)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT r.name, k.pid, age(r.xmax), mailqueue.system_interval('lock_alarm')
      FROM (SELECT 'waking lanes' AS name, g.xmax FROM mailqueue.lane_gather AS g
            UNION ALL SELECT o.name, o.xmax FROM mailqueue.lock_rows AS o) AS r
      JOIN pg_locks AS k ON k.locktype = 'transactionid' AND k.transactionid = r.xmax AND k.granted
     WHERE k.pid <> pg_backend_pid()
$$;
COMMENT ON FUNCTION mailqueue.row_lock_holders() IS
    'Server processes that hold a lock on a row of lane_gather or lock_rows.';
