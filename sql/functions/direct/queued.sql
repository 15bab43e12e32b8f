-- Queued mail with a custom SMTP server: the server is stored sealed, and workers send the mail only by it.
--
-- Its run_at is in the far future, so that no claim for an account of the project takes it; look_at is when it is due.

CREATE OR REPLACE FUNCTION mailqueue.queue_inline(p_project text, p_message jsonb, p_id uuid, p_sealed bytea)
RETURNS TABLE (id uuid, state text, reason text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_id uuid;
    q mailqueue.email_queue;
BEGIN
    PERFORM mailqueue.check_tenant(mailqueue.project_taking(p_project));
    IF p_message ->> 'sender' IS NOT NULL OR p_message ->> 'is_test' IS NOT NULL THEN
        PERFORM mailqueue.refuse(CASE WHEN p_message ->> 'sender' IS NULL THEN 'is_test' ELSE 'sender' END,
                                 'has no meaning for mail with a server of its own');
    ELSIF coalesce(p_message ->> 'from_email', '') = '' THEN
        PERFORM mailqueue.refuse('from_email', 'is needed with smtp_override');
    ELSIF p_message ->> 'delivery' = 'resend' THEN
        PERFORM mailqueue.refuse('delivery',
                                 'mail with a server of its own is held when it is not known whether it was sent: '
                                 'hold, got resend');
    ELSIF NOT mailqueue.is_on('own_servers') THEN
        PERFORM mailqueue.refuse('smtp_override',
                                 'mail with a server of its own is not sent here: the flag own_servers is off');
    END IF;
    v_id := mailqueue.enqueue(p_project, p_message ->> 'recipient', p_message ->> 'subject', p_message ->> 'html',
                              p_message ->> 'text',
                              p_message - '{recipient,subject,html,text}'::text[] || '{"delivery": "hold"}');
    SELECT * INTO q FROM mailqueue.email_queue AS e WHERE e.id = v_id AND e.created_at = now() AND e.status = 'pending';
    IF q.id IS NULL THEN  -- all recipients are suppressed, or it was accepted before
        RETURN QUERY SELECT v_id, coalesce(h.state, 'duplicate'), h.reason FROM (SELECT) AS one LEFT JOIN LATERAL (
            SELECT e.status AS state, e.reason FROM mailqueue.email_history AS e
             WHERE e.id = v_id AND e.created_at = now() AND e.status = 'suppressed') AS h ON true;
        RETURN;
    END IF;
    UPDATE mailqueue.email_queue AS e SET run_at = '9999-01-01 00:00+00' WHERE e.id = v_id;
    INSERT INTO mailqueue.inline_servers (id, project_id, email_id, sealed, look_at, expires_at)
    VALUES (p_id, q.project_id, v_id, p_sealed, q.run_at, q.expires_at);
    RETURN QUERY SELECT v_id, 'queued'::text, NULL::text;
END $$;
COMMENT ON FUNCTION mailqueue.queue_inline(text, jsonb, uuid, bytea) IS
    'Accept one mail that a worker sends later by a custom SMTP server, which is stored sealed until then. Invalid '
    'input raises 22023.';

CREATE OR REPLACE FUNCTION mailqueue.sweep_inline_servers() RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_ids uuid[];
    v_count bigint;
BEGIN
    SELECT array_agg(x.email_id) INTO v_ids FROM (
        SELECT s.email_id FROM mailqueue.inline_servers AS s JOIN mailqueue.email_queue AS q ON q.id = s.email_id
         WHERE s.expires_at <= clock_timestamp() AND q.status = 'pending' LIMIT 1000 FOR UPDATE OF q SKIP LOCKED) AS x;
    IF v_ids IS NOT NULL THEN
        PERFORM mailqueue.retire_emails(v_ids, NULL, array_fill('expired'::text, ARRAY[cardinality(v_ids)]),
            array_fill('it expired before it could be sent by its own server'::text, ARRAY[cardinality(v_ids)]), NULL,
            NULL);
    END IF;
    -- Held mail keeps its server until that expires; released later, it uses the project's accounts.
    WITH gone AS (
        DELETE FROM mailqueue.inline_servers AS s
         WHERE s.id IN (SELECT o.id FROM mailqueue.inline_servers AS o
                         WHERE NOT EXISTS (SELECT FROM mailqueue.email_queue AS q WHERE q.id = o.email_id
                                            AND (q.status IN ('pending', 'assigned')
                                                 OR q.run_at > '9000-01-01' AND o.expires_at > clock_timestamp()))
                         LIMIT 1000 FOR UPDATE SKIP LOCKED)
        RETURNING s.email_id
    ), due AS (
        UPDATE mailqueue.email_queue AS q SET run_at = clock_timestamp()
          FROM gone AS g WHERE q.id = g.email_id AND q.status = 'held' AND q.run_at > '9000-01-01'
    )
    SELECT count(*) INTO v_count FROM gone;
    RETURN v_count;
END $$;
COMMENT ON FUNCTION mailqueue.sweep_inline_servers() IS
    'Delete servers whose mail is finished, held or expired; returns their number.';

-- The columns of claim_emails(), the worker row for this one mail, and its server.
CREATE OR REPLACE FUNCTION mailqueue.claim_inline(p_host text, p_pid integer, p_version text, p_limit integer)
RETURNS TABLE (id uuid, claim_no bigint, assigned_to integer, account_revision integer, project_id uuid,
               attempts smallint, recipients smallint, unknowns smallint, expires_at timestamptz, category text,
               recipient_email text, recipient_name text, custom_data jsonb,
               content_id bigint, content_on date, worker_id integer, server_id uuid, sealed bytea)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz := clock_timestamp();
    v_due uuid;
    s mailqueue.inline_servers;
    q mailqueue.email_queue;
    m record;
    v_why text;
    v_wait text;
BEGIN
    IF NOT EXISTS (SELECT FROM mailqueue.inline_servers) THEN
        RETURN;  -- nearly always
    END IF;
    PERFORM mailqueue.sweep_inline_servers();
    FOR s IN SELECT o.* FROM mailqueue.inline_servers AS o WHERE o.look_at <= v_now ORDER BY o.look_at LIMIT p_limit
                FOR UPDATE SKIP LOCKED LOOP
        SELECT e.* INTO q FROM mailqueue.email_queue AS e WHERE e.id = s.email_id AND e.status = 'pending'
           FOR UPDATE SKIP LOCKED;
        CONTINUE WHEN q.id IS NULL;
        PERFORM mailqueue.suppress_new(ARRAY[q.id]);
        SELECT e.* INTO q FROM mailqueue.email_queue AS e WHERE e.id = s.email_id;
        IF q.id IS NULL THEN
            DELETE FROM mailqueue.inline_servers AS o WHERE o.id = s.id;
            CONTINUE;
        END IF;
        BEGIN
            SELECT x.* INTO m FROM mailqueue.mark_inline(q, p_host, p_pid, p_version) AS x;
        EXCEPTION WHEN SQLSTATE '53400' THEN
            GET STACKED DIAGNOSTICS v_why = MESSAGE_TEXT, v_wait = PG_EXCEPTION_DETAIL;
            UPDATE mailqueue.email_queue AS e SET last_error = coalesce(mailqueue.limit_words(v_why, NULL), v_why)
             WHERE e.id = q.id;
            UPDATE mailqueue.inline_servers AS o
               SET look_at = v_now
                   + make_interval(secs => least(60, greatest(1, coalesce(nullif(v_wait, '')::integer, 60))))
             WHERE o.id = s.id;
            CONTINUE;
        END;
        RETURN QUERY
            SELECT q.id, m.claim_no::bigint, 0, 0, q.project_id, (least(q.attempts, 32766) + 1)::smallint,
                   q.recipients, q.unknowns, q.expires_at, q.category, q.recipient_email, q.recipient_name,
                   q.custom_data, q.content_id, q.content_on, m.worker_id::integer, s.id, s.sealed;
    END LOOP;
END $$;
COMMENT ON FUNCTION mailqueue.claim_inline(text, integer, text, integer) IS
    'Claim and mark due mail with a custom SMTP server in one commit; mail that may not be sent now is checked again '
    'later.';

-- After settling, in the same transaction: returns mail that is tried again to the far future, and otherwise deletes
-- the server.
CREATE OR REPLACE FUNCTION mailqueue.keep_inline_server(p_email uuid) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    q record;
BEGIN
    SELECT e.status, e.run_at INTO q FROM mailqueue.email_queue AS e WHERE e.id = p_email;
    IF q.status = 'pending' THEN
        UPDATE mailqueue.inline_servers AS s SET look_at = q.run_at WHERE s.email_id = p_email;
        UPDATE mailqueue.email_queue AS e SET run_at = '9999-01-01 00:00+00' WHERE e.id = p_email;
    ELSE
        DELETE FROM mailqueue.inline_servers AS s WHERE s.email_id = p_email;
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.keep_inline_server(uuid) IS
    'Keep mail that is tried again from claims for accounts; delete the server of other mail.';
