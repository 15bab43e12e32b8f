-- Erasing a person from mail that is not finished.

-- Removes a recipient of a mail that has others and that no worker holds.
CREATE OR REPLACE FUNCTION mailqueue.remove_recipients(p_id uuid, p_spellings text[]) RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_first record;
    v_pending integer;
BEGIN
    DELETE FROM mailqueue.email_recipients AS r WHERE r.email_id = p_id AND lower(r.address) = ANY (p_spellings);
    UPDATE mailqueue.send_logs AS l SET conversation = NULL WHERE l.email_id = p_id AND l.conversation IS NOT NULL;
    SELECT count(*) FILTER (WHERE r.status = 'pending') INTO v_pending FROM mailqueue.email_recipients AS r
     WHERE r.email_id = p_id;
    IF v_pending = 0 THEN
        RETURN false;
    END IF;
    -- The first remaining recipient becomes that of the row.
    SELECT r.position, r.address, r.name INTO v_first FROM mailqueue.email_recipients AS r WHERE r.email_id = p_id
     ORDER BY r.position LIMIT 1;
    UPDATE mailqueue.email_recipients AS r SET position = 0 WHERE r.email_id = p_id AND r.position = v_first.position;
    UPDATE mailqueue.email_queue AS q
       SET recipient_email = v_first.address, recipient_name = v_first.name, recipients = v_pending WHERE q.id = p_id;
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.remove_recipients(uuid, text[]) IS
    'Remove recipients from a mail; false if none is left.';

-- The queue has no index of recipients, which each mail would pay for. It is read once, in the order of ids, which do
-- not change while mail is claimed and put back: some rows in each call. place has the last id that was read (queue),
-- the mail that workers held then (assigned), which may come back, and whether finished mail was left for another
-- call and may have been queued again (again): then erase_mail() has the queue read once more.
CREATE OR REPLACE FUNCTION mailqueue.erase_queued(p_project uuid, p_spellings text[], p_place jsonb, p_most integer,
    OUT changed integer, OUT place jsonb, OUT waiting integer, OUT is_read boolean)
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_rows CONSTANT integer := 10000;
    v_last uuid := coalesce((p_place ->> 'queue')::uuid, '00000000-0000-0000-0000-000000000000');
    v_read integer;
    v_end uuid;
    v_shared uuid[];
    v_alone uuid[];
    v_found uuid[];
BEGIN
    SELECT array_agg(m.id) INTO v_shared FROM (
        SELECT q.id FROM mailqueue.email_queue AS q
         WHERE q.project_id = p_project AND q.status <> 'assigned'
           AND q.id IN (SELECT r.email_id FROM mailqueue.email_recipients AS r
                         WHERE lower(r.address) = ANY (p_spellings))
         ORDER BY q.id LIMIT p_most FOR UPDATE) AS m;
    PERFORM mailqueue.erase_fingerprints(p_project, v_shared);
    SELECT coalesce(array_agg(s.id), '{}') INTO v_alone FROM unnest(v_shared) AS s(id)
     WHERE NOT mailqueue.remove_recipients(s.id, p_spellings);

    WITH part AS MATERIALIZED (
        SELECT q.id, q.project_id, q.recipient_email FROM mailqueue.email_queue AS q
         WHERE q.id > v_last ORDER BY q.id LIMIT c_rows
    )
    SELECT (SELECT count(*) FROM part), (SELECT x.id FROM part AS x ORDER BY x.id DESC LIMIT 1),
           ARRAY(SELECT x.id FROM part AS x
                  WHERE x.project_id = p_project AND lower(x.recipient_email) = ANY (p_spellings)
                    AND NOT EXISTS (SELECT FROM mailqueue.email_recipients AS r WHERE r.email_id = x.id)
                  ORDER BY x.id LIMIT p_most)
      INTO v_read, v_end, v_found;
    is_read := v_read < c_rows AND cardinality(v_found) < p_most;
    IF cardinality(v_found) = p_most THEN
        v_last := v_found[p_most];
    ELSIF v_read = c_rows THEN
        v_last := v_end;
    END IF;                            -- otherwise the last part is read again, with what was accepted meanwhile
    v_found := v_found || ARRAY(SELECT a::uuid FROM jsonb_array_elements_text(p_place -> 'assigned') AS a);
    IF v_found <> '{}' THEN
        SELECT v_alone || coalesce(array_agg(q.id), '{}') INTO v_alone FROM mailqueue.email_queue AS q
         WHERE q.id = ANY (v_found) AND q.project_id = p_project AND lower(q.recipient_email) = ANY (p_spellings)
           AND NOT (q.status = 'assigned' AND q.is_cancelled)
           -- Mail with other recipients is sent to those: it loses this one once no worker holds it.
           AND NOT EXISTS (SELECT FROM mailqueue.email_recipients AS r WHERE r.email_id = q.id);
    END IF;
    IF v_alone <> '{}' THEN
        PERFORM FROM mailqueue.cancel_emails(p_project, v_alone, 'erased');
        -- A row that a worker handles is deleted as that worker settles it.
        DELETE FROM mailqueue.custom_smtp_servers AS i WHERE i.email_id = ANY (v_alone) AND i.status <> 'assigned';
    END IF;
    changed := coalesce(cardinality(v_shared), 0) + cardinality(v_alone);

    v_found := ARRAY(SELECT q.id FROM mailqueue.email_queue AS q
                      WHERE q.project_id = p_project AND q.status = 'assigned'
                        AND (lower(q.recipient_email) = ANY (p_spellings)
                             OR q.id IN (SELECT r.email_id FROM mailqueue.email_recipients AS r
                                          WHERE lower(r.address) = ANY (p_spellings))));
    waiting := cardinality(v_found);
    place := p_place || jsonb_build_object('queue', v_last, 'assigned', v_found);
END $$;
COMMENT ON FUNCTION mailqueue.erase_queued(uuid, text[], jsonb, integer) IS
    'Cancel unfinished mail to a person in the next rows of the queue, or remove the person from its recipients; mail '
    'that a worker holds is cancelled by that worker. Returns how many were changed, the place from which to go on, '
    'how many a worker holds, and whether the end of the queue was reached.';
