import time


def send(gateway, to, body, **more):
    status, answer = gateway.api("POST", "/v1/sms/send", {"from": gateway.number, "to": to, "body": body, **more})
    assert status == 202, answer
    return answer["messageId"]


def status_of(gateway, message):
    return gateway.api("GET", f"/v1/sms/status/{message}")[1]["status"]


def test_a_patient_confirms(gateway):
    patient = "+15555550171"
    send(gateway, patient, "Your appointment is tomorrow. Answer C to confirm.")
    assert gateway.wait_for(lambda: gateway.inbox(patient)) == ["Your appointment is tomorrow. Answer C to confirm."]
    gateway.reply(patient, "C")
    _, answer = gateway.api("GET", f"/v1/sms/messages?direction=inbound&from=%2B{patient[1:]}")
    assert [message["body"] for message in answer["messages"]] == ["C"]


def test_a_refused_text_fails(gateway):
    gateway.control("simulate", {"situation": "fail", "times": 1})
    message = send(gateway, "+15555550172", "This one is refused.")
    gateway.wait_for(lambda: status_of(gateway, message) == "failed")
    assert gateway.inbox("+15555550172") == []


def test_a_reminder_goes_out_at_its_time(gateway):
    patient = "+15555550173"
    tomorrow = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 86_400))
    message = send(gateway, patient, "See you in an hour.", sendAt=tomorrow)
    assert status_of(gateway, message) == "queued"
    gateway.advance("25h")
    gateway.wait_for(lambda: gateway.inbox(patient))
