-- From addresses that a project allows, and other settings that apply to all its mail.

-- Patterns are 'ann@example.com', 'example.com' or '*.example.com', which is every domain below it.
CREATE OR REPLACE FUNCTION mailqueue.matches_address(p_address text, p_patterns text[]) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT EXISTS (
        SELECT FROM unnest(p_patterns) AS p(pattern)
         WHERE CASE WHEN p.pattern LIKE '%@%' THEN mailqueue.address_key(p_address) = p.pattern
                    WHEN p.pattern LIKE '*.%'
                         THEN right(mailqueue.domain_of(p_address), length(p.pattern) - 1) = substr(p.pattern, 2)
                    ELSE mailqueue.domain_of(p_address) = p.pattern END)
$$;
COMMENT ON FUNCTION mailqueue.matches_address(text, text[]) IS 'Whether an address matches one of these patterns.';

CREATE OR REPLACE FUNCTION mailqueue.check_from(p_project uuid, p_email text) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_allowed text[] := (SELECT p.allowed_from FROM mailqueue.projects AS p WHERE p.id = p_project);
BEGIN
    IF v_allowed IS NOT NULL AND NOT mailqueue.matches_address(p_email, v_allowed) THEN
        PERFORM mailqueue.refuse('from_email', format('%s is not allowed in this project, which sends from %s',
            to_json(left(p_email, 300)), array_to_string(v_allowed, ', ')), 'sender_not_allowed');
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.check_from(uuid, text) IS
    'Raise an error for a From address that the project does not allow.';

-- Workers cache an account until its revision changes; some of the cached values are settings of the project.
CREATE OR REPLACE FUNCTION mailqueue.projects_senders() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    UPDATE mailqueue.sender_accounts AS a SET updated_at = now() WHERE a.project_id = NEW.id;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.projects_senders() IS
    'AFTER UPDATE of From settings of a project: increments the revision of its accounts, so that workers read them '
    'again.';

CREATE OR REPLACE TRIGGER projects_senders AFTER UPDATE OF from_email, from_name, reply_to, bounce_address,
    bounce_domain ON mailqueue.projects
    FOR EACH ROW EXECUTE FUNCTION mailqueue.projects_senders();

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
            PERFORM mailqueue.refuse('allowed_from',
                                     format('%s is not an address, a domain or *.domain',
                                            to_json(left(v_pattern, 300))));
        END IF;
    END LOOP;
END $$;
COMMENT ON FUNCTION mailqueue.check_allowed_from(text[]) IS 'Raise an error for a pattern that no address could match.';
