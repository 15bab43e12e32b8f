-- The circuit of a sender account, shared by all workers: closed; open, when its lanes are blocked; half open, when one
-- mail probes the account.
--
-- It opens when its server cannot be reached, when its provider reports a limit, when too many mails fail because of
-- the account or its server, and when two mails that have nothing in common are refused alike. After the wait one mail
-- at a time is claimed for it, see headroom(): its outcome closes the circuit or opens it for longer. Failures that
-- concern a recipient do not count.

-- Returns the wait, NULL if the circuit is open already: one failure for each wait, however many workers report it.
CREATE OR REPLACE FUNCTION mailqueue.open_circuit(p_account integer, p_reason text, p_first interval, p_most interval)
RETURNS interval
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_failures integer;
    v_wait interval;
BEGIN
    UPDATE mailqueue.limits AS m
       SET failures = m.failures + 1, circuit_opened_at = coalesce(m.circuit_opened_at, clock_timestamp()),
           circuit_held_until = NULL, circuit_probe_claim = NULL
     WHERE m.sender_account_id = p_account
       AND (m.blocked_until IS NULL OR m.blocked_until <= clock_timestamp())
    RETURNING m.failures INTO v_failures;
    IF v_failures IS NULL THEN
        RETURN NULL;
    END IF;
    v_wait := least(p_most, p_first * 2 ^ least(v_failures - 1, 10));
    UPDATE mailqueue.limits AS m SET blocked_reason = p_reason, blocked_until = clock_timestamp() + v_wait
     WHERE m.sender_account_id = p_account
       AND (m.blocked_reason IS NULL OR m.blocked_until IS NOT NULL);  -- or a pause that is over
    IF v_failures = 1 THEN
        INSERT INTO mailqueue.audit_events (project_id, action, subject, detail)
        SELECT a.project_id,
               CASE p_reason WHEN 'circuit' THEN 'sender.circuit_opened' WHEN 'limited' THEN 'sender.limited'
                             ELSE 'sender.unreachable' END,
               'sender ' || a.name,
               jsonb_build_object('reason', (SELECT f.detail FROM mailqueue.sender_failures AS f
                                              WHERE f.sender_account_id = p_account ORDER BY f.failed_at DESC, f.id DESC
                                              LIMIT 1))
          FROM mailqueue.sender_accounts AS a WHERE a.id = p_account;
    END IF;
    RETURN v_wait;
END $$;
COMMENT ON FUNCTION mailqueue.open_circuit(integer, text, interval, interval) IS
    'Block the lanes of a sender account, for twice as long each time in a row.';

CREATE OR REPLACE FUNCTION mailqueue.close_circuit(p_limit integer) RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    WITH closed AS (
        UPDATE mailqueue.limits AS m
           SET failures = 0, circuit_opened_at = NULL, circuit_held_until = NULL, circuit_probe_claim = NULL,
               circuit_closed_at = clock_timestamp(),
               blocked_reason = CASE WHEN m.blocked_reason NOT IN ('unreachable', 'circuit', 'limited')
                                          THEN m.blocked_reason END,
               blocked_until = CASE WHEN m.blocked_reason NOT IN ('unreachable', 'circuit', 'limited')
                                         THEN m.blocked_until END
          FROM mailqueue.limits AS o
         WHERE m.id = p_limit AND o.id = m.id
        RETURNING m.sender_account_id, o.blocked_reason
    )
    INSERT INTO mailqueue.audit_events (project_id, action, subject, detail)
    SELECT a.project_id, 'sender.circuit_closed', 'sender ' || a.name, '{}'
      FROM closed AS c JOIN mailqueue.sender_accounts AS a ON a.id = c.sender_account_id
     WHERE c.blocked_reason = 'circuit'
$$;
COMMENT ON FUNCTION mailqueue.close_circuit(integer) IS 'Close the circuit of this limit''s account.';

