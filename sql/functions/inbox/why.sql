-- What became of an event, as text, for mailqueue.why().

CREATE OR REPLACE FUNCTION mailqueue.why_event(p_message uuid) RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
    SELECT string_agg(
               format('event %s of project %s, %s at %s%s%s%s', i.type, p.name, i.status,
                      mailqueue.shown(coalesce(i.consumed, i.received)), ': ' || i.reason, d.words,
                      CASE WHEN i.receive_count > 1 THEN format('; delivered %s times', i.receive_count) END)
               || mailqueue.next_step('event', i.status, i.message_id, i.project_id), E'\n' ORDER BY i.id)
      FROM mailqueue.inbox_state AS i JOIN mailqueue.projects AS p ON p.id = i.project_id
      LEFT JOIN LATERAL (
            SELECT string_agg(format('; rule %s %s', a.rule,
                       CASE a.result WHEN 'mail' THEN 'made mail ' || a.email_id
                                     WHEN 'failed' THEN 'failed: ' || a.reason
                                     WHEN 'cancelled' THEN format('cancelled %s emails of key %s',
                                                                  cardinality(a.cancelled), to_json(a.key))
                                     WHEN 'enrolled' THEN coalesce('did not enroll the contact: ' || a.reason,
                                                                   'made enrollment ' || a.enrollment_ids[1])
                                     WHEN 'left' THEN format('ended %s enrollments', cardinality(a.enrollment_ids))
                                     WHEN 'recorded' THEN format('recorded it for %s enrollments',
                                                                 cardinality(a.enrollment_ids)) END),
                              '' ORDER BY a.id) AS words
              FROM mailqueue.inbox_actions AS a WHERE a.inbox_id = i.id) AS d ON true
     WHERE i.message_id = p_message AND i.project_id = coalesce(mailqueue.tenant(), i.project_id)
       AND i.is_test = coalesce(mailqueue.mode(), i.is_test)
$$;
COMMENT ON FUNCTION mailqueue.why_event(uuid) IS
    'What became of the event of a message, a line for each consumer; NULL if there is none.';
