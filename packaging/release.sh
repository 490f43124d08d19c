#!/bin/sh
# Builds a release for the machine that it runs on: a tarball, on Linux a Debian package as well, the list of what is in
# them, and their checksums. Needs Python 3 for that list.
#
#   packaging/release.sh FOLDER [TOOLS]      FOLDER: where they go; TOOLS: where cargo-about and cargo-deb are kept
#
# The same commit is to give the same bytes, in whatever folder it is built, by the same versions of Rust and of the C compiler.
set -eu
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
root=$(pwd -P)
tools=${2:-$root/target/package/tools}

fail() {
    printf 'error: %s\n' "$1" >&2
    exit 1
}

host=$(rustc -vV | sed -n 's/^host: //p')
cargo install cargo-about --version 0.9.3 --features cli --locked --root "$tools"
case $host in
    *-linux-*) cargo install cargo-deb --version 3.8.0 --locked --root "$tools" ;;
esac
PATH=$tools/bin:$PATH

# Build. No path of this machine, and no time but the commit's, goes into the programs.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
cargo_home=$(cd "${CARGO_HOME:-$HOME/.cargo}" && pwd -P)
library=$(rustc --print sysroot)/lib/rustlib/src/rust=/rustc/$(rustc -vV | sed -n 's/^commit-hash: //p')
remapped=$(printf -- '--remap-path-prefix=%s\037' "$root=/remembrancer" "$cargo_home=/cargo" "$library")
CARGO_ENCODED_RUSTFLAGS=${remapped%?} \
    CFLAGS="-ffile-prefix-map=$root=/remembrancer -ffile-prefix-map=$cargo_home=/cargo" \
    cargo build --profile dist --locked --package remembrancer --target-dir "$root/target"
programs=target/dist
for path in "$root/" "$cargo_home/"; do
    if grep -aqF "$path" "$programs/remembrancer" "$programs/remembrancer-hook"; then
        fail "$path stands in the programs"
    fi
done

# Licences. Every system's crates are looked at, so they are fetched first.
cargo fetch --locked
licences=target/package/THIRD-PARTY-LICENSES.txt
mkdir -p target/package
cargo about generate --offline --locked --fail --manifest-path daemon/Cargo.toml \
    --config packaging/licences/about.toml --output-file "$licences" packaging/licences/licences.hbs

# The list of what is in the programs.
sbom=target/package/remembrancer.cdx.json
packaging/sbom.py "$host" > "$sbom"

# Packages.
version=$("$programs/remembrancer" --version | sed 's/.* //')
name=remembrancer-$version-$host
tree=$root/target/package/$name
packaging/stage.sh "$programs" "$licences" "$sbom" "$tree"
"$tree/bin/remembrancer" try --samples > /dev/null
# GNU's tar goes by that name where another is the system's own.
tar=$(command -v gtar || command -v tar)
"$tar" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --format=ustar \
    -C target/package -cf - "$name" | gzip -9n > "$out/$name.tar.gz"
cp "$sbom" "$out/$name.cdx.json"
case $host in
    *-linux-*) packaging/deb.sh "$tree" "$out" ;;
esac

# Checksums.
cd "$out"
sums=$(command -v sha256sum || echo "shasum -a 256")
$sums remembrancer[-_]* > SHA256SUMS
cat SHA256SUMS
