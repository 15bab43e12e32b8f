-- 0026_suppression.sql
-- Adds:    address_keys, suppression_lines, suppressions.address_hash, the reason soft_bounce_threshold
-- Running workers: not affected
-- Locks:   suppressions for a moment: no row is read or written again. The hashes of rows that are there are filled in
--          with the functions, which keeps bounces from being recorded meanwhile: some ten seconds for a million rows.

CREATE TABLE mailqueue.address_keys (
    project_id  uuid        NOT NULL PRIMARY KEY REFERENCES mailqueue.projects (id) ON DELETE CASCADE,
    inner_pad   bytea       NOT NULL,                       -- the key and 0x36 by XOR, as HMAC (RFC 2104) begins with
    outer_pad   bytea       NOT NULL,                       -- the key and 0x5c
    created_at  timestamptz NOT NULL DEFAULT now(),

    CONSTRAINT address_keys_pads_check CHECK (octet_length(inner_pad) = 64 AND octet_length(outer_pad) = 64)
);
COMMENT ON TABLE mailqueue.address_keys IS
    'The key by which a project hashes addresses, gone with the project: the same address has another hash in each.';

CREATE UNLOGGED TABLE mailqueue.suppression_lines (
    import_id   uuid        NOT NULL,
    line        integer     NOT NULL,
    address     text        NOT NULL,
    category    text        NOT NULL,
    reason      text        NOT NULL,
    detail      text,
    expires_at  timestamptz NOT NULL
);
COMMENT ON TABLE mailqueue.suppression_lines IS
    'Where lists of addresses are copied to; the transaction that copies them takes them out again, so nobody ever sees a row.';

ALTER TABLE mailqueue.suppressions
    ADD COLUMN address_hash bytea,                          -- by the key of the project; filled by a trigger
    -- squawk-ignore ban-drop-constraint
    DROP CONSTRAINT suppressions_reason_check,
    ADD CONSTRAINT suppressions_reason_check CHECK (
        reason IN ('hard_bounce', 'soft_bounce_threshold', 'complaint', 'unsubscribed', 'manual')) NOT VALID;
