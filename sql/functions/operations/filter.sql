-- Filters of operator actions: JSON, parsed strictly, and the ids that match, in pages.

-- Keys: project (required), batch, campaign_id, tag, lane ("high" or "high/relay"), sender, domain, status, category,
-- subject, older_than, newer_than. NULL in an OUT column: no such condition. p_now: ages are relative to it, and
-- younger mail does not match. subject: the text that a lower-case subject contains.
CREATE OR REPLACE FUNCTION mailqueue.read_filter(p_filter jsonb, p_now timestamptz,
    OUT project_id uuid, OUT campaign_id text, OUT lanes integer[], OUT sender_id integer, OUT sender_lanes integer[],
    OUT domain text, OUT status text, OUT category text, OUT created_before timestamptz, OUT created_after timestamptz,
    OUT email_ids uuid[], OUT tag text, OUT subject text)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    f record;
    v_project uuid;
BEGIN
    IF p_filter IS NULL OR jsonb_typeof(p_filter) <> 'object' THEN
        PERFORM mailqueue.refuse('filter',
                                 format('an object is needed, got %s', coalesce(jsonb_typeof(p_filter), 'null')));
    ELSIF p_filter -> 'project' IS NULL THEN
        PERFORM mailqueue.refuse('project', 'a filter needs the name of a project');
    END IF;
    FOR f IN SELECT e.key, e.value #>> '{}' AS text, jsonb_typeof(e.value) AS type FROM jsonb_each(p_filter) AS e
              ORDER BY e.key = 'project' DESC LOOP
        IF f.key NOT IN ('project', 'batch', 'campaign_id', 'tag', 'lane', 'sender', 'domain', 'status', 'category',
                         'subject', 'older_than', 'newer_than') THEN
            PERFORM mailqueue.refuse(left(f.key, 100), 'there is no such filter');
        ELSIF f.type <> 'string' THEN
            PERFORM mailqueue.refuse(f.key, format('a string is needed, got %s', f.type));
        END IF;
        CASE f.key
        WHEN 'project' THEN v_project := mailqueue.project_named(f.text);
        WHEN 'batch' THEN
            SELECT mailqueue.emails_of_batch(b) INTO email_ids FROM mailqueue.batches AS b
             WHERE b.project_id = v_project AND b.id::text = lower(f.text);
            IF email_ids IS NULL THEN
                PERFORM mailqueue.refuse('batch', format('this project has no batch %s', to_json(left(f.text, 100))));
            END IF;
        WHEN 'campaign_id' THEN campaign_id := f.text;
        WHEN 'domain' THEN domain := mailqueue.wire_domain('domain', f.text);
        WHEN 'status' THEN status := f.text;
        WHEN 'category' THEN category := f.text;
        WHEN 'tag' THEN tag := f.text;
        WHEN 'subject' THEN
            IF length(f.text) NOT BETWEEN 1 AND 998 THEN
                PERFORM mailqueue.refuse('subject',
                                         format('1 to 998 characters are needed, got %s', length(f.text)));
            END IF;
            subject := lower(f.text);
        WHEN 'lane' THEN lanes := mailqueue.lanes_named(v_project, f.text);
        WHEN 'sender' THEN
            SELECT a.id INTO sender_id FROM mailqueue.sender_accounts AS a
             WHERE a.project_id = v_project AND a.name = f.text;
            IF sender_id IS NULL THEN
                PERFORM mailqueue.refuse('sender',
                                         format('this project has no sender account %s', to_json(left(f.text, 100))));
            END IF;
            sender_lanes := ARRAY(SELECT l.id FROM mailqueue.lanes AS l
                                    JOIN mailqueue.limits AS m ON l.account_limits = ARRAY[m.id]
                                   WHERE l.project_id = v_project AND m.sender_account_id = sender_id);
        WHEN 'older_than' THEN created_before := p_now - mailqueue.read_age('older_than', f.text);
        WHEN 'newer_than' THEN created_after := p_now - mailqueue.read_age('newer_than', f.text);
        END CASE;
    END LOOP;
    project_id := v_project;
    created_before := coalesce(created_before, p_now);
END $$;
COMMENT ON FUNCTION mailqueue.read_filter(jsonb, timestamptz) IS
    'A filter of mails as conditions; raises 22023 for unknown keys and invalid values, naming the key.';

