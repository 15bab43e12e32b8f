-- Queued mail with a custom SMTP server: the server is stored sealed, and workers send the mail only by it.
--
-- Its run_at is in the far future, so that no claim for an account of the project takes it; run_at of the server
-- is when it is due. Rows of custom_smtp_servers are a queue of the kernel, custom-smtp:
-- mailqueue/core/queues/registry.py.

CREATE OR REPLACE FUNCTION mailqueue.sweep_custom_smtp_servers() RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_ids uuid[];
    v_statuses text[];
    v_reasons text[];
    v_count bigint;
BEGIN
    IF NOT EXISTS (SELECT FROM mailqueue.custom_smtp_servers) THEN
        RETURN 0;  -- nearly always
    END IF;
    -- A failed row: its worker raised an error each time, or stopped. The mail fails with it.
    SELECT array_agg(x.email_id), array_agg(x.status), array_agg(x.reason) INTO v_ids, v_statuses, v_reasons FROM (
        SELECT s.email_id, CASE s.status WHEN 'failed' THEN 'failed' ELSE 'expired' END AS status,
               CASE s.status WHEN 'failed' THEN coalesce(s.last_error, 'it could not be sent by its own server')
                             ELSE 'it expired before it could be sent by its own server' END AS reason
          FROM mailqueue.custom_smtp_servers AS s JOIN mailqueue.email_queue AS q ON q.id = s.email_id
         WHERE (s.expires_at <= clock_timestamp() AND s.status <> 'assigned' OR s.status = 'failed')
           AND q.status = 'pending' LIMIT 1000 FOR UPDATE OF q SKIP LOCKED) AS x;
    IF v_ids IS NOT NULL THEN
        PERFORM mailqueue.retire_emails(v_ids, NULL, v_statuses, v_reasons, NULL, NULL);
    END IF;
    -- Held mail keeps its server until that expires; released later, it uses the project's accounts. A row that a
    -- worker handles is deleted as that worker settles it.
    WITH gone AS (
        DELETE FROM mailqueue.custom_smtp_servers AS s
         WHERE s.id IN (SELECT o.id FROM mailqueue.custom_smtp_servers AS o
                         WHERE o.status <> 'assigned'
                           AND NOT EXISTS (SELECT FROM mailqueue.email_queue AS q WHERE q.id = o.email_id
                                            AND (q.status IN ('pending', 'assigned')
                                                 OR q.run_at > '9000-01-01' AND o.expires_at > clock_timestamp()))
                         LIMIT 1000 FOR UPDATE SKIP LOCKED)
        RETURNING s.email_id
    ), due AS (
        UPDATE mailqueue.email_queue AS q SET run_at = clock_timestamp()
          FROM gone AS g WHERE q.id = g.email_id AND q.status = 'held' AND q.run_at > '9000-01-01'
    )
    SELECT count(*) INTO v_count FROM gone;
    -- Released mail is due at once.
    UPDATE mailqueue.custom_smtp_servers AS s SET status = 'pending', run_at = clock_timestamp()
     WHERE s.id IN (SELECT o.id FROM mailqueue.custom_smtp_servers AS o
                      JOIN mailqueue.email_queue AS q ON q.id = o.email_id
                     WHERE o.status = 'held' AND q.status = 'pending' FOR UPDATE OF o SKIP LOCKED);
    RETURN v_count;
END $$;
COMMENT ON FUNCTION mailqueue.sweep_custom_smtp_servers() IS
    'Delete servers whose mail is finished, held or expired, and queue those of released mail again; returns the '
    'number deleted.';

-- The worker row for this one mail, and the columns of claim_emails(); those after wait are null unless state is
-- marked. finished: nothing is to be sent, the row is done. held: until the mail is released. waiting: try again after
-- wait. lost: the claim no longer holds.
CREATE OR REPLACE FUNCTION mailqueue.begin_custom_smtp(p_server uuid, p_claim bigint, p_host text, p_pid integer,
    p_version text)
RETURNS TABLE (state text, reason text, wait interval, worker_id integer, id uuid, claim_no bigint,
               assigned_to integer, account_revision integer, project_id uuid, attempts smallint, recipients smallint,
               unknowns smallint, expires_at timestamptz, category text, recipient_email text, recipient_name text,
               custom_data jsonb, content_id bigint, content_on date)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    s mailqueue.custom_smtp_servers;
    q mailqueue.email_queue;
    m record;
    v_why text;
    v_wait text;
