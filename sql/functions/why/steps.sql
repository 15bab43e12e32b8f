-- What to type next: a command for each state that mailqueue.why() explains.

-- Every status, blocked reason and kind of pause of the schema has a row: tests compare them, and parse the commands.
-- In braces: values of the mail. N, TIME, WINDOW and DURATION are for the reader to choose.
CREATE OR REPLACE FUNCTION mailqueue.next_steps_of_mail() RETURNS TABLE (subject text, state text, step text)
LANGUAGE sql IMMUTABLE AS $$
    VALUES ('history', 'sent', 'to send it again as a new mail: mailqueue email resend {id}'),
           ('history', 'failed', 'to queue it again: mailqueue email requeue {id}'),
           ('history', 'expired', 'to queue it again: mailqueue email requeue {id}'),
           ('history', 'cancelled', 'to queue it again: mailqueue email requeue {id}'),
           ('history', 'suppressed', 'to see why: mailqueue suppression show {value}{in_project}; to lift it:'
                                     ' mailqueue suppression remove {value} --reason REASON{in_project}; to send it'
                                     ' then, as a new mail: mailqueue email resend {id}'),
           ('history', 'archived', 'to read it: mailqueue archive read --kind email_history{in_month} --having {id}'),
           ('queue', 'held', 'to send it: mailqueue email release {id}; to give it up: mailqueue email cancel {id}'),
           ('queue', 'in_doubt', 'if it was sent: mailqueue resolve {id} --sent; if it was not: mailqueue resolve {id}'
                                 ' --not-sent'),
           ('queue', 'assigned', 'to see its attempts: mailqueue email show {id}'),
           ('queue', 'silent', 'another worker takes it over: mailqueue worker send'),
           ('queue', 'suspect', 'to give it up: mailqueue email cancel {id}'),
           ('queue', 'refused', 'to see which triggers there are: mailqueue psql'),
           ('queue', 'retry', 'to see its attempts: mailqueue email show {id}; to give it up: mailqueue email cancel'
                              ' {id}'),
           ('queue', 'quiet hours', 'to change them: mailqueue project change {project} --quiet-hours WINDOW; to send'
                                    ' this email then: mailqueue email reschedule {id} --run-at TIME'),
           ('queue', 'frequency cap', 'to change it: mailqueue project change {project} --frequency-cap N/DURATION; to'
                                      ' send this email then: mailqueue email reschedule {id} --run-at TIME'),
           ('queue', 'not_due', 'to send it at another time: mailqueue email reschedule {id} --run-at TIME'),
           ('queue', 'pending', 'to move it forward: mailqueue email reprioritise {id} --priority critical'),
           ('queue', 'own_server', 'to see its attempts: mailqueue email show {id}; to give it up: mailqueue email'
                                   ' cancel {id}'),
           ('queue', 'no_own_worker', 'to start a worker for it: mailqueue worker custom-smtp'),
           ('queue', 'no_worker', 'to start one: mailqueue worker send'),
           ('order', 'first', 'to see its attempts: mailqueue email show {id}; to give it up: mailqueue email cancel'
                              ' {id}'),
           ('order', 'behind', 'to see why that one waits: mailqueue why {value}; to give that one up: mailqueue email'
                               ' cancel {value}'),
           ('order', 'blocked', 'to send that one again: mailqueue email requeue {value}; to go on without it:'
                                ' mailqueue project change {project} --ordering-on-failure continue')
$$;
COMMENT ON FUNCTION mailqueue.next_steps_of_mail() IS
    'The commands that follow the states of a mail, and of mail that is sent in order.';

