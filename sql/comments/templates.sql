-- Columns of tables and views of templates.

SELECT mailqueue.describe_columns('templates', ARRAY[
    ['id', 'Id of the template.'],
    ['project_id', 'Id of the project; NULL: a template of the platform, for projects without one of that slug.'],
    ['slug', 'Name by which emails refer to the template.'],
    ['name', 'Display name.'],
    ['description', 'Description, for people.'],
    ['category', 'Category of its emails.'],
    ['language', 'Default language: used where an email asks for none, or for one there is not.'],
    ['created_by', 'Author: API key, administrator or operating system user.'],
    ['created_at', 'Time at which the row was created.'],
    ['updated_at', 'Time of the last change.'],
    ['deleted_at', 'Time of deletion; NULL: in use. Mail accepted before is still rendered.']
]);

SELECT mailqueue.describe_columns('template_versions', ARRAY[
    ['id', 'Id of the version.'],
    ['template_id', 'Id of the template.'],
    ['version', 'Number of the version, from 1.'],
    ['status', 'draft, published or archived.'],
    ['variables_schema', 'JSON Schema of the variables; NULL: any that the source uses.'],
    ['is_css_inlined', 'Whether CSS is inlined on publishing.'],
    ['note', 'Reason, for people.'],
    ['created_by', 'Author: API key, administrator or operating system user.'],
    ['created_at', 'Time at which the row was created.'],
    ['published_at', 'Time at which it was last published; NULL: never.'],
    ['archived_at', 'Time at which it was archived; NULL: it is not.'],
    ['project_id', 'Project of the template; NULL: a template of the platform.']
]);

SELECT mailqueue.describe_columns('template_texts', ARRAY[
    ['version_id', 'Id of the template version.'],
    ['language', 'Language, such as en or de-AT.'],
    ['subject', 'Subject, as Jinja2 source.'],
    ['html_body', 'HTML body, as Jinja2 source; NULL: text only.'],
    ['text_body', 'Plain text body, as Jinja2 source; NULL: made from the HTML of each email.'],
    ['sent_html', 'HTML body with its CSS inlined, made on publishing; NULL: html_body is sent.'],
    ['parts', 'Layouts and partials that it uses, as they were when it was created.'],
    ['needs', 'Variables without which it cannot be rendered.'],
    ['project_id', 'Project of the template; NULL: a template of the platform.']
]);

SELECT mailqueue.describe_columns('template_parts', ARRAY[
    ['id', 'Id of the part.'],
    ['project_id', 'Id of the project; NULL: a part of the platform.'],
    ['name', 'Name, by which bodies extend or include the part.'],
    ['kind', 'layout or partial.'],
    ['source', 'Jinja2 source.'],
    ['updated_by', 'Author of the last change.'],
    ['updated_at', 'Time of the last change.']
]);

SELECT mailqueue.describe_columns('template_pictures', ARRAY[
    ['id', 'Id of the picture.'],
    ['project_id', 'Id of the project.'],
    ['token', 'Random part of the public URL, by which anyone may fetch the picture.'],
    ['name', 'File name, for people.'],
    ['media_type', 'image/png, image/jpeg, image/gif or image/webp, as its bytes say.'],
    ['width', 'Width in pixels.'],
    ['height', 'Height in pixels.'],
    ['sha256', 'SHA-256 of the bytes.'],
    ['octets', 'The bytes, at most 1 MiB.'],
    ['created_by', 'Author: API key, administrator, user of the console or operating system user.'],
    ['created_at', 'Time at which it was stored.']
]);
