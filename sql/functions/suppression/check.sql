-- Whether an address is suppressed.

-- "*" is the unsubscribe from everything: marketing, and every category of the project that is not required. Mail in
-- response to an action of the recipient (transactional, system) is never included.
CREATE OR REPLACE FUNCTION mailqueue.stopping_categories(p_project uuid, p_category text) RETURNS text[]
LANGUAGE sql STABLE
AS $$
    SELECT CASE WHEN p_category IN ('', '*', 'transactional', 'system') THEN ARRAY['', p_category]
                WHEN p_category = 'marketing'
                     OR EXISTS (SELECT FROM mailqueue.subscription_categories AS c
                                 WHERE c.project_id = p_project AND c.slug = p_category
                                   AND (c.removed_at IS NOT NULL OR NOT c.is_required))
                THEN ARRAY['', '*', p_category]
                ELSE ARRAY['', p_category] END
$$;
COMMENT ON FUNCTION mailqueue.stopping_categories(uuid, text) IS
    'Categories of suppressions that apply to mail of a category.';

CREATE OR REPLACE FUNCTION mailqueue.suppressed(p_project uuid, p_address text, p_category text) RETURNS text
LANGUAGE sql STABLE
AS $$
    SELECT s.reason
      -- ORDER BY selects the indexes on addresses, also without statistics.
      FROM ((SELECT a.reason, a.category FROM mailqueue.suppressions AS a
              WHERE a.project_id = p_project AND a.address = mailqueue.address_key(p_address) AND a.expires_at > now()
              ORDER BY a.category)
            UNION ALL
            -- Erased persons are suppressed by hash only; most projects have none, and compute no hash.
            (SELECT e.reason, e.category FROM mailqueue.suppressions AS e
              WHERE e.project_id = p_project AND e.address IS NULL AND e.expires_at > now()
                AND e.address_hash = (SELECT mailqueue.address_hash(p_project, p_address)
                                       WHERE EXISTS (SELECT FROM mailqueue.suppressions AS n
                                                      WHERE n.project_id = p_project AND n.address IS NULL))
              ORDER BY e.category)
           ) AS s
     WHERE s.category = ANY (mailqueue.stopping_categories(p_project, p_category))
     ORDER BY s.category LIMIT 1
$$;
COMMENT ON FUNCTION mailqueue.suppressed(uuid, text, text) IS
    'Why the address is suppressed in this project; NULL if it is not.';

CREATE OR REPLACE FUNCTION mailqueue.suppress(p_project uuid, p_address text, p_category text, p_reason text,
    p_detail text, p_email uuid DEFAULT NULL, p_source text DEFAULT NULL) RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    INSERT INTO mailqueue.suppressions AS s (project_id, address, category, reason, detail, email_id, source)
    SELECT p_project, mailqueue.address_key(p_address), coalesce(p_category, ''), p_reason, p_detail, p_email, p_source
     WHERE NOT EXISTS (SELECT FROM mailqueue.suppressions AS e       -- suppressed by hash, permanently: that row stays
                        WHERE e.project_id = p_project AND e.address IS NULL AND e.category = coalesce(p_category, '')
                          AND e.expires_at = 'infinity'
                          AND e.address_hash = mailqueue.address_hash(p_project, p_address))
    ON CONFLICT (project_id, address, category)
    DO UPDATE SET reason = excluded.reason, detail = excluded.detail, expires_at = 'infinity', created_at = now(),
                  email_id = excluded.email_id, source = excluded.source
     WHERE s.expires_at < 'infinity'
$$;
COMMENT ON FUNCTION mailqueue.suppress(uuid, text, text, text, text, uuid, text) IS
    'Suppress an address permanently, because of a mail if one is given; the first permanent reason stays.';

CREATE OR REPLACE FUNCTION mailqueue.suppressions_replaced() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    INSERT INTO mailqueue.suppression_history (project_id, address_hash, address, category, reason, detail, email_id,
                                               source, created_at, expires_at, ended_by, ended_why)
    VALUES (OLD.project_id, OLD.address_hash, OLD.address, OLD.category, OLD.reason, OLD.detail, OLD.email_id,
            OLD.source, OLD.created_at, OLD.expires_at, coalesce(NEW.source, session_user), 'replaced');
    RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.suppressions_replaced() IS
    'AFTER UPDATE of a suppression: keeps the previous values in suppression_history.';

-- Applies to every writer of the row, and to functions of any version: it stops mail in every spelling.
CREATE OR REPLACE FUNCTION mailqueue.suppressions_spelling() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    NEW.address := mailqueue.address_key(NEW.address);
    RETURN NEW;
