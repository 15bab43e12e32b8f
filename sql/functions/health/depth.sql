-- Number of mails without counting millions: exact up to the setting count_exactly, estimated from statistics above.

CREATE OR REPLACE FUNCTION mailqueue.rows_of(p_table regclass) RETURNS bigint
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT coalesce(sum(CASE WHEN n.live > 0 THEN n.live ELSE greatest(c.reltuples, 0) END), 0)::bigint
      FROM pg_class AS c CROSS JOIN LATERAL (SELECT pg_stat_get_live_tuples(c.oid) AS live) AS n
     WHERE c.relkind = 'r' AND (c.oid = p_table OR c.oid IN (SELECT t.relid FROM pg_partition_tree(p_table) AS t))
$$;
COMMENT ON FUNCTION mailqueue.rows_of(regclass) IS 'Estimated number of rows of a table, partitions included.';

CREATE OR REPLACE FUNCTION mailqueue.lane_depths()
RETURNS TABLE (lane_id integer, pending bigint, due bigint, assigned bigint, held bigint,
    oldest_due_at timestamptz, is_estimate boolean)
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET jit = off
AS $$
    WITH most AS MATERIALIZED (
        SELECT CASE WHEN mailqueue.rows_of('mailqueue.email_queue') > x.few THEN greatest(1, x.few / 300)
                    ELSE x.few + 1 END AS emails
          FROM (SELECT mailqueue.system_number('count_exactly') AS few) AS x
    ), waiting AS MATERIALIZED (
        SELECT w.lane_id, w.oldest_run_at, n.pending, n.due, n.pending >= m.emails AS is_cut
          FROM most AS m CROSS JOIN mailqueue.lanes_waiting() AS w CROSS JOIN LATERAL (
              SELECT count(*) AS pending, count(*) FILTER (WHERE few.run_at <= clock_timestamp()) AS due
                FROM (SELECT q.run_at FROM mailqueue.email_queue AS q
                       WHERE q.status = 'pending' AND q.lane_id = w.lane_id
                       ORDER BY q.run_at LIMIT m.emails) AS few) AS n
    ), share AS MATERIALIZED (
        SELECT m.lane_id::integer, (m.share * mailqueue.rows_of('mailqueue.email_queue'))::bigint AS emails
          FROM pg_stats AS s
         CROSS JOIN unnest(s.most_common_vals::text::text[], s.most_common_freqs) AS m(lane_id, share)
         WHERE s.schemaname = 'mailqueue' AND s.tablename = 'email_queue' AND s.attname = 'lane_id'
           AND EXISTS (SELECT FROM waiting AS w WHERE w.is_cut)
    ), known AS (
        SELECT w.lane_id, CASE WHEN w.is_cut THEN greatest(w.pending, s.emails) ELSE w.pending END AS pending,
               CASE WHEN w.is_cut AND w.due = w.pending THEN greatest(w.due, s.emails) ELSE w.due END AS due,
               0::bigint AS assigned, 0::bigint AS held,
               CASE WHEN w.due > 0 THEN w.oldest_run_at END AS oldest_due_at, w.is_cut
          FROM waiting AS w LEFT JOIN share AS s ON s.lane_id = w.lane_id
        UNION ALL
        SELECT q.lane_id, 0, 0, count(*), 0, NULL, false FROM mailqueue.email_queue AS q WHERE q.status = 'assigned'
         GROUP BY q.lane_id
        UNION ALL
        SELECT q.lane_id, 0, 0, 0, count(*), NULL, false FROM mailqueue.email_queue AS q WHERE q.status = 'held'
         GROUP BY q.lane_id
    )
    SELECT k.lane_id, sum(k.pending)::bigint, sum(k.due)::bigint, sum(k.assigned)::bigint, sum(k.held)::bigint,
           min(k.oldest_due_at), bool_or(k.is_cut)
      FROM known AS k GROUP BY k.lane_id
$$;
COMMENT ON FUNCTION mailqueue.lane_depths() IS 'Unfinished mail of each lane; estimated where much is pending.';

