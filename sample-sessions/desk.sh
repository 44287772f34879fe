#!/bin/sh
# Answers for the ticket desk and the mailing list of the sample release-notes: what became of the operation with this key?
# desk.sh LOG KEY, the question as JSON on standard input, the answer as JSON on standard output (README, "Reconciling").
log="$1.jsonl"
key="$2"
cat >/dev/null

# A key that JSON would write otherwise could not be found, and what is not found is not "not there".
case "$key" in
'' | *[!A-Za-z0-9._:@+-]*)
    echo "the desk has no keys like that" >&2
    exit 2
    ;;
esac
count=$(grep -cF "\"operation_key\":\"$key\"" "$log")
case $? in
0) printf '{"state":"reconciled","evidence":"%s has it, %s time(s)"}\n' "$log" "$count" ;;
1) printf '{"state":"reverted","evidence":"%s does not have it"}\n' "$log" ;;
*) exit 3 ;;
esac
