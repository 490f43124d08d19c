#!/bin/sh
# Makes the Debian package of a tree that packaging/stage.sh has laid out. Needs cargo-deb; builds nothing.
#
#   packaging/deb.sh TREE FOLDER [OPTION...]      FOLDER: where the package goes; OPTION: passed on to cargo-deb
#
# What differs from the tarball: there is no install.sh, and the units lie where systemd looks for those of every user.
set -eu
tree=$(cd "$1" && pwd) folder=$(cd "$2" && pwd)
shift 2
cd "$(dirname "$0")/.."

umask 022
root=target/package/deb
rm -rf "$root"
mkdir -p "$root/usr/lib/systemd/user"
cp -R "$tree/bin" "$tree/share" "$root/usr/"
# The licences of the project itself stand in Debian's own file, and the changelog under Debian's own name.
rm "$root/usr/share/doc/remembrancer"/LICENSE-*
for unit in packaging/systemd/*.*; do
    [ -f "$unit" ] || continue
    sed -e '/^# User unit: /d' -e 's|%h/\.local/bin/|/usr/bin/|' "$unit" > "$root/usr/lib/systemd/user/${unit##*/}"
done

cargo deb --package remembrancer --locked --offline --no-build --no-strip --output "$folder" "$@"
