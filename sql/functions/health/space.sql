-- Refusing mail before PostgreSQL fails for lack of disk space. Workers on the server's host report free space.

CREATE OR REPLACE FUNCTION mailqueue.refusal_now() RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT string_agg(r.message, '; ' ORDER BY r.since)
      FROM mailqueue.refusals AS r WHERE r.valid_until > now() AND r.project_id IS NULL
$$;
COMMENT ON FUNCTION mailqueue.refusal_now() IS 'Why mail is not accepted at present; NULL while it is accepted.';

CREATE OR REPLACE FUNCTION mailqueue.refuse_for_now(p_project uuid) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    r record;
    v_all text;
BEGIN
    PERFORM mailqueue.check_producer(p_project);
    v_all := mailqueue.refusal_now();
    IF v_all IS NOT NULL THEN
        RAISE EXCEPTION 'mail is not accepted now: %', v_all
              USING ERRCODE = '53100',
                  HINT = 'Queued mail is still sent. Try again in a minute; mailqueue doctor names the fix.';
    END IF;
    SELECT p.name, x.message INTO r FROM mailqueue.refusals AS x JOIN mailqueue.projects AS p ON p.id = x.project_id
     WHERE x.project_id = p_project AND x.valid_until > now() ORDER BY x.since LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'project % is full: %', r.name, r.message
              USING ERRCODE = 'MQ002',
                  HINT = 'Queued emails are still sent, and other projects are accepted. Try again in a minute.';
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.refuse_for_now(uuid) IS
    'Raise the reason from refusals: SQLSTATE 53100 for all mail, MQ002 for this project only; nothing once over.';

-- A report expires after two minutes: a worker that reported a full disk and is gone must not stop mail for good.
CREATE OR REPLACE FUNCTION mailqueue.report_space(p_host text, p_places text[], p_free bigint[], p_total bigint[],
    OUT refuse_below bigint, OUT accept_above bigint, OUT is_refused boolean)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_limit bigint := mailqueue.system_number('database_size_limit');
    v_size bigint;
    v_short text;
BEGIN
    INSERT INTO mailqueue.space_reports AS s (host, place, free_bytes, total_bytes)
    SELECT p_host, n.place, n.free, n.total FROM unnest(p_places, p_free, p_total) AS n(place, free, total)
     ORDER BY n.place
    ON CONFLICT (host, place) DO UPDATE
       SET free_bytes = excluded.free_bytes, total_bytes = excluded.total_bytes, reported_at = clock_timestamp();
    IF v_limit > 0 AND has_database_privilege(current_database(), 'CONNECT')
       AND NOT EXISTS (SELECT FROM mailqueue.space_reports AS s WHERE s.place = 'limit' AND s.total_bytes = v_limit
                                    AND s.reported_at > clock_timestamp() - interval '10 s') THEN
        v_size := pg_database_size(current_database());
        INSERT INTO mailqueue.space_reports AS s (host, place, free_bytes, total_bytes)
        VALUES ('', 'limit', v_limit - v_size, v_limit)
        ON CONFLICT (host, place) DO UPDATE
           SET free_bytes = excluded.free_bytes, total_bytes = excluded.total_bytes, reported_at = clock_timestamp();
    ELSIF v_limit = 0 THEN
        DELETE FROM mailqueue.space_reports AS s WHERE s.place = 'limit';
    END IF;
    DELETE FROM mailqueue.space_reports AS s WHERE s.reported_at < clock_timestamp() - interval '1 day';

    refuse_below := mailqueue.system_number('free_space_refuse');
    accept_above := greatest(refuse_below, mailqueue.system_number('free_space_accept'));
    PERFORM mailqueue.judge_space('free_space', refuse_below, accept_above, s.free_bytes,
        format('the disk of PostgreSQL on %s has %s left of %s (%s)', s.host, pg_size_pretty(s.free_bytes),
               pg_size_pretty(s.total_bytes), s.place))
       FROM mailqueue.fresh_space() AS s WHERE s.place <> 'limit' ORDER BY s.free_bytes LIMIT 1;
    PERFORM mailqueue.judge_space('size_limit', 1, greatest(1, s.total_bytes / 20), s.free_bytes,
        format('the database has %s, database_size_limit is %s', pg_size_pretty(s.total_bytes - s.free_bytes),
               pg_size_pretty(s.total_bytes)))
       FROM mailqueue.fresh_space() AS s WHERE s.place = 'limit';
    IF v_limit = 0 THEN
        DELETE FROM mailqueue.refusals AS r WHERE r.reason = 'size_limit';
    END IF;
    SELECT format('the disk of PostgreSQL on %s has %s left of %s', s.host, pg_size_pretty(s.free_bytes),
                  pg_size_pretty(s.total_bytes)) INTO v_short
      FROM mailqueue.fresh_space() AS s
     WHERE s.place <> 'limit' AND refuse_below > 0 AND s.free_bytes < accept_above
        OR s.place = 'limit' AND s.free_bytes < s.total_bytes / 20
     ORDER BY s.free_bytes LIMIT 1;
    PERFORM mailqueue.refuse_largest(v_short IS NOT NULL, v_short);
    is_refused := mailqueue.refusal_now() IS NOT NULL;
END $$;
COMMENT ON FUNCTION mailqueue.report_space(text, text[], bigint[], bigint[]) IS
    'Report the free space of the server''s disks, as seen on its host, and compare the database with its size limit;'
    ' stops or resumes accepting mail.';

CREATE OR REPLACE FUNCTION mailqueue.fresh_space() RETURNS SETOF mailqueue.space_reports
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$ SELECT s.* FROM mailqueue.space_reports AS s WHERE s.reported_at > clock_timestamp() - interval '2 min' $$;
COMMENT ON FUNCTION mailqueue.fresh_space() IS 'Space reports that have not expired.';

-- Between the two bounds the state stays as it is, so that it does not alternate.
CREATE OR REPLACE FUNCTION mailqueue.judge_space(p_reason text, p_below bigint, p_above bigint, p_free bigint,
    p_message text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF p_free < p_below THEN
        INSERT INTO mailqueue.refusals AS r (reason, message, valid_until)
        VALUES (p_reason, p_message, clock_timestamp() + interval '2 min')
        ON CONFLICT (reason) DO UPDATE
           SET message = excluded.message, valid_until = excluded.valid_until,
               since = CASE WHEN r.valid_until > clock_timestamp() THEN r.since ELSE excluded.since END;
    ELSIF p_free >= p_above THEN
        DELETE FROM mailqueue.refusals AS r WHERE r.reason = p_reason;
    ELSE
        UPDATE mailqueue.refusals AS r SET message = p_message, valid_until = clock_timestamp() + interval '2 min'
         WHERE r.reason = p_reason AND r.valid_until > clock_timestamp();
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.judge_space(text, bigint, bigint, bigint, text) IS
    'Refuse mail below one bound, accept it again above the other.';
