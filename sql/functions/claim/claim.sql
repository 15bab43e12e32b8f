-- Claiming: lanes in turn, headroom reserved, rows assigned, all in one transaction.
--
-- The functions that workers call pin the planner's settings, because a plan cached while the queue was empty would
-- cost seconds later; the functions that these call inherit the settings. All need READ COMMITTED: each statement must
-- see the newest commits.

-- Rows of three kinds: claims in their order, then contents, then one verdict.
-- p_avoid: sender accounts whose servers do not respond to this worker. It holds mail of theirs, and takes no more.
-- send_at: when a mail is to be sent, in seconds since 1970, where a rate is kept. Of the verdict: the time now.
-- p_reads: read contents, each once, and recipients.
-- p_may_mark: this worker has nothing marked and nothing to mark, so that a claim of one mail also marks it; the
-- verdict has its mark.
CREATE OR REPLACE FUNCTION mailqueue.claim_and_read(p_worker integer, p_limit integer, p_lease interval,
    p_avoid integer[], p_reads boolean, p_may_mark boolean)
RETURNS TABLE (kind text, send_at float8,
               id uuid, claim_no bigint, assigned_to integer, account_revision integer, project_id uuid,
               attempts smallint, recipients smallint, unknowns smallint, expires_at timestamptz, category text,
               recipient_email text, recipient_name text, custom_data jsonb, content_id bigint, content_on date,
               several jsonb, found_content_id bigint, subject text, html_body text, text_body text, from_email text,
               from_name text, reply_to text, headers jsonb, files jsonb, template_version_id uuid,
               template_language text, tracking_options smallint, header_recipients jsonb,
               verdict text, reason text, stopped text[], is_left boolean, next_wake interval)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    s mailqueue.claim_state := mailqueue.begin_claim(p_worker, p_limit, p_avoid);
    c record;                                                -- class
    v_lanes mailqueue.lanes[];                               -- of this round
    v_several uuid[] := '{}';                                -- messages that have recipients of their own
BEGIN
    FOR c IN SELECT k.* FROM mailqueue.claim_classes(s.claim_no) AS k LOOP
        EXIT WHEN s.left_over <= 0 OR c.turn = 2 AND NOT s.has_full_projects;
        s := mailqueue.begin_class(s, c.turn, c.project_share);
        FOR v_round IN 0..5 LOOP
            EXIT WHEN s.left_over <= 0;
            v_lanes := mailqueue.pick_lanes(c.priority, c.vclock, s.full_projects, s.passed,
                                            least(8 * 4 ^ v_round, s.left_over)::integer);
            EXIT WHEN v_lanes IS NULL;
            s := mailqueue.claim_round(s, p_worker, v_lanes);
            -- In every round: locks of this transaction do not hide rows from its next round, their status does.
            IF s.picks <> '{}' THEN
                IF p_reads THEN
                    -- Not by the count of recipients: of several, one may be left.
                    v_several := ARRAY(SELECT DISTINCT r.email_id FROM mailqueue.email_recipients AS r
                                        WHERE r.email_id = ANY (s.mails));
                END IF;
                -- Not in a function of its own, which would copy each row once more.
                RETURN QUERY
                UPDATE mailqueue.email_queue AS q
                   SET status = 'assigned', claim_no = s.claim_no, worker_id = p_worker, assigned_at = s.began_at,
                       lease_until = s.began_at + p_lease, attempts = least(q.attempts, 32766) + 1,
                       assigned_to = x.account, account_day = x.account_day, project_day = x.project_day
                  FROM unnest(s.picks) AS x CROSS JOIN LATERAL unnest(x.ids) WITH ORDINALITY AS i(id, n)
                 WHERE q.id = i.id
                RETURNING 'claim', CASE WHEN i.n > x.due_now AND (i.n > 1 OR NOT x.is_first_due)
                                        THEN extract(epoch FROM s.began_at)::float8
                                             + least((i.n - x.due_now) / x.rate, 0.45) END,
                          q.id, q.claim_no, q.assigned_to, x.revision, q.project_id, q.attempts, q.recipients,
                          q.unknowns, q.expires_at, q.category, q.recipient_email, q.recipient_name, q.custom_data,
                          q.content_id, q.content_on,
                          CASE WHEN q.id = ANY (v_several) THEN
                               (SELECT jsonb_agg(jsonb_build_array(r.kind, r.address, r.name, r.status)
                                                 ORDER BY r.position)
                                  FROM mailqueue.email_recipients AS r WHERE r.email_id = q.id) END,
                          (NULL::mailqueue.claimed_content).*, NULL, NULL, NULL::text[], NULL::boolean, NULL::interval;
            END IF;
            EXIT WHEN s.changed = '{}';
            UPDATE mailqueue.lanes AS k
               SET vtime = u.vtime, due_floor = u.due_floor, probed_at = u.probed_at, blocked_until = u.blocked_until,
                   blocked_reason = u.blocked_reason
              FROM unnest(s.changed) AS u WHERE k.id = u.id;
        END LOOP;
    END LOOP;
    IF s.left_over < s.asked THEN
        PERFORM mailqueue.reserve_claimed(s.limits, s.platform_day, s.asked - s.left_over, s.has_windows, s.began_at);
        IF p_reads THEN
            RETURN QUERY
            SELECT 'content', NULL::float8, NULL::uuid, NULL::bigint, NULL::integer, NULL::integer, NULL::uuid,
                   NULL::smallint, NULL::smallint, NULL::smallint, NULL::timestamptz, NULL, NULL, NULL, NULL::jsonb,
                   NULL::bigint, NULL::date, NULL::jsonb, r.*, NULL, NULL, NULL::text[],
                   NULL::boolean, NULL::interval
              FROM mailqueue.claimed_contents(s.contents, s.content_from, s.content_to) AS r;
        END IF;
    END IF;
    SELECT e.* INTO verdict, reason, stopped, is_left, next_wake FROM mailqueue.end_claim(s, p_worker, p_may_mark) AS e;
    kind := 'verdict'; send_at := extract(epoch FROM clock_timestamp());
    RETURN NEXT;
END $$;
COMMENT ON FUNCTION mailqueue.claim_and_read(integer, integer, interval, integer[], boolean, boolean) IS
    'Claim due mail of about so many recipients for one worker, lanes in turn, limits reserved, and read it. Rows that '
    'another worker is claiming are skipped, not waited for.';
