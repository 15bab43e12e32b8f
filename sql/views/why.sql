-- Why a mail was not sent, as text, and whether the books balance.

CREATE OR REPLACE FUNCTION mailqueue.why(email_id uuid) RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    q record;
    h record;
    r record;
    l record;
    s record;
    v_kept text := '';                                       -- in doubt: one account may have accepted it
BEGIN
    SELECT * INTO h FROM mailqueue.email_history AS e WHERE e.id = why.email_id ORDER BY e.finished_at DESC LIMIT 1;
    IF FOUND THEN
        PERFORM mailqueue.check_tenant(h.project_id);
        RETURN CASE h.status
            WHEN 'sent' THEN format('sent at %s%s', mailqueue.shown(h.finished_at), ', ' || h.reason)
            ELSE format('%s at %s: %s', h.status, mailqueue.shown(h.finished_at),
                        coalesce(h.reason, 'no reason recorded')) END
            || coalesce('; '
                        || CASE h.status
                                WHEN 'suppressed'
                                     THEN mailqueue.suppression_words(h.project_id, h.recipient_email, h.reason)
                                ELSE mailqueue.event_words(h.id) END, '');
    END IF;
    SELECT * INTO q FROM mailqueue.email_queue AS e WHERE e.id = why.email_id;
    IF NOT FOUND THEN
        v_kept := mailqueue.why_row(why.email_id);
        IF v_kept IS NOT NULL THEN
            RETURN v_kept;
        END IF;
        RETURN 'there is no such email' || CASE WHEN EXISTS (
            SELECT FROM mailqueue.archives AS a WHERE a.kind = 'email_history' AND a.state = 'archived')
            THEN format(' here; old ones are in the archive: mailqueue archive read --kind email_history --having %s',
                        why.email_id)
                                                ELSE '' END;
    END IF;
    PERFORM mailqueue.check_tenant(q.project_id);
    IF q.status = 'held' THEN
        RETURN format('held until a person decides: %s', coalesce(q.last_error, 'no reason recorded'));
    ELSIF q.status = 'pending' AND q.crashes > 0 THEN
        RETURN format('sent alone at %s or later, because its worker stopped while handling it: %s',
                      mailqueue.shown(q.run_at),
                      coalesce(regexp_replace(q.last_error, '^its worker stopped while handling it: ', ''),
                               'no reason'));
    ELSIF q.status = 'assigned' THEN
        SELECT w.*, clock_timestamp() - w.beat_at > interval '30 s' AS is_silent INTO s FROM mailqueue.workers AS w
         WHERE w.id = q.worker_id;
        RETURN CASE WHEN s.is_silent
                         THEN format('worker %s has it and is silent since %s: it goes back when the worker is rescued',
                                     q.worker_id, mailqueue.shown(s.beat_at))
                    ELSE format('being sent by worker %s since %s', q.worker_id, mailqueue.shown(q.assigned_at)) END;
    ELSIF EXISTS (SELECT FROM mailqueue.inline_servers AS x WHERE x.email_id = q.id) THEN
        RETURN (SELECT CASE WHEN coalesce(x.run_at, x.look_at) > clock_timestamp()
                                 THEN format('waits until %s for the server it was given',
                                             mailqueue.shown(coalesce(x.run_at, x.look_at)))
                            ELSE 'due, and waits for a worker to send it by the server it was given' END
                       || coalesce(': ' || q.last_error, '')
                  FROM mailqueue.inline_servers AS x WHERE x.email_id = q.id);
    END IF;
    IF q.unknowns > 0 THEN
        v_kept := (SELECT format('handed over to sender account %s without an answer%s; ', a.name,
                          CASE WHEN p.resend_elsewhere THEN '' ELSE ', it stays with it' END)
                     FROM mailqueue.sender_accounts AS a JOIN mailqueue.projects AS p ON p.id = a.project_id
                    WHERE a.id = q.assigned_to);
        v_kept := coalesce(v_kept, '');
    END IF;
    IF q.run_at > clock_timestamp() THEN
        RETURN v_kept
            || CASE WHEN q.attempts > 0
                         THEN format('tried %s, next attempt at %s: %s',
                                     CASE q.attempts WHEN 1 THEN 'once' ELSE q.attempts || ' times' END,
                                     mailqueue.shown(q.run_at), q.last_error)
                    ELSE format('not due before %s', mailqueue.shown(q.run_at)) END;
    END IF;
    SELECT * INTO r FROM mailqueue.pause_of(q.id);
    IF r.kind IS NOT NULL THEN
        RETURN mailqueue.pause_words(r.kind, r.value, r.until, r.reason);
    END IF;
    SELECT * INTO r FROM mailqueue.headroom('{0}', clock_timestamp()) AS x;
    IF r.why IS NOT NULL THEN
        RETURN format('the whole installation waits until %s: %s', mailqueue.shown(r.until),
                      mailqueue.limit_words(r.why, r.daily_limit));
    END IF;
    SELECT * INTO l FROM mailqueue.lanes AS x WHERE x.id = q.lane_id;
    SELECT * INTO r FROM mailqueue.headroom(ARRAY[l.domain_limit], clock_timestamp()) AS x;
    IF r.why IS NOT NULL THEN
        RETURN format('mail to %s waits until %s: %s', l.pause_value, mailqueue.shown(r.until),
                      mailqueue.limit_words(r.why, r.daily_limit));
    END IF;
    IF cardinality(l.account_limits) = 0 THEN
        RETURN 'the project has no sender account: add one with mailqueue sender add';
    END IF;
    SELECT * INTO r FROM mailqueue.headroom(ARRAY[l.project_limit], clock_timestamp()) AS x;
    IF r.why IS NOT NULL THEN
        RETURN format('the project waits until %s: %s%s', mailqueue.shown(r.until),
            mailqueue.limit_words(r.why, r.daily_limit),
            (SELECT ': ' || p.status_reason FROM mailqueue.projects AS p
              WHERE p.id = q.project_id AND p.status = r.why));
    END IF;
    -- Every candidate must be blocked; the first to be available again is named.
    IF NOT EXISTS (SELECT FROM mailqueue.headroom(l.account_limits, clock_timestamp()) AS x WHERE x.why IS NULL) THEN
        SELECT x.*, a.name,
               CASE WHEN a.status = x.why THEN ': ' || a.status_reason WHEN x.why IN ('unreachable', 'limited') THEN (
                   SELECT ': ' || f.detail FROM mailqueue.sender_failures AS f WHERE f.sender_account_id = a.id
                    ORDER BY f.id DESC LIMIT 1) END AS told
          INTO r FROM mailqueue.headroom(l.account_limits, clock_timestamp()) AS x
          JOIN mailqueue.sender_accounts AS a ON a.id = x.sender_account_id ORDER BY x.until, a.priority LIMIT 1;
        RETURN v_kept
            || coalesce((SELECT format('by the routing rule at position %s ', x.position)
                           FROM mailqueue.routing_rules AS x WHERE x.id = l.rule_id),
                        '')
            || format('sender account %s waits until %s: %s%s', r.name, mailqueue.shown(r.until),
                      mailqueue.limit_words(r.why, r.daily_limit), r.told);
    ELSIF q.recipients > (SELECT max(least(x.headroom, x.batch_size))
                            FROM mailqueue.headroom(l.account_limits, clock_timestamp()) AS x) THEN
        RETURN format('it has %s recipients, more than any of its sender accounts may send to now', q.recipients);
    ELSIF NOT EXISTS (SELECT FROM mailqueue.workers AS w
                       WHERE w.kind = 'send' AND w.stopped_at IS NULL AND w.lost_at IS NULL
                       AND w.beat_at > clock_timestamp() - interval '30 s') THEN
        RETURN 'no worker is running: start one with mailqueue worker send';
    END IF;
    RETURN v_kept
        || format('due since %s and waiting for its turn behind %s mails of its lane', mailqueue.shown(q.run_at),
        (SELECT count(*)
           FROM (SELECT FROM mailqueue.email_queue AS o WHERE o.lane_id = q.lane_id AND o.status = 'pending'
                  AND (o.run_at, o.id) < (q.run_at, q.id) LIMIT 100000) AS ahead))
        || coalesce('; ' || mailqueue.pace_words(q.lane_id), '');
