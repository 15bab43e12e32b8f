-- Settings of a project, each with its check.

-- The only parser of project settings. Null resets a setting.
CREATE OR REPLACE FUNCTION mailqueue.project_with(p mailqueue.projects, p_changes jsonb) RETURNS mailqueue.projects
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c record;
    v_text text;
    v_list text[];
    v_number numeric;
BEGIN
    IF coalesce(jsonb_typeof(p_changes), 'null') <> 'object' THEN
        PERFORM mailqueue.refuse('settings',
                                 format('an object is needed, got %s', coalesce(jsonb_typeof(p_changes), 'null')));
    END IF;
    FOR c IN SELECT e.key, e.value, jsonb_typeof(e.value) AS type FROM jsonb_each(p_changes) AS e LOOP
        v_text := c.value #>> '{}';
        v_list := NULL;
        v_number := NULL;
        IF c.key IN ('allowed_from', 'attachment_types') AND c.type <> 'null' THEN
            IF c.type <> 'array' OR jsonb_path_exists(c.value, 'strict $[*] ? (@.type() != "string")', '{}', true) THEN
                PERFORM mailqueue.refuse(c.key, 'a list of strings is needed');
            END IF;
            v_list := ARRAY(SELECT lower(btrim(l)) FROM jsonb_array_elements_text(c.value) AS l);
        ELSIF c.key IN ('attachment_bytes', 'daily_limit', 'burst', 'weight', 'rate_per_second', 'requests_per_second',
                        'soft_bounce_limit', 'soft_bounce_days', 'max_queued_emails', 'max_stored_bytes', 'max_uploads',
                        'max_templates', 'max_events', 'max_contacts', 'max_age_hours_critical', 'max_age_hours_high',
                        'max_age_hours_normal', 'max_age_hours_low')
              AND c.type <> 'null' THEN
            v_number := mailqueue.project_number(c.key, c.value);
        ELSIF c.key IN ('from_email', 'from_name', 'reply_to', 'bounce_address', 'bounce_domain', 'display_name',
                        'description', 'postal_address',
                        'time_zone', 'delivery', 'tracking_domain', 'brand_color', 'logo', 'low_priority_window',
                        'quiet_hours', 'frequency_cap', 'outbox_duplicates', 'ordering', 'ordering_on_failure',
                        'management_events', 'notices_to')
              AND c.type NOT IN ('string', 'null') THEN
            PERFORM mailqueue.refuse(c.key, format('a string is needed, got %s', c.type));
        ELSIF c.key IN ('track_opens', 'track_clicks', 'resend_elsewhere', 'require_postal_address',
                        'unsubscribe_on_all')
              AND c.type NOT IN ('boolean', 'null') THEN
            PERFORM mailqueue.refuse(c.key, format('true or false is needed, got %s', c.type));
        END IF;
        CASE c.key
        WHEN 'display_name' THEN p.display_name := mailqueue.project_text(c.key, v_text, 200);
        WHEN 'description' THEN p.description := mailqueue.project_text(c.key, v_text, 2000);
        WHEN 'postal_address' THEN p.postal_address := mailqueue.project_text(c.key, v_text, 500);
        WHEN 'from_email' THEN p.from_email := mailqueue.project_address(c.key, v_text);
        WHEN 'notices_to' THEN p.notices_to := mailqueue.project_address(c.key, v_text);
        WHEN 'bounce_address' THEN p.bounce_address := mailqueue.project_address(c.key, v_text);
        WHEN 'bounce_domain' THEN
            v_text := lower(btrim(v_text));
            IF length(v_text) > 190
               OR v_text !~ '^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$' THEN
                PERFORM mailqueue.refuse(c.key,
                                         format('a domain such as bounces.example.com is needed, got %s',
                                                to_json(left(v_text, 100))));
            END IF;
            p.bounce_domain := v_text;
        WHEN 'from_name' THEN
            PERFORM mailqueue.check_text('from_name', v_text, 320);
            p.from_name := v_text;
        WHEN 'reply_to' THEN
            IF v_text IS NOT NULL THEN
                PERFORM mailqueue.check_text('reply_to', v_text, 600);
                PERFORM mailqueue.check_address('reply_to', (mailqueue.split_mailbox(v_text)).address);
            END IF;
            p.reply_to := v_text;
        WHEN 'time_zone' THEN p.time_zone := mailqueue.project_time_zone(c.key, coalesce(v_text, 'UTC'));
        WHEN 'delivery' THEN
            IF v_text NOT IN ('resend', 'hold') THEN
                PERFORM mailqueue.refuse(c.key, format('resend or hold, got %s', to_json(left(v_text, 100))));
            END IF;
            p.delivery := v_text;
        WHEN 'allowed_from' THEN
            PERFORM mailqueue.check_allowed_from(v_list);
            p.allowed_from := nullif(ARRAY(SELECT CASE WHEN l LIKE '%@%'
                                                            THEN mailqueue.address_key(mailqueue.wire_address(c.key, l))
                                                       ELSE mailqueue.wire_domain(c.key, l) END
                                             FROM unnest(v_list) AS l),
                                     '{}');
        WHEN 'attachment_types' THEN
            SELECT l INTO v_text FROM unnest(v_list) AS l
             WHERE l !~ '^[a-z0-9][a-z0-9!#$&^_.+-]{0,63}/[a-z0-9][a-z0-9!#$&^_.+-]{0,63}$' LIMIT 1;
            IF FOUND THEN
                PERFORM mailqueue.refuse(c.key,
                                         format('a content type such as application/pdf is needed, got %s',
                                                to_json(left(v_text, 100))));
            END IF;
            p.attachment_types := coalesce(v_list, '{application/pdf,image/gif,image/jpeg,image/png,image/webp}');
        WHEN 'attachment_bytes' THEN p.attachment_bytes := coalesce(v_number, 4194304);
        WHEN 'track_opens' THEN p.track_opens := coalesce(v_text::boolean, false);
        WHEN 'track_clicks' THEN p.track_clicks := coalesce(v_text::boolean, false);
        WHEN 'resend_elsewhere' THEN p.resend_elsewhere := coalesce(v_text::boolean, false);
        WHEN 'require_postal_address' THEN p.require_postal_address := coalesce(v_text::boolean, true);
        WHEN 'unsubscribe_on_all' THEN p.unsubscribe_on_all := coalesce(v_text::boolean, false);
        WHEN 'tracking_domain' THEN p.tracking_domain := mailqueue.project_tracking_domain(v_text);
        WHEN 'brand_color' THEN p.brand_color := mailqueue.project_color(v_text);
        WHEN 'logo' THEN p.logo := mailqueue.project_logo(p.id, v_text);
        WHEN 'page_texts' THEN p.page_texts := mailqueue.project_page_texts(p.page_texts, c.value);
        WHEN 'daily_limit' THEN p.daily_limit := v_number;
        WHEN 'rate_per_second' THEN p.rate_per_second := v_number;
        WHEN 'burst' THEN p.burst := v_number;
        WHEN 'weight' THEN p.weight := coalesce(v_number, 100);
        WHEN 'soft_bounce_limit' THEN p.soft_bounce_limit := coalesce(v_number, 5);
        WHEN 'soft_bounce_days' THEN p.soft_bounce_days := coalesce(v_number, 30);
        WHEN 'requests_per_second' THEN p.requests_per_second := v_number;
        WHEN 'max_queued_emails' THEN p.max_queued_emails := v_number;
        WHEN 'max_stored_bytes' THEN p.max_stored_bytes := v_number;
        WHEN 'max_uploads' THEN p.max_uploads := v_number;
        WHEN 'max_templates' THEN p.max_templates := v_number;
        WHEN 'max_events' THEN p.max_events := v_number;
        WHEN 'max_contacts' THEN p.max_contacts := v_number;
        WHEN 'max_age_hours_critical' THEN p.max_age_hours_critical := coalesce(v_number, 1);
        WHEN 'max_age_hours_high' THEN p.max_age_hours_high := coalesce(v_number, 4);
        WHEN 'max_age_hours_normal' THEN p.max_age_hours_normal := coalesce(v_number, 24);
        WHEN 'max_age_hours_low' THEN p.max_age_hours_low := coalesce(v_number, 72);
        WHEN 'low_priority_window' THEN
            p.low_priority_window := (mailqueue.low_priority_window(v_text, 'UTC')).shown;
        WHEN 'quiet_hours' THEN p.quiet_hours := mailqueue.quiet_hours(v_text);
        WHEN 'frequency_cap' THEN p.frequency_cap := (mailqueue.frequency_cap(v_text)).shown;
        WHEN 'outbox_duplicates' THEN
            IF v_text NOT IN ('error', 'skip') THEN
                PERFORM mailqueue.refuse(c.key, format('error or skip, got %s', to_json(left(v_text, 100))));
            END IF;
            p.outbox_duplicates := coalesce(v_text, 'error');
        WHEN 'ordering' THEN
            IF v_text NOT IN ('project', 'outboxes') AND v_text !~ '^custom_data\.[A-Za-z_][A-Za-z0-9_-]{0,62}$' THEN
                PERFORM mailqueue.refuse(c.key,
                                         format('project, outboxes or custom_data.NAME, got %s',
                                                to_json(left(v_text, 100))));
            END IF;
            p.ordering := v_text;
        WHEN 'ordering_on_failure' THEN
            IF v_text NOT IN ('continue', 'block') THEN
                PERFORM mailqueue.refuse(c.key, format('continue or block, got %s', to_json(left(v_text, 100))));
            END IF;
            p.ordering_on_failure := coalesce(v_text, 'continue');
        WHEN 'management_events' THEN
            IF v_text !~ '^(sql|api|rabbitmq)(,(sql|api|rabbitmq)){0,2}$' THEN
                PERFORM mailqueue.refuse(c.key,
                                         format('sql, api and rabbitmq, separated by commas, got %s',
                                                to_json(left(v_text, 100))));
            END IF;
            p.management_events := v_text;
        ELSE
            PERFORM mailqueue.refuse(left(c.key, 100), 'there is no such setting of a project');
        END CASE;
    END LOOP;
    RETURN p;
