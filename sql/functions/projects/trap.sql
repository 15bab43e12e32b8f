-- A project created while the trap runs gets its trap account like earlier ones.

CREATE OR REPLACE FUNCTION mailqueue.projects_trap() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    INSERT INTO mailqueue.sender_accounts (project_id, name, provider, smtp_host, smtp_port, smtp_tls, email,
                                           display_name, is_private_ok, priority, status, status_reason)
    SELECT NEW.id, a.name, a.provider, a.smtp_host, a.smtp_port, a.smtp_tls, a.email, a.display_name,
           a.is_private_ok, a.priority, a.status, a.status_reason
      FROM mailqueue.sender_accounts AS a WHERE a.provider = 'trap' AND a.name = 'trap' ORDER BY a.id LIMIT 1;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.projects_trap() IS
    'AFTER INSERT of a project: adds the trap account that the others have.';

CREATE OR REPLACE TRIGGER projects_trap AFTER INSERT ON mailqueue.projects
    FOR EACH ROW EXECUTE FUNCTION mailqueue.projects_trap();
