-- Whom the mail of a project may be from, and what else a project says of all its mail.

-- 'ann@example.com', 'example.com' or '*.example.com', which is every domain below it.
CREATE OR REPLACE FUNCTION mailqueue.matches_address(p_address text, p_patterns text[]) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT EXISTS (
        SELECT FROM unnest(p_patterns) AS p(pattern)
         WHERE CASE WHEN p.pattern LIKE '%@%' THEN lower(p_address) = p.pattern
                    WHEN p.pattern LIKE '*.%' THEN right(split_part(lower(p_address), '@', 2), length(p.pattern) - 1) = substr(p.pattern, 2)
                    ELSE split_part(lower(p_address), '@', 2) = p.pattern END)
$$;
COMMENT ON FUNCTION mailqueue.matches_address(text, text[]) IS 'Whether an address is one of these, or of one of these domains.';

CREATE OR REPLACE FUNCTION mailqueue.check_from(p_project uuid, p_email text) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_allowed text[] := (SELECT p.allowed_from FROM mailqueue.projects AS p WHERE p.id = p_project);
BEGIN
    IF v_allowed IS NOT NULL AND NOT mailqueue.matches_address(p_email, v_allowed) THEN
        PERFORM mailqueue.refuse('from_email', format('%s is not allowed in this project, which sends from %s',
            to_json(left(p_email, 300)), array_to_string(v_allowed, ', ')));
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.check_from(uuid, text) IS 'Refuse a From address that the project does not allow its mail to name.';

-- Workers keep what an account says until its revision changes; a part of it is the project's.
CREATE OR REPLACE FUNCTION mailqueue.projects_senders() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    UPDATE mailqueue.sender_accounts AS a SET updated_at = now() WHERE a.project_id = NEW.id;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.projects_senders() IS 'AFTER change of whom a project writes as: its accounts are new to workers.';

CREATE OR REPLACE TRIGGER projects_senders AFTER UPDATE OF from_email, from_name, reply_to, bounce_address ON mailqueue.projects
    FOR EACH ROW EXECUTE FUNCTION mailqueue.projects_senders();

-- {"from_email", "from_name", "reply_to", "bounce_address", "allowed_from", "attachment_types", "attachment_bytes"}; null
-- takes a setting back.
CREATE OR REPLACE FUNCTION mailqueue.change_project(p_project text, p_changes jsonb, p_actor text DEFAULT session_user) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c record;
    p mailqueue.projects;
    v_text text;
    v_list text[];
    v_before jsonb;
    v_after jsonb;
BEGIN
    SELECT * INTO p FROM mailqueue.projects AS o WHERE o.name = p_project FOR NO KEY UPDATE;
    IF p.id IS NULL THEN
        PERFORM mailqueue.project_named(p_project);          -- refuses it
    END IF;
    v_before := mailqueue.settings_of_project(p);
    FOR c IN SELECT e.key, e.value, jsonb_typeof(e.value) AS type FROM jsonb_each(p_changes) AS e LOOP
        v_text := c.value #>> '{}';
        v_list := NULL;
        IF c.key IN ('from_email', 'from_name', 'reply_to', 'bounce_address') AND c.type NOT IN ('string', 'null') THEN
            PERFORM mailqueue.refuse(c.key, format('a string is needed, got %s', c.type));
        ELSIF c.key IN ('from_email', 'bounce_address') AND v_text IS NOT NULL THEN
            PERFORM mailqueue.check_address(c.key, v_text);
        ELSIF c.key IN ('allowed_from', 'attachment_types') AND c.type <> 'null' THEN
            IF c.type <> 'array' OR jsonb_path_exists(c.value, 'strict $[*] ? (@.type() != "string")', '{}', true) THEN
                PERFORM mailqueue.refuse(c.key, 'a list of strings is needed');
            END IF;
            v_list := ARRAY(SELECT lower(btrim(l)) FROM jsonb_array_elements_text(c.value) AS l);
        ELSIF c.key = 'attachment_bytes' AND v_text IS NOT NULL AND (c.type <> 'number' OR v_text !~ '^[0-9]{1,8}$' OR v_text::integer > 26214400) THEN
            PERFORM mailqueue.refuse(c.key, format('0 to 26214400 is needed, got %s', left(c.value::text, 100)));
        END IF;
        CASE c.key
        WHEN 'from_email' THEN p.from_email := v_text;
        WHEN 'from_name' THEN
            PERFORM mailqueue.check_text('from_name', v_text, 320);
            p.from_name := v_text;
        WHEN 'reply_to' THEN
            IF v_text IS NOT NULL THEN
                PERFORM mailqueue.check_text('reply_to', v_text, 600);
                PERFORM mailqueue.check_address('reply_to', (mailqueue.split_mailbox(v_text)).address);
            END IF;
            p.reply_to := v_text;
        WHEN 'bounce_address' THEN p.bounce_address := v_text;
        WHEN 'allowed_from' THEN
            PERFORM mailqueue.check_allowed_from(v_list);
            p.allowed_from := nullif(v_list, '{}');
        WHEN 'attachment_types' THEN
            p.attachment_types := coalesce(v_list, '{application/pdf,image/gif,image/jpeg,image/png,image/webp}');
        WHEN 'attachment_bytes' THEN p.attachment_bytes := coalesce(v_text::integer, 4194304);
        ELSE
            PERFORM mailqueue.refuse(left(c.key, 100), 'there is no such setting of a project');
        END CASE;
    END LOOP;
    v_after := mailqueue.settings_of_project(p);
    IF v_after <> v_before THEN
        UPDATE mailqueue.projects AS o
           SET from_email = p.from_email, from_name = p.from_name, reply_to = p.reply_to, bounce_address = p.bounce_address,
               allowed_from = p.allowed_from, attachment_types = p.attachment_types, attachment_bytes = p.attachment_bytes, updated_at = now()
         WHERE o.id = p.id;
        INSERT INTO mailqueue.audit_events (project_id, actor, action, subject, detail)
        VALUES (p.id, p_actor, 'project.changed', 'project ' || p.name, jsonb_build_object('before', v_before, 'after', v_after));
    END IF;
    RETURN v_after;
