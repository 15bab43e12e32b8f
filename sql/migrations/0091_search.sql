-- 0091_search.sql
-- Adds:    indexes by which projects and templates are found by the beginning of a name
-- Running workers: not affected
-- Locks:   projects and templates for writes while their indexes are built: seconds, as both tables are small

-- squawk-ignore require-concurrent-index-creation
CREATE INDEX projects_search_name_idx ON mailqueue.projects (lower(name) text_pattern_ops);
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX projects_search_display_name_idx ON mailqueue.projects (lower(display_name) text_pattern_ops);
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX templates_search_slug_idx ON mailqueue.templates (lower(slug) text_pattern_ops);
-- squawk-ignore require-concurrent-index-creation
CREATE INDEX templates_search_name_idx ON mailqueue.templates (lower(name) text_pattern_ops);
