-- The evaluation of A/B tests, and the mail to the others: by who holds the claim of the row, or a decision by hand.

-- Emails of the sample: those that were sent, and of these the ones that people opened or clicked in, once each.
CREATE OR REPLACE FUNCTION mailqueue.count_ab_test(p_id uuid)
RETURNS TABLE (number smallint, sent bigint, opened bigint, clicked bigint)
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT v.number, count(m.email_id), count(m.email_id) FILTER (WHERE m.is_opened),
           count(m.email_id) FILTER (WHERE m.is_clicked)
      FROM mailqueue.ab_test_variants AS v
      LEFT JOIN LATERAL (
            SELECT r.email_id, e.is_opened, e.is_clicked
              FROM mailqueue.ab_test_recipients AS r
             CROSS JOIN LATERAL (
                    SELECT coalesce(bool_or(o.type = 'opened'), false) AS is_opened,
                           coalesce(bool_or(o.type = 'clicked'), false) AS is_clicked
                      FROM mailqueue.email_events AS o
                     WHERE o.email_id = r.email_id AND o.type IN ('opened', 'clicked')
                       AND NOT coalesce(o.data -> 'is_machine' = 'true', false)) AS e
             WHERE r.ab_test_id = p_id AND r.variant = v.number AND r.is_sample AND r.email_id IS NOT NULL
               AND EXISTS (SELECT FROM mailqueue.email_history AS h
                            WHERE h.id = r.email_id AND h.status = 'sent')) AS m ON true
     WHERE v.ab_test_id = p_id
     GROUP BY v.number
     ORDER BY v.number
$$;
COMMENT ON FUNCTION mailqueue.count_ab_test(uuid) IS
    'Emails of the sample of a test by variant: sent, and of these opened and clicked in by people.';

CREATE OR REPLACE FUNCTION mailqueue.take_ab_test(p_id uuid, p_claim bigint, OUT state text, OUT metric text,
    OUT alpha double precision, OUT min_sample integer, OUT sent bigint[], OUT opened bigint[], OUT clicked bigint[])
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    t mailqueue.ab_tests;
BEGIN
    SELECT x.* INTO t FROM mailqueue.ab_tests AS x
     WHERE x.id = p_id AND x.status = 'assigned' AND x.claim_no = p_claim FOR NO KEY UPDATE;
    metric := coalesce(t.metric, '');
    alpha := coalesce(t.alpha, 0);
    min_sample := coalesce(t.min_sample, 0);
    sent := '{}';
    opened := '{}';
    clicked := '{}';
    state := CASE WHEN t.id IS NULL THEN 'lost'
                  WHEN t.cancelled_by IS NOT NULL THEN 'cancelled'
                  WHEN t.decided_at IS NOT NULL THEN 'decided'
                  WHEN now() < coalesce(t.started_at, t.created_at) + t.evaluate_after THEN 'early'
                  ELSE 'due' END;
    IF state = 'due' THEN
        SELECT array_agg(c.sent), array_agg(c.opened), array_agg(c.clicked) INTO sent, opened, clicked
          FROM (SELECT * FROM mailqueue.count_ab_test(p_id) AS o ORDER BY o.number) AS c;
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.take_ab_test(uuid, bigint) IS
    'What is to be done about a test, whose row stays locked: due with its counts by variant; decided, cancelled, '
    'early, or lost where the claim no longer holds.';

-- In the transaction that has locked the row: the counts that decide are those that are kept.
CREATE OR REPLACE FUNCTION mailqueue.write_ab_test(p_id uuid, p_result text, p_winner smallint, p_sent bigint[],
    p_opened bigint[], p_clicked bigint[], p_values double precision[], p_by text) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    UPDATE mailqueue.ab_test_variants AS v
       SET sent = p_sent[v.number], opened = p_opened[v.number], clicked = p_clicked[v.number],
           p_value = p_values[v.number]
     WHERE v.ab_test_id = p_id;
    UPDATE mailqueue.ab_tests AS x
       SET result = p_result, winner = p_winner, decided_at = clock_timestamp(), decided_by = p_by
     WHERE x.id = p_id;
    PERFORM mailqueue.record_operation(x.project_id, 'ab_test.decided', 'ab_test ' || x.id,
                jsonb_build_object('result', p_result, 'winner', v.name), p_by)
       FROM mailqueue.ab_tests AS x
       LEFT JOIN mailqueue.ab_test_variants AS v ON v.ab_test_id = x.id AND v.number = p_winner
      WHERE x.id = p_id;
