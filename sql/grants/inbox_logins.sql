-- Logins of persons whose inboxes are watched: the API authenticates them before it calls any other of these.

DO $$
BEGIN
    IF to_regrole('mailqueue_api') IS NULL THEN
        RETURN;
    END IF;
    GRANT EXECUTE ON FUNCTION mailqueue.project_of_inbox_pages(text),
        mailqueue.invite_inbox_user(uuid, uuid, bytea, timestamptz, text),
        mailqueue.ask_inbox_reset(uuid, text, bytea, timestamptz), mailqueue.take_login_mail(uuid, text, text),
        mailqueue.find_inbox_link(uuid, bytea),
        mailqueue.set_inbox_password(uuid, bytea, text), mailqueue.find_inbox_login(uuid, text, bytea),
        mailqueue.begin_inbox_session(uuid, uuid, text, bytea, bytea, inet, text, interval),
        mailqueue.find_inbox_session(uuid, bytea, interval), mailqueue.inbox_sessions_of(uuid, uuid, interval),
        mailqueue.end_inbox_sessions(uuid, uuid, uuid),
        mailqueue.change_inbox_password(uuid, uuid, uuid, text, text) TO mailqueue_api;
END $$;
