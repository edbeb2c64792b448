#!/bin/sh
# Installs svc for this user, or for all users when root runs it:
#   curl -fsSL {{releases}}/latest/download/install.sh | sh
#
#   SVC_VERSION=1.2.3   that version instead of the newest
#   SVC_SLIM=1          svc-slim, which downloads what is not text when that is wanted
#   SVC_FLAVOUR=vulkan  that for GPUs, or cuda, on Linux x64
#   SVC_PREFIX=DIR      where bin and share are; default: ~/.local, or /usr/local for root
#   SVC_RELEASES=URL    another place to download from
#   sh install.sh --uninstall   removes what this script installed; models and settings stay
#   curl -fsSL {{releases}}/latest/download/install.sh | sh -s -- --uninstall   the same
set -eu
# Others run what root installs, whatever root's umask is.
umask 022

releases=${SVC_RELEASES:-{{releases}}}
if [ "$(id -u)" = 0 ]; then default_prefix=/usr/local; else default_prefix=$HOME/.local; fi
prefix=${SVC_PREFIX:-$default_prefix}
part=""

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

# What is installed, below the prefix: the file in the archive, and where it goes.
files() {
  cat <<'END'
svc bin/svc
svc.1.gz share/man/man1/svc.1.gz
completions/svc.bash share/bash-completion/completions/svc
completions/_svc share/zsh/site-functions/_svc
completions/svc.fish share/fish/vendor_completions.d/svc.fish
END
}

uninstall() {
  found=$(files | while read -r _ to; do [ ! -e "$prefix/$to" ] || echo "$to"; done)
  [ -n "$found" ] || fail "no svc is installed in $prefix; set SVC_PREFIX if it is in another folder"
  files | while read -r _ to; do rm -f "$prefix/$to"; done
  echo "svc is removed from $prefix. Its models and settings stay: ~/.local/share/svc, ~/.config/svc, ~/.cache/svc."
}

platform() {
  case "$(uname -s)" in
    Linux) os=linux ;;
    Darwin) os=darwin ;;
    *) fail "there is no svc for $(uname -s)" ;;
  esac
  case "$(uname -m)" in
    x86_64 | amd64) arch=x64 ;;
    aarch64 | arm64) arch=arm64 ;;
    *) fail "there is no svc for $(uname -m)" ;;
  esac
  if [ "$os" = linux ]; then
    ! ldd --version 2>&1 | grep -qi musl || fail "svc needs glibc 2.35 or newer; this system has musl"
    glibc=$(getconf GNU_LIBC_VERSION 2>/dev/null) || glibc=""
    case "$glibc" in
      "glibc 2."[0-9] | "glibc 2."[0-9].* | "glibc 2."[12]?* | "glibc 2.3"[0-4]*)
        fail "svc needs glibc 2.35 or newer; this system has $glibc"
        ;;
    esac
  fi
  echo "$os-$arch${SVC_FLAVOUR:+-$SVC_FLAVOUR}"
}

download() {
  if command -v curl >/dev/null; then
    curl -fsSL --retry 3 -o "$2" "$1" || fail "$1 cannot be downloaded"
  elif command -v wget >/dev/null; then
    wget -q -O "$2" "$1" || fail "$1 cannot be downloaded"
  else
    fail "curl or wget is needed"
  fi
}

checksum() {
  if command -v sha256sum >/dev/null; then
    sha256sum "$1" | cut -d ' ' -f 1
  elif command -v shasum >/dev/null; then
    shasum -a 256 "$1" | cut -d ' ' -f 1
  else
    fail "sha256sum or shasum is needed"
  fi
}

install() {
  name=svc
  [ -z "${SVC_SLIM:-}" ] || name=svc-slim
  platform=$(platform)
  part=$(mktemp -d)
  trap 'rm -rf "$part"' EXIT
  if [ -n "${SVC_VERSION:-}" ]; then from=download/v$SVC_VERSION; else from=latest/download; fi
  download "$releases/$from/SHA256SUMS" "$part/SHA256SUMS"
  line=$(grep -E "^[0-9a-f]{64}  $name-[0-9][^ ]*-$platform\.tar\.xz\$" "$part/SHA256SUMS") ||
    fail "this release has no $name for $platform"
  wanted=${line%% *}
  file=${line##* }
  version=${file#"$name"-}
  version=${version%-"$platform".tar.xz}
  download "$releases/download/v$version/$file" "$part/$file"
  [ "$(checksum "$part/$file")" = "$wanted" ] || fail "$file arrived damaged; nothing was installed"
  tar -xJf "$part/$file" -C "$part" || fail "$file cannot be unpacked: tar needs xz (the package xz-utils or xz)"
  folder=$part/${file%.tar.xz}
  "$folder/svc" --version >/dev/null ||
    fail "svc $version does not run on this machine; nothing was installed. If permission was denied, programs cannot" \
      "run in $part (noexec): set TMPDIR to another folder"
  files | while read -r from to; do
    mkdir -p "$(dirname "$prefix/$to")"
    # Under another name first: a running svc keeps its file, and nobody meets a part.
    cp "$folder/$from" "$prefix/$to.new"
    mv -f "$prefix/$to.new" "$prefix/$to"
  done
  echo "$("$prefix/bin/svc" --version) is installed: $prefix/bin/svc"
  case ":$PATH:" in
    *":$prefix/bin:"*) ;;
    *) echo "Add it to your PATH: export PATH=\"$prefix/bin:\$PATH\"" ;;
  esac
}

case "${1:-}" in
  "") install ;;
  --uninstall) uninstall ;;
  *) fail "unknown argument; the only one is --uninstall" ;;
esac
