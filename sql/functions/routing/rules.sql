-- Routing rules: the sender accounts of mail that names none. A rule has a lane for each priority, see make_lanes();
-- mail is assigned to it when it is accepted, and stays with it.

-- The first rule that matches. A message with several recipients is matched by the first of them.
CREATE OR REPLACE FUNCTION mailqueue.rule_of(p_project uuid, p_category text, p_tags text[], p_recipient text)
RETURNS integer
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT r.id FROM mailqueue.routing_rules AS r CROSS JOIN (SELECT mailqueue.domain_of(p_recipient) AS domain) AS d
     WHERE r.project_id = p_project
       AND (r.category IS NULL OR r.category = p_category)
       AND (r.tag IS NULL OR r.tag = ANY (p_tags))
       AND (r.domain IS NULL OR r.domain = d.domain
            OR (r.domain LIKE '*.%' AND right(d.domain, length(r.domain) - 1) = substring(r.domain FROM 2)
                AND length(d.domain) >= length(r.domain)))
     ORDER BY r.position LIMIT 1
$$;
COMMENT ON FUNCTION mailqueue.rule_of(uuid, text, text[], text) IS
    'Routing rule for a mail that names no sender account; NULL if none matches.';

-- For accepting, in projects with rules.
CREATE OR REPLACE FUNCTION mailqueue.lane_by_rules(p_lane integer, p_project uuid, p_priority smallint, p_category text,
    p_tags text[], p_recipient text) RETURNS integer
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT coalesce((SELECT l.id FROM mailqueue.lanes AS l
                      WHERE l.project_id = p_project AND l.priority = p_priority
                        AND l.route = 'rule ' || mailqueue.rule_of(p_project, p_category, p_tags, p_recipient)), p_lane)
$$;
COMMENT ON FUNCTION mailqueue.lane_by_rules(integer, uuid, smallint, text, text[], text) IS
    'Lane of a mail that names no sender account, in a project with routing rules.';

CREATE OR REPLACE FUNCTION mailqueue.routing_rules_lanes() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.project_id <> NEW.project_id THEN
        RAISE EXCEPTION 'a routing rule cannot be moved to another project' USING ERRCODE = '22023';
    END IF;
    IF TG_OP <> 'DELETE' AND EXISTS (
        SELECT FROM unnest(NEW.accounts) AS x(id) LEFT JOIN mailqueue.sender_accounts AS a
            ON a.id = x.id AND a.project_id = NEW.project_id AND a.provider <> 'trap' WHERE a.id IS NULL) THEN
        RAISE EXCEPTION 'a rule names sender accounts of its project, and not the trap' USING ERRCODE = '22023';
    END IF;
    PERFORM mailqueue.lock_lanes(CASE TG_OP WHEN 'DELETE' THEN OLD.project_id ELSE NEW.project_id END);
    PERFORM mailqueue.make_lanes(CASE TG_OP WHEN 'DELETE' THEN OLD.project_id ELSE NEW.project_id END);
    RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.routing_rules_lanes() IS 'AFTER change of a routing rule: updates its lanes.';

CREATE OR REPLACE TRIGGER routing_rules_lanes
    AFTER INSERT OR DELETE OR UPDATE OF accounts, project_id ON mailqueue.routing_rules
    FOR EACH ROW EXECUTE FUNCTION mailqueue.routing_rules_lanes();

-- p_position NULL: after all others; otherwise rules from there on move back by one.
CREATE OR REPLACE FUNCTION mailqueue.add_route(p_project text, p_senders text[], p_category text DEFAULT NULL,
    p_tag text DEFAULT NULL, p_domain text DEFAULT NULL, p_position integer DEFAULT NULL, p_note text DEFAULT NULL,
    p_by text DEFAULT NULL)
RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_project uuid := mailqueue.project_named(p_project);
    v_domain text := mailqueue.wire_domain('domain', p_domain);
    v_accounts integer[] := '{}';
    v_account integer;
    v_sender text;
    v_last integer;
    v_rules integer;
    v_id integer;
    c_max_rules CONSTANT integer := 200;                     -- of a project: each has a lane for each priority