-- For claims, which hold the row. Mail that has been waiting for the server since before does not prevent a probe; a
-- probe that is never settled times out.
CREATE OR REPLACE FUNCTION mailqueue.begin_probe(p_limit integer, p_claim bigint) RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    UPDATE mailqueue.limits AS m
       SET circuit_probe_claim = p_claim, circuit_held_until = clock_timestamp() + interval '10 min'
     WHERE m.id = p_limit AND m.circuit_opened_at IS NOT NULL
$$;
COMMENT ON FUNCTION mailqueue.begin_probe(integer, bigint) IS
    'Store which claim holds the probe of a half-open circuit.';

-- For settling, which holds the row. If the outcome says nothing about the account, or its report is not written yet,
-- the next probe waits a moment.
CREATE OR REPLACE FUNCTION mailqueue.probe_settled(p_limit integer, p_is_good boolean) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF p_is_good THEN
        PERFORM mailqueue.close_circuit(p_limit);
    ELSE
        UPDATE mailqueue.limits AS m
           SET circuit_held_until = clock_timestamp() + interval '1 s', circuit_probe_claim = NULL WHERE m.id = p_limit;
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.probe_settled(integer, boolean) IS
    'Record the outcome of a mail that was sent while the circuit was half open.';

CREATE OR REPLACE FUNCTION mailqueue.note_failures(p_account integer, p_kinds text[], p_domains text[],
    p_details text[], p_emails uuid[] DEFAULT '{}', p_refusals text[] DEFAULT '{}') RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    INSERT INTO mailqueue.sender_failures (sender_account_id, kind, domain, detail, sent_before, email_id, refusal)
    SELECT p_account, f.kind, f.domain, left(f.detail, 300), coalesce((
               SELECT c.sent FROM mailqueue.limits AS m JOIN mailqueue.limit_counters AS c ON c.limit_id = m.id
                WHERE m.sender_account_id = p_account ORDER BY c.rev DESC LIMIT 1), 0), f.email_id, left(f.refusal, 300)
      FROM unnest(p_kinds, p_domains, p_details, p_emails, p_refusals) AS f(kind, domain, detail, email_id, refusal);
    DELETE FROM mailqueue.sender_failures AS f WHERE f.failed_at < clock_timestamp() - interval '1 day';
    DELETE FROM mailqueue.sender_failures AS f
     WHERE f.sender_account_id = p_account AND f.id <= (
           SELECT o.id FROM mailqueue.sender_failures AS o WHERE o.sender_account_id = p_account ORDER BY o.id DESC
           OFFSET 1000 LIMIT 1)
$$;
COMMENT ON FUNCTION mailqueue.note_failures(integer, text[], text[], text[], uuid[], text[]) IS
    'Store failures of a sender account.';

-- Of the last five minutes, and since the circuit closed: failures that have a recipient domain, the number of these
-- domains, and the mail sent since the first.
CREATE OR REPLACE FUNCTION mailqueue.failure_window(p_account integer, OUT failures integer, OUT domains integer,
    OUT sent integer)
-- for views whose readers cannot read the tables behind it
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT w.failures, w.domains, CASE WHEN n.sent >= w.sent_before THEN n.sent - w.sent_before ELSE n.sent END
      FROM (SELECT count(*)::integer AS failures, count(DISTINCT f.domain)::integer AS domains,
                   (array_agg(f.sent_before ORDER BY f.failed_at, f.id))[1] AS sent_before
              FROM mailqueue.sender_failures AS f
             WHERE f.sender_account_id = p_account AND f.failed_at > clock_timestamp() - interval '5 min'
               AND f.domain IS NOT NULL
               AND f.failed_at > (SELECT coalesce(max(m.circuit_closed_at), '-infinity') FROM mailqueue.limits AS m
                                   WHERE m.sender_account_id = p_account)) AS w
      LEFT JOIN LATERAL (SELECT c.sent FROM mailqueue.limits AS m
                           JOIN mailqueue.limit_counters AS c ON c.limit_id = m.id
                          WHERE m.sender_account_id = p_account ORDER BY c.rev DESC LIMIT 1) AS n ON true
