-- Marking: the last check before mail is sent. Mail that is not marked was certainly not sent.

-- p_ids and p_claims: mails about to be sent. p_open_*: mails marked before and not settled yet. Returns a row for each
-- mail of p_ids; only 'go' may be sent. A worker that was declared lost gets no rows.
CREATE OR REPLACE FUNCTION mailqueue.mark_emails(p_worker integer, p_ids uuid[], p_claims bigint[], p_open_ids uuid[],
    p_open_claims bigint[])
RETURNS TABLE (id uuid, verdict text, reason text, stopped text[])
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_several uuid[];                                        -- messages that have recipients of their own
    v_aside uuid[];                                          -- mail of pauses, quiet hours and frequency caps
    v_at tid;
    v_now timestamptz;                                       -- an index is not searched for a volatile function
BEGIN
    IF p_ids = '{}' THEN
        RETURN;
    END IF;
    -- Rescue locks this row too: either it sees these marks, or this worker sees that it was declared lost. The row is
    -- found newest version first: under a long snapshot a look-up by worker alone would read all dead versions.
    UPDATE mailqueue.send_intents AS s
       SET rev = s.rev + 1, email_ids = p_open_ids || p_ids, claim_nos = p_open_claims || p_claims,
           marked_at = clock_timestamp()
     WHERE s.ctid = (SELECT n.ctid FROM mailqueue.send_intents AS n WHERE n.worker_id = p_worker ORDER BY n.rev DESC
                      LIMIT 1);
    -- Another session of this worker has changed it meanwhile, or it was deleted.
    IF NOT FOUND THEN
        SELECT n.ctid INTO v_at FROM mailqueue.send_intents AS n
         WHERE n.worker_id = p_worker ORDER BY n.rev DESC LIMIT 1 FOR NO KEY UPDATE;
        IF NOT FOUND THEN
            RETURN;
        END IF;
        UPDATE mailqueue.send_intents AS s
           SET rev = s.rev + 1, email_ids = p_open_ids || p_ids, claim_nos = p_open_claims || p_claims,
               marked_at = clock_timestamp()
         WHERE s.ctid = v_at;
    END IF;
    v_now := clock_timestamp();
    IF EXISTS (SELECT FROM mailqueue.pauses AS p WHERE p.until > v_now) THEN
        v_aside := mailqueue.set_aside_claimed(p_ids, p_claims);
    END IF;
    IF EXISTS (SELECT FROM mailqueue.projects AS p WHERE p.quiet_hours IS NOT NULL OR p.frequency_cap IS NOT NULL) THEN
        v_aside := v_aside || mailqueue.hold_back_claimed(p_ids, p_claims);
    END IF;
    v_several := ARRAY(SELECT DISTINCT r.email_id FROM mailqueue.email_recipients AS r WHERE r.email_id = ANY (p_ids));
    RETURN QUERY
    SELECT i.id,
           CASE WHEN q.id IS NULL THEN 'lost'
                WHEN q.is_cancelled THEN 'cancelled'
                WHEN q.expires_at <= clock_timestamp() THEN 'expired'
                WHEN w.reason IS NOT NULL THEN 'suppressed'
                WHEN q.id = ANY (v_aside) THEN 'paused'
                ELSE 'go' END,
           w.reason, n.addresses
      FROM unnest(p_ids, p_claims) AS i(id, claim_no)
      LEFT JOIN mailqueue.email_queue AS q ON q.id = i.id AND q.claim_no = i.claim_no
      LEFT JOIN LATERAL (
          SELECT count(*) AS pending, array_agg(r.address) FILTER (WHERE z.reason IS NOT NULL) AS addresses,
                 CASE WHEN bool_and(z.reason IS NOT NULL) THEN min(z.reason) END AS all_reason
            FROM mailqueue.email_recipients AS r
            CROSS JOIN LATERAL (SELECT CASE WHEN NOT q.is_test
                                                 THEN mailqueue.suppressed(q.project_id, r.address,
                                                                           q.category) END AS reason) AS z
           WHERE q.id = ANY (v_several) AND r.email_id = q.id AND r.status = 'pending') AS n ON true
      LEFT JOIN LATERAL (
          -- Not by the count of recipients: of several, one may be left, and not the first.
          SELECT CASE WHEN n.pending > 0 THEN n.all_reason
                      WHEN EXISTS (SELECT FROM mailqueue.suppressions AS s
                                    WHERE s.project_id = q.project_id
                                      AND s.address = mailqueue.address_key(q.recipient_email)
                                    ORDER BY s.category OFFSET 0)  -- see accept_rows()
                           OR EXISTS (SELECT FROM mailqueue.suppressions AS s
                                       WHERE s.project_id = q.project_id AND s.address IS NULL OFFSET 0)
                      THEN CASE WHEN NOT q.is_test
                                     THEN mailqueue.suppressed(q.project_id, q.recipient_email,
                                                               q.category) END END AS reason
          OFFSET 0) AS w ON true;                            -- OFFSET: asked once, though used twice
END $$;
COMMENT ON FUNCTION mailqueue.mark_emails(integer, uuid[], bigint[], uuid[], bigint[]) IS
    'Record that mails are about to be sent, and return which of them still may be.';
