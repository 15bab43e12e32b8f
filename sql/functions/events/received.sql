-- Bounce mail that a project received by the URL of a sender account, and the source of a bounce.

-- Processed mail that a rule ignored says so by p_rule, what is recorded of it then.
CREATE OR REPLACE FUNCTION mailqueue.state_of_bounce_mail(e mailqueue.inbound_events, p_rule text) RETURNS text
LANGUAGE sql STABLE
AS $$
    SELECT CASE WHEN e.status = 'processed' AND e.outcome -> 'unknown' ? p_rule THEN 'blocked'
                WHEN e.status = 'processed' THEN 'processed'
                WHEN e.status IN ('failed', 'unmatched') THEN 'failed'
                WHEN e.status = 'pending' AND (e.attempts > 0 OR e.waiting IS NOT NULL) THEN 'scheduled'
                ELSE 'queued' END
$$;
COMMENT ON FUNCTION mailqueue.state_of_bounce_mail(mailqueue.inbound_events, text) IS
    'State of bounce mail: queued, scheduled, processed, blocked or failed.';

-- By the index of bounce mail, whatever the statistics: a page must not read all of a project. Bodies are read of the
-- rows of the page alone.
CREATE OR REPLACE FUNCTION mailqueue.bounce_mail(p_project uuid, p_id uuid, p_state text, p_since timestamptz,
    p_until timestamptz, p_rule text, p_after uuid, p_before uuid, p_limit integer, p_offset integer)
    RETURNS TABLE (id uuid, received_at timestamptz, headers jsonb, query jsonb, body bytea, state text, error text)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_sort = off SET enable_bitmapscan = off SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_least constant uuid := coalesce(p_id, '00000000-0000-0000-0000-000000000000');
    v_most constant uuid := coalesce(p_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(false);
    IF p_before IS NOT NULL THEN
        RETURN QUERY
        SELECT e.id, e.received_at, e.headers, e.query, e.body, mailqueue.state_of_bounce_mail(e, p_rule), e.last_error
          FROM mailqueue.inbound_events AS e
         WHERE e.project_id = p_project AND e.provider = 'smtp' AND e.id > p_before AND e.id >= v_least
           AND e.id <= v_most AND e.id < coalesce(p_after, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
           AND (p_state IS NULL OR mailqueue.state_of_bounce_mail(e, p_rule) = p_state)
           AND (p_since IS NULL OR e.received_at >= p_since) AND (p_until IS NULL OR e.received_at <= p_until)
         ORDER BY e.id LIMIT p_limit OFFSET p_offset;
        RETURN;
    END IF;
    RETURN QUERY
    SELECT e.id, e.received_at, e.headers, e.query, e.body, mailqueue.state_of_bounce_mail(e, p_rule), e.last_error
      FROM mailqueue.inbound_events AS e
     WHERE e.project_id = p_project AND e.provider = 'smtp' AND e.id >= v_least AND e.id <= v_most
       AND e.id < coalesce(p_after, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
       AND (p_state IS NULL OR mailqueue.state_of_bounce_mail(e, p_rule) = p_state)
       AND (p_since IS NULL OR e.received_at >= p_since) AND (p_until IS NULL OR e.received_at <= p_until)
     ORDER BY e.id DESC LIMIT p_limit OFFSET p_offset;
END $$;
COMMENT ON FUNCTION mailqueue.bounce_mail(uuid, uuid, text, timestamptz, timestamptz, text, uuid, uuid, integer,
    integer) IS
    'A page of the bounce mail that came by the URLs of a project''s accounts: newest first, after one; or what is '
    'newer than p_before, oldest first. Parameters that are NULL do not filter.';

CREATE OR REPLACE FUNCTION mailqueue.count_bounce_mail(p_project uuid, p_state text, p_since timestamptz,
    p_until timestamptz, p_rule text) RETURNS bigint
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_bitmapscan = off SET enable_seqscan = off SET jit = off
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(false);
    RETURN (SELECT count(*) FROM (
                SELECT FROM mailqueue.inbound_events AS e
                 WHERE e.project_id = p_project AND e.provider = 'smtp'
                   AND (p_state IS NULL OR mailqueue.state_of_bounce_mail(e, p_rule) = p_state)
                   AND (p_since IS NULL OR e.received_at >= p_since) AND (p_until IS NULL OR e.received_at <= p_until)
                 LIMIT 10000) AS f);
END $$;
COMMENT ON FUNCTION mailqueue.count_bounce_mail(uuid, text, timestamptz, timestamptz, text) IS
    'The number of bounce mails that match, at most 10,000; parameters that are NULL do not filter.';

CREATE OR REPLACE FUNCTION mailqueue.read_bounce_mail_again(p_project uuid, p_id uuid, p_state text, p_rule text,
    p_by text)
    RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(false);
    UPDATE mailqueue.inbound_events AS e
       SET status = 'pending', run_at = clock_timestamp(), attempts = 0, finished_at = NULL, last_error = NULL,
           wait_until = clock_timestamp() + interval '3 days',
           waiting = CASE WHEN p_state = 'failed' THEN e.waiting END,
           outcome = CASE WHEN p_state = 'failed' THEN e.outcome ELSE '{"bypassed": true}' END
     WHERE e.id = p_id AND e.project_id = p_project AND e.provider = 'smtp' AND e.body IS NOT NULL
       AND p_state IN ('failed', 'blocked') AND mailqueue.state_of_bounce_mail(e, p_rule) = p_state;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM mailqueue.record_operation(p_project,
                                       CASE p_state WHEN 'failed' THEN 'inbound.retried' ELSE 'inbound.bypassed' END,
                                       p_id::text, '{}', p_by);
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.read_bounce_mail_again(uuid, uuid, text, text, text) IS
    'Process bounce mail again that failed, or that a rule blocked, whatever rules say; false in another state.';

-- By bounce mail that still has its body; by a server's reply, what was said at the last attempt.
CREATE OR REPLACE FUNCTION mailqueue.bounce_dump(p_project uuid, p_event uuid, p_occurred_at timestamptz)
    RETURNS TABLE (headers jsonb, query jsonb, body bytea, conversation jsonb)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    RETURN QUERY
    SELECT e.headers, e.query, e.body, l.conversation
      FROM mailqueue.email_events AS v
      LEFT JOIN mailqueue.inbound_events AS e ON e.id = (v.data ->> 'request')::uuid
      LEFT JOIN LATERAL (SELECT s.conversation FROM mailqueue.send_logs AS s
                          WHERE s.email_id = v.email_id AND v.source IS NULL AND s.conversation IS NOT NULL
                          ORDER BY s.sent_at DESC, s.id DESC LIMIT 1) AS l ON true
     WHERE v.id = p_event AND v.occurred_at = p_occurred_at AND v.project_id = p_project
       AND (e.body IS NOT NULL OR l.conversation IS NOT NULL);
END $$;
COMMENT ON FUNCTION mailqueue.bounce_dump(uuid, uuid, timestamptz) IS
    'The mail, or the conversation, by which a bounce was reported; no row if neither is kept.';
