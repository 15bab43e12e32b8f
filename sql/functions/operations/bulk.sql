-- Operator actions on all mail that matches a filter: in batches with a transaction each, and one audit row in total.

-- States that each action applies to, and its name in the audit. is_finished: it searches email_history.
CREATE OR REPLACE FUNCTION mailqueue.operation_verb(p_verb text, OUT action text, OUT statuses text[],
    OUT is_finished boolean)
LANGUAGE sql IMMUTABLE
AS $$
    SELECT v.action, v.statuses, v.is_finished FROM (VALUES
        ('hold', 'emails.held', '{pending}'::text[], false),
        ('release', 'emails.released', '{held}', false),
        ('cancel', 'emails.cancelled', '{pending,held,assigned}', false),
        ('reprioritise', 'emails.reprioritised', '{pending,held,assigned}', false),
        ('move', 'emails.moved', '{pending,held}', false),
        ('requeue', 'emails.requeued', '{failed,expired,cancelled}', true),
        ('resend', 'emails.resent', '{sent}', true),
        ('set_aside', 'emails.set_aside', '{pending}', false)
    ) AS v(verb, action, statuses, is_finished) WHERE v.verb = p_verb
$$;
COMMENT ON FUNCTION mailqueue.operation_verb(text) IS 'Audit name and states of an operator action.';

-- p_argument: {"reason": …}, {"priority": …} or {"to": sender account}; p_by: the operator, if it is not the login.
CREATE OR REPLACE FUNCTION mailqueue.begin_operation(p_verb text, p_filter jsonb, p_argument jsonb,
    p_by text DEFAULT NULL)
RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v record;
    v_now timestamptz := clock_timestamp();
BEGIN
    PERFORM mailqueue.check_operation(p_verb, p_filter, p_argument, v_now);
    SELECT * INTO v FROM mailqueue.operation_verb(p_verb);
    RETURN mailqueue.record_operation((mailqueue.read_filter(p_filter, v_now)).project_id, v.action,
        'project ' || (p_filter ->> 'project'),
        jsonb_build_object('verb', p_verb, 'filter', p_filter, 'emails', 0) || coalesce(p_argument, '{}'), p_by);
END $$;
COMMENT ON FUNCTION mailqueue.begin_operation(text, jsonb, jsonb, text) IS
    'Record the start of an operation on all matching mail; returns its number for continue_operation().';

CREATE OR REPLACE FUNCTION mailqueue.record_operation(p_project uuid, p_action text, p_subject text, p_detail jsonb,
    p_by text DEFAULT NULL)
RETURNS bigint
LANGUAGE sql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    INSERT INTO mailqueue.audit_events (project_id, actor, action, subject, detail)
    VALUES (p_project, session_user || coalesce(' (' || left(p_by, 200) || ')', ''), p_action, p_subject, p_detail)
    RETURNING id
$$;
COMMENT ON FUNCTION mailqueue.record_operation(uuid, text, text, jsonb, text) IS
    'Write one audit row; returns its number.';

CREATE OR REPLACE FUNCTION mailqueue.check_operation(p_verb text, p_filter jsonb, p_argument jsonb, p_now timestamptz)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v record;
    f record;
BEGIN
    SELECT * INTO v FROM mailqueue.operation_verb(p_verb);
    SELECT * INTO f FROM mailqueue.read_filter(p_filter, p_now);
    IF v.action IS NULL THEN
        PERFORM mailqueue.refuse('verb', format('there is no operation %s', to_json(left(p_verb, 100))));
    ELSIF f.status <> ALL (v.statuses) THEN
        PERFORM mailqueue.refuse('status',
                                 format('%s takes mail that is %s, got %s', p_verb, array_to_string(v.statuses, ', '),
                                        to_json(left(f.status, 100))));
    ELSIF p_verb = 'reprioritise' AND mailqueue.priority_named(p_argument ->> 'priority') IS NULL THEN
        PERFORM mailqueue.refuse('priority',
                                 format('critical, high, normal or low, got %s',
                                        coalesce(to_json(left(p_argument ->> 'priority', 100))::text, 'none')));
    ELSIF p_verb = 'move' THEN
        PERFORM mailqueue.lanes_to(f.project_id, p_argument ->> 'to');
    END IF;
    PERFORM mailqueue.check_text('reason', p_argument ->> 'reason', 500);
END $$;
COMMENT ON FUNCTION mailqueue.check_operation(text, jsonb, jsonb, timestamptz) IS
    'Raise an error for an invalid operation, naming the field.';

CREATE OR REPLACE FUNCTION mailqueue.pick_for_operation(p_verb text, p_filter jsonb, p_argument jsonb,
    p_now timestamptz, p_after uuid, p_most integer)
RETURNS uuid[]
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v record;
BEGIN
    SELECT * INTO v FROM mailqueue.operation_verb(p_verb);
    IF v.is_finished THEN
        RETURN mailqueue.pick_finished(p_filter, p_now, v.statuses, p_after, p_most);
    END IF;
    RETURN mailqueue.pick_queued(p_filter, p_now, v.statuses, p_after, p_most,
                                 mailqueue.priority_named(p_argument ->> 'priority'), NULL,
                                 CASE p_verb WHEN 'move'
                                      THEN mailqueue.lanes_to(mailqueue.project_named(p_filter ->> 'project'),
                                                              p_argument ->> 'to') END);