CREATE OR REPLACE FUNCTION mailqueue.next_steps_of_limits() RETURNS TABLE (subject text, state text, step text)
LANGUAGE sql IMMUTABLE AS $$
    VALUES ('pause', 'campaign', 'to resume it: mailqueue resume campaign {value}{in_project}'),
           ('pause', 'domain', 'to resume it: mailqueue resume domain {value}{in_project}'),
           ('installation', 'restored', 'to hold what may have been sent since, and go on: mailqueue restored --from'
                                        ' TIME; if nothing was lost: mailqueue restored --nothing-lost'),
           ('installation', 'paused', 'to resume it: mailqueue resume platform'),
           ('installation', 'brake', 'to allow more: MAILQUEUE_MAX_SEND_RATE=N mailqueue worker send'),
           ('domain', 'domain_rate', 'to allow more: mailqueue domain rate {value} N/s'),
           ('project', 'no_sender', 'to add one: mailqueue sender add --name main --host smtp.example.com{in_project}'),
           ('project', 'daily_limit', 'to raise it: mailqueue project change {project} --daily-limit N'),
           ('project', 'rate', 'to raise it: mailqueue project change {project} --rate N'),
           ('project', 'outside_window', 'to change it: mailqueue project change {project} --low-priority-window'
                                         ' WINDOW'),
           ('project', 'paused', 'to resume it: mailqueue resume project {project}'),
           ('project', 'suspended', 'to activate it: mailqueue project activate {project}'),
           ('project', 'locked', 'to unlock it: mailqueue vault byok unlock {project} --for DURATION'),
           ('account', 'daily_limit', 'to raise it: mailqueue sender limits {account} --daily-limit N{in_project}'),
           ('account', 'warm_up', 'to raise it: mailqueue sender limits {account} --warm-up N{in_project}'),
           ('account', 'hourly_limit', 'to raise it: mailqueue sender limits {account} --hourly-limit N{in_project}'),
           ('account', 'minute_limit', 'to raise it: mailqueue sender limits {account} --minute-limit N{in_project}'),
           ('account', 'rate', 'to raise it: mailqueue sender limits {account} --rate-per-second N{in_project}'),
           ('account', 'recipients', 'to let it send to more at once: mailqueue sender limits {account} --batch-size N'
                                     ' --daily-limit N{in_project}'),
           ('account', 'paused', 'to resume it: mailqueue sender resume {account}{in_project}'),
           ('account', 'suspended', 'to resume it: mailqueue sender resume {account}{in_project}'),
           ('account', 'locked', 'to unlock it: mailqueue vault byok unlock {project} --for DURATION'),
           ('account', 'unreachable', 'to try it: mailqueue sender test {account}{in_project}'),
           ('account', 'limited', 'to see its health: mailqueue sender health {account}{in_project}'),
           ('account', 'circuit', 'to see its health: mailqueue sender health {account}{in_project}'),
           ('account', 'half_open', 'to see its health: mailqueue sender health {account}{in_project}')
$$;
COMMENT ON FUNCTION mailqueue.next_steps_of_limits() IS
    'The commands that follow a pause or limit of a campaign, domain, installation, project or sender account.';

CREATE OR REPLACE FUNCTION mailqueue.next_steps_of_rows() RETURNS TABLE (subject text, state text, step text)
LANGUAGE sql IMMUTABLE AS $$
    VALUES ('row', 'pending', 'to give it up: mailqueue queue cancel {id}'),
           ('row', 'refused', 'to see which triggers there are: mailqueue psql'),
           ('row', 'no_worker', 'to start one: mailqueue worker {value}'),
           ('row', 'assigned', 'to see its attempts: mailqueue queue show {id}'),
           ('row', 'silent', 'another worker takes it over: mailqueue worker {value}'),
           ('row', 'held', 'to queue it again: mailqueue queue requeue {id}; to end it: mailqueue queue cancel {id}'),
           ('row', 'failed', 'to queue it again: mailqueue queue requeue {id}'),
           ('row', 'cancelled', 'to queue it again: mailqueue queue requeue {id}'),
           ('row', 'stopped', 'to see it: mailqueue operation show {id}'),
           ('row', 'unmatched', 'to queue it again: mailqueue queue requeue {id}'),
           ('row', 'merged', 'to see it: mailqueue queue show {id}'),
           ('row', 'delivered', 'to see it: mailqueue queue show {id}'),
           ('row', 'erased', 'to see it: mailqueue queue show {id}'),
           ('row', 'deleted', 'to see it: mailqueue queue show {id}'),
           ('row', 'done', 'to see it: mailqueue queue show {id}')
$$;
COMMENT ON FUNCTION mailqueue.next_steps_of_rows() IS
    'The commands that follow the states of a row of any queue.';

