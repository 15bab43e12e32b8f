-- Who keeps dead rows from being removed? Anything older than a minute makes the queue slower.
SELECT a.pid, a.usename, a.application_name, a.state, date_trunc('second', now() - a.xact_start) AS open_for,
       left(a.query, 80) AS query
FROM pg_catalog.pg_stat_activity AS a
WHERE a.datname = current_database()
  AND a.xact_start < now() - interval '1 min'
ORDER BY a.xact_start;