BEGIN
    PERFORM mailqueue.check_tenant(v_project);
    IF num_nonnulls(p_category, p_tag, v_domain) = 0 THEN
        PERFORM mailqueue.refuse('category', 'a category, a tag or a domain is needed');
    ELSIF p_category !~ '^[a-z][a-z0-9_-]{0,62}$' THEN
        PERFORM mailqueue.refuse('category',
                                 format('%s is not a category: lower-case letters, digits, - and _',
                                        to_json(left(p_category, 100))));
    ELSIF p_tag = '' THEN
        PERFORM mailqueue.refuse('tag', 'must not be empty');
    ELSIF v_domain !~ '^(\*\.)?[^@\s|*]{1,253}$' THEN
        PERFORM mailqueue.refuse('domain',
                                 format('example.com or *.example.com, got %s', to_json(left(p_domain, 100))));
    ELSIF coalesce(cardinality(p_senders), 0) NOT BETWEEN 1 AND 20 THEN
        PERFORM mailqueue.refuse('sender',
                                 format('1 to 20 sender accounts are needed, got %s',
                                        coalesce(cardinality(p_senders), 0)));
    ELSIF p_position < 1 THEN
        PERFORM mailqueue.refuse('position', format('1 or more, got %s', p_position));
    END IF;
    PERFORM mailqueue.check_text('tag', p_tag, 255);
    PERFORM mailqueue.check_text('note', p_note, 500);
    FOREACH v_sender IN ARRAY p_senders LOOP
        SELECT a.id INTO v_account FROM mailqueue.sender_accounts AS a
         WHERE a.project_id = v_project AND a.name = v_sender AND a.provider <> 'trap';
        IF NOT FOUND THEN
            PERFORM mailqueue.refuse('sender',
                                     format('this project has no sender account %s that a rule may name',
                                            to_json(left(v_sender, 100))));
        ELSIF v_account = ANY (v_accounts) THEN
            PERFORM mailqueue.refuse('sender', format('%s is named twice', to_json(left(v_sender, 100))));
        END IF;
        v_accounts := v_accounts || v_account;
    END LOOP;
    PERFORM mailqueue.lock_lanes(v_project);                 -- one change of rules at a time
    SELECT coalesce(max(r.position), 0), count(*) INTO v_last, v_rules
      FROM mailqueue.routing_rules AS r WHERE r.project_id = v_project;
    IF v_rules >= c_max_rules THEN
        PERFORM mailqueue.refuse('position', format('a project may have %s routing rules', c_max_rules));
    END IF;
    UPDATE mailqueue.routing_rules AS r SET position = r.position + 1
     WHERE r.project_id = v_project AND r.position >= p_position;
    INSERT INTO mailqueue.routing_rules (project_id, position, category, tag, domain, accounts, note)
    VALUES (v_project, least(p_position, v_last + 1), p_category, p_tag, v_domain, v_accounts, p_note) RETURNING id
      INTO v_id;
    PERFORM mailqueue.record_operation(v_project, 'route.added', 'route ' || v_id, jsonb_strip_nulls(jsonb_build_object(
        'category', p_category, 'tag', p_tag, 'domain', v_domain, 'senders', p_senders, 'note', p_note)), p_by);
    RETURN v_id;
END $$;
COMMENT ON FUNCTION mailqueue.add_route(text, text[], text, text, text, integer, text, text) IS
    'Add a rule: mail that names no sender account and matches uses these accounts, in order; returns the id of the '
    'rule.';

CREATE OR REPLACE FUNCTION mailqueue.remove_route(p_project text, p_id integer, p_by text DEFAULT NULL) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_project uuid := mailqueue.project_named(p_project);
BEGIN
    PERFORM mailqueue.check_tenant(v_project);
    PERFORM mailqueue.lock_lanes(v_project);
    DELETE FROM mailqueue.routing_rules AS r WHERE r.project_id = v_project AND r.id = p_id;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM mailqueue.record_operation(v_project, 'route.removed', 'route ' || p_id, '{}', p_by);
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.remove_route(text, integer, text) IS
    'Remove a routing rule: its queued mail uses the accounts of mail without a rule. False if there was none.';

-- Dry run for such a mail: its rule, and its accounts in the order they are tried, with what blocks them.
CREATE OR REPLACE FUNCTION mailqueue.test_route(p_project text, p_recipient text,
    p_category text DEFAULT 'transactional', p_tags text[] DEFAULT '{}')
RETURNS TABLE (rule_id integer, sender text, is_fallback boolean, blocked_reason text, blocked_until timestamptz)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_project uuid := mailqueue.project_named(p_project);
    v_rule integer := mailqueue.rule_of(v_project, p_category, p_tags, p_recipient);
BEGIN
    PERFORM mailqueue.check_tenant(v_project);
    RETURN QUERY
    SELECT v_rule, a.name, a.is_fallback, h.why, nullif(h.until, 'infinity')
      FROM mailqueue.lanes AS l
     CROSS JOIN LATERAL unnest(l.account_limits) WITH ORDINALITY AS x(limit_id, place)
     CROSS JOIN LATERAL mailqueue.headroom(ARRAY[x.limit_id], clock_timestamp()) AS h
      JOIN mailqueue.sender_accounts AS a ON a.id = h.sender_account_id
     WHERE l.project_id = v_project AND l.priority = 2 AND l.route = coalesce('rule ' || v_rule, '')
     ORDER BY x.place;
END $$;
COMMENT ON FUNCTION mailqueue.test_route(text, text, text, text[]) IS
    'Rule and accounts of a mail that names no sender account.';