END $$;
COMMENT ON FUNCTION mailqueue.project_with(mailqueue.projects, jsonb) IS
    'A project with these changes applied; raises an error for an invalid setting, naming it.';

CREATE OR REPLACE FUNCTION mailqueue.project_number(p_key text, p_value jsonb) RETURNS numeric
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_least numeric := CASE p_key WHEN 'attachment_bytes' THEN 0 WHEN 'daily_limit' THEN 0
                                  WHEN 'soft_bounce_limit' THEN 0 WHEN 'rate_per_second' THEN 0.001
                                  WHEN 'max_queued_emails' THEN 0 WHEN 'max_stored_bytes' THEN 0
                                  WHEN 'max_uploads' THEN 0 WHEN 'max_templates' THEN 0 WHEN 'max_events' THEN 0
                                  WHEN 'max_contacts' THEN 0
                                  ELSE 1 END;
    v_most numeric := CASE p_key WHEN 'attachment_bytes' THEN 26214400 WHEN 'weight' THEN 10000
                                 WHEN 'rate_per_second' THEN 1000000
                                 WHEN 'burst' THEN 1000000 WHEN 'requests_per_second' THEN 1000000
                                 WHEN 'soft_bounce_limit' THEN 1000 WHEN 'soft_bounce_days' THEN 365
                                 WHEN 'max_queued_emails' THEN 9007199254740991
                                 WHEN 'max_stored_bytes' THEN 9007199254740991 WHEN 'max_uploads' THEN 9007199254740991
                                 WHEN 'max_templates' THEN 9007199254740991 WHEN 'max_events' THEN 9007199254740991
                                 WHEN 'max_contacts' THEN 9007199254740991
                                 WHEN 'max_age_hours_critical' THEN 87600 WHEN 'max_age_hours_high' THEN 87600
                                 WHEN 'max_age_hours_normal' THEN 87600 WHEN 'max_age_hours_low' THEN 87600
                                 ELSE 2147483647 END;