$$;
COMMENT ON FUNCTION mailqueue.failure_window(integer) IS
    'Number of mails of a sender account that failed because of the account, and that were sent.';

-- Refusals that match no known pattern may concern the mail. They count for the account once a second mail gets the
-- same refusal, to another recipient and with other content, and nothing was sent since the first. Of each refusal the
-- last 100 are compared. Mail that was deleted does not count.
CREATE OR REPLACE FUNCTION mailqueue.are_refused_alike(p_account integer, p_refusals text[]) RETURNS boolean
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET jit = off
AS $$
    WITH account AS MATERIALIZED (
        SELECT m.circuit_closed_at, c.sent FROM mailqueue.limits AS m
         CROSS JOIN LATERAL (SELECT n.sent FROM mailqueue.limit_counters AS n WHERE n.limit_id = m.id
                              ORDER BY n.rev DESC LIMIT 1) AS c
         WHERE m.sender_account_id = p_account
    ), refused AS MATERIALIZED (
        SELECT f.refusal, lower(e.recipient_email) AS recipient,
               coalesce(c.template_version_id::text,
                        md5(concat_ws(E'\n', c.subject, c.html_body, c.text_body, c.files::text))) AS says
          FROM (SELECT DISTINCT r.refusal FROM unnest(p_refusals) AS r(refusal) WHERE r.refusal IS NOT NULL) AS r
         CROSS JOIN account AS a
         CROSS JOIN LATERAL (
               SELECT x.refusal, x.email_id FROM mailqueue.sender_failures AS x
                WHERE x.sender_account_id = p_account AND x.refusal = r.refusal
                  AND x.failed_at > greatest(clock_timestamp() - interval '1 day', a.circuit_closed_at)
                  -- the counter was restarted for a new day
                  AND (x.sent_before = a.sent OR (x.sent_before > a.sent AND a.sent = 0))
                ORDER BY x.id DESC LIMIT 100) AS f
         CROSS JOIN LATERAL (
               SELECT q.recipient_email, q.content_id, q.content_on FROM mailqueue.email_queue AS q
                WHERE q.id = f.email_id
               UNION ALL
               SELECT h.recipient_email, h.content_id, h.content_on FROM mailqueue.email_history AS h
                WHERE h.id = f.email_id
               LIMIT 1) AS e
          JOIN mailqueue.email_contents AS c ON c.id = e.content_id AND c.created_on = e.content_on
    )
    SELECT EXISTS (SELECT FROM refused AS x JOIN refused AS y
                       ON y.refusal = x.refusal AND y.recipient <> x.recipient AND y.says <> x.says)
$$;
COMMENT ON FUNCTION mailqueue.are_refused_alike(integer, text[]) IS
    'Whether two mails of an account with neither recipient nor content in common got one of these refusals.';

-- Workers report mails that failed because of the account or its server. The circuit opens at half of all attempts and
-- 20 recipient domains: the server of one recipient can never stop an account. In a half-open circuit one such failure
-- is enough.
CREATE OR REPLACE FUNCTION mailqueue.report_failures(p_account integer, p_kinds text[], p_domains text[],
    p_details text[], p_emails uuid[] DEFAULT '{}', p_refusals text[] DEFAULT '{}') RETURNS interval
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_is_open boolean;
    v_is_alike boolean;
    w record;
BEGIN
    PERFORM mailqueue.note_failures(p_account, p_kinds, p_domains, p_details, p_emails, p_refusals);
    SELECT m.circuit_opened_at IS NOT NULL AND m.blocked_reason = 'circuit' INTO v_is_open FROM mailqueue.limits AS m
     WHERE m.sender_account_id = p_account;
    IF v_is_open IS NOT TRUE THEN
        v_is_alike := array_length(array_remove(p_refusals, NULL), 1) > 0
            AND mailqueue.are_refused_alike(p_account, p_refusals);
        SELECT * INTO w FROM mailqueue.failure_window(p_account);
        IF v_is_alike IS NOT TRUE AND (w.domains < 20 OR w.failures < w.sent) THEN
            RETURN NULL;
        END IF;
    END IF;
    RETURN mailqueue.open_circuit(p_account, 'circuit', interval '30 s', interval '30 min');
