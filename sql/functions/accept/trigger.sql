-- The trigger on email_queue: every row that a producer inserts passes through it.

-- Takes no lock that another producer could wait for: rows are inserted, look-ups only read.
CREATE OR REPLACE FUNCTION mailqueue.email_queue_accept() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_project text := coalesce(NEW.project, 'default');
    v_is_awaited boolean;                                    -- a worker waits for mail
    v_is_listed boolean;                                     -- the recipient's address is suppressed, in some category
    v_is_refused boolean;                                    -- now, or of its project
    v_is_bound boolean;                                      -- this login may enqueue for some projects only
    v_is_bounded boolean;                                    -- its project has a bound of queued emails or bytes
    v_is_told boolean;                                       -- a webhook subscribes to email.queued
    v_has_rules boolean;                                     -- it names no account, and its project has routing rules
    v_delivery text;                                         -- the default of the project
    v_opens boolean; v_clicks boolean; v_max_age integer;    -- the same; in hours
    v_unsubscribes boolean;                                  -- the same
    v_is_addressless boolean;                                -- the project lacks the address that marketing needs
    v_ordering text;                                         -- its project orders mail
    v_is_said boolean := NEW.delivery IS NOT NULL;
    v_files jsonb;
    -- Computed here and not in the statements below: an expression of a statement is prepared anew for each mail.
    v_key text; v_route text; v_options smallint; v_bytes bigint;
    v_now constant timestamptz := now();
    v_today constant date := (v_now AT TIME ZONE 'UTC')::date;
