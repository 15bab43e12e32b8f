-- Birthdays of contacts: one pending event for each contact with a date of birth, moved when the contact changes.
--
-- A contact has one birthday in each year of its local calendar. Planning never moves an event that a worker has: it
-- stands for its year, whatever happens to the contact meanwhile.

CREATE OR REPLACE FUNCTION mailqueue.birthday_in(p_year integer, p_birth date, p_leap_day text) RETURNS date
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, mailqueue, pg_temp
RETURN CASE
    WHEN extract(month FROM p_birth) <> 2 OR extract(day FROM p_birth) < 29 OR p_year % 4 = 0
         AND (p_year % 100 <> 0 OR p_year % 400 = 0)
         THEN make_date(p_year, extract(month FROM p_birth)::integer, extract(day FROM p_birth)::integer)
    WHEN p_leap_day = 'march_1' THEN make_date(p_year, 3, 1)
    ELSE make_date(p_year, 2, 28) END;
COMMENT ON FUNCTION mailqueue.birthday_in(integer, date, text) IS
    'The birthday in a year; p_leap_day says when one of 29 February is in other years: february_28 or march_1.';

-- Callers hold a lock on the contact, or have noted it in birthday_replans.
CREATE OR REPLACE FUNCTION mailqueue.plan_birthday(c mailqueue.contacts) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    r mailqueue.birthday_rules;
    t mailqueue.timed_events;
    v_zone text;
    v_year integer;
    v_day date;
    v_local timestamp;
    v_due timestamptz;
    v_key text;
BEGIN
    SELECT * INTO r FROM mailqueue.birthday_rules AS b WHERE b.project_id = c.project_id;
    IF r.project_id IS NULL THEN
        RETURN;
    ELSIF NOT r.is_enabled OR c.date_of_birth IS NULL OR c.email_key = 'erased@erased.invalid' THEN
        DELETE FROM mailqueue.timed_events AS e
         WHERE e.contact_id = c.id AND e.is_birthday AND e.status = 'pending' AND e.attempts = 0;
        RETURN;
    END IF;
    SELECT coalesce(mailqueue.known_zone(c.time_zone), mailqueue.known_zone(p.time_zone), 'UTC') INTO v_zone
      FROM mailqueue.projects AS p WHERE p.id = c.project_id;
    -- One that was tried, or that a worker has, stands for its year; its end makes the next one.
    IF EXISTS (SELECT FROM mailqueue.timed_events AS e
                WHERE e.contact_id = c.id AND e.is_birthday
                  AND (e.status IN ('assigned', 'delivering') OR e.status = 'pending' AND e.attempts > 0)) THEN
        RETURN;
    END IF;
    SELECT * INTO t FROM mailqueue.timed_events AS e
     WHERE e.contact_id = c.id AND e.is_birthday AND e.status = 'pending' AND e.attempts = 0
     ORDER BY e.local_at DESC LIMIT 1 FOR NO KEY UPDATE;
    v_day := t.local_at::date;
    IF v_day IS NULL
       OR v_day <> mailqueue.birthday_in(extract(year FROM v_day)::integer, c.date_of_birth, r.leap_day) THEN
        SELECT greatest(extract(year FROM mailqueue.utc_to_local(v_now, v_zone)),
                        extract(year FROM max(e.local_at)) + 1)::integer
          INTO v_year
          FROM mailqueue.timed_events AS e
         WHERE e.contact_id = c.id AND e.is_birthday AND e.id IS DISTINCT FROM t.id;
        LOOP
            v_day := mailqueue.birthday_in(v_year, c.date_of_birth, r.leap_day);
            EXIT WHEN mailqueue.local_to_utc(v_day + r.local_time::time, v_zone) > v_now;
            v_year := v_year + 1;
        END LOOP;
    END IF;
    v_local := v_day + r.local_time::time;
    v_due := mailqueue.local_to_utc(v_local, v_zone);
    v_key := format('birthday:%s:%s', c.id, to_char(v_day, 'YYYY-MM-DD'));
    IF t.id IS NULL THEN
        INSERT INTO mailqueue.timed_events (project_id, is_test, contact_id, kind, is_birthday, local_at, time_zone,
            follows_contact, zone_release, due_at, run_at, idempotency_key, payload, template, webhook_id, created_by)
        VALUES (c.project_id, c.is_test, c.id, 'birthday', true, v_local, v_zone, true, mailqueue.time_zone_release(),
                v_due, v_due, v_key, r.payload, r.template, r.webhook_id, 'birthdays')
        ON CONFLICT ON CONSTRAINT timed_events_idempotency_key_key DO NOTHING;
    ELSIF (t.local_at, t.time_zone, t.due_at, t.payload, t.template, t.webhook_id)
          IS DISTINCT FROM (v_local, v_zone, v_due, r.payload, r.template, r.webhook_id) THEN
        UPDATE mailqueue.timed_events AS e
           SET local_at = v_local, time_zone = v_zone, zone_release = mailqueue.time_zone_release(), due_at = v_due,
               run_at = v_due, idempotency_key = v_key, payload = r.payload, template = r.template,
               webhook_id = r.webhook_id
         WHERE e.id = t.id;
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.plan_birthday(mailqueue.contacts) IS
    'Make, move or remove the pending birthday of a contact, as its project''s rule says.';

