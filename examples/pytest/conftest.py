"""A gateway for tests, with a simulated provider: no RingCentral account, no limits, and time can move."""

import json
import os
import re
import shlex
import subprocess
import time
import urllib.error
import urllib.request

import pytest

SGW = shlex.split(os.environ.get("SGW", "sgw"))


class Gateway:
    def __init__(self, folder):
        self.environment = {**os.environ, "PORT": "0", "DATABASE_URL": f"file:{folder}/sgw.db", "NO_COLOR": "1"}
        self.log = folder / "sgw.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen([*SGW, "start", "--test"], env=self.environment, stdout=log, stderr=log)
        self.control_url = self.printed(r"Simulator +(\S+)")
        self.url = self.printed(r"sgw listens on +(\S+)")
        self.key = self.printed(r"API key +(\S+)")
        self.number = self.printed(r"Your numbers +(\+\d+)")

    def printed(self, pattern):
        def found():
            assert self.process.poll() is None, self.log.read_text()
            return re.search(pattern, self.log.read_text())

        return self.wait_for(found, 60)[1]

    def api(self, method, path, body=None):
        """Calls the API. Returns the status and the answer."""
        return call(method, self.url + path, body, {"Authorization": f"Bearer {self.key}"})

    def control(self, name, argument=None):
        """Calls the control interface of the simulated provider."""
        status, answer = call("POST", f"{self.control_url}/{name}", {} if argument is None else argument)
        assert status == 200, answer
        return answer

    def inbox(self, number):
        """The texts that a phone has received, oldest first."""
        sent = self.control("messages", {"direction": "Outbound"})
        return [message["text"] for message in sent if number in message["to"]]

    def reply(self, number, text):
        """A phone texts the gateway. Returns when the gateway has stored it."""
        return self.control("injectSms", {"from": number, "to": self.number, "text": text})

    def advance(self, duration):
        """Moves the time forward, such as by 24h."""
        subprocess.run([*SGW, "simulate", "advance", duration], env=self.environment, check=True, capture_output=True)

    def wait_for(self, check, seconds=20):
        """Returns what `check` returns, once that is neither None nor empty."""
        end = time.monotonic() + seconds
        while True:
            found = check()
            if found:
                return found
            assert time.monotonic() < end, f"nothing came within {seconds} s"
            time.sleep(0.02)

    def stop(self):
        # A signal would end only npx, if SGW begins with it.
        with subprocess.Popen([*SGW, "stop"], env=self.environment, stdout=subprocess.DEVNULL):
            assert self.process.wait(timeout=20) == 0


def call(method, url, body=None, headers=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json", **(headers or {})}
    request = urllib.request.Request(url, data=data, method=method, headers=headers)
    # Without a proxy: the gateway is on this machine.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=30) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


@pytest.fixture(scope="session")
def running_gateway(tmp_path_factory):
    gateway = Gateway(tmp_path_factory.mktemp("sgw"))
    yield gateway
    gateway.stop()


@pytest.fixture
def gateway(running_gateway):
    yield running_gateway
    running_gateway.control("reset")
