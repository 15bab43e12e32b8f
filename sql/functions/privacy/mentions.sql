-- Mentions of a person in rows of any table: found, read, counted and removed, some pages at a time.

-- $1 is the pattern, $7 its core, $8 the pattern of encoded text; encode() leaves ASCII as it is. Attachments are
-- files: what is encoded in them is not changed. A key of a request, such as a batch, belongs to no mail by which it
-- would be found: it names the person also as a part of a longer word, but not of what may be another's address.
CREATE OR REPLACE FUNCTION mailqueue.mention_condition(p_table oid) RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT CASE WHEN p_table = 'mailqueue.idempotency_keys'::regclass
                THEN 't.fingerprint = mailqueue.request_fingerprint() AND ' ELSE '' END
        || CASE WHEN p_table IN ('mailqueue.idempotency_keys'::regclass, 'mailqueue.idempotent_answers'::regclass)
                THEN 't.key ~* $7 AND t.key ~* (''(?<![a-z0-9.+])'' || $7 || ''(?![a-z0-9]|\.[a-z0-9])'') OR '
                ELSE '' END
        || string_agg(format('(%1$s ~* $7 AND %1$s ~* $1)%2$s', e.shown,
                             CASE WHEN e.kind = 'bytea' AND mailqueue.privacy_parent(p_table) <> 'attachments'
                                  THEN format(' OR %s ~* $8', e.shown) END), ' OR ')
      FROM (SELECT c.kind, format(CASE c.kind WHEN 'text' THEN 't.%I'
                                              WHEN 'list' THEN 'array_to_string(t.%I, '' '')'
                                              WHEN 'bytea' THEN 'encode(t.%I, ''escape'')'
                                              ELSE 't.%I::text' END, c.name) AS shown
              FROM mailqueue.text_columns(p_table) AS c) AS e
$$;
COMMENT ON FUNCTION mailqueue.mention_condition(oid) IS
    'SQL condition on a row t: whether any of its columns names $1.';

