-- Events of sent mail: matched with their mail and stored once, with their consequences, in one transaction.
--
-- Locks are taken in one order everywhere: keys of events, mail in doubt by id, then addresses.

-- Finds the mail of each event: by its id, its Message-ID, or the id that the provider gave it. An event received
-- through an account belongs to mail of that account's project, whatever it names.
CREATE OR REPLACE FUNCTION mailqueue.match_events(p_events jsonb)
RETURNS TABLE (n integer, type text, source text, event_id text, account integer, said_recipient text,
               said_at timestamptz, code text, detail text, suppress text, data jsonb, email_id uuid, project_id uuid,
               recipient text, sent_by integer, created_at timestamptz, is_in_doubt boolean,
               provider_message_id text, is_known_type boolean, is_test boolean)
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off SET jit = off
AS $$
    WITH said AS MATERIALIZED (
        SELECT e.n::integer AS n, e.doc ->> 'type' AS type, left(coalesce(e.doc ->> 'source', 'unknown'), 40) AS source,
               e.doc ->> 'event_id' AS event_id,
               CASE WHEN e.doc ->> 'account' ~ '^[0-9]{1,9}$' THEN (e.doc ->> 'account')::integer END AS account,
               left(e.doc ->> 'recipient', 320) AS recipient, mailqueue.parse_timestamp(e.doc ->> 'occurred_at') AS at,
               left(e.doc ->> 'code', 100) AS code, left(e.doc ->> 'detail', 1000) AS detail,
               CASE WHEN e.doc ->> 'suppress' IN ('hard_bounce', 'soft_bounce_threshold', 'complaint', 'unsubscribed',
                                                  'manual')
                         THEN e.doc ->> 'suppress' END AS suppress,
               CASE WHEN jsonb_typeof(e.doc -> 'data') = 'object' AND pg_column_size(e.doc -> 'data') <= 8000
                    THEN nullif(jsonb_strip_nulls(e.doc -> 'data'), '{}') END AS data,
               coalesce(mailqueue.parse_uuid(e.doc ->> 'email_id'),
                        mailqueue.uuid_in_message_id(e.doc ->> 'message_id')) AS email_id,
               '<' || nullif(btrim(left(e.doc ->> 'message_id', 998), ' <>'), '') || '>' AS message_id,
               nullif(left(e.doc ->> 'provider_message_id', 998), '') AS provider_message_id, p.ids AS provider_ids,
               a.project_id, a.id AS known_account
          FROM jsonb_array_elements(p_events) WITH ORDINALITY AS e(doc, n)
         -- Some providers give it with angle brackets only sometimes.
         CROSS JOIN LATERAL (SELECT ARRAY[x.id, '<' || x.id || '>'] AS ids
                               FROM (SELECT nullif(btrim(left(e.doc ->> 'provider_message_id', 998), ' <>'),
                                                   '') AS id) AS x) AS p
          LEFT JOIN mailqueue.sender_accounts AS a
            ON a.id = CASE WHEN e.doc ->> 'account' ~ '^[0-9]{1,9}$' THEN (e.doc ->> 'account')::integer END
    )
    SELECT s.n, s.type, s.source, s.event_id, s.account, s.recipient, s.at, s.code, s.detail, s.suppress, s.data,
           m.id, m.project_id,
           -- A failure of another address is not the recipient's: perhaps it is an archive, to which the provider's
           -- account copies all mail.
           mailqueue.address_sent(CASE WHEN r.several > 0 THEN r.address
                                       WHEN s.recipient IS NULL OR lower(s.recipient) = lower(m.recipient_email)
                                            OR s.suppress IS NULL
                                               AND s.type IN ('sent', 'delivered', 'opened', 'clicked')
                                            OR mailqueue.address_key(s.recipient)
                                               = mailqueue.address_key(m.recipient_email)
                                       THEN m.recipient_email END),
           coalesce(m.assigned_to, s.known_account), m.created_at, m.is_in_doubt, s.provider_message_id,
           coalesce(s.type IN ('sent', 'delivered', 'deferred', 'hard_bounce', 'soft_bounce', 'complaint', 'opened',
                               'clicked', 'unsubscribed',
                               'resubscribed', 'failed'), false), m.is_test
      FROM said AS s
      LEFT JOIN LATERAL (
          SELECT f.* FROM (
              SELECT q.id, q.project_id, q.recipient_email, q.assigned_to, q.created_at,
                     q.unknowns > 0 AND q.status <> 'assigned' AS is_in_doubt, q.is_test
                FROM mailqueue.email_queue AS q WHERE q.id = s.email_id
              UNION ALL
              SELECT h.id, h.project_id, h.recipient_email, h.assigned_to, h.created_at, false, h.is_test
                FROM mailqueue.email_history AS h WHERE h.id = s.email_id
              UNION ALL
              SELECT h.id, h.project_id, h.recipient_email, h.assigned_to, h.created_at, false, h.is_test
                FROM mailqueue.email_history AS h WHERE h.provider_message_id = ANY (s.provider_ids)
                 AND h.project_id = coalesce(s.project_id, h.project_id)
                 AND (s.account IS NULL OR coalesce(h.assigned_to, s.account) = s.account)
              UNION ALL
              -- Finished messages keep their original Message-ID. One to many recipients is several mails: the mail to
              -- this recipient is the match.
              (SELECT c.id, c.project_id, c.recipient_email, c.assigned_to, c.created_at, false, c.is_test
                 FROM (SELECT h.id, h.project_id, h.recipient_email, h.assigned_to, h.created_at, h.is_test
                         FROM mailqueue.email_history AS h
                        WHERE h.message_id = s.message_id AND strpos(h.message_id, replace(h.id::text, '-', '')) <> 2
                          AND (s.account IS NULL OR h.project_id = s.project_id) LIMIT 1000) AS c
                ORDER BY coalesce(mailqueue.address_key(c.recipient_email) = mailqueue.address_key(s.recipient)
                                  OR EXISTS (SELECT FROM mailqueue.email_recipients AS x
                                              WHERE x.email_id = c.id
                                                AND mailqueue.address_key(x.address) = mailqueue.address_key(
                                                    s.recipient)),
                                  false) DESC)
          ) AS f
           WHERE (s.account IS NULL OR f.project_id = s.project_id)
             AND (mailqueue.tenant() IS NULL OR f.project_id = mailqueue.tenant())
           LIMIT 1) AS m ON true
      LEFT JOIN LATERAL (
          SELECT count(*) AS several,
                 (array_agg(x.address) FILTER (WHERE mailqueue.address_key(x.address) = mailqueue.address_key(
                     s.recipient)))[1] AS address
            FROM mailqueue.email_recipients AS x WHERE x.email_id = m.id) AS r ON true
     ORDER BY s.n
