-- Many mails in one call.

-- A mail split off a larger message has "split": {"of": the value that represents all recipients, "headers": {"to": [],
-- "cc": []}}, the recipients named in its headers.
CREATE OR REPLACE FUNCTION mailqueue.check_split(p_split jsonb) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    b record;
BEGIN
    IF jsonb_typeof(p_split) <> 'object' OR jsonb_typeof(p_split -> 'headers') <> 'object'
       OR EXISTS (SELECT FROM jsonb_each(p_split -> 'headers') AS h
                   WHERE h.key NOT IN ('to', 'cc') OR jsonb_typeof(h.value) <> 'array'
                      OR jsonb_path_exists(h.value, 'strict $[*] ? (@.type() != "string")', '{}', true)) THEN
        PERFORM mailqueue.refuse('split', 'headers with lists of strings named to and cc are needed');
    ELSIF (SELECT sum(jsonb_array_length(h.value)) FROM jsonb_each(p_split -> 'headers') AS h) > 1000 THEN
        PERFORM mailqueue.refuse('split', 'headers name at most 1000 recipients');
    END IF;
    FOR b IN SELECT h.key, x.box
               FROM jsonb_each(p_split -> 'headers') AS h, jsonb_array_elements_text(h.value) AS x(box) LOOP
        IF NOT mailqueue.is_plain_address(b.box) THEN
            PERFORM mailqueue.check_text('cc', b.box, 600);
            PERFORM mailqueue.check_address(b.key, (mailqueue.split_mailbox(b.box)).address);
        END IF;
    END LOOP;
END $$;
COMMENT ON FUNCTION mailqueue.check_split(jsonb) IS
    'Raise an error for names in the headers of a split message that are not mailboxes.';

