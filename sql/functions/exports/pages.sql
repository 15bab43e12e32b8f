-- Pages of what is exported: rows after a place, in the order of a key, as lines of JSON.
--
-- A page reads a bounded number of rows, however few of them match. `place` is the key of the last one that was read,
-- NULL where nothing comes after. Queue and history are read in one snapshot: mail that moves in between is in one of
-- them, so that it is exported once.

CREATE OR REPLACE FUNCTION mailqueue.export_mail(p_project uuid, p_after uuid, p_until uuid, p_limit integer)
RETURNS TABLE (id uuid, status text, reason text, priority smallint, category text, recipient_email text,
               recipient_name text, recipients smallint, campaign_id text, tags text[], assigned_to integer,
               attempts smallint, created_at timestamptz, finished_at timestamptz, is_test boolean, message_id text,
               content_id bigint, content_on date)
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
AS $$
    SELECT * FROM (
        (SELECT q.id, q.status, q.last_error AS reason, q.priority, q.category, q.recipient_email, q.recipient_name,
                q.recipients, q.campaign_id, q.tags, q.assigned_to, q.attempts, q.created_at,
                NULL::timestamptz AS finished_at, q.is_test, NULL::text AS message_id, q.content_id, q.content_on
           FROM mailqueue.email_queue AS q
          WHERE q.project_id = p_project AND q.id > p_after AND q.id <= p_until ORDER BY q.id LIMIT p_limit)
        UNION ALL
        (SELECT h.id, h.status, h.reason, h.priority, h.category, h.recipient_email, h.recipient_name,
                h.recipients, h.campaign_id, h.tags, h.assigned_to, h.attempts, h.created_at,
                h.finished_at, h.is_test, h.message_id, h.content_id, h.content_on
           FROM mailqueue.email_history AS h
          WHERE h.project_id = p_project AND h.id > p_after AND h.id <= p_until ORDER BY h.id LIMIT p_limit)) AS m
     ORDER BY m.id LIMIT p_limit
$$;
COMMENT ON FUNCTION mailqueue.export_mail(uuid, uuid, uuid, integer) IS
    'Mail of a project after an id and up to another, in the order of ids.';

-- The queue is read in the order of its primary key, rows of other projects included.
CREATE OR REPLACE FUNCTION mailqueue.export_mail_until(p_after uuid) RETURNS uuid
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
AS $$
    SELECT coalesce((SELECT q.id FROM mailqueue.email_queue AS q WHERE q.id > p_after
                      ORDER BY q.id OFFSET 5000 LIMIT 1),
                    'ffffffff-ffff-ffff-ffff-ffffffffffff')
$$;
COMMENT ON FUNCTION mailqueue.export_mail_until(uuid) IS
    'The id behind 5,000 rows of the queue after an id; the highest possible one where there are fewer.';

CREATE OR REPLACE FUNCTION mailqueue.is_mail_exported(e mailqueue.exports, p_created_at timestamptz, p_is_test boolean,
    p_campaign text, p_tags text[], p_category text) RETURNS boolean
LANGUAGE sql IMMUTABLE
AS $$
    SELECT p_is_test = (e).is_test AND p_created_at >= (e).since AND p_created_at < (e).until
       AND (NOT (e).filter ? 'campaign' OR p_campaign IS NOT DISTINCT FROM (e).filter ->> 'campaign')
       AND (NOT (e).filter ? 'tag' OR coalesce(p_tags @> ARRAY[(e).filter ->> 'tag'], false))
       AND (NOT (e).filter ? 'category' OR p_category = (e).filter ->> 'category')
$$;
COMMENT ON FUNCTION mailqueue.is_mail_exported(mailqueue.exports, timestamptz, boolean, text, text[], text) IS
    'Whether a mail matches the filter of an export; its status is compared apart.';

CREATE OR REPLACE FUNCTION mailqueue.export_emails(e mailqueue.exports, p_limit integer, OUT place jsonb,
    OUT lines text[])
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET timezone = 'UTC' SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
    v_after uuid := coalesce((e.place ->> 'id')::uuid, '00000000-0000-0000-0000-000000000000');
    v_until uuid := mailqueue.export_mail_until(v_after);
    v_last uuid;
    v_read bigint;
