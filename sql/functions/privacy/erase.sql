-- Erasing a person: recipients and content are removed from their mail, in batches that can be interrupted and
-- continued at any point.
--
-- The books remain: that a mail was sent, when, by which account, and with what result. The recipient becomes one
-- placeholder address that represents all erased persons. A keyed hash keeps the address suppressed (suppressions).

-- The link is a keyed hash, which counts by version and link have too.
CREATE OR REPLACE FUNCTION mailqueue.counted_data(p_data jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT jsonb_object_agg(d.key, d.value) FROM jsonb_each(p_data) AS d
     WHERE d.key IN ('is_machine', 'link', 'country', 'city', 'client', 'system', 'device')
$$;
COMMENT ON FUNCTION mailqueue.counted_data(jsonb) IS
    'What an event of an erased person keeps of its data: that by which it is counted.';

-- Also for suppressions that others add while the person is erased.
CREATE OR REPLACE FUNCTION mailqueue.keep_suppressions_by_hash(p_project uuid, p_spellings text[]) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_hashes bytea[] := ARRAY(SELECT mailqueue.address_hash(p_project, a) FROM unnest(p_spellings) AS s(a));
BEGIN
    DELETE FROM mailqueue.suppressions AS s
     WHERE s.project_id = p_project AND s.address_hash = ANY (v_hashes) AND s.expires_at <= now();
    UPDATE mailqueue.suppressions AS e SET expires_at = greatest(e.expires_at, s.expires_at)
      FROM mailqueue.suppressions AS s
     WHERE s.project_id = p_project AND s.address_hash = ANY (v_hashes) AND s.address IS NOT NULL
       AND e.project_id = p_project AND e.address_hash = s.address_hash AND e.category = s.category
       AND e.address IS NULL;
    DELETE FROM mailqueue.suppressions AS s
     WHERE s.project_id = p_project AND s.address_hash = ANY (v_hashes) AND s.address IS NOT NULL
       AND EXISTS (SELECT FROM mailqueue.suppressions AS e
                    WHERE e.project_id = p_project AND e.address_hash = s.address_hash AND e.category = s.category
                      AND e.address IS NULL);
    UPDATE mailqueue.suppressions AS s SET address = NULL, detail = NULL, email_id = NULL
     WHERE s.project_id = p_project AND s.address_hash = ANY (v_hashes) AND s.address IS NOT NULL;
END $$;
COMMENT ON FUNCTION mailqueue.keep_suppressions_by_hash(uuid, text[]) IS
    'Remove a person''s address from suppressions, which go on by its hash.';

CREATE OR REPLACE FUNCTION mailqueue.begin_erasure(p_project uuid, p_spellings text[], p_suppress boolean, p_by text)
RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_hashes bytea[] := ARRAY(SELECT mailqueue.address_hash(p_project, a)
                                FROM unnest(p_spellings) WITH ORDINALITY AS s(a, n) ORDER BY n);
    v_id uuid;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.lock_key('erasure ' || encode(v_hashes[1], 'hex'));
    SELECT e.id INTO v_id FROM mailqueue.erasures AS e
     WHERE e.project_id = p_project AND e.address_hash = v_hashes[1] AND e.stage <> 'done';
    IF v_id IS NULL THEN
        INSERT INTO mailqueue.erasures AS e (project_id, address_hash, spellings, requested_by)
        VALUES (p_project, v_hashes[1], p_spellings, p_by) RETURNING e.id INTO v_id;
    END IF;
    -- The placeholder is suppressed, so that old mail sent again does not reach it.
    INSERT INTO mailqueue.suppressions (project_id, address, category, reason, detail, source)
    VALUES (p_project, 'erased@erased.invalid', '', 'manual', 'placeholder for all erased persons', 'erasure')
    ON CONFLICT DO NOTHING;

    PERFORM mailqueue.keep_suppressions_by_hash(p_project, p_spellings);
    IF p_suppress THEN
        INSERT INTO mailqueue.suppressions (project_id, address_hash, category, reason, source)
        SELECT p_project, h, '', 'manual', 'erasure' FROM unnest(v_hashes) AS h ON CONFLICT DO NOTHING;
    END IF;
    UPDATE mailqueue.suppression_history AS h SET address = NULL, detail = NULL, email_id = NULL
     WHERE h.project_id = p_project AND h.address_hash = ANY (v_hashes);
    UPDATE mailqueue.subscription_preferences AS f SET address = NULL, user_agent = NULL, email_id = NULL
     WHERE f.project_id = p_project AND f.address_hash = ANY (v_hashes);
    DELETE FROM mailqueue.marketing_counts AS m WHERE m.project_id = p_project AND m.address_hash = ANY (v_hashes);
    PERFORM mailqueue.end_pending_of_contact(p_project, c.id) FROM mailqueue.contacts AS c
      WHERE c.project_id = p_project AND c.email_key = ANY (p_spellings);
    DELETE FROM mailqueue.contacts AS c WHERE c.project_id = p_project AND c.email_key = ANY (p_spellings);
    DELETE FROM mailqueue.bounce_list AS b WHERE b.project_id = p_project AND b.email = ANY (p_spellings);
    DELETE FROM mailqueue.unsubscribe_list AS u WHERE u.project_id = p_project AND u.email = ANY (p_spellings);
    RETURN v_id;
END $$;
COMMENT ON FUNCTION mailqueue.begin_erasure(uuid, text[], boolean, text) IS
    'Record that a person is to be erased, or find the erasure in progress; from now on suppressions of the address '
    'are stored by hash only.';

CREATE OR REPLACE FUNCTION mailqueue.erase_mail(p_erasure uuid, p_most integer)
    RETURNS TABLE (changed integer, waiting integer)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    c_stand CONSTANT text := 'erased@erased.invalid';
    e mailqueue.erasures;
    v_ids uuid[];
    v_alone uuid[];
    v_contents jsonb;
    v_own text;
    v_queue record;
BEGIN
    SELECT * INTO e FROM mailqueue.erasures AS x WHERE x.id = p_erasure FOR UPDATE;
    PERFORM mailqueue.check_tenant(e.project_id);
    v_own := mailqueue.own_mentions(e.spellings);
    SELECT * INTO v_queue FROM mailqueue.erase_queued(e.project_id, e.spellings, e.place, p_most);
    changed := v_queue.changed + CASE WHEN v_queue.is_read THEN 0 ELSE 1 END;
    waiting := v_queue.waiting;
    IF NOT v_queue.is_read OR v_queue.waiting > 0 THEN
        UPDATE mailqueue.erasures AS x SET place = v_queue.place WHERE x.id = p_erasure;
    END IF;

    SELECT array_agg(m.id) INTO v_ids FROM (
        SELECT h.id FROM mailqueue.email_history AS h
         WHERE lower(h.recipient_email) = ANY (e.spellings) AND h.project_id = e.project_id
        UNION
        SELECT r.email_id FROM mailqueue.email_recipients AS r
         WHERE lower(r.address) = ANY (e.spellings) AND r.project_id = e.project_id
           AND NOT EXISTS (SELECT FROM mailqueue.email_queue AS q WHERE q.id = r.email_id)
        LIMIT p_most) AS m;
    IF v_ids IS NULL THEN
        IF v_queue.is_read AND e.place ? 'again' THEN
            UPDATE mailqueue.erasures AS x SET place = x.place - '{queue,again}'::text[] WHERE x.id = p_erasure;
            changed := changed + 1;
        END IF;
        RETURN NEXT;
        RETURN;
    END IF;
    SELECT array_agg(i.id) INTO v_alone FROM unnest(v_ids) AS i(id)
     WHERE NOT EXISTS (SELECT FROM mailqueue.email_recipients AS r
                        WHERE r.email_id = i.id AND lower(r.address) <> ALL (e.spellings || c_stand));

    UPDATE mailqueue.email_events AS v
       SET recipient_email = c_stand, detail = NULL,
           data = mailqueue.counted_data(v.data)
     WHERE v.email_id = ANY (v_ids) AND (v.email_id = ANY (v_alone) OR lower(v.recipient_email) = ANY (e.spellings));
    UPDATE mailqueue.send_logs AS l
       SET recipient_email = c_stand, reply = NULL, message_id = NULL, conversation = NULL,
           custom_data = CASE WHEN l.email_id <> ALL (v_alone) THEN l.custom_data END,
           campaign_id = regexp_replace(l.campaign_id, v_own, c_stand, 'gi')
     WHERE l.email_id = ANY (v_ids) AND (l.email_id = ANY (v_alone) OR lower(l.recipient_email) = ANY (e.spellings));
    IF coalesce(cardinality(v_alone), 0) < cardinality(v_ids) THEN  -- it names all recipients, in any spelling
        UPDATE mailqueue.send_logs AS l SET conversation = NULL
         WHERE l.email_id = ANY (v_ids) AND l.conversation IS NOT NULL;
    END IF;
    UPDATE mailqueue.email_recipients AS r SET address = c_stand, name = NULL, reason = NULL
     WHERE r.email_id = ANY (v_ids) AND lower(r.address) = ANY (e.spellings);
    -- A key that contains the address is deleted. Others remain without the fingerprint of their request.
    DELETE FROM mailqueue.idempotency_keys AS k USING mailqueue.email_history AS h
     WHERE h.id = ANY (v_ids) AND k.project_id = h.project_id
       AND k.key = mailqueue.kept_key(h.idempotency_key, h.is_test) AND k.key ~* v_own;
    PERFORM mailqueue.erase_fingerprints(e.project_id, v_ids);
    -- The domain may be the person's own: what is counted under it moves to that of the placeholder.
    WITH recounted AS (
        INSERT INTO mailqueue.stats_corrections (project_id, email_id, kind, domain)
        SELECT h.project_id, h.id, 'erased', mailqueue.domain_of(h.recipient_email)
          FROM mailqueue.email_history AS h
         WHERE h.id = ANY (v_ids) AND lower(h.recipient_email) = ANY (e.spellings)
           AND mailqueue.domain_of(h.recipient_email) <> mailqueue.domain_of(c_stand)
    ), gone AS (
        UPDATE mailqueue.email_history AS h
           SET recipient_email = CASE WHEN lower(h.recipient_email) = ANY (e.spellings) THEN c_stand
                                      ELSE h.recipient_email END,
               recipient_name = CASE WHEN lower(h.recipient_email) <> ALL (e.spellings) THEN h.recipient_name END,
               custom_data = CASE WHEN h.id <> ALL (v_alone) THEN h.custom_data END,
               idempotency_key = CASE WHEN h.id <> ALL (v_alone) AND h.idempotency_key !~* v_own
                                      THEN h.idempotency_key END,
               campaign_id = regexp_replace(h.campaign_id, v_own, c_stand, 'gi'),
               tags = CASE WHEN h.tags IS NOT NULL
                           THEN ARRAY(SELECT regexp_replace(u.tag, v_own, c_stand, 'gi')
                                        FROM unnest(h.tags) WITH ORDINALITY AS u(tag, n) ORDER BY u.n) END,
               last_error = NULL,
               message_id = CASE WHEN h.id <> ALL (v_alone) THEN h.message_id END,
               provider_message_id = CASE WHEN h.id <> ALL (v_alone) THEN h.provider_message_id END
         WHERE h.id = ANY (v_ids)
        RETURNING h.id, h.content_id, h.content_on
    )
    SELECT jsonb_object_agg(g.content_id, g.content_on) INTO v_contents FROM gone AS g
     WHERE g.id = ANY (v_alone) AND g.content_id IS NOT NULL;
    UPDATE mailqueue.erasures AS x
       SET place = x.place
           || jsonb_build_object('contents', coalesce(x.place -> 'contents', '{}') || coalesce(v_contents, '{}'))
           -- Mail that is left can be queued again, with its old id: then the queue is read once more.
           || CASE WHEN cardinality(v_ids) = p_most THEN '{"again": true}' ELSE '{}' END::jsonb,
           found = x.found
           || jsonb_build_object('mails', coalesce((x.found ->> 'mails')::integer, 0) + cardinality(v_ids))
     WHERE x.id = p_erasure;
    changed := changed + cardinality(v_ids);
    RETURN NEXT;
END $$;
COMMENT ON FUNCTION mailqueue.erase_mail(uuid, integer) IS
    'Anonymise mails to a person, up to a limit; returns how many were changed, one more before the end of the queue '
    'was reached (0: none are left), and how many a worker holds.';

-- Deletes content that only this person received, and its files. Returns locations of files without other users.
CREATE OR REPLACE FUNCTION mailqueue.erase_contents(p_erasure uuid, p_ids bigint[]) RETURNS SETOF text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    e mailqueue.erasures;
    v_files jsonb;
BEGIN
    SELECT * INTO e FROM mailqueue.erasures AS x WHERE x.id = p_erasure FOR UPDATE;
    PERFORM mailqueue.check_tenant(e.project_id);
    SELECT jsonb_agg(f) INTO v_files
      FROM mailqueue.email_contents AS c CROSS JOIN LATERAL jsonb_array_elements(c.files) AS f
     WHERE c.id = ANY (p_ids) AND c.project_id = e.project_id AND jsonb_typeof(c.files) = 'array';
    UPDATE mailqueue.email_contents AS c
       SET subject = 'erased', html_body = NULL, text_body = 'erased', from_name = NULL, reply_to = NULL,
           headers = NULL, files = NULL, header_recipients = NULL
     WHERE c.id = ANY (p_ids) AND c.project_id = e.project_id
       AND c.created_on = (e.place -> 'contents' ->> c.id::text)::date;
    RETURN QUERY SELECT l FROM mailqueue.erase_attachments(p_erasure,
        ARRAY(SELECT DISTINCT (f ->> 'id')::uuid FROM jsonb_array_elements(v_files) AS f)) AS l;
END $$;
COMMENT ON FUNCTION mailqueue.erase_contents(uuid, bigint[]) IS
    'Delete content that only one person received, and its files that no one else received.';

CREATE OR REPLACE FUNCTION mailqueue.erase_attachments(p_erasure uuid, p_ids uuid[]) RETURNS SETOF text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_project uuid := (SELECT x.project_id FROM mailqueue.erasures AS x WHERE x.id = p_erasure);
BEGIN
    PERFORM mailqueue.check_tenant(v_project);
    RETURN QUERY
    WITH gone AS (
        DELETE FROM mailqueue.attachments AS a
         WHERE a.id = ANY (p_ids) AND a.project_id = v_project
           AND NOT EXISTS (SELECT FROM mailqueue.email_contents AS c
                            WHERE c.files @> jsonb_build_array(jsonb_build_object('id', a.id)))
        RETURNING a.location
    )
    SELECT g.location FROM gone AS g
     WHERE g.location IS NOT NULL
       AND NOT EXISTS (SELECT FROM mailqueue.attachments AS o WHERE o.location = g.location AND o.id <> ALL (p_ids));
END $$;
COMMENT ON FUNCTION mailqueue.erase_attachments(uuid, uuid[]) IS
    'Delete files that no mail uses; returns their locations outside the database.';

-- p_place NULL: unchanged.
CREATE OR REPLACE FUNCTION mailqueue.move_erasure(p_erasure uuid, p_stage text, p_place jsonb, p_table text,
    p_rows bigint, p_by text)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    e mailqueue.erasures;
BEGIN
    SELECT * INTO e FROM mailqueue.erasures AS x WHERE x.id = p_erasure FOR UPDATE;
    PERFORM mailqueue.check_tenant(e.project_id);
    IF e.stage = 'done' THEN
        RETURN;  -- another call completed it
    END IF;
    IF p_rows > 0 THEN
        e.found := e.found || jsonb_build_object(p_table, coalesce((e.found ->> p_table)::bigint, 0) + p_rows);
    END IF;
    UPDATE mailqueue.erasures AS x
       SET stage = p_stage, place = CASE WHEN p_stage = 'done' THEN '{}' ELSE coalesce(p_place, x.place) END,
           found = e.found,
           spellings = CASE WHEN p_stage <> 'done' THEN x.spellings END,
           finished_at = CASE WHEN p_stage = 'done' THEN clock_timestamp() END,
           -- Where a worker has it, that settles it.
           status = CASE WHEN p_stage = 'done' AND x.status <> 'assigned' THEN 'done' ELSE x.status END
     WHERE x.id = p_erasure;
    IF p_stage = 'done' THEN
        INSERT INTO mailqueue.audit_events (project_id, actor, action, subject, detail)
        VALUES (e.project_id, p_by, 'person.erased', 'address ' || coalesce(encode(e.address_hash, 'hex'), ''),
                e.found);
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.move_erasure(uuid, text, jsonb, text, bigint, text) IS
    'Record the progress of an erasure; the last step deletes the address and writes an audit row without it.';
