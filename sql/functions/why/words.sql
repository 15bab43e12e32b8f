-- Parts of the sentences of mailqueue.why(): times, rates and limits.

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
        WHEN 'outside_window' THEN 'mail of low priority waits for the window of its project'
        WHEN 'domain_rate' THEN 'the rate of this domain is used up'
        WHEN 'brake' THEN 'MAILQUEUE_MAX_SEND_RATE is used up'
        WHEN 'paused' THEN 'it is paused'
        WHEN 'suspended' THEN 'it is suspended'
        WHEN 'locked' THEN 'its secrets are locked by its own key'
        WHEN 'unreachable' THEN 'its server cannot be reached, or asks us to wait'
        WHEN 'limited' THEN 'its provider limits it'
        WHEN 'circuit'
             THEN 'its circuit is open, as too many mails failed for reasons of its own, or were refused alike'
        WHEN 'half_open' THEN 'its circuit is half open, and one mail tries whether it works again' END
$$;
COMMENT ON FUNCTION mailqueue.limit_words(text, integer) IS 'The reason of a limit as text.';

CREATE OR REPLACE FUNCTION mailqueue.window_words(p_project uuid, p_opens_at timestamptz) RETURNS text
LANGUAGE sql STABLE
AS $$
    SELECT format('mail of low priority waits until %s for the window of its project, %s to %s %s',
                  mailqueue.shown(p_opens_at), to_char(m.low_from, 'HH24:MI'), to_char(m.low_until, 'HH24:MI'),
                  m.low_zone)
      FROM mailqueue.limits AS m WHERE m.project_id = p_project AND m.sender_account_id IS NULL
$$;
COMMENT ON FUNCTION mailqueue.window_words(uuid, timestamptz) IS
    'The window that a mail of low priority waits for, and when it opens, as text.';

-- Of the last attempt that reached a server. Attempts ran out where that server asked for another one: it deferred the
-- mail, or more than one attempt ended as a soft bounce.
CREATE OR REPLACE FUNCTION mailqueue.attempt_words(p_email uuid, p_attempts integer) RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT coalesce((
        SELECT CASE WHEN o.status = 'deferred' OR o.status = 'bounced' AND o.bounced > 1
                         THEN format('; its attempts ran out after %s', greatest(p_attempts, o.attempt))
                    ELSE format('; attempt %s', greatest(p_attempts, o.attempt)) END
               || format(', answered %s%s', coalesce(nullif(concat_ws(' ', o.error_code, o.enhanced_code), ''),
                                                     'without a code'),
                         ' by sender account ' || a.name)
          FROM (SELECT l.*, count(*) FILTER (WHERE l.status = 'bounced') OVER () AS bounced
                  FROM mailqueue.send_logs AS l
                 WHERE l.email_id = p_email ORDER BY l.sent_at DESC, l.id DESC LIMIT 1) AS o
          LEFT JOIN mailqueue.sender_accounts AS a ON a.id = o.sender_account_id), '')
$$;
COMMENT ON FUNCTION mailqueue.attempt_words(uuid, integer) IS
    'Whether the attempts of a failed mail ran out, with the code and account of the last one, as text.';

-- An id has the time of its creation in its first 48 bits, and mail leaves the queue within days: where only one month
-- is archived in which it can have ended, that one is named.
CREATE OR REPLACE FUNCTION mailqueue.archive_words(p_email uuid) RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT CASE WHEN count(*) > 0 THEN
               'old ones are in the archive'
               || mailqueue.next_step('history', 'archived', p_email, NULL, NULL,
                                      CASE WHEN count(DISTINCT a.month) FILTER (WHERE a.is_of_its_time) = 1
                                           THEN to_char(min(a.month) FILTER (WHERE a.is_of_its_time), 'YYYY-MM') END)
           END
      FROM (SELECT f.month, f.month BETWEEN c.month AND c.month + interval '1 month' AS is_of_its_time
              FROM mailqueue.archives AS f
             CROSS JOIN (SELECT CASE WHEN substr(p_email::text, 15, 1) = '7' THEN date_trunc('month', to_timestamp(
                            ('x' || substr(replace(p_email::text, '-', ''), 1, 12))::bit(48)::bigint / 1000.0)
                            AT TIME ZONE 'UTC') END AS month) AS c
             WHERE f.kind = 'email_history' AND f.state = 'archived') AS a
$$;
COMMENT ON FUNCTION mailqueue.archive_words(uuid) IS
    'How to look for a mail that is not in the database in the archive, as text; NULL where nothing is archived.';
