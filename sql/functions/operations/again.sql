-- Moving queued mail to another lane, and sending mail again.

CREATE OR REPLACE FUNCTION mailqueue.reprioritise_emails(p_project uuid, p_ids uuid[], p_priority smallint)
RETURNS TABLE (id uuid, result text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    IF p_priority IS NULL OR p_priority NOT BETWEEN 0 AND 3 THEN
        PERFORM mailqueue.refuse('priority',
                                 format('0 (critical), 1 (high), 2 (normal) or 3 (low), got %s',
                                        coalesce(p_priority::text, 'none')));
    END IF;
    RETURN QUERY
    WITH moved AS (
        UPDATE mailqueue.email_queue AS q SET priority = p_priority, lane_id = n.id
          FROM mailqueue.lanes AS l
         CROSS JOIN LATERAL (SELECT x.id FROM mailqueue.lanes AS x
                              WHERE x.project_id = l.project_id AND x.priority = p_priority
                                AND x.route IN (l.route, l.home_route)
                              ORDER BY x.route = l.route DESC LIMIT 1) AS n
         WHERE q.id = ANY (p_ids) AND q.project_id = p_project AND q.priority <> p_priority AND l.id = q.lane_id
        RETURNING q.id, q.lane_id, q.run_at, q.status
    ), signalled AS (
        INSERT INTO mailqueue.lane_signals (lane_id, due_at)
        SELECT m.lane_id, min(m.run_at) FROM moved AS m WHERE m.status = 'pending' GROUP BY m.lane_id
    )
    SELECT m.id, 'moved'::text FROM moved AS m;
    PERFORM mailqueue.wake_workers();
END $$;
COMMENT ON FUNCTION mailqueue.reprioritise_emails(uuid, uuid[], smallint) IS
    'Move unfinished mail to the lane of another priority of the same route. Assigned mail moves if it returns to the'
    ' queue.';

-- Routing rules choose among accounts when mail is accepted, and not here.
CREATE OR REPLACE FUNCTION mailqueue.lanes_to(p_project uuid, p_sender text) RETURNS integer[]
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_lanes integer[] := ARRAY(SELECT l.id FROM mailqueue.lanes AS l
                                WHERE l.project_id = p_project AND l.route = coalesce(p_sender, '')
                                  AND l.home_route IS NULL AND l.rule_id IS NULL);
BEGIN
    IF v_lanes = '{}' OR p_sender LIKE '(%' OR p_sender = '' THEN
        PERFORM mailqueue.refuse('to', format('this project has no sender account %s',
                                              to_json(left(p_sender, 100))));
    END IF;
    RETURN v_lanes;
END $$;
COMMENT ON FUNCTION mailqueue.lanes_to(uuid, text) IS
    'The lanes of a named sender account, or of any for NULL, to which mail can be moved; raises 22023 if there are '
    'none.';

CREATE OR REPLACE FUNCTION mailqueue.move_emails(p_project uuid, p_ids uuid[], p_sender text)
RETURNS TABLE (id uuid, result text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_lanes integer[];
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    v_lanes := mailqueue.lanes_to(p_project, p_sender);
    RETURN QUERY
    WITH moved AS (
        UPDATE mailqueue.email_queue AS q SET lane_id = l.id
          FROM mailqueue.lanes AS l
         WHERE q.id = ANY (p_ids) AND q.project_id = p_project AND q.status IN ('pending', 'held')
           AND NOT q.is_test AND coalesce(mailqueue.mode(), false) = q.is_test
           AND (q.run_at < '9000-01-01' OR q.is_ordered)     -- beyond: it has a custom SMTP server
           AND l.id = ANY (v_lanes) AND l.priority = q.priority AND l.id <> q.lane_id
        RETURNING q.id, q.lane_id, q.run_at, q.status
    ), signalled AS (
        INSERT INTO mailqueue.lane_signals (lane_id, due_at)
        SELECT m.lane_id, min(m.run_at) FROM moved AS m WHERE m.status = 'pending' GROUP BY m.lane_id
    )
    SELECT m.id, 'moved'::text FROM moved AS m;
    PERFORM mailqueue.wake_workers();
END $$;
COMMENT ON FUNCTION mailqueue.move_emails(uuid, uuid[], text) IS
    'Send pending and held mail by a named sender account, or by any for NULL. Test mail, and mail for a custom SMTP '
    'server, stays where it is.';

-- Of recipients of mail that was not sent, those that it still has to be sent to; of test mail none.
CREATE OR REPLACE FUNCTION mailqueue.still_suppressed(p_project uuid, p_ids uuid[])
RETURNS TABLE (id uuid, reason text)
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
    SELECT h.id, min(a.reason) FROM (
        SELECT DISTINCT ON (x.id) x.id, x.status, x.recipient_email, x.category FROM mailqueue.email_history AS x
         WHERE x.id = ANY (p_ids) AND x.project_id = p_project AND NOT x.is_test
         ORDER BY x.id, x.finished_at DESC) AS h
     CROSS JOIN LATERAL (
            SELECT mailqueue.suppressed(p_project, r.address, h.category) AS reason FROM mailqueue.email_recipients AS r
             WHERE r.email_id = h.id AND (h.status = 'sent' OR r.status <> 'sent')
            UNION ALL
            SELECT mailqueue.suppressed(p_project, h.recipient_email, h.category)
             WHERE NOT EXISTS (SELECT FROM mailqueue.email_recipients AS r WHERE r.email_id = h.id)) AS a
     GROUP BY h.id HAVING bool_and(a.reason IS NOT NULL)
$$;
COMMENT ON FUNCTION mailqueue.still_suppressed(uuid, uuid[]) IS
    'Finished mail of a project that cannot be sent again now, because all of its recipients are suppressed, and why.';

CREATE OR REPLACE FUNCTION mailqueue.suppressed_recipients(p_project uuid, p_id uuid)
RETURNS TABLE (address text)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    IF NOT EXISTS (SELECT FROM mailqueue.still_suppressed(p_project, ARRAY[p_id])) THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT x.address FROM (
        SELECT DISTINCT ON (e.id) e.id, e.status, e.recipient_email FROM mailqueue.email_history AS e
         WHERE e.id = p_id AND e.project_id = p_project
         ORDER BY e.id, e.finished_at DESC) AS h
     CROSS JOIN LATERAL (
            SELECT r.address FROM mailqueue.email_recipients AS r
             WHERE r.email_id = h.id AND (h.status = 'sent' OR r.status <> 'sent')
            UNION
            SELECT h.recipient_email
             WHERE NOT EXISTS (SELECT FROM mailqueue.email_recipients AS r WHERE r.email_id = h.id)) AS x
     ORDER BY x.address;
END $$;
COMMENT ON FUNCTION mailqueue.suppressed_recipients(uuid, uuid) IS
    'Recipients of finished mail of a project that cannot be sent again now, because all of them are suppressed; else '
    'none.';

-- Its content is shared with the old mail; suppression of its recipients is checked again. Mail all of whose recipients
-- are suppressed is left out.
CREATE OR REPLACE FUNCTION mailqueue.resend_emails(p_project uuid, p_ids uuid[], p_reason text DEFAULT NULL)
RETURNS TABLE (id uuid, new_id uuid)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_old uuid[];
    v_new uuid[];
    v_suppressed uuid[] := ARRAY(SELECT s.id FROM mailqueue.still_suppressed(p_project, p_ids) AS s);
BEGIN
    -- It must not be archived meanwhile.
    PERFORM FROM mailqueue.email_contents AS c
      WHERE (c.id, c.created_on) IN (SELECT h.content_id, h.content_on FROM mailqueue.email_history AS h
                                      WHERE h.id = ANY (p_ids) AND h.project_id = p_project) ORDER BY c.id
       FOR KEY SHARE;
    SELECT array_agg(s.id), array_agg(mailqueue.uuidv7()) INTO v_old, v_new FROM (
        SELECT DISTINCT h.id FROM mailqueue.email_history AS h
         WHERE h.id = ANY (p_ids) AND h.project_id = p_project AND h.status IN ('sent', 'suppressed')
           AND EXISTS (SELECT FROM mailqueue.email_contents AS c
                        WHERE c.id = h.content_id AND c.created_on = h.content_on)
           AND h.id <> ALL (v_suppressed)
         ORDER BY h.id) AS s;
    IF v_old IS NULL THEN
        RETURN;
    END IF;
    PERFORM mailqueue.check_room(p_project, cardinality(v_new));
    INSERT INTO mailqueue.email_recipients (email_id, position, project_id, kind, address, name)
    SELECT p.new_id, r.position, r.project_id, r.kind, r.address, r.name
      FROM unnest(v_old, v_new) AS p(old_id, new_id) JOIN mailqueue.email_recipients AS r ON r.email_id = p.old_id;
    INSERT INTO mailqueue.email_queue (id, project_id, project, lane_id, created_at, expires_at, recipients,
        recipient_email, recipient_name, content_id, content_on, is_test,
        [[KEPT_COLUMNS BUT expires_at, idempotency_key]])
    SELECT p.new_id, h.project_id, NULL, h.lane_id, now(), now() + interval '4 days',
           greatest(1, (SELECT count(*) FROM mailqueue.email_recipients AS r WHERE r.email_id = p.new_id)),
           h.recipient_email, h.recipient_name, h.content_id, h.content_on, h.is_test,
           [[h.KEPT_COLUMNS BUT expires_at, idempotency_key]]
      FROM unnest(v_old, v_new) AS p(old_id, new_id)
      JOIN mailqueue.email_history AS h ON h.id = p.old_id AND h.status IN ('sent', 'suppressed');
    PERFORM mailqueue.accept_rows(v_new);
    INSERT INTO mailqueue.email_events (project_id, email_id, type, detail, is_test)
    SELECT p_project, p.new_id, 'queued', format('resent from %s%s', p.old_id, ': ' || p_reason),
           mailqueue.is_test_email(p.new_id)
      FROM unnest(v_old, v_new) AS p(old_id, new_id);
    RETURN QUERY SELECT p.old_id, p.new_id FROM unnest(v_old, v_new) AS p(old_id, new_id);
END $$;
COMMENT ON FUNCTION mailqueue.resend_emails(uuid, uuid[], text) IS
    'Send mail again, each as a new mail with the same content; returns old and new ids. Mail without content,'
    ' and mail all of whose recipients are suppressed, is left out.';

CREATE OR REPLACE FUNCTION mailqueue.wake_workers() RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF EXISTS (SELECT FROM mailqueue.waiters AS w WHERE w.queue = 'email_queue') THEN
        PERFORM pg_notify('mailqueue_email_queue', '');
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.wake_workers() IS 'Wake idle workers by NOTIFY: there may be mail to claim.';
