-- 0043_webhook_retention.sql
-- Adds:    how long the log of webhooks is kept
-- Running workers: not affected
-- Locks:   retention_rules for a moment; it holds few rows

-- One more word, whichever there are already.
DO $$
DECLARE
    v_rule text := (SELECT pg_get_constraintdef(c.oid) FROM pg_catalog.pg_constraint AS c
                     WHERE c.conrelid = 'mailqueue.retention_rules'::regclass AND c.conname = 'retention_rules_kind_check');
BEGIN
    ALTER TABLE mailqueue.retention_rules DROP CONSTRAINT retention_rules_kind_check;
    EXECUTE 'ALTER TABLE mailqueue.retention_rules ADD CONSTRAINT retention_rules_kind_check '
            || replace(v_rule, '''limit_days''::text', '''limit_days''::text, ''webhook_deliveries''::text');
END $$;

INSERT INTO mailqueue.retention_rules (kind, hot_days, warm_days, keep_days) VALUES ('webhook_deliveries', 30, NULL, 30);
