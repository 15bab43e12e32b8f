-- Actions of the API on one mail of a project.

-- No row if the project has no such mail; outcome NULL if its state does not allow the action.
CREATE OR REPLACE FUNCTION mailqueue.act_on_email(p_project uuid, p_id uuid, p_action text, p_reason text, p_by text)
RETURNS TABLE (outcome text, email_id uuid, state text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    email_id := p_id;
    SELECT e.status INTO state FROM (
        SELECT q.status, 0 AS place, NULL::timestamptz AS at FROM mailqueue.email_queue AS q
         WHERE q.id = p_id AND q.project_id = p_project AND coalesce(mailqueue.mode(), q.is_test) = q.is_test
        UNION ALL SELECT h.status, 1, h.finished_at FROM mailqueue.email_history AS h
                   WHERE h.id = p_id AND h.project_id = p_project
                     AND coalesce(mailqueue.mode(), h.is_test) = h.is_test) AS e
     ORDER BY e.place, e.at DESC LIMIT 1;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF p_action = 'cancel' THEN
        SELECT c.result INTO outcome FROM mailqueue.cancel_emails(p_project, ARRAY[p_id], p_reason) AS c;
    ELSIF p_action = 'release' THEN
        SELECT r.result INTO outcome FROM mailqueue.release_emails(p_project, ARRAY[p_id]) AS r;
    ELSIF p_action = 'resend' AND state = 'sent' THEN
        SELECT 'resent', r.new_id INTO outcome, email_id
          FROM mailqueue.resend_emails(p_project, ARRAY[p_id], p_reason) AS r;
    ELSIF p_action = 'resend' THEN
        SELECT r.result INTO outcome FROM mailqueue.requeue_emails(p_project, ARRAY[p_id]) AS r;
    END IF;
    IF outcome IS NOT NULL THEN
        PERFORM mailqueue.record_operation(p_project, 'emails.' || outcome, 'project ' || p.name,
                    jsonb_build_object('ids', jsonb_build_array(p_id), 'emails', 1, 'reason', p_reason), p_by)
           FROM mailqueue.projects AS p WHERE p.id = p_project;
    END IF;
    RETURN NEXT;
END $$;
COMMENT ON FUNCTION mailqueue.act_on_email(uuid, uuid, text, text, text) IS
    'Cancel, release or resend one mail of a project; mail that was not sent is queued again with its id.';
