#!/bin/sh
# Lays out what the tarball holds: install.sh, and beside it what goes below /usr or ~/.local.
#
#   packaging/stage.sh BINARIES LICENCES SBOM TREE
#
# BINARIES: the folder with both programs, which are run to write their own manual and completions
# LICENCES: the licences of what is linked into them, as one text
# SBOM:     the list of what is in them, as packaging/sbom.py writes it
# TREE:     where it goes; what was there is removed
#
# Each a whole path, or one from the repository.
set -eu
cd "$(dirname "$0")/.."
binaries=$1 licences=$2 sbom=$3 tree=$4

# put MODE SOURCE... FOLDER
put() {
    mode=$1
    shift
    for folder; do :; done
    mkdir -p "$folder"
    while [ $# -gt 1 ]; do
        cp "$1" "$folder/"
        chmod "$mode" "$folder/${1##*/}"
        shift
    done
}

umask 022
rm -rf "$tree"
put 755 "$binaries/remembrancer" "$binaries/remembrancer-hook" "$tree/bin"
put 755 packaging/install.sh "$tree"

pages=$tree/share/man
put 644 packaging/man/*.1 "$pages/man1"
"$tree/bin/remembrancer" man-pages "$pages/man1"
mkdir -p "$pages/man5"
mv "$pages"/man1/*.5 "$pages/man5/"

# completions SHELL FOLDER FILE
completions() {
    mkdir -p "$tree/share/$2"
    "$tree/bin/remembrancer" completions "$1" > "$tree/share/$2/$3"
}
completions bash bash-completion/completions remembrancer
completions zsh zsh/site-functions _remembrancer
completions fish fish/vendor_completions.d remembrancer.fish

documents=$tree/share/doc/remembrancer
put 644 README.md CHANGELOG.md ARCHITECTURE.md CONTRIBUTING.md LICENSE-MIT LICENSE-APACHE "$documents"
put 644 docs/*.md "$documents/docs"
put 644 docs/images/* "$documents/docs/images"
put 644 docs/adr/*.md "$documents/docs/adr"
put 644 hooks/README.md hooks/PROTOCOL.md "$documents/hooks"
put 644 packaging/README.md "$documents/packaging"
cp "$licences" "$documents/THIRD-PARTY-LICENSES.txt"
cp "$sbom" "$documents/remembrancer.cdx.json"
chmod 644 "$documents/remembrancer.cdx.json"
cp processor/model/LICENSE "$documents/LICENSE-MODEL"
put 644 daemon/src/config/default.toml packaging/systemd/remembrancer.service.d/read-only-home.conf \
    packaging/systemd/remembrancer.service.d/instruction-files.conf packaging/systemd/remembrancer.service.d/namespaces.conf \
    packaging/systemd/remembrancer.service.d/share.conf \
    "$documents/examples"
chmod 644 "$documents"/*LICENSE*
