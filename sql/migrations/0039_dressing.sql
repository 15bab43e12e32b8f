-- 0039_dressing.sql
-- Adds:    what is put into a mail before it goes: email_contents.dressing, and how it is asked for
-- Running workers: go on; they put nothing in until they are of this version
-- Locks:   email_contents and email_queue for a moment

-- Only in INSERT: like the bodies they are moved out before the row is stored.
ALTER TABLE mailqueue.email_queue
    ADD COLUMN track_opens  boolean,                        -- NULL: as the project has it
    ADD COLUMN track_clicks boolean,
    ADD COLUMN unsubscribe  boolean;                        -- NULL: marketing has a way to unsubscribe, other mail has none

-- A sum of 1 for opens, 2 for clicks, 4 for a way to unsubscribe, 8 for none in any case.
ALTER TABLE mailqueue.email_contents
    ADD COLUMN dressing smallint;
COMMENT ON COLUMN mailqueue.email_contents.dressing IS
    'What is put into its mail: the sum of 1 (is told when opened), 2 (links are counted), 4 (can be unsubscribed from), 8 (never can be); NULL: nothing but what its category asks for.';
