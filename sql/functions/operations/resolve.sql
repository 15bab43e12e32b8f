-- Mail in doubt, resolved by a person or by a later event.

CREATE OR REPLACE FUNCTION mailqueue.resolve_emails(p_project uuid, p_ids uuid[], p_was_sent boolean,
    p_note text DEFAULT NULL, p_by text DEFAULT NULL)
RETURNS TABLE (id uuid, result text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_words text := 'resolved by ' || session_user || coalesce(' (' || left(p_by, 200) || ')', '');
    v_ids uuid[];
BEGIN
    PERFORM mailqueue.check_text('note', p_note, 500);
    v_words := v_words || coalesce(': ' || p_note, '');
    SELECT array_agg(q.id) INTO v_ids FROM (
        SELECT q.id FROM mailqueue.email_queue AS q
         WHERE q.id = ANY (p_ids) AND q.project_id = p_project AND q.status = 'held'
           AND (q.unknowns > 0 OR q.last_error LIKE 'restored: %') ORDER BY q.id FOR UPDATE) AS q;
    IF v_ids IS NULL THEN
        RETURN;
    ELSIF p_was_sent THEN
        PERFORM mailqueue.finish_as_sent(v_ids, v_words);
        RETURN QUERY SELECT s.id, 'sent'::text FROM unnest(v_ids) AS s(id);
        RETURN;
    END IF;
    -- The count of unknown outcomes stays: the next one is held, whatever the policy of the mail.
    UPDATE mailqueue.email_queue AS q SET last_error = v_words || ', not sent' WHERE q.id = ANY (v_ids);
    INSERT INTO mailqueue.email_events (project_id, email_id, type, recipient_email, sender_account_id, detail, is_test)
    SELECT q.project_id, q.id, 'resolved', q.recipient_email, q.assigned_to, q.last_error, q.is_test
      FROM mailqueue.email_queue AS q WHERE q.id = ANY (v_ids);
    RETURN QUERY SELECT r.id, 'queued'::text FROM mailqueue.release_emails(p_project, v_ids) AS r;
    PERFORM mailqueue.wake_workers();
END $$;
COMMENT ON FUNCTION mailqueue.resolve_emails(uuid, uuid[], boolean, text, text) IS
    'Resolve held mail that may have been sent, or was held after a restore: sent finishes it, not sent queues it '
    'again.';

-- The Message-ID is the one that its attempts were logged with; a lost worker logged none.
CREATE OR REPLACE FUNCTION mailqueue.finish_as_sent(p_ids uuid[], p_words text) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.retire_emails(p_ids, NULL, array_fill('sent'::text, ARRAY[cardinality(p_ids)]),
        array_fill(p_words, ARRAY[cardinality(p_ids)]),
        (SELECT array_agg(m.message_id ORDER BY i.n) FROM unnest(p_ids) WITH ORDINALITY AS i(id, n)
           LEFT JOIN LATERAL (SELECT l.message_id FROM mailqueue.send_logs AS l
                               WHERE l.email_id = i.id AND l.message_id IS NOT NULL ORDER BY l.sent_at DESC
                               LIMIT 1) AS m
                                                                               ON true),
        NULL);
    INSERT INTO mailqueue.email_events (project_id, email_id, type, recipient_email, sender_account_id, detail, is_test)
    SELECT h.project_id, h.id, 'resolved', h.recipient_email, h.assigned_to, h.reason, h.is_test
      FROM mailqueue.email_history AS h
     WHERE h.id = ANY (p_ids) AND h.status = 'sent' AND h.reason = p_words;
END $$;
COMMENT ON FUNCTION mailqueue.finish_as_sent(uuid[], text) IS
    'Finish mail that no worker holds as sent, with the source of the evidence as its reason.';

-- p_reference: the id of the mail, or its Message-ID (which contains the id). An event of any attempt (delivered,
-- bounced, opened) shows that the mail was handed over. Mail that is being sent again at present cannot be stopped.
CREATE OR REPLACE FUNCTION mailqueue.resolve_by_evidence(p_reference text, p_evidence text) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_id uuid;
    q record;
BEGIN
    IF coalesce(p_evidence, '') = '' THEN
        PERFORM mailqueue.refuse('evidence', 'is needed: what shows that the mail was sent');
    END IF;
    PERFORM mailqueue.check_text('evidence', p_evidence, 500);
    v_id := substring(p_reference FROM '^<?([0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}'
                                       '-?[0-9a-fA-F]{12})(?:@|$)')::uuid;
    SELECT e.status, e.unknowns INTO q FROM mailqueue.email_queue AS e WHERE e.id = v_id FOR UPDATE;
    IF NOT FOUND THEN
        RETURN coalesce((SELECT 'unchanged: ' || h.status FROM mailqueue.email_history AS h WHERE h.id = v_id LIMIT 1),
                        'unknown');
    ELSIF q.status = 'assigned' OR q.unknowns = 0 THEN
        RETURN 'unchanged: ' || q.status;
    END IF;
    PERFORM mailqueue.finish_as_sent(ARRAY[v_id], 'resolved by evidence: ' || p_evidence);
    RETURN 'sent';
END $$;
COMMENT ON FUNCTION mailqueue.resolve_by_evidence(text, text) IS
    'Finish mail in doubt as sent, because an event or report about it was received: held mail, or mail waiting for '
    'its one resend. Returns the action.';