-- All messages at once first. Only if one of them is rejected they are taken one by one: a subtransaction for each
-- costs as much as the mail itself.
CREATE OR REPLACE FUNCTION mailqueue.accept_batch(p_project text, p_messages jsonb)
RETURNS TABLE (index integer, id uuid, status text, reason text, refusal text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_project uuid := mailqueue.project_taking(p_project);
    v_delivery text; v_max_ages integer[];                   -- defaults of the project; hours by priority
    v_is_addressless boolean;                                -- the project lacks the address that marketing needs
    v_is_careful boolean := false;
    -- rows without content; content_id is an index into v_contents
    v_rows mailqueue.email_queue[];
    v_contents mailqueue.email_queue[];
    v_ids uuid[]; v_status text[]; v_reasons text[];
    v_message jsonb;
    v_split jsonb;                                           -- the last one that was checked
    v_why text;
    v_code text;
    v_codes text[];                                          -- codes of refusals; NULL until one is refused
    q mailqueue.email_queue; c mailqueue.email_queue;
BEGIN
    SELECT p.delivery, ARRAY[p.max_age_hours_critical, p.max_age_hours_high, p.max_age_hours_normal,
                 p.max_age_hours_low],
           p.require_postal_address AND p.postal_address IS NULL
      INTO v_delivery, v_max_ages, v_is_addressless FROM mailqueue.projects AS p WHERE p.id = v_project;
    IF jsonb_typeof(p_messages) <> 'array' THEN
        PERFORM mailqueue.refuse('messages',
                                 format('a list is needed, got %s',
                                        coalesce(jsonb_typeof(p_messages), 'null')));
    END IF;
    PERFORM mailqueue.check_room(v_project, jsonb_array_length(p_messages));
    LOOP
        v_rows := '{}'; v_contents := '{}'; v_ids := '{}'; v_status := '{}'; v_reasons := '{}'; c := NULL;
        BEGIN
            FOR v_message IN SELECT m.value FROM jsonb_array_elements(p_messages) AS m LOOP
                v_why := NULL;
                IF v_is_careful THEN
                    BEGIN
                        IF v_message ? 'split' THEN
                            PERFORM mailqueue.check_split(v_message -> 'split');
                        END IF;
                        q := mailqueue.email_from_message(v_project, v_message);
                        IF v_is_addressless AND q.category = 'marketing' THEN
                            PERFORM mailqueue.refuse_addressless();
                        END IF;
                    EXCEPTION WHEN invalid_parameter_value THEN
                        GET STACKED DIAGNOSTICS v_why = MESSAGE_TEXT, v_code = CONSTRAINT_NAME;
                    END;
                    IF v_why IS NOT NULL THEN
                        v_ids := array_append(v_ids, NULL); v_status := array_append(v_status, 'rejected');
                        v_reasons := array_append(v_reasons, v_why);
                        v_codes[cardinality(v_ids)] := nullif(v_code, '');
                        CONTINUE;
                    END IF;
                ELSE
                    IF v_message ? 'split' AND v_message -> 'split' IS DISTINCT FROM v_split THEN
                        v_split := v_message -> 'split';
                        PERFORM mailqueue.check_split(v_split);
                    END IF;
                    q := mailqueue.email_from_message(v_project, v_message);
                    IF v_is_addressless AND q.category = 'marketing' THEN
                        PERFORM mailqueue.refuse_addressless();
                    END IF;
                END IF;
                v_ids := array_append(v_ids, q.id); v_reasons := array_append(v_reasons, NULL);
                v_status := array_append(v_status, CASE q.status WHEN 'pending' THEN 'queued' ELSE 'duplicate' END);
                CONTINUE WHEN q.status = 'duplicate';
                IF v_delivery IS NOT NULL AND v_message ->> 'delivery' IS NULL THEN
                    q.delivery := v_delivery;
                END IF;
                IF v_max_ages[q.priority + 1] IS NOT NULL AND v_message ->> 'expires_at' IS NULL THEN
                    q.expires_at := q.run_at + make_interval(hours => v_max_ages[q.priority + 1]);
                END IF;
                q.project := v_message -> 'split' ->> 'headers';  -- only carries the value
                IF (q.html_body, q.text_body, q.subject, q.from_email, q.from_name, q.reply_to, q.headers,
                    q.attachments, q.template_version_id, q.language, q.track_opens, q.track_clicks, q.unsubscribe,
                    q.project) IS DISTINCT FROM
                   (c.html_body, c.text_body, c.subject, c.from_email, c.from_name, c.reply_to, c.headers,
                    c.attachments, c.template_version_id, c.language, c.track_opens, c.track_clicks, c.unsubscribe,
                    c.project) THEN
                    c := q;                                  -- most batches have one content
                    v_contents := array_append(v_contents, c);
                END IF;
                q.content_id := cardinality(v_contents);
                q.subject := NULL; q.html_body := NULL; q.text_body := NULL; q.headers := NULL;
                q.attachments := NULL;
                v_rows := array_append(v_rows, q);
            END LOOP;
            EXIT;
        EXCEPTION WHEN invalid_parameter_value THEN
            IF v_is_careful THEN
                RAISE;
            END IF;
            v_is_careful := true;
            v_codes := array_fill(NULL::text, ARRAY[jsonb_array_length(p_messages)]);
        END;
    END LOOP;

    IF mailqueue.store_batch(v_rows, v_contents) = 0 THEN
        RETURN QUERY SELECT r.n::integer - 1, r.id, r.status, r.reason, r.refusal
                       FROM unnest(v_ids, v_status, v_reasons, v_codes)
                            WITH ORDINALITY AS r(id, status, reason, refusal, n)
                      ORDER BY r.n;
        RETURN;
    END IF;
    RETURN QUERY
        SELECT r.n::integer - 1, r.id,
               CASE WHEN r.status = 'queued' AND h.id IS NOT NULL THEN h.status ELSE r.status END,
               coalesce(r.reason, h.reason), r.refusal
          FROM unnest(v_ids, v_status, v_reasons, v_codes) WITH ORDINALITY AS r(id, status, reason, refusal, n)
          LEFT JOIN mailqueue.email_history AS h ON h.id = r.id AND h.finished_at = now() AND r.status = 'queued'
         ORDER BY r.n;
END $$;
COMMENT ON FUNCTION mailqueue.accept_batch(text, jsonb) IS
    'What enqueue_batch() does, with the code of a refusal that has one.';

CREATE OR REPLACE FUNCTION mailqueue.enqueue_batch(project text, messages jsonb)
RETURNS TABLE (index integer, id uuid, status text, reason text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT b.index, b.id, b.status, b.reason
                   FROM mailqueue.accept_batch(enqueue_batch.project, enqueue_batch.messages) AS b;
END $$;
COMMENT ON FUNCTION mailqueue.enqueue_batch(text, jsonb) IS
    'Accept many mails in the caller''s transaction; a row for each in order: queued, suppressed, duplicate or '
    'rejected with the reason.';

-- Equal contents of one batch become one row. p_rows refer to p_contents by index; their "project" holds the recipients
-- named in the headers of a split message.
CREATE OR REPLACE FUNCTION mailqueue.store_batch(p_rows mailqueue.email_queue[], p_contents mailqueue.email_queue[])
RETURNS integer
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_today date := (now() AT TIME ZONE 'UTC')::date;
    v_ids uuid[];
    v_bytes bigint;
    v_differ boolean;                                        -- no content occurs twice
    q mailqueue.email_queue;
BEGIN
    FOR q IN SELECT r.* FROM unnest(p_rows) AS r WHERE r.recipients > 1 LOOP
        PERFORM mailqueue.store_recipients(q);
    END LOOP;
    -- A cheap check first: if all hashes differ, as for mails with bodies of their own, contents need no exact
    -- comparison.
    v_differ := (SELECT count(DISTINCT hashtextextended(
                            concat_ws(' ', c.subject, c.html_body, c.text_body, c.template_version_id, c.language,
                                      c.track_opens, c.track_clicks, c.unsubscribe), 0)) = count(*)
                   FROM unnest(p_contents) AS c);
    WITH said AS MATERIALIZED (
        SELECT c.*,
               CASE WHEN v_differ THEN int8send(c.ordinality)
                    ELSE sha256(convert_to(jsonb_build_array(
                             c.subject, c.html_body, c.text_body, c.from_email, c.from_name, c.reply_to, c.headers,
                             c.attachments, c.template_version_id, c.language, c.track_opens, c.track_clicks,
                             c.unsubscribe, c.project)::text, 'UTF8')) END AS hash
          FROM unnest(p_contents) WITH ORDINALITY AS c
    ), contents AS MATERIALIZED (
        SELECT nextval('mailqueue.email_contents_id_seq') AS new_id, d.*
          FROM (SELECT DISTINCT ON (s.hash) s.* FROM said AS s) AS d
    ), written AS (
        INSERT INTO mailqueue.email_contents (id, created_on, project_id, subject, html_body, text_body, from_email,
                                              from_name, reply_to, headers, files, template_version_id,
                                              template_language, tracking_options, header_recipients)
        SELECT c.new_id, v_today, c.project_id, c.subject, c.html_body, c.text_body, c.from_email, c.from_name,
               c.reply_to, c.headers, c.attachments, c.template_version_id, c.language,
               o.options, c.project::jsonb
          FROM contents AS c JOIN mailqueue.projects AS p ON p.id = c.project_id,
               LATERAL (SELECT mailqueue.tracking_options(coalesce(c.track_opens, p.track_opens),
                                                          coalesce(c.track_clicks, p.track_clicks),
                                                          coalesce(c.unsubscribe, nullif(p.unsubscribe_on_all, false)))
                                   AS options OFFSET 0) AS o  -- computed once
    ), places AS MATERIALIZED (
        SELECT array_agg(c.new_id ORDER BY s.ordinality) AS ids FROM said AS s JOIN contents AS c ON c.hash = s.hash
    ), kept AS (
        INSERT INTO mailqueue.email_queue (id, project_id, project, lane_id, status, run_at, attempts, created_at,
            recipients, recipient_email, recipient_name, content_id, content_on, is_test, [[KEPT_COLUMNS]])
        SELECT n.id, n.project_id, NULL, n.lane_id, 'pending', n.run_at, 0, now(), n.recipients, n.recipient_email,
               n.recipient_name, p.ids[n.content_id], v_today, n.is_test, [[n.KEPT_COLUMNS]]
          FROM unnest(p_rows) AS n, places AS p
        RETURNING id
    )
    SELECT array_agg(k.id),
           (SELECT sum(mailqueue.content_bytes(c.subject, c.html_body, c.text_body)) FROM contents AS c)
      INTO v_ids, v_bytes FROM kept AS k;
    RETURN CASE WHEN v_ids IS NULL THEN 0 ELSE mailqueue.accept_rows(v_ids, v_bytes) END;
END $$;
COMMENT ON FUNCTION mailqueue.store_batch(mailqueue.email_queue[], mailqueue.email_queue[]) IS
    'Insert the checked rows of one batch; equal contents are stored once. Returns the number of suppressed mails.';