BEGIN
    SELECT o.* INTO s FROM mailqueue.custom_smtp_servers AS o WHERE o.id = p_server AND o.claim_no = p_claim
       FOR NO KEY UPDATE;
    IF s.id IS NULL THEN
        state := 'lost';
        RETURN NEXT;
        RETURN;
    END IF;
    SELECT e.* INTO q FROM mailqueue.email_queue AS e WHERE e.id = s.email_id FOR UPDATE SKIP LOCKED;
    IF q.id IS NULL THEN
        state := CASE WHEN EXISTS (SELECT FROM mailqueue.email_queue AS e WHERE e.id = s.email_id) THEN 'waiting'
                      ELSE 'finished' END;
        wait := interval '1 s';
        RETURN NEXT;
        RETURN;
    ELSIF q.status = 'assigned' THEN  -- by a worker that was lost after the mark: rescue holds it
        state := 'waiting';
        wait := interval '5 s';
        RETURN NEXT;
        RETURN;
    ELSIF q.status <> 'pending' THEN
        state := CASE WHEN q.run_at > '9000-01-01' THEN 'held' ELSE 'finished' END;
        RETURN NEXT;
        RETURN;
    ELSIF s.expires_at <= clock_timestamp() THEN
        PERFORM mailqueue.retire_emails(ARRAY[q.id], NULL, ARRAY['expired'],
            ARRAY['it expired before it could be sent by its own server'], NULL, NULL);
        state := 'finished';
        RETURN NEXT;
        RETURN;
    END IF;
    PERFORM mailqueue.suppress_new(ARRAY[q.id]);
    SELECT e.* INTO q FROM mailqueue.email_queue AS e WHERE e.id = s.email_id;
    IF q.id IS NULL THEN
        state := 'finished';
        RETURN NEXT;
        RETURN;
    END IF;
    BEGIN
        SELECT x.* INTO m FROM mailqueue.mark_custom_smtp(q, p_host, p_pid, p_version) AS x;
    EXCEPTION WHEN SQLSTATE '53400' THEN
        GET STACKED DIAGNOSTICS v_why = MESSAGE_TEXT, v_wait = PG_EXCEPTION_DETAIL;
        state := 'waiting';
        reason := coalesce(mailqueue.limit_words(v_why, NULL), v_why);
        -- A window lasts for hours: one that is changed meanwhile is noticed a quarter of an hour later.
        wait := make_interval(secs => least(CASE v_why WHEN 'outside_window' THEN 900 ELSE 60 END,
                                            greatest(1, coalesce(nullif(v_wait, '')::numeric, 60))));
        UPDATE mailqueue.email_queue AS e SET last_error = begin_custom_smtp.reason WHERE e.id = q.id;
        RETURN NEXT;
        RETURN;
    END;
    RETURN QUERY
        SELECT 'marked'::text, NULL::text, NULL::interval, m.worker_id::integer, q.id, m.claim_no::bigint, 0, 0,
               q.project_id, (least(q.attempts, 32766) + 1)::smallint, q.recipients, q.unknowns, q.expires_at,
               q.category, q.recipient_email, q.recipient_name, q.custom_data, q.content_id, q.content_on;
END $$;
COMMENT ON FUNCTION mailqueue.begin_custom_smtp(uuid, bigint, text, integer, text) IS
    'Mark the mail of a claimed row, whose worker then sends it by a custom SMTP server; or return why it is not sent '
    'now.';

-- After settling, in the same transaction: returns mail that is tried again to the far future, and otherwise deletes
-- the server. A row that a worker of a queue holds keeps its claim: the settling of that worker decides by
-- due_custom_smtp().

CREATE OR REPLACE FUNCTION mailqueue.keep_custom_smtp_server(p_email uuid, p_worker integer) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    q record;
BEGIN
    SELECT e.status, e.run_at INTO q FROM mailqueue.email_queue AS e WHERE e.id = p_email;
    IF q.status = 'pending' THEN
        UPDATE mailqueue.custom_smtp_servers AS s SET run_at = q.run_at WHERE s.email_id = p_email;
        UPDATE mailqueue.custom_smtp_servers AS s
           SET status = 'pending', claim_no = NULL, worker_id = NULL, assigned_at = NULL, lease_until = NULL
         WHERE s.email_id = p_email AND s.worker_id = p_worker;
        UPDATE mailqueue.email_queue AS e SET run_at = '9999-01-01 00:00+00' WHERE e.id = p_email;
    ELSE
        DELETE FROM mailqueue.custom_smtp_servers AS s
         WHERE s.email_id = p_email AND (s.status <> 'assigned' OR s.worker_id = p_worker);
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.keep_custom_smtp_server(uuid, integer) IS
    'Keep mail that is tried again from claims for accounts; delete the server of other mail.';

CREATE OR REPLACE FUNCTION mailqueue.due_custom_smtp(p_ids uuid[]) RETURNS TABLE (id uuid, run_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT s.id, least(greatest(s.run_at, now()), '9000-01-01') FROM mailqueue.custom_smtp_servers AS s
      JOIN mailqueue.email_queue AS q ON q.id = s.email_id AND q.status = 'pending'
     WHERE s.id = ANY (p_ids)
$$;
COMMENT ON FUNCTION mailqueue.due_custom_smtp(uuid[]) IS
    'Those of the servers whose mail is still to be sent, and when.';