CREATE OR REPLACE FUNCTION mailqueue.lanes_named(p_project uuid, p_text text) RETURNS integer[]
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_lane text[] := regexp_match(p_text, '^([a-z0-3]+)(?:/(.+))?$');
    v_priority integer := mailqueue.priority_named(v_lane[1]);
    v_lanes integer[];
BEGIN
    IF v_priority IS NULL THEN
        PERFORM mailqueue.refuse('lane',
                                 format('critical, high, normal or low, and a route if wanted (high/relay), got %s',
                                        to_json(left(p_text, 200))));
    END IF;
    v_lanes := ARRAY(SELECT l.id FROM mailqueue.lanes AS l
                      WHERE l.project_id = p_project AND l.priority = v_priority
                        AND (v_lane[2] IS NULL
                             OR coalesce(l.home_route, l.route) = CASE v_lane[2] WHEN 'default' THEN ''
                                                                                 ELSE v_lane[2] END));
    IF v_lanes = '{}' THEN
        PERFORM mailqueue.refuse('lane', format('this project has no route %s', to_json(left(v_lane[2], 100))));
    END IF;
    RETURN v_lanes;
END $$;
COMMENT ON FUNCTION mailqueue.lanes_named(uuid, text) IS
    'Ids of the lanes of a project that a filter names: a priority, and its route if wanted. Raises 22023 naming lane.';

CREATE OR REPLACE FUNCTION mailqueue.priority_named(p_word text) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT (CASE p_word WHEN 'critical' THEN 0 WHEN 'high' THEN 1 WHEN 'normal' THEN 2 WHEN 'low' THEN 3
                        WHEN '0' THEN 0 WHEN '1' THEN 1 WHEN '2' THEN 2 WHEN '3' THEN 3 END)::smallint
$$;
COMMENT ON FUNCTION mailqueue.priority_named(text) IS
    'critical, high, normal or low as a number; NULL for another word.';

CREATE OR REPLACE FUNCTION mailqueue.read_age(p_field text, p_text text) RETURNS interval
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF p_text !~ '^[0-9]' THEN
        RAISE invalid_datetime_format;  -- no "-2 days", no "ago"
    END IF;
    RETURN p_text::interval;
EXCEPTION WHEN invalid_datetime_format OR datetime_field_overflow OR interval_field_overflow THEN
    PERFORM mailqueue.refuse(p_field,
                             format('an age such as 30min, 4h or 2d is needed, got %s', to_json(left(p_text, 100))));
END $$;
COMMENT ON FUNCTION mailqueue.read_age(text, text) IS
    'An age as an interval; raises 22023 with a text for an invalid one.';

