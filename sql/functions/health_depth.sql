-- How deep the queue is, without counting millions: exactly up to a hundred thousand mails a lane, above that as statistics know.

CREATE OR REPLACE FUNCTION mailqueue.rows_of(p_table regclass) RETURNS bigint
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT coalesce(sum(CASE WHEN n.live > 0 THEN n.live ELSE greatest(c.reltuples, 0) END), 0)::bigint
      FROM pg_partition_tree(p_table) AS t JOIN pg_class AS c ON c.oid = t.relid AND t.isleaf
     CROSS JOIN LATERAL (SELECT pg_stat_get_live_tuples(c.oid) AS live) AS n
$$;
COMMENT ON FUNCTION mailqueue.rows_of(regclass) IS 'About how many rows a table has, its partitions included.';

CREATE OR REPLACE FUNCTION mailqueue.lane_depths() RETURNS TABLE (lane_id integer, pending bigint, due bigint, assigned bigint, held bigint,
    oldest_due_at timestamptz)
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET jit = off
AS $$
    WITH waiting AS MATERIALIZED (
        SELECT w.lane_id, w.oldest_run_at,
               (SELECT count(*) FROM (SELECT FROM mailqueue.email_queue AS q WHERE q.status = 'pending' AND q.lane_id = w.lane_id
                                       ORDER BY q.run_at, q.id LIMIT 100000) AS few) AS pending,
               mailqueue.due_of_lane(w.lane_id, 100000) AS due
          FROM mailqueue.lanes_waiting() AS w
    ), share AS MATERIALIZED (
        SELECT m.lane_id::integer, (m.share * mailqueue.rows_of('mailqueue.email_queue'))::bigint AS emails
          FROM pg_stats AS s CROSS JOIN unnest(s.most_common_vals::text::text[], s.most_common_freqs) AS m(lane_id, share)
         WHERE s.schemaname = 'mailqueue' AND s.tablename = 'email_queue' AND s.attname = 'lane_id'
           AND EXISTS (SELECT FROM waiting AS w WHERE w.pending >= 100000)
    ), known AS (
        SELECT w.lane_id, CASE WHEN w.pending < 100000 THEN w.pending ELSE greatest(w.pending, s.emails) END AS pending,
               CASE WHEN w.due < 100000 THEN w.due ELSE greatest(w.due, s.emails) END AS due, 0::bigint AS assigned, 0::bigint AS held,
               CASE WHEN w.due > 0 THEN w.oldest_run_at END AS oldest_due_at
          FROM waiting AS w LEFT JOIN share AS s ON s.lane_id = w.lane_id
        UNION ALL
        SELECT q.lane_id, 0, 0, count(*), 0, NULL FROM mailqueue.email_queue AS q WHERE q.status = 'assigned' GROUP BY q.lane_id
        UNION ALL
        SELECT q.lane_id, 0, 0, 0, count(*), NULL FROM mailqueue.email_queue AS q WHERE q.status = 'held' GROUP BY q.lane_id
    )
    SELECT k.lane_id, sum(k.pending)::bigint, sum(k.due)::bigint, sum(k.assigned)::bigint, sum(k.held)::bigint, min(k.oldest_due_at)
      FROM known AS k GROUP BY k.lane_id
$$;
COMMENT ON FUNCTION mailqueue.lane_depths() IS 'Unfinished mail of each lane; where more than 100,000 are pending, about how many.';

CREATE OR REPLACE FUNCTION mailqueue.emails_by_status() RETURNS TABLE (status text, emails bigint, is_estimate boolean)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
        SELECT u.status, u.emails::bigint, u.is_estimate
          FROM (SELECT sum(d.pending) AS pending, sum(d.assigned) AS assigned, sum(d.held) AS held, bool_or(d.pending >= 100000) AS is_rough
                  FROM mailqueue.lane_depths() AS d) AS q,
               LATERAL (VALUES ('pending', q.pending, q.is_rough), ('assigned', q.assigned, false), ('held', q.held, false)) AS u(status, emails, is_estimate)
         WHERE u.emails > 0;
    IF mailqueue.rows_of('mailqueue.email_history') < 300000 THEN
        RETURN QUERY SELECT h.status, count(*), false FROM mailqueue.email_history AS h GROUP BY h.status;
        RETURN;
    END IF;
    -- A month that was never analysed is taken for sent.
    RETURN QUERY
        SELECT m.status, sum(m.share * p.rows)::bigint, true
          FROM (SELECT c.relname, mailqueue.rows_of(c.oid) AS rows
                  FROM pg_partition_tree('mailqueue.email_history') AS t JOIN pg_class AS c ON c.oid = t.relid AND t.isleaf) AS p
          LEFT JOIN pg_stats AS s ON s.schemaname = 'mailqueue' AND s.tablename = p.relname AND s.attname = 'status'
         CROSS JOIN LATERAL (SELECT * FROM unnest(s.most_common_vals::text::text[], s.most_common_freqs) AS v(status, share)
                             UNION ALL SELECT 'sent', 1.0 WHERE s.most_common_vals IS NULL) AS m
         WHERE p.rows > 0 GROUP BY m.status;
END $$;
COMMENT ON FUNCTION mailqueue.emails_by_status() IS 'How many mails are in each status: counted while they are few, else as statistics know.';