-- What replaces the person in a text: no second row has the same in a column of a unique index, and no text is longer
-- than a constraint lets it be. Erased contacts all have the one address, which their index leaves out. Both are
-- lists, and not read from the catalog, which each erasure would do for each column.
CREATE OR REPLACE FUNCTION mailqueue.mention_replaced(p_table oid, p_column text) RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT format(coalesce('left(%1$s, ' || (jsonb '{"broadcasts.name": 200, "bulk_operations.to_sender": 200,
                      "bulk_operations.verb": 200, "projects.description": 2000, "tracked_links.url": 8192,
                      "webhooks.description": 500}' ->> n.name) || ')', '%1$s'),
                  format('regexp_replace(t.%I, $1, %s, ''gi'')', p_column,
                         CASE WHEN n.name = ANY ('{ab_test_variants.name,archived_days.status,bounce_list.email,'
                                   'broker_queues.name,consumers.name,dead_letters.queue,inbox_actions.rule,'
                                   'lanes.route,limits.domain,notice_causes.kind,outbox_state.name,providers.name,'
                                   'refusals.reason,retained_kinds.kind,schedules.name,service_processes.service,'
                                   'space_reports.host,space_reports.place,subscription_preferences.category,'
                                   'suppressions.address,suppressions.category,timed_events.idempotency_key,'
                                   'trace_export.name,tracking_gaps.gap,unsubscribe_list.category,'
                                   'unsubscribe_list.email,waiters.queue,workspace_rates.workspace}'::text[])
                              THEN '''erased-'' || md5(gen_random_uuid()::text) || substr($2, strpos($2, ''@''))'
                              ELSE '$2' END))
      FROM (SELECT p_table::regclass::text || '.' || p_column AS name) AS n
$$;
COMMENT ON FUNCTION mailqueue.mention_replaced(oid, text) IS
    'SQL for a column of text of a row t in which $2 replaces the person $1.';

-- $2 replaces the person; in bytea something of the same length ($4), so that stored lengths remain correct.
CREATE OR REPLACE FUNCTION mailqueue.mention_changes(p_table oid, p_action text) RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT string_agg(CASE
               WHEN p_action = 'webhook_events' AND c.name = 'payload'
                    THEN 'payload = json_build_object(''erased'', true)'
               WHEN p_action = 'inbound_events' AND c.name = 'body'
               THEN format('body = CASE WHEN t.finished_at IS NULL THEN '
                           'decode(regexp_replace(regexp_replace(encode(t.body, ''escape''), $1, $4, ''gi''), '
                           '$8, $4, ''gi''), ''escape'') END')
               WHEN p_action = 'attachments' AND c.name = 'octets'
               THEN 'octets = z.octets, sha256 = CASE WHEN z.octets IS NULL THEN t.sha256 ELSE sha256(z.octets) END,
                     bytes = CASE WHEN z.octets IS NULL THEN t.bytes ELSE octet_length(z.octets) END'
               WHEN p_action = 'attachments' AND c.name IN ('sha256', 'location') THEN NULL
               WHEN c.kind = 'text' THEN format('%I = %s', c.name, mailqueue.mention_replaced(p_table, c.name))
               ELSE format(CASE c.kind
                   WHEN 'list' THEN '%1$I = CASE WHEN t.%1$I IS NOT NULL THEN ARRAY(
                                        SELECT regexp_replace(u.x, $1, $2, ''gi'')
                                          FROM unnest(t.%1$I) WITH ORDINALITY AS u(x, n) ORDER BY u.n) END'
                   WHEN 'bytea'
                        THEN '%1$I = decode(regexp_replace(regexp_replace(encode(t.%1$I, ''escape''), $1, $4, ''gi''), '
                             '$8, $4, ''gi''), ''escape'')'
                   WHEN 'json' THEN '%1$I = regexp_replace(t.%1$I::text, $1, $2, ''gi'')::json'
                   ELSE '%1$I = regexp_replace(t.%1$I::text, $1, $2, ''gi'')::jsonb' END, c.name) END, ', ')
      FROM mailqueue.text_columns(p_table) AS c
     WHERE p_action <> 'tell'
        OR c.name IN ('status_reason', 'revoked_reason', 'reason', 'notes', 'note', 'description', 'told', 'told_error')
$$;
COMMENT ON FUNCTION mailqueue.mention_changes(oid, text) IS 'SQL assignments that remove a person from a row t.';

CREATE OR REPLACE FUNCTION mailqueue.mention_place(p_table oid) RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT format('FROM mailqueue.%I AS t WHERE t.ctid >= format(''(%%s,0)'', $5)::tid '
                  'AND t.ctid < format(''(%%s,0)'', $6)::tid AND %s AND (%s)',
               c.relname,
               CASE WHEN EXISTS (SELECT FROM pg_attribute AS a
                                  WHERE a.attrelid = p_table AND a.attname = 'project_id' AND NOT a.attisdropped)
                    THEN '($3 IS NULL OR t.project_id = $3 OR t.project_id IS NULL)'
                    WHEN c.relname = 'projects' THEN '($3 IS NULL OR t.id = $3)'
                    WHEN c.relname = 'sender_failures'
                         THEN 't.sender_account_id IN (SELECT a.id FROM mailqueue.sender_accounts AS a WHERE $3 IS '
                              'NULL OR a.project_id = $3)'
                    ELSE '($3 IS NULL OR true)' END,
               mailqueue.mention_condition(p_table))
      FROM pg_class AS c WHERE c.oid = p_table
$$;
COMMENT ON FUNCTION mailqueue.mention_place(oid) IS
    'SQL for rows t of pages $5 to $6 of a table that belong to project $3 (NULL: any) and name $1.';

CREATE OR REPLACE FUNCTION mailqueue.mention_project(p_table oid) RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT CASE WHEN c.relname = 'projects' THEN 't.id'
                WHEN EXISTS (SELECT FROM pg_attribute AS a
                              WHERE a.attrelid = p_table AND a.attname = 'project_id' AND NOT a.attisdropped)
                     THEN 't.project_id'
                WHEN c.relname = 'sender_failures'
                     THEN '(SELECT a.project_id FROM mailqueue.sender_accounts AS a WHERE a.id = t.sender_account_id)'
                ELSE 'NULL::uuid' END
      FROM pg_class AS c WHERE c.oid = p_table
$$;
COMMENT ON FUNCTION mailqueue.mention_project(oid) IS 'SQL for the project of a row t; null: it belongs to none.';

CREATE OR REPLACE FUNCTION mailqueue.erase_mentions(p_erasure uuid, p_table text, p_pattern text, p_from bigint,
    p_until bigint)
RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_stand CONSTANT text := 'erased@erased.invalid';
    e mailqueue.erasures;
    v_table oid := mailqueue.privacy_table(p_table);
    v_action text := mailqueue.privacy_action(mailqueue.privacy_parent(v_table));
    v_changes text;
    v_rows bigint;
    p record;
BEGIN
    SELECT * INTO p FROM mailqueue.mention_patterns(p_pattern);
    SELECT * INTO e FROM mailqueue.erasures AS x WHERE x.id = p_erasure;
    PERFORM mailqueue.check_tenant(e.project_id);
    IF v_table IS NULL THEN
        RETURN 0;
    END IF;
    IF p_table IN ('bounce_list', 'unsubscribe_list') THEN   -- rows that were added meanwhile
        EXECUTE format('DELETE FROM mailqueue.%I AS d WHERE d.project_id = $1 AND d.email = ANY ($2)', p_table)
            USING e.project_id, e.spellings;
    END IF;
    IF p_table = 'suppressions' THEN
        PERFORM mailqueue.keep_suppressions_by_hash(e.project_id, e.spellings);
    END IF;
    IF p_table = 'idempotency_keys' THEN
        PERFORM mailqueue.erase_list_fingerprints(e.project_id, p_pattern, p_from, p_until);
    END IF;
    v_changes := mailqueue.mention_changes(v_table, v_action);
    IF v_action = 'delete' THEN
        EXECUTE format('DELETE FROM mailqueue.%I AS d USING (SELECT t.ctid %s) AS w WHERE d.ctid = w.ctid', p_table,
                       mailqueue.mention_place(v_table))
          USING p.whole, c_stand, e.project_id, c_stand, p_from, p_until, p.core, p.encoded;
    ELSIF v_changes IS NULL THEN
        RETURN 0;
    ELSE
        PERFORM set_config('mailqueue.audit_change', 'erasure', true);
        EXECUTE format('UPDATE mailqueue.%I AS t SET %s FROM (SELECT t.ctid %s %s) AS z WHERE t.ctid = z.ctid', p_table,
                       v_changes,
                       CASE WHEN v_action = 'attachments'
                                 THEN ', decode(regexp_replace(encode(t.octets, ''escape''), $1, $4, ''gi''), '
                                      '''escape'') AS octets' END,
                       mailqueue.mention_place(v_table))
          USING p.whole, c_stand, e.project_id, left(repeat('x', 320), greatest(1, length(e.spellings[1]))), p_from,
              p_until, p.core, p.encoded;
    END IF;
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    PERFORM set_config('mailqueue.audit_change', '', true);
    RETURN v_rows;
