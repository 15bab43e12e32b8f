-- Sequences: added, changed, published, paused, removed. Each change writes an audit row.

CREATE OR REPLACE FUNCTION mailqueue.check_sequence(s mailqueue.sequences) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF coalesce(s.name, '') !~ '^[a-z0-9][a-z0-9_-]{0,62}$' THEN
        PERFORM mailqueue.refuse('name', format('%s is not a name: lower-case letters, digits, - and _',
                                                coalesce(to_json(left(s.name, 100))::text, 'null')));
    ELSIF s.category !~ '^[a-z][a-z0-9_-]{0,62}$' THEN
        PERFORM mailqueue.refuse('category', format('%s is not a category: lower-case letters, digits, - and _',
                                                    to_json(left(s.category, 100))));
    ELSIF mailqueue.is_category_required(s.project_id, s.category) THEN
        PERFORM mailqueue.refuse('category', format('recipients cannot unsubscribe from %s: name another category',
                                                    to_json(s.category)));
    ELSIF s.reenroll NOT IN ('never', 'after_completion', 'after_end', 'restart') THEN
        PERFORM mailqueue.refuse('reenroll', format('never, after_completion, after_end or restart, got %s',
                                                    to_json(left(s.reenroll, 100))));
    END IF;
    PERFORM mailqueue.check_text('description', s.description, 500);
END $$;
COMMENT ON FUNCTION mailqueue.check_sequence(mailqueue.sequences) IS
    'Raise 22023 for a sequence with an invalid field, naming it.';

CREATE OR REPLACE FUNCTION mailqueue.sequence_settings(s mailqueue.sequences) RETURNS jsonb
LANGUAGE sql IMMUTABLE
AS $$
    SELECT jsonb_build_object('description', s.description, 'category', s.category, 'reenroll', s.reenroll)
$$;
COMMENT ON FUNCTION mailqueue.sequence_settings(mailqueue.sequences) IS
    'Settings of a sequence that hold for all its versions.';

