-- Transactions that have written to an outbox and are still open: one of them may commit a lower number than others
-- have committed since.
--
-- Each outbox has a sequence. Taking a number from it locks the sequence until the transaction ends, in a mode that
-- makes no transaction wait; pg_locks shows by whom. Transactions that did not write to the outbox, such as pg_dump,
-- do not have this lock, however old their snapshots are.

CREATE OR REPLACE FUNCTION mailqueue.outbox_sequence(p_outbox uuid) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT 'outbox_' || replace(p_outbox::text, '-', '') $$;
COMMENT ON FUNCTION mailqueue.outbox_sequence(uuid) IS 'Name of the sequence that writers of an outbox lock.';

-- A prepared transaction is shown as -1/ID, whatever it was before.
CREATE OR REPLACE FUNCTION mailqueue.sequence_writers(p_sequence text) RETURNS text[]
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    RETURN (
    SELECT coalesce(array_agg(DISTINCT k.virtualtransaction), '{}')
      FROM pg_catalog.pg_locks AS k
     WHERE k.locktype = 'relation' AND k.mode = 'RowExclusiveLock' AND k.granted
       AND k.pid IS DISTINCT FROM pg_backend_pid()
       AND k.relation = to_regclass(p_sequence)::oid
       AND k.database = (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname = current_database()));
END $$;
COMMENT ON FUNCTION mailqueue.sequence_writers(text) IS 'Open transactions that have taken a number from a sequence.';

CREATE OR REPLACE FUNCTION mailqueue.outbox_writers(p_outbox uuid) RETURNS text[]
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$ SELECT mailqueue.sequence_writers('mailqueue.' || mailqueue.outbox_sequence(p_outbox)) $$;
COMMENT ON FUNCTION mailqueue.outbox_writers(uuid) IS 'Open transactions that have written to an outbox.';