END $$;
COMMENT ON FUNCTION mailqueue.why(uuid) IS 
    'The first reason why a mail was not sent, or a row of another queue is not done, as text; or its outcome.';

CREATE OR REPLACE FUNCTION mailqueue.shown(p_at timestamptz) RETURNS text
LANGUAGE sql STABLE
AS $$
    SELECT CASE WHEN p_at = 'infinity' THEN 'further notice'
                ELSE to_char(p_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"') END
$$;
COMMENT ON FUNCTION mailqueue.shown(timestamptz) IS 'A timestamp as text.';

-- The slowest of the rates that hold for a lane; of several accounts the rates together, if all of them have one.
CREATE OR REPLACE FUNCTION mailqueue.pace_words(p_lane integer) RETURNS text
LANGUAGE sql STABLE
AS $$
    SELECT format('%s %s %s recipients a second', x.owner, x.verb, trim_scale(round(x.rate, 3)))
      FROM mailqueue.lanes AS l
     CROSS JOIN LATERAL (
            SELECT 'the whole installation sends to' AS owner, 'at most' AS verb, m.rate_per_second AS rate
              FROM mailqueue.limits AS m WHERE m.id = 0
            UNION ALL
            SELECT 'mail to ' || d.domain || ' is sent', 'to at most', d.rate_per_second
              FROM mailqueue.limits AS m JOIN mailqueue.domain_rates AS d ON d.domain = m.domain
             WHERE m.id = l.domain_limit
            UNION ALL
            SELECT 'the project sends to', 'at most', p.rate_per_second FROM mailqueue.projects AS p
             WHERE p.id = l.project_id
            UNION ALL
            SELECT CASE count(*) WHEN 1 THEN 'sender account ' || min(a.name) || ' sends to'
                                 ELSE format('its %s sender accounts send to', count(*)) END, 'at most',
                   CASE WHEN bool_and(num_nonnulls(a.rate_per_second, nullif(a.send_delay_ms, 0)) > 0)
                        THEN sum(least(a.rate_per_second, 1000.0 / nullif(a.send_delay_ms, 0))) END
              FROM mailqueue.limits AS m JOIN mailqueue.sender_accounts AS a ON a.id = m.sender_account_id
             WHERE m.id = ANY (l.account_limits)) AS x
     WHERE l.id = p_lane AND x.rate IS NOT NULL ORDER BY x.rate LIMIT 1
$$;
COMMENT ON FUNCTION mailqueue.pace_words(integer) IS
    'The rate that holds for the mail of a lane, as text; NULL: none.';

CREATE OR REPLACE FUNCTION mailqueue.limit_words(p_why text, p_limit integer) RETURNS text
LANGUAGE sql IMMUTABLE
AS $$
    SELECT CASE p_why
        WHEN 'daily_limit' THEN format('its daily limit of %s is used up', p_limit)
        WHEN 'hourly_limit' THEN 'its hourly limit is used up'
        WHEN 'minute_limit' THEN 'its minute limit is used up'
        WHEN 'rate' THEN 'its rate is used up'
        WHEN 'domain_rate' THEN 'the rate of this domain is used up'
        WHEN 'brake' THEN 'MAILQUEUE_MAX_SEND_RATE is used up'
        WHEN 'paused' THEN 'it is paused'
        WHEN 'suspended' THEN 'it is suspended'
        WHEN 'locked' THEN 'its secrets are locked by its own key: mailqueue vault byok unlock'
        WHEN 'unreachable' THEN 'its server cannot be reached, or asks us to wait'
        WHEN 'limited' THEN 'its provider limits it'
        WHEN 'circuit'
             THEN 'its circuit is open, as too many mails failed for reasons of its own, or were refused alike: '
                  'mailqueue sender health'
        WHEN 'half_open' THEN 'its circuit is half open, and one mail tries whether it works again' END
$$;
COMMENT ON FUNCTION mailqueue.limit_words(text, integer) IS 'The reason of a limit as text.';

-- accepted must equal finished plus queued plus held, for each project and day; a difference other than 0 is lost mail.
DROP VIEW IF EXISTS mailqueue.books CASCADE;
CREATE VIEW mailqueue.books AS
WITH accepted AS (
    SELECT a.project_id, a.day, sum(a.emails)::bigint AS emails
      FROM (SELECT d.project_id, d.day, least(d.emails, 1000000000000000) AS emails FROM mailqueue.accepted_days AS d
            UNION ALL
            SELECT l.project_id, s.accepted_on, s.emails FROM mailqueue.lane_signals AS s
              JOIN mailqueue.lanes AS l ON l.id = s.lane_id WHERE s.emails > 0) AS a
     GROUP BY a.project_id, a.day
), found AS (
    SELECT f.project_id, f.day,
           sum(f.emails) FILTER (WHERE f.status = 'sent')::bigint AS sent,
    sum(f.emails) FILTER (WHERE f.status = 'failed')::bigint AS failed,
           sum(f.emails) FILTER (WHERE f.status = 'suppressed')::bigint AS suppressed,
    sum(f.emails) FILTER (WHERE f.status = 'expired')::bigint AS expired,
           sum(f.emails) FILTER (WHERE f.status = 'cancelled')::bigint AS cancelled,
           sum(f.emails) FILTER (WHERE f.status IN ('pending', 'assigned'))::bigint AS queued,
    sum(f.emails) FILTER (WHERE f.status = 'held')::bigint AS held,
           sum(f.emails)::bigint AS emails, sum(f.emails) FILTER (WHERE f.is_archived)::bigint AS archived
      FROM (SELECT q.project_id, (q.created_at AT TIME ZONE 'UTC')::date AS day, q.status, count(*) AS emails,
                   false AS is_archived
              FROM mailqueue.email_queue AS q GROUP BY 1, 2, 3
            UNION ALL
            SELECT h.project_id, (h.created_at AT TIME ZONE 'UTC')::date, h.status, count(*), false
              FROM mailqueue.email_history AS h GROUP BY 1, 2, 3
            UNION ALL
            SELECT d.project_id, d.day, d.status, least(d.emails, 1000000000000000), true
              FROM mailqueue.archived_days AS d WHERE d.emails > 0) AS f
     GROUP BY f.project_id, f.day
)
SELECT p.name AS project, coalesce(a.day, f.day) AS day, coalesce(a.emails, 0) AS accepted,
       coalesce(f.sent, 0) AS sent, coalesce(f.failed, 0) AS failed, coalesce(f.suppressed, 0) AS suppressed,
       coalesce(f.expired, 0) AS expired, coalesce(f.cancelled, 0) AS cancelled, coalesce(f.queued, 0) AS queued,
       coalesce(f.held, 0) AS held, coalesce(a.emails, 0) - coalesce(f.emails, 0) AS difference,
       coalesce(f.archived, 0) AS archived
  FROM accepted AS a
  FULL JOIN found AS f ON f.project_id = a.project_id AND f.day = a.day
  JOIN mailqueue.projects AS p ON p.id = coalesce(a.project_id, f.project_id);
COMMENT ON VIEW mailqueue.books IS
    'Accepted mail by project and day of acceptance (UTC), compared with its outcomes; archived is the part that is '
    'no longer in email_history. A difference other than 0 means missing or surplus rows.';
