-- A row on its way into the queue: checked, completed, its content moved out.

CREATE OR REPLACE FUNCTION mailqueue.project_named(p_name text) RETURNS uuid
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_id uuid;
BEGIN
    SELECT p.id INTO v_id FROM mailqueue.projects AS p WHERE p.name = p_name;
    IF v_id IS NULL THEN
        PERFORM mailqueue.refuse('project', format('there is no project %s', to_json(left(p_name, 100))));
    END IF;
    RETURN v_id;
END $$;
COMMENT ON FUNCTION mailqueue.project_named(text) IS 'Id of a project; refuses an unknown name.';

-- Checks every column of q, fills what is missing, finds the lane. Raises 22023 naming the column.
CREATE OR REPLACE FUNCTION mailqueue.prepare_email(q mailqueue.email_queue) RETURNS mailqueue.email_queue
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_box record;
    v_extra text[];
    v_address text;
    v_is_refused boolean;
BEGIN
    IF q.project_id IS NULL THEN
        q.project_id := mailqueue.project_named(coalesce(q.project, 'default'));
    END IF;
    q.created_at := now();
    q.status := 'pending';
    q.attempts := 0;
    q.unknowns := 0;
    q.is_cancelled := false;
    q.claim_no := NULL; q.worker_id := NULL; q.assigned_at := NULL; q.lease_until := NULL; q.assigned_to := NULL;
    q.last_error := NULL; q.lost_claim_no := NULL; q.account_day := NULL; q.project_day := NULL;

    IF position('<' IN q.recipient_email) > 0 OR q.recipient_email ~ '^\s|\s$' THEN
        v_box := mailqueue.split_mailbox(q.recipient_email);
        q.recipient_email := v_box.address;
        q.recipient_name := coalesce(q.recipient_name, v_box.name);
    END IF;
    PERFORM mailqueue.check_address('recipient_email', q.recipient_email);
    PERFORM mailqueue.check_text('recipient_name', q.recipient_name, 320);

    IF q.subject IS NULL OR q.subject ~ '^\s*$' THEN
        PERFORM mailqueue.refuse('subject', 'a subject is needed');
    END IF;
    PERFORM mailqueue.check_text('subject', q.subject, 998);
    q.html_body := nullif(q.html_body, '');
    IF q.html_body IS NULL AND coalesce(q.text_body, '') = '' THEN
        PERFORM mailqueue.refuse('html_body', 'html_body or text_body is needed');
    ELSIF coalesce(octet_length(q.html_body), 0) + coalesce(octet_length(q.text_body), 0) > 26214400 THEN
        PERFORM mailqueue.refuse('html_body', 'html_body and text_body together may have 25 MiB');
    END IF;
    IF q.from_email IS NOT NULL THEN
        v_box := mailqueue.split_mailbox(q.from_email);
        q.from_email := v_box.address;
        q.from_name := coalesce(q.from_name, v_box.name);
        PERFORM mailqueue.check_address('from_email', q.from_email);
    END IF;
    PERFORM mailqueue.check_text('from_name', q.from_name, 320);
    IF q.reply_to IS NOT NULL THEN
        PERFORM mailqueue.check_text('reply_to', q.reply_to, 600);
        PERFORM mailqueue.check_address('reply_to', (mailqueue.split_mailbox(q.reply_to)).address);
    END IF;
    IF q.headers IS NOT NULL THEN
        PERFORM mailqueue.check_headers(q.headers);
        q.headers := nullif(q.headers, '{}');
    END IF;

    v_extra := coalesce(q.also_to, '{}') || coalesce(q.cc, '{}') || coalesce(q.bcc, '{}');
    IF cardinality(v_extra) > 49 THEN
        PERFORM mailqueue.refuse('cc', format('one message may have 50 recipients, got %s', cardinality(v_extra) + 1));
    END IF;
    FOREACH v_address IN ARRAY v_extra LOOP
        PERFORM mailqueue.check_text('cc', v_address, 600);
        PERFORM mailqueue.check_address(CASE WHEN v_address = ANY (q.bcc) THEN 'bcc' WHEN v_address = ANY (q.cc) THEN 'cc' ELSE 'to' END,
                                        (mailqueue.split_mailbox(v_address)).address);
    END LOOP;
    q.recipients := 1 + cardinality(v_extra);

    q.category := coalesce(q.category, 'transactional');
    IF q.category !~ '^[a-z][a-z0-9_-]{0,62}$' THEN
        PERFORM mailqueue.refuse('category', format('%s is not a category: lower-case letters, digits, - and _', to_json(left(q.category, 100))));
    END IF;
    q.delivery := coalesce(q.delivery, CASE q.category WHEN 'marketing' THEN 'hold' ELSE 'resend' END);
    IF q.delivery NOT IN ('resend', 'hold') THEN
        PERFORM mailqueue.refuse('delivery', format('resend or hold, got %s', to_json(left(q.delivery, 100))));
    END IF;
    q.priority := coalesce(q.priority, 2);
    IF q.priority NOT BETWEEN 0 AND 3 THEN
        PERFORM mailqueue.refuse('priority', format('0 (critical), 1 (high), 2 (normal) or 3 (low), got %s', q.priority));
    END IF;
    q.max_attempts := coalesce(q.max_attempts, 100);
    IF q.max_attempts NOT BETWEEN 1 AND 1000 THEN
        PERFORM mailqueue.refuse('max_attempts', format('1 to 1000, got %s', q.max_attempts));
    END IF;
    q.run_at := greatest(coalesce(q.run_at, now()), now());
    IF q.run_at > now() + interval '10 years' THEN
        PERFORM mailqueue.refuse('run_at', format('within ten years, got %s', q.run_at));
    END IF;
    q.expires_at := CASE WHEN q.expires_at IS NULL OR q.expires_at = now() + interval '4 days'
                         THEN q.run_at + interval '4 days' ELSE q.expires_at END;
    IF q.expires_at <= q.run_at THEN
        PERFORM mailqueue.refuse('expires_at', format('must be after run_at and now, got %s', q.expires_at));
    END IF;
    PERFORM mailqueue.check_text('campaign_id', q.campaign_id, 200);
    IF cardinality(q.tags) > 20 OR EXISTS (SELECT FROM unnest(q.tags) AS t WHERE t IS NULL OR t = '' OR length(t) > 128 OR t ~ '[\u0001-\u001f\u007f]') THEN
        PERFORM mailqueue.refuse('tags', 'at most 20 tags of 1 to 128 characters');
    END IF;
    IF length(q.custom_data::text) > 65536 THEN
        PERFORM mailqueue.refuse('custom_data', 'at most 64 KiB');
    END IF;
    IF q.idempotency_key IS NOT NULL THEN
        IF length(q.idempotency_key) NOT BETWEEN 1 AND 255 THEN
            PERFORM mailqueue.refuse('idempotency_key', format('1 to 255 characters, got %s', length(q.idempotency_key)));
        END IF;
        PERFORM mailqueue.check_text('idempotency_key', q.idempotency_key, 255);
    END IF;

    SELECT l.id, EXISTS (SELECT FROM mailqueue.refusals AS r WHERE r.valid_until > now()) INTO q.lane_id, v_is_refused FROM mailqueue.lanes AS l
     WHERE l.project_id = q.project_id AND l.priority = q.priority AND l.route = coalesce(q.sender, '') AND l.home_route IS NULL;
    IF v_is_refused THEN
        PERFORM mailqueue.refuse_for_now();
    END IF;
    IF q.lane_id IS NULL THEN
        PERFORM mailqueue.refuse('sender', format('this project has no sender account %s', to_json(left(q.sender, 100))));
    END IF;
    q.project := NULL;
    q.sender := NULL;
    RETURN q;