BEGIN
    IF NEW.project_id IS NOT NULL THEN
        v_project := (SELECT p.name FROM mailqueue.projects AS p WHERE p.id = NEW.project_id);
    END IF;
    IF NEW.template IS NOT NULL THEN
        PERFORM mailqueue.check_producer(coalesce(NEW.project_id, mailqueue.project_named(v_project)));
        NEW := mailqueue.with_template(NEW, coalesce(NEW.project_id, mailqueue.project_named(v_project)));
    END IF;
    NEW := mailqueue.prepare_email(NEW);
    v_key := mailqueue.address_key(NEW.recipient_email);
    v_route := coalesce(NEW.sender, '');
    SELECT p.id, l.id, l.has_rules,
           -- ORDER BY selects the index on addresses, see accept_rows().
           EXISTS (SELECT FROM mailqueue.suppressions AS s
                    WHERE s.project_id = p.id AND s.address = v_key
                    ORDER BY s.category OFFSET 0)
           -- suppressed by hash only
           OR EXISTS (SELECT FROM mailqueue.suppressions AS s WHERE s.project_id = p.id AND s.address IS NULL OFFSET 0),
           EXISTS (SELECT FROM mailqueue.waiters AS w WHERE w.queue = 'email_queue'),
           EXISTS (SELECT FROM mailqueue.refusals AS r
                    WHERE r.valid_until > v_now AND (r.project_id IS NULL OR r.project_id = p.id)),
           EXISTS (SELECT FROM mailqueue.producer_projects AS b WHERE b.login = session_user),
           p.max_queued_emails IS NOT NULL OR p.max_stored_bytes IS NOT NULL, p.delivery, p.track_opens,
           p.track_clicks,
           CASE NEW.priority WHEN 0 THEN p.max_age_hours_critical WHEN 1 THEN p.max_age_hours_high
                             WHEN 2 THEN p.max_age_hours_normal ELSE p.max_age_hours_low END,
           p.unsubscribe_on_all, p.require_postal_address AND p.postal_address IS NULL,
           p.has_event_outboxes AND EXISTS (SELECT FROM mailqueue.event_outboxes(p.id, 'email.queued'))
           OR EXISTS (SELECT FROM mailqueue.subscribed_webhooks(p.id, 'email.queued'))
           OR mailqueue.is_consumed('email.queued'), p.ordering
      INTO NEW.project_id, NEW.lane_id, v_has_rules, v_is_listed, v_is_awaited, v_is_refused, v_is_bound,
           v_is_bounded, v_delivery, v_opens, v_clicks, v_max_age, v_unsubscribes,
           v_is_addressless, v_is_told, v_ordering
      FROM mailqueue.projects AS p
      LEFT JOIN mailqueue.lanes AS l
        ON l.project_id = p.id AND l.priority = NEW.priority AND l.route = v_route
           AND l.home_route IS NULL AND l.rule_id IS NULL
     WHERE p.name = v_project AND p.deleted_at IS NULL;
    IF NEW.project_id IS NULL THEN
        PERFORM mailqueue.project_taking(v_project);         -- raises the error: there is none
    ELSIF v_is_refused THEN
        PERFORM mailqueue.refuse_for_now(NEW.project_id);
    ELSIF v_is_bound THEN
        PERFORM mailqueue.check_producer(NEW.project_id);
    END IF;
    IF v_is_addressless AND NEW.category = 'marketing' THEN
        PERFORM mailqueue.refuse_addressless();
    END IF;
    IF NEW.lane_id IS NULL THEN
        PERFORM mailqueue.refuse('sender',
                                 format('this project has no sender account %s', to_json(left(NEW.sender, 100))));
    END IF;
    IF v_has_rules THEN
        NEW.lane_id := mailqueue.lane_by_rules(NEW.lane_id, NEW.project_id, NEW.priority, NEW.category, NEW.tags,
                                               NEW.recipient_email);
    END IF;
    NEW.is_test := coalesce(NEW.sender = '(test)', false);    -- lanes of this route have no accounts but traps
    NEW.sender := NULL; NEW.is_ordered := NULL;
    IF v_delivery IS NOT NULL AND NOT v_is_said THEN
        NEW.delivery := v_delivery;
    END IF;
    IF v_max_age IS NOT NULL AND NEW.expires_at = NEW.run_at + interval '4 days' THEN  -- it names no time
        NEW.expires_at := NEW.run_at + make_interval(hours => v_max_age);
    END IF;
    IF NEW.from_email IS NOT NULL THEN
        PERFORM mailqueue.check_from(NEW.project_id, NEW.from_email);
    END IF;
    IF NEW.idempotency_key IS NOT NULL AND mailqueue.take_idempotency_key(NEW) IS NOT NULL THEN
        RETURN NULL;  -- accepted before, with this key
    END IF;
    IF NEW.attachments IS NOT NULL THEN
        v_files := mailqueue.take_attachments(NEW.project_id, NEW.attachments, mailqueue.has_html(NEW), NEW.is_test);
        NEW.attachments := NULL;
    END IF;
    v_bytes := mailqueue.content_bytes(NEW.subject, NEW.html_body, NEW.text_body);
    IF v_is_bounded THEN
        PERFORM mailqueue.take_room(NEW.project_id, 1, v_bytes);
    END IF;
    v_options := mailqueue.tracking_options(coalesce(NEW.track_opens, v_opens), coalesce(NEW.track_clicks, v_clicks),
                                            coalesce(NEW.unsubscribe, nullif(v_unsubscribes, false)));
    WITH signalled AS (
        INSERT INTO mailqueue.lane_signals (lane_id, due_at, emails, accepted_on, bytes)
        VALUES (NEW.lane_id, NEW.run_at, 1, v_today, v_bytes)
    )
    INSERT INTO mailqueue.email_contents (created_on, project_id, subject, html_body, text_body, from_email, from_name,
                                          reply_to, headers, files, template_version_id, template_language,
                                          tracking_options)
    VALUES (v_today, NEW.project_id, NEW.subject, NEW.html_body, NEW.text_body,
            NEW.from_email, NEW.from_name, NEW.reply_to, NEW.headers, v_files, NEW.template_version_id, NEW.language,
            v_options)
    RETURNING id, created_on INTO NEW.content_id, NEW.content_on;
    IF NEW.recipients > 1 THEN
        NEW.recipients := mailqueue.store_recipients(NEW);
    ELSIF v_is_listed AND NOT NEW.is_test
          AND mailqueue.suppressed(NEW.project_id, NEW.recipient_email, NEW.category) IS NOT NULL THEN
        NEW.recipients := 0;
    END IF;
    NEW.subject := NULL; NEW.html_body := NULL; NEW.text_body := NULL;
    IF num_nonnulls(NEW.from_email, NEW.from_name, NEW.reply_to, NEW.headers, NEW.also_to, NEW.cc, NEW.bcc) > 0 THEN
        NEW.from_email := NULL; NEW.from_name := NULL; NEW.reply_to := NULL; NEW.headers := NULL;
        NEW.also_to := NULL; NEW.cc := NULL; NEW.bcc := NULL;
    END IF;
    IF num_nonnulls(NEW.track_opens, NEW.track_clicks, NEW.unsubscribe) > 0 THEN
        NEW.track_opens := NULL; NEW.track_clicks := NULL; NEW.unsubscribe := NULL;
    END IF;
    IF NEW.template IS NOT NULL THEN
        NEW.template := NULL; NEW.template_version_id := NULL; NEW.language := NULL;
    END IF;
    IF v_is_told AND NEW.recipients > 0 THEN
        PERFORM mailqueue.enqueue_queued_event(NEW);
    END IF;
    IF v_ordering IS NOT NULL AND NEW.recipients > 0 THEN
        NEW := mailqueue.take_place(NEW, v_ordering);
    END IF;
    IF v_is_awaited THEN  -- NOTIFY serialises the commits of the whole server, so only if a worker waits
        PERFORM pg_notify('mailqueue_email_queue', '');
    END IF;
    RETURN NEW;
END $$;
COMMENT ON FUNCTION mailqueue.email_queue_accept() IS
    'BEFORE INSERT on email_queue: check, complete, move the content out, signal the lane, wake parked workers.';

-- Rows that come with content_id were inserted by our functions, which call accept_rows() once for all of them.
CREATE OR REPLACE TRIGGER email_queue_accept BEFORE INSERT ON mailqueue.email_queue
    FOR EACH ROW WHEN (NEW.content_id IS NULL) EXECUTE FUNCTION mailqueue.email_queue_accept();