END $$;
COMMENT ON FUNCTION mailqueue.write_ab_test(uuid, text, smallint, bigint[], bigint[], bigint[], double precision[],
                                            text) IS
    'Store the answer of a test, whose row the caller has locked, with the counts of its variants.';

CREATE OR REPLACE FUNCTION mailqueue.record_ab_test(p_id uuid, p_claim bigint, p_result text, p_winner smallint,
    p_sent bigint[], p_opened bigint[], p_clicked bigint[], p_values double precision[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM FROM mailqueue.ab_tests AS x
      WHERE x.id = p_id AND x.status = 'assigned' AND x.claim_no = p_claim AND x.decided_at IS NULL
        FOR NO KEY UPDATE;
    IF FOUND THEN
        PERFORM mailqueue.write_ab_test(p_id, p_result, p_winner, p_sent, p_opened, p_clicked, p_values, NULL);
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.record_ab_test(uuid, bigint, text, smallint, bigint[], bigint[], bigint[],
                                             double precision[]) IS
    'Store the answer of an evaluation; once, and by who holds the claim alone.';

-- Recipients that wait are read in the order of their places, and locked: an erasure waits for their mail.
CREATE OR REPLACE FUNCTION mailqueue.continue_ab_test(p_id uuid, p_claim bigint, p_most integer) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    t mailqueue.ab_tests;
    v_count integer;
    v_rows jsonb;
BEGIN
    SELECT x.* INTO t FROM mailqueue.ab_tests AS x
     WHERE x.id = p_id AND x.status = 'assigned' AND x.claim_no = p_claim FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 'lost';
    END IF;
    PERFORM set_config('mailqueue.project', t.project_id::text, true),
            set_config('mailqueue.mode', CASE WHEN t.is_test THEN 'test' ELSE 'live' END, true);
    SELECT count(*), jsonb_agg(jsonb_build_object(
               'n', w.n, 'place', w.place, 'recipient', w.recipient,
               'variant', coalesce(t.winner, CASE t.if_none WHEN 'first' THEN 1 ELSE w.variant END)) ORDER BY w.n)
      INTO v_count, v_rows
      FROM (SELECT o.*, row_number() OVER (ORDER BY o.place) - 1 AS n
              FROM (SELECT r.place, r.recipient, r.variant FROM mailqueue.ab_test_recipients AS r
                     WHERE r.ab_test_id = p_id AND r.outcome IS NULL
                     ORDER BY r.place LIMIT p_most FOR UPDATE) AS o) AS w;
    IF t.cancelled_by IS NOT NULL THEN
        UPDATE mailqueue.ab_test_recipients AS r SET outcome = 'cancelled', recipient = NULL
         WHERE r.ab_test_id = p_id
           AND r.place IN (SELECT (w.value ->> 'place')::uuid FROM jsonb_array_elements(v_rows) AS w);
    ELSIF v_count > 0 THEN
        UPDATE mailqueue.ab_test_recipients AS r
           SET outcome = a.status, email_id = a.id, reason = left(a.reason, 500), recipient = NULL,
               variant = (v_rows -> a.n ->> 'variant')::smallint
          FROM mailqueue.accept_ab_test(t, v_rows) AS a
         WHERE r.ab_test_id = p_id AND r.place = (v_rows -> a.n ->> 'place')::uuid;
    END IF;
    UPDATE mailqueue.ab_tests AS x
       SET crashes = least(x.crashes, 1),                    -- deaths of workers count from the last chunk
           assignment_key = CASE WHEN v_count = p_most THEN x.assignment_key END
     WHERE x.id = p_id;
    RETURN CASE WHEN v_count = p_most THEN 'more' WHEN t.cancelled_by IS NOT NULL THEN 'cancelled' ELSE 'done' END;
END $$;
COMMENT ON FUNCTION mailqueue.continue_ab_test(uuid, bigint, integer) IS
    'Accept mail to the next recipients that waited for the decision about a test, or let them go where it was '
    'cancelled. Returns more, done or cancelled; lost where the claim no longer holds. At the end the key of the '
    'assignment is deleted.';