END $$;
COMMENT ON FUNCTION mailqueue.pick_for_operation(text, jsonb, jsonb, timestamptz, uuid, integer) IS
    'Ids of the mails that an operation applies to, up to a limit, after an id.';

CREATE OR REPLACE FUNCTION mailqueue.count_matching(p_verb text, p_filter jsonb, p_argument jsonb DEFAULT '{}')
RETURNS integer
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_ids uuid[];
    v_after uuid;
    v_count integer := 0;
BEGIN
    PERFORM mailqueue.check_operation(p_verb, p_filter, p_argument, v_now);
    LOOP
        v_ids := mailqueue.pick_for_operation(p_verb, p_filter, p_argument, v_now, v_after, 10000);
        v_count := v_count + cardinality(v_ids);
        EXIT WHEN cardinality(v_ids) < 10000;
        v_after := v_ids[10000];
    END LOOP;
    RETURN v_count;
END $$;
COMMENT ON FUNCTION mailqueue.count_matching(text, jsonb, jsonb) IS
    'Number of mails that an operation would change. Changes nothing.';

-- Locks those of these mails that are still in the states; a row locked by a worker is left to the next pass, not
-- waited for.
CREATE OR REPLACE FUNCTION mailqueue.lock_queued(p_ids uuid[], p_statuses text[]) RETURNS uuid[]
LANGUAGE sql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT coalesce(array_agg(k.id), '{}') FROM (
        SELECT q.id FROM mailqueue.email_queue AS q
         WHERE q.id = ANY (p_ids) AND q.status = ANY (p_statuses) ORDER BY q.id FOR NO KEY UPDATE SKIP LOCKED) AS k
$$;
COMMENT ON FUNCTION mailqueue.lock_queued(uuid[], text[]) IS
    'Lock queued mails in id order; returns those that could be locked.';

-- One batch of an operation. next_after NULL: the pass is complete; repeat passes until nothing changes. The settings
-- apply to everything it calls: a thousand ids are looked up by index, whatever the planner's statistics.
CREATE OR REPLACE FUNCTION mailqueue.continue_operation(p_operation bigint, p_after uuid, p_most integer,
    OUT done integer, OUT next_after uuid)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
DECLARE
    o record;
    v record;
    v_ids uuid[];
BEGIN
    SELECT a.project_id, a.occurred_at, a.detail, a.detail ->> 'verb' AS verb, a.detail ->> 'reason' AS reason INTO o
      FROM mailqueue.audit_events AS a WHERE a.id = p_operation FOR NO KEY UPDATE;
    SELECT * INTO v FROM mailqueue.operation_verb(o.verb);
    IF v.action IS NULL THEN
        PERFORM mailqueue.refuse('operation', format('%s is not an operation that can be continued', p_operation));
    ELSIF p_most IS NULL OR p_most NOT BETWEEN 1 AND 10000 THEN
        PERFORM mailqueue.refuse('most',
                                 format('1 to 10000 in one transaction, got %s', coalesce(p_most::text, 'null')));
    END IF;
    v_ids := mailqueue.pick_for_operation(o.verb, o.detail -> 'filter', o.detail, o.occurred_at, p_after, p_most);
    next_after := CASE WHEN cardinality(v_ids) = p_most THEN v_ids[p_most] END;
    IF NOT v.is_finished THEN
        v_ids := mailqueue.lock_queued(v_ids, v.statuses);
    END IF;
    SELECT count(*) INTO done FROM (
        SELECT 1 FROM mailqueue.hold_emails(o.project_id, v_ids, o.reason) WHERE o.verb = 'hold'
        UNION ALL SELECT 1 FROM mailqueue.release_emails(o.project_id, v_ids) WHERE o.verb = 'release'
        UNION ALL SELECT 1 FROM mailqueue.cancel_emails(o.project_id, v_ids, o.reason) WHERE o.verb = 'cancel'
        UNION ALL SELECT 1 FROM mailqueue.move_emails(o.project_id, v_ids, o.detail ->> 'to') WHERE o.verb = 'move'
        UNION ALL SELECT 1 FROM mailqueue.requeue_emails(o.project_id, v_ids) WHERE o.verb = 'requeue'
        UNION ALL SELECT 1 FROM mailqueue.resend_emails(o.project_id, v_ids, o.reason) WHERE o.verb = 'resend'
        UNION ALL SELECT 1
                    FROM mailqueue.reprioritise_emails(o.project_id, v_ids,
                                                       mailqueue.priority_named(o.detail ->> 'priority'))
                   WHERE o.verb = 'reprioritise'
        UNION ALL SELECT 1
                    FROM mailqueue.set_aside_emails(o.project_id, v_ids, o.detail ->> 'kind', o.detail ->> 'value')
                   WHERE o.verb = 'set_aside') AS handled;
    PERFORM mailqueue.count_operation(p_operation, done);
