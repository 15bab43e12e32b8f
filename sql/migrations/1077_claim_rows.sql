-- 1077_claim_rows.sql
-- Adds:    types of the state of a claim and of the contents that it reads
-- Removes: claim_and_read() without the kind of its rows; the functions make it anew
-- Running workers: not affected; what they read of a claim is still there
-- Locks:   none

-- squawk-ignore ban-drop-function
DROP FUNCTION IF EXISTS mailqueue.claim_and_read(integer, integer, interval, integer[], boolean, boolean);

CREATE TYPE mailqueue.claim_state AS (
    claim_no          bigint,                                -- NULL: the worker may not send
    began_at          timestamptz,
    asked             integer,                               -- recipients of the whole claim
    left_over         integer,                               -- of these, not yet found
    avoid             integer[],                             -- limits of the accounts to avoid
    platform_day      date,                                  -- NULL: the installation has no rate
    has_rates         boolean,                               -- domains have rates
    isolates          boolean,                               -- mail is looked through for what is refused
    skip              uuid[],                                -- mail to leave; see queue/refused.sql
    limits            mailqueue.claim_limit[],               -- locked so far
    has_windows       boolean,                               -- one of its accounts has a limit by hour or minute
    max_share         integer,                               -- recipients of one project in the class; NULL: any
    full_projects     integer[],                             -- limits of projects that have their share of a class
    has_full_projects boolean,                               -- a project had its share of a class
    passed            integer[],                             -- lanes skipped for the accounts to avoid
    picks             mailqueue.claim_pick[],                -- of the newest round
    changed           mailqueue.lanes[],                     -- lanes as they are after that round
    mails             uuid[],                                -- all that were picked
    contents          bigint[],                              -- their contents
    content_from      date,                                  -- days between which these were written
    content_to        date
);
COMMENT ON TYPE mailqueue.claim_state IS 'What a claim has found and locked so far; its rounds hand it on.';

CREATE TYPE mailqueue.claimed_content AS (
    found_content_id    bigint,
    subject             text,
    html_body           text,
    text_body           text,
    from_email          text,
    from_name           text,
    reply_to            text,
    headers             jsonb,
    files               jsonb,
    template_version_id uuid,
    template_language   text,
    tracking_options    smallint,
    header_recipients   jsonb
);
COMMENT ON TYPE mailqueue.claimed_content IS 'Subject, bodies and headers of one or many mails of a claim.';
