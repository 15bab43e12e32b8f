-- 0027_templates_by_project.sql
-- Adds:    whose versions of templates are, and what they say, beside them: row-level security looks at each row alone
-- Running workers: not affected
-- Locks:   template_versions and template_texts while they are read once

ALTER TABLE mailqueue.template_versions ADD COLUMN project_id uuid;
ALTER TABLE mailqueue.template_texts ADD COLUMN project_id uuid;
UPDATE mailqueue.template_versions AS v SET project_id = t.project_id FROM mailqueue.templates AS t WHERE t.id = v.template_id;
UPDATE mailqueue.template_texts AS x SET project_id = v.project_id FROM mailqueue.template_versions AS v WHERE v.id = x.version_id;
COMMENT ON COLUMN mailqueue.template_versions.project_id IS 'Of its template; NULL: of the platform.';
COMMENT ON COLUMN mailqueue.template_texts.project_id IS 'Of its template; NULL: of the platform.';