-- Called after an event has ended: the contact is locked where that needs no wait, and else planned again in a moment.
CREATE OR REPLACE FUNCTION mailqueue.plan_next_birthday(p_contact uuid) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    c mailqueue.contacts;
BEGIN
    SELECT * INTO c FROM mailqueue.contacts AS o WHERE o.id = p_contact FOR SHARE SKIP LOCKED;
    IF NOT FOUND THEN
        SELECT * INTO c FROM mailqueue.contacts AS o WHERE o.id = p_contact;
        IF NOT FOUND THEN
            RETURN;
        END IF;
        INSERT INTO mailqueue.birthday_replans (contact_id, project_id) VALUES (c.id, c.project_id)
        ON CONFLICT ON CONSTRAINT birthday_replans_pkey DO NOTHING;
        -- A transaction that removes the contact may wait for the event that has ended.
        PERFORM FROM mailqueue.contacts AS o WHERE o.id = p_contact FOR KEY SHARE SKIP LOCKED;
        IF NOT FOUND THEN
            RETURN;
        END IF;
    END IF;
    PERFORM mailqueue.plan_birthday(c);
END $$;
COMMENT ON FUNCTION mailqueue.plan_next_birthday(uuid) IS
    'Plan the next birthday of a contact, without waiting for transactions that change the contact.';

CREATE OR REPLACE FUNCTION mailqueue.contacts_timed_events() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
BEGIN
    PERFORM mailqueue.plan_birthday(NEW);
    IF TG_OP = 'UPDATE' AND NEW.time_zone IS DISTINCT FROM OLD.time_zone THEN
        UPDATE mailqueue.timed_events AS e
           SET time_zone = z.name, zone_release = mailqueue.time_zone_release(),
               due_at = mailqueue.local_to_utc(e.local_at, z.name), run_at = mailqueue.local_to_utc(e.local_at, z.name)
          FROM (SELECT coalesce(mailqueue.known_zone(NEW.time_zone), mailqueue.known_zone(p.time_zone), 'UTC') AS name
                  FROM mailqueue.projects AS p WHERE p.id = NEW.project_id) AS z
         WHERE e.contact_id = NEW.id AND NOT e.is_birthday AND e.follows_contact AND e.status = 'pending'
           AND e.attempts = 0 AND e.time_zone <> z.name;
    END IF;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.contacts_timed_events() IS
    'AFTER INSERT or UPDATE of a contact: plan its birthday, and move events that follow its time zone.';

CREATE OR REPLACE TRIGGER contacts_timed_events_added AFTER INSERT ON mailqueue.contacts
    FOR EACH ROW WHEN (NEW.date_of_birth IS NOT NULL) EXECUTE FUNCTION mailqueue.contacts_timed_events();
CREATE OR REPLACE TRIGGER contacts_timed_events_changed
    AFTER UPDATE OF date_of_birth, time_zone, email_key ON mailqueue.contacts
    FOR EACH ROW WHEN ((OLD.date_of_birth, OLD.time_zone, OLD.email_key)
                       IS DISTINCT FROM (NEW.date_of_birth, NEW.time_zone, NEW.email_key))
    EXECUTE FUNCTION mailqueue.contacts_timed_events();

-- What a pass must have done for a rule: another version or another zone of the project begins it anew.
CREATE OR REPLACE FUNCTION mailqueue.birthday_plan(r mailqueue.birthday_rules) RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
RETURN (SELECT format('%s %s', r.version, p.time_zone) FROM mailqueue.projects AS p WHERE p.id = r.project_id);
COMMENT ON FUNCTION mailqueue.birthday_plan(mailqueue.birthday_rules) IS
    'Version and time zone for which the contacts of a project are to be planned.';

-- One chunk in a transaction, in the order of ids: a pass that is interrupted goes on after the last chunk.
CREATE OR REPLACE FUNCTION mailqueue.plan_birthdays(p_most integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    c_first CONSTANT uuid := '00000000-0000-0000-0000-000000000000';
    r mailqueue.birthday_rules;
    c mailqueue.contacts;
    n record;
    v_count integer := 0;
    v_read integer := 0;
BEGIN
    FOR n IN SELECT o.contact_id FROM mailqueue.birthday_replans AS o ORDER BY o.contact_id LIMIT p_most
                FOR UPDATE SKIP LOCKED LOOP
        SELECT * INTO c FROM mailqueue.contacts AS o WHERE o.id = n.contact_id FOR SHARE SKIP LOCKED;
        IF FOUND THEN
            PERFORM mailqueue.plan_birthday(c);
            v_count := v_count + 1;
        ELSIF EXISTS (SELECT FROM mailqueue.contacts AS o WHERE o.id = n.contact_id) THEN
            CONTINUE;                                        -- it is still locked
        END IF;
        DELETE FROM mailqueue.birthday_replans AS o WHERE o.contact_id = n.contact_id;
    END LOOP;
    SELECT b.* INTO r FROM mailqueue.birthday_rules AS b
     WHERE b.planned_for IS DISTINCT FROM mailqueue.birthday_plan(b) ORDER BY b.project_id LIMIT 1
       FOR NO KEY UPDATE OF b SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN v_count;
    END IF;
    IF r.planning_for IS DISTINCT FROM mailqueue.birthday_plan(r) THEN
        r.planning_for := mailqueue.birthday_plan(r);
        r.planned_after := c_first;
    END IF;
    FOR n IN SELECT o.id FROM mailqueue.contacts AS o WHERE o.project_id = r.project_id AND o.id > r.planned_after
              ORDER BY o.id LIMIT p_most LOOP
        PERFORM mailqueue.plan_next_birthday(n.id);
        r.planned_after := n.id;
        v_read := v_read + 1;
    END LOOP;
    UPDATE mailqueue.birthday_rules AS b
       SET planning_for = r.planning_for, planned_after = r.planned_after,
           planned_for = CASE WHEN v_read < p_most THEN r.planning_for ELSE b.planned_for END
     WHERE b.project_id = r.project_id;
    RETURN v_count + v_read;
END $$;
COMMENT ON FUNCTION mailqueue.plan_birthdays(integer) IS
    'Plan the birthdays of a chunk of contacts whose project''s rule or time zone has changed; returns how many.';
