-- Subscription preferences: the categories of a project, the choices of each person, and their effects.

-- The mail of a link. Not an authorisation: a link has a token, and a token names one mail.
CREATE OR REPLACE FUNCTION mailqueue.recipient_of_link(p_email uuid, p_recipient integer)
    RETURNS TABLE (project_id uuid, project text, brand_color text, logo uuid, page_texts jsonb, address text,
        category text, campaign_id text, language text)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT m.project_id, coalesce(p.display_name, p.name), p.brand_color, g.token, p.page_texts,
           coalesce(r.address, m.recipient_email), m.category, m.campaign_id, c.template_language
      FROM (SELECT q.id, q.project_id, q.recipient_email, q.category, q.campaign_id, q.content_id, q.content_on,
                   NULL::timestamptz AS at
              FROM mailqueue.email_queue AS q WHERE q.id = p_email
            UNION ALL
            SELECT h.id, h.project_id, h.recipient_email, h.category, h.campaign_id, h.content_id, h.content_on,
                   h.finished_at
              FROM mailqueue.email_history AS h WHERE h.id = p_email) AS m
      JOIN mailqueue.projects AS p ON p.id = m.project_id AND p.deleted_at IS NULL
      LEFT JOIN mailqueue.template_pictures AS g ON g.id = p.logo AND g.project_id = p.id
      LEFT JOIN mailqueue.email_recipients AS r ON r.email_id = m.id AND r.position = p_recipient
      LEFT JOIN mailqueue.email_contents AS c ON c.id = m.content_id AND c.created_on = m.content_on
     WHERE (p_recipient = 0 OR r.email_id IS NOT NULL) AND m.recipient_email NOT LIKE '%@erased.invalid'
     ORDER BY m.at DESC NULLS FIRST LIMIT 1
$$;
COMMENT ON FUNCTION mailqueue.recipient_of_link(uuid, integer) IS
    'Recipient of a mail and the data of its pages; no row once the mail was archived or the recipient erased.';

CREATE OR REPLACE FUNCTION mailqueue.is_category_required(p_project uuid, p_category text) RETURNS boolean
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT p_category IN ('', 'transactional', 'system')
           OR EXISTS (SELECT FROM mailqueue.subscription_categories AS c
                       WHERE c.project_id = p_project AND c.slug = p_category AND c.is_required
                         AND c.removed_at IS NULL)
$$;
COMMENT ON FUNCTION mailqueue.is_category_required(uuid, text) IS 'Whether a category cannot be unsubscribed from.';