END $$;
COMMENT ON FUNCTION mailqueue.prepare_email(mailqueue.email_queue) IS 'Check and complete a row on its way into the queue; raises 22023 naming the column.';

-- The email already accepted under this key, or NULL when the key is now ours. Twins wait for each other here, nobody else.
CREATE OR REPLACE FUNCTION mailqueue.take_idempotency_key(q mailqueue.email_queue) RETURNS uuid
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_print bytea := sha256(convert_to(jsonb_build_array(q.recipient_email, q.recipient_name, q.subject, q.html_body,
        q.text_body, q.from_email, q.from_name, q.reply_to, q.headers, q.also_to, q.cc, q.bcc, q.category,
        q.campaign_id, q.tags, q.custom_data, q.lane_id)::text, 'UTF8'));
    v_old record;
BEGIN
    INSERT INTO mailqueue.idempotency_keys (project_id, key, fingerprint, email_id)
    VALUES (q.project_id, q.idempotency_key, v_print, q.id) ON CONFLICT DO NOTHING;
    IF FOUND THEN
        RETURN NULL;
    END IF;
    SELECT k.email_id, k.fingerprint INTO v_old FROM mailqueue.idempotency_keys AS k
     WHERE k.project_id = q.project_id AND k.key = q.idempotency_key;
    IF v_old.fingerprint IS DISTINCT FROM v_print THEN
        PERFORM mailqueue.refuse('idempotency_key', format('%s was used for another email', to_json(q.idempotency_key)));
    END IF;
    RETURN v_old.email_id;
