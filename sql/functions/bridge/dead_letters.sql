-- Messages of a broker that did not become events: kept with their reason, and replayed.

CREATE OR REPLACE FUNCTION mailqueue.keep_dead_letter(p_project text, p_queue text, p_digest bytea, p_message uuid,
    p_type text, p_content_type text, p_headers jsonb, p_body text, p_reason text, p_deliveries integer) RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    c_most CONSTANT integer := 10000;                        -- dead letters of a project; the oldest are deleted
    v_project uuid := mailqueue.project_named(p_project);
    v_id uuid;
BEGIN
    INSERT INTO mailqueue.dead_letters AS d (project_id, queue, digest, message_id, type, content_type, headers, body,
                                             reason, deliveries)
    VALUES (v_project, p_queue, p_digest, p_message, left(p_type, 200), left(p_content_type, 200),
            coalesce(p_headers, '{}'), p_body, left(p_reason, 1000), p_deliveries)
    ON CONFLICT ON CONSTRAINT dead_letters_digest_key
    DO UPDATE SET reason = excluded.reason, deliveries = greatest(d.deliveries, excluded.deliveries)
    RETURNING d.id INTO v_id;
    DELETE FROM mailqueue.dead_letters AS d
     WHERE d.id IN (SELECT o.id FROM mailqueue.dead_letters AS o WHERE o.project_id = v_project
                     ORDER BY o.project_id DESC, o.id DESC OFFSET c_most LIMIT 100);
    RETURN v_id;
END $$;
COMMENT ON FUNCTION mailqueue.keep_dead_letter(text, text, bytea, uuid, text, text, jsonb, text, text, integer) IS
    'Keep a message of a broker that could not be handled; returns the id of its row. A second delivery is the same '
    'row.';

-- In the order in which they came, p_limit at a time after p_after. Rows that another replay holds are left out.
CREATE OR REPLACE FUNCTION mailqueue.pick_dead_letters(p_project uuid, p_ids uuid[], p_type text, p_since timestamptz,
    p_until timestamptz, p_after uuid, p_limit integer) RETURNS SETOF mailqueue.dead_letters
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    c_max_letters CONSTANT integer := 200;                   -- of one call
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(false);
    IF num_nonnulls(p_ids, p_type, p_since, p_until) = 0 THEN
        PERFORM mailqueue.refuse('ids', 'ids, a type or a time is needed');
    ELSIF p_limit IS NULL OR p_limit NOT BETWEEN 1 AND c_max_letters THEN
        PERFORM mailqueue.refuse('limit', format('1 to %s, got %s', c_max_letters, coalesce(p_limit::text, 'null')));
    END IF;
    RETURN QUERY
    SELECT d.* FROM mailqueue.dead_letters AS d
     WHERE d.project_id = p_project AND d.status = 'waiting'
       AND d.id > coalesce(p_after, '00000000-0000-0000-0000-000000000000')
       AND (p_ids IS NULL OR d.id = ANY (p_ids) OR d.message_id = ANY (p_ids))
       AND (p_type IS NULL OR d.type = p_type)
       AND (p_since IS NULL OR d.created_at >= p_since) AND (p_until IS NULL OR d.created_at < p_until)
     ORDER BY d.project_id, d.id LIMIT p_limit FOR NO KEY UPDATE SKIP LOCKED;
END $$;
COMMENT ON FUNCTION mailqueue.pick_dead_letters(uuid, uuid[], text, timestamptz, timestamptz, uuid, integer) IS
    'Dead letters of a project to replay, locked; p_ids are ids of dead letters or of messages.';

CREATE OR REPLACE FUNCTION mailqueue.settle_dead_letters(p_project uuid, p_ids uuid[], p_reasons text[], p_detail jsonb,
    p_by text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(false);
    UPDATE mailqueue.dead_letters AS d
       SET status = CASE WHEN i.reason IS NULL THEN 'replayed' ELSE d.status END,
           replayed_at = CASE WHEN i.reason IS NULL THEN clock_timestamp() END,
           reason = coalesce(left(i.reason, 1000), d.reason)
      FROM unnest(p_ids, p_reasons) AS i(id, reason)
     WHERE d.id = i.id AND d.project_id = p_project AND d.status = 'waiting';
    PERFORM mailqueue.record_operation(p_project, 'dead_letters.replayed', 'project ' || p.name, p_detail, p_by)
       FROM mailqueue.projects AS p WHERE p.id = p_project;
END $$;
COMMENT ON FUNCTION mailqueue.settle_dead_letters(uuid, uuid[], text[], jsonb, text) IS
    'Write what became of dead letters that were replayed: NULL, or why they could not be handled.';
