-- Transactions that insert ordered mail and are still open: one of them may commit an earlier place than others have
-- committed since.
--
-- Each project that orders mail has a sequence. Taking a number from it locks the sequence until the transaction ends,
-- in a mode that makes no transaction wait; pg_locks shows by whom. Only the owner may take the number, which is not
-- used.

CREATE OR REPLACE FUNCTION mailqueue.order_sequence(p_project uuid) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT 'order_' || replace(p_project::text, '-', '') $$;
COMMENT ON FUNCTION mailqueue.order_sequence(uuid) IS 'Name of the sequence that writers of ordered mail lock.';

CREATE OR REPLACE FUNCTION mailqueue.projects_ordering() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF NEW.ordering IS NOT NULL AND to_regclass('mailqueue.' || mailqueue.order_sequence(NEW.id)) IS NULL THEN
        EXECUTE format('CREATE SEQUENCE mailqueue.%I CYCLE', mailqueue.order_sequence(NEW.id));
    END IF;
    IF NEW.ordering_on_failure = 'continue' THEN
        WITH gone AS (
            DELETE FROM mailqueue.email_order AS o WHERE o.project_id = NEW.id AND o.blocked_by IS NOT NULL
            RETURNING o.project_id, o.order_key
        )
        INSERT INTO mailqueue.order_signals (project_id, order_key)
        SELECT DISTINCT g.project_id, g.order_key FROM gone AS g;
        PERFORM mailqueue.wake_workers();
    END IF;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.projects_ordering() IS
    'AFTER a project is to order mail: create its sequence. AFTER failed mail blocks no longer: let the next have its '
    'turn.';

CREATE OR REPLACE TRIGGER projects_ordering AFTER INSERT OR UPDATE OF ordering, ordering_on_failure
    ON mailqueue.projects
    FOR EACH ROW EXECUTE FUNCTION mailqueue.projects_ordering();

-- Before a place is taken.
CREATE OR REPLACE FUNCTION mailqueue.begin_order(p_project uuid) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM nextval(('mailqueue.' || mailqueue.order_sequence(p_project))::regclass);
END $$;
COMMENT ON FUNCTION mailqueue.begin_order(uuid) IS
    'Note that this transaction inserts ordered mail of a project, until it ends.';

CREATE OR REPLACE FUNCTION mailqueue.open_writers(p_projects uuid[]) RETURNS TABLE (project_id uuid, writers text[])
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT p.id, array_agg(DISTINCT k.virtualtransaction)
      FROM unnest(p_projects) AS p(id)
      JOIN pg_catalog.pg_locks AS k
        ON k.locktype = 'relation' AND k.mode = 'RowExclusiveLock' AND k.granted
           AND k.pid IS DISTINCT FROM pg_backend_pid()       -- it sees its own mail
           AND k.relation = to_regclass('mailqueue.' || mailqueue.order_sequence(p.id))::oid
           AND k.database = (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname = current_database())
     GROUP BY p.id
$$;
COMMENT ON FUNCTION mailqueue.open_writers(uuid[]) IS
    'Open transactions that have inserted ordered mail, by project; of a project without any there is no row.';
