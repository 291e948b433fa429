#!/bin/sh
# Builds replio, installs the plugin `security-review` for this checkout, and
# lists what there is then. Can be run again: what changed is updated.
set -eu
cd "$(dirname "$0")/.."

cargo build --release --quiet -p replio
replio() {
    cargo run --release --quiet -p replio -- "$@"
}

replio plugins install example-plugins/security-review ||
    replio plugins update security-review --from example-plugins/security-review

for noun in type skill team; do
    printf '\n$ replio %s list\n' "$noun"
    replio "$noun" list
done
printf '\nreplio itself is in %s/release; `replio --help` goes on from here.\n' "${CARGO_TARGET_DIR:-target}"
