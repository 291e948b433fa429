#!/bin/sh
# Builds replio, installs the plugin `security-review` for this checkout, and
# lists what there is then. Can be run again: what changed is updated.
set -eu
cd "$(dirname "$0")/.."

cargo build --release --quiet -p replio
replio() {
    cargo run --release --quiet -p replio -- "$@"
}

if replio plugins show security-review --local >/dev/null 2>&1; then
    replio plugins update security-review --local --from example-plugins/security-review
else
    replio plugins install example-plugins/security-review
fi

for noun in type skill team; do
    printf '\n$ replio %s list\n' "$noun"
    replio "$noun" list
done
printf '\nreplio itself is in %s/release; `replio --help` goes on from here.\n' "${CARGO_TARGET_DIR:-target}"
