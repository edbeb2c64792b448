#!/bin/sh
# Makes sound-decoder.wasm again. It is kept in the repository, so that svc is built without Rust.
# Needs a nightly Rust with the sources of its library (`rustup component add rust-src --toolchain nightly`): built anew
# without the texts of panics, which nobody would see, the file is a third smaller.
set -e
cd "$(dirname "$0")"
export RUSTFLAGS="-Zunstable-options -Cpanic=immediate-abort -Clink-arg=--max-memory=268435456"
cargo +nightly build --release --locked --target wasm32-unknown-unknown -Zbuild-std=std,panic_abort
cp target/wasm32-unknown-unknown/release/sound_decoder.wasm sound-decoder.wasm