END $$;
COMMENT ON FUNCTION mailqueue.report_failures(integer, text[], text[], text[], uuid[], text[]) IS
    'Record failures that are or may be due to a sender account, and open its circuit if they are too many or alike; '
    'returns how long it is open.';

-- A sender account whose server cannot be reached or refuses the login: its lanes are blocked, its mail uses no
-- attempt.
CREATE OR REPLACE FUNCTION mailqueue.rest_sender(p_account integer, p_reason text) RETURNS interval
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.note_failures(p_account, ARRAY['unreachable'], ARRAY[NULL], ARRAY[p_reason]);
    RETURN mailqueue.open_circuit(p_account, 'unreachable', interval '1 s', interval '5 min');
END $$;
COMMENT ON FUNCTION mailqueue.rest_sender(integer, text) IS
    'Open the circuit of a sender account after a failed connection: for 1 s, 2 s, 4 s and so on up to 5 min.';

-- A wait that the provider asks one process for applies to all, until the given time, at most a day. Without a time
-- (NULL) the wait grows: from a second to 5 min, and from a minute to an hour if a quota of hours or days is used up.
CREATE OR REPLACE FUNCTION mailqueue.rest_sender_for(p_account integer, p_reason text, p_wait interval,
    p_is_quota boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.note_failures(p_account, ARRAY['rate_limited'], ARRAY[NULL], ARRAY[p_reason]);
    PERFORM mailqueue.open_circuit(p_account, 'limited',
                                   CASE WHEN p_is_quota THEN interval '1 min' ELSE interval '1 s' END,
                                   CASE WHEN p_is_quota THEN interval '1 h' ELSE interval '5 min' END);
    UPDATE mailqueue.limits AS m SET blocked_until = clock_timestamp() + least(p_wait, interval '1 day')
     WHERE m.sender_account_id = p_account AND m.blocked_reason IN ('unreachable', 'circuit', 'limited')
       AND m.blocked_until < clock_timestamp() + least(p_wait, interval '1 day') AND p_wait IS NOT NULL;
END $$;
COMMENT ON FUNCTION mailqueue.rest_sender_for(integer, text, interval, boolean) IS
    'Open the circuit of a sender account, for all processes, for as long as its provider asked; without a time, for '
    'longer each time in a row.';

-- Accepting connections changes nothing if mails failed or a limit is used up.
CREATE OR REPLACE FUNCTION mailqueue.sender_answered(p_account integer) RETURNS void
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT mailqueue.close_circuit(m.id) FROM mailqueue.limits AS m
     WHERE m.sender_account_id = p_account AND (m.failures > 0 OR m.blocked_reason = 'unreachable')
       AND coalesce(m.blocked_reason, '') NOT IN ('circuit', 'limited')
$$;
COMMENT ON FUNCTION mailqueue.sender_answered(integer) IS
    'Close the circuit of an account whose server accepts connections again.';

CREATE OR REPLACE FUNCTION mailqueue.suspend_sender(p_account integer, p_reason text) RETURNS void
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT mailqueue.note_failures(p_account, ARRAY['account'], ARRAY[NULL], ARRAY[p_reason]);
    WITH stopped AS (
        UPDATE mailqueue.sender_accounts AS a
           SET status = 'suspended', status_reason = left(p_reason, 500), status_until = NULL
         WHERE a.id = p_account AND a.status = 'active' RETURNING a.project_id, a.name
    )
    INSERT INTO mailqueue.audit_events (project_id, action, subject, detail)
    SELECT s.project_id, 'sender.suspended', 'sender ' || s.name, jsonb_build_object('reason', left(p_reason, 500))
      FROM stopped AS s
$$;
COMMENT ON FUNCTION mailqueue.suspend_sender(integer, text) IS
    'Suspend an account whose own server refuses it, until a person resumes it.';
