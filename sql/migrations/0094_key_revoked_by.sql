-- 0094_key_revoked_by.sql
-- Adds:    api_keys.revoked_by
-- Running workers: not affected; an API of the version before revokes keys without it
-- Locks:   api_keys for a moment: few rows; audit_events is read once, by project

ALTER TABLE mailqueue.api_keys ADD COLUMN revoked_by text;
COMMENT ON COLUMN mailqueue.api_keys.revoked_by IS
    'Who revoked the key; NULL: it is valid, it expired, or nobody recorded it.';

-- Keys that were revoked before: their audit rows name who did it.
UPDATE mailqueue.api_keys AS k
   SET revoked_by = e.actor
  FROM mailqueue.audit_events AS e
 WHERE k.revoked_at IS NOT NULL AND e.project_id = k.project_id AND e.action = 'api_key.revoked'
   AND coalesce(e.detail ->> 'id' = k.id::text, e.detail ->> 'hint' = k.hint);
