-- Work that one process does at a time. Migrations and maintenance take their leases by statements of their own, as the owner:
-- before the first migration there is no function.

-- A migration runner of an earlier release knows no lease: what it would write down is refused, and with it all that it changed.
CREATE OR REPLACE FUNCTION mailqueue.require_migration_lease() RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF current_setting('application_name') = 'mailqueue/migrate' AND coalesce(current_setting('mailqueue.lease', true), '') = '' THEN
        RAISE EXCEPTION 'this schema is migrated by a newer mailqueue: run its `mailqueue migrate`' USING ERRCODE = '55000';
    END IF;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.require_migration_lease() IS 'BEFORE STATEMENT on what migrations write down: a runner without a lease is refused.';

CREATE OR REPLACE TRIGGER require_migration_lease BEFORE INSERT OR UPDATE OR DELETE ON mailqueue.schema_migrations
    FOR EACH STATEMENT EXECUTE FUNCTION mailqueue.require_migration_lease();
CREATE OR REPLACE TRIGGER require_migration_lease BEFORE INSERT OR UPDATE OR DELETE ON mailqueue.schema_objects
    FOR EACH STATEMENT EXECUTE FUNCTION mailqueue.require_migration_lease();

CREATE OR REPLACE FUNCTION mailqueue.lease_holders() RETURNS TABLE (name text, holder text, pid integer, taken_at timestamptz, renewed_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT l.name, l.holder, l.pid, l.taken_at, l.renewed_at FROM mailqueue.leases AS l
     WHERE l.lease_until > clock_timestamp()
       AND (l.pid IS NULL OR EXISTS (SELECT FROM pg_stat_activity AS a WHERE a.pid = l.pid AND coalesce(a.backend_start = l.backend_started, true)))
$$;
COMMENT ON FUNCTION mailqueue.lease_holders() IS 'Leases that are held.';

-- The transaction that holds a row's lock is in its xmax.
CREATE OR REPLACE FUNCTION mailqueue.row_lock_holders() RETURNS TABLE (name text, pid integer, xid_age integer, alarm interval)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT r.name, k.pid, age(r.xmax), mailqueue.system_interval('lock_alarm')
      FROM (SELECT 'waking lanes' AS name, g.xmax FROM mailqueue.lane_gather AS g
            UNION ALL SELECT o.name, o.xmax FROM mailqueue.lock_rows AS o) AS r
      JOIN pg_locks AS k ON k.locktype = 'transactionid' AND k.transactionid = r.xmax AND k.granted
     WHERE k.pid <> pg_backend_pid()
$$;
COMMENT ON FUNCTION mailqueue.row_lock_holders() IS 'Server processes that hold a row of lane_gather or lock_rows.';
