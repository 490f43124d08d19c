#!/usr/bin/env python3
"""Writes the list of what is in the programs (SBOM) as CycloneDX 1.5 in JSON, to standard output.

    packaging/sbom.py [TARGET]      TARGET: the system that is built for; without it, this one

Needs cargo and Python 3.8 or newer, and the crates that are locked, fetched before (`cargo fetch --locked`); nothing is downloaded.
The same commit gives the same bytes: there is no time in it but SOURCE_DATE_EPOCH, and the serial number follows from the rest.

What is listed: the crates that the two programs are linked from (scope "required"), and those that only run while they are built, as
build scripts and macros do (scope "excluded"). What only tests use is not. Beside them SQLite, whose source a crate brings, and the
embedding model.
"""
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import urllib.parse
import uuid

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The package of both programs.
PACKAGE = "remembrancer"
# The crate that brings SQLite.
SQLITE_CRATE = "libsqlite3-sys"
MODEL = "all-MiniLM-L6-v2"


def cargo(*arguments):
    command = [os.environ.get("CARGO", "cargo"), *arguments, "--locked", "--offline"]
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def in_tree(target, edges):
    """The packages that are built for the programs, as (name, version), by edges of these kinds."""
    lines = cargo("tree", "--package", PACKAGE, "--target", target, "--edges", edges, "--prefix", "none", "--format", "{p}")
    found = re.findall(r"^(\S+) v(\S+)", lines, re.MULTILINE)
    return set(found)


def locked():
    """The SHA-256 of each package of the lock file that comes from a registry, by (name, version)."""
    sums = {}
    for package in (ROOT / "Cargo.lock").read_text().split("[[package]]\n")[1:]:
        value = dict(re.findall(r'^(\w+) = "(.*)"$', package, re.MULTILINE))
        sums[value["name"], value["version"]] = value.get("checksum")
    return sums


def licences(package):
    if package.get("license"):
        # Old manifests part what may be chosen by a slash.
        return [{"expression": re.sub(r"\s*/\s*", " OR ", package["license"])}]
    return [{"license": {"name": package.get("license_file") or "unknown"}}]


def component(package, checksum, scope):
    name, version = package["name"], package["version"]
    found = {
        "type": "library",
        "bom-ref": f"{name}@{version}",
        "name": name,
        "version": version,
        "scope": scope,
        "licenses": licences(package),
    }
    if checksum:
        found["hashes"] = [{"alg": "SHA-256", "content": checksum}]
        found["purl"] = f"pkg:cargo/{name}@{urllib.parse.quote(version)}"
    if package.get("repository"):
        found["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    return found


def sqlite(package):
    header = pathlib.Path(package["manifest_path"]).parent / "sqlite3" / "sqlite3.h"
    version = re.search(r'^#define SQLITE_VERSION\s+"([\d.]+)"', header.read_text(), re.MULTILINE).group(1)
    return {
        "type": "library",
        "bom-ref": f"sqlite@{version}",
        "name": "sqlite",
        "version": version,
        "scope": "required",
        "licenses": [{"license": {"name": "public domain"}}],
        "cpe": f"cpe:2.3:a:sqlite:sqlite:{version}:*:*:*:*:*:*:*",
        "purl": f"pkg:generic/sqlite@{version}",
    }


def model():
    sums = (ROOT / "processor/model/SHA256SUMS").read_text().split("\n")
    weights = next(line.split() for line in sums if line.endswith("  weights.safetensors"))
    return {
        "type": "machine-learning-model",
        "bom-ref": MODEL,
        "name": MODEL,
        "scope": "required",
        "licenses": [{"license": {"id": "Apache-2.0"}}],
        "hashes": [{"alg": "SHA-256", "content": weights[0]}],
    }


def main():
    host = re.search(r"^host: (.*)$", subprocess.check_output(["rustc", "-vV"], text=True), re.MULTILINE).group(1)
    target = sys.argv[1] if len(sys.argv) > 1 else host
    built, linked = in_tree(target, "normal,build"), in_tree(target, "normal,no-proc-macro")
    metadata = json.loads(cargo("metadata", "--format-version", "1", "--filter-platform", target))
    sums = locked()
    packages = {package["id"]: package for package in metadata["packages"]}
    key = {identity: (package["name"], package["version"]) for identity, package in packages.items()}

    components, dependencies, root = [], [], None
    for node in metadata["resolve"]["nodes"]:
        package = packages[node["id"]]
        this = key[node["id"]]
        if this not in built:
            continue
        found = component(package, sums[this], "required" if this in linked else "excluded")
        needs = {
            "@".join(key[edge["pkg"]])
            for edge in node["deps"]
            if key[edge["pkg"]] in built and any(kind["kind"] != "dev" for kind in edge["dep_kinds"])
        }
        if package["name"] == SQLITE_CRATE:
            part = sqlite(package)
            components.append(part)
            needs.add(part["bom-ref"])
        if package["name"] == PACKAGE:
            found.update(type="application", purl=f"pkg:generic/{PACKAGE}@{package['version']}")
            del found["scope"]
            needs.add(MODEL)
            root = found
        else:
            components.append(found)
        dependencies.append({"ref": found["bom-ref"], "dependsOn": sorted(needs)})
    components.append(model())

    about = {"component": root, "properties": [{"name": "remembrancer:target", "value": target}]}
    if os.environ.get("SOURCE_DATE_EPOCH"):
        moment = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
        about["timestamp"] = moment.strftime("%Y-%m-%dT%H:%M:%SZ")
    bom = {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": about,
        "components": sorted(components, key=lambda one: one["bom-ref"]),
        "dependencies": sorted(dependencies, key=lambda one: one["ref"]),
    }
    bom["serialNumber"] = f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, json.dumps(bom, sort_keys=True))}"
    json.dump(bom, sys.stdout, indent=1, sort_keys=True, ensure_ascii=False)
    print()


main()