END $$;
COMMENT ON FUNCTION mailqueue.take_idempotency_key(mailqueue.email_queue) IS 'Bind the key to this email, or give the email it is bound to; another body is refused.';

-- Further recipients of a message; recipient_email itself is position 0.
CREATE OR REPLACE FUNCTION mailqueue.store_recipients(q mailqueue.email_queue) RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    INSERT INTO mailqueue.email_recipients (email_id, position, project_id, kind, address, name)
    SELECT q.id, row_number() OVER (ORDER BY r.place, r.n) - 1, q.project_id, r.kind, b.address, b.name
      FROM (SELECT 0 AS place, 1 AS n, 'to' AS kind, NULL AS box
            UNION ALL SELECT 1, t.n, 'to', t.box FROM unnest(q.also_to) WITH ORDINALITY AS t(box, n)
            UNION ALL SELECT 2, t.n, 'cc', t.box FROM unnest(q.cc) WITH ORDINALITY AS t(box, n)
            UNION ALL SELECT 3, t.n, 'bcc', t.box FROM unnest(q.bcc) WITH ORDINALITY AS t(box, n)) AS r,
           LATERAL (SELECT q.recipient_email AS address, q.recipient_name AS name WHERE r.box IS NULL
                    UNION ALL SELECT s.address, s.name FROM mailqueue.split_mailbox(r.box) AS s WHERE r.box IS NOT NULL) AS b
$$;
COMMENT ON FUNCTION mailqueue.store_recipients(mailqueue.email_queue) IS 'Write a row for each recipient of a message that has several.';

CREATE OR REPLACE FUNCTION mailqueue.email_queue_accept() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    NEW := mailqueue.prepare_email(NEW);
    IF NEW.idempotency_key IS NOT NULL AND mailqueue.take_idempotency_key(NEW) IS NOT NULL THEN
        RETURN NULL;  -- accepted before, under this key
    END IF;
    INSERT INTO mailqueue.email_contents (created_on, project_id, subject, html_body, text_body, from_email, from_name, reply_to, headers)
    VALUES ((now() AT TIME ZONE 'UTC')::date, NEW.project_id, NEW.subject, NEW.html_body, NEW.text_body,
            NEW.from_email, NEW.from_name, NEW.reply_to, NEW.headers)
    RETURNING id, created_on INTO NEW.content_id, NEW.content_on;
    IF NEW.recipients > 1 THEN
        PERFORM mailqueue.store_recipients(NEW);
    END IF;
    NEW.subject := NULL; NEW.html_body := NULL; NEW.text_body := NULL; NEW.from_email := NULL; NEW.from_name := NULL;
    NEW.reply_to := NULL; NEW.headers := NULL; NEW.also_to := NULL; NEW.cc := NULL; NEW.bcc := NULL;
    RETURN NEW;
END $$;
COMMENT ON FUNCTION mailqueue.email_queue_accept() IS 'BEFORE INSERT on email_queue: check, complete, move the content out.';

-- Rows that bring their content along come from enqueue_batch(), which has done all this for the whole batch.
CREATE OR REPLACE TRIGGER email_queue_accept BEFORE INSERT ON mailqueue.email_queue
    FOR EACH ROW WHEN (NEW.content_id IS NULL) EXECUTE FUNCTION mailqueue.email_queue_accept();
