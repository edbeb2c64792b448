"""Reads a JSON list of texts; prints the original's result for each: phonemes, or the error that ended it."""

import json
import sys

from hibari.g2p import G2P
from hibari.g2p.normalize import normalize
from hibari.tts import Hibari


def read(g2p, text):
    try:
        return {
            "normalized": normalize(text),
            "phonemes": g2p(text),
            "sentences": Hibari.split_sentences(text),
        }
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


g2p = G2P()
json.dump([read(g2p, text) for text in json.load(sys.stdin)], sys.stdout)
