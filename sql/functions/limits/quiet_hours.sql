-- Quiet hours and frequency caps: marketing mail that its recipient should get later is moved, never dropped.

CREATE OR REPLACE FUNCTION mailqueue.quiet_hours(p_hours text) RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_parts text[];
    v_begin time;
    v_end time;
BEGIN
    IF p_hours IS NULL THEN
        RETURN NULL;
    END IF;
    v_parts := regexp_match(p_hours, '^\s*([0-9]{1,2}:[0-5][0-9])\s*-\s*([0-9]{1,2}:[0-5][0-9])\s*$');
    IF v_parts IS NULL OR v_parts[1]::interval >= '24:00' OR v_parts[2]::interval > '24:00' THEN
        PERFORM mailqueue.refuse('quiet_hours', format('a begin and an end such as 21:00-08:00 are needed, got %s',
                                                       to_json(left(p_hours, 100))));
    END IF;
    v_begin := v_parts[1]::time;
    v_end := CASE WHEN v_parts[2] = '24:00' THEN '00:00' ELSE v_parts[2]::time END;
    IF v_begin = v_end THEN
        PERFORM mailqueue.refuse('quiet_hours', format('begin and end must differ, got %s; null is no quiet hours',
                                                       to_json(left(p_hours, 100))));
    END IF;
    RETURN to_char(v_begin, 'HH24:MI') || '-' || to_char(v_end, 'HH24:MI');
END $$;
COMMENT ON FUNCTION mailqueue.quiet_hours(text) IS
    'Quiet hours such as 21:00-08:00 in the form of projects; raises an error if they are none.';

CREATE OR REPLACE FUNCTION mailqueue.frequency_cap(p_cap text, OUT emails integer, OUT days integer, OUT shown text)
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_parts text[];
BEGIN
    IF p_cap IS NULL THEN
        RETURN;
    END IF;
    v_parts := regexp_match(p_cap, '^\s*([0-9]{1,3})\s*/\s*([0-9]{1,3})\s*d\s*$');
    IF v_parts IS NULL OR v_parts[1]::integer NOT BETWEEN 1 AND 100 OR v_parts[2]::integer NOT BETWEEN 1 AND 366 THEN
        PERFORM mailqueue.refuse('frequency_cap',
                                 format('a number of mails and of days such as 3/7d is needed, at most 100 mails and '
                                        '366 days, got %s', to_json(left(p_cap, 100))));
    END IF;
    emails := v_parts[1];
    days := v_parts[2];
    shown := emails || '/' || days || 'd';
END $$;
COMMENT ON FUNCTION mailqueue.frequency_cap(text) IS
    'Mails and days of a frequency cap such as 3/7d, and its form in projects; raises an error if it is none.';

-- By the rules of zones that are loaded. The end is the next moment at which the clock shows it, or at which it is set
-- forward over it. A zone that was known when it was written may be gone.
CREATE OR REPLACE FUNCTION mailqueue.quiet_until(p_hours text, p_zones text[], p_now timestamptz,
    OUT until timestamptz, OUT zone text)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_begin time := split_part(p_hours, '-', 1)::time;
    v_end time := split_part(p_hours, '-', 2)::time;
    v_local timestamp;
BEGIN
    SELECT z.name INTO zone FROM unnest(p_zones) WITH ORDINALITY AS z(name, n)
     WHERE mailqueue.known_zone(z.name) IS NOT NULL ORDER BY z.n LIMIT 1;
    v_local := mailqueue.utc_to_local(p_now, zone);
    IF (CASE WHEN v_begin < v_end THEN v_local::time >= v_begin AND v_local::time < v_end
             ELSE v_local::time >= v_begin OR v_local::time < v_end END) THEN
        v_local := v_local::date + (v_local::time >= v_end)::integer + v_end;
        until := coalesce((SELECT min(i.at) FROM unnest(mailqueue.local_instants(v_local, zone)) AS i(at)
                            WHERE i.at > p_now),
                          mailqueue.local_to_utc(v_local, zone));
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.quiet_until(text, text[], timestamptz) IS
    'End of the quiet hours in the first of the time zones that is known, and that zone; NULL: they have not begun.';

