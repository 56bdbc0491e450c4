#!/usr/bin/env bash
# The main job by commands alone: DIDs, a schema, a connection, credentials (JWT and SD-JWT), proofs, a policy, declined offers,
# revocation, and invitations without a connection. Needs only bash and the agent.
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

step 'Create DIDs: the issuer publishes its DID, the DID of the holder needs no publication'
issuer=$(acme did create --publish --wait --quiet)
holder=$(alice did create --auth-curve Ed25519 --quiet)
echo "issuer $issuer"
echo "holder $holder"

step 'Publish a schema'
cat >"$folder/employee.json" <<'JSON'
{
  "$id": "https://acme.example/schemas/employee",
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "description": "An employee of acme",
  "type": "object",
  "properties": { "name": { "type": "string" }, "level": { "type": "integer" } },
  "required": ["name"],
  "additionalProperties": false
}
JSON
schema=$(acme schema publish --name employee --author "$issuer" --schema "@$folder/employee.json" --quiet)
acme schema show "$schema"

step 'Connect'
invitation=$(acme connection invite --label alice --goal 'Your employee credential')
alice accept "$invitation" --yes
connection=$(newest acme connection list)
await ConnectionResponseSent acme connection show "$connection"

step 'Issue a credential (JWT) that fits the schema'
offered=$(acme credential offer --connection "$connection" --issuing-did "$issuer" --schema "$schema" \
  --claim name=Alice --claim level:=7 --validity 365d --wait=OfferSent --quiet)
held=$(newest alice credential list)
alice credential accept "$held" --subject "$holder" --quiet
await RequestReceived acme credential show "$offered"
acme credential issue "$offered" --wait --quiet
await CredentialReceived alice credential show "$held"
alice credential show "$held"

step 'Prove it, under a policy that names the schema and the issuer'
policy=$(acme policy create --name employees --schema "$schema" --trust-issuer "$issuer" --quiet)
asked=$(acme proof request --connection "$connection" --policy "$policy" --wait=RequestSent --quiet)
alice proof present "$(newest alice proof list)" --wait --quiet
await PresentationVerified acme proof show "$asked"
acme proof accept "$asked"

step 'Issue an SD-JWT, bound to a key of the holder, and show one claim of it'
acme credential offer --connection "$connection" --issuing-did "$issuer" --format sdjwt --auto \
  --claim name=Alice --claim birthday=2000-01-01 --wait=OfferSent --quiet
private=$(newest alice credential list)
alice credential accept "$private" --subject "$holder" --key-id auth-1 --wait --quiet
asked=$(acme proof request --connection "$connection" --trust-issuer "$issuer" --format sdjwt --claim name --wait=RequestSent --quiet)
alice proof present "$(newest alice proof list)" --credential "$private" --wait --quiet
await PresentationVerified acme proof show "$asked"
acme proof show "$asked"

step 'Send a message over the connection'
acme message send 'See you at ten' --connection "$connection" --quiet
await 'See you at ten' alice message list
alice message list

step 'Decline an offer, and a request'
declined=$(acme credential offer --connection "$connection" --issuing-did "$issuer" --claim name=Bob --wait=OfferSent --quiet)
alice credential reject "$(newest alice credential list)" --wait --quiet
await 'declined' acme credential show "$declined"
acme proof request --connection "$connection" --trust-issuer "$issuer" --wait=RequestSent --quiet
alice proof reject "$(newest alice proof list)"

step 'Offer and request by an invitation, without a connection'
acme credential offer --invitation --goal 'Your badge' --issuing-did "$issuer" --claim badge:=42 --auto >"$folder/offer"
badge=$(alice accept - --did "$holder" --yes --quiet <"$folder/offer")
acme proof request --invitation --trust-issuer "$issuer" --goal 'Your badge, please' >"$folder/request"
alice accept - --credential "$badge" --yes --quiet <"$folder/request"
await PresentationVerified acme proof show "$(newest acme proof list)"

step 'Verify a credential of any issuer'
alice credential export "$held" | acme credential verify - --issuer "$issuer"

step 'Revoke: the next proof is invalid'
acme credential revoke "$offered" --yes --quiet
asked=$(acme proof request --connection "$connection" --schema "$schema" --trust-issuer "$issuer" --wait=RequestSent --quiet)
alice proof present "$(newest alice proof list)" --credential "$held" --quiet
await PresentationVerificationFailed acme proof show "$asked"
# A failed verification has exit code 8.
acme proof show "$asked" || [ $? -eq 8 ]
if alice credential export "$held" | acme credential verify - --quiet; then exit 1; fi

step 'Done'
