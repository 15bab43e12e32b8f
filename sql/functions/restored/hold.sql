-- After a restore from backup: mail that is unfinished in the backup may have been sent since. When it is held, mail is
-- sent from this database.

-- One batch; the caller continues after next_after until that is NULL. Raises an error while workers run: they would
-- send mail that is to be held.
CREATE OR REPLACE FUNCTION mailqueue.hold_restored(p_from timestamptz, p_dry_run boolean DEFAULT false,
    p_most integer DEFAULT 1000, p_operation bigint DEFAULT NULL, p_after uuid DEFAULT NULL, p_by text DEFAULT NULL,
    OUT held integer, OUT operation bigint, OUT next_after uuid)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_reason text := format('restored: may have been sent between %s and the restore', mailqueue.shown(p_from));
BEGIN
    IF p_from IS NULL OR p_from > v_now THEN
        PERFORM mailqueue.refuse('from',
                                 format('the moment of the backup is needed, which is past, got %s',
                                        coalesce(p_from::text, 'none')));
    END IF;
    PERFORM mailqueue.refuse_while_working();
    IF p_dry_run THEN
        SELECT count(*) INTO held FROM mailqueue.email_queue AS q
         WHERE q.status = 'assigned' OR (q.status = 'pending' AND q.run_at <= v_now AND q.expires_at > p_from);
        RETURN;
    END IF;
    operation := p_operation;
    IF operation IS NULL THEN
        -- Workers of the backup no longer exist. Mail that they had handed over is held or resent by its policy, then
        -- held here.
        PERFORM mailqueue.rescue_emails(interval '30 s');
        -- Transaction ids of another server mean nothing here.
        UPDATE mailqueue.lane_gather AS g SET signal_floor = '0' WHERE g.is_only;
        -- Numbers that were given since the backup are not given again: a worker that was cut off may still use them.
        PERFORM setval('mailqueue.claim_no_seq', nextval('mailqueue.claim_no_seq') + 1000000);
        operation := mailqueue.record_operation(NULL, 'queue.restored', 'all projects',
                                                jsonb_build_object('from', p_from, 'emails', 0), p_by);
    END IF;
    WITH doubtful AS MATERIALIZED (
        SELECT q.id FROM mailqueue.email_queue AS q
         WHERE q.status = 'pending' AND q.run_at <= v_now AND q.expires_at > p_from
           AND q.id > coalesce(p_after, '00000000-0000-0000-0000-000000000000')
         ORDER BY q.id LIMIT p_most FOR NO KEY UPDATE
    ), kept AS (
        UPDATE mailqueue.email_queue AS q SET status = 'held', last_error = v_reason
         WHERE q.id = ANY (ARRAY(SELECT d.id FROM doubtful AS d))
        RETURNING q.id, q.project_id, q.recipient_email, q.is_test
    ), told AS (
        INSERT INTO mailqueue.email_events (project_id, email_id, type, recipient_email, detail, is_test)
        SELECT k.project_id, k.id, 'held', k.recipient_email, v_reason, k.is_test FROM kept AS k
    )
    SELECT count(*), CASE WHEN count(*) = p_most THEN (array_agg(k.id ORDER BY k.id DESC))[1] END INTO held, next_after
      FROM kept AS k;
    PERFORM mailqueue.count_operation(operation, held);
    IF next_after IS NULL THEN
        PERFORM mailqueue.declare_server();
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.hold_restored(timestamptz, boolean, integer, bigint, uuid, text) IS
    'After a restore: hold a batch of the mail that may have been sent since the backup; returns the number held, and'
    ' the operation to continue.';

-- Workers register in this table before they claim: its lock keeps new ones out until the caller commits.
CREATE OR REPLACE FUNCTION mailqueue.refuse_while_working() RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    w record;
BEGIN
    LOCK TABLE mailqueue.workers IN SHARE MODE;
    SELECT k.host, k.pid, count(*) OVER () AS total INTO w FROM mailqueue.workers AS k
     WHERE k.stopped_at IS NULL AND k.lost_at IS NULL AND k.beat_at > clock_timestamp() - interval '30 s' LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION '% worker(s) running (process % on %): stop them first; one that was killed counts for 30 '
                        'seconds',
            w.total, w.pid, w.host
            USING ERRCODE = '55006';
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.refuse_while_working() IS 'Raise SQLSTATE 55006 if a send worker is alive.';