BEGIN
    IF jsonb_typeof(p_value) <> 'number' OR p_value::numeric NOT BETWEEN v_least AND v_most
       OR p_key <> 'rate_per_second' AND p_value::numeric <> trunc(p_value::numeric) THEN
        PERFORM mailqueue.refuse(p_key,
                                 format('%s to %s is needed, got %s', v_least, v_most, left(p_value::text, 100)));
    END IF;
    RETURN p_value::numeric;
END $$;
COMMENT ON FUNCTION mailqueue.project_number(text, jsonb) IS 'A numeric project setting within its bounds.';

-- A postal address and a description may have line breaks; other control characters are not allowed.
CREATE OR REPLACE FUNCTION mailqueue.project_text(p_key text, p_value text, p_most integer) RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_text text := nullif(btrim(p_value, E' \t\r\n'), '');
BEGIN
    PERFORM mailqueue.check_text(p_key,
                                 CASE WHEN p_key <> 'display_name' THEN translate(v_text, E'\r\n', '  ')
                                      ELSE v_text END,
                                 p_most);
    RETURN v_text;
END $$;
COMMENT ON FUNCTION mailqueue.project_text(text, text, integer) IS 'A text setting of a project; NULL if it is empty.';

CREATE OR REPLACE FUNCTION mailqueue.project_address(p_key text, p_value text) RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF p_value IS NOT NULL THEN
        PERFORM mailqueue.check_address(p_key, p_value);
    END IF;
    RETURN mailqueue.wire_address(p_key, p_value);
