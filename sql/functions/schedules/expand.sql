-- A run with many recipients, or with mail at a time of each recipient's own clock: made in parts. Each part and its
-- progress are written in one transaction, by who holds the claim of the run.

-- The next recipients of a run, in order: from its list of addresses, or from contacts of a list that it names. A list
-- has the contacts of when the run began; others are NULL here. place and contact_id: where the next part begins.
CREATE OR REPLACE FUNCTION mailqueue.next_recipients(r mailqueue.schedule_runs, p_most integer)
RETURNS TABLE (n bigint, recipient jsonb, contact_id uuid, place integer)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_list uuid;
    v_is_fixed boolean;                                      -- its contacts were added one by one
    v_name text := r.recipients -> r.place ->> 'list';
BEGIN
    IF r.place >= jsonb_array_length(r.recipients) THEN
        RETURN;
    ELSIF v_name IS NULL THEN
        RETURN QUERY
        SELECT e.n, e.value, NULL::uuid, e.n::integer
          FROM jsonb_array_elements(r.recipients) WITH ORDINALITY AS e(value, n)
         WHERE e.n > r.place AND e.n <= r.place + p_most
           AND e.n <= coalesce((SELECT min(f.n) - 1
                                  FROM jsonb_array_elements(r.recipients) WITH ORDINALITY AS f(value, n)
                                 WHERE f.n > r.place AND f.value ? 'list'), 2147483647)
         ORDER BY e.n;
        RETURN;
    END IF;
    SELECT l.id, l.condition IS NULL INTO v_list, v_is_fixed FROM mailqueue.contact_lists AS l
     WHERE l.project_id = r.project_id AND l.name = v_name AND l.is_test = r.is_test;
    IF v_list IS NULL THEN
        PERFORM mailqueue.refuse('to', format('the project has no list %s any more', to_json(left(v_name, 100))));
    END IF;
    RETURN QUERY
    SELECT row_number() OVER (ORDER BY c.id),
           CASE WHEN c.created_at <= r.created_at
                     AND (NOT v_is_fixed
                          OR EXISTS (SELECT FROM mailqueue.contact_list_members AS m
                                      WHERE m.list_id = v_list AND m.contact_id = c.id
                                        AND m.created_at <= r.created_at))
                THEN jsonb_strip_nulls(jsonb_build_object(
                         'email', c.email, 'name', nullif(btrim(concat_ws(' ', c.first_name, c.last_name)), ''),
                         'language', c.language, 'zone', c.time_zone))
                     || jsonb_build_object('contact', mailqueue.contact_document(c) || jsonb_build_object('id', c.id))
                END,
           c.id, r.place
      FROM mailqueue.list_members(r.project_id, v_list, r.after_contact, p_most) AS c;
END $$;
COMMENT ON FUNCTION mailqueue.next_recipients(mailqueue.schedule_runs, integer) IS
    'The next recipients of a run, at most so many; raises 22023 naming to where a list is gone.';

-- For a run on the clocks of its recipients: the network of the last open of those whose zone is not known otherwise.
-- The caller finds its country.
CREATE OR REPLACE FUNCTION mailqueue.networks_of_run(p_id uuid, p_claim bigint, p_most integer)
RETURNS TABLE (email_key text, network inet)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    r mailqueue.schedule_runs;
BEGIN
    SELECT * INTO r FROM mailqueue.schedule_runs AS o
     WHERE o.id = p_id AND o.status = 'assigned' AND o.claim_no = p_claim;
    IF NOT FOUND OR (SELECT s.schedule_type FROM mailqueue.schedules AS s WHERE s.id = r.schedule_id) <> 'local' THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT k.key, e.network
      FROM mailqueue.next_recipients(r, p_most) AS x
     CROSS JOIN LATERAL (SELECT mailqueue.address_key(x.recipient ->> 'email') AS key) AS k
     CROSS JOIN LATERAL (SELECT mailqueue.network_of_last_open(r.project_id, k.key, r.is_test) AS network) AS e
     WHERE NOT x.recipient ?| '{zone,timezone}' AND e.network IS NOT NULL;