END $$;
COMMENT ON FUNCTION mailqueue.change_project(text, jsonb, text) IS
    'Change what holds for all mail of a project; gives what holds then. Null takes a setting back.';

CREATE OR REPLACE FUNCTION mailqueue.check_allowed_from(p_patterns text[]) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_pattern text;
BEGIN
    FOREACH v_pattern IN ARRAY coalesce(p_patterns, '{}') LOOP
        IF mailqueue.address_fault(CASE WHEN v_pattern LIKE '%@%' THEN v_pattern
                                        ELSE 'x@' || regexp_replace(v_pattern, '^\*\.', '') END) IS NOT NULL THEN
            PERFORM mailqueue.refuse('allowed_from', format('%s is no address, domain or *.domain', to_json(left(v_pattern, 300))));
        END IF;
    END LOOP;
END $$;
COMMENT ON FUNCTION mailqueue.check_allowed_from(text[]) IS 'Refuse a pattern that no address could match.';

CREATE OR REPLACE FUNCTION mailqueue.settings_of_project(p mailqueue.projects) RETURNS jsonb
LANGUAGE sql IMMUTABLE
AS $$
    SELECT jsonb_build_object('from_email', p.from_email, 'from_name', p.from_name, 'reply_to', p.reply_to,
        'bounce_address', p.bounce_address, 'allowed_from', p.allowed_from, 'attachment_types', p.attachment_types,
        'attachment_bytes', p.attachment_bytes)
$$;
COMMENT ON FUNCTION mailqueue.settings_of_project(mailqueue.projects) IS 'What change_project() changes, as it holds.';

CREATE OR REPLACE FUNCTION mailqueue.add_project(p_name text, p_actor text DEFAULT session_user) RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_id uuid;
BEGIN
    IF coalesce(p_name, '') !~ '^[a-z0-9][a-z0-9_-]{0,62}$' THEN
        PERFORM mailqueue.refuse('project', format('%s is not a name: lower-case letters, digits, - and _', to_json(left(p_name, 100))));
    ELSIF EXISTS (SELECT FROM mailqueue.projects AS p WHERE p.name = p_name) THEN
        PERFORM mailqueue.refuse('project', format('there is a project %s already', to_json(p_name)));
    END IF;
    INSERT INTO mailqueue.projects (name) VALUES (p_name) RETURNING id INTO v_id;
    INSERT INTO mailqueue.audit_events (project_id, actor, action, subject) VALUES (v_id, p_actor, 'project.added', 'project ' || p_name);
    RETURN v_id;
END $$;
COMMENT ON FUNCTION mailqueue.add_project(text, text) IS 'Make a project, with its lanes and limit.';
