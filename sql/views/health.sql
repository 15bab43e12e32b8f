-- Checks of the installation, one row each: those of the functions that CHECKS in mailqueue/core/checks.py names.

DROP VIEW IF EXISTS mailqueue.health CASCADE;
CREATE VIEW mailqueue.health AS
SELECT h.name, h.state, h.found, h.fix
  FROM (SELECT * FROM [[HEALTH_CHECKS]]) AS h;
COMMENT ON VIEW mailqueue.health IS
    'Checks, one row each: name, state (ok, warning, alarm), result, and the fix if one is needed. Takes '
    'milliseconds, however much mail there is. Thresholds: system_settings.';
