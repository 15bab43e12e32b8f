-- 0860_exports_parquet.sql
-- Adds:    format parquet of exports
-- Running workers: those of the release before fail attempts of such exports, which those of this release then write
-- Locks:   exports for a moment, nothing is rewritten
-- squawk-ignore-file ban-drop-constraint

ALTER TABLE mailqueue.exports
    DROP CONSTRAINT exports_format_check,
    ADD CONSTRAINT exports_format_check CHECK (format IN ('csv', 'json', 'ndjson', 'parquet')) NOT VALID;
