-- Templates, their versions and content.

-- name: add_template :value
-- Create a template; its id. A slug that exists raises 23505.
SELECT mailqueue.add_template(%(project_id)s, %(template)s::jsonb, %(by)s);

-- name: change_template :value
-- Change fields of a template; false if there is none.
SELECT mailqueue.change_template(%(id)s, %(changes)s::jsonb, %(by)s);

-- name: remove_template :value
-- Delete a template with its versions; false if there is none.
SELECT mailqueue.remove_template(%(id)s, %(by)s);

-- name: remove_templates :value
-- Delete templates with their versions; the number of those that were there.
SELECT count(*) FILTER (WHERE mailqueue.remove_template(t.id, %(by)s)) FROM unnest(%(ids)s::uuid[]) AS t (id);

-- name: add_template_version :maybe
-- Create a draft, the next version of a template; NULL if there is no template.
SELECT mailqueue.add_template_version(%(template_id)s, %(version)s::jsonb, %(by)s);

-- name: publish_template :value
-- Publish a version; false if there is none.
SELECT mailqueue.publish_template(%(version_id)s, %(sent)s::jsonb, %(by)s);

-- name: archive_template :value
-- Archive a version; false if there is none.
SELECT mailqueue.archive_template(%(version_id)s, %(by)s);

-- name: find_template :maybe
-- A template by its id, or by its slug; the project's own before the platform's.
SELECT t.id, t.project_id, t.slug, t.name, t.description, t.category, t.language, t.created_by, t.created_at,
       t.updated_at,
       (SELECT v.version FROM mailqueue.template_versions AS v
        WHERE v.template_id = t.id AND v.status = 'published') AS published,
       (SELECT max(v.version) FROM mailqueue.template_versions AS v
        WHERE v.template_id = t.id AND v.published_at IS NOT NULL
          AND v.version < (SELECT p.version FROM mailqueue.template_versions AS p
                           WHERE p.template_id = t.id AND p.status = 'published')) AS previous,
       (SELECT max(v.version) FROM mailqueue.template_versions AS v WHERE v.template_id = t.id) AS newest
FROM mailqueue.templates AS t
WHERE (t.project_id = %(project_id)s OR t.project_id IS NULL)
  AND (t.slug = %(slug)s::text OR t.id = %(id)s::uuid)
  AND t.deleted_at IS NULL
ORDER BY t.project_id NULLS LAST
LIMIT 1;

-- name: list_templates :many
-- A page of a project's templates, and those of the platform whose slug the project does not use, by slug.
SELECT t.id, t.project_id, t.slug, t.name, t.description, t.category, t.language, t.created_by, t.created_at,
       t.updated_at, p.version AS published,
       (SELECT max(v.version) FROM mailqueue.template_versions AS v
        WHERE v.template_id = t.id AND v.published_at IS NOT NULL AND v.version < p.version) AS previous,
       (SELECT max(v.version) FROM mailqueue.template_versions AS v WHERE v.template_id = t.id) AS newest
FROM mailqueue.templates AS t
LEFT JOIN mailqueue.template_versions AS p ON p.template_id = t.id AND p.status = 'published'
WHERE t.deleted_at IS NULL
  AND (t.project_id = %(project_id)s
       OR t.project_id IS NULL
          AND NOT EXISTS (SELECT FROM mailqueue.templates AS o
                          WHERE o.project_id = %(project_id)s AND o.slug = t.slug AND o.deleted_at IS NULL))
  AND (%(category)s::text IS NULL OR t.category = %(category)s)
  AND (%(status)s::text IS NULL
       OR EXISTS (SELECT FROM mailqueue.template_versions AS v WHERE v.template_id = t.id AND v.status = %(status)s))
  AND (%(q)s::text IS NULL OR position(lower(%(q)s) IN lower(concat_ws(' ', t.slug, t.name, t.description))) > 0)
  AND (%(after)s::text IS NULL OR t.slug > %(after)s)
ORDER BY t.slug
LIMIT %(limit)s;

-- name: list_template_versions :many
-- The versions of a template, newest first.
SELECT v.id, v.template_id, v.version, v.status, v.variables_schema, v.is_css_inlined, v.note, v.created_by,
       v.created_at, v.published_at,
       v.archived_at,
       ARRAY(SELECT x.language FROM mailqueue.template_texts AS x WHERE x.version_id = v.id
             ORDER BY x.language) AS languages
FROM mailqueue.template_versions AS v
WHERE v.template_id = %(template_id)s
  AND (%(before)s::integer IS NULL OR v.version < %(before)s)
ORDER BY v.version DESC
LIMIT %(limit)s;

-- name: find_template_version :maybe
-- One version of a template: by its number, by its id, or else the published one.
SELECT v.id, v.template_id, v.version, v.status, v.variables_schema, v.is_css_inlined, v.note, v.created_by,
       v.created_at, v.published_at,
       v.archived_at,
       ARRAY(SELECT x.language FROM mailqueue.template_texts AS x WHERE x.version_id = v.id
             ORDER BY x.language) AS languages
