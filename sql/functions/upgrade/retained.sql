-- Kinds of records with a retention: the rows of RETAINED in mailqueue/core/retained.py, filled in at the marker, and a
-- rule for each that has none. Changed rules are kept.

INSERT INTO mailqueue.retained_kinds AS k (kind, table_name, time_column, else_column, ended_column, kept_while,
                                           is_archived, is_swept, is_global)
SELECT r.kind, r.table_name, r.time_column, r.else_column, r.ended_column, r.kept_while, r.is_archived, r.is_swept,
       r.is_global
  FROM jsonb_to_recordset('[[RETAINED]]')
    AS r (kind text, table_name text, time_column text, else_column text, ended_column text, kept_while text,
          is_archived boolean, is_swept boolean, is_global boolean)
    ON CONFLICT (kind) DO UPDATE
        SET table_name = excluded.table_name, time_column = excluded.time_column, else_column = excluded.else_column,
            ended_column = excluded.ended_column, kept_while = excluded.kept_while, is_archived = excluded.is_archived,
            is_swept = excluded.is_swept, is_global = excluded.is_global
 WHERE (k.table_name, k.time_column, k.else_column, k.ended_column, k.kept_while, k.is_archived, k.is_swept,
        k.is_global)
       IS DISTINCT FROM
       (excluded.table_name, excluded.time_column, excluded.else_column, excluded.ended_column, excluded.kept_while,
        excluded.is_archived, excluded.is_swept, excluded.is_global);

INSERT INTO mailqueue.retention_rules (kind, hot_days, warm_days, keep_days)
SELECT r.kind, r.days, r.cold_days, r.keep_days
  FROM jsonb_to_recordset('[[RETAINED]]') AS r (kind text, days integer, cold_days integer, keep_days integer)
 WHERE NOT EXISTS (SELECT FROM mailqueue.retention_rules AS d WHERE d.project_id IS NULL AND d.kind = r.kind);