BEGIN
    WITH mail AS MATERIALIZED (SELECT m.* FROM mailqueue.export_mail(e.project_id, v_after, v_until, p_limit) AS m)
    SELECT (SELECT m.id FROM mail AS m ORDER BY m.id DESC LIMIT 1), (SELECT count(*) FROM mail),
           ARRAY(SELECT row_to_json(x)::text FROM (
               SELECT m.id, m.status, m.reason, m.category, m.priority, c.from_email, m.recipient_email,
                      m.recipient_name, m.recipients, c.subject, m.campaign_id, m.tags, s.name AS sender, m.attempts,
                      m.message_id, m.created_at, m.finished_at
                 FROM mail AS m
                 LEFT JOIN mailqueue.email_contents AS c ON c.id = m.content_id AND c.created_on = m.content_on
                 LEFT JOIN mailqueue.sender_accounts AS s ON s.id = m.assigned_to
                WHERE mailqueue.is_mail_exported(e, m.created_at, m.is_test, m.campaign_id, m.tags, m.category)
                  AND (NOT e.filter ? 'status' OR m.status = e.filter ->> 'status')
                ORDER BY m.id) AS x)
      INTO v_last, v_read, lines;
    v_last := CASE WHEN v_read = p_limit THEN v_last ELSE v_until END;
    place := CASE WHEN v_last < 'ffffffff-ffff-ffff-ffff-ffffffffffff' THEN jsonb_build_object('id', v_last) END;
END $$;
COMMENT ON FUNCTION mailqueue.export_emails(mailqueue.exports, integer) IS
    'The next page of an export of emails.';

-- A page ends where its mail has as many recipients as a page has rows.
CREATE OR REPLACE FUNCTION mailqueue.export_recipients(e mailqueue.exports, p_limit integer, OUT place jsonb,
    OUT lines text[])
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET timezone = 'UTC' SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
    v_after uuid := coalesce((e.place ->> 'id')::uuid, '00000000-0000-0000-0000-000000000000');
    v_until uuid := mailqueue.export_mail_until(v_after);
    v_last uuid;
    v_is_full boolean;
BEGIN
    WITH found AS MATERIALIZED (
        SELECT m.*, sum(m.recipients) OVER (ORDER BY m.id) - m.recipients AS before
          FROM mailqueue.export_mail(e.project_id, v_after, v_until, p_limit) AS m
    ), mail AS MATERIALIZED (SELECT f.* FROM found AS f WHERE f.before < p_limit)
    SELECT (SELECT m.id FROM mail AS m ORDER BY m.id DESC LIMIT 1),
           (SELECT count(*) FROM found) = p_limit OR EXISTS (SELECT FROM found AS f WHERE f.before >= p_limit),
           ARRAY(SELECT row_to_json(x)::text FROM (
               SELECT m.id AS email_id, coalesce(r.address, m.recipient_email) AS recipient_email,
                      coalesce(r.kind, 'to') AS type,
                      CASE WHEN r.address IS NULL THEN m.status ELSE r.status END AS status,
                      CASE WHEN r.address IS NULL THEN m.reason ELSE r.reason END AS reason, m.campaign_id, m.category,
                      m.created_at, coalesce(r.settled_at, m.finished_at) AS finished_at,
                      d.delivered_at, d.bounced, d.bounced_at, d.complained_at, d.unsubscribed_at, d.opened_at,
                      d.clicked_at, coalesce(d.opens, 0) AS opens, coalesce(d.clicks, 0) AS clicks
                 FROM mail AS m
                 LEFT JOIN mailqueue.email_recipients AS r ON r.email_id = m.id
                 LEFT JOIN LATERAL (
                     SELECT v.* FROM mailqueue.deliveries AS v
                      WHERE v.email_id = m.id AND v.address = lower(coalesce(r.address, m.recipient_email))) AS d
                      ON true
                WHERE mailqueue.is_mail_exported(e, m.created_at, m.is_test, m.campaign_id, m.tags, m.category)
                  AND (NOT e.filter ? 'status'
                       OR CASE WHEN r.address IS NULL THEN m.status ELSE r.status END = e.filter ->> 'status')
                ORDER BY m.id, r.position) AS x)
      INTO v_last, v_is_full, lines;
    v_last := CASE WHEN v_is_full THEN v_last ELSE v_until END;
    place := CASE WHEN v_last < 'ffffffff-ffff-ffff-ffff-ffffffffffff' THEN jsonb_build_object('id', v_last) END;
END $$;
COMMENT ON FUNCTION mailqueue.export_recipients(mailqueue.exports, integer) IS
    'The next page of an export of recipients, each with what became of its mail.';

-- Events have no index by project; those of other projects are read too.
CREATE OR REPLACE FUNCTION mailqueue.export_events(e mailqueue.exports, p_limit integer, OUT place jsonb,
    OUT lines text[])
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET timezone = 'UTC' SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
    v_after uuid := coalesce((e.place ->> 'id')::uuid, '00000000-0000-0000-0000-000000000000');
    v_last uuid;
    v_read bigint;
