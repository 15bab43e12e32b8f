-- Is every accepted mail accounted for? No rows: it is. A positive difference is lost mail.
SELECT b.project, b.day, b.accepted, b.difference
FROM mailqueue.books AS b
WHERE b.difference <> 0
ORDER BY b.day, b.project;
