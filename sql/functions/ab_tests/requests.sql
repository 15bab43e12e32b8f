-- Reading A/B tests, deciding them by hand and cancelling them.

CREATE OR REPLACE FUNCTION mailqueue.ab_test_state(t mailqueue.ab_tests) RETURNS text
LANGUAGE sql STABLE
AS $$
    SELECT CASE WHEN (t).status IN ('completed', 'cancelled', 'failed') THEN (t).status
                WHEN (t).cancelled_by IS NOT NULL THEN 'cancelling'
                WHEN (t).decided_at IS NOT NULL THEN 'sending'
                WHEN (t).started_at IS NULL THEN 'created'
                ELSE 'running' END
$$;
COMMENT ON FUNCTION mailqueue.ab_test_state(mailqueue.ab_tests) IS
    'The state of a test in the words of the API.';

-- Counts are kept once the test is decided; before, they are what they are now.
CREATE OR REPLACE FUNCTION mailqueue.ab_test_document(t mailqueue.ab_tests) RETURNS jsonb
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT mailqueue.check_tenant(t.project_id);
    SELECT jsonb_agg(jsonb_build_object(
               'name', v.name, 'share', v.share,
               'template_version_id', v.contents -> 0 -> 'template_version_id',
               'subject', CASE WHEN v.languages = '{}' THEN v.contents -> 0 -> 'subject' END,
               'accepted', (SELECT count(*) FROM mailqueue.ab_test_recipients AS r
                             WHERE r.ab_test_id = t.id AND r.variant = v.number AND r.is_sample
                               AND r.outcome = 'accepted'),
               'sent', coalesce(v.sent, c.sent), 'opened', coalesce(v.opened, c.opened),
               'clicked', coalesce(v.clicked, c.clicked), 'p_value', v.p_value) ORDER BY v.number)
      FROM mailqueue.ab_test_variants AS v
      LEFT JOIN mailqueue.count_ab_test(CASE WHEN t.decided_at IS NULL THEN t.id END) AS c ON c.number = v.number
     WHERE v.ab_test_id = t.id
$$;
COMMENT ON FUNCTION mailqueue.ab_test_document(mailqueue.ab_tests) IS
    'Variants of a test with their counts: those that decided, or those of now.';

CREATE OR REPLACE FUNCTION mailqueue.decide_ab_test(p_project uuid, p_id uuid, p_variant text,
    p_by text DEFAULT session_user) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_winner smallint;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM FROM mailqueue.ab_tests AS x
      WHERE x.id = p_id AND x.project_id = p_project AND x.status IN ('pending', 'assigned', 'failed')
        AND x.decided_at IS NULL AND x.cancelled_by IS NULL AND coalesce(mailqueue.mode(), x.is_test) = x.is_test
        FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    SELECT v.number INTO v_winner FROM mailqueue.ab_test_variants AS v
     WHERE v.ab_test_id = p_id AND v.name = p_variant;
    IF v_winner IS NULL THEN
        PERFORM mailqueue.refuse('variant', format('the test has no variant %s', to_json(left(p_variant, 100))));
    END IF;
    PERFORM mailqueue.write_ab_test(p_id, 'by_hand', v_winner, array_agg(c.sent ORDER BY c.number),
                array_agg(c.opened ORDER BY c.number), array_agg(c.clicked ORDER BY c.number), '{}',
                coalesce(left(p_by, 200), session_user))
       FROM mailqueue.count_ab_test(p_id) AS c;
    UPDATE mailqueue.ab_tests AS x SET run_at = now() WHERE x.id = p_id AND x.status = 'pending';
    UPDATE mailqueue.ab_tests AS x SET status = 'pending', run_at = now(), attempts = 0, finished_at = NULL
     WHERE x.id = p_id AND x.status = 'failed';
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.decide_ab_test(uuid, uuid, text, text) IS
    'Make a variant the winner of a test before its evaluation; false: it is decided, cancelled or over.';

CREATE OR REPLACE FUNCTION mailqueue.cancel_ab_test(p_project uuid, p_id uuid, p_by text DEFAULT session_user)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    UPDATE mailqueue.ab_tests AS x
       SET cancelled_by = coalesce(left(p_by, 200), session_user),
           status = CASE x.status WHEN 'failed' THEN 'pending' ELSE x.status END,
           finished_at = NULL, run_at = CASE x.status WHEN 'assigned' THEN x.run_at ELSE now() END
     WHERE x.id = p_id AND x.project_id = p_project AND x.status IN ('pending', 'assigned', 'failed')
       AND x.cancelled_by IS NULL AND coalesce(mailqueue.mode(), x.is_test) = x.is_test;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM mailqueue.record_operation(p_project, 'ab_test.cancelled', 'ab_test ' || p_id, '{}', p_by);
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.cancel_ab_test(uuid, uuid, text) IS
    'Cancel a test: recipients that wait get no mail. False: it is over, or cancelled already.';
