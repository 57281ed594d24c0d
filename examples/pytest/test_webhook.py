import hashlib
import hmac
import json
import os
import threading
from wsgiref.simple_server import make_server

import pytest

received = []


def app(environ, start_response):
    """In your test, import your own instead: every Flask or Django app can be called like this."""
    body = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
    # After `advance`, the time is ahead: an app that checks it needs a larger tolerance in its tests.
    signed = environ["HTTP_X_GATEWAY_TIMESTAMP"].encode() + b"." + body
    expected = hmac.new(os.environ["WEBHOOK_SECRET"].encode(), signed, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(environ["HTTP_X_GATEWAY_SIGNATURE"], f"sha256={expected}"):
        start_response("401 Unauthorized", [])
        return []
    received.append(json.loads(body))
    start_response("204 No Content", [])
    return []


@pytest.fixture
def app_id(gateway, monkeypatch):
    server = make_server("127.0.0.1", 0, app)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    app_id = gateway.api("GET", "/v1/me")[1]["appId"]
    gateway.api("PUT", f"/v1/apps/{app_id}", {"webhookUrl": f"http://127.0.0.1:{server.server_port}/sms"})
    answer = gateway.api("POST", f"/v1/apps/{app_id}/rotate-webhook-secret")[1]
    monkeypatch.setenv("WEBHOOK_SECRET", answer["webhookSecret"])
    yield app_id
    gateway.api("PUT", f"/v1/apps/{app_id}", {"webhookUrl": None})
    server.shutdown()
    server.server_close()


def test_a_text_reaches_the_webhook(gateway, app_id):
    gateway.reply("+15555550175", "C")
    gateway.wait_for(lambda: ("+15555550175", "C") in [(event.get("from"), event.get("body")) for event in received])


def test_a_webhook_with_another_secret_is_refused(gateway, app_id, monkeypatch):
    monkeypatch.setenv("WEBHOOK_SECRET", "whsec_another")
    assert gateway.api("POST", f"/v1/apps/{app_id}/test-webhook")[1]["status"] == 401
