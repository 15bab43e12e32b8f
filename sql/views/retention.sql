-- Retention of all kinds of records, and the files of the archive.

DROP VIEW IF EXISTS mailqueue.retention CASCADE;
CREATE VIEW mailqueue.retention AS
SELECT p.id AS project_id, p.name AS project, coalesce(o.kind, d.kind) AS kind,
       CASE WHEN o.kind IS NULL THEN d.hot_days ELSE o.hot_days END AS hot_days,
       CASE WHEN o.kind IS NULL THEN d.warm_days ELSE o.warm_days END AS warm_days,
       CASE WHEN o.kind IS NULL THEN d.keep_days ELSE o.keep_days END AS keep_days,
       o.kind IS NOT NULL AS is_own
  FROM mailqueue.projects AS p
  JOIN mailqueue.retention_rules AS d ON d.project_id IS NULL
  JOIN mailqueue.retained_kinds AS k ON k.kind = d.kind AND NOT k.is_global
  LEFT JOIN mailqueue.retention_rules AS o ON o.project_id = p.id AND o.kind = d.kind
 WHERE ((SELECT mailqueue.sees_all()) OR p.id = (SELECT mailqueue.tenant()));
COMMENT ON VIEW mailqueue.retention IS
    'Each project and kind of record: days in its table, age at which its files become cold, age at which they are '
    'deleted (NULL: never), and whether the project has a rule of its own.';

DROP VIEW IF EXISTS mailqueue.archive_files CASCADE;
CREATE VIEW mailqueue.archive_files AS
SELECT a.id, p.name AS project, a.kind, a.month, a.part, a.state, a.tier, a.records, a.bytes, a.first_at, a.last_at,
       a.store, a.path, a.sha256, a.written_at, a.verified_at, a.archived_at, a.keep_until, a.purged_at
  FROM mailqueue.archives AS a
  LEFT JOIN mailqueue.projects AS p ON p.id = a.project_id;
COMMENT ON VIEW mailqueue.archive_files IS
    'Archive files: project, month, location, and when the file was last verified. Sizes in bytes.';
