#!/usr/bin/env bash
# Tenants and the enterprise features by commands alone: a tenant authenticates with its key, an organisation requests a
# DID from a person, who later signs in with it. Needs only bash and the agent.
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

step 'Create a tenant: a wallet, an entity and a key, which only the file contains'
acme tenant create bank --key-file "$folder/bank.key"
bank() { agent "$@" --profile acme --api-key-file "$folder/bank.key"; }
bank did create --quiet
bank connection list
acme wallet list

step 'Onboard: the bank requests a DID, alice creates one for the bank alone'
request=$(bank onboard create --from 'The Bank')
id=$(newest bank onboard list)
did=$(alice accept "$request" --yes --quiet)
bank onboard show "$id" --wait

step 'Another person declines: exit code 5'
request=$(bank onboard create --from 'The Bank')
declined=$(newest bank onboard list)
alice onboard reject "$request" --quiet
if bank onboard show "$declined" --wait; then exit 1; fi
bank onboard remove "$declined" --yes --quiet

step 'Authenticate: the bank sends a challenge, alice signs it with that DID'
challenge=$(bank signin create --from 'The Bank' --did "$did")
id=$(newest bank signin list)
alice accept "$challenge" --did "$did" --yes --quiet
bank signin show "$id" --wait
token=$(bank signin token "$id" --quiet)
echo "a session's token: ${token:0:20}…"
# A challenge is answered once.
if alice accept "$challenge" --did "$did" --yes --quiet; then exit 1; fi
bank signin remove "$id" --yes --quiet

step 'Done'
