-- Goals that are events of mail: an enrollment is looked at again as soon as its goal is recorded.

CREATE OR REPLACE FUNCTION mailqueue.mail_event_types(p_event text) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE p_event WHEN 'delivered' THEN '{delivered}' WHEN 'opened' THEN '{opened}'
                        WHEN 'clicked' THEN '{clicked}' WHEN 'bounced' THEN '{hard_bounce,soft_bounce}' END::text[]
$$;
COMMENT ON FUNCTION mailqueue.mail_event_types(text) IS
    'Types in email_events that an event of a condition or goal means; NULL: it is no event of mail.';

-- Rows of enrollments that another transaction is removing are left out: no event waits for them.
CREATE OR REPLACE FUNCTION mailqueue.signal_goals(p_emails uuid[], p_types text[]) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
DECLARE
    v_ids uuid[];
BEGIN
    v_ids := ARRAY(SELECT DISTINCT d.enrollment_id
                     FROM unnest(p_emails, p_types) AS i(email_id, type)
                     JOIN mailqueue.enrollment_steps AS d ON d.email_id = i.email_id
                     JOIN mailqueue.sequence_enrollments AS e ON e.id = d.enrollment_id
                     JOIN mailqueue.sequence_versions AS v ON v.sequence_id = e.sequence_id AND v.version = e.version
                    WHERE e.finished_at IS NULL AND i.type = ANY (mailqueue.mail_event_types(v.goal ->> 'event'))
                      AND d.step = coalesce(v.goal ->> 'step', d.step));
    IF v_ids = '{}' THEN
        RETURN;
    END IF;
    INSERT INTO mailqueue.enrollment_signals (enrollment_id, project_id)
    SELECT f.id, f.project_id
      FROM (SELECT e.id, e.project_id FROM mailqueue.sequence_enrollments AS e
             WHERE e.id = ANY (v_ids) AND e.finished_at IS NULL ORDER BY e.id FOR KEY SHARE SKIP LOCKED) AS f;
END $$;
COMMENT ON FUNCTION mailqueue.signal_goals(uuid[], text[]) IS
    'Have workers look at the enrollments again whose goal may be among these events of mail.';

CREATE OR REPLACE FUNCTION mailqueue.email_events_goals() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_emails uuid[];
    v_types text[];
BEGIN
    SELECT array_agg(i.email_id), array_agg(i.type) INTO v_emails, v_types FROM inserted AS i
     WHERE i.type IN ('delivered', 'opened', 'clicked', 'hard_bounce', 'soft_bounce')
       AND i.data ->> 'is_machine' IS DISTINCT FROM 'true';
    -- What is inserted is looked at first: it costs no page, and most mail is in no sequence.
    IF v_emails IS NOT NULL
       AND EXISTS (SELECT FROM mailqueue.sequence_versions AS v
                    WHERE v.goal ->> 'event' IN ('delivered', 'opened', 'clicked', 'bounced'))
       AND NOT mailqueue.is_restoring() THEN
        PERFORM mailqueue.signal_goals(v_emails, v_types);
    END IF;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.email_events_goals() IS
    'AFTER INSERT on email_events, for each statement: signal enrollments whose goal was reached.';

CREATE OR REPLACE TRIGGER email_events_goals AFTER INSERT ON mailqueue.email_events
    REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION mailqueue.email_events_goals();
