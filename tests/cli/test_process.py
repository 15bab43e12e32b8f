"""What a worker asks of its system before it begins."""

import subprocess
import sys

_ASKS = """
import resource
from mailqueue.process import open_many_files
_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (64, most))
open_many_files()
assert resource.getrlimit(resource.RLIMIT_NOFILE) == (most, most)
"""


def test_a_worker_may_have_as_many_connections_as_the_system_allows() -> None:
    asked = subprocess.run(
        [sys.executable, "-c", _ASKS], capture_output=True, text=True, timeout=60, check=False
    )
    assert asked.returncode == 0, asked.stderr