END $$;
COMMENT ON FUNCTION mailqueue.networks_of_run(uuid, bigint, integer) IS
    'Networks of the last opens of the next recipients of a run whose time zone is not known.';

CREATE OR REPLACE FUNCTION mailqueue.continue_schedule_run(p_id uuid, p_claim bigint, p_most integer,
    p_keys text[] DEFAULT '{}', p_zones text[] DEFAULT '{}')
RETURNS text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET lock_timeout = '1s'
AS $$
DECLARE
    c_batch CONSTANT integer := 10000;                       -- mails of a batch
    r mailqueue.schedule_runs;
    s mailqueue.schedules;
    v_project record;
    v_run jsonb;
    v_given integer; v_place integer; v_contact uuid;
    v_keys text[]; v_zones text[]; v_sources text[]; v_times timestamptz[]; v_messages jsonb;
    v_nexts bigint[]; v_recipients jsonb[]; v_contacts uuid[]; v_places integer[];
    v_present uuid[]; v_ids uuid[]; v_rejected bigint; v_queued bigint; v_suppressed bigint; v_reason text;
    v_batch uuid;
    v_is_over boolean;
BEGIN
    SELECT * INTO r FROM mailqueue.schedule_runs AS o
     WHERE o.id = p_id AND o.status = 'assigned' AND o.claim_no = p_claim FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 'lost';
    ELSIF r.stop_requested_at IS NOT NULL OR r.recipients IS NULL THEN
        IF r.place >= cardinality(r.batch_ids) THEN
            RETURN 'cancelled';
        END IF;
        PERFORM mailqueue.cancel_mail_ahead(r.project_id, r.batch_ids[r.place + 1]);
        UPDATE mailqueue.schedule_runs AS o SET place = o.place + 1, crashes = least(o.crashes, 1) WHERE o.id = p_id;
        RETURN 'more';
    END IF;
    SELECT * INTO s FROM mailqueue.schedules AS o WHERE o.id = r.schedule_id;
    SELECT p.name, coalesce(mailqueue.known_zone(p.time_zone), 'UTC') AS time_zone INTO v_project
      FROM mailqueue.projects AS p WHERE p.id = r.project_id;
    v_run := mailqueue.run_values(r.number, r.occurrence, r.local_time,
        (SELECT o.occurrence FROM mailqueue.schedule_runs AS o WHERE o.schedule_id = s.id AND o.number = r.number - 1),
        s.name);
    SELECT array_agg(x.n), array_agg(x.recipient), array_agg(x.contact_id), array_agg(x.place)
      INTO v_nexts, v_recipients, v_contacts, v_places
      FROM mailqueue.next_recipients(r, p_most) AS x;
    -- A transaction that removes a contact waits for its mail, and cancels it.
    v_present := ARRAY(SELECT c.id FROM mailqueue.contacts AS c
                        WHERE c.project_id = r.project_id AND c.is_test = r.is_test
                          AND (c.id = ANY (v_contacts)
                               OR c.email_key = ANY (ARRAY(SELECT mailqueue.address_key(x ->> 'email')
                                                             FROM unnest(v_recipients) AS x)))
                          AND c.email_key <> 'erased@erased.invalid'
                        ORDER BY c.id FOR KEY SHARE);
    WITH next AS MATERIALIZED (
        SELECT x.*, mailqueue.address_key(x.recipient ->> 'email') AS key
          FROM unnest(v_nexts, v_recipients, v_contacts, v_places) AS x(n, recipient, contact_id, place)
    ), fresh AS MATERIALIZED (                               -- keys as an array: each is one step of the index
        SELECT DISTINCT ON (x.key) x.* FROM next AS x
         WHERE x.key IS NOT NULL AND (x.contact_id IS NULL OR x.contact_id = ANY (v_present))
           AND x.key <> ALL (ARRAY(SELECT o.email_key FROM mailqueue.schedule_recipients AS o
                                    WHERE o.run_id = p_id AND o.email_key = ANY (ARRAY(SELECT y.key FROM next AS y))))
         ORDER BY x.key, x.n
    ), zoned AS MATERIALIZED (
        SELECT f.*, z.zone, z.source
          FROM fresh AS f
          LEFT JOIN mailqueue.contacts AS c ON s.schedule_type = 'local' AND NOT f.recipient ? 'contact'
           AND c.project_id = r.project_id AND c.email_key = f.key AND c.email_key <> 'erased@erased.invalid'
           AND c.is_test = r.is_test
         CROSS JOIN LATERAL (
               SELECT k.zone, k.source
                 FROM (VALUES (1, mailqueue.known_zone(f.recipient ->> 'timezone'), 'recipient'),
                              (2, mailqueue.known_zone(coalesce(f.recipient ->> 'zone', c.time_zone)), 'contact'),
                              (3, mailqueue.known_zone(p_zones[array_position(p_keys, f.key)]), 'country'),
                              (4, v_project.time_zone, 'project')) AS k(n, zone, source)
                WHERE k.zone IS NOT NULL AND s.schedule_type = 'local' ORDER BY k.n LIMIT 1) AS z
         WHERE s.schedule_type = 'local'
        UNION ALL
        SELECT f.*, NULL, NULL FROM fresh AS f WHERE s.schedule_type <> 'local'
    ), timed AS MATERIALIZED (
        SELECT z.*, mailqueue.spread_at(CASE WHEN z.zone IS NULL THEN r.occurrence
                                             WHEN r.started_by = 'request' THEN r.occurrence
                                             ELSE mailqueue.local_to_utc(r.local_time, z.zone) END,
                                        s.spread_seconds, z.key) AS send_at
          FROM zoned AS z
    )
    SELECT (SELECT count(*) FROM next), (SELECT x.place FROM next AS x ORDER BY x.n DESC LIMIT 1),
           (SELECT x.contact_id FROM next AS x ORDER BY x.n DESC LIMIT 1),
           array_agg(t.key ORDER BY t.n), array_agg(t.zone ORDER BY t.n), array_agg(t.source ORDER BY t.n),
           array_agg(t.send_at ORDER BY t.n),
           jsonb_agg(mailqueue.schedule_message(r.message, t.recipient, v_run, t.send_at) ORDER BY t.n)
      INTO v_given, v_place, v_contact, v_keys, v_zones, v_sources, v_times, v_messages
      FROM timed AS t;
    IF v_messages IS NOT NULL THEN
        WITH accepted AS MATERIALIZED (
            SELECT a.index, a.id, a.status, a.reason FROM mailqueue.accept_batch(v_project.name, v_messages) AS a
        ), kept AS (
            INSERT INTO mailqueue.schedule_recipients (run_id, email_key, project_id, email_id, status, reason, send_at,
                                                       time_zone, zone_source)
            SELECT p_id, v_keys[a.index + 1], r.project_id, a.id, a.status, a.reason, v_times[a.index + 1],
                   v_zones[a.index + 1], v_sources[a.index + 1]
              FROM accepted AS a
        )
        SELECT array_agg(a.id ORDER BY a.index), count(*) FILTER (WHERE a.status = 'queued'),
               count(*) FILTER (WHERE a.status = 'suppressed'), count(*) FILTER (WHERE a.status = 'rejected'),
               min(a.reason) FILTER (WHERE a.status = 'rejected')
          INTO v_ids, v_queued, v_suppressed, v_rejected, v_reason
          FROM accepted AS a;
        UPDATE mailqueue.batches AS b
           SET email_ids = b.email_ids || v_ids, rejected = b.rejected + v_rejected
         WHERE b.id = r.batch_ids[cardinality(r.batch_ids)]
           AND cardinality(b.email_ids) + cardinality(v_ids) <= c_batch;
        IF NOT FOUND THEN
            v_batch := CASE WHEN r.batch_ids = '{}' THEN p_id ELSE mailqueue.uuidv7() END;
            INSERT INTO mailqueue.batches (id, project_id, created_by, subject, email_ids, rejected, is_test)
            VALUES (v_batch, r.project_id, left('schedule ' || coalesce(s.name, s.id::text), 200),
                    r.message ->> 'subject', v_ids, v_rejected, r.is_test);
        END IF;
    END IF;
    -- A part that is not full ends the addresses, or the list, at this place.
    IF r.recipients -> r.place ? 'list' THEN
        v_place := CASE WHEN v_given < p_most THEN r.place + 1 ELSE r.place END;
        v_contact := CASE WHEN v_given < p_most THEN NULL ELSE v_contact END;
    ELSE
        v_place := coalesce(v_place, r.place);
        v_contact := NULL;
    END IF;
    v_is_over := v_place >= jsonb_array_length(r.recipients);
    -- Deaths of workers count from the last part that was made.
    UPDATE mailqueue.schedule_runs AS o
       SET place = v_place, crashes = least(o.crashes, 1), after_contact = v_contact,
           queued = o.queued + coalesce(v_queued, 0),
           suppressed = o.suppressed + coalesce(v_suppressed, 0), rejected = o.rejected + coalesce(v_rejected, 0),
           batch_ids = CASE WHEN v_batch IS NULL THEN o.batch_ids ELSE o.batch_ids || v_batch END,
           last_error = coalesce(o.last_error, v_reason),
           by_zone_source = CASE WHEN v_sources IS NULL OR s.schedule_type <> 'local' THEN o.by_zone_source ELSE (
               SELECT jsonb_object_agg(x.source, x.recipients)
                 FROM (SELECT y.source, sum(y.recipients) AS recipients
                         FROM (SELECT u AS source, 1 AS recipients FROM unnest(v_sources) AS u
                               UNION ALL
                               SELECT e.key, e.value::text::integer
                                 FROM jsonb_each(coalesce(o.by_zone_source, '{}')) AS e) AS y
                        GROUP BY y.source) AS x) END
     WHERE o.id = p_id;
    RETURN CASE WHEN v_is_over THEN 'done' ELSE 'more' END;
