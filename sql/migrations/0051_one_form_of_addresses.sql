-- 0051_one_form_of_addresses.sql
-- Alters:  suppressions, bounce_list, unsubscribe_list, subscription_preferences: lower case is that of address_key(), not of the locale
-- Running workers: go on
-- Locks:   these four for a moment: no row is read or written again

ALTER TABLE mailqueue.suppressions
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT suppressions_address_check,
    ADD CONSTRAINT suppressions_address_check CHECK (address !~ '[A-Z]') NOT VALID;
ALTER TABLE mailqueue.bounce_list
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT bounce_list_email_check,
    ADD CONSTRAINT bounce_list_email_check CHECK (email !~ '[A-Z]') NOT VALID;
ALTER TABLE mailqueue.unsubscribe_list
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT unsubscribe_list_email_check,
    ADD CONSTRAINT unsubscribe_list_email_check CHECK (email !~ '[A-Z]') NOT VALID;
ALTER TABLE mailqueue.subscription_preferences
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT subscription_preferences_address_check,
    ADD CONSTRAINT subscription_preferences_address_check CHECK (address !~ '[A-Z]') NOT VALID;
