# pip install websockets; SGW_URL=http://127.0.0.1:3000 SGW_KEY=sgw_… python3 follow.py
# The WebSocket delivers immediately, and the event log fills the gap after each reconnect.
import asyncio, json, os, urllib.request
from pathlib import Path
import websockets

URL, KEY, CURSOR = os.environ["SGW_URL"], os.environ["SGW_KEY"], Path("cursor")


def heard(event):
    print(event["type"], event.get("messageId"), event.get("status") or event.get("body"), flush=True)


def catch_up():
    while True:
        cursor = CURSOR.read_text() if CURSOR.exists() else ""
        request = urllib.request.Request(f"{URL}/v1/events?after={cursor}", headers={"Authorization": f"Bearer {KEY}"})
        page = json.load(urllib.request.urlopen(request, timeout=30))
        for event in page["events"]:
            heard(event)
        CURSOR.write_text(page["cursor"])
        if not page["events"]:
            return


async def follow():
    async with websockets.connect(URL.replace("http", "ws", 1) + "/ws") as socket:
        await socket.send(json.dumps({"type": "auth", "apiKey": KEY}))
        async for frame in socket:
            event = json.loads(frame)
            if event["type"] == "auth_ok":
                catch_up()
            elif event["type"] == "auth_error":
                # Ten wrong keys in a minute block this machine for 15 minutes, so do not try again.
                raise SystemExit(f"The gateway refuses the key: {event['error']}")
            elif event["type"] == "cursor":
                CURSOR.write_text(event["cursor"])
            elif event["type"] != "ping":
                heard(event)


while True:
    try:
        asyncio.run(follow())
    except (OSError, websockets.exceptions.WebSocketException) as error:
        print("The connection broke:", error, flush=True)
    asyncio.run(asyncio.sleep(5))