END $$;
COMMENT ON FUNCTION mailqueue.continue_schedule_run(uuid, bigint, integer, text[], text[]) IS
    'Make the next mails of a run, with zones by address that the caller found; of one that was cancelled, cancel a '
    'batch. Returns more, done, cancelled, or lost where the claim no longer holds. Raises 55P03 while another '
    'transaction changes or removes a contact of them.';

-- In the transaction that settles its row.
CREATE OR REPLACE FUNCTION mailqueue.end_schedule_run(p_id uuid) RETURNS void
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    UPDATE mailqueue.schedule_runs AS r SET message = NULL, recipients = NULL WHERE r.id = p_id
$$;
COMMENT ON FUNCTION mailqueue.end_schedule_run(uuid) IS 'Forget what a finished run was made from.';

CREATE OR REPLACE FUNCTION mailqueue.network_of_last_open(p_project uuid, p_key text, p_is_test boolean)
RETURNS inet
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
    SELECT mailqueue.parse_network(o.data ->> 'ip')
      FROM (SELECT h.id FROM mailqueue.email_history AS h
             WHERE h.project_id = p_project AND lower(h.recipient_email) = p_key AND h.is_test = p_is_test
             ORDER BY h.finished_at DESC LIMIT 20) AS h
     CROSS JOIN LATERAL (SELECT e.data, e.occurred_at FROM mailqueue.email_events AS e
                          WHERE e.email_id = h.id AND e.type = 'opened' AND e.data ->> 'ip' IS NOT NULL
                            AND coalesce(e.data ->> 'is_machine', 'false') <> 'true'
                          ORDER BY e.occurred_at DESC LIMIT 1) AS o
     ORDER BY o.occurred_at DESC LIMIT 1
$$;
COMMENT ON FUNCTION mailqueue.network_of_last_open(uuid, text, boolean) IS
    'The network, /24 or /48, from which a person last opened one of the latest twenty mails; NULL if it is not known.';
