-- Converts rows that were written before addresses had a canonical form, once. ASCII addresses are skipped.
--
-- Mail that a worker holds keeps its spelling, by which that worker settles it: mark_emails() compares canonical forms
-- anyway.

CREATE OR REPLACE FUNCTION mailqueue.unify_suppressions() RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    s record;
BEGIN
    FOR s IN SELECT o.*, mailqueue.address_key(o.email) AS compared FROM mailqueue.bounce_list AS o
              WHERE octet_length(o.email) > length(o.email) AND o.email <> mailqueue.address_key(o.email) ORDER BY o.id
                FOR UPDATE LOOP
        UPDATE mailqueue.bounce_list AS t
           SET bounce_count = t.bounce_count + s.bounce_count,
               first_bounced_at = least(t.first_bounced_at, s.first_bounced_at),
               last_bounced_at = greatest(t.last_bounced_at, s.last_bounced_at),
               bounce_type = CASE WHEN t.bounce_type = 'soft' OR s.bounce_type = 'complaint' THEN s.bounce_type
                                  ELSE t.bounce_type END
         WHERE t.project_id = s.project_id AND t.email = s.compared;
        IF FOUND THEN
            DELETE FROM mailqueue.bounce_list AS t WHERE t.id = s.id;
        ELSE
            UPDATE mailqueue.bounce_list AS t SET email = s.compared WHERE t.id = s.id;
        END IF;
    END LOOP;

    FOR s IN SELECT o.*, mailqueue.address_key(o.email) AS compared FROM mailqueue.unsubscribe_list AS o
              WHERE octet_length(o.email) > length(o.email) AND o.email <> mailqueue.address_key(o.email) ORDER BY o.id
                FOR UPDATE LOOP
        IF EXISTS (SELECT FROM mailqueue.unsubscribe_list AS t
                    WHERE t.project_id = s.project_id AND t.category = s.category AND t.email = s.compared) THEN
            DELETE FROM mailqueue.unsubscribe_list AS t WHERE t.id = s.id;
        ELSE
            UPDATE mailqueue.unsubscribe_list AS t SET email = s.compared WHERE t.id = s.id;
        END IF;
    END LOOP;

    -- Of two spellings of one address the suppression that lasts longer stays; of equal ones, that of the canonical
    -- form.
    FOR s IN SELECT o.*, mailqueue.address_key(o.address) AS compared FROM mailqueue.suppressions AS o
              WHERE octet_length(o.address) > length(o.address) AND o.address <> mailqueue.address_key(o.address)
              ORDER BY o.id FOR UPDATE LOOP
        UPDATE mailqueue.suppressions AS t
           SET reason = s.reason, detail = s.detail, expires_at = s.expires_at, email_id = s.email_id, source = s.source
         WHERE t.project_id = s.project_id AND t.category = s.category AND t.address = s.compared
           AND t.expires_at < s.expires_at;
        IF EXISTS (SELECT FROM mailqueue.suppressions AS t
                    WHERE t.project_id = s.project_id AND t.category = s.category AND t.address = s.compared) THEN
            DELETE FROM mailqueue.suppressions AS t WHERE t.id = s.id;
        ELSE
            UPDATE mailqueue.suppressions AS t SET address = s.compared WHERE t.id = s.id;
        END IF;
    END LOOP;
    UPDATE mailqueue.suppression_history AS h
       SET address = mailqueue.address_key(h.address), address_hash = mailqueue.address_hash(h.project_id, h.address)
     WHERE octet_length(h.address) > length(h.address) AND h.address <> mailqueue.address_key(h.address);

    -- The latest choice counts.
    FOR s IN SELECT o.*, mailqueue.address_key(o.address) AS compared,
                    mailqueue.address_hash(o.project_id, o.address) AS hash
               FROM mailqueue.subscription_preferences AS o
              WHERE octet_length(o.address) > length(o.address) AND o.address <> mailqueue.address_key(o.address)
                FOR UPDATE LOOP
        DELETE FROM mailqueue.subscription_preferences AS t
         WHERE t.project_id = s.project_id AND t.address_hash = s.hash AND t.category = s.category
           AND t.changed_at < s.changed_at;
        IF EXISTS (SELECT FROM mailqueue.subscription_preferences AS t
                    WHERE t.project_id = s.project_id AND t.address_hash = s.hash AND t.category = s.category) THEN
            DELETE FROM mailqueue.subscription_preferences AS t
             WHERE t.project_id = s.project_id AND t.address_hash = s.address_hash AND t.category = s.category;
        ELSE
            UPDATE mailqueue.subscription_preferences AS t SET address = s.compared, address_hash = s.hash
             WHERE t.project_id = s.project_id AND t.address_hash = s.address_hash AND t.category = s.category;
        END IF;
    END LOOP;
END $$;
COMMENT ON FUNCTION mailqueue.unify_suppressions() IS
    'Convert suppressions, lists and preferences to the canonical form of their addresses.';

