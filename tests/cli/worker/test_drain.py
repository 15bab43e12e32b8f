"""`mailqueue worker drain` and `mailqueue worker resume`."""

from tests import make
from tests.cli.support.invoked import Cli


def test_a_worker_and_a_host_are_drained_and_resumed(on_fresh_db: Cli) -> None:
    worker = on_fresh_db.sql(make.worker)

    assert on_fresh_db("worker", "drain", str(worker)).stdout == f"draining worker {worker}\n"
    [listed] = on_fresh_db.json("status")["workers"]
    assert listed["status"] == "draining"
    assert on_fresh_db("worker", "drain", str(worker)).exit_code == 1
    assert on_fresh_db.json("worker", "resume", "--host", "test") == {"workers": [worker]}
    assert on_fresh_db("worker", "resume").exit_code == 2
    assert on_fresh_db("worker", "resume", "1", "--host", "test").exit_code == 2
