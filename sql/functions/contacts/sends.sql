-- The chunks of mail to a list, made by who holds the claim of its row in list_sends.

-- Schedules replace it: they know more of where a contact is.
CREATE OR REPLACE FUNCTION mailqueue.list_send_time(s mailqueue.list_sends, c mailqueue.contacts)
RETURNS timestamptz
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF s.local_at IS NULL THEN
        RETURN NULL;
    END IF;
    RETURN mailqueue.local_to_utc(s.local_at, coalesce(c.time_zone, s.time_zone, (
        SELECT p.time_zone FROM mailqueue.projects AS p WHERE p.id = s.project_id), 'UTC'));
END $$;
COMMENT ON FUNCTION mailqueue.list_send_time(mailqueue.list_sends, mailqueue.contacts) IS
    'Time before which mail of a send is not sent to a contact; NULL: at once.';

CREATE OR REPLACE FUNCTION mailqueue.begin_list_send(s mailqueue.list_sends) RETURNS bigint
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_contacts bigint;
BEGIN
    -- In the order of ids: sends of one batch do not wait for each other in a circle.
    INSERT INTO mailqueue.list_send_contacts (batch_id, contact_id, send_id, project_id)
    SELECT s.batch_id, m.id, s.id, s.project_id FROM mailqueue.list_members(s.project_id, s.list_id, NULL, NULL) AS m
     WHERE NOT m.id = ANY (s.except_contacts)
     ORDER BY m.id
    ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS v_contacts = ROW_COUNT;
    RETURN v_contacts;
END $$;
COMMENT ON FUNCTION mailqueue.begin_list_send(mailqueue.list_sends) IS
    'Store the contacts that are in the list of a send now, but those that another list of the batch had; returns '
    'their number.';

-- The recipients of one chunk as accept_shared() takes them.
CREATE OR REPLACE FUNCTION mailqueue.list_recipient(s mailqueue.list_sends, c mailqueue.contacts) RETURNS jsonb
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT jsonb_build_object('recipient', c.email)
        || CASE WHEN coalesce(c.first_name, c.last_name) IS NULL THEN '{}'
                ELSE jsonb_build_object('name', concat_ws(' ', c.first_name, c.last_name)) END
        || CASE WHEN s.languages <> '{}' THEN jsonb_build_object(
                    'custom_data', coalesce(nullif(s.own -> 'custom_data', 'null'), '{}')
                        || jsonb_build_object('variables', s.variables || jsonb_build_object(
                               'contact', mailqueue.contact_document(c) || jsonb_build_object('id', c.id))),
                    'content', greatest(0, coalesce(
                        array_position(s.languages, lower(c.language)),
                        array_position(s.languages, split_part(lower(c.language), '-', 1)), 1) - 1))
                WHEN s.own -> 'custom_data' <> 'null' THEN jsonb_build_object('custom_data', s.own -> 'custom_data')
                ELSE '{}' END
        || CASE WHEN s.own -> 'tags' <> 'null' THEN jsonb_build_object('tags', s.own -> 'tags') ELSE '{}' END
        || CASE WHEN t.at IS NULL THEN '{}' ELSE jsonb_build_object('scheduled_at', t.at) END
      FROM mailqueue.list_send_time(s, c) AS t(at)
$$;
COMMENT ON FUNCTION mailqueue.list_recipient(mailqueue.list_sends, mailqueue.contacts) IS
    'A contact as a recipient of accept_shared().';

CREATE OR REPLACE FUNCTION mailqueue.continue_list_send(p_id uuid, p_claim bigint, p_most integer) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp SET lock_timeout = '1s'
AS $$
DECLARE
    s mailqueue.list_sends;
    v_ids uuid[];
    v_present uuid[];
    v_recipients jsonb;
