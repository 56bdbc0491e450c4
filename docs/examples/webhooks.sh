#!/usr/bin/env bash
# Events by commands alone: a webhook receives every state change, its deliveries are listed, and events are redelivered.
# Needs bash, the agent, and Node.js for a receiver of twelve lines.
set -euo pipefail

# Two daemons in a temporary folder, which is deleted at the end. Your own daemon and settings are not affected.
# AGENT is the command that runs the program: AGENT="node bin/agent.cjs" docs/examples/….sh
read -ra program <<<"${AGENT:-agent}"
agent() { command "${program[@]}" "$@"; }
acme() { agent "$@" --profile acme; }
alice() { agent "$@" --profile alice; }

folder=$(mktemp -d)
unset AGENT_URL AGENT_API_KEY AGENT_ADMIN_KEY AGENT_PROFILE AGENT_DATA_DIR
export AGENT_CONFIG_DIR="$folder/config" VDR_URL="sqlite:$folder/ledger.db"
clean_up() {
  acme daemon stop >/dev/null 2>&1 || true
  alice daemon stop >/dev/null 2>&1 || true
  rm -rf "$folder"
}
trap clean_up EXIT

step() { printf '\n== %s\n' "$*"; }
# The id of the newest record in a list.
newest() { "$@" --limit 1 --quiet; }
# Waits until a record contains a text. Use this for changes by the other side; commands that change a record have --wait.
await() {
  local wanted=$1
  shift
  local said=''
  for _ in $(seq 100); do
    said=$("$@" 2>/dev/null || true)
    if [[ $said == *"$wanted"* ]]; then return; fi
    sleep 0.2
  done
  printf 'Waited in vain for %s: %s\n%s\n' "$wanted" "$*" "$said" >&2
  return 1
}

step 'Start two daemons, which share only a ledger'
acme daemon start --data-dir "$folder/acme" --port 0 --didcomm-port 0
alice daemon start --data-dir "$folder/alice" --port 0 --didcomm-port 0

step 'Start a receiver, which stores the events in a file'
node -e '
  const { createServer } = require("node:http")
  const { appendFileSync, writeFileSync } = require("node:fs")
  const folder = process.argv[1]
  const server = createServer((request, response) => {
    let body = ""
    request.on("data", (chunk) => (body += chunk)).on("end", () => {
      appendFileSync(`${folder}/received`, `${body}\n`)
      response.writeHead(200).end()
    })
  })
  server.listen(0, "127.0.0.1", () => writeFileSync(`${folder}/port`, String(server.address().port)))
' "$folder" &
receiver=$!
trap 'kill "$receiver"; clean_up' EXIT
until [ -s "$folder/port" ]; do sleep 0.1; done

step 'Register it as a webhook, and send it a test event'
webhook=$(acme webhook add "http://127.0.0.1:$(cat "$folder/port")/events" --quiet)
acme webhook test "$webhook"

step 'Connect: the receiver gets an event for every state'
alice accept "$(acme connection invite --label alice)" --yes --quiet
await ConnectionResponseSent cat "$folder/received"
acme event list
await ConnectionUpdated acme webhook deliveries "$webhook"

step 'Replay the events: the ids stay the same'
before=$(wc -l <"$folder/received")
count=$(acme event list --quiet | wc -l)
acme webhook replay "$webhook" --since 1h
until [ "$(wc -l <"$folder/received")" -ge $((before + count)) ]; do sleep 0.1; done
acme webhook deliveries "$webhook"
newest=$(acme event list --quiet | head -n 1)
grep -c "$newest" "$folder/received"

step 'Remove the webhook'
acme webhook remove "$webhook" --yes --quiet
acme webhook list

step 'Done'
