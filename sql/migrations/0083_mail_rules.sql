-- 0083_mail_rules.sql
-- Adds:    whether marketing needs a postal address, and whether all mail has an unsubscribe link; largest ages of mail
--          in new projects
-- Running workers: not affected
-- Locks:   projects for a moment

ALTER TABLE mailqueue.projects
    ADD COLUMN require_postal_address boolean NOT NULL DEFAULT true,
    ADD COLUMN unsubscribe_on_all     boolean NOT NULL DEFAULT false,
    ALTER COLUMN max_age_hours_critical SET DEFAULT 1,
    ALTER COLUMN max_age_hours_high     SET DEFAULT 4,
    ALTER COLUMN max_age_hours_normal   SET DEFAULT 24,
    ALTER COLUMN max_age_hours_low      SET DEFAULT 72;
COMMENT ON COLUMN mailqueue.projects.require_postal_address IS
    'Whether mail of category marketing is rejected while the project has no postal_address.';
COMMENT ON COLUMN mailqueue.projects.unsubscribe_on_all IS
    'Whether mail of every category has an unsubscribe link that does not say otherwise, and not only marketing.';

-- Projects keep what they had. Only the first project of an installation that is being made has the new values.
UPDATE mailqueue.projects AS p
   SET require_postal_address = p.postal_address IS NOT NULL,
       max_age_hours_critical = coalesce(p.max_age_hours_critical, 96),
       max_age_hours_high = coalesce(p.max_age_hours_high, 96),
       max_age_hours_normal = coalesce(p.max_age_hours_normal, 96),
       max_age_hours_low = coalesce(p.max_age_hours_low, 96)
 WHERE p.name <> 'default' OR p.created_at < now() - interval '1 hour'
    OR EXISTS (SELECT FROM mailqueue.accepted_days AS a WHERE a.project_id = p.id)
    OR EXISTS (SELECT FROM mailqueue.lane_signals AS s)
    OR EXISTS (SELECT FROM mailqueue.sender_accounts AS s WHERE s.project_id = p.id);
UPDATE mailqueue.projects AS p
   SET max_age_hours_critical = 1, max_age_hours_high = 4, max_age_hours_normal = 24, max_age_hours_low = 72
 WHERE p.max_age_hours_critical IS NULL AND p.max_age_hours_high IS NULL AND p.max_age_hours_normal IS NULL
   AND p.max_age_hours_low IS NULL;
