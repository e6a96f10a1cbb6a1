# SPDX-License-Identifier: Apache-2.0
"""What the streaming benchmark of MLPerf Tiny hears, computed apart from the firmware: the features as
the benchmark's training defines them, in double precision with NumPy's FFT, and the scores of LiteRT's
reference kernels for the last 30 of them; and audio to try it with."""
import wave

import numpy as np

RATE, FRAME, WINDOW, BANDS, FRAMES = 16000, 512, 1024, 40, 30


def mel_weights():
    """[513, 40]: triangles between 42 edges that are equally far apart in mel; nothing of frequency 0."""
    def mel(hertz):
        return 1127.0 * np.log1p(hertz / 700.0)

    edges = np.linspace(0.0, mel(RATE / 2), BANDS + 2)
    place = mel(np.linspace(0.0, RATE / 2, WINDOW // 2 + 1))[:, None]
    low, middle, high = edges[:-2], edges[1:-1], edges[2:]
    weights = np.maximum(0.0, np.minimum((place - low) / (middle - low), (high - place) / (high - middle)))
    weights[0] = 0.0
    return weights


def features(samples):
    """[frames, 40], each 0 to 1, of int16 samples; the first window is half in the silence before."""
    count = len(samples) // FRAME
    audio = np.concatenate([np.zeros(FRAME + 1), samples[:count * FRAME] / 32768.0])
    audio = audio[1:] - (1 - 2 ** -5) * audio[:-1]
    frames = np.stack([audio[at * FRAME:at * FRAME + WINDOW] for at in range(count)])
    window = 0.54 - 0.46 * np.cos(2 * np.pi * np.arange(WINDOW) / (WINDOW - 1))
    power = np.abs(np.fft.rfft(frames * window)) ** 2 / WINDOW
    bands = np.maximum(power @ mel_weights(), 1e-30)
    return np.clip((10 * np.log10(bands) + 52) / 64, 0, 1)


def quantised(values, scale, zero):
    """Towards zero, as the benchmark's own firmware and its training do."""
    return np.clip(np.trunc(values / scale + zero), -128, 127).astype(np.int8)


def scores(layers, frames):
    """[frames, 3] int8: what LiteRT makes of each frame and the 29 before; zeros before the first."""
    shape = layers.inputs[0]["shape"]
    past = np.concatenate([np.zeros((FRAMES - 1, BANDS), np.int8), frames])
    found = []
    for i in range(len(frames)):
        layers.run([past[i:i + FRAMES].reshape(shape)])
        found.append(layers.model_outputs()[0].reshape(-1).copy())
    return np.array(found)


# Of "Marvin", the benchmark's word: seconds, loudness and three formants of each of its sounds.
MARVIN = [(0.08, 0.35, (250, 1100, 2200)), (0.16, 1.0, (730, 1090, 2440)), (0.09, 0.8, (490, 1350, 1690)),
          (0.06, 0.3, (220, 1100, 2080)), (0.11, 0.8, (390, 1990, 2550)), (0.10, 0.35, (250, 1700, 2600))]


def say(sounds, pitch=(180, 95), faster=0.75, higher=1.05):
    """Harmonics of a gliding pitch, as loud as formants that glide from sound to sound let them be."""
    ends = np.cumsum([0.0] + [seconds * faster for seconds, _, _ in sounds])
    middles, count = (ends[1:] + ends[:-1]) / 2, int(ends[-1] * RATE)
    t = np.arange(count) / RATE
    loud = np.interp(t, np.r_[0, middles, ends[-1]], np.r_[0, [s[1] for s in sounds], 0])
    formants = [higher * np.interp(t, middles, [s[2][i] for s in sounds]) for i in range(3)]
    pitch = np.linspace(*pitch, count)
    out = np.zeros(count)
    for k in range(1, 45):
        near = sum(part / (1 + ((pitch * k - formant) / width) ** 2)
                   for formant, part, width in zip(formants, (1, 0.7, 0.4), (100, 150, 200)))
        out += near * np.sin(2 * np.pi * k * np.cumsum(pitch) / RATE) * (pitch * k < 7500)
    return loud * out / np.abs(loud * out).max()


SECONDS = 4


def audio():
    """(int16 samples, begin and end of the word in them, twice, in seconds): the word at 0.3 and at 2.7, it
    backwards at 1.7, silence at 1.2 and a loud noise at 1.4, over a soft one."""
    rng = np.random.default_rng(1)
    out, windows = rng.normal(0, 20, SECONDS * RATE), []
    for begin, sound in ((0.3, say(MARVIN) * 4500), (2.7, say(MARVIN, (172, 90), 0.74, 1.06) * 5500),
                         (1.7, say(MARVIN[::-1], (120, 180)) * 9000), (1.4, rng.normal(0, 20000, RATE // 8))):
        at = int(begin * RATE)
        out[at:at + len(sound)] += sound
        if begin in (0.3, 2.7):
            windows.append([begin, begin + len(sound) / RATE])
    out[RATE * 6 // 5:RATE * 13 // 10] = 0
    return np.clip(out, -32768, 32767).astype("<i2"), windows


def read_wave(path):
    """int16 samples of the first channel."""
    with wave.open(str(path)) as file:
        if (file.getframerate(), file.getsampwidth()) != (RATE, 2):
            raise ValueError(f"{path} has not {RATE} samples a second of 16 bits")
        data = np.frombuffer(file.readframes(file.getnframes()), "<i2")
        return data.reshape(-1, file.getnchannels())[:, 0]


def write_wave(path, samples):
    """Two channels, as the interface board plays them."""
    with wave.open(str(path), "wb") as file:
        file.setparams((2, 2, RATE, 0, "NONE", ""))
        file.writeframes(np.repeat(samples.astype("<i2"), 2).tobytes())