FROM mailqueue.template_versions AS v
WHERE v.template_id = %(template_id)s
  AND CASE WHEN %(number)s::integer IS NOT NULL THEN v.version = %(number)s
           WHEN %(id)s::uuid IS NOT NULL THEN v.id = %(id)s
           ELSE v.status = 'published' END;

-- name: find_noted_version :maybe
-- The number of the newest version of a template, or of those before one, whose note is one, or begins with one.
SELECT v.version
FROM mailqueue.template_versions AS v
WHERE v.template_id = %(template_id)s
  AND (v.note = %(note)s::text OR starts_with(v.note, %(begins)s::text))
  AND (%(before)s::integer IS NULL OR v.version < %(before)s::integer)
ORDER BY v.version DESC
LIMIT 1;

-- name: list_template_texts :many
-- The content of a version in each language.
SELECT x.language, x.subject, x.html_body, x.text_body, x.sent_html, x.parts, x.needs
FROM mailqueue.template_texts AS x
WHERE x.version_id = %(version_id)s
ORDER BY x.language;

-- name: read_version_sources :many
-- The content of these versions in these languages, as sent.
SELECT x.version_id, x.language, x.subject, coalesce(x.sent_html, x.html_body) AS html, x.text_body AS text, x.parts,
       v.variables_schema AS schema
FROM unnest(%(versions)s::uuid[], %(languages)s::text[]) AS w(version_id, language)
JOIN mailqueue.template_texts AS x ON x.version_id = w.version_id AND x.language = w.language
JOIN mailqueue.template_versions AS v ON v.id = x.version_id;

-- name: put_template_part :value
-- Create or replace a layout or partial; its id.
SELECT mailqueue.put_template_part(%(project_id)s, %(name)s, %(kind)s, %(source)s, %(by)s);

-- name: remove_template_part :value
-- Delete a layout or partial; false if there is none.
SELECT mailqueue.remove_template_part(%(project_id)s, %(name)s, %(by)s);

-- name: list_template_parts :many
-- The layouts and partials a project's templates may name, the project's own before the platform's of the same name.
SELECT DISTINCT ON (o.name) o.id, o.project_id, o.name, o.kind,
       CASE WHEN %(with_sources)s THEN o.source ELSE '' END AS source, o.updated_by, o.updated_at
FROM mailqueue.template_parts AS o
WHERE o.project_id = %(project_id)s OR o.project_id IS NULL
ORDER BY o.name, o.project_id NULLS LAST;

-- name: find_template_part :maybe
-- A layout or partial of a project, or of the platform.
SELECT o.id, o.project_id, o.name, o.kind, o.source, o.updated_by, o.updated_at
FROM mailqueue.template_parts AS o
WHERE o.id = %(id)s AND (o.project_id = %(project_id)s OR o.project_id IS NULL);

-- name: add_template_picture :value
-- Store a picture, or find the one with the same bytes; its id.
SELECT mailqueue.add_template_picture(%(project_id)s, %(name)s, %(media_type)s, %(width)s, %(height)s, %(octets)s,
                                      %(by)s);

-- name: remove_template_picture :value
-- Delete a picture; false if there is none.
SELECT mailqueue.remove_template_picture(%(project_id)s, %(id)s, %(by)s);

-- name: list_template_pictures :many
-- The pictures of a project, newest first, or one of them; with the domain of the project's links if DNS leads it here.
SELECT o.id, o.token, o.name, o.media_type, octet_length(o.octets) AS bytes, o.width, o.height,
       encode(o.sha256, 'hex') AS sha256, o.created_by, o.created_at,
       CASE WHEN p.tracking_checked_at IS NOT NULL THEN p.tracking_domain END AS domain
FROM mailqueue.template_pictures AS o
JOIN mailqueue.projects AS p ON p.id = o.project_id
WHERE o.project_id = %(project_id)s AND (%(id)s::uuid IS NULL OR o.id = %(id)s)
ORDER BY o.id DESC;

-- name: read_template_picture :maybe
-- The bytes of a picture of a project.
SELECT o.media_type, o.octets, encode(o.sha256, 'hex') AS sha256
FROM mailqueue.template_pictures AS o
WHERE o.project_id = %(project_id)s AND o.id = %(id)s;

-- name: read_public_picture :maybe
-- The bytes of the picture of a public URL.
SELECT o.media_type, o.octets, encode(o.sha256, 'hex') AS sha256
FROM mailqueue.template_pictures AS o
WHERE o.token = %(token)s;

-- name: list_templates_with_picture :many
-- Slugs of the templates of a project whose published or newest version has the token of a picture in its HTML, or in a
-- layout or partial that it uses.
SELECT t.slug
FROM mailqueue.templates AS t
WHERE t.project_id = %(project_id)s
  AND t.deleted_at IS NULL
  AND EXISTS (
      SELECT FROM mailqueue.template_versions AS v
      JOIN mailqueue.template_texts AS x ON x.version_id = v.id
      WHERE v.template_id = t.id
        AND (v.status = 'published'
             OR v.version = (SELECT max(n.version) FROM mailqueue.template_versions AS n WHERE n.template_id = t.id))
        AND (strpos(x.html_body, %(token)s) > 0 OR strpos(x.parts::text, %(token)s) > 0))
ORDER BY t.slug
LIMIT %(limit)s;
