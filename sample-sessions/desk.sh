#!/bin/sh
# Answers for the ticket desk and the mailing list of the sample release-notes: what became of the operation with this key?
# desk.sh LOG KEY, the question as JSON on standard input, the answer as JSON on standard output (README, "Reconciling").
log="$1.jsonl"
key="$2"
cat >/dev/null

if [ ! -r "$log" ]; then
    echo "there is no log $log here" >&2
    exit 3
fi
count=$(grep -cF "\"operation_key\":\"$key\"" "$log")
if [ "$count" -gt 0 ]; then
    printf '{"state":"reconciled","evidence":"%s has it, %s time(s)"}\n' "$log" "$count"
else
    printf '{"state":"reverted","evidence":"%s does not have it"}\n' "$log"
fi