END $$;
COMMENT ON FUNCTION mailqueue.continue_operation(bigint, uuid, integer) IS
    'Apply an operation to its next batch of mails; returns the number changed and the id to continue after, NULL at '
    'the end of the pass.';

CREATE OR REPLACE FUNCTION mailqueue.operate_matching(p_verb text, p_filter jsonb, p_argument jsonb, p_dry_run boolean,
    p_most integer)
RETURNS integer
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF p_dry_run THEN
        RETURN mailqueue.count_matching(p_verb, p_filter, p_argument);
    END IF;
    RETURN (mailqueue.continue_operation(mailqueue.begin_operation(p_verb, p_filter, p_argument), NULL, p_most)).done;
END $$;
COMMENT ON FUNCTION mailqueue.operate_matching(text, jsonb, jsonb, boolean, integer) IS
    'One batch of an operation, or with p_dry_run the number of mails it applies to.';

CREATE OR REPLACE FUNCTION mailqueue.hold_matching(filter jsonb, reason text DEFAULT 'held by an operator',
    dry_run boolean DEFAULT false, most integer DEFAULT 1000) RETURNS integer
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$ SELECT mailqueue.operate_matching('hold', $1, jsonb_build_object('reason', $2), $3, $4) $$;
COMMENT ON FUNCTION mailqueue.hold_matching(jsonb, text, boolean, integer) IS
    'Hold pending mail that matches until it is released; returns the number held, limited for each call. Repeat '
    'until it returns 0.';

CREATE OR REPLACE FUNCTION mailqueue.release_matching(filter jsonb, reason text DEFAULT 'released by an operator',
    dry_run boolean DEFAULT false, most integer DEFAULT 1000) RETURNS integer
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$ SELECT mailqueue.operate_matching('release', $1, jsonb_build_object('reason', $2), $3, $4) $$;
COMMENT ON FUNCTION mailqueue.release_matching(jsonb, text, boolean, integer) IS
    'Return held mail that matches to its lanes; returns the number released, limited for each call.';

CREATE OR REPLACE FUNCTION mailqueue.cancel_matching(filter jsonb, reason text DEFAULT 'cancelled by an operator',
    dry_run boolean DEFAULT false, most integer DEFAULT 1000) RETURNS integer
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$ SELECT mailqueue.operate_matching('cancel', $1, jsonb_build_object('reason', $2), $3, $4) $$;
COMMENT ON FUNCTION mailqueue.cancel_matching(jsonb, text, boolean, integer) IS
    'Cancel unfinished mail that matches; returns the number cancelled, limited for each call. Assigned mail is '
    'stopped if it was not handed over yet.';

CREATE OR REPLACE FUNCTION mailqueue.requeue_matching(filter jsonb, reason text DEFAULT 'requeued by an operator',
    dry_run boolean DEFAULT false, most integer DEFAULT 1000) RETURNS integer
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$ SELECT mailqueue.operate_matching('requeue', $1, jsonb_build_object('reason', $2), $3, $4) $$;
COMMENT ON FUNCTION mailqueue.requeue_matching(jsonb, text, boolean, integer) IS
    'Queue failed, expired or cancelled mail that matches again, with the same ids; returns the number queued, '
    'limited for each call.';

CREATE OR REPLACE FUNCTION mailqueue.resend_matching(filter jsonb, reason text DEFAULT 'resent by an operator',
    dry_run boolean DEFAULT false, most integer DEFAULT 1000) RETURNS integer
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$ SELECT mailqueue.operate_matching('resend', $1, jsonb_build_object('reason', $2), $3, $4) $$;
COMMENT ON FUNCTION mailqueue.resend_matching(jsonb, text, boolean, integer) IS
    'Send mail again that was sent and matches, each as a new mail; returns their number. Unlike the others, a second'
    ' call affects the same mails again.';

CREATE OR REPLACE FUNCTION mailqueue.reprioritise_matching(filter jsonb, priority text,
    reason text DEFAULT 'moved by an operator', dry_run boolean DEFAULT false, most integer DEFAULT 1000)
RETURNS integer
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT mailqueue.operate_matching('reprioritise', $1, jsonb_build_object('priority', $2, 'reason', $3), $4, $5)
$$;
COMMENT ON FUNCTION mailqueue.reprioritise_matching(jsonb, text, text, boolean, integer) IS
    'Move unfinished mail that matches to the lanes of another priority; returns the number moved, limited for each '
    'call.';

CREATE OR REPLACE FUNCTION mailqueue.move_matching(filter jsonb, sender text,
    reason text DEFAULT 'moved by an operator', dry_run boolean DEFAULT false, most integer DEFAULT 1000)
RETURNS integer
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$ SELECT mailqueue.operate_matching('move', $1, jsonb_build_object('to', $2, 'reason', $3), $4, $5) $$;
COMMENT ON FUNCTION mailqueue.move_matching(jsonb, text, text, boolean, integer) IS
    'Let a named sender account, or any for NULL, send pending and held mail that matches; returns the number moved, '
    'limited for each call.';
