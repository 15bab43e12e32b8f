-- 1051_bounce_mail_pages.sql
-- Adds:    pages of bounce_mail(), which gets parameters
-- Running workers: not affected; API processes of the release before cannot list bounce mail until they are replaced
-- Locks:   none
-- squawk-ignore-file ban-drop-function

DROP FUNCTION IF EXISTS mailqueue.bounce_mail(uuid, uuid, text, timestamptz, timestamptz, text);
