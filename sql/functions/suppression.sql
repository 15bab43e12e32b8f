-- Who is not written to.

CREATE OR REPLACE FUNCTION mailqueue.suppressed(p_project uuid, p_address text, p_category text) RETURNS text
LANGUAGE sql STABLE
AS $$
    SELECT s.reason FROM mailqueue.suppressions AS s
     WHERE s.project_id = p_project AND s.address = lower(p_address) AND s.category IN ('', p_category)
       AND s.expires_at > now()
     ORDER BY s.category LIMIT 1
$$;
COMMENT ON FUNCTION mailqueue.suppressed(uuid, text, text) IS 'Why this project does not write to the address; NULL when it does.';

CREATE OR REPLACE FUNCTION mailqueue.suppress(p_project uuid, p_address text, p_category text, p_reason text, p_detail text) RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    INSERT INTO mailqueue.suppressions AS s (project_id, address, category, reason, detail)
    VALUES (p_project, lower(p_address), coalesce(p_category, ''), p_reason, p_detail)
    ON CONFLICT (project_id, address, category)
    DO UPDATE SET reason = excluded.reason, detail = excluded.detail, expires_at = 'infinity', created_at = now()
     WHERE s.expires_at < 'infinity'
$$;
COMMENT ON FUNCTION mailqueue.suppress(uuid, text, text, text, text) IS
    'Stop writing to an address for good; the first reason that holds for good stays.';

CREATE OR REPLACE FUNCTION mailqueue.bounce_list_suppress() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    NEW.project_id := coalesce(NEW.project_id, mailqueue.project_named(NEW.project));
    NEW.project := NULL;
    NEW.email := lower(btrim(NEW.email));
    PERFORM mailqueue.check_address('email', NEW.email);
    IF NEW.bounce_type IN ('hard', 'complaint') THEN
        PERFORM mailqueue.suppress(NEW.project_id, NEW.email, '',
            CASE NEW.bounce_type WHEN 'hard' THEN 'hard_bounce' ELSE 'complaint' END, NEW.bounce_reason);
    END IF;
    RETURN NEW;
END $$;
COMMENT ON FUNCTION mailqueue.bounce_list_suppress() IS 'BEFORE INSERT or UPDATE on bounce_list: hard bounces and complaints suppress.';

CREATE OR REPLACE TRIGGER bounce_list_suppress BEFORE INSERT OR UPDATE ON mailqueue.bounce_list
    FOR EACH ROW EXECUTE FUNCTION mailqueue.bounce_list_suppress();

CREATE OR REPLACE FUNCTION mailqueue.unsubscribe_list_suppress() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    NEW.project_id := coalesce(NEW.project_id, mailqueue.project_named(NEW.project));
    NEW.project := NULL;
    NEW.email := lower(btrim(NEW.email));
    NEW.category := coalesce(NEW.category, '');
    PERFORM mailqueue.check_address('email', NEW.email);
    PERFORM mailqueue.suppress(NEW.project_id, NEW.email, NEW.category, 'unsubscribed', NEW.unsubscribe_reason);
    RETURN NEW;
END $$;
COMMENT ON FUNCTION mailqueue.unsubscribe_list_suppress() IS 'BEFORE INSERT or UPDATE on unsubscribe_list: the address is suppressed at once.';

CREATE OR REPLACE TRIGGER unsubscribe_list_suppress BEFORE INSERT OR UPDATE ON mailqueue.unsubscribe_list
    FOR EACH ROW EXECUTE FUNCTION mailqueue.unsubscribe_list_suppress();

-- A refusal with hard evidence: listed and suppressed. Soft ones are only counted.
CREATE OR REPLACE FUNCTION mailqueue.record_bounce(p_project uuid, p_address text, p_type text, p_reason text, p_code text,
    p_account integer, p_campaign text) RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    INSERT INTO mailqueue.bounce_list AS b (project_id, project, email, bounce_type, bounce_reason, bounce_code, sender_account_id, campaign_id)
    VALUES (p_project, NULL, lower(p_address), p_type, p_reason, p_code, p_account, p_campaign)
    ON CONFLICT (project_id, email) DO UPDATE
       SET last_bounced_at = now(), bounce_count = b.bounce_count + 1, bounce_reason = excluded.bounce_reason,
           bounce_code = excluded.bounce_code,
           bounce_type = CASE WHEN b.bounce_type = 'soft' THEN excluded.bounce_type ELSE b.bounce_type END
$$;
COMMENT ON FUNCTION mailqueue.record_bounce(uuid, text, text, text, text, integer, text) IS 'Count a bounce of an address; hard ones suppress it.';
