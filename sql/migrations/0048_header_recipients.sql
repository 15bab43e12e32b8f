-- 0048_header_recipients.sql
-- Alters:  email_contents
-- Running workers: go on; until they are restarted, To and Cc of a message that was split over several mails name the recipients of each mail
-- Locks:   email_contents for an instant: no row is read or written again

ALTER TABLE mailqueue.email_contents
    ADD COLUMN header_recipients jsonb;
COMMENT ON COLUMN mailqueue.email_contents.header_recipients IS
    'Whom To and Cc name, as {"to": ["Ann <ann@example.com>"], "cc": []}, in mail that is one of several to the recipients of one message; NULL: the recipients of the mail.';
