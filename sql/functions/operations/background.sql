-- Operations on all mail of a project that matches a filter, carried out by workers: rows of bulk_operations.
--
-- Unlike continue_operation(), one batch searches a bounded number of queued mails, however few of them match. Its
-- changes and its progress are written in one transaction, by who holds the claim of the row.

CREATE OR REPLACE FUNCTION mailqueue.filter_in_project(p_project uuid, p_filter jsonb) RETURNS jsonb
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF p_filter IS NULL OR jsonb_typeof(p_filter) <> 'object' THEN
        PERFORM mailqueue.refuse('filter',
                                 format('an object is needed, got %s', coalesce(jsonb_typeof(p_filter), 'null')));
    ELSIF p_filter = '{}' THEN
        PERFORM mailqueue.refuse('filter', 'at least one condition is needed');
    ELSIF p_filter ? 'project' THEN
        PERFORM mailqueue.refuse('project', 'there is no such filter');
    END IF;
    RETURN p_filter || jsonb_build_object('project', (SELECT p.name FROM mailqueue.projects AS p
                                                       WHERE p.id = p_project));
END $$;
COMMENT ON FUNCTION mailqueue.filter_in_project(uuid, jsonb) IS
    'A filter of mails with the name of a project, as read_filter() takes it; at least one other condition is needed.';