BEGIN
    WITH found AS MATERIALIZED (
        SELECT v.* FROM mailqueue.email_events AS v
         WHERE v.id > v_after AND v.occurred_at >= e.since AND v.occurred_at < e.until
         ORDER BY v.id LIMIT p_limit
    )
    SELECT (SELECT f.id FROM found AS f ORDER BY f.id DESC LIMIT 1), (SELECT count(*) FROM found),
           ARRAY(SELECT row_to_json(x)::text FROM (
               SELECT f.id, f.email_id, f.type, f.occurred_at, f.recipient_email, f.source, f.code, f.detail, f.data
                 FROM found AS f
                WHERE f.project_id = e.project_id AND f.is_test = e.is_test
                  AND (NOT e.filter ? 'type' OR f.type = e.filter ->> 'type')
                ORDER BY f.id) AS x)
      INTO v_last, v_read, lines;
    place := CASE WHEN v_read = p_limit THEN jsonb_build_object('id', v_last) END;
END $$;
COMMENT ON FUNCTION mailqueue.export_events(mailqueue.exports, integer) IS 'The next page of an export of events.';

CREATE OR REPLACE FUNCTION mailqueue.export_stats(e mailqueue.exports, p_limit integer, OUT place jsonb,
    OUT lines text[])
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET timezone = 'UTC' SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
    v_read bigint;
BEGIN
    WITH found AS MATERIALIZED (
        SELECT s.* FROM mailqueue.stats_quarters AS s
         WHERE s.project_id = e.project_id
           AND (s.dimension, s.value, s.value2, s.is_test, s.started_at)
               > (coalesce(e.place ->> 'dimension', ''), coalesce(e.place ->> 'value', ''),
                  coalesce(e.place ->> 'value2', ''), coalesce((e.place ->> 'is_test')::boolean, false),
                  coalesce((e.place ->> 'started_at')::timestamptz, '-infinity'))
         ORDER BY s.dimension, s.value, s.value2, s.is_test, s.started_at LIMIT p_limit
    )
    SELECT (SELECT jsonb_build_object('dimension', f.dimension, 'value', f.value, 'value2', f.value2,
                                      'is_test', f.is_test, 'started_at', f.started_at)
              FROM found AS f
             ORDER BY f.dimension DESC, f.value DESC, f.value2 DESC, f.is_test DESC, f.started_at DESC LIMIT 1),
           (SELECT count(*) FROM found),
           ARRAY(SELECT row_to_json(x)::text FROM (
               SELECT f.started_at, f.dimension, f.value, f.value2, f.accepted, f.sent, f.failed, f.expired,
                      f.suppressed, f.cancelled, f.delivered, f.soft_bounces, f.hard_bounces, f.complaints,
                      f.unsubscribes, f.opens, f.unique_opens, f.machine_opens, f.unique_machine_opens, f.clicks,
                      f.unique_clicks, f.machine_clicks, f.unique_machine_clicks
                 FROM found AS f
                WHERE f.is_test = e.is_test AND f.started_at >= e.since AND f.started_at < e.until
                  AND (NOT e.filter ? 'dimension' OR f.dimension = e.filter ->> 'dimension')
                ORDER BY f.dimension, f.value, f.value2, f.started_at) AS x)
      INTO place, v_read, lines;
    place := CASE WHEN v_read = p_limit THEN place END;
END $$;
COMMENT ON FUNCTION mailqueue.export_stats(mailqueue.exports, integer) IS
    'The next page of an export of counts, by quarter of an hour.';

CREATE OR REPLACE FUNCTION mailqueue.export_suppressions(e mailqueue.exports, p_limit integer, OUT place jsonb,
    OUT lines text[])
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET timezone = 'UTC' SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
AS $$
DECLARE
    v_last bigint;
    v_read bigint;
BEGIN
    WITH found AS MATERIALIZED (
        SELECT s.* FROM mailqueue.suppressions AS s
         WHERE s.project_id = e.project_id AND s.id > coalesce((e.place ->> 'id')::bigint, 0)
         ORDER BY s.id LIMIT p_limit
    )
    SELECT (SELECT f.id FROM found AS f ORDER BY f.id DESC LIMIT 1), (SELECT count(*) FROM found),
           ARRAY(SELECT row_to_json(x)::text FROM (
               SELECT f.address AS email, f.reason, f.category, f.detail, f.created_at,
                      nullif(f.expires_at, 'infinity') AS expires_at, encode(f.address_hash, 'hex') AS email_hash
                 FROM found AS f
                WHERE f.expires_at > now() AND f.created_at >= e.since AND f.created_at < e.until
                  AND (NOT e.filter ? 'reason' OR f.reason = e.filter ->> 'reason')
                  AND (NOT e.filter ? 'category' OR f.category = e.filter ->> 'category')
                ORDER BY f.id) AS x)
      INTO v_last, v_read, lines;
    place := CASE WHEN v_read = p_limit THEN jsonb_build_object('id', v_last) END;
END $$;
COMMENT ON FUNCTION mailqueue.export_suppressions(mailqueue.exports, integer) IS
    'The next page of an export of suppressions that are in force.';
