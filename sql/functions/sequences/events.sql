-- Events that conditions and goals of sequences refer to.

-- Opens and clicks of programs that look at mail before its recipient does are left out.
CREATE OR REPLACE FUNCTION mailqueue.has_happened(e mailqueue.sequence_enrollments, p_condition jsonb) RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_types text[] := mailqueue.mail_event_types(p_condition ->> 'event');
BEGIN
    IF v_types IS NULL THEN
        RETURN EXISTS (SELECT FROM mailqueue.sequence_events AS v
                        WHERE v.contact_id = e.contact_id AND v.type = p_condition ->> 'event'
                          AND v.is_test = e.is_test AND v.occurred_at >= e.enrolled_at);
    END IF;
    RETURN EXISTS (SELECT FROM mailqueue.enrollment_steps AS d
                     JOIN mailqueue.email_events AS v ON v.email_id = d.email_id
                    WHERE d.enrollment_id = e.id AND d.step = coalesce(p_condition ->> 'step', d.step)
                      AND v.type = ANY (v_types) AND v.data ->> 'is_machine' IS DISTINCT FROM 'true');
END $$;
COMMENT ON FUNCTION mailqueue.has_happened(mailqueue.sequence_enrollments, jsonb) IS
    'Whether the event of a condition or goal happened since the contact was enrolled.';

CREATE OR REPLACE FUNCTION mailqueue.record_sequence_event(p_project uuid, p_email text, p_type text,
    p_is_test boolean, p_now timestamptz DEFAULT NULL)
RETURNS uuid[]
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_contact uuid;
    v_ids uuid[];
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(p_is_test);
    v_contact := mailqueue.contact_at(p_project, p_email, p_is_test);
    -- An event before the enrollment means nothing to it.
    v_ids := ARRAY(SELECT e.id FROM mailqueue.sequence_enrollments AS e
                    WHERE e.contact_id = v_contact AND e.is_test = p_is_test AND e.finished_at IS NULL ORDER BY e.id);
    IF v_ids <> '{}' THEN
        INSERT INTO mailqueue.sequence_events (project_id, contact_id, is_test, type, occurred_at)
        VALUES (p_project, v_contact, p_is_test, p_type, coalesce(p_now, clock_timestamp()));
        INSERT INTO mailqueue.enrollment_signals (enrollment_id, project_id)
        SELECT i.id, p_project FROM unnest(v_ids) AS i(id);
    END IF;
    RETURN v_ids;
END $$;
COMMENT ON FUNCTION mailqueue.record_sequence_event(uuid, text, text, boolean, timestamptz) IS
    'Record an event for the enrollments of the contact of an address, which a worker looks at again; returns their '
    'ids.';