END $$;
COMMENT ON FUNCTION mailqueue.erase_mentions(uuid, text, text, bigint, bigint) IS
    'Remove mentions of a person from some pages of a table; returns the number of rows changed or deleted.';

-- Several tables, each with some of its pages. p_contents: contents that only the person received, as far as is known.
CREATE OR REPLACE FUNCTION mailqueue.erase_mentions_together(p_erasure uuid, p_tables text[], p_pattern text,
    p_from bigint[], p_until bigint[], p_contents bigint[], OUT changed bigint, OUT shared bigint[])
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    e mailqueue.erasures;
    t record;
    v_rows bigint;
    v_parent text;
BEGIN
    SELECT * INTO e FROM mailqueue.erasures AS x WHERE x.id = p_erasure FOR UPDATE;
    PERFORM mailqueue.check_tenant(e.project_id);
    changed := 0; shared := '{}';
    FOR t IN SELECT u.name, u.first, u.last FROM unnest(p_tables, p_from, p_until) AS u(name, first, last) LOOP
        v_rows := mailqueue.erase_mentions(p_erasure, t.name, p_pattern, t.first, t.last);
        IF v_rows > 0 THEN
            changed := changed + v_rows;
            v_parent := mailqueue.privacy_parent(mailqueue.privacy_table(t.name));
            e.found := e.found
                || jsonb_build_object(v_parent, coalesce((e.found ->> v_parent)::bigint, 0) + v_rows);
        END IF;
        IF p_contents <> '{}' AND t.name ~ '^email_(queue|history)' THEN
            shared := shared || ARRAY(
                SELECT c FROM mailqueue.shared_contents(e.project_id, t.name, p_contents, t.first, t.last) AS c);
        END IF;
    END LOOP;
    IF changed > 0 THEN
        UPDATE mailqueue.erasures AS x SET found = e.found WHERE x.id = p_erasure;
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.erase_mentions_together(uuid, text[], text, bigint[], bigint[], bigint[]) IS
    'Remove mentions of a person from some pages of several tables; returns the number of rows changed or deleted, and '
    'those of these contents that other persons received as well.';

