-- 0069_claim_types.sql
-- Adds:    types of the rows that the parts of a claim pass to each other
-- Running workers: not affected
-- Locks:   none

CREATE TYPE mailqueue.claim_limit AS (
    id          integer,
    account     integer,                                     -- sender account; NULL: a project or a domain
    headroom    integer,                                     -- recipients of one claim
    day_left    integer,                                     -- recipients left of the daily limit
    until       timestamptz,                                 -- end of a block, past or future
    why         text,                                        -- reason of the block; NULL: none
    today       date,                                        -- in the time zone of the limit
    used        integer,                                     -- recipients that this claim has taken
    share       integer,                                     -- of these, in the class being claimed
    revision    integer,                                     -- of the sender account
    is_fallback boolean
);
COMMENT ON TYPE mailqueue.claim_limit IS 'A limit that a claim has locked, and how much of it the claim has taken.';

CREATE TYPE mailqueue.claim_pick AS (
    ids          uuid[],
    account      integer,
    revision     integer,
    account_day  date,
    project_day  date,                                       -- NULL: test mail, which no project limit counts
    content_from date,                                       -- days between which the contents were written
    content_to   date
);
COMMENT ON TYPE mailqueue.claim_pick IS 'Mails of one lane that a claim takes, and the account that sends them.';
