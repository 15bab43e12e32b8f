-- Projects: created, changed, suspended, deleted and restored. Each change writes an audit row.

CREATE OR REPLACE FUNCTION mailqueue.add_project(p_name text, p_actor text DEFAULT session_user,
    p_settings jsonb DEFAULT '{}')
RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    p mailqueue.projects;
BEGIN
    PERFORM mailqueue.check_administers();
    IF coalesce(p_name, '') !~ '^[a-z0-9][a-z0-9_-]{0,62}$' THEN
        PERFORM mailqueue.refuse('project',
                                 format('%s is not a name: lower-case letters, digits, - and _',
                                        to_json(left(p_name, 100))));
    ELSIF p_name ~ '^[0-9a-f]{8}(-?[0-9a-f]{4}){4}[0-9a-f]{8}$' THEN
        PERFORM mailqueue.refuse('project', format('%s has the form of an id', to_json(p_name)));
    END IF;
    INSERT INTO mailqueue.projects (name, daily_limit, rate_per_second)
    VALUES (p_name, nullif(least(mailqueue.system_number('project_daily_limit'), 2147483647), 0)::integer,
            nullif(least(mailqueue.system_number('project_rate_per_second'), 1000000), 0))
    ON CONFLICT ON CONSTRAINT projects_name_key DO NOTHING RETURNING * INTO p;
    IF p.id IS NULL THEN
        PERFORM mailqueue.refuse('project', format('there is a project %s already%s', to_json(p_name),
            (SELECT ', deleted ' || mailqueue.shown(o.deleted_at) || ': names are not used again'
               FROM mailqueue.projects AS o WHERE o.name = p_name AND o.deleted_at IS NOT NULL)));
    END IF;
    PERFORM mailqueue.store_project(p, mailqueue.project_with(p, p_settings));
    SELECT * INTO p FROM mailqueue.projects AS o WHERE o.id = p.id;
    INSERT INTO mailqueue.audit_events (project_id, actor, action, subject, detail)
    VALUES (p.id, p_actor, 'project.added', 'project ' || p_name, mailqueue.settings_of_project(p));
    RETURN p.id;
END $$;
COMMENT ON FUNCTION mailqueue.add_project(text, text, jsonb) IS
    'Create a project with its lanes and limit; settings as for change_project().';

CREATE OR REPLACE FUNCTION mailqueue.store_project(p_before mailqueue.projects, p mailqueue.projects) RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF mailqueue.settings_of_project(p_before) = mailqueue.settings_of_project(p) THEN
        RETURN false;
    END IF;
    UPDATE mailqueue.projects AS o
       SET display_name = p.display_name, description = p.description, postal_address = p.postal_address,
           delivery = p.delivery, resend_elsewhere = p.resend_elsewhere,
           require_postal_address = p.require_postal_address, unsubscribe_on_all = p.unsubscribe_on_all,
           allowed_from = p.allowed_from, attachment_types = p.attachment_types, attachment_bytes = p.attachment_bytes,
           daily_limit = p.daily_limit, rate_per_second = p.rate_per_second, burst = p.burst, weight = p.weight,
           soft_bounce_limit = p.soft_bounce_limit, soft_bounce_days = p.soft_bounce_days, time_zone = p.time_zone,
           requests_per_second = p.requests_per_second, track_opens = p.track_opens, track_clicks = p.track_clicks,
           tracking_domain = p.tracking_domain, brand_color = p.brand_color, logo = p.logo, page_texts = p.page_texts,
           max_queued_emails = p.max_queued_emails, max_stored_bytes = p.max_stored_bytes, max_uploads = p.max_uploads,
           max_templates = p.max_templates, max_events = p.max_events, max_contacts = p.max_contacts,
           max_age_hours_critical = p.max_age_hours_critical, max_age_hours_high = p.max_age_hours_high,
           max_age_hours_normal = p.max_age_hours_normal, max_age_hours_low = p.max_age_hours_low,
           low_priority_window = p.low_priority_window, quiet_hours = p.quiet_hours,
           frequency_cap = p.frequency_cap, outbox_duplicates = p.outbox_duplicates,
           ordering = p.ordering, ordering_on_failure = p.ordering_on_failure,
           management_events = p.management_events, notices_to = p.notices_to,
           tracking_checked_at = CASE WHEN o.tracking_domain = p.tracking_domain THEN o.tracking_checked_at END,
           updated_at = now()
     WHERE o.id = p.id;
    -- A separate statement: it fires the trigger by which workers read their accounts again.
    IF (p.from_email, p.from_name, p.reply_to, p.bounce_address, p.bounce_domain) IS DISTINCT FROM
       (p_before.from_email, p_before.from_name, p_before.reply_to, p_before.bounce_address,
        p_before.bounce_domain) THEN
        UPDATE mailqueue.projects AS o
           SET from_email = p.from_email, from_name = p.from_name, reply_to = p.reply_to,
               bounce_address = p.bounce_address, bounce_domain = p.bounce_domain
         WHERE o.id = p.id;
    END IF;
    -- A bound needs counts; a database of an earlier version has none yet.
    IF num_nonnulls(p.max_queued_emails, p.max_stored_bytes, p.max_uploads, p.max_events, p.max_contacts) > 0
       AND EXISTS (SELECT FROM mailqueue.usage_counts AS c WHERE c.recounted_at IS NULL) THEN
        PERFORM mailqueue.recount_usage();
    END IF;
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.store_project(mailqueue.projects, mailqueue.projects) IS
    'Write the settings of a project; false if nothing changes.';

CREATE OR REPLACE FUNCTION mailqueue.locked_project(p_name text) RETURNS mailqueue.projects
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    p mailqueue.projects;
BEGIN
    PERFORM mailqueue.check_administers();
    SELECT * INTO p FROM mailqueue.projects AS o WHERE o.name = p_name FOR NO KEY UPDATE;
    IF p.id IS NULL THEN
        PERFORM mailqueue.project_named(p_name);             -- raises the error
    END IF;
    RETURN p;
END $$;
COMMENT ON FUNCTION mailqueue.locked_project(text) IS 'Lock a project until the end of the transaction and return it.';

CREATE OR REPLACE FUNCTION mailqueue.change_project(p_project text, p_changes jsonb, p_actor text DEFAULT session_user)
RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_before mailqueue.projects := mailqueue.locked_project(p_project);
    v_after mailqueue.projects;
BEGIN
    v_after := mailqueue.project_with(v_before, p_changes);
    IF mailqueue.store_project(v_before, v_after) THEN
        INSERT INTO mailqueue.audit_events (project_id, actor, action, subject, detail)
        VALUES (v_after.id, p_actor, 'project.changed', 'project ' || v_after.name,
                jsonb_build_object('before', mailqueue.settings_of_project(v_before), 'after',
                                   mailqueue.settings_of_project(v_after)));
    END IF;
    RETURN mailqueue.settings_of_project(v_after);
END $$;
COMMENT ON FUNCTION mailqueue.change_project(text, jsonb, text) IS
    'Change settings of a project; returns all settings. Null resets a setting.';