CREATE OR REPLACE FUNCTION mailqueue.domain_of(p_address text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN octet_length(p_address) = length(p_address)
                     THEN lower(substring(p_address FROM '@([^@]*)$') COLLATE "C") COLLATE "default"
                ELSE mailqueue.domain_key(substring(p_address FROM '@([^@]*)$')) END
$$;
COMMENT ON FUNCTION mailqueue.domain_of(text) IS 'The domain of an address, in its canonical form.';

-- In id order, after p_after and up to p_until: the cost of a page is the rows it scans, and all pages together scan
-- once. p_off_lanes: only mail that can be moved to one of these lanes, and is in none of them.
CREATE OR REPLACE FUNCTION mailqueue.pick_queued(p_filter jsonb, p_now timestamptz, p_statuses text[], p_after uuid,
    p_most integer, p_other_than smallint DEFAULT NULL, p_until uuid DEFAULT NULL, p_off_lanes integer[] DEFAULT NULL)
RETURNS uuid[]
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan
SET jit = off
AS $$
DECLARE
    f record;
BEGIN
    SELECT * INTO f FROM mailqueue.read_filter(p_filter, p_now);
    RETURN ARRAY(
        SELECT q.id FROM mailqueue.email_queue AS q
         WHERE q.id > coalesce(p_after, '00000000-0000-0000-0000-000000000000')
           AND q.id <= coalesce(p_until, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
           AND coalesce(mailqueue.mode(), q.is_test) = q.is_test
           AND NOT q.is_cancelled AND (p_other_than IS NULL OR q.priority <> p_other_than)
           AND (p_off_lanes IS NULL
                OR q.lane_id <> ALL (p_off_lanes) AND NOT q.is_test AND (q.run_at < '9000-01-01' OR q.is_ordered))
           AND q.project_id = f.project_id AND q.status = ANY (p_statuses) AND (f.status IS NULL OR q.status = f.status)
           AND q.created_at <= f.created_before AND (f.created_after IS NULL OR q.created_at > f.created_after)
           AND (f.campaign_id IS NULL OR q.campaign_id = f.campaign_id)
           AND (f.email_ids IS NULL OR q.id IN (SELECT unnest(f.email_ids)))
           AND (f.category IS NULL OR q.category = f.category)
           AND (f.lanes IS NULL OR q.lane_id = ANY (f.lanes))
           AND (f.sender_id IS NULL OR coalesce(q.assigned_to = f.sender_id, q.lane_id = ANY (f.sender_lanes)))
           AND (f.tag IS NULL OR f.tag = ANY (q.tags))
           AND (f.domain IS NULL OR mailqueue.domain_of(q.recipient_email) = f.domain
                OR EXISTS (SELECT FROM mailqueue.email_recipients AS r
                            WHERE r.email_id = q.id AND mailqueue.domain_of(r.address) = f.domain))
           -- position() knows no patterns. One step of an index for each mail that fits what stands above.
           AND (f.subject IS NULL
                OR EXISTS (SELECT FROM mailqueue.email_contents AS c
                            WHERE c.id = q.content_id AND c.created_on = q.content_on
                              AND position(f.subject IN lower(c.subject)) > 0))
         ORDER BY q.id LIMIT p_most);
END $$;
COMMENT ON FUNCTION mailqueue.pick_queued(jsonb, timestamptz, text[], uuid, integer, smallint, uuid, integer[]) IS
    'Ids of unfinished mails that match a filter, up to a limit, after an id and up to another; mails that are being'
    ' cancelled count as finished.';

CREATE OR REPLACE FUNCTION mailqueue.pick_finished(p_filter jsonb, p_now timestamptz, p_statuses text[], p_after uuid,
    p_most integer, p_until uuid DEFAULT NULL)
RETURNS uuid[]
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
DECLARE
    f record;
BEGIN
    SELECT * INTO f FROM mailqueue.read_filter(p_filter, p_now);
    RETURN ARRAY(
        SELECT h.id FROM mailqueue.email_history AS h
         WHERE h.id > coalesce(p_after, '00000000-0000-0000-0000-000000000000')
           AND h.id <= coalesce(p_until, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
           AND coalesce(mailqueue.mode(), h.is_test) = h.is_test
           AND h.project_id = f.project_id AND h.status = ANY (p_statuses) AND (f.status IS NULL OR h.status = f.status)
           AND h.created_at <= f.created_before AND (f.created_after IS NULL OR h.created_at > f.created_after)
           AND (f.campaign_id IS NULL OR h.campaign_id = f.campaign_id)
           AND (f.email_ids IS NULL OR h.id IN (SELECT unnest(f.email_ids)))
           AND (f.category IS NULL OR h.category = f.category)
           AND (f.lanes IS NULL OR h.lane_id = ANY (f.lanes))
           AND (f.sender_id IS NULL OR coalesce(h.assigned_to = f.sender_id, h.lane_id = ANY (f.sender_lanes)))
           AND (f.tag IS NULL OR f.tag = ANY (h.tags))
           AND (f.domain IS NULL OR mailqueue.domain_of(h.recipient_email) = f.domain
                OR EXISTS (SELECT FROM mailqueue.email_recipients AS r
                            WHERE r.email_id = h.id AND mailqueue.domain_of(r.address) = f.domain))
           -- position() knows no patterns. One step of an index for each mail that fits what stands above.
           AND (f.subject IS NULL
                OR EXISTS (SELECT FROM mailqueue.email_contents AS c
                            WHERE c.id = h.content_id AND c.created_on = h.content_on
                              AND position(f.subject IN lower(c.subject)) > 0))
         ORDER BY h.id LIMIT p_most);
END $$;
COMMENT ON FUNCTION mailqueue.pick_finished(jsonb, timestamptz, text[], uuid, integer, uuid) IS
    'Ids of finished mails that match a filter, up to a limit, after an id and up to another.';