CREATE OR REPLACE FUNCTION mailqueue.emails_by_status() RETURNS TABLE (status text, emails bigint, is_estimate boolean)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
        SELECT u.status, u.emails::bigint, u.is_estimate
          FROM (SELECT CASE WHEN bool_or(d.is_estimate) THEN
                                greatest(sum(d.pending),
                                         mailqueue.rows_of('mailqueue.email_queue') - sum(d.assigned) - sum(d.held))
                            ELSE sum(d.pending) END AS pending, sum(d.assigned) AS assigned, sum(d.held) AS held,
                       bool_or(d.is_estimate) AS is_rough
                  FROM mailqueue.lane_depths() AS d) AS q,
               LATERAL (VALUES ('pending', q.pending, q.is_rough), ('assigned', q.assigned, false),
                        ('held', q.held, false))
            AS u(status, emails, is_estimate)
         WHERE u.emails > 0;
    IF mailqueue.rows_of('mailqueue.email_history') <= mailqueue.system_number('count_exactly') THEN
        RETURN QUERY SELECT h.status, count(*), false FROM mailqueue.email_history AS h GROUP BY h.status;
        RETURN;
    END IF;
    -- A month without statistics is counted as sent.
    RETURN QUERY
        SELECT m.status, sum(m.share * p.rows)::bigint, true
          FROM (SELECT c.relname, mailqueue.rows_of(c.oid) AS rows
                  FROM pg_partition_tree('mailqueue.email_history') AS t
                  JOIN pg_class AS c ON c.oid = t.relid AND t.isleaf) AS p
          LEFT JOIN pg_stats AS s ON s.schemaname = 'mailqueue' AND s.tablename = p.relname AND s.attname = 'status'
         CROSS JOIN LATERAL (SELECT *
                               FROM unnest(s.most_common_vals::text::text[], s.most_common_freqs) AS v(status, share)
                             UNION ALL SELECT 'sent', 1.0 WHERE s.most_common_vals IS NULL) AS m
         WHERE p.rows > 0 GROUP BY m.status;
END $$;
COMMENT ON FUNCTION mailqueue.emails_by_status() IS
    'Number of mails in each status: counted up to count_exactly, otherwise estimated from statistics.';

-- Of a project with more, the newest are counted, and their shares are those of its part of the table.
CREATE OR REPLACE FUNCTION mailqueue.finished_by_status(p_project uuid)
RETURNS TABLE (status text, emails bigint, is_estimate boolean)
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
AS $$
    WITH newest AS MATERIALIZED (
        SELECT h.status FROM mailqueue.email_history AS h WHERE h.project_id = p_project
         ORDER BY h.id DESC LIMIT mailqueue.system_number('count_exactly') + 1
    ), seen AS MATERIALIZED (
        SELECT count(*) AS emails, count(*) > mailqueue.system_number('count_exactly') AS is_cut FROM newest
    ), part AS (
        SELECT sum(v.share * mailqueue.rows_of(c.oid)) AS emails
          FROM pg_partition_tree('mailqueue.email_history') AS t JOIN pg_class AS c ON c.oid = t.relid AND t.isleaf
          JOIN pg_stats AS s ON s.schemaname = 'mailqueue' AND s.tablename = c.relname AND s.attname = 'project_id'
         CROSS JOIN unnest(s.most_common_vals::text::text[], s.most_common_freqs) AS v(project_id, share)
         WHERE v.project_id = p_project::text AND EXISTS (SELECT FROM seen AS n WHERE n.is_cut)
    )
    SELECT n.status,
           CASE WHEN s.is_cut THEN (count(*) * greatest(1, coalesce(p.emails, 0) / s.emails))::bigint
                ELSE count(*) END, s.is_cut
      FROM newest AS n CROSS JOIN seen AS s CROSS JOIN part AS p GROUP BY n.status, s.is_cut, s.emails, p.emails
$$;
COMMENT ON FUNCTION mailqueue.finished_by_status(uuid) IS
    'Number of finished mails of a project in each status: counted up to count_exactly, otherwise estimated.';