CREATE OR REPLACE FUNCTION mailqueue.next_steps_of_plans() RETURNS TABLE (subject text, state text, step text)
LANGUAGE sql IMMUTABLE AS $$
    VALUES ('schedule', 'pending', 'to see its next runs: mailqueue schedule preview {id}{in_project}; to stop it:'
                                   ' mailqueue schedule pause {id}{in_project}'),
           ('schedule', 'no_worker', 'to start one: mailqueue worker {value}'),
           ('schedule', 'paused', 'to resume it: mailqueue schedule resume {id}{in_project}'),
           ('schedule', 'completed', 'to see it: mailqueue schedule show {id}{in_project}'),
           ('schedule', 'cancelled', 'to see it: mailqueue schedule show {id}{in_project}'),
           ('schedule', 'failed', 'to queue it again: mailqueue queue requeue {id}'),
           ('enrollment', 'active', 'to see what it did: mailqueue sequence enrollment {id}; to end it: mailqueue'
                                    ' sequence unenroll {id}'),
           ('enrollment', 'paused', 'to resume the sequence: mailqueue sequence resume {value}{in_project}'),
           ('enrollment', 'completed', 'to see what it did: mailqueue sequence enrollment {id}'),
           ('enrollment', 'left', 'to see what it did: mailqueue sequence enrollment {id}'),
           ('enrollment', 'failed', 'to try its step again: mailqueue queue requeue {id}'),
           ('timed_event', 'pending', 'to see it: mailqueue timed-event show {id}; to give it up: mailqueue timed-event'
                                      ' cancel {id}{in_project}'),
           ('timed_event', 'refused', 'to see which triggers there are: mailqueue psql'),
           ('timed_event', 'no_worker', 'to start one: mailqueue worker timed-events'),
           ('timed_event', 'assigned', 'to see it: mailqueue timed-event show {id}'),
           ('timed_event', 'silent', 'another worker takes it over: mailqueue worker timed-events'),
           ('timed_event', 'delivering', 'to see what the call waits for: mailqueue why {value}'),
           ('timed_event', 'completed', 'to see it: mailqueue timed-event show {id}'),
           ('timed_event', 'failed', 'to fire it again: mailqueue queue requeue {id}'),
           ('timed_event', 'cancelled', 'to see it: mailqueue timed-event show {id}'),
           ('event', 'handled', 'to see it: mailqueue event show {id}'),
           ('event', 'ignored', 'to see the rules: mailqueue event-rule list{in_project}; to apply them:'
                                ' mailqueue event replay --message {id}{in_project}'),
           ('event', 'expired', 'to see it: mailqueue event show {id}'),
           ('event', 'failed', 'to see it: mailqueue event show {id}; to apply the rules again: mailqueue event'
                               ' replay --message {id}{in_project}')
$$;
COMMENT ON FUNCTION mailqueue.next_steps_of_plans() IS
    'The commands that follow the states of schedules, enrollments, timed events and inbox events.';

CREATE OR REPLACE FUNCTION mailqueue.next_steps() RETURNS TABLE (subject text, state text, step text)
LANGUAGE sql IMMUTABLE AS $$
    SELECT s.subject, s.state, s.step FROM mailqueue.next_steps_of_mail() AS s
    UNION ALL
    SELECT s.subject, s.state, s.step FROM mailqueue.next_steps_of_limits() AS s
    UNION ALL
    SELECT s.subject, s.state, s.step FROM mailqueue.next_steps_of_rows() AS s
    UNION ALL
    SELECT s.subject, s.state, s.step FROM mailqueue.next_steps_of_plans() AS s
$$;
COMMENT ON FUNCTION mailqueue.next_steps() IS
    'The commands that follow each state a mail or row of a queue can be in, with braces around their values.';

-- A value of a command may be anything that a person called a campaign, a project or an account.
CREATE OR REPLACE FUNCTION mailqueue.shell_word(p_text text) RETURNS text
LANGUAGE sql IMMUTABLE
AS $$
    SELECT CASE WHEN p_text ~ '^[A-Za-z0-9@%+=:,./_-]+$' THEN p_text
                ELSE '''' || replace(p_text, '''', '''"''"''') || '''' END
$$;
COMMENT ON FUNCTION mailqueue.shell_word(text) IS 'A text as one word of a shell command.';

-- The step is split before values are put in, so that braces in a value mean nothing.
CREATE OR REPLACE FUNCTION mailqueue.next_step(p_subject text, p_state text, p_id uuid, p_project uuid,
    p_account text DEFAULT NULL, p_value text DEFAULT NULL) RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_project text := (SELECT p.name FROM mailqueue.projects AS p WHERE p.id = p_project);
    v_parts text[];
BEGIN
    SELECT regexp_split_to_array(s.step, '[{}]') INTO v_parts FROM mailqueue.next_steps() AS s
     WHERE s.subject = p_subject AND s.state = p_state;
    IF NOT FOUND THEN
        RETURN '';
    END IF;
    RETURN '; ' || array_to_string(ARRAY(
        SELECT CASE WHEN n % 2 = 1 THEN v_parts[n]
                    ELSE coalesce(CASE v_parts[n]
                        WHEN 'id' THEN p_id::text
                        WHEN 'project' THEN mailqueue.shell_word(v_project)
                        WHEN 'in_project'
                             THEN CASE WHEN v_project <> 'default'
                                            THEN ' --project ' || mailqueue.shell_word(v_project) END
                        WHEN 'in_month' THEN ' --month ' || p_value
                        WHEN 'account' THEN mailqueue.shell_word(p_account)
                        ELSE mailqueue.shell_word(p_value) END, '') END
          FROM generate_series(1, cardinality(v_parts)) AS n ORDER BY n), '');
END $$;
COMMENT ON FUNCTION mailqueue.next_step(text, text, uuid, uuid, text, text) IS
    'The command that follows a state, to be added to a sentence.';
