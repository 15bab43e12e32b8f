-- Mail with a custom SMTP server, accepted to be sent later by a worker.
--
-- Its run_at is in the far future, so that no claim for an account of the project takes it; run_at of the server
-- is when it is due. The server is stored sealed.

CREATE OR REPLACE FUNCTION mailqueue.check_custom_smtp(p_message jsonb) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF p_message ->> 'sender' IS NOT NULL OR p_message ->> 'is_test' IS NOT NULL THEN
        PERFORM mailqueue.refuse(CASE WHEN p_message ->> 'sender' IS NULL THEN 'is_test' ELSE 'sender' END,
                                 'has no meaning for mail with a custom SMTP server');
    ELSIF coalesce(p_message ->> 'from_email', '') = '' THEN
        PERFORM mailqueue.refuse('from_email', 'is needed with smtp_override');
    ELSIF p_message ->> 'delivery' = 'resend' THEN
        PERFORM mailqueue.refuse('delivery',
                                 'mail with a custom SMTP server is held when it is not known whether it was sent: '
                                 'hold, got resend');
    ELSIF NOT mailqueue.is_on('own_servers') THEN
        PERFORM mailqueue.refuse('smtp_override',
                                 'mail with a custom SMTP server is not sent here: the flag own_servers is off');
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.check_custom_smtp(jsonb) IS
    'Raise an error (22023) for options that mail with a custom SMTP server may not have.';

CREATE OR REPLACE FUNCTION mailqueue.queue_custom_smtp(p_project text, p_message jsonb, p_id uuid, p_sealed bytea)
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
    PERFORM mailqueue.check_custom_smtp(p_message);
    IF strpos(p_message ->> 'recipient', '@') = 0 THEN       -- no list of contacts
        PERFORM mailqueue.check_address('recipient', p_message ->> 'recipient');
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
    IF q.is_ordered THEN
        PERFORM mailqueue.leave_order(ARRAY[q.id]);
        SELECT * INTO q FROM mailqueue.email_queue AS e WHERE e.id = v_id;
    END IF;
    UPDATE mailqueue.email_queue AS e SET run_at = '9999-01-01 00:00+00' WHERE e.id = v_id;
    INSERT INTO mailqueue.custom_smtp_servers (id, project_id, email_id, sealed, run_at, expires_at)
    VALUES (p_id, q.project_id, v_id, p_sealed, q.run_at, q.expires_at);
    RETURN QUERY SELECT v_id, 'queued'::text, NULL::text;
END $$;
COMMENT ON FUNCTION mailqueue.queue_custom_smtp(text, jsonb, uuid, bytea) IS
    'Accept one mail that a worker sends later by a custom SMTP server, which is stored sealed until then. Invalid '
    'input raises 22023.';

-- Each mail has a custom SMTP server, sealed for its row: p_servers and p_sealed have an element for each recipient.
CREATE OR REPLACE FUNCTION mailqueue.queue_shared_custom_smtp(p_project text, p_contents jsonb, p_options jsonb,
    p_recipients jsonb, p_is_strict boolean, p_by text, p_servers uuid[], p_sealed bytea[])
RETURNS TABLE (index integer, id uuid, status text, reason text, batch_id uuid)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_ids uuid[]; v_status text[]; v_reasons text[];
    v_batch uuid;
    v_content jsonb;
BEGIN
    PERFORM mailqueue.check_tenant(mailqueue.project_taking(p_project));
    FOR v_content IN SELECT c.value FROM jsonb_array_elements(p_contents) AS c LOOP
        PERFORM mailqueue.check_custom_smtp(p_options || v_content);
    END LOOP;
    SELECT array_agg(s.id ORDER BY s.index), array_agg(s.status ORDER BY s.index),
           array_agg(s.reason ORDER BY s.index), (array_agg(s.batch_id))[1]
      INTO v_ids, v_status, v_reasons, v_batch
      FROM mailqueue.enqueue_shared(p_project, p_contents, p_options || '{"delivery": "hold"}', p_recipients,
                                    p_is_strict, p_by) AS s;
    PERFORM mailqueue.leave_order(v_ids);
    INSERT INTO mailqueue.custom_smtp_servers (id, project_id, email_id, sealed, run_at, expires_at)
    SELECT p_servers[o.n], q.project_id, q.id, p_sealed[o.n], q.run_at, q.expires_at
      FROM unnest(v_ids) WITH ORDINALITY AS o(id, n)
      JOIN mailqueue.email_queue AS q ON q.id = o.id AND q.status = 'pending';
    UPDATE mailqueue.email_queue AS e SET run_at = '9999-01-01 00:00+00'
     WHERE e.id = ANY (v_ids) AND e.status = 'pending';
    RETURN QUERY
        SELECT x.n::integer - 1, x.id, x.status, x.reason, v_batch
          FROM unnest(v_ids, v_status, v_reasons) WITH ORDINALITY AS x(id, status, reason, n) ORDER BY x.n;
END $$;
COMMENT ON FUNCTION mailqueue.queue_shared_custom_smtp(text, jsonb, jsonb, jsonb, boolean, text, uuid[], bytea[]) IS
    'What enqueue_shared() does, for mail that a worker sends later by a custom SMTP server, which is stored sealed '
    'for each mail until then.';
