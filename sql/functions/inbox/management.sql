-- Events that manage mail: archive what retention says, send again what failed. Off unless the project allows them.

CREATE OR REPLACE FUNCTION mailqueue.note_management_event(p_inbox bigint, p_sender text) RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    UPDATE mailqueue.inbox_state AS i SET is_management = true
      FROM mailqueue.projects AS p
     WHERE i.id = p_inbox AND p.id = i.project_id AND NOT i.is_test
       AND i.type IN ('CleanUpSentEmailIntegrationEvent', 'ResendErrorEmailIntegrationEvent')
       AND p_sender = ANY (string_to_array(p.management_events, ','))
$$;
COMMENT ON FUNCTION mailqueue.note_management_event(bigint, text) IS
    'Mark an event that manages mail, if its project allows it from p_sender: sql, api or rabbitmq.';

-- Both tasks are of the installation. They archive and delete what retention says, and nothing else.
CREATE OR REPLACE FUNCTION mailqueue.clean_up_by_event(i mailqueue.inbox_state) RETURNS jsonb
LANGUAGE sql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    WITH due AS (
        UPDATE mailqueue.maintenance_tasks AS t SET run_at = least(t.run_at, clock_timestamp())
         WHERE t.id IN (SELECT o.id FROM mailqueue.maintenance_tasks AS o
                         WHERE o.task IN ('archive', 'retention') AND o.status = 'pending'
                         ORDER BY o.id FOR NO KEY UPDATE SKIP LOCKED)
        RETURNING t.task
    )
    SELECT jsonb_build_object('tasks', coalesce((SELECT jsonb_agg(d.task ORDER BY d.task) FROM due AS d), '[]'))
$$;
COMMENT ON FUNCTION mailqueue.clean_up_by_event(mailqueue.inbox_state) IS
    'Make the tasks archive and retention due now; one that is running already is left.';

-- emailIds: mail that failed or expired is queued again, held mail is released. filter: the same for mail that matches.
CREATE OR REPLACE FUNCTION mailqueue.resend_by_event(i mailqueue.inbox_state) RETURNS jsonb
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    c_most CONSTANT integer := 1000;                         -- emails of one event
    v_given jsonb;
    v_filter jsonb;
    v_finished uuid[];
    v_held uuid[];
    v_requeued integer;
    v_released integer;
BEGIN
    SELECT k.value INTO v_given FROM jsonb_each(i.payload) AS k
     WHERE translate(lower(k.key), '-_', '') = 'emailids' LIMIT 1;
    SELECT k.value INTO v_filter FROM jsonb_each(i.payload) AS k WHERE lower(k.key) = 'filter' LIMIT 1;
    IF num_nonnulls(nullif(v_given, 'null'), nullif(v_filter, 'null')) <> 1 THEN
        PERFORM mailqueue.refuse('payload', 'either emailIds or filter is needed');
    ELSIF nullif(v_given, 'null') IS NOT NULL THEN
        IF jsonb_typeof(v_given) <> 'array' OR jsonb_array_length(v_given) NOT BETWEEN 1 AND c_most
           OR EXISTS (SELECT FROM jsonb_array_elements(v_given) AS g
                       WHERE g #>> '{}' !~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$') THEN
            PERFORM mailqueue.refuse('emailIds', format('a list of 1 to %s ids of emails is needed', c_most));
        END IF;
        v_finished := ARRAY(SELECT DISTINCT g::uuid FROM jsonb_array_elements_text(v_given) AS g);
        v_finished := ARRAY(SELECT h.id FROM mailqueue.email_history AS h
                             WHERE h.id = ANY (v_finished) AND h.project_id = i.project_id AND NOT h.is_test
                               AND h.status IN ('failed', 'expired'));
        v_held := ARRAY(SELECT g::uuid FROM jsonb_array_elements_text(v_given) AS g);
    ELSE
        v_filter := mailqueue.filter_in_project(i.project_id, v_filter);
        v_finished := mailqueue.pick_finished(v_filter, i.received, '{failed,expired}', NULL, c_most);
        v_held := mailqueue.pick_queued(v_filter, i.received, '{held}', NULL, c_most);
    END IF;
    v_held := mailqueue.lock_queued(v_held, '{held}');
    SELECT count(*) INTO v_requeued FROM mailqueue.requeue_emails(i.project_id, v_finished);
    SELECT count(*) INTO v_released FROM mailqueue.release_emails(i.project_id, v_held);
    RETURN jsonb_build_object('requeued', v_requeued, 'released', v_released,
                              'is_complete', greatest(cardinality(v_finished), cardinality(v_held)) < c_most);
END $$;
COMMENT ON FUNCTION mailqueue.resend_by_event(mailqueue.inbox_state) IS
    'Queue failed and expired mail again and release held mail, by ids or by a filter, whatever attempts it had; at '
    'most 1,000 of each for one event.';

CREATE OR REPLACE FUNCTION mailqueue.manage_by_event(i mailqueue.inbox_state) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_done jsonb;
    v_fault text;
BEGIN
    BEGIN
        IF i.type = 'CleanUpSentEmailIntegrationEvent' THEN
            v_done := mailqueue.clean_up_by_event(i);
        ELSE
            v_done := mailqueue.resend_by_event(i);
        END IF;
    EXCEPTION WHEN data_exception OR integrity_constraint_violation OR program_limit_exceeded
                   OR feature_not_supported OR syntax_error THEN
        v_fault := left(SQLERRM, 1000);
    END;
    UPDATE mailqueue.inbox_state AS o
       SET status = CASE WHEN v_fault IS NULL THEN 'handled' ELSE 'failed' END,
           reason = coalesce(v_fault, CASE WHEN v_done ? 'tasks' THEN 'archive and retention are due'
                                           ELSE format('%s emails were queued again, %s held emails released%s',
                                                       v_done ->> 'requeued', v_done ->> 'released',
                                                       CASE WHEN (v_done ->> 'is_complete')::boolean THEN ''
                                                            ELSE '; more may match: send another event' END) END),
           consumed = coalesce(o.consumed, clock_timestamp()),
           delivered = CASE WHEN v_fault IS NULL THEN clock_timestamp() END
     WHERE o.id = i.id;
    IF v_fault IS NULL THEN
        PERFORM mailqueue.record_operation(
                    i.project_id, CASE WHEN v_done ? 'tasks' THEN 'emails.cleaned_up' ELSE 'emails.resent_by_event' END,
                    'event ' || i.message_id,
                    v_done || jsonb_strip_nulls(jsonb_build_object('payload', CASE WHEN v_done ? 'tasks' THEN NULL
                                                                                   ELSE i.payload END)));
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.manage_by_event(mailqueue.inbox_state) IS
    'Do what an event that manages mail asks for, and write it to the audit log.';