END $$;
COMMENT ON FUNCTION mailqueue.suppressions_spelling() IS
    'BEFORE INSERT of a suppression of a non-ASCII address, and UPDATE of the address: stores its canonical form.';

-- Its name sorts it before the triggers that hash the address.
CREATE OR REPLACE TRIGGER suppressions_compared BEFORE INSERT OR UPDATE OF address ON mailqueue.suppressions
    FOR EACH ROW WHEN (octet_length(NEW.address) > length(NEW.address))
    EXECUTE FUNCTION mailqueue.suppressions_spelling();

CREATE OR REPLACE TRIGGER suppressions_replaced AFTER UPDATE OF reason, expires_at ON mailqueue.suppressions
    FOR EACH ROW WHEN (OLD.address = NEW.address) EXECUTE FUNCTION mailqueue.suppressions_replaced();

CREATE OR REPLACE FUNCTION mailqueue.bounce_list_suppress() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    NEW.project_id := coalesce(NEW.project_id, mailqueue.project_named(NEW.project));
    NEW.project := NULL;
    NEW.email := btrim(NEW.email);
    PERFORM mailqueue.check_address('email', NEW.email);
    NEW.email := mailqueue.address_key(NEW.email);
    IF NEW.bounce_type IN ('hard', 'complaint') THEN
        PERFORM mailqueue.suppress(NEW.project_id, NEW.email, '',
            CASE NEW.bounce_type WHEN 'hard' THEN 'hard_bounce' ELSE 'complaint' END, NEW.bounce_reason, NEW.email_id,
            'bounce');
    END IF;
    RETURN NEW;
END $$;
COMMENT ON FUNCTION mailqueue.bounce_list_suppress() IS
    'BEFORE INSERT or UPDATE on bounce_list: hard bounces and complaints suppress.';

CREATE OR REPLACE TRIGGER bounce_list_suppress BEFORE INSERT OR UPDATE ON mailqueue.bounce_list
    FOR EACH ROW EXECUTE FUNCTION mailqueue.bounce_list_suppress();

CREATE OR REPLACE FUNCTION mailqueue.unsubscribe_list_suppress() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    NEW.project_id := coalesce(NEW.project_id, mailqueue.project_named(NEW.project));
    NEW.project := NULL;
    NEW.email := btrim(NEW.email);
    NEW.category := coalesce(NEW.category, '');
    -- The network, as events store it, for rows of every login.
    NEW.ip_address := network(set_masklen(NEW.ip_address,
        least(masklen(NEW.ip_address), CASE family(NEW.ip_address) WHEN 4 THEN 24 ELSE 48 END)));
    PERFORM mailqueue.check_address('email', NEW.email);
    NEW.email := mailqueue.address_key(NEW.email);
    PERFORM mailqueue.suppress(NEW.project_id, NEW.email, NEW.category, 'unsubscribed', NEW.unsubscribe_reason,
                               NEW.email_id, NEW.source);
    RETURN NEW;
END $$;
COMMENT ON FUNCTION mailqueue.unsubscribe_list_suppress() IS
    'BEFORE INSERT or UPDATE on unsubscribe_list: the address is suppressed at once, and the network of the client '
    'stored without its host part.';

CREATE OR REPLACE TRIGGER unsubscribe_list_suppress BEFORE INSERT OR UPDATE ON mailqueue.unsubscribe_list
    FOR EACH ROW EXECUTE FUNCTION mailqueue.unsubscribe_list_suppress();

-- A permanent refusal is listed and suppressed. Temporary ones are only counted.
CREATE OR REPLACE FUNCTION mailqueue.record_bounce(p_project uuid, p_address text, p_type text, p_reason text,
    p_code text, p_account integer, p_campaign text, p_email uuid DEFAULT NULL) RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    INSERT INTO mailqueue.bounce_list AS b (project_id, project, email, bounce_type, bounce_reason, bounce_code,
                                            sender_account_id, campaign_id, email_id)
    VALUES (p_project, NULL, mailqueue.address_key(p_address), p_type, p_reason, p_code, p_account, p_campaign, p_email)
    ON CONFLICT (project_id, email) DO UPDATE
       SET last_bounced_at = now(), bounce_count = b.bounce_count + 1, bounce_reason = excluded.bounce_reason,
           bounce_code = excluded.bounce_code, email_id = excluded.email_id,
           bounce_type = CASE WHEN b.bounce_type = 'soft' THEN excluded.bounce_type ELSE b.bounce_type END
$$;
COMMENT ON FUNCTION mailqueue.record_bounce(uuid, text, text, text, text, integer, text, uuid) IS
    'Count a bounce of an address, of this mail; hard ones suppress it.';
