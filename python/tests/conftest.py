"""What servers keep for their next start goes into the test's folder."""

import pytest


@pytest.fixture(autouse=True)
def state_of_servers(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
