-- Domains that keys sign for: each is a row of the queue `domains`, which looks it up in DNS once a day.

CREATE OR REPLACE FUNCTION mailqueue.keep_domain_recheck() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    INSERT INTO mailqueue.domain_rechecks (project_id, domain, run_at)
    VALUES (NEW.project_id, NEW.domain, now() + interval '1 day')
    ON CONFLICT (project_id, domain) DO NOTHING;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION mailqueue.keep_domain_recheck() IS
    'Trigger of dkim_keys: the domain of a key is looked up in DNS once a day, however many keys it has.';

CREATE OR REPLACE TRIGGER dkim_keys_recheck AFTER INSERT ON mailqueue.dkim_keys
    FOR EACH ROW EXECUTE FUNCTION mailqueue.keep_domain_recheck();

-- A check that a person asked for is the newest, too.
CREATE OR REPLACE FUNCTION mailqueue.note_domain_check() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    UPDATE mailqueue.domain_rechecks AS r
       SET checked_at = NEW.checked_at, dkim = s.states ->> 'DKIM', spf = s.states ->> 'SPF',
           dmarc = s.states ->> 'DMARC'
      FROM (SELECT jsonb_object_agg(f ->> 'topic', f ->> 'status') AS states
              FROM jsonb_array_elements(NEW.findings) AS f
             WHERE f ->> 'topic' IS NOT NULL) AS s
     WHERE r.project_id = NEW.project_id AND r.domain = NEW.domain AND s.states IS NOT NULL
       AND EXISTS (SELECT FROM mailqueue.dkim_keys AS k
                    WHERE k.project_id = NEW.project_id AND k.domain = NEW.domain AND k.status = 'active');
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION mailqueue.note_domain_check() IS
    'Trigger of domain_checks: the states of the newest check of a domain that a key signs for.';

CREATE OR REPLACE TRIGGER domain_checks_note AFTER INSERT ON mailqueue.domain_checks
    FOR EACH ROW EXECUTE FUNCTION mailqueue.note_domain_check();

CREATE OR REPLACE FUNCTION mailqueue.checked_domains() RETURNS TABLE (project_id uuid, domain text)
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
    -- Jumps from domain to domain in the index, however many checks each has.
    WITH RECURSIVE seen AS (
        (SELECT c.project_id, c.domain FROM mailqueue.domain_checks AS c ORDER BY c.project_id, c.domain LIMIT 1)
        UNION ALL
        SELECT next.* FROM seen AS s
         CROSS JOIN LATERAL (SELECT c.project_id, c.domain FROM mailqueue.domain_checks AS c
                              WHERE (c.project_id, c.domain) > (s.project_id, s.domain)
                              ORDER BY c.project_id, c.domain LIMIT 1) AS next
    )
    SELECT s.project_id, s.domain FROM seen AS s
$$;
COMMENT ON FUNCTION mailqueue.checked_domains() IS 'The domains of stored DNS checks, each once.';

CREATE OR REPLACE FUNCTION mailqueue.health_of_domains() RETURNS TABLE (name text, state text, found text, fix text)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
    WITH faults AS (
        SELECT r.domain, p.name AS project,
               concat_ws(' and ', CASE WHEN r.dkim = 'fail' THEN 'DKIM' END, CASE WHEN r.spf = 'fail' THEN 'SPF' END,
                         CASE WHEN r.dmarc = 'fail' THEN 'DMARC' END) AS records
          FROM mailqueue.domain_rechecks AS r
          JOIN mailqueue.projects AS p ON p.id = r.project_id AND p.deleted_at IS NULL
         WHERE r.dkim = 'fail' OR r.spf = 'fail' OR r.dmarc = 'fail'
         ORDER BY r.domain
         LIMIT 100
    ), told AS (
        SELECT array_agg(format('%s of %s (project %s)', f.records, f.domain, f.project) ORDER BY f.domain) AS words,
               (array_agg(format('mailqueue dkim check %s --project %s', mailqueue.shell_word(f.domain),
                                 mailqueue.shell_word(f.project)) ORDER BY f.domain))[1] AS fix
          FROM faults AS f
    )
    SELECT 'domain records', CASE WHEN t.words IS NULL THEN 'ok' ELSE 'warning' END,
           coalesce('records in DNS are missing or wrong: ' || mailqueue.some_words(t.words),
                    'no domain that a key signs for failed its last check'),
           t.fix
      FROM told AS t
$$;
COMMENT ON FUNCTION mailqueue.health_of_domains() IS
    'Rows of view health: domains whose DKIM, SPF or DMARC failed the newest check.';
