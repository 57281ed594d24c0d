# SGW_WEBHOOK_SECRET=whsec_… python3 webhook.py
# In Flask the bytes are request.get_data(), in Django request.body, in FastAPI await request.body().
import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

SECRET = os.environ["SGW_WEBHOOK_SECRET"]


def is_from_gateway(headers, body: bytes) -> bool:
    timestamp = headers.get("X-Gateway-Timestamp", "")
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > 300:
        return False
    signed = timestamp.encode() + b"." + body
    expected = "sha256=" + hmac.new(SECRET.encode(), signed, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), headers.get("X-Gateway-Signature", "").encode())


class Webhook(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not is_from_gateway(self.headers, body):
            return self.send_error(401)
        event = json.loads(body)
        if event["type"] == "sms_inbound":
            print("sms_inbound", event["from"], event["body"], flush=True)
        else:
            print(event, flush=True)
        self.send_response(204)
        self.end_headers()


HTTPServer(("127.0.0.1", int(os.environ.get("PORT", 8080))), Webhook).serve_forever()
