# The beginning of the script that a page becomes (_run.ts).
set -euo pipefail

# A refused request ends the script, as other errors do.
curl() {
  case " $*" in
    *" -f"* | *" -sf"* | *" -fs"*) command curl "$@" ;;
    *) command curl --fail-with-body "$@" ;;
  esac
}

# Waits until the list at a path has an element that a filter of jq finds: arrives PATH HEADER [FILTER]
arrives() {
  until curl -s "$AGENT/$1" -H "$2" | jq -e "${3:-.contents} | length > 0" >/dev/null; do sleep 0.1; done
}

# Stops servers of the page, and the daemons of its profiles.
end() {
  kill $(jobs -p) 2>/dev/null || true
  for file in "$AGENT_CONFIG_DIR"/profiles/*.json; do
    if [ -e "$file" ] && grep -q '"pid"' "$file"; then agent daemon stop --profile "$(basename "$file" .json)" || true; fi
  done >/dev/null 2>&1
}
trap end EXIT
