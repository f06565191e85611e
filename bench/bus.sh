# The files of the Routing Protocol, handled by bash, jq, mv and find: the baseline that a hub is compared with.
set -eu
root=$1 verb=$2 messages=$3 agents=$4
send_message() {
	local from=$1 to=$2 inbox=$root/state/agents/$2/inbox
	mkdir -p "$inbox" "$root/state/agents/$from/.sequences"
	local count oldest id sequence counter=$root/state/agents/$from/.sequences/$to
	count=$(find "$inbox" -maxdepth 1 -name '*.json' -type f | wc -l)
	if ((count >= 100)); then
		oldest=$(find "$inbox" -maxdepth 1 -name '*.json' -type f -printf '%T@ %p\n' | sort -n | head -n 1 | cut -d' ' -f2-)
		rm -f "$oldest"
	fi
	sequence=$(($(cat "$counter" 2>/dev/null || echo 0) + 1))
	echo "$sequence" >"$counter"
	id=msg_$(od -An -N4 -tx1 /dev/urandom | tr -d ' \n')
	jq -n --arg id "$id" --arg from "$from" --arg to "$to" --arg now "$(date -u +%Y-%m-%dT%H:%M:%S.%3NZ)" --argjson sequence "$sequence" \
		'{version: "1.0.0", msg_id: $id, from: $from, to: $to, timestamp: $now, sequence: $sequence, type: "status-update",
		  payload: {status: "in_progress", progress: 0.5, message: "half done"}}' >"$inbox/$id.tmp"
	mv "$inbox/$id.tmp" "$inbox/$id.json"
}
receive_messages() {
	local file
	for file in "$root/state/agents/$1/inbox"/*.json; do
		[[ -e $file ]] || continue
		printf '%s %s\n' "$(jq -r .timestamp "$file")" "$file"
	done | sort | cut -d' ' -f2- | while read -r file; do
		jq -e .payload "$file" >/dev/null
		rm "$file"
	done
}
case $verb in
send) for ((n = 0; n < messages; n++)); do send_message "agent-$(((n + 1) % agents))" "agent-$((n % agents))"; done ;;
receive) for ((n = 0; n < agents && n < messages; n++)); do receive_messages "agent-$n"; done ;;
esac
