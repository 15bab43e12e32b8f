-- One content for many recipients, accepted in one call.

-- The content of a batch, checked as that of a mail with a placeholder recipient. Content of a template names the
-- version and language that the caller found; the caller compared the variables of every recipient with their schema.
CREATE OR REPLACE FUNCTION mailqueue.shared_content(p_project uuid, p_content jsonb, p_options jsonb)
RETURNS mailqueue.email_queue
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c mailqueue.email_queue;
    t record;
    v_message jsonb := p_options || (p_content - '{template_version_id,template_language}'::text[])
        || '{"recipient": "nobody@example.com"}';
BEGIN
    IF NOT p_content ? 'template_version_id' THEN
        RETURN mailqueue.email_from_message(p_project, v_message);
    END IF;
    SELECT v.id, x.language, x.subject, x.html_body IS NOT NULL AS has_html INTO t
      FROM mailqueue.template_versions AS v
      JOIN mailqueue.templates AS m ON m.id = v.template_id AND m.deleted_at IS NULL
           AND (m.project_id = p_project OR m.project_id IS NULL)
      JOIN mailqueue.template_texts AS x ON x.version_id = v.id AND x.language = p_content ->> 'template_language'
     WHERE v.id = (p_content ->> 'template_version_id')::uuid AND v.status <> 'draft';
    IF t.id IS NULL THEN
        PERFORM mailqueue.refuse('template', 'it was archived or deleted a moment ago');
    END IF;
    c := mailqueue.email_from_message(p_project,
                                      v_message
                                      || jsonb_build_object('subject', '-',
                                                            CASE WHEN t.has_html THEN 'html' ELSE 'text' END, '-'));
    c.subject := t.subject; c.html_body := NULL; c.text_body := NULL;
    c.template_version_id := t.id;
    c.language := t.language;
    RETURN c;
END $$;
COMMENT ON FUNCTION mailqueue.shared_content(uuid, jsonb, jsonb) IS
    'Content of a batch as a checked row with a placeholder recipient.';

-- Shared content is checked and stored once: an error in it fails the call (22023). Then each recipient: `recipient`
-- with `name`, `custom_data`, `tags`, `scheduled_at`, and `content`, the index from 0 of its content; or `refused`, the
-- reason why the caller rejected it. p_is_strict: if one recipient is rejected, nothing is stored and no batch is
-- created.
--
-- A plain address, as nearly all are, takes the row that was checked once. Other recipients, and those of a batch with
-- cc or bcc, are accepted as separate messages.
CREATE OR REPLACE FUNCTION mailqueue.accept_shared(p_project uuid, p_contents jsonb, p_options jsonb,
    p_recipients jsonb, p_is_strict boolean, p_by text, p_batch uuid)
RETURNS TABLE (index integer, id uuid, status text, reason text, batch_id uuid)
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_project uuid := p_project;
    v_delivery text; v_max_ages integer[];                   -- defaults of the project; hours by priority
    v_is_addressless boolean;                                -- the project lacks the address that marketing needs
    v_contents mailqueue.email_queue[];
    v_rows mailqueue.email_queue[] := '{}';
    v_ids uuid[] := '{}';                                    -- NULL: rejected
    v_reasons text[];                                        -- NULL until one is rejected
    v_batch uuid := p_batch;
    r jsonb;
    v_why text;
    v_lane integer;
    v_has_rules boolean;
    v_base mailqueue.email_queue;                            -- what all rows share
    q mailqueue.email_queue;
