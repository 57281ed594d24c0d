import json, os, sys, time, urllib.request, uuid

URL, KEY = os.environ["SGW_URL"], os.environ["SGW_KEY"]


def call(method, path, body=None, headers={}):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json", **headers}
    request = urllib.request.Request(URL + path, data=data, headers=headers, method=method)
    with urllib.request.urlopen(request, timeout=30) as response:
        return json.load(response)


def ask(number, contact, question, seconds=600):
    """The contact's answer; None if none came in time."""
    cursor = call("GET", "/v1/events")["cursor"]  # taken before the question, so no answer is missed
    message = {"from": number, "to": contact, "body": question}
    message_id = call("POST", "/v1/sms/send", message, {"Idempotency-Key": str(uuid.uuid4())})["messageId"]
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        page = call("GET", f"/v1/events?after={cursor}")
        cursor = page["cursor"]
        for event in page["events"]:
            if event["type"] == "sms_inbound" and (event["from"], event["to"]) == (contact, number):
                return event["body"]
            if event.get("messageId") == message_id and event.get("status") == "failed":
                raise RuntimeError(event["error"])
        time.sleep(1)
    return None


if __name__ == "__main__":
    print(ask(*sys.argv[1:4]))