CREATE OR REPLACE FUNCTION mailqueue.unify_domains() RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    d record;
BEGIN
    FOR d IN DELETE FROM mailqueue.domain_rates AS r WHERE octet_length(r.domain) > length(r.domain) RETURNING r.* LOOP
        INSERT INTO mailqueue.domain_rates (domain, rate_per_second, burst, note)
        VALUES (mailqueue.domain_key(d.domain), d.rate_per_second, d.burst, d.note) ON CONFLICT (domain) DO NOTHING;
    END LOOP;
    -- The lane of a pause is identified by name: its mail returns, and moves to the lane of the new name before it is
    -- sent.
    FOR d IN DELETE FROM mailqueue.pauses AS p WHERE p.kind = 'domain' AND octet_length(p.value) > length(p.value)
             RETURNING p.* LOOP
        INSERT INTO mailqueue.pauses (project_id, kind, value, reason, until, actor, created_at)
        VALUES (d.project_id, d.kind, mailqueue.domain_key(d.value), d.reason, d.until, d.actor, d.created_at)
        ON CONFLICT ON CONSTRAINT pauses_pkey DO NOTHING;
        PERFORM mailqueue.lock_lanes(d.project_id);
        PERFORM mailqueue.make_aside_lanes(d.project_id);
        UPDATE mailqueue.lanes AS l SET blocked_until = clock_timestamp(), blocked_reason = 'recheck'
         WHERE l.project_id = d.project_id AND l.pause_kind = 'domain' AND l.pause_value = d.value
           AND l.blocked_reason = 'set_aside';
    END LOOP;
    UPDATE mailqueue.routing_rules AS r
       SET domain = CASE WHEN r.domain LIKE '*.%' THEN '*.' || mailqueue.domain_key(substr(r.domain, 3))
                         ELSE mailqueue.domain_key(r.domain) END
     WHERE octet_length(r.domain) > length(r.domain);
    UPDATE mailqueue.projects AS p
       SET allowed_from = ARRAY(SELECT CASE WHEN a.pattern LIKE '%@%' THEN mailqueue.address_key(a.pattern)
                                            WHEN a.pattern LIKE '*.%'
                                                 THEN '*.' || mailqueue.domain_key(substr(a.pattern, 3))
                                            ELSE mailqueue.domain_key(a.pattern) END
                                  FROM unnest(p.allowed_from) WITH ORDINALITY AS a(pattern, n) ORDER BY a.n)
     WHERE EXISTS (SELECT FROM unnest(p.allowed_from) AS a(pattern) WHERE octet_length(a.pattern) > length(a.pattern));
END $$;
COMMENT ON FUNCTION mailqueue.unify_domains() IS
    'Convert rates, pauses, routing rules and allowed senders to the canonical form of their domains.';

CREATE OR REPLACE FUNCTION mailqueue.unify_mail() RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_ids uuid[];
BEGIN
    -- In the common lock order and without waiting: a locked mail is about to be sent.
    SELECT array_agg(m.id) INTO v_ids FROM (
        SELECT q.id FROM mailqueue.email_queue AS q
         WHERE q.status <> 'assigned'
           AND (octet_length(q.recipient_email) > length(q.recipient_email)
                AND q.recipient_email <> mailqueue.address_sent(q.recipient_email)
                OR q.id IN (SELECT r.email_id FROM mailqueue.email_recipients AS r
                             WHERE octet_length(r.address) > length(r.address)
                               AND r.address <> mailqueue.address_sent(r.address)))
         ORDER BY q.id FOR UPDATE SKIP LOCKED) AS m;
    UPDATE mailqueue.email_recipients AS r SET address = mailqueue.address_sent(r.address)
     WHERE octet_length(r.address) > length(r.address) AND r.address <> mailqueue.address_sent(r.address)
       AND (r.email_id IN (SELECT unnest(v_ids))
            OR NOT EXISTS (SELECT FROM mailqueue.email_queue AS q WHERE q.id = r.email_id));
    UPDATE mailqueue.email_queue AS q SET recipient_email = mailqueue.address_sent(q.recipient_email)
     WHERE q.id IN (SELECT unnest(v_ids));
    -- Finished mail is found by its canonical form.
    UPDATE mailqueue.email_history AS h SET recipient_email = mailqueue.address_sent(h.recipient_email)
     WHERE octet_length(h.recipient_email) > length(h.recipient_email)
       AND h.recipient_email <> mailqueue.address_sent(h.recipient_email);
    UPDATE mailqueue.email_events AS v SET recipient_email = mailqueue.address_sent(v.recipient_email)
     WHERE octet_length(v.recipient_email) > length(v.recipient_email)
       AND v.recipient_email <> mailqueue.address_sent(v.recipient_email);
    UPDATE mailqueue.send_logs AS l SET recipient_email = mailqueue.address_sent(l.recipient_email)
     WHERE octet_length(l.recipient_email) > length(l.recipient_email)
       AND l.recipient_email <> mailqueue.address_sent(l.recipient_email);
END $$;
COMMENT ON FUNCTION mailqueue.unify_mail() IS
    'Convert the recipients of mail, and of its history, to the form in which they are sent.';

-- Once: the constraint that the migration left NOT VALID shows whether it is done. It reads the whole history.
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_constraint AS c WHERE c.conrelid = 'mailqueue.suppressions'::regclass
                  AND c.conname = 'suppressions_address_check' AND NOT c.convalidated) THEN
        PERFORM mailqueue.unify_suppressions();
        PERFORM mailqueue.unify_domains();
        PERFORM mailqueue.unify_mail();
        ALTER TABLE mailqueue.suppressions VALIDATE CONSTRAINT suppressions_address_check;
    END IF;
END $$;