$$;
COMMENT ON FUNCTION mailqueue.match_events(jsonb) IS 'Parse events, and find the mail and recipient of each.';

CREATE OR REPLACE FUNCTION mailqueue.record_events(p_events jsonb) RETURNS TABLE (n integer, result text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET TimeZone = 'UTC'
SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz := clock_timestamp();
    v_ns integer[]; v_results text[];
    v_doubted uuid[]; v_names text[];
    v_months timestamptz[];
    v_full uuid[] := mailqueue.projects_full_of_events();
    v_bounces mailqueue.email_events[];
BEGIN
    v_months := mailqueue.event_months(v_now);
    WITH matched AS MATERIALIZED (
        SELECT m.*, left(m.event_id, 2000) IS NOT NULL AS has_key,
               mailqueue.event_key(m.account, m.source, m.event_id) AS key
          FROM mailqueue.match_events(p_events) AS m
    ), first AS MATERIALIZED (                               -- of duplicates in one call, the first
        SELECT DISTINCT ON (m.key) m.key, m.n FROM matched AS m
         WHERE m.has_key AND m.email_id IS NOT NULL AND m.is_known_type ORDER BY m.key, m.n
    ), keyed AS MATERIALIZED (
        INSERT INTO mailqueue.event_keys (key)
        SELECT f.key FROM first AS f ORDER BY f.key ON CONFLICT DO NOTHING RETURNING key
    ), judged AS MATERIALIZED (
        SELECT m.*, CASE WHEN NOT m.is_known_type THEN 'ignored'
                         WHEN m.email_id IS NULL THEN 'unmatched'
                         WHEN m.has_key AND k.key IS NULL THEN 'repeated'
                         WHEN m.project_id = ANY (v_full) AND m.type IN ('opened', 'clicked') THEN 'ignored'
                         ELSE 'recorded' END AS result,
               m.type IN ('hard_bounce', 'soft_bounce') AND mailqueue.is_about_us(m.code, m.detail) AS is_about_us
          FROM matched AS m LEFT JOIN first AS f ON f.n = m.n LEFT JOIN keyed AS k ON k.key = f.key
    ), added AS (
        INSERT INTO mailqueue.email_events AS v (occurred_at, project_id, email_id, type, recipient_email,
                                                 sender_account_id, detail, source, code, suppresses, is_test, data)
        SELECT t.at, j.project_id, j.email_id, CASE WHEN j.is_about_us THEN 'soft_bounce' ELSE j.type END, j.recipient,
               j.sent_by, j.detail, j.source, j.code,
               CASE WHEN j.recipient IS NULL OR j.is_test THEN NULL
                    WHEN j.type = 'hard_bounce' AND NOT j.is_about_us THEN 'hard_bounce'
                    WHEN j.type = 'complaint' THEN 'complaint'
                    WHEN j.suppress IS NOT NULL THEN j.suppress
                    WHEN j.type = 'unsubscribed' AND j.account IS NOT NULL THEN 'unsubscribed' END, j.is_test,
               CASE WHEN j.is_about_us OR t.at - j.said_at NOT BETWEEN interval '-1 min' AND interval '1 min'
                         OR mailqueue.address_key(j.said_recipient) IS DISTINCT FROM mailqueue.address_key(coalesce(
                             j.recipient,
                             j.said_recipient))
                         OR j.said_recipient IS NOT NULL AND j.recipient IS NULL
                    THEN nullif(coalesce(j.data, '{}') || jsonb_strip_nulls(jsonb_build_object(
                             'is_about_us', nullif(j.is_about_us, false),
                             'said_at',
                             CASE WHEN t.at - j.said_at NOT BETWEEN interval '-1 min' AND interval '1 min'
                                       THEN j.said_at END,
                             'said_recipient',
                             CASE WHEN mailqueue.address_key(j.said_recipient) IS DISTINCT FROM mailqueue.address_key(
                                 j.recipient)
                                       THEN j.said_recipient END)),
                                '{}')
                    ELSE j.data END
          FROM judged AS j
         CROSS JOIN LATERAL (SELECT least(v_now,
                                          greatest(coalesce(j.said_at, v_now), least(j.created_at, v_now))) AS at) AS c
         -- the current month; otherwise any month
         CROSS JOIN LATERAL (SELECT CASE WHEN c.at >= v_months[cardinality(v_months)] THEN c.at
                                         ELSE (SELECT min(greatest(x.month, c.at)) FROM unnest(v_months) AS x(month)
                                                WHERE x.month + interval '1 month' > c.at) END AS at) AS t
         WHERE j.result = 'recorded' ORDER BY j.n
        RETURNING v
    )
    SELECT array_agg(j.n ORDER BY j.n), array_agg(j.result ORDER BY j.n),
           array_agg(j.email_id) FILTER (WHERE j.is_in_doubt AND j.result = 'recorded'),
           array_agg(j.provider_message_id) FILTER (WHERE j.is_in_doubt AND j.result = 'recorded'),
           (SELECT array_agg(a.v) FROM added AS a
             WHERE (a.v).suppresses IS NOT NULL OR (a.v).type IN ('soft_bounce', 'complaint'))
      INTO v_ns, v_results, v_doubted, v_names, v_bounces FROM judged AS j;

    IF v_doubted IS NOT NULL THEN
        PERFORM mailqueue.resolve_by_events(v_doubted, v_names);
    END IF;
    IF v_bounces IS NOT NULL THEN
        PERFORM mailqueue.apply_events(v_bounces);
    END IF;
    RETURN QUERY SELECT * FROM unnest(v_ns, v_results);
END $$;
COMMENT ON FUNCTION mailqueue.record_events(jsonb) IS
    'Record events of mails, each once, with all consequences. Returns for each, in order: recorded, repeated, '
    'unmatched (no such mail yet: try again later) or ignored (of an unknown type, or an open or click of a project at '
    'its bound of events).';

-- Events older than all months are stored in the oldest; those of a month that was dropped in the next one that exists.
CREATE OR REPLACE FUNCTION mailqueue.event_months(p_now timestamptz) RETURNS timestamptz[]
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp SET TimeZone = 'UTC'
AS $$
    SELECT array_agg(to_timestamp(right(c.relname, 7), 'YYYY_MM') ORDER BY c.relname)
      FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid
     WHERE i.inhparent = 'mailqueue.email_events'::regclass
       AND c.relname <= 'email_events_' || to_char(p_now, 'YYYY_MM')
$$;
COMMENT ON FUNCTION mailqueue.event_months(timestamptz) IS
    'Start of each month that has a partition of events, up to the current one, in order.';

-- Waits for a concurrent settle; the mail is then finished already.
CREATE OR REPLACE FUNCTION mailqueue.resolve_by_events(p_ids uuid[], p_names text[]) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_ids uuid[];
BEGIN
    SELECT array_agg(q.id) INTO v_ids FROM (
        SELECT e.id FROM mailqueue.email_queue AS e
         WHERE e.id = ANY (p_ids) AND e.unknowns > 0 AND e.status <> 'assigned' ORDER BY e.id FOR UPDATE) AS q;
    IF v_ids IS NULL THEN
        RETURN;
    END IF;
    PERFORM mailqueue.finish_as_sent(v_ids, 'resolved by evidence: an event of it came in');
    UPDATE mailqueue.email_history AS h SET provider_message_id = i.name
      FROM (SELECT x.id, min(x.name) AS name FROM unnest(p_ids, p_names) AS x(id, name) GROUP BY x.id) AS i
     WHERE h.id = i.id AND i.id = ANY (v_ids) AND i.name IS NOT NULL AND h.provider_message_id IS NULL;
END $$;
COMMENT ON FUNCTION mailqueue.resolve_by_events(uuid[], text[]) IS
    'Finish mail in doubt as sent, because an event for it was received.';
