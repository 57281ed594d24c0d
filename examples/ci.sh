#!/bin/sh
# A test run in CI: starts a gateway with a simulated provider, tests against it, and stops it. Run it in a checkout.
set -eu
DATA=$(mktemp -d)
export PORT=3999 DATABASE_URL=file:$DATA/sgw.db
bun run start --test > "$DATA/sgw.log" 2>&1 &
for _ in $(seq 150); do curl -sf http://127.0.0.1:3999/health && break; sleep 0.2; done
KEY=$(cat "$DATA/development-api-key")

# Your tests run here. This one sends a message, and looks at the phone.
curl -sf http://127.0.0.1:3999/v1/sms/send -H "Authorization: Bearer $KEY" \
  -d '{"from":"+15555550100","to":"+15555550199","body":"Your code is 4711"}'
for _ in $(seq 150); do CONTROL=$(grep -o 'http://[^ ]*/control' "$DATA/sgw.log") && break; sleep 0.2; done
for _ in $(seq 150); do curl -sf "$CONTROL/messages?direction=Outbound" > "$DATA/phone.json"; grep -q 4711 "$DATA/phone.json" && break; sleep 0.2; done
grep -q '"text":"Your code is 4711"' "$DATA/phone.json"

# The patient answers, and the gateway has stored it.
bun run sgw simulate inbound --to +15555550100 --from +15555550199 --text C
curl -sf "http://127.0.0.1:3999/v1/sms/messages?direction=inbound" -H "Authorization: Bearer $KEY" | grep -q '"body":"C"'

bun run sgw stop
rm -r "$DATA"