CREATE OR REPLACE FUNCTION mailqueue.pending_addresses(q mailqueue.email_queue) RETURNS text[]
LANGUAGE sql STABLE
AS $$
    SELECT CASE WHEN EXISTS (SELECT FROM mailqueue.email_recipients AS r WHERE r.email_id = q.id)
                THEN ARRAY(SELECT r.address FROM mailqueue.email_recipients AS r
                            WHERE r.email_id = q.id AND r.status = 'pending')
                ELSE ARRAY[q.recipient_email] END
$$;
COMMENT ON FUNCTION mailqueue.pending_addresses(mailqueue.email_queue) IS
    'Addresses that a queued mail is still to be sent to.';

-- Rows of emails are locked before these, and these in the order of hashes.
CREATE OR REPLACE FUNCTION mailqueue.lock_marketing_counts(p_emails mailqueue.email_queue[]) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_projects uuid[];
    v_hashes bytea[];
BEGIN
    SELECT array_agg(k.project_id), array_agg(k.hash) INTO v_projects, v_hashes
      FROM (SELECT DISTINCT e.project_id, h.hash
              FROM unnest(p_emails) AS e
             CROSS JOIN LATERAL unnest(mailqueue.pending_addresses(e)) AS a(address)
             CROSS JOIN LATERAL mailqueue.address_hash(e.project_id, a.address) AS h(hash)
             WHERE h.hash IS NOT NULL) AS k;
    INSERT INTO mailqueue.marketing_counts (project_id, address_hash, email_ids, counted_at, last_counted_at)
    SELECT k.project_id, k.hash, '{}', '{}', clock_timestamp() FROM unnest(v_projects, v_hashes) AS k(project_id, hash)
     ORDER BY k.project_id, k.hash
    ON CONFLICT DO NOTHING;
    PERFORM FROM mailqueue.marketing_counts AS m JOIN unnest(v_projects, v_hashes) AS k(project_id, hash)
                   ON m.project_id = k.project_id AND m.address_hash = k.hash
      ORDER BY m.project_id, m.address_hash FOR UPDATE OF m;
END $$;
COMMENT ON FUNCTION mailqueue.lock_marketing_counts(mailqueue.email_queue[]) IS
    'Create and lock the rows that count the marketing mails of the recipients of these mails.';

-- A mail counts once, from the moment at which it is about to be sent, whatever becomes of it; mail that is held back
-- does not. The caller has locked the rows of the email and of its recipients in marketing_counts.
CREATE OR REPLACE FUNCTION mailqueue.held_back(q mailqueue.email_queue, p_hours text, p_cap text, p_zone text,
    OUT until timestamptz, OUT words text)
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_addresses text[] := mailqueue.pending_addresses(q);
    v_cap record;
    v_hashes bytea[];
    r record;
BEGIN
    IF p_hours IS NOT NULL THEN
        SELECT u.* INTO r
          FROM unnest(v_addresses) AS a(address)
          LEFT JOIN mailqueue.contacts AS c
            ON c.project_id = q.project_id AND c.email_key = mailqueue.address_key(a.address)
               AND c.is_test = q.is_test AND c.email_key <> 'erased@erased.invalid'
         CROSS JOIN LATERAL mailqueue.quiet_until(p_hours, ARRAY[c.time_zone, p_zone, 'UTC'], v_now) AS u
         WHERE u.until IS NOT NULL ORDER BY u.until DESC LIMIT 1;
        IF FOUND THEN
            until := r.until;
            words := format('quiet hours, %s %s', p_hours, r.zone);
            RETURN;
        END IF;
    END IF;
    IF p_cap IS NULL THEN
        RETURN;
    END IF;
    SELECT * INTO v_cap FROM mailqueue.frequency_cap(p_cap);
    v_hashes := ARRAY(SELECT mailqueue.address_hash(q.project_id, a.address) FROM unnest(v_addresses) AS a(address));
    -- Counted before: an earlier attempt.
    SELECT max(x.free_at) INTO until
      FROM mailqueue.marketing_counts AS m
     CROSS JOIN LATERAL (
            SELECT (array_agg(t.counted_at ORDER BY t.counted_at DESC))[v_cap.emails]
                   + make_interval(hours => 24 * v_cap.days) AS free_at
              FROM unnest(m.counted_at) AS t(counted_at)
             WHERE t.counted_at > v_now - make_interval(hours => 24 * v_cap.days)) AS x
     WHERE m.project_id = q.project_id AND m.address_hash = ANY (v_hashes) AND NOT q.id = ANY (m.email_ids);
    IF until IS NOT NULL THEN
        words := format('frequency cap, %s marketing mails to a recipient in %s days', v_cap.emails, v_cap.days);
        RETURN;
    END IF;
    UPDATE mailqueue.marketing_counts AS m
       SET email_ids = k.ids || q.id, counted_at = k.times || v_now, last_counted_at = v_now
      FROM mailqueue.marketing_counts AS o
     CROSS JOIN LATERAL (
            SELECT coalesce(array_agg(t.id ORDER BY t.n), '{}') AS ids,
                   coalesce(array_agg(t.at ORDER BY t.n), '{}') AS times
              FROM unnest(o.email_ids, o.counted_at) WITH ORDINALITY AS t(id, at, n)
             WHERE t.at > v_now - make_interval(hours => 24 * v_cap.days)
               AND t.n > cardinality(o.email_ids) - 99) AS k
     WHERE o.project_id = q.project_id AND o.address_hash = ANY (v_hashes) AND NOT q.id = ANY (o.email_ids)
       AND m.project_id = o.project_id AND m.address_hash = o.address_hash;