BEGIN
    SELECT p.delivery, ARRAY[p.max_age_hours_critical, p.max_age_hours_high, p.max_age_hours_normal,
                 p.max_age_hours_low],
           p.require_postal_address AND p.postal_address IS NULL
      INTO v_delivery, v_max_ages, v_is_addressless FROM mailqueue.projects AS p WHERE p.id = v_project;
    PERFORM mailqueue.check_room(v_project, jsonb_array_length(p_recipients));
    FOR r IN SELECT c.value FROM jsonb_array_elements(p_contents) AS c LOOP
        v_contents := array_append(v_contents, mailqueue.shared_content(v_project, r, p_options));
    END LOOP;
    v_base := v_contents[1];
    IF v_is_addressless AND v_base.category = 'marketing' THEN
        PERFORM mailqueue.refuse_addressless();
    END IF;
    v_base.subject := NULL; v_base.html_body := NULL; v_base.text_body := NULL; v_base.headers := NULL;
    v_base.attachments := NULL;
    IF v_delivery IS NOT NULL AND p_options ->> 'delivery' IS NULL THEN
        v_base.delivery := v_delivery;
    END IF;
    IF v_max_ages[v_base.priority + 1] IS NOT NULL AND p_options ->> 'expires_at' IS NULL THEN
        v_base.expires_at := v_base.run_at + make_interval(hours => v_max_ages[v_base.priority + 1]);
    END IF;
    SELECT l.id, l.has_rules INTO v_lane, v_has_rules FROM mailqueue.lanes AS l
     WHERE l.project_id = v_project AND l.priority = v_base.priority AND l.route = coalesce(v_base.sender, '')
       AND l.home_route IS NULL AND l.rule_id IS NULL;
    FOR r IN SELECT x.value FROM jsonb_array_elements(p_recipients) AS x LOOP
        v_why := r ->> 'refused';
        IF v_why IS NOT NULL THEN
            NULL;
        ELSIF v_base.recipients = 1 AND NOT r ? 'tags' AND mailqueue.is_plain_address(r ->> 'recipient')
              AND (NOT r ? 'name'
                   OR coalesce(r ->> 'name', '') !~ '[^ -~]' AND coalesce(length(r ->> 'name'), 0) <= 320)
              AND (NOT r ? 'custom_data' OR mailqueue.json_fault(r -> 'custom_data', 64) IS NULL) THEN
            q := v_base;
            q.id := mailqueue.uuidv7();
            q.recipient_email := r ->> 'recipient';
            q.recipient_name := nullif(r ->> 'name', '');
            q.custom_data := nullif(r -> 'custom_data', 'null');
            IF r ? 'scheduled_at' THEN
                q.run_at := greatest(q.run_at, (r ->> 'scheduled_at')::timestamptz);
                -- Age counts from then, as for every scheduled mail.
                q.expires_at := CASE WHEN p_options ->> 'expires_at' IS NOT NULL THEN q.expires_at
                                     ELSE q.expires_at + (q.run_at - v_base.run_at) END;
            END IF;
            q.lane_id := CASE WHEN v_has_rules
                                   THEN mailqueue.lane_by_rules(v_lane, v_project, q.priority, q.category, q.tags,
                                                                q.recipient_email)
                              ELSE v_lane END;
        ELSE
            BEGIN
                q := mailqueue.email_from_message(v_project,
                    p_options || (r - '{content,name}'::text[]) || jsonb_build_object('subject', '-', 'text', '-',
                    'recipient', CASE WHEN coalesce(r ->> 'name', '') = '' THEN r ->> 'recipient'
                                 ELSE format('"%s" <%s>', replace(replace(r ->> 'name', '\', '\\'), '"', '\"'),
                                             r ->> 'recipient') END));
                q.delivery := v_base.delivery;
                q.expires_at := CASE WHEN p_options ->> 'expires_at' IS NOT NULL THEN v_base.expires_at
                                     ELSE v_base.expires_at + (q.run_at - v_base.run_at) END;
                q.subject := NULL; q.text_body := NULL;
            EXCEPTION WHEN invalid_parameter_value THEN
                v_why := SQLERRM;
            END;
        END IF;
        IF v_why IS NOT NULL THEN
            v_ids := array_append(v_ids, NULL);
            v_reasons := coalesce(v_reasons, array_fill(NULL::text, ARRAY[jsonb_array_length(p_recipients)]));
            v_reasons[cardinality(v_ids)] := v_why;
            CONTINUE;
        END IF;
        v_ids := array_append(v_ids, q.id);
        q.content_id := 1 + coalesce((r ->> 'content')::integer, 0);
        v_rows := array_append(v_rows, q);
    END LOOP;

    IF NOT p_is_strict OR v_reasons IS NULL THEN
        IF cardinality(v_rows) > 0 THEN
            PERFORM mailqueue.store_batch(v_rows, v_contents);
        END IF;
        IF v_batch IS NULL THEN
            INSERT INTO mailqueue.batches (project_id, created_by, subject, email_ids, rejected, is_test)
            VALUES (v_project, p_by, v_contents[1].subject, v_ids, cardinality(array_positions(v_ids, NULL)),
                    v_base.is_test)
            RETURNING batches.id INTO v_batch;
        END IF;
    END IF;
    RETURN QUERY
        SELECT x.n::integer - 1, CASE WHEN v_batch IS NOT NULL THEN x.id END,
               coalesce(h.status, CASE WHEN x.id IS NULL THEN 'rejected' ELSE 'queued' END),
               coalesce(x.reason, h.reason), v_batch
          FROM unnest(v_ids, v_reasons) WITH ORDINALITY AS x(id, reason, n)
          LEFT JOIN mailqueue.email_history AS h ON h.id = x.id AND h.finished_at = now()
         ORDER BY x.n;
END $$;
COMMENT ON FUNCTION mailqueue.accept_shared(uuid, jsonb, jsonb, jsonb, boolean, text, uuid) IS
    'Accept contents for recipients as enqueue_shared() does, for a project that the caller has checked; with an id of '
    'a batch, the batch is the caller''s.';

-- A recipient may be the name of a list of contacts: its status is expanding, and workers make its mail.
CREATE OR REPLACE FUNCTION mailqueue.enqueue_shared(p_project text, p_contents jsonb, p_options jsonb,
    p_recipients jsonb, p_is_strict boolean, p_by text)
RETURNS TABLE (index integer, id uuid, status text, reason text, batch_id uuid)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_project uuid := mailqueue.project_taking(p_project);
    v_batch uuid := mailqueue.uuidv7();
    v_recipients jsonb;
    v_rows jsonb;
BEGIN
    PERFORM mailqueue.check_tenant(v_project);
    IF NOT EXISTS (SELECT FROM jsonb_array_elements(p_recipients) AS x
                    WHERE strpos(x.value ->> 'recipient', '@') = 0 AND mailqueue.is_list_name(x.value ->> 'recipient')
                      AND NOT x.value ? 'refused') THEN
        RETURN QUERY SELECT a.* FROM mailqueue.accept_shared(v_project, p_contents, p_options, p_recipients,
                                                             p_is_strict, p_by, NULL) AS a;
        RETURN;
    END IF;
    BEGIN
        v_recipients := mailqueue.expand_recipients(v_project, v_batch, p_contents, p_options, p_recipients, p_by);
        SELECT jsonb_agg(to_jsonb(a) || CASE WHEN v_recipients -> a.index ? 'expanding'
                                             THEN '{"status": "expanding", "reason": null}' ELSE '{}' END::jsonb
                         ORDER BY a.index)
          INTO v_rows
          FROM mailqueue.accept_shared(v_project, p_contents, p_options, v_recipients, false, p_by, v_batch) AS a;
        IF p_is_strict AND jsonb_path_exists(v_rows, '$[*] ? (@.status == "rejected")') THEN
            RAISE EXCEPTION USING ERRCODE = 'MQ099';         -- undoes what was accepted and begun
        END IF;
        INSERT INTO mailqueue.batches (id, project_id, created_by, email_ids, is_test)
        VALUES (v_batch, v_project, p_by, '{}', coalesce((p_options ->> 'is_test')::boolean, false))
        ON CONFLICT DO NOTHING;
        UPDATE mailqueue.batches AS b
           SET email_ids = ARRAY(SELECT (x.value ->> 'id')::uuid FROM jsonb_array_elements(v_rows) AS x
                                  WHERE x.value ->> 'status' <> 'expanding' ORDER BY (x.value ->> 'index')::integer),
               rejected = (SELECT count(*) FROM jsonb_array_elements(v_rows) AS x
                            WHERE x.value ->> 'status' = 'rejected')
         WHERE b.id = v_batch;
    EXCEPTION WHEN SQLSTATE 'MQ099' THEN
        v_batch := NULL;
    END;
    RETURN QUERY
        SELECT (x.value ->> 'index')::integer, CASE WHEN v_batch IS NOT NULL THEN (x.value ->> 'id')::uuid END,
               x.value ->> 'status', x.value ->> 'reason', v_batch
          FROM jsonb_array_elements(v_rows) AS x ORDER BY 1;
END $$;
COMMENT ON FUNCTION mailqueue.enqueue_shared(text, jsonb, jsonb, jsonb, boolean, text) IS
    'Accept one or more contents for many recipients and store them as a batch; returns a row for each recipient in '
    'order: queued, suppressed or rejected with the reason; expanding for the name of a list of contacts.';

-- The mails of one request or message, which the caller knows by the id of the first. If they were accepted before,
-- they are a batch already.
CREATE OR REPLACE FUNCTION mailqueue.keep_batch(p_project uuid, p_ids uuid[], p_subject text, p_by text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    INSERT INTO mailqueue.batches (id, project_id, created_by, subject, email_ids, is_test)
    VALUES (p_ids[1], p_project, p_by, p_subject, p_ids, mailqueue.is_test_email(p_ids[1])) ON CONFLICT DO NOTHING;
END $$;
COMMENT ON FUNCTION mailqueue.keep_batch(uuid, uuid[], text, text) IS
    'Store mails of one request as a batch with the id of the first.';

CREATE OR REPLACE FUNCTION mailqueue.batch_of(p_project uuid, p_batch uuid)
RETURNS TABLE (id uuid, created_at timestamptz, created_by text, subject text, recipients integer, rejected integer,
               counts jsonb, lists jsonb)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT b.id, b.created_at, b.created_by, b.subject, (cardinality(b.email_ids) + s.contacts)::integer,
           (b.rejected + s.rejected)::integer,
           (SELECT coalesce(jsonb_object_agg(s.status, s.emails), '{}')
              FROM (SELECT coalesce(q.status, h.status, 'archived') AS status, count(*) AS emails
                      FROM unnest(mailqueue.emails_of_batch(b)) AS i(id)
                      LEFT JOIN mailqueue.email_queue AS q ON q.id = i.id
                      LEFT JOIN LATERAL (SELECT e.status FROM mailqueue.email_history AS e
                                          WHERE e.id = i.id ORDER BY e.finished_at DESC LIMIT 1) AS h ON q.id IS NULL
                     GROUP BY 1) AS s),
           s.lists
      FROM mailqueue.batches AS b
     CROSS JOIN LATERAL (
        SELECT coalesce(sum(l.contacts), 0) AS contacts, coalesce(sum(l.rejected), 0) AS rejected,
               coalesce(jsonb_agg(jsonb_build_object(
                   'list', l.list_name, 'state', CASE WHEN l.status IN ('done', 'stopped', 'failed') THEN l.status
                                                      WHEN l.stopped_by IS NOT NULL THEN 'stopping'
                                                      WHEN l.snapshot_at IS NULL THEN 'waiting'
                                                      ELSE 'running' END,
                   'contacts', l.contacts, 'accepted', l.accepted, 'suppressed', l.suppressed,
                   'rejected', l.rejected, 'withdrawn', l.withdrawn, 'error', l.last_error) ORDER BY l.id),
                   '[]') AS lists
          FROM mailqueue.list_sends AS l WHERE l.batch_id = b.id AND l.project_id = b.project_id) AS s
     WHERE b.id = p_batch AND b.project_id = p_project AND coalesce(mailqueue.tenant(), p_project) = p_project
       AND coalesce(mailqueue.mode(), b.is_test) = b.is_test
$$;
COMMENT ON FUNCTION mailqueue.batch_of(uuid, uuid) IS
    'A batch of a project, with the number of its mails in each state.';

CREATE OR REPLACE FUNCTION mailqueue.sweep_batches() RETURNS bigint
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_count bigint;
BEGIN
    DELETE FROM mailqueue.batches AS b USING mailqueue.retention AS r
     WHERE r.project_id = b.project_id AND r.kind = 'email_history'
       AND b.created_at < now() - make_interval(days => r.hot_days);
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END $$;
COMMENT ON FUNCTION mailqueue.sweep_batches() IS
    'Delete batches whose mails are old enough for the archive; returns their number.';