BEGIN
    SELECT * INTO s FROM mailqueue.list_sends AS o
     WHERE o.id = p_id AND o.status = 'assigned' AND o.claim_no = p_claim FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 'lost';
    ELSIF s.stopped_by IS NOT NULL THEN
        RETURN 'stopped';
    END IF;
    PERFORM set_config('mailqueue.project', s.project_id::text, true),
            set_config('mailqueue.mode', CASE WHEN s.is_test THEN 'test' ELSE 'live' END, true);
    IF s.snapshot_at IS NULL THEN
        IF NOT EXISTS (SELECT FROM mailqueue.contact_lists AS l WHERE l.id = s.list_id) THEN
            RETURN 'gone';
        END IF;
        UPDATE mailqueue.list_sends AS o SET snapshot_at = now(), contacts = mailqueue.begin_list_send(s)
         WHERE o.id = p_id;
        RETURN 'more';
    END IF;
    v_ids := ARRAY(SELECT t.contact_id FROM mailqueue.list_send_contacts AS t
                    WHERE t.send_id = p_id AND t.outcome IS NULL ORDER BY t.contact_id LIMIT p_most);
    -- A transaction that removes a contact waits for its mail, and cancels it.
    v_present := ARRAY(SELECT c.id FROM mailqueue.contacts AS c
                        WHERE c.id = ANY (v_ids) AND c.project_id = s.project_id
                          AND c.email_key <> 'erased@erased.invalid'
                        ORDER BY c.id FOR KEY SHARE);
    IF v_present <> '{}' THEN
        SELECT jsonb_agg(mailqueue.list_recipient(s, c) ORDER BY c.id) INTO v_recipients
          FROM mailqueue.contacts AS c WHERE c.id = ANY (v_present);
        UPDATE mailqueue.list_send_contacts AS t
           SET outcome = CASE a.status WHEN 'queued' THEN 'accepted' ELSE a.status END, email_id = a.id,
               reason = left(a.reason, 500)
          FROM mailqueue.accept_shared(s.project_id, s.contents, s.options, v_recipients, false, s.requested_by,
                                       s.batch_id) AS a
         WHERE t.batch_id = s.batch_id AND t.contact_id = v_present[a.index + 1];
    END IF;
    UPDATE mailqueue.list_send_contacts AS t SET outcome = 'withdrawn'
     WHERE t.batch_id = s.batch_id AND t.contact_id = ANY (v_ids) AND t.outcome IS NULL;
    -- Deaths of workers count from the last chunk that was made. Contacts that are removed between chunks are counted
    -- with the last one.
    UPDATE mailqueue.list_sends AS o
       SET crashes = least(o.crashes, 1), accepted = o.accepted + n.accepted, suppressed = o.suppressed + n.suppressed,
           rejected = o.rejected + n.rejected,
           withdrawn = CASE WHEN cardinality(v_ids) < p_most
                            THEN o.contacts - o.accepted - n.accepted - o.suppressed - n.suppressed
                                 - o.rejected - n.rejected
                            ELSE o.withdrawn + n.withdrawn END
      FROM (SELECT count(*) FILTER (WHERE t.outcome = 'accepted') AS accepted,
                   count(*) FILTER (WHERE t.outcome = 'suppressed') AS suppressed,
                   count(*) FILTER (WHERE t.outcome = 'rejected') AS rejected,
                   count(*) FILTER (WHERE t.outcome = 'withdrawn') AS withdrawn
              FROM mailqueue.list_send_contacts AS t
             WHERE t.batch_id = s.batch_id AND t.contact_id = ANY (v_ids)) AS n
     WHERE o.id = p_id;
    RETURN CASE WHEN cardinality(v_ids) < p_most THEN 'done' ELSE 'more' END;
END $$;
COMMENT ON FUNCTION mailqueue.continue_list_send(uuid, bigint, integer) IS
    'Accept mail to the next contacts of a send, or store them first. Returns more or done; stopped where its batch '
    'was cancelled, gone where the list was removed before, lost where the claim no longer holds. Raises 55P03 while '
    'another transaction changes or removes a contact of them.';