-- Names of lists of steps whose values are null are left out, so that equal steps are equal.
CREATE OR REPLACE FUNCTION mailqueue.plain_steps(p_steps jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE
AS $$
    SELECT jsonb_agg(CASE jsonb_typeof(s.step) WHEN 'object' THEN jsonb_strip_nulls(s.step) ELSE s.step END
                     ORDER BY s.n)
      FROM jsonb_array_elements(CASE jsonb_typeof(p_steps) WHEN 'array' THEN p_steps ELSE '[]' END)
        WITH ORDINALITY AS s(step, n)
$$;
COMMENT ON FUNCTION mailqueue.plain_steps(jsonb) IS 'Steps without fields that are null.';

-- p_given has description, category, reenroll, steps and goal; those that are absent stay as they are, or have their
-- default. Steps and goal go to the draft, which begins as a copy of the published version.
CREATE OR REPLACE FUNCTION mailqueue.put_sequence(p_project uuid, p_name text, p_given jsonb, p_must_be_new boolean,
    p_by text DEFAULT session_user)
RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_max_sequences CONSTANT integer := 200;                 -- of a project
    c_max_versions CONSTANT integer := 1000;                 -- of a sequence
    v_old mailqueue.sequences;
    v_new mailqueue.sequences;
    v_draft mailqueue.sequence_versions;
    v_version integer;
    v_field text;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(false);
    IF jsonb_typeof(p_given) IS DISTINCT FROM 'object' THEN
        PERFORM mailqueue.refuse('sequence', 'an object of fields is needed');
    END IF;
    SELECT g.key INTO v_field FROM jsonb_each(p_given) AS g
     WHERE g.key NOT IN ('description', 'category', 'reenroll', 'steps', 'goal') LIMIT 1;
    IF v_field IS NOT NULL THEN
        PERFORM mailqueue.refuse(left(v_field, 100), 'a sequence has no such field');
    END IF;
    SELECT g.key INTO v_field FROM jsonb_each(p_given) AS g
     WHERE g.key IN ('description', 'category', 'reenroll') AND jsonb_typeof(g.value) NOT IN ('string', 'null') LIMIT 1;
    IF v_field IS NOT NULL THEN
        PERFORM mailqueue.refuse(v_field, 'a string is needed');
    END IF;
    -- Serialised: two concurrent inserts must not both be the last that is allowed, nor both be new.
    PERFORM mailqueue.lock_key('sequences ' || p_project);
    SELECT * INTO v_old FROM mailqueue.sequences AS s
     WHERE s.project_id = p_project AND s.name = p_name AND s.removed_at IS NULL;
    IF v_old.id IS NULL AND NOT p_must_be_new OR v_old.id IS NOT NULL AND p_must_be_new THEN
        RETURN NULL;
    END IF;
    v_new := jsonb_populate_record(v_old, p_given - '{steps,goal}'::text[]);
    v_new.project_id := p_project;
    v_new.name := p_name;
    v_new.category := coalesce(v_new.category, 'marketing');
    v_new.reenroll := coalesce(v_new.reenroll, 'never');
    PERFORM mailqueue.check_sequence(v_new);
    IF v_old.id IS NULL THEN
        IF (SELECT count(*) >= c_max_sequences FROM mailqueue.sequences AS s
             WHERE s.project_id = p_project AND s.removed_at IS NULL) THEN
            PERFORM mailqueue.refuse('name', format('a project may have %s sequences', c_max_sequences));
        END IF;
        INSERT INTO mailqueue.sequences (project_id, name, description, category, reenroll, created_by)
        VALUES (p_project, p_name, v_new.description, v_new.category, v_new.reenroll, p_by)
        RETURNING * INTO v_new;
    ELSIF mailqueue.sequence_settings(v_old) <> mailqueue.sequence_settings(v_new) THEN
        UPDATE mailqueue.sequences AS s
           SET description = v_new.description, category = v_new.category, reenroll = v_new.reenroll,
               updated_at = now()
         WHERE s.id = v_old.id;
    END IF;
    IF v_old.id IS NULL OR p_given ?| '{steps,goal}' THEN
        SELECT * INTO v_draft FROM mailqueue.sequence_versions AS v
         WHERE v.sequence_id = v_new.id ORDER BY v.version DESC LIMIT 1;
        v_version := CASE WHEN v_draft.version IS NULL THEN 1
                          WHEN v_draft.published_at IS NULL THEN v_draft.version ELSE v_draft.version + 1 END;
        IF v_version > c_max_versions THEN
            PERFORM mailqueue.refuse('steps', format('a sequence may have %s versions', c_max_versions));
        END IF;
        v_draft.steps := CASE WHEN p_given ? 'steps' THEN p_given -> 'steps' ELSE v_draft.steps END;
        v_draft.goal := CASE WHEN p_given ? 'goal' THEN p_given -> 'goal' ELSE v_draft.goal END;
        PERFORM mailqueue.check_sequence_steps(p_project, v_draft.steps, coalesce(v_draft.goal, 'null'));
        INSERT INTO mailqueue.sequence_versions AS v (sequence_id, version, project_id, steps, goal, created_by)
        VALUES (v_new.id, v_version, p_project, mailqueue.plain_steps(v_draft.steps),
                nullif(jsonb_strip_nulls(v_draft.goal), 'null'), p_by)
        ON CONFLICT (sequence_id, version) DO UPDATE
           SET steps = excluded.steps, goal = excluded.goal, created_by = excluded.created_by;
    END IF;
    PERFORM mailqueue.record_operation(p_project,
        CASE WHEN v_old.id IS NULL THEN 'sequence.added' ELSE 'sequence.changed' END, 'sequence ' || p_name,
        jsonb_strip_nulls(jsonb_build_object('draft', v_version, 'after', mailqueue.sequence_settings(v_new),
            'before', CASE WHEN v_old.id IS NOT NULL THEN mailqueue.sequence_settings(v_old) END)), p_by);
    RETURN v_new.id;
END $$;
COMMENT ON FUNCTION mailqueue.put_sequence(uuid, text, jsonb, boolean, text) IS
    'Add a sequence or change the given fields of one and return its id; NULL if it must be new and exists, or must '
    'exist and does not.';

CREATE OR REPLACE FUNCTION mailqueue.publish_sequence(p_project uuid, p_name text, p_by text DEFAULT session_user)
RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    s mailqueue.sequences;
    v mailqueue.sequence_versions;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(false);
    PERFORM mailqueue.lock_key('sequences ' || p_project);
    SELECT * INTO s FROM mailqueue.sequences AS o
     WHERE o.project_id = p_project AND o.name = p_name AND o.removed_at IS NULL;
    IF s.id IS NULL THEN
        RETURN NULL;
    END IF;
    SELECT * INTO v FROM mailqueue.sequence_versions AS o WHERE o.sequence_id = s.id AND o.published_at IS NULL;
    IF v.version IS NULL THEN
        RETURN s.published_version;
    END IF;
    PERFORM mailqueue.check_sequence_steps(p_project, v.steps, coalesce(v.goal, 'null'));
    UPDATE mailqueue.sequence_versions AS o SET published_at = now()
     WHERE o.sequence_id = s.id AND o.version = v.version;
    UPDATE mailqueue.sequences AS o SET published_version = v.version, updated_at = now() WHERE o.id = s.id;
    PERFORM mailqueue.record_operation(p_project, 'sequence.published', 'sequence ' || p_name,
                jsonb_build_object('version', v.version, 'steps', v.steps, 'goal', v.goal), p_by);
    RETURN v.version;
END $$;
COMMENT ON FUNCTION mailqueue.publish_sequence(uuid, text, text) IS
    'Publish the draft of a sequence, for contacts that are enrolled from now on; the published version, NULL if there '
    'is no such sequence.';

-- Workers hold what comes due while a sequence is paused, and release it after the pause: this writes one row.
CREATE OR REPLACE FUNCTION mailqueue.pause_sequence(p_project uuid, p_name text, p_is_paused boolean,
    p_by text DEFAULT session_user)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_is_paused boolean;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(false);
    SELECT s.paused_at IS NOT NULL INTO v_is_paused FROM mailqueue.sequences AS s
     WHERE s.project_id = p_project AND s.name = p_name AND s.removed_at IS NULL FOR NO KEY UPDATE;
    IF v_is_paused IS NULL THEN
        RETURN false;
    ELSIF v_is_paused <> p_is_paused THEN
        UPDATE mailqueue.sequences AS s SET paused_at = CASE WHEN p_is_paused THEN now() END, updated_at = now()
         WHERE s.project_id = p_project AND s.name = p_name AND s.removed_at IS NULL;
        PERFORM mailqueue.record_operation(p_project,
            CASE WHEN p_is_paused THEN 'sequence.paused' ELSE 'sequence.resumed' END, 'sequence ' || p_name, '{}',
            p_by);
    END IF;
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.pause_sequence(uuid, text, boolean, text) IS
    'Pause a sequence or resume it: no step is done while it is paused. False if there is no such sequence.';

CREATE OR REPLACE FUNCTION mailqueue.remove_sequence(p_project uuid, p_name text, p_by text DEFAULT session_user)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_id uuid;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(false);
    UPDATE mailqueue.sequences AS s SET removed_at = now(), updated_at = now()
     WHERE s.project_id = p_project AND s.name = p_name AND s.removed_at IS NULL RETURNING s.id INTO v_id;
    IF v_id IS NULL THEN
        RETURN false;
    END IF;
    PERFORM mailqueue.record_operation(p_project, 'sequence.removed', 'sequence ' || p_name, '{}', p_by);
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.remove_sequence(uuid, text, text) IS
    'Remove a sequence: its enrollments end before their next step, what they did stays recorded. False if there is '
    'none.';

-- By the name of the next step: an enrollment whose next step the new version does not have stays. Rows that a worker
-- has are left to a later call.
CREATE OR REPLACE FUNCTION mailqueue.move_enrollments(p_project uuid, p_name text, p_from integer, p_limit integer,
    p_by text DEFAULT session_user, OUT moved integer, OUT remaining integer)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET jit = off
AS $$
DECLARE
    s mailqueue.sequences;
    v mailqueue.sequence_versions;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(false);
    SELECT * INTO s FROM mailqueue.sequences AS o
     WHERE o.project_id = p_project AND o.name = p_name AND o.removed_at IS NULL;
    IF s.id IS NULL THEN
        RETURN;
    ELSIF s.published_version IS NULL THEN
        PERFORM mailqueue.refuse('sequence', format('%s has no published version', to_json(p_name)));
    ELSIF p_from IS NOT NULL
          AND NOT EXISTS (SELECT FROM mailqueue.sequence_versions AS o
                           WHERE o.sequence_id = s.id AND o.version = p_from AND o.published_at IS NOT NULL) THEN
        PERFORM mailqueue.refuse('from_version', format('there is no published version %s', p_from));
    END IF;
    SELECT * INTO v FROM mailqueue.sequence_versions AS o
     WHERE o.sequence_id = s.id AND o.version = s.published_version;
    WITH picked AS (
        SELECT e.id FROM mailqueue.sequence_enrollments AS e
         WHERE e.sequence_id = s.id AND e.version <> v.version AND e.version = coalesce(p_from, e.version)
           AND e.status IN ('pending', 'held') AND mailqueue.step_named(v.steps, e.step) IS NOT NULL
         ORDER BY e.id LIMIT p_limit FOR NO KEY UPDATE SKIP LOCKED
    ), written AS (
        -- Due anew by the step of the new version: never before it would have been without the steps before.
        UPDATE mailqueue.sequence_enrollments AS e
           SET version = v.version, (due_at, run_at) = (
               SELECT d.at, CASE WHEN e.status = 'held' THEN e.run_at ELSE d.at END
                 FROM mailqueue.step_due_at(mailqueue.step_named(v.steps, e.step), e.waiting_from, e.time_zone,
                                            e.has_waited) AS d(at))
          FROM picked AS p WHERE e.id = p.id RETURNING e.id
    )
    SELECT count(*) INTO moved FROM written;
    SELECT count(*) INTO remaining FROM mailqueue.sequence_enrollments AS e
     WHERE e.sequence_id = s.id AND e.version <> v.version AND e.version = coalesce(p_from, e.version)
       AND e.finished_at IS NULL;
    IF moved > 0 THEN
        PERFORM mailqueue.record_operation(p_project, 'sequence.enrollments_moved', 'sequence ' || p_name,
                    jsonb_build_object('version', v.version, 'from', p_from, 'enrollments', moved), p_by);
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.move_enrollments(uuid, text, integer, integer, text) IS
    'Move enrollments to the published version, those of one version or of all: how many were moved and how many '
    'remain on another; NULL if there is no such sequence.';
