# For bash and zsh: `. examples/api.sh` in the repository's folder, with a sandbox running. Node is all it needs.
#
#   api METHOD PATH [NAME=TEXT …] [NAME:=JSON …] ['HEADER: VALUE' …] [.FIELD]
#                                         calls the API and prints `data` of the answer, or one field of it: `.order_id`,
#                                         `.vendor_key.key`, `.offers.0.offer_id`; PATH stands below /api/v1
#   field FIELD                           the same of the JSON at its input
#   wait_for PATH FIELD VALUE [SECONDS]   asks until the field has the value, at most 60 seconds, and prints it
#   sign transfer|refund|send-out ORDER   signs with the partner's wallet: sign.ts
#   wallet new|sign|fund                  a vendor's wallet: wallet.ts
#
# $BASE is the sandbox's address; $KEY, $OPERATOR_KEY and $VENDOR_KEY are its keys. `api` takes the operator's for /operator,
# the vendor's for /vendor, and the partner's for everything else.

CAUSEWAY_EXAMPLES="$PWD/examples"
eval "$(node "$CAUSEWAY_EXAMPLES/api.mjs" env)"

api() {
  node "$CAUSEWAY_EXAMPLES/api.mjs" call "$@"
}

field() {
  node "$CAUSEWAY_EXAMPLES/api.mjs" field "$@"
}

wait_for() {
  node "$CAUSEWAY_EXAMPLES/api.mjs" wait "$@"
}

# TypeScript with the SDK, on the Node that came with `npm ci`; `npx node examples/sign.ts` is the same.
sign() {
  "$CAUSEWAY_EXAMPLES/../node_modules/.bin/node" "$CAUSEWAY_EXAMPLES/sign.ts" "$@"
}

wallet() {
  "$CAUSEWAY_EXAMPLES/../node_modules/.bin/node" "$CAUSEWAY_EXAMPLES/wallet.ts" "$@"
}