CREATE OR REPLACE FUNCTION mailqueue.check_bulk_operation(p_project uuid, p_verb text, p_filter jsonb, p_reason text,
    p_to text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF p_verb IS NULL OR p_verb NOT IN ('hold', 'release', 'cancel', 'requeue', 'move') THEN
        PERFORM mailqueue.refuse('verb',
                                 format('hold, release, cancel, requeue or move, got %s',
                                        coalesce(to_json(left(p_verb, 100))::text, 'none')));
    ELSIF p_to IS NOT NULL AND p_verb <> 'move' THEN
        PERFORM mailqueue.refuse('to', 'is for a move');
    END IF;
    PERFORM mailqueue.check_operation(p_verb, mailqueue.filter_in_project(p_project, p_filter),
                                      jsonb_build_object('reason', p_reason, 'to', p_to), clock_timestamp());
END $$;
COMMENT ON FUNCTION mailqueue.check_bulk_operation(uuid, text, jsonb, text, text) IS
    'Raise 22023 for an operation that workers cannot carry out, naming the field.';

CREATE OR REPLACE FUNCTION mailqueue.begin_bulk_operation(p_project uuid, p_verb text, p_filter jsonb, p_reason text,
    p_by text, p_to text DEFAULT NULL) RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_id uuid := mailqueue.uuidv7();
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_bulk_operation(p_project, p_verb, p_filter, p_reason, p_to);
    -- Those of test keys are counted apart.
    IF (SELECT count(*) FROM (SELECT FROM mailqueue.bulk_operations AS o
                               WHERE o.project_id = p_project AND o.status IN ('pending', 'assigned')
                                 AND coalesce(o.is_test, false) = coalesce(mailqueue.mode(), false)
                               LIMIT 100) AS waiting) = 100 THEN
        RAISE object_in_use USING MESSAGE = 'the project has 100 operations that are not finished';
    END IF;
    INSERT INTO mailqueue.bulk_operations (id, project_id, verb, filter, to_sender, reason, requested_by, is_test)
    VALUES (v_id, p_project, p_verb, p_filter, p_to, coalesce(nullif(p_reason, ''), 'by an operator'),
            coalesce(left(p_by, 200), session_user), mailqueue.mode());
    PERFORM mailqueue.record_operation(p_project, 'operation.begun', 'operation ' || v_id,
                jsonb_build_object('verb', p_verb, 'filter', p_filter, 'reason', p_reason)
                || jsonb_strip_nulls(jsonb_build_object('to', p_to)), p_by);
    RETURN v_id;
END $$;
COMMENT ON FUNCTION mailqueue.begin_bulk_operation(uuid, text, jsonb, text, text, text) IS
    'Let workers hold, release, cancel or move all queued mail of a project that matches a filter, or queue what failed'
    ' again; p_to: the sender account of a move, NULL for any. Returns the id of the operation.';

-- Of all projects together in the order of the primary key, or of one project in the order of its index.
CREATE OR REPLACE FUNCTION mailqueue.operation_window(p_project uuid, p_is_finished boolean, p_after uuid,
    p_scan integer)
RETURNS uuid[]
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
AS $$
BEGIN
    IF p_is_finished THEN
        RETURN ARRAY(SELECT h.id FROM mailqueue.email_history AS h
                      WHERE h.project_id = p_project
                        AND h.id > coalesce(p_after, '00000000-0000-0000-0000-000000000000')
                      ORDER BY h.id LIMIT p_scan);
    END IF;
    RETURN ARRAY(SELECT q.id FROM mailqueue.email_queue AS q
                  WHERE q.id > coalesce(p_after, '00000000-0000-0000-0000-000000000000')
                  ORDER BY q.id LIMIT p_scan);
END $$;
COMMENT ON FUNCTION mailqueue.operation_window(uuid, boolean, uuid, integer) IS
    'Ids of the next mails that an operation searches: of all queued ones, or of the finished ones of a project.';

CREATE OR REPLACE FUNCTION mailqueue.pick_for_bulk(p_project uuid, p_verb text, p_filter jsonb, p_to text,
    p_now timestamptz, p_after uuid, p_until uuid, p_most integer)
RETURNS uuid[]
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_filter jsonb := mailqueue.filter_in_project(p_project, p_filter);
    v record;
BEGIN
    SELECT * INTO v FROM mailqueue.operation_verb(p_verb);
    IF v.is_finished THEN
        RETURN mailqueue.pick_finished(v_filter, p_now, v.statuses, p_after, p_most, p_until);
    END IF;
    RETURN mailqueue.pick_queued(v_filter, p_now, v.statuses, p_after, p_most, NULL, p_until,
                                 CASE p_verb WHEN 'move' THEN mailqueue.lanes_to(p_project, p_to) END);
END $$;
COMMENT ON FUNCTION mailqueue.pick_for_bulk(uuid, text, jsonb, text, timestamptz, uuid, uuid, integer) IS
    'Ids of the mails that an operation of workers changes, after an id and up to another.';

-- p_scan: queued mails that one batch searches at most, those of other projects included: the queue is read in the
-- order of its primary key. p_most: mails that it changes at most. The settings apply to everything that it calls.
CREATE OR REPLACE FUNCTION mailqueue.continue_bulk_operation(p_id uuid, p_claim bigint, p_scan integer, p_most integer)
RETURNS text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
DECLARE
    v_max_passes constant smallint := 5;  -- mail that workers held during a pass is found by the next one
    o record;
    v record;
    v_window uuid[];
    v_ids uuid[] := '{}';
    v_until uuid;
    v_searched integer := 0;
    v_matched integer := 0;
    v_done bigint := 0;
    v_is_pass_over boolean;
    v_is_over boolean;
BEGIN
    SELECT b.* INTO o FROM mailqueue.bulk_operations AS b
     WHERE b.id = p_id AND b.status = 'assigned' AND b.claim_no = p_claim FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 'lost';
    ELSIF o.stop_requested_at IS NOT NULL THEN
        RETURN 'stopped';
    ELSIF EXISTS (SELECT FROM mailqueue.bulk_operations AS b
                   WHERE b.project_id = o.project_id AND b.id < p_id AND b.status IN ('pending', 'assigned')
                     -- No mail is both test and live mail.
                     AND (b.is_test IS NULL OR o.is_test IS NULL OR b.is_test = o.is_test)
                     -- Later only by hand: no wait of the queue is as long.
                     AND (b.status = 'assigned' OR b.run_at <= now() + interval '1 hour')) THEN
        RETURN 'behind';
    END IF;
    -- What changes mail asks for the project and the mode that the transaction acts for.
    PERFORM set_config('mailqueue.project', o.project_id::text, true),
            set_config('mailqueue.mode', CASE o.is_test WHEN true THEN 'test' WHEN false THEN 'live' ELSE '' END, true);
    SELECT * INTO v FROM mailqueue.operation_verb(o.verb);
    v_window := mailqueue.operation_window(o.project_id, v.is_finished, o.searched_until, p_scan);
    v_is_pass_over := cardinality(v_window) < p_scan;
    IF v_window <> '{}' THEN
        v_until := v_window[cardinality(v_window)];
        v_ids := mailqueue.pick_for_bulk(o.project_id, o.verb, o.filter, o.to_sender, o.created_at, o.searched_until,
                                         v_until, p_most);
        IF cardinality(v_ids) = p_most AND v_ids[p_most] < v_until THEN
            v_until := v_ids[p_most];
            v_is_pass_over := false;
        END IF;
        v_searched := (SELECT count(*) FROM unnest(v_window) AS w(id) WHERE w.id <= v_until);
        v_matched := cardinality(v_ids);
        IF NOT v.is_finished THEN
            v_ids := mailqueue.lock_queued(v_ids, v.statuses);
        END IF;
    END IF;
    IF v_ids <> '{}' THEN
        SELECT count(*) INTO v_done FROM (
            SELECT 1 FROM mailqueue.hold_emails(o.project_id, v_ids, o.reason) WHERE o.verb = 'hold'
            UNION ALL SELECT 1 FROM mailqueue.release_emails(o.project_id, v_ids) WHERE o.verb = 'release'
            UNION ALL SELECT 1 FROM mailqueue.cancel_emails(o.project_id, v_ids, o.reason) WHERE o.verb = 'cancel'
            UNION ALL SELECT 1 FROM mailqueue.requeue_emails(o.project_id, v_ids) WHERE o.verb = 'requeue'
            UNION ALL SELECT 1 FROM mailqueue.move_emails(o.project_id, v_ids, o.to_sender) WHERE o.verb = 'move')
            AS handled;
    END IF;
    -- What another transaction has locked was skipped, and is left to the next pass. Mail that is queued again may fail
    -- again meanwhile: it gets one pass.
    v_is_over := v_is_pass_over AND (v.is_finished OR o.pass_emails + v_matched = 0 OR o.pass >= v_max_passes);
    UPDATE mailqueue.bulk_operations AS b
       SET searched = b.searched + v_searched, emails = b.emails + v_done,
           searched_until = CASE WHEN NOT v_is_pass_over THEN v_until END,
           pass = CASE WHEN v_is_pass_over AND NOT v_is_over THEN b.pass + 1 ELSE b.pass END,
           pass_emails = CASE WHEN v_is_pass_over THEN 0 ELSE b.pass_emails + v_matched END
     WHERE b.id = p_id;
    -- The second pass follows at once: as a rule it matches nothing.
    RETURN CASE WHEN v_is_over THEN 'done' WHEN v_is_pass_over AND o.pass > 1 THEN 'again' ELSE 'more' END;
END $$;
COMMENT ON FUNCTION mailqueue.continue_bulk_operation(uuid, bigint, integer, integer) IS
    'Search the next queued mails for an operation, change those that match and write its progress. Returns more, '
    'done, or again where the next pass should wait for what others have locked; stopped where an operator asked for '
    'it, behind where an earlier operation of the project is not finished, '
    'lost where the claim no longer holds.';

CREATE OR REPLACE FUNCTION mailqueue.end_bulk_operation(p_id uuid, p_state text, p_error text) RETURNS void
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT mailqueue.record_operation(o.project_id, 'operation.ended', 'operation ' || o.id,
               jsonb_strip_nulls(jsonb_build_object('verb', o.verb, 'filter', o.filter, 'emails', o.emails,
                   'state', p_state, 'requested_by', o.requested_by, 'stopped_by', o.stop_requested_by,
                   'error', p_error)))
      FROM mailqueue.bulk_operations AS o WHERE o.id = p_id AND o.status = 'assigned'
$$;
COMMENT ON FUNCTION mailqueue.end_bulk_operation(uuid, text, text) IS
    'Write the end of an operation to the audit log, in the transaction that settles its row.';

CREATE OR REPLACE FUNCTION mailqueue.stop_bulk_operation(p_project uuid, p_id uuid, p_by text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    UPDATE mailqueue.bulk_operations AS o
       SET stop_requested_by = coalesce(left(p_by, 200), session_user), stop_requested_at = clock_timestamp(),
           run_at = CASE o.status WHEN 'pending' THEN least(o.run_at, now()) ELSE o.run_at END
     WHERE o.id = p_id AND o.project_id = p_project AND o.status IN ('pending', 'assigned')
       AND o.stop_requested_at IS NULL AND (mailqueue.mode() IS NULL OR coalesce(o.is_test, false) = mailqueue.mode());
    IF FOUND THEN
        PERFORM mailqueue.record_operation(p_project, 'operation.stop_requested', 'operation ' || p_id, '{}', p_by);
    END IF;
    RETURN FOUND;
END $$;
COMMENT ON FUNCTION mailqueue.stop_bulk_operation(uuid, uuid, text) IS
    'Stop an operation after the batch that it works on; what it changed stays. False: it is over, or stops already.';

-- Both bounds keep it short: many matches, and few among many queued mails.
CREATE OR REPLACE FUNCTION mailqueue.preview_bulk_operation(p_project uuid, p_verb text, p_filter jsonb,
    p_max_emails integer, p_max_searched integer, p_examples integer, p_to text DEFAULT NULL,
    OUT emails integer, OUT searched integer, OUT is_complete boolean, OUT examples uuid[])
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
DECLARE
    v_step constant integer := 10000;
    v_now timestamptz := clock_timestamp();
    v_is_finished boolean := (mailqueue.operation_verb(p_verb)).is_finished;
    v_window uuid[];
    v_ids uuid[];
    v_after uuid;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_bulk_operation(p_project, p_verb, p_filter, NULL, p_to);
    emails := 0;
    searched := 0;
    is_complete := false;
    examples := '{}';
    WHILE emails <= p_max_emails AND searched < p_max_searched AND NOT is_complete LOOP
        v_window := mailqueue.operation_window(p_project, v_is_finished, v_after, v_step);
        is_complete := cardinality(v_window) < v_step;
        IF v_window <> '{}' THEN
            v_ids := mailqueue.pick_for_bulk(p_project, p_verb, p_filter, p_to, v_now, v_after,
                                             v_window[cardinality(v_window)], v_step);
            v_after := v_window[cardinality(v_window)];
            emails := emails + cardinality(v_ids);
            searched := searched + cardinality(v_window);
            examples := (examples || v_ids)[:p_examples];
        END IF;
    END LOOP;
    IF emails > p_max_emails THEN
        emails := p_max_emails;
        is_complete := false;
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.preview_bulk_operation(uuid, text, jsonb, integer, integer, integer, text) IS
    'Number of mails that an operation would change, and the ids of the first of them; is_complete: false where '
    'a bound was reached, and there may be more. Changes nothing.';
