-- Removing sender accounts, making one the first, and their routing rules. Columns are changed by plain statements.

-- For roles that cannot read the column: the API, which tests accounts of the project it acts for.
CREATE OR REPLACE FUNCTION mailqueue.sealed_password(p_account integer) RETURNS bytea
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT a.smtp_password FROM mailqueue.sender_accounts AS a
     WHERE a.id = p_account AND a.project_id = coalesce(mailqueue.tenant(), a.project_id)
$$;
COMMENT ON FUNCTION mailqueue.sealed_password(integer) IS
    'Sealed password of a sender account; NULL if it has none, and for accounts of other projects than that of the '
    'transaction.';

CREATE OR REPLACE FUNCTION mailqueue.remove_sender(p_project uuid, p_account integer, p_by text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_name text;
    v_rules integer[];
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.lock_senders(p_project);
    PERFORM mailqueue.lock_lanes(p_project);                 -- no claim takes it meanwhile
    SELECT a.name INTO v_name FROM mailqueue.sender_accounts AS a
     WHERE a.project_id = p_project AND a.id = p_account AND a.provider <> 'trap' FOR UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    SELECT array_agg(r.id ORDER BY r.position) INTO v_rules FROM mailqueue.routing_rules AS r
     WHERE r.project_id = p_project AND r.accounts = ARRAY[p_account];
    IF v_rules IS NOT NULL THEN
        RAISE EXCEPTION 'routing rule % has no other sender account than %: take it away first',
            array_to_string(v_rules, ', '), v_name
              USING ERRCODE = '55006';
    ELSIF EXISTS (SELECT FROM mailqueue.email_queue AS q
                   WHERE q.project_id = p_project AND q.assigned_to = p_account AND q.status = 'assigned') THEN
        RAISE EXCEPTION '% is sending mail at this moment: pause it, and remove it when that is done', v_name
            USING ERRCODE = '55006';
    END IF;
    UPDATE mailqueue.routing_rules AS r SET accounts = array_remove(r.accounts, p_account)
     WHERE r.project_id = p_project AND p_account = ANY (r.accounts);
    -- Mail that it may have accepted uses no other account, unless the project allows it.
    WITH kept AS (
        UPDATE mailqueue.email_queue AS q
           SET status = 'held', last_error = mailqueue.unknown_words(p_account) || ', and that account was removed'
         WHERE q.project_id = p_project AND q.assigned_to = p_account AND q.status = 'pending' AND q.unknowns > 0
           AND NOT (SELECT p.resend_elsewhere FROM mailqueue.projects AS p WHERE p.id = p_project)
        RETURNING q.id, q.recipient_email, q.last_error
    )
    INSERT INTO mailqueue.email_events (project_id, email_id, type, recipient_email, sender_account_id, detail)
    SELECT p_project, k.id, 'held', k.recipient_email, p_account, k.last_error FROM kept AS k;
    DELETE FROM mailqueue.sender_accounts AS a WHERE a.id = p_account;
    INSERT INTO mailqueue.audit_events (project_id, actor, action, subject, detail)
    VALUES (p_project, p_by, 'sender.removed', 'sender ' || v_name, jsonb_build_object('id', p_account));
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.remove_sender(uuid, integer, text) IS
    'Delete a sender account; its queued mail uses the others. Raises 55006 while it is in use; false if there is '
    'none.';

CREATE OR REPLACE FUNCTION mailqueue.prefer_sender(p_project uuid, p_account integer) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_least integer;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.lock_senders(p_project);
    PERFORM mailqueue.lock_lanes(p_project);
    IF NOT EXISTS (SELECT FROM mailqueue.sender_accounts AS a
                    WHERE a.project_id = p_project AND a.id = p_account AND a.provider <> 'trap') THEN
        RETURN false;
    END IF;
    SELECT min(a.priority) INTO v_least FROM mailqueue.sender_accounts AS a
     WHERE a.project_id = p_project AND a.id <> p_account AND a.provider <> 'trap';
    IF v_least = 0 THEN
        UPDATE mailqueue.sender_accounts AS a SET priority = least(a.priority + 1, 32767)
         WHERE a.project_id = p_project AND a.id <> p_account AND a.provider <> 'trap';
        v_least := 1;
    END IF;
    UPDATE mailqueue.sender_accounts AS a
       SET priority = least(a.priority, coalesce(v_least - 1, a.priority)), is_fallback = false,
           status = 'active', status_reason = NULL, status_until = NULL
     WHERE a.id = p_account;
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.prefer_sender(uuid, integer) IS
    'Make an account the first for mail that names none, and activate it; false if there is no such account.';

-- Rules of one account: it is removed from those that name it, and added, by its priority, to the rule of each
-- condition.
CREATE OR REPLACE FUNCTION mailqueue.route_to_sender(p_project uuid, p_account integer, p_categories text[],
    p_domains text[], p_by text)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_project text;
    v_name text;
    v_domains text[] := CASE WHEN p_domains IS NOT NULL
                                  THEN ARRAY(SELECT mailqueue.wire_domain('domain', d)
                                               FROM unnest(p_domains) AS x(d)) END;
    r record;
    v_rule integer;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.lock_lanes(p_project);
    SELECT p.name, a.name INTO v_project, v_name FROM mailqueue.sender_accounts AS a
      JOIN mailqueue.projects AS p ON p.id = a.project_id
     WHERE a.project_id = p_project AND a.id = p_account;
    FOR r IN SELECT x.id, x.accounts FROM mailqueue.routing_rules AS x
              WHERE x.project_id = p_project AND p_account = ANY (x.accounts) AND x.tag IS NULL
                AND NOT (coalesce(x.category, '') = ANY (coalesce(p_categories, '{""}'))
                         AND coalesce(x.domain, '') = ANY (coalesce(v_domains, '{""}')))
    LOOP
        IF cardinality(r.accounts) = 1 THEN
            PERFORM mailqueue.remove_route(v_project, r.id, p_by);
        ELSE
            UPDATE mailqueue.routing_rules AS x SET accounts = array_remove(x.accounts, p_account) WHERE x.id = r.id;
        END IF;
    END LOOP;
    IF p_categories IS NULL AND p_domains IS NULL THEN
        RETURN;
    END IF;
    FOR r IN SELECT c.category, d.domain
               FROM unnest(coalesce(p_categories, '{NULL}')) WITH ORDINALITY AS c(category, n),
                    unnest(coalesce(v_domains, '{NULL}')) WITH ORDINALITY AS d(domain, n) ORDER BY c.n, d.n
    LOOP
        SELECT x.id INTO v_rule FROM mailqueue.routing_rules AS x
         WHERE x.project_id = p_project AND x.tag IS NULL AND x.category IS NOT DISTINCT FROM r.category
           AND x.domain IS NOT DISTINCT FROM r.domain
         ORDER BY x.position LIMIT 1;
        IF FOUND THEN
            UPDATE mailqueue.routing_rules AS x
               SET accounts = ARRAY(SELECT a.id FROM mailqueue.sender_accounts AS a
                                     WHERE a.id = ANY (x.accounts || p_account)
                                     ORDER BY a.is_fallback, a.priority, a.id)
             WHERE x.id = v_rule AND p_account <> ALL (x.accounts);
        ELSE
            PERFORM mailqueue.add_route(v_project, ARRAY[v_name], r.category, NULL, r.domain, NULL, NULL, p_by);
        END IF;
    END LOOP;
END $$;
COMMENT ON FUNCTION mailqueue.route_to_sender(uuid, integer, text[], text[], text) IS
    'Use this account for mail of these categories to these domains, beside others that have the same rule; NULL: '
    'any. Both NULL: no rule.';