-- The choices of one person, each an object: category, and state on, off or paused with until. Returns those that
-- changed something; repeating a call changes nothing. Mail that is stopped for another reason, a bounce or a
-- complaint, stays stopped. p_network: NULL where the client asked not to be tracked.
CREATE OR REPLACE FUNCTION mailqueue.change_subscriptions(p_project uuid, p_spellings text[], p_choices jsonb,
    p_source text, p_email uuid, p_campaign text, p_user_agent text, p_by text, p_network inet DEFAULT NULL)
    RETURNS TABLE (category text, state text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_changed jsonb := '{}';                                 -- state by category
    c record;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    IF p_email IS NOT NULL AND mailqueue.is_test_email(p_email) THEN
        -- A link in test mail: acknowledged, without changing the preferences for live mail.
        PERFORM mailqueue.record_events(jsonb_agg(jsonb_build_object('source', 'unsubscribe', 'type', k.type,
                    'email_id', p_email,
                    'recipient', p_spellings[1], 'data',
                    jsonb_build_object('categories', k.categories, 'by', p_source))))
           FROM (SELECT CASE x.choice ->> 'state' WHEN 'off' THEN 'unsubscribed' ELSE 'resubscribed' END AS type,
                        jsonb_agg(x.choice ->> 'category' ORDER BY x.choice ->> 'category') AS categories
                   FROM jsonb_array_elements(p_choices) AS x(choice) WHERE x.choice ->> 'state' IN ('off', 'on')
                  GROUP BY 1) AS k
         HAVING count(*) > 0;
        RETURN;
    END IF;
    -- Concurrent clicks are serialised: neither overwrites part of the other.
    PERFORM mailqueue.lock_key('subscriptions ' || encode(mailqueue.address_hash(p_project, p_spellings[1]), 'hex'));
    FOR c IN SELECT DISTINCT mailqueue.address_key(a.address) AS address, e.choice ->> 'category' AS category,
                    e.choice ->> 'state' AS state,
                    (e.choice ->> 'until')::timestamptz AS until
               FROM unnest(p_spellings) AS a(address), jsonb_array_elements(p_choices) AS e(choice) ORDER BY 1, 2
    LOOP
        IF mailqueue.is_category_required(p_project, c.category) THEN
            PERFORM mailqueue.refuse('category',
                                     format('recipients cannot unsubscribe from %s', to_json(left(c.category, 100))));
        ELSIF c.state NOT IN ('on', 'off', 'paused') OR (c.state = 'paused') <> (c.until IS NOT NULL) THEN
            PERFORM mailqueue.refuse('state', 'on, off, or paused with until');
        END IF;
        PERFORM mailqueue.check_address('email', c.address);
        PERFORM mailqueue.check_instant('until', c.until, true);
        IF mailqueue.change_subscription(p_project, c.address, c.category, c.state, c.until, p_source, p_email,
                                         p_campaign, left(p_user_agent, 500), p_by, p_network) THEN
            v_changed := v_changed || jsonb_build_object(c.category, c.state);
        END IF;
    END LOOP;
    IF p_email IS NOT NULL AND v_changed <> '{}' THEN
        PERFORM mailqueue.record_events(jsonb_agg(jsonb_build_object('source', 'unsubscribe', 'type', k.type,
                    'email_id', p_email,
                    'recipient', p_spellings[1], 'data',
                    jsonb_build_object('categories', k.categories, 'by', p_source))))
           FROM (SELECT CASE x.value WHEN 'off' THEN 'unsubscribed' ELSE 'resubscribed' END AS type,
                        jsonb_agg(x.key ORDER BY x.key) AS categories
                   FROM jsonb_each_text(v_changed) AS x WHERE x.value IN ('off', 'on') GROUP BY 1) AS k
         HAVING count(*) > 0;
    END IF;
    RETURN QUERY SELECT x.key, x.value FROM jsonb_each_text(v_changed) AS x;
END $$;
COMMENT ON FUNCTION mailqueue.change_subscriptions(uuid, text[], jsonb, text, uuid, text, text, text, inet) IS
    'Record the choices of a person for categories and apply them at once; returns what changed.';

CREATE OR REPLACE FUNCTION mailqueue.change_subscription(p_project uuid, p_address text, p_category text, p_state text,
    p_until timestamptz, p_source text, p_email uuid, p_campaign text, p_user_agent text, p_by text, p_network inet)
RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_hash bytea := mailqueue.address_hash(p_project, p_address);
    v_before text;
    v_until timestamptz;
BEGIN
    INSERT INTO mailqueue.subscription_preferences AS f (project_id, address_hash, category, address, is_subscribed,
                                                         paused_until, source, email_id, user_agent)
    VALUES (p_project, v_hash, p_category, p_address, p_state <> 'off', p_until, p_source, p_email, p_user_agent)
    ON CONFLICT (project_id, address_hash, category)
    DO UPDATE SET is_subscribed = excluded.is_subscribed, paused_until = excluded.paused_until,
                  source = excluded.source, email_id = excluded.email_id, user_agent = excluded.user_agent,
                  changed_at = now()
     WHERE (f.is_subscribed, f.paused_until) IS DISTINCT FROM (excluded.is_subscribed, excluded.paused_until);

    SELECT CASE s.reason WHEN 'paused' THEN 'paused' WHEN 'unsubscribed' THEN 'off' ELSE 'other' END, s.expires_at
      INTO v_before, v_until
      FROM mailqueue.suppressions AS s
     WHERE s.project_id = p_project AND s.address_hash = v_hash AND s.category = p_category AND s.expires_at > now();
    v_before := coalesce(v_before, 'on');
    IF v_before = 'other' OR v_before = p_state AND (p_state <> 'paused' OR v_until = p_until) THEN
        RETURN false;
    END IF;
    IF v_before <> 'on' THEN
        PERFORM mailqueue.end_unsubscription(p_project, p_address, v_hash, p_category, p_by, p_state);
    END IF;
    IF p_state = 'off' THEN
        INSERT INTO mailqueue.unsubscribe_list AS u (project_id, project, email, category, unsubscribe_reason,
                                                     campaign_id, user_agent, ip_address, email_id, source)
        VALUES (p_project, NULL, p_address, p_category, p_source, p_campaign, p_user_agent, p_network, p_email,
                p_source)
        ON CONFLICT (project_id, email, category) DO NOTHING;
    ELSIF p_state = 'paused' THEN
        INSERT INTO mailqueue.suppressions AS s (project_id, address, category, reason, detail, expires_at, email_id,
                                                 source)
        VALUES (p_project, p_address, p_category, 'paused', p_source, p_until, p_email, p_source)
        ON CONFLICT ON CONSTRAINT suppressions_project_id_address_category_key    -- expired, and not deleted yet
        DO UPDATE SET reason = excluded.reason, detail = excluded.detail, expires_at = excluded.expires_at,
                      created_at = now(), email_id = excluded.email_id, source = excluded.source;
    END IF;
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.change_subscription(uuid, text, text, text, timestamptz, text, uuid, text, text, text,
                                                  inet) IS
    'Apply one choice of one person; false if nothing changes, or mail is stopped for a reason other than a choice.';

CREATE OR REPLACE FUNCTION mailqueue.end_unsubscription(p_project uuid, p_address text, p_hash bytea, p_category text,
    p_by text, p_why text)
RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    DELETE FROM mailqueue.unsubscribe_list AS u
     WHERE u.project_id = p_project AND u.email = p_address AND u.category = p_category;
    WITH gone AS (
        DELETE FROM mailqueue.suppressions AS s
         WHERE s.project_id = p_project AND s.address_hash = p_hash AND s.category = p_category
           AND s.reason IN ('unsubscribed', 'paused')
        RETURNING s.*
    )
    INSERT INTO mailqueue.suppression_history (project_id, address_hash, address, category, reason, detail, email_id,
                                               source, created_at, expires_at, ended_by, ended_why)
    SELECT g.project_id, g.address_hash, g.address, g.category, g.reason, g.detail, g.email_id, g.source, g.created_at,
           g.expires_at, p_by, CASE p_why WHEN 'on' THEN 'subscribed again' ELSE 'replaced' END
      FROM gone AS g
$$;
COMMENT ON FUNCTION mailqueue.end_unsubscription(uuid, text, bytea, text, text, text) IS
    'Remove suppressions that come from an unsubscribe or a pause of the person, and no others.';

-- Categories as people see them. Each change writes an audit row.
CREATE OR REPLACE FUNCTION mailqueue.put_category(p_project uuid, p_slug text, p_given jsonb, p_must_be_new boolean,
    p_by text)
    RETURNS SETOF mailqueue.subscription_categories
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_old mailqueue.subscription_categories;
    v_new mailqueue.subscription_categories;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    IF p_slug !~ '^[a-z][a-z0-9_-]{0,62}$' THEN
        PERFORM mailqueue.refuse('slug',
                                 format('lower-case letters, digits, - and _ are needed, got %s',
                                        to_json(left(p_slug, 100))));
    END IF;
    -- Serialised: two concurrent inserts must not both be the hundredth, nor both be new.
    PERFORM mailqueue.lock_key('categories ' || p_project);
    SELECT * INTO v_old FROM mailqueue.subscription_categories AS c WHERE c.project_id = p_project AND c.slug = p_slug;
    IF v_old.removed_at IS NOT NULL THEN
        v_old := NULL;
    END IF;
    IF v_old.id IS NOT NULL AND p_must_be_new THEN
        RETURN;
    ELSIF v_old.id IS NULL AND (SELECT count(*) >= 100 FROM mailqueue.subscription_categories AS c
                                 WHERE c.project_id = p_project AND c.removed_at IS NULL) THEN
        PERFORM mailqueue.refuse('slug', 'a project may have 100 categories');
    END IF;
    v_new := jsonb_populate_record(v_old,
                                   p_given
                                   - ARRAY['id', 'project_id', 'slug', 'created_by', 'created_at', 'updated_at']);
    v_new.name := nullif(btrim(coalesce(v_new.name, '')), '');
    v_new.description := nullif(btrim(coalesce(v_new.description, '')), '');
    IF v_new.name IS NULL THEN
        PERFORM mailqueue.refuse('name', 'a name is needed');
    END IF;
    PERFORM mailqueue.check_text('name', v_new.name, 100);
    PERFORM mailqueue.check_text('description', v_new.description, 300);
    v_new.is_required := coalesce(v_new.is_required, false);
    v_new.place := coalesce(v_new.place, 100);
    IF v_new.place NOT BETWEEN 0 AND 10000 THEN
        PERFORM mailqueue.refuse('place', format('0 to 10000 is needed, got %s', v_new.place));
    ELSIF p_slug IN ('transactional', 'system') AND NOT v_new.is_required THEN
        PERFORM mailqueue.refuse('is_required',
                                 format('recipients cannot unsubscribe from %s: it must be required', p_slug));
    ELSIF p_slug = 'marketing' AND v_new.is_required THEN
        PERFORM mailqueue.refuse('is_required', 'recipients can always unsubscribe from marketing');
    END IF;
    INSERT INTO mailqueue.subscription_categories AS c (project_id, slug, name, description, translations, is_required,
                                                        place, created_by)
    VALUES (p_project, p_slug, v_new.name, v_new.description, coalesce(v_new.translations, '{}'), v_new.is_required,
            v_new.place, p_by)
    ON CONFLICT (project_id, slug)
    DO UPDATE SET name = excluded.name, description = excluded.description, translations = excluded.translations,
                  is_required = excluded.is_required, place = excluded.place, updated_at = now(), removed_at = NULL
    RETURNING * INTO v_new;
    INSERT INTO mailqueue.audit_events (project_id, actor, action, subject, detail)
    SELECT p_project, p_by, CASE WHEN v_old.id IS NULL THEN 'category.added' ELSE 'category.changed' END,
           'category ' || p_slug, jsonb_build_object('project', p.name, 'is_required', v_new.is_required)
      FROM mailqueue.projects AS p WHERE p.id = p_project;
    RETURN NEXT v_new;
END $$;
COMMENT ON FUNCTION mailqueue.put_category(uuid, text, jsonb, boolean, text) IS
    'Add a category or change the given fields of one; no row if it must be new and exists.';

CREATE OR REPLACE FUNCTION mailqueue.remove_category(p_project uuid, p_slug text, p_by text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    UPDATE mailqueue.subscription_categories AS c SET removed_at = now()
     WHERE c.project_id = p_project AND c.slug = p_slug AND c.removed_at IS NULL;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO mailqueue.audit_events (project_id, actor, action, subject, detail)
    SELECT p_project, p_by, 'category.removed', 'category ' || p_slug, jsonb_build_object('project', p.name)
      FROM mailqueue.projects AS p WHERE p.id = p_project;
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.remove_category(uuid, text, text) IS
    'Hide a category; those who unsubscribed from it stay unsubscribed. False if there is none.';