END $$;
COMMENT ON FUNCTION mailqueue.held_back(mailqueue.email_queue, text, text, text) IS
    'Until when a marketing mail is held back by quiet hours or a frequency cap, and why; if it is not, count it.';

-- Mail that names no expiry has the maximum age of its priority after its time, also after a time that was moved.
CREATE OR REPLACE FUNCTION mailqueue.hold_back_claimed(p_ids uuid[], p_claims bigint[]) RETURNS uuid[]
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_held uuid[];
    v_capped mailqueue.email_queue[];
    v_age interval;
    r record;
    h record;
BEGIN
    PERFORM FROM unnest(p_ids, p_claims) AS i(id, claim_no)
            JOIN mailqueue.email_queue AS q ON q.id = i.id AND q.claim_no = i.claim_no
      WHERE q.category = 'marketing' ORDER BY q.id FOR NO KEY UPDATE OF q;
    SELECT array_agg(q) INTO v_capped
      FROM unnest(p_ids, p_claims) AS i(id, claim_no)
      JOIN mailqueue.email_queue AS q ON q.id = i.id AND q.claim_no = i.claim_no
      JOIN mailqueue.projects AS p ON p.id = q.project_id
     WHERE q.category = 'marketing' AND NOT q.is_test AND NOT q.is_cancelled AND p.frequency_cap IS NOT NULL;
    IF v_capped IS NOT NULL THEN
        PERFORM mailqueue.lock_marketing_counts(v_capped);
    END IF;
    FOR r IN SELECT q AS email, p.quiet_hours, p.frequency_cap, p.time_zone, l.priority,
                    ARRAY[p.max_age_hours_critical, p.max_age_hours_high, p.max_age_hours_normal,
                          p.max_age_hours_low] AS max_ages
               FROM unnest(p_ids, p_claims) AS i(id, claim_no)
               JOIN mailqueue.email_queue AS q ON q.id = i.id AND q.claim_no = i.claim_no
               JOIN mailqueue.projects AS p ON p.id = q.project_id
               JOIN mailqueue.lanes AS l ON l.id = q.lane_id
              WHERE q.category = 'marketing' AND NOT q.is_test AND NOT q.is_cancelled
                AND (p.quiet_hours IS NOT NULL OR p.frequency_cap IS NOT NULL)
              ORDER BY q.run_at, q.id LOOP
        SELECT * INTO h FROM mailqueue.held_back(r.email, r.quiet_hours, r.frequency_cap, r.time_zone);
        CONTINUE WHEN h.until IS NULL;
        v_age := make_interval(hours => coalesce(r.max_ages[r.priority + 1], 96));
        UPDATE mailqueue.email_queue AS q
           SET run_at = h.until, last_error = h.words,
               expires_at = CASE WHEN q.expires_at = q.run_at + v_age THEN h.until + v_age ELSE q.expires_at END
         WHERE q.id = (r.email).id AND q.claim_no = (r.email).claim_no;
        v_held := v_held || (r.email).id;
    END LOOP;
    RETURN v_held;
END $$;
COMMENT ON FUNCTION mailqueue.hold_back_claimed(uuid[], bigint[]) IS
    'Move claimed marketing mails to the end of quiet hours, or to when the frequency cap allows them; returns their '
    'ids, NULL if there are none.';
