#!/usr/bin/env bash
# Makes the certificates of this folder anew, by OpenSSL 3: see README.md. The keys of the authorities are thrown away.
set -euo pipefail
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/config" <<'CONFIG'
[ca]
default_ca = authority
[authority]
default_md = sha256
policy = any
rand_serial = yes
database = $ENV::WORK/database
new_certs_dir = $ENV::WORK
[any]
commonName = supplied
[of_authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign
subjectKeyIdentifier = hash
[of_server]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectAltName = $ENV::NAMES
CONFIG
: >"$work/database"
echo "unique_subject = no" >"$work/database.attr"
export WORK=$work NAMES=DNS:unused

# key FILE: a key, below a line that says what it is worth to whoever finds it.
key() {
  echo "Remembrancer tests only; trusted by nothing" >"$1"
  openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 >>"$1"
}

# authority FILE KEY: a certificate of its own, for longer than anybody looks at it.
authority() {
  key "$2"
  openssl req -new -key "$2" -subj "/CN=Remembrancer tests, ${1%.pem}" -out "$work/request"
  openssl ca -batch -notext -config "$work/config" -extensions of_authority -selfsign -keyfile "$2" -in "$work/request" \
    -startdate 20200101000000Z -enddate 22000101000000Z -out "$1"
}

# server FILE NAMES LAST_DAY: one for the key of the server, by the first authority.
server() {
  openssl req -new -key server.key -subj "/CN=Remembrancer tests, ${1%.pem}" -out "$work/request"
  NAMES=$2 openssl ca -batch -notext -config "$work/config" -extensions of_server -cert ca.pem -keyfile "$work/ca.key" \
    -in "$work/request" -startdate 20200101000000Z -enddate "$3" -out "$1"
}

authority ca.pem "$work/ca.key"
authority other-ca.pem "$work/other.key"
key server.key
server server.pem "DNS:localhost,IP:127.0.0.1" 22000101000000Z
server elsewhere.pem "DNS:db.example.org" 22000101000000Z
server expired.pem "DNS:localhost,IP:127.0.0.1" 20210101000000Z
