-- 0012_faster_accept.sql
-- Adds:    nothing; takes away what each accepted mail paid for and nothing needed
-- Running workers: not affected
-- Locks:   email_queue and email_contents for a moment: what is said of all rows is known from a constraint

ALTER TABLE mailqueue.email_queue
    -- squawk-ignore adding-not-nullable-field
    ALTER COLUMN content_id SET NOT NULL,
    -- squawk-ignore adding-not-nullable-field
    ALTER COLUMN content_on SET NOT NULL;

-- Each statement reads all CHECKs of its table anew, 2 to 5 us each. What these say holds by what accepting does; of
-- the claim it is enough to know that a row has one exactly while it is assigned.
ALTER TABLE mailqueue.email_queue
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT email_queue_content_check,
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT email_queue_moved_check,
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT email_queue_delivery_check,
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT email_queue_priority_check,
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT email_queue_claim_check,
    ADD CONSTRAINT email_queue_claim_check CHECK ((status = 'assigned') = (claim_no IS NOT NULL)) NOT VALID;
