-- What each project uses: emails in the queue, bytes stored, files, events, contacts.
--
-- Counted from what the accepting transactions write. Accepted mail is counted in lane_signals, which they write
-- anyway; all else is a row of project_usage_changes for each statement. Rows are only appended, so that no producer
-- waits for another. count_usage() adds them up, about twice a second while workers gather.

-- Clamped, so that one corrupt sum cannot fail the roll-up of all projects.
CREATE OR REPLACE FUNCTION mailqueue.as_count(p_sum numeric) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT least(greatest(p_sum, -1000000000000000), 1000000000000000)::bigint $$;
COMMENT ON FUNCTION mailqueue.as_count(numeric) IS 'A sum as a count, at most 10^15 either way.';

CREATE OR REPLACE FUNCTION mailqueue.content_bytes(p_subject text, p_html text, p_text text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT (coalesce(octet_length(p_subject), 0) + coalesce(octet_length(p_html), 0)
            + coalesce(octet_length(p_text), 0))::bigint
$$;
COMMENT ON FUNCTION mailqueue.content_bytes(text, text, text) IS
    'Bytes of a content that count as stored, before compression.';

-- Finished messages are stored as files too, and are no uploads.
CREATE OR REPLACE FUNCTION mailqueue.is_upload(p_type text, p_name text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT p_type <> 'message/rfc822' OR p_name IS NOT NULL $$;
COMMENT ON FUNCTION mailqueue.is_upload(text, text) IS
    'Whether a row of attachments is a file; false for a finished message.';

/*% set counted = [
    ("email_queue", {"queued_emails": "count(*)"}, None, "email_queue_left"),
    ("email_contents", {"stored_bytes": "sum(mailqueue.content_bytes(r.subject, r.html_body, r.text_body))"},
     None, "email_contents_left"),
    ("attachments", {"stored_bytes": "sum(r.bytes)",
                     "uploads": "count(*) FILTER (WHERE mailqueue.is_upload(r.content_type, r.file_name))"},
     "attachments_came", "attachments_left"),
    ("email_events", {"events": "count(*)"}, "email_events_came", "email_events_left"),
    ("inbox_state", {"events": "count(*)"}, "inbox_state_came", "inbox_state_left"),
    ("outbox_message", {"events": "count(*)"}, "outbox_message_came", "outbox_message_left"),
    ("timed_events", {"events": "count(*)"}, "timed_events_came", "timed_events_left"),
    ("contacts", {"contacts": "count(*)"}, "contacts_came", "contacts_left"),
    ("notifications", {"events": "count(*)"}, "notifications_came", "notifications_left"),
] %*/

-- What the rows of each counted table use. Accepted mail and its contents are counted by lane_signals: these two tables
-- have a trigger for DELETE alone. Triggers keep their names: a new name takes a lock that readers wait for.
--% for table, sums, trigger_of_insert, trigger_of_delete in counted
CREATE OR REPLACE FUNCTION mailqueue.[[table]]_counted() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_sign integer := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
    INSERT INTO mailqueue.project_usage_changes (project_id, [[sums | join(", ")]])
    SELECT r.project_id, v_sign * [[sums.values() | join(", v_sign * ")]] FROM changed AS r GROUP BY r.project_id;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.[[table]]_counted() IS
    'Trigger of [[table]], once a statement: add what its rows use to the usage of their projects, or subtract it.';

--% if trigger_of_insert
CREATE OR REPLACE TRIGGER [[trigger_of_insert]] AFTER INSERT ON mailqueue.[[table]] REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION mailqueue.[[table]]_counted();
--% endif
CREATE OR REPLACE TRIGGER [[trigger_of_delete]] AFTER DELETE ON mailqueue.[[table]] REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION mailqueue.[[table]]_counted();

--% endfor
CREATE OR REPLACE FUNCTION mailqueue.usage_by_rows()
RETURNS TABLE (project_id uuid, queued_emails numeric, stored_bytes numeric, uploads numeric, events numeric,
               contacts numeric)
LANGUAGE sql STABLE
AS $$
    --% for table, sums, _, _ in counted
    --% if not loop.first
    UNION ALL
    --% endif
    SELECT r.project_id
           --% for column in ("queued_emails", "stored_bytes", "uploads", "events", "contacts")
           , [[sums.get(column, 0)]]
           --% endfor
      FROM mailqueue.[[table]] AS r GROUP BY r.project_id
    --% endfor
$$;
COMMENT ON FUNCTION mailqueue.usage_by_rows() IS
    'What projects use by the counted tables, each of which is read whole: a row for each table and project.';

-- These two are inlined into the calling statement.
CREATE OR REPLACE FUNCTION mailqueue.gathered_usage()
RETURNS TABLE (project_id uuid, queued_emails bigint, stored_bytes bigint, uploads bigint, events bigint,
               contacts bigint)
LANGUAGE sql STABLE
AS $$
    SELECT u.project_id, u.queued_emails, u.stored_bytes, u.uploads, u.events, u.contacts
      FROM mailqueue.project_usage AS u
    UNION ALL
    SELECT c.project_id, c.queued_emails, c.stored_bytes, c.uploads, c.events, c.contacts
      FROM mailqueue.project_usage_changes AS c
$$;
COMMENT ON FUNCTION mailqueue.gathered_usage() IS
    'What projects use, without accepted mail whose signals are not gathered yet: several rows for each project.';

CREATE OR REPLACE FUNCTION mailqueue.usage_as_counted()
RETURNS TABLE (project_id uuid, queued_emails bigint, stored_bytes bigint, uploads bigint, events bigint,
               contacts bigint)
LANGUAGE sql STABLE
AS $$
    SELECT g.project_id, g.queued_emails, g.stored_bytes, g.uploads, g.events, g.contacts
      FROM mailqueue.gathered_usage() AS g
    UNION ALL
    SELECT l.project_id, s.emails::bigint, s.bytes::bigint, 0::bigint, 0::bigint, 0::bigint
      FROM mailqueue.lane_signals AS s JOIN mailqueue.lanes AS l ON l.id = s.lane_id
$$;
COMMENT ON FUNCTION mailqueue.usage_as_counted() IS
    'What projects use, with accepted mail whose signals are not gathered yet: several rows for each project.';

-- Called by gather_lanes() when no signal is left, so that usage is complete up to that moment. Others skip it while
-- one counts.
-- These small tables are read whole: callers that turn scans off would have the plans costed, and compiled, as dear.
CREATE OR REPLACE FUNCTION mailqueue.count_usage() RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = on SET jit = off
AS $$
BEGIN
    PERFORM FROM mailqueue.usage_counts AS c
      WHERE c.is_only AND c.counted_at < clock_timestamp() - interval '500 ms' FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    WITH gone AS (
        DELETE FROM mailqueue.project_usage_changes AS c
         WHERE c.ctid = ANY (ARRAY(SELECT o.ctid FROM mailqueue.project_usage_changes AS o LIMIT 20000))
        RETURNING c.project_id, c.queued_emails, c.stored_bytes, c.uploads, c.events, c.contacts
    )
    INSERT INTO mailqueue.project_usage AS u (project_id, queued_emails, stored_bytes, uploads, events, contacts)
    SELECT g.project_id, mailqueue.as_count(sum(g.queued_emails)), mailqueue.as_count(sum(g.stored_bytes)),
           mailqueue.as_count(sum(g.uploads)), mailqueue.as_count(sum(g.events)), mailqueue.as_count(sum(g.contacts))
      FROM gone AS g GROUP BY g.project_id
    ON CONFLICT (project_id) DO UPDATE
       SET queued_emails = mailqueue.as_count(u.queued_emails) + excluded.queued_emails,
           stored_bytes = mailqueue.as_count(u.stored_bytes) + excluded.stored_bytes,
           uploads = mailqueue.as_count(u.uploads) + excluded.uploads,
           events = mailqueue.as_count(u.events) + excluded.events,
           contacts = mailqueue.as_count(u.contacts) + excluded.contacts;
    DELETE FROM mailqueue.usage_carries;
    UPDATE mailqueue.usage_counts AS c SET counted_at = clock_timestamp() WHERE c.is_only;
    PERFORM mailqueue.refuse_fullest();
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.count_usage() IS
    'Add to project_usage what changed since the last time, at most twice a second; false where it was too soon, or '
    'another process does it.';

-- In one statement, so that every row and the count of it are seen together or not at all.
CREATE OR REPLACE FUNCTION mailqueue.recount_usage() RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET jit = off
AS $$
DECLARE
    v_count bigint;
BEGIN
    WITH differences AS (
        SELECT r.* FROM mailqueue.usage_by_rows() AS r
        UNION ALL
        SELECT c.project_id, -c.queued_emails, -c.stored_bytes, -c.uploads, -c.events, -c.contacts
          FROM mailqueue.usage_as_counted() AS c
    )
    INSERT INTO mailqueue.project_usage_changes (project_id, queued_emails, stored_bytes, uploads, events, contacts)
    SELECT t.project_id, mailqueue.as_count(sum(t.queued_emails)), mailqueue.as_count(sum(t.stored_bytes)),
           mailqueue.as_count(sum(t.uploads)), mailqueue.as_count(sum(t.events)), mailqueue.as_count(sum(t.contacts))
      FROM differences AS t JOIN mailqueue.projects AS p ON p.id = t.project_id
     GROUP BY t.project_id
    HAVING sum(t.queued_emails) <> 0 OR sum(t.stored_bytes) <> 0 OR sum(t.uploads) <> 0 OR sum(t.events) <> 0
           OR sum(t.contacts) <> 0;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    DELETE FROM mailqueue.project_usage AS u
     WHERE NOT EXISTS (SELECT FROM mailqueue.projects AS p WHERE p.id = u.project_id);
    UPDATE mailqueue.usage_counts AS c SET recounted_at = clock_timestamp() WHERE c.is_only;
    RETURN v_count;
END $$;
COMMENT ON FUNCTION mailqueue.recount_usage() IS
    'Compare what projects use with the tables themselves and correct it; returns the number of projects that were '
    'corrected.';

-- Maintenance asks once a day. Reading every content and event takes long where there are many: then once a week.
CREATE OR REPLACE FUNCTION mailqueue.recount_usage_if_due() RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF EXISTS (SELECT FROM mailqueue.usage_counts AS c
                WHERE c.recounted_at > clock_timestamp()
                      - CASE WHEN mailqueue.rows_of('mailqueue.email_contents')
                                  + mailqueue.rows_of('mailqueue.email_events')
                                  > 10 * mailqueue.system_number('count_exactly') THEN interval '7 days'
                             ELSE interval '23 h' END) THEN
        RETURN 0;
    END IF;
    RETURN mailqueue.recount_usage();
END $$;
COMMENT ON FUNCTION mailqueue.recount_usage_if_due() IS
    'recount_usage(), where the last time was a day ago, or a week where there is much to read.';

CREATE OR REPLACE FUNCTION mailqueue.usage_of_projects(p_project uuid DEFAULT NULL)
RETURNS TABLE (project_id uuid, queued_emails bigint, stored_bytes bigint, uploads bigint, events bigint,
               contacts bigint)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT x.project_id, greatest(0, mailqueue.as_count(sum(x.queued_emails))),
           greatest(0, mailqueue.as_count(sum(x.stored_bytes))), greatest(0, mailqueue.as_count(sum(x.uploads))),
           greatest(0, mailqueue.as_count(sum(x.events))), greatest(0, mailqueue.as_count(sum(x.contacts)))
      FROM mailqueue.usage_as_counted() AS x
     WHERE x.project_id = coalesce(p_project, x.project_id)
       AND x.project_id = coalesce(mailqueue.tenant(), x.project_id)
     GROUP BY x.project_id
$$;
COMMENT ON FUNCTION mailqueue.usage_of_projects(uuid) IS
    'What a project, or each, uses now; no row for one that never used anything.';
