#!/usr/bin/env bash
# Builds the fuzz targets for ClusterFuzzLite: each target, and a zip file of its corpus, in $OUT. The target
# `backend` is built and left out: it needs the variable DMLCTS_FUZZ_BACKEND, and ClusterFuzzLite sets none.
set -euo pipefail
cd "$SRC/dmlcts"

# The image names its own nightly toolchain.
export RUSTUP_TOOLCHAIN=${RUSTUP_TOOLCHAIN:-nightly}
cargo fuzz build -O --debug-assertions --target-dir fuzz/target
host=$(rustc -vV | sed -n 's/^host: //p')
for target in $(cargo fuzz list | grep -vx backend); do
    cp "fuzz/target/$host/release/$target" "$OUT/"
    python3 -m zipfile -c "$OUT/${target}_seed_corpus.zip" "fuzz/corpus/$target"/*
done
