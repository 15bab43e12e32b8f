-- Ordered mail on its way into the queue: its key, and its place among the mail of the key.

-- NULL: the mail is not ordered. Test mail and live mail do not wait for each other.
CREATE OR REPLACE FUNCTION mailqueue.order_key(p_ordering text, q mailqueue.email_queue) RETURNS uuid
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_json jsonb := CASE WHEN jsonb_typeof(q.custom_data) = 'object'
                              THEN nullif(q.custom_data -> substr(p_ordering, 13), 'null') END;
    v_value text := CASE WHEN p_ordering = 'project' THEN ''
                         WHEN p_ordering = 'outboxes'
                              THEN (SELECT '' FROM mailqueue.outbox_rows AS o WHERE o.id = q.id)
                         WHEN jsonb_typeof(v_json) = 'number' THEN trim_scale(v_json::numeric)::text  -- 1.0 is 1
                         ELSE v_json::text END;
BEGIN
    RETURN md5(p_ordering || ' ' || q.is_test || ' ' || v_value)::uuid;
END $$;
COMMENT ON FUNCTION mailqueue.order_key(text, mailqueue.email_queue) IS
    'Hash of what ordered mail has in common by the ordering of its project; NULL: this mail is not ordered.';

-- Its place, and the wait for its turn: the run_at of the row is far in the future until then, as that of mail with a
-- custom SMTP server, so that claims do not read it.
CREATE OR REPLACE FUNCTION mailqueue.take_place(q mailqueue.email_queue, p_ordering text) RETURNS mailqueue.email_queue
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_key uuid := mailqueue.order_key(p_ordering, q);
BEGIN
    IF v_key IS NULL THEN
        RETURN q;
    END IF;
    PERFORM mailqueue.begin_order(q.project_id);
    INSERT INTO mailqueue.email_order (email_id, project_id, order_key, sequence_number, run_at)
    VALUES (q.id, q.project_id, v_key,
            coalesce((SELECT o.sequence_number FROM mailqueue.outbox_rows AS o WHERE o.id = q.id),
                     nextval('mailqueue.outbox_sequence')), q.run_at);
    INSERT INTO mailqueue.order_signals (project_id, order_key) VALUES (q.project_id, v_key);
    q.is_ordered := true;
    q.run_at := '9999-01-01 00:00+00';
    RETURN q;
END $$;
COMMENT ON FUNCTION mailqueue.take_place(mailqueue.email_queue, text) IS
    'A new row of the queue with its place in the order of its key, if it is ordered.';

-- In the order of p_ids. A mail that is queued again takes none.
CREATE OR REPLACE FUNCTION mailqueue.take_places(p_ids uuid[]) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    r record;
    q mailqueue.email_queue;
BEGIN
    FOR r IN SELECT e AS email, p.ordering
               FROM unnest(p_ids) WITH ORDINALITY AS i(id, n)
               JOIN mailqueue.email_queue AS e ON e.id = i.id
               JOIN mailqueue.projects AS p ON p.id = e.project_id
              WHERE p.ordering IS NOT NULL AND e.created_at = now()
                AND NOT EXISTS (SELECT FROM mailqueue.email_order AS o WHERE o.email_id = e.id) ORDER BY i.n LOOP
        q := mailqueue.take_place(r.email, r.ordering);
        UPDATE mailqueue.email_queue AS e SET is_ordered = true, run_at = q.run_at WHERE e.id = q.id AND q.is_ordered;
    END LOOP;
END $$;
COMMENT ON FUNCTION mailqueue.take_places(uuid[]) IS 'Give rows that were inserted with their content their places.';

CREATE OR REPLACE FUNCTION mailqueue.keep_places(p_ids uuid[]) RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    WITH kept AS (
        UPDATE mailqueue.email_order AS o SET blocked_by = NULL WHERE o.email_id = ANY (p_ids) RETURNING o.email_id
    )
    UPDATE mailqueue.email_queue AS e SET is_ordered = true FROM kept AS k WHERE e.id = k.email_id
$$;
COMMENT ON FUNCTION mailqueue.keep_places(uuid[]) IS
    'Give mail that is queued again its turn where it still has a place, because it blocked the others.';

-- For mail with a custom SMTP server, which workers of its own send.
CREATE OR REPLACE FUNCTION mailqueue.leave_order(p_ids uuid[]) RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    WITH gone AS (
        DELETE FROM mailqueue.email_order AS o WHERE o.email_id = ANY (p_ids) RETURNING o.email_id, o.run_at
    )
    UPDATE mailqueue.email_queue AS q SET is_ordered = NULL, run_at = g.run_at FROM gone AS g WHERE q.id = g.email_id
$$;
COMMENT ON FUNCTION mailqueue.leave_order(uuid[]) IS 'Take new mail out of the order of its key.';
