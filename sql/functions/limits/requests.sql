-- Request rates of API keys and projects. Processes lease requests in advance and count them in memory.

-- A rate holds in every window of p_capacity / p_per_second seconds. What is leased is counted in a slot of a twentieth
-- of the window, and is free again when the window and the lease are over since the end of the slot: the last request
-- of a lease is then older than the window, too.
CREATE OR REPLACE FUNCTION mailqueue.lease_window(p_bucket uuid, p_capacity double precision,
    p_per_second double precision, p_lease double precision, p_count double precision, p_wanted double precision,
    p_slot double precision, p_returned double precision, OUT granted double precision, OUT free double precision,
    OUT slot double precision, OUT wait double precision)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_length double precision := p_capacity / p_per_second / 20;
    v_kept double precision := p_capacity / p_per_second * 1.05 + p_lease;  -- from the beginning of a slot
    v_at timestamptz;
    v_now double precision;
    b mailqueue.request_buckets;
    v_slots double precision[]; v_counts double precision[];
BEGIN
    -- Losing the last of these in a crash lets a caller make a few more requests: the commit need not wait for the
    -- disk.
    PERFORM set_config('synchronous_commit', 'off', true);
    FOR i IN 1..2 LOOP
        SELECT * INTO b FROM mailqueue.request_buckets AS r WHERE r.id = p_bucket FOR NO KEY UPDATE;
        EXIT WHEN FOUND;
        INSERT INTO mailqueue.request_buckets (id, tokens, granted, filled_at, slots, counts)
        VALUES (p_bucket, p_capacity, 0, clock_timestamp(), '{}', '{}') ON CONFLICT (id) DO NOTHING;
    END LOOP;
    v_at := clock_timestamp();
    v_now := extract(epoch FROM v_at);
    slot := floor(v_now / v_length) * v_length;
    -- A slot in the future is one of before the clock was set back.
    SELECT array_agg(k.slot ORDER BY k.slot), array_agg(k.count ORDER BY k.slot) INTO v_slots, v_counts
      FROM (SELECT least(o.slot, lease_window.slot) AS slot,
                   sum(o.count - CASE WHEN o.slot = p_slot THEN least(p_returned, o.count) ELSE 0 END) AS count
              FROM unnest(b.slots, b.counts) AS o(slot, count) WHERE o.slot + v_kept > v_now
             GROUP BY 1) AS k;
    free := greatest(0, p_capacity - coalesce((SELECT sum(c) FROM unnest(v_counts) AS c), 0));
    granted := CASE WHEN free < 1 THEN 0 ELSE floor(least(p_wanted, free)) END;
    free := free - granted;
    IF granted < p_count THEN
        wait := greatest(0.01, (SELECT min(k.slot)
                                  FROM (SELECT o.slot, sum(o.count) OVER (ORDER BY o.slot) AS freed
                                          FROM unnest(v_slots, v_counts) AS o(slot, count)) AS k
                                 WHERE granted + free + k.freed >= p_count) + v_kept - v_now);
    END IF;
    IF v_slots[cardinality(v_slots)] = slot THEN
        v_counts[cardinality(v_counts)] := v_counts[cardinality(v_counts)] + granted;
    ELSE
        v_slots := coalesce(v_slots, '{}') || slot;
        v_counts := coalesce(v_counts, '{}') || granted;
    END IF;
    UPDATE mailqueue.request_buckets AS r
       SET tokens = free, granted = lease_window.granted, filled_at = greatest(r.filled_at, v_at), slots = v_slots,
           counts = v_counts
     WHERE r.id = p_bucket;
END $$;
COMMENT ON FUNCTION mailqueue.lease_window(uuid, double precision, double precision, double precision, double precision,
                                           double precision, double precision, double precision) IS
    'Take up to p_wanted whole requests of a window, and return those of an earlier lease; with fewer than p_count the '
    'seconds until there are so many.';

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
