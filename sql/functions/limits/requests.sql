-- Request rates of API keys and projects. Processes lease requests in advance and count them in memory.

CREATE OR REPLACE FUNCTION mailqueue.lease_requests(p_bucket uuid, p_capacity double precision,
    p_per_second double precision,
                                                    p_wanted double precision, p_returned double precision,
                                                    OUT granted double precision, OUT tokens double precision)
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    -- Losing the last of these in a crash lets a caller make a few more requests: the commit need not wait for the
    -- disk.
    SELECT set_config('synchronous_commit', 'off', true);
    INSERT INTO mailqueue.request_buckets AS b (id, tokens, granted, filled_at)
    VALUES (p_bucket, p_capacity - least(p_wanted, p_capacity), least(p_wanted, p_capacity), clock_timestamp())
    ON CONFLICT (id) DO UPDATE
       SET (tokens, granted, filled_at) = (
               SELECT t.there - t.taken, t.taken, t.at
                 FROM (SELECT f.there, f.at,
                              CASE WHEN f.there < 1 THEN 0 ELSE floor(least(p_wanted, f.there)) END AS taken
                         FROM (SELECT n.at,
                                      least(p_capacity,
                                            b.tokens + p_returned
                                            + p_per_second * greatest(0, extract(epoch FROM n.at - b.filled_at))
                                           ) AS there
                                 FROM (SELECT greatest(clock_timestamp(), b.filled_at) AS at) AS n) AS f) AS t)
    RETURNING b.granted, b.tokens
$$;
COMMENT ON FUNCTION mailqueue.lease_requests(uuid, double precision, double precision, double precision,
                                             double precision) IS
    'Take up to that many whole requests from a token bucket, and return what an earlier lease had left; 0 if there '
    'are none.';

-- The intake accepts mail of many projects in one transaction, which acts for none of them.
CREATE OR REPLACE FUNCTION mailqueue.suppressed_at_accept(p_id uuid) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT h.reason FROM mailqueue.email_history AS h
     WHERE h.id = p_id AND h.status = 'suppressed' AND h.finished_at = h.created_at
       AND coalesce(mailqueue.tenant(), h.project_id) = h.project_id
$$;
COMMENT ON FUNCTION mailqueue.suppressed_at_accept(uuid) IS
    'Why a mail was suppressed when it was accepted; NULL if it was queued.';
