from __future__ import annotations

import pytest

pytest.importorskip("distributed")
from piforest.engines.dask import cluster


class Reconnecting:
    """A client that is connecting again when it is closed."""

    closed = False

    def wait_for_workers(self, number, timeout):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.closed = True
        raise RuntimeError("ConnectionPool is closed")


def test_closing_a_client_that_connects_again_hides_no_error(monkeypatch):
    client = Reconnecting()
    monkeypatch.setattr(cluster, "_client", lambda *_: client)
    with pytest.raises(OSError, match="the scheduler is gone"), cluster.connect("tcp://a:1"):
        raise OSError("the scheduler is gone")
    assert client.closed
    with cluster.connect("tcp://a:1") as found:
        assert found is client
