-- Parts of a mail besides its row: the idempotency key, further recipients, tracking options.

-- Keys of test mail have a prefix with a control character, which keys of callers cannot contain.
CREATE OR REPLACE FUNCTION mailqueue.kept_key(p_key text, p_is_test boolean) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT CASE WHEN p_is_test THEN E'test\x1f' || p_key ELSE p_key END $$;
COMMENT ON FUNCTION mailqueue.kept_key(text, boolean) IS 'An idempotency key as stored in idempotency_keys.';

-- A request that is repeated has another span. Custom data without a context changes no fingerprint.
CREATE OR REPLACE FUNCTION mailqueue.without_trace(p_data jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN jsonb_typeof(p_data) = 'object' AND p_data ? 'traceparent'
                THEN nullif(p_data - 'traceparent', '{}') ELSE p_data END
$$;
COMMENT ON FUNCTION mailqueue.without_trace(jsonb) IS
    'Custom data without its trace context; NULL if nothing else is in it.';

-- The id of the email accepted under this key, or NULL if the key was free and is taken now. Only requests with the
-- same key wait for each other.
--
-- p_of: the value that represents all recipients of the message from which this mail was split; NULL: not split.
CREATE OR REPLACE FUNCTION mailqueue.take_idempotency_key(q mailqueue.email_queue, p_of text DEFAULT NULL) RETURNS uuid
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_print bytea := sha256(convert_to(
        jsonb_build_array(
            q.recipient_email, q.recipient_name, CASE WHEN q.template IS NULL THEN q.subject END, q.html_body,
            q.text_body, q.from_email, q.from_name, q.reply_to, q.headers, q.also_to, q.cc, q.bcc, q.category,
            q.campaign_id, q.tags, mailqueue.without_trace(q.custom_data), q.lane_id)::text
        || coalesce(q.attachments::text, '')
        || coalesce(q.template || ' ' || q.language, '')
        || CASE WHEN num_nonnulls(q.track_opens, q.track_clicks, q.unsubscribe) > 0
                THEN jsonb_build_array(q.track_opens, q.track_clicks, q.unsubscribe)::text ELSE '' END
        -- Options that are younger than the keys, by name: one that is not given changes no fingerprint.
        || CASE WHEN num_nonnulls(NULL[[, q.KEPT_COLUMNS BUT priority, category, tags, campaign_id, expires_at,
                                          custom_data, max_attempts, delivery, idempotency_key]]) > 0
                THEN (SELECT jsonb_strip_nulls(to_jsonb(x))::text
                        FROM (SELECT NULL AS none[[, q.KEPT_COLUMNS BUT priority, category, tags, campaign_id,
                              expires_at, custom_data, max_attempts, delivery, idempotency_key]]) AS x)
                ELSE '' END
        || coalesce(p_of, ''), 'UTF8'));
    v_old record;
BEGIN
    INSERT INTO mailqueue.idempotency_keys (project_id, key, fingerprint, email_id)
    VALUES (q.project_id, mailqueue.kept_key(q.idempotency_key, q.is_test), v_print, q.id) ON CONFLICT DO NOTHING;
    IF FOUND THEN
        RETURN NULL;
    END IF;
    SELECT k.email_id, k.fingerprint INTO v_old FROM mailqueue.idempotency_keys AS k
     WHERE k.project_id = q.project_id AND k.key = mailqueue.kept_key(q.idempotency_key, q.is_test);
    IF v_old.fingerprint IS DISTINCT FROM v_print THEN
        PERFORM mailqueue.refuse('idempotency_key',
                                 format('%s was used for another email', to_json(q.idempotency_key)));
    END IF;
    IF current_setting('synchronous_standby_names') <> '' THEN
        -- The caller may be repeating a request because the standby did not confirm the first one: a commit that writes
        -- waits for the standby, including all earlier commits.
        PERFORM pg_logical_emit_message(true, 'mailqueue', 'accepted before');
    END IF;
    RETURN v_old.email_id;
END $$;
COMMENT ON FUNCTION mailqueue.take_idempotency_key(mailqueue.email_queue, text) IS
    'Assign an idempotency key to this email, or return the id of the email that has it; a different body raises an '
    'error.';

-- A key of a request that is no single mail stands among those of mails, so that each is refused under a key of the
-- other. The fingerprint is that of no mail.
CREATE OR REPLACE FUNCTION mailqueue.request_fingerprint() RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT '\x00'::bytea $$;
COMMENT ON FUNCTION mailqueue.request_fingerprint() IS
    'Fingerprint of idempotency keys of requests, such as batches, in idempotency_keys.';

CREATE OR REPLACE FUNCTION mailqueue.take_request_key(p_project uuid, p_key text, p_is_test boolean) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    INSERT INTO mailqueue.idempotency_keys AS k (project_id, key, fingerprint, email_id)
    VALUES (p_project, mailqueue.kept_key(p_key, p_is_test), mailqueue.request_fingerprint(),
            '00000000-0000-0000-0000-000000000000')
    ON CONFLICT (project_id, key) DO UPDATE SET created_at = excluded.created_at
     WHERE k.fingerprint = mailqueue.request_fingerprint();
    RETURN FOUND;
END $$;
COMMENT ON FUNCTION mailqueue.take_request_key(uuid, text, boolean) IS
    'Take an idempotency key for a request that is no single mail; false if a mail was accepted under it.';

CREATE OR REPLACE FUNCTION mailqueue.release_request_key(p_project uuid, p_key text, p_is_test boolean) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    DELETE FROM mailqueue.idempotency_keys AS k
     WHERE k.project_id = p_project AND k.key = mailqueue.kept_key(p_key, p_is_test)
       AND k.fingerprint = mailqueue.request_fingerprint();
END $$;
COMMENT ON FUNCTION mailqueue.release_request_key(uuid, text, boolean) IS
    'Release an idempotency key of a request that changed nothing.';

-- Further recipients of a message; recipient_email itself is position 0.
CREATE OR REPLACE FUNCTION mailqueue.store_recipients(q mailqueue.email_queue) RETURNS smallint
LANGUAGE sql
AS $$
    WITH stored AS (
        INSERT INTO mailqueue.email_recipients (email_id, position, project_id, kind, address, name, status, reason,
                                                settled_at)
        SELECT q.id, row_number() OVER (ORDER BY r.place, r.n) - 1, q.project_id, r.kind, b.address, b.name,
               CASE WHEN w.reason IS NULL THEN 'pending' ELSE 'suppressed' END, w.reason,
               CASE WHEN w.reason IS NOT NULL THEN now() END
          FROM (SELECT 0 AS place, 1 AS n, 'to' AS kind, NULL AS box
                UNION ALL SELECT 1, t.n, 'to', t.box FROM unnest(q.also_to) WITH ORDINALITY AS t(box, n)
                UNION ALL SELECT 2, t.n, 'cc', t.box FROM unnest(q.cc) WITH ORDINALITY AS t(box, n)
                UNION ALL SELECT 3, t.n, 'bcc', t.box FROM unnest(q.bcc) WITH ORDINALITY AS t(box, n)) AS r,
               LATERAL (SELECT q.recipient_email AS address, q.recipient_name AS name WHERE r.box IS NULL
                        UNION ALL SELECT s.address, s.name FROM mailqueue.split_mailbox(r.box) AS s
                                   WHERE r.box IS NOT NULL) AS b,
               LATERAL (SELECT CASE WHEN NOT q.is_test
                                         THEN mailqueue.suppressed(q.project_id, b.address,
                                                                   q.category) END AS reason OFFSET 0) AS w
        RETURNING status
    )
    SELECT count(*) FILTER (WHERE s.status = 'pending')::smallint FROM stored AS s
$$;
COMMENT ON FUNCTION mailqueue.store_recipients(mailqueue.email_queue) IS
    'Insert a row for each recipient of a message that has several; returns the number of recipients that are not '
    'suppressed.';

CREATE OR REPLACE FUNCTION mailqueue.tracking_options(p_opens boolean, p_clicks boolean, p_unsubscribe boolean)
RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT nullif(CASE WHEN p_opens THEN 1 ELSE 0 END + CASE WHEN p_clicks THEN 2 ELSE 0 END
                  + CASE WHEN p_unsubscribe THEN 4 WHEN NOT p_unsubscribe THEN 8 ELSE 0 END, 0)::smallint
$$;
COMMENT ON FUNCTION mailqueue.tracking_options(boolean, boolean, boolean) IS
    'The value of email_contents.tracking_options: the sum of 1 (open tracking), 2 (click tracking), 4 (unsubscribe '
    'link), 8 (no unsubscribe link); NULL where nothing is set.';
