import pytest

from tests.servers import postgres


def test_without_a_server_a_test_is_skipped_and_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "binaries", lambda: None)
    with pytest.raises(pytest.skip.Exception, match="sudo apt install postgresql"), postgres.running():
        pass
