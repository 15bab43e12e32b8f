-- Is everything well? What is not comes first, with its fix.
SELECT h.name, h.state, h.found, h.fix
FROM mailqueue.health AS h
ORDER BY array_position(ARRAY['alarm', 'warning', 'ok'], h.state), h.name;
