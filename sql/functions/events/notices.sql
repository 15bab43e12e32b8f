-- Notices for administrators go by email to notices_to of the project, and to its webhooks.

-- Without an address of the recipient: it stands in the email, which people with the right to read it see.
CREATE OR REPLACE FUNCTION mailqueue.notice_line(n mailqueue.notices, p_sender text) RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT concat_ws(', ', format('%s: %s', mailqueue.shown(n.noticed_at), n.told), 'sender ' || p_sender,
                     'email ' || n.email_id)
$$;
COMMENT ON FUNCTION mailqueue.notice_line(mailqueue.notices, text) IS 'A notice in one line, for people.';

-- p_notices: of one cause, the oldest first.
CREATE OR REPLACE FUNCTION mailqueue.notice_email(p_project text, p_sender text, p_notices mailqueue.notices[])
RETURNS TABLE (subject text, body text)
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT format('%s: %s', p_project,
                  CASE WHEN cardinality(p_notices) = 1 THEN left(p_notices[1].told, 200)
                       ELSE format('%s notices (%s)', cardinality(p_notices), p_notices[1].kind) END),
           format(E'Notices of project %s:\n\n%s\n%s\nList and acknowledge them: mailqueue event notices --project %s\n'
                  'At most one such email is sent per hour for each cause.\n',
                  p_project,
                  (SELECT string_agg('- ' || mailqueue.notice_line(n, p_sender), E'\n' ORDER BY n.noticed_at, n.id)
                     FROM unnest(p_notices[:20]) AS n),
                  CASE WHEN cardinality(p_notices) > 20
                            THEN format(E'and %s more\n', cardinality(p_notices) - 20) ELSE '' END,
                  p_project)
$$;
COMMENT ON FUNCTION mailqueue.notice_email(text, text, mailqueue.notices[]) IS
    'Subject and text of the email about notices of one cause.';

-- Formats of providers have no event for it.
CREATE OR REPLACE FUNCTION mailqueue.noticed_webhooks(p_project uuid) RETURNS SETOF uuid
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT w.id FROM mailqueue.subscribed_webhooks(p_project, 'project.notice') AS s(id)
      JOIN mailqueue.webhooks AS w ON w.id = s.id AND w.format = 'mailqueue'
$$;
COMMENT ON FUNCTION mailqueue.noticed_webhooks(uuid) IS 'Webhooks of a project that get notices for administrators.';

CREATE OR REPLACE FUNCTION mailqueue.queue_notice_deliveries(p_project uuid, p_name text, p_sender text,
    p_notices mailqueue.notices[])
RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    WITH event AS (
        INSERT INTO mailqueue.webhook_events (id, project_id, type, occurred_at, payload, is_test)
        SELECT x.id, p_project, 'project.notice', x.noticed_at,
               mailqueue.webhook_payload('project.notice', x.noticed_at, x.id, p_project, p_name,
                   p_notices[1].email_id, NULL, 0, NULL, NULL, NULL, NULL, p_sender, NULL, NULL,
                   p_notices[1].told, p_notices[1].kind, 'mailqueue', NULL, false), false
          FROM (SELECT mailqueue.uuidv7() AS id, p_notices[1].noticed_at) AS x
         WHERE EXISTS (SELECT FROM mailqueue.noticed_webhooks(p_project))
        RETURNING id
    )
    INSERT INTO mailqueue.webhook_deliveries (project_id, webhook_id, event_id, type, is_test)
    SELECT p_project, w.id, e.id, 'project.notice', false
      FROM event AS e, mailqueue.noticed_webhooks(p_project) AS w(id)
$$;
COMMENT ON FUNCTION mailqueue.queue_notice_deliveries(uuid, text, text, mailqueue.notices[]) IS
    'Queue deliveries of one event about notices of one cause to the webhooks that subscribe to it.';

-- The row of the cause is locked until the end, so that one of two workers sends. An email that cannot be queued is
-- tried again after an hour, for a day; webhooks get it once.
CREATE OR REPLACE FUNCTION mailqueue.send_notices_of_cause(p_project uuid, p_name text, p_to text, p_sender text,
    p_notices mailqueue.notices[])
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_ids bigint[] := ARRAY(SELECT n.id FROM unnest(p_notices) AS n);
    v_now timestamptz := clock_timestamp();
    v_email uuid;
    v_error text;
