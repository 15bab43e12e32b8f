-- 0064_producer_projects.sql
-- Adds:    producer_projects, the projects that a login may enqueue for
-- Running workers: not affected
-- Locks:   none on existing tables

CREATE TABLE mailqueue.producer_projects (
    login       name        NOT NULL,                        -- of a PostgreSQL role, as session_user returns it
    project_id  uuid        NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),

    CONSTRAINT producer_projects_pkey PRIMARY KEY (login, project_id)
);
COMMENT ON TABLE mailqueue.producer_projects IS
    'Logins that may enqueue for these projects only. A login without a row here may enqueue for every project.';
