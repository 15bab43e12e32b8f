-- 0059_tracking_options.sql
-- Adds:    email_contents.tracking_options, which replaces dressing
-- Renames: dressing_gaps to tracking_gaps; the view dressing_gaps keeps the old name for one release
-- Running workers: go on; both columns are written for one release
-- Locks:   email_contents and dressing_gaps for a moment

ALTER TABLE mailqueue.email_contents
    ADD COLUMN tracking_options smallint;
COMMENT ON COLUMN mailqueue.email_contents.tracking_options IS
    'Sum of 1 (open tracking), 2 (click tracking), 4 (unsubscribe link), 8 (no unsubscribe link, marketing included); NULL: an unsubscribe link for marketing, nothing for other mail.';
COMMENT ON COLUMN mailqueue.email_contents.dressing IS
    'Deprecated, will be dropped: the name of tracking_options in earlier releases. Rows of those releases have only this one.';

-- squawk-ignore renaming-table
ALTER TABLE mailqueue.dressing_gaps RENAME TO tracking_gaps;
-- squawk-ignore renaming-object
ALTER TABLE mailqueue.tracking_gaps RENAME CONSTRAINT dressing_gaps_pkey TO tracking_gaps_pkey;
-- squawk-ignore renaming-object
ALTER TABLE mailqueue.tracking_gaps RENAME CONSTRAINT dressing_gaps_gap_check TO tracking_gaps_gap_check;
COMMENT ON TABLE mailqueue.tracking_gaps IS
    'Number of mails of each day that lacked something they should contain: marketing without an unsubscribe link or a postal address, tracked mail without a public URL for its links.';

CREATE VIEW mailqueue.dressing_gaps AS
SELECT g.project_id, g.gap, g.day, g.emails, g.seen_at FROM mailqueue.tracking_gaps AS g;
COMMENT ON VIEW mailqueue.dressing_gaps IS
    'Deprecated, will be dropped: the name of tracking_gaps in earlier releases.';
