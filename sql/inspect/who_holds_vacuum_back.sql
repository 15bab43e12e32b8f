-- Who keeps dead rows from being removed? Anything older than some minutes makes the queue slower.
SELECT 'session ' || a.pid AS holder, a.usename AS owner, a.application_name, a.state,
       date_trunc('second', now() - a.xact_start) AS open_for, age(a.backend_xmin) AS xmin_age,
       left(a.query, 80) AS query
FROM pg_catalog.pg_stat_activity AS a
WHERE (a.datname = current_database() OR a.backend_type = 'walsender')
  AND a.pid <> pg_backend_pid()
  AND (a.xact_start < now() - interval '1 min' OR age(a.backend_xmin) > 100000)
UNION ALL
SELECT 'prepared transaction ' || x.gid, x.owner, NULL, NULL, date_trunc('second', now() - x.prepared),
       age(x.transaction), NULL
FROM pg_catalog.pg_prepared_xacts AS x
WHERE x.database = current_database()
UNION ALL
SELECT 'replication slot ' || r.slot_name, NULL, r.plugin, CASE WHEN r.active THEN 'active' ELSE 'nobody reads it' END,
       NULL, greatest(age(r.xmin), age(r.catalog_xmin)), NULL
FROM pg_catalog.pg_replication_slots AS r
ORDER BY xmin_age DESC NULLS LAST;
