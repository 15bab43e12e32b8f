-- A line for each object of the schema and, under it, one for each role with a right on it.
WITH roles AS (
    -- mailqueue_migrator acts as the owner: see the line `member`.
    SELECT * FROM unnest(ARRAY['public', 'mailqueue_producer', 'mailqueue_worker', 'mailqueue_api',
        'mailqueue_tracking', 'mailqueue_dba']) WITH ORDINALITY AS r(role, place)
), relations AS (
    SELECT c.oid, CASE c.relkind WHEN 'v' THEN 'view ' WHEN 'S' THEN 'sequence ' ELSE 'table ' END || c.relname AS object,
           c.relkind
      FROM pg_class AS c
     WHERE c.relnamespace = 'mailqueue'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'S', 'm', 'f')
       AND NOT c.relispartition
), on_tables AS (
    SELECT t.object, r.role, r.place, string_agg(p.privilege || CASE WHEN NOT w.whole THEN ' (' || k.columns || ')' ELSE '' END,
                                        ', ' ORDER BY p.privilege) AS rights
      FROM relations AS t CROSS JOIN roles AS r
      CROSS JOIN unnest(ARRAY['DELETE', 'INSERT', 'REFERENCES', 'SELECT', 'TRIGGER', 'TRUNCATE', 'UPDATE']) AS p(privilege)
      CROSS JOIN LATERAL (SELECT has_table_privilege(r.role, t.oid, p.privilege) AS whole) AS w
      CROSS JOIN LATERAL (
          SELECT string_agg(a.attname, ', ' ORDER BY a.attnum) AS columns FROM pg_attribute AS a
           WHERE a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
             AND p.privilege IN ('INSERT', 'REFERENCES', 'SELECT', 'UPDATE')
             AND has_column_privilege(r.role, t.oid, a.attnum, CASE WHEN p.privilege IN ('INSERT', 'REFERENCES', 'SELECT', 'UPDATE')
                                                                    THEN p.privilege ELSE 'SELECT' END)) AS k
     WHERE t.relkind <> 'S' AND (w.whole OR k.columns IS NOT NULL)
     GROUP BY t.object, r.role, r.place
), on_sequences AS (
    SELECT t.object, r.role, r.place, string_agg(p.privilege, ', ' ORDER BY p.privilege) AS rights
      FROM relations AS t CROSS JOIN roles AS r CROSS JOIN unnest(ARRAY['SELECT', 'UPDATE', 'USAGE']) AS p(privilege)
     WHERE t.relkind = 'S' AND CASE WHEN t.relkind = 'S' THEN has_sequence_privilege(r.role, t.oid, p.privilege) END
     GROUP BY t.object, r.role, r.place
), functions AS (
    SELECT f.oid, format('function %s(%s)%s', f.proname, pg_get_function_identity_arguments(f.oid),
                         CASE WHEN f.prosecdef THEN ' as owner' ELSE '' END) AS object
      FROM pg_proc AS f WHERE f.pronamespace = 'mailqueue'::regnamespace
), found AS (
    SELECT t.object, 0 AS place, t.object AS line FROM relations AS t
    UNION ALL SELECT f.object, 0, f.object FROM functions AS f
    UNION ALL SELECT o.object, o.place, format('    %s: %s', o.role, o.rights) FROM on_tables AS o
    UNION ALL SELECT o.object, o.place, format('    %s: %s', o.role, o.rights) FROM on_sequences AS o
    UNION ALL SELECT f.object, r.place, format('    %s: EXECUTE', r.role) FROM functions AS f, roles AS r
     WHERE has_function_privilege(r.role, f.oid, 'EXECUTE')
    UNION ALL SELECT 'schema', 0, 'schema mailqueue'
    UNION ALL SELECT 'schema', r.place, format('    %s: %s', r.role, p.privilege)
      FROM roles AS r, unnest(ARRAY['CREATE', 'USAGE']) AS p(privilege)
     WHERE has_schema_privilege(r.role, 'mailqueue', p.privilege)
    UNION ALL SELECT 'member', 0, format('member %s of %s', m.rolname, o.rolname)
      FROM pg_auth_members AS x JOIN pg_roles AS m ON m.oid = x.member JOIN pg_roles AS o ON o.oid = x.roleid
     WHERE m.rolname LIKE 'mailqueue\_%' AND o.rolname LIKE 'mailqueue\_%' AND NOT m.rolcanlogin
)
SELECT DISTINCT f.object COLLATE "C", f.place, f.line FROM found AS f ORDER BY f.object COLLATE "C", f.place, f.line;