BEGIN
    INSERT INTO mailqueue.notice_causes AS c (project_id, kind, sender_account_id, told_at)
    VALUES (p_project, p_notices[1].kind, coalesce(p_notices[1].sender_account_id, 0), v_now)
    ON CONFLICT (project_id, kind, sender_account_id) DO UPDATE SET told_at = v_now
     WHERE c.told_at <= v_now - interval '1 h' OR c.told_at > v_now + interval '1 h';  -- a clock that was ahead
    IF NOT FOUND THEN
        UPDATE mailqueue.notices AS n SET due_at = c.told_at + interval '1 h'
          FROM mailqueue.notice_causes AS c
         WHERE n.id = ANY (v_ids) AND c.project_id = p_project AND c.kind = n.kind
           AND c.sender_account_id = coalesce(n.sender_account_id, 0);
        RETURN false;
    END IF;
    IF p_to IS NOT NULL THEN
        BEGIN
            SELECT mailqueue.enqueue(p_name, p_to, e.subject, NULL, e.body,
                                     '{"tags": ["mailqueue.notice"], "priority": "high", "track_opens": false,
                                       "track_clicks": false, "unsubscribe": false}')
              INTO v_email FROM mailqueue.notice_email(p_name, p_sender, p_notices) AS e;
        EXCEPTION WHEN OTHERS THEN
            v_error := left(SQLERRM, 1000);
        END;
    END IF;
    IF p_notices[1].told_error IS NULL THEN
        PERFORM mailqueue.queue_notice_deliveries(p_project, p_name, p_sender, p_notices);
    END IF;
    UPDATE mailqueue.notices AS n
       SET told_in = v_email, told_error = v_error,
           due_at = CASE WHEN v_error IS NOT NULL AND n.noticed_at > v_now - interval '1 d'
                              THEN v_now + interval '1 h' END
     WHERE n.id = ANY (v_ids);
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.send_notices_of_cause(uuid, text, text, text, mailqueue.notices[]) IS
    'Send notices of one cause, or put them off because some were sent within the last hour; true if they were '
    'sent.';

-- Notices about emails of this kind are listed, but neither mailed nor sent to webhooks.
CREATE OR REPLACE FUNCTION mailqueue.send_notices() RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_ids bigint[] := ARRAY(SELECT n.id FROM mailqueue.notices AS n WHERE n.due_at <= clock_timestamp()
                             ORDER BY n.due_at, n.id LIMIT 1000 FOR NO KEY UPDATE SKIP LOCKED);
    v_sent integer := 0;
    g record;
BEGIN
    IF v_ids = '{}' THEN
        RETURN 0;  -- nearly always
    END IF;
    FOR g IN
        SELECT n.project_id, p.name, p.notices_to, a.name AS sender,
               array_agg(n ORDER BY n.noticed_at, n.id) AS notices
          FROM mailqueue.notices AS n
          JOIN mailqueue.projects AS p ON p.id = n.project_id AND p.deleted_at IS NULL
          LEFT JOIN mailqueue.sender_accounts AS a ON a.id = n.sender_account_id
         WHERE n.id = ANY (v_ids)
           AND NOT EXISTS (SELECT FROM mailqueue.email_history AS h
                            WHERE h.id = n.email_id AND 'mailqueue.notice' = ANY (h.tags))
           AND (p.notices_to IS NOT NULL
                OR EXISTS (SELECT FROM mailqueue.noticed_webhooks(n.project_id)))
         GROUP BY n.project_id, p.name, p.notices_to, n.kind, n.sender_account_id, a.name
         ORDER BY n.project_id, n.kind, n.sender_account_id
    LOOP
        v_sent := v_sent
            + mailqueue.send_notices_of_cause(g.project_id, g.name, g.notices_to, g.sender, g.notices)::integer;
        v_ids := ARRAY(SELECT i FROM unnest(v_ids) AS i EXCEPT SELECT n.id FROM unnest(g.notices) AS n);
    END LOOP;
    UPDATE mailqueue.notices AS n SET due_at = NULL WHERE n.id = ANY (v_ids);
    RETURN v_sent;
END $$;
COMMENT ON FUNCTION mailqueue.send_notices() IS
    'Mail new notices to notices_to of their projects and queue them for webhooks, at most once an hour for each '
    'cause; returns the number of causes. Workers call it every few seconds.';
