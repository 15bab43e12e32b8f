-- Checks of the installation, one row each.

DROP VIEW IF EXISTS mailqueue.health CASCADE;
CREATE VIEW mailqueue.health AS
SELECT h.name, h.state, h.found, h.fix
  FROM (SELECT * FROM mailqueue.health_of_mail()
        UNION ALL SELECT * FROM mailqueue.health_of_space()
        UNION ALL SELECT * FROM mailqueue.health_of_bounds()
        UNION ALL SELECT * FROM mailqueue.health_of_stock()
        UNION ALL SELECT * FROM mailqueue.health_of_queues()
        UNION ALL SELECT * FROM mailqueue.health_of_services()
        UNION ALL SELECT * FROM mailqueue.health_of_refused_rows()
        UNION ALL SELECT * FROM mailqueue.health_of_webhooks()
        UNION ALL SELECT * FROM mailqueue.health_of_inbox()
        UNION ALL SELECT * FROM mailqueue.health_of_publishing()
        UNION ALL SELECT * FROM mailqueue.health_of_bridge()
        UNION ALL SELECT * FROM mailqueue.health_of_timed_events()
        UNION ALL SELECT * FROM mailqueue.health_of_schedules()
        UNION ALL SELECT * FROM mailqueue.health_of_consumers()
        UNION ALL SELECT * FROM mailqueue.health_of_stats()
        UNION ALL SELECT * FROM mailqueue.health_of_inbox_watch()
        UNION ALL SELECT * FROM mailqueue.health_of_events()
        UNION ALL SELECT * FROM mailqueue.health_of_tracking()
        UNION ALL SELECT * FROM mailqueue.health_of_maintenance()
        UNION ALL SELECT * FROM mailqueue.health_of_server()) AS h;
COMMENT ON VIEW mailqueue.health IS
    'Checks, one row each: name, state (ok, warning, alarm), result, and the fix if one is needed. Takes '
    'milliseconds, however much mail there is. Thresholds: system_settings.';
