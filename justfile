# List the commands.
default:
    @just --list

# Start everything on an embedded PostgreSQL: API, workers, mail trap.
start *arguments:
    ./scripts/start {{ arguments }}

# Run the command line: `just mailqueue status`.
mailqueue *arguments:
    ./scripts/mailqueue {{ arguments }}

# Check format, lint, types, migrations and the project's rules.
check:
    ./scripts/check

# Run the tests; arguments go to pytest.
test *arguments:
    ./scripts/test {{ arguments }}

# Build the documentation site into build/site, or serve it: `just docs serve`.
docs *arguments:
    ./scripts/docs {{ arguments }}

# Format the Python code and sort its imports.
format:
    .venv/bin/ruff check --fix --select I .
    .venv/bin/ruff format .

# Run a chaos scenario: `just chaos kills-resend --mails 10000`.
chaos *arguments:
    ./scripts/chaos {{ arguments }}

# Count what work costs PostgreSQL, beside its bounds; `just cost --write` makes the figures the bounds.
cost *arguments:
    .venv/bin/python -m tests.cost {{ arguments }}

# Run what continuous integration runs.
ci:
    ./.ci/run