END $$;
COMMENT ON FUNCTION mailqueue.project_address(text, text) IS 'An address among the settings of a project, or NULL.';

CREATE OR REPLACE FUNCTION mailqueue.project_time_zone(p_key text, p_value text) RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    -- PostgreSQL accepts offsets and rules as zones too, with the opposite sign.
    IF p_value !~ '^(UTC|[A-Z][A-Za-z_]+(/[A-Z][A-Za-z0-9_+-]+){1,2})$' THEN
        PERFORM mailqueue.refuse(p_key,
                                 format('%s is not a name such as Europe/Berlin', to_json(left(p_value, 100))));
    END IF;
    BEGIN
        IF mailqueue.known_zone(p_value) IS NULL THEN
            RAISE invalid_parameter_value;
        END IF;
        PERFORM now() AT TIME ZONE p_value;
    EXCEPTION WHEN invalid_parameter_value THEN
        PERFORM mailqueue.refuse(p_key, format('there is no time zone %s', to_json(left(p_value, 100))));
    END;
    RETURN p_value;
END $$;
COMMENT ON FUNCTION mailqueue.project_time_zone(text, text) IS
    'The name of a time zone; raises an error if it is not one.';

CREATE OR REPLACE FUNCTION mailqueue.project_tracking_domain(p_value text) RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_domain text := lower(btrim(p_value));
BEGIN
    IF v_domain !~ '^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])$'
       OR length(v_domain) > 190 THEN
        PERFORM mailqueue.refuse('tracking_domain',
                                 format('a name such as links.example.com is needed, in ASCII, got %s',
                                        to_json(left(p_value, 100))));
    END IF;
    RETURN v_domain;
END $$;
COMMENT ON FUNCTION mailqueue.project_tracking_domain(text) IS
    'Host name of links in a project''s mail; raises an error for an invalid one.';

CREATE OR REPLACE FUNCTION mailqueue.settings_of_project(p mailqueue.projects) RETURNS jsonb
LANGUAGE sql IMMUTABLE
AS $$
    SELECT jsonb_build_object('display_name', p.display_name, 'description', p.description, 'from_email', p.from_email,
        'from_name', p.from_name,
        'reply_to', p.reply_to, 'bounce_address', p.bounce_address, 'bounce_domain', p.bounce_domain, 'allowed_from',
        p.allowed_from, 'attachment_types', p.attachment_types,
        'attachment_bytes', p.attachment_bytes, 'daily_limit', p.daily_limit, 'rate_per_second', p.rate_per_second,
        'burst', p.burst,
        'weight', p.weight, 'soft_bounce_limit', p.soft_bounce_limit, 'soft_bounce_days', p.soft_bounce_days,
        'time_zone', p.time_zone, 'postal_address', p.postal_address, 'delivery', p.delivery, 'resend_elsewhere',
        p.resend_elsewhere,
        'requests_per_second', p.requests_per_second, 'track_opens', p.track_opens, 'track_clicks', p.track_clicks,
        'tracking_domain', p.tracking_domain, 'brand_color', p.brand_color, 'logo', p.logo, 'page_texts', p.page_texts,
        'max_queued_emails', p.max_queued_emails, 'max_stored_bytes', p.max_stored_bytes,
        'max_uploads', p.max_uploads, 'max_templates', p.max_templates,
        'max_events', p.max_events, 'max_contacts', p.max_contacts, 'max_age_hours_critical', p.max_age_hours_critical,
        'max_age_hours_high', p.max_age_hours_high, 'max_age_hours_normal', p.max_age_hours_normal,
        'max_age_hours_low', p.max_age_hours_low, 'require_postal_address', p.require_postal_address,
        'unsubscribe_on_all', p.unsubscribe_on_all, 'low_priority_window', p.low_priority_window,
        'quiet_hours', p.quiet_hours, 'frequency_cap', p.frequency_cap, 'outbox_duplicates', p.outbox_duplicates,
        'ordering', p.ordering, 'ordering_on_failure', p.ordering_on_failure,
        'management_events', p.management_events, 'notices_to', p.notices_to)
$$;
COMMENT ON FUNCTION mailqueue.settings_of_project(mailqueue.projects) IS
    'The settings of a project that change_project() changes.';