CREATE OR REPLACE FUNCTION mailqueue.mention_row(p_table oid) RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT 'to_jsonb(t)' || coalesce(string_agg(format(' || jsonb_build_object(%L, encode(t.%I, ''escape''))', c.name,
                                                       c.name), ''), '')
      FROM mailqueue.text_columns(p_table) AS c WHERE c.kind = 'bytea'
$$;
COMMENT ON FUNCTION mailqueue.mention_row(oid) IS 'SQL for a row t as JSON; bytes are in the escape format.';

CREATE OR REPLACE FUNCTION mailqueue.mentions(p_project uuid, p_table text, p_pattern text, p_from bigint,
    p_until bigint)
RETURNS TABLE (project_id uuid, doc jsonb)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_table oid := mailqueue.privacy_table(p_table);
    p record;
BEGIN
    SELECT * INTO p FROM mailqueue.mention_patterns(p_pattern);
    PERFORM mailqueue.check_tenant(p_project);
    IF v_table IS NOT NULL THEN
        RETURN QUERY EXECUTE format('SELECT %s, %s %s', mailqueue.mention_project(v_table),
                                    mailqueue.mention_row(v_table), mailqueue.mention_place(v_table))
               USING p.whole, NULL::text, p_project, NULL::text, p_from, p_until, p.core, p.encoded;
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.mentions(uuid, text, text, bigint, bigint) IS
    'Rows of some pages of a table that name a person, of one project or (NULL) of all; project_id is NULL for rows '
    'without a project.';

-- Content that other persons received is kept.
CREATE OR REPLACE FUNCTION mailqueue.shared_contents(p_project uuid, p_table text, p_contents bigint[], p_from bigint,
    p_until bigint)
RETURNS SETOF bigint
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    IF mailqueue.privacy_table(p_table) IS NULL OR p_table !~ '^email_(queue|history)' THEN
        RETURN;
    END IF;
    RETURN QUERY EXECUTE format('SELECT DISTINCT t.content_id FROM mailqueue.%I AS t
         WHERE t.ctid >= format(''(%%s,0)'', $3)::tid AND t.ctid < format(''(%%s,0)'', $4)::tid
           AND t.project_id = $1 AND t.content_id = ANY ($2)
           AND (t.recipient_email <> ''erased@erased.invalid''
                OR EXISTS (SELECT FROM mailqueue.email_recipients AS r WHERE r.email_id = t.id
                              AND r.address <> ''erased@erased.invalid''))', p_table)
           USING p_project, p_contents, p_from, p_until;
END $$;
COMMENT ON FUNCTION mailqueue.shared_contents(uuid, text, bigint[], bigint, bigint) IS
    'Those of these contents that other persons received as well.';
