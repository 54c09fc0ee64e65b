// Sounds, spoken. The synthesizer in the folder klattsch (MIT, unchanged) takes phonemes, so that one hears what the model says;
// a browser's own voice would read the spelling, and be right where the model is wrong. Fetched when somebody wants to listen.

import { compileString } from "./klattsch/sequencer.js";
import { FormantSynth } from "./klattsch/synth-core.js";

const BETWEEN = " , "; // the synthesizer's sign for a short pause

/**
 * Words as a wave.
 *
 * words: for each word its sounds, as in the dictionary: [["N", "AY", "T", "S"]]. Gives { samples, unknown }: a Float32Array of
 * numbers between -1 and 1, and what the synthesizer says that it does not know.
 */
export function waveform(words, sample_rate) {
  const { schedule, totalMs, warnings } = compileString(words.map((sounds) => sounds.join(" ")).join(BETWEEN));
  const samples = new Float32Array(Math.ceil((totalMs * sample_rate) / 1000));
  new FormantSynth({ sampleRate: sample_rate, schedule }).process(samples);
  return { samples, unknown: warnings };
}

let audio; // one for the page: browsers allow few
let playing = null;

/** Play words, in place of those that still play. */
export async function speak(words) {
  audio ??= new AudioContext();
  await audio.resume();
  const { samples } = waveform(words, audio.sampleRate);
  const buffer = audio.createBuffer(1, samples.length, audio.sampleRate);
  buffer.copyToChannel(samples, 0);
  playing?.stop();
  playing = new AudioBufferSourceNode(audio, { buffer });
  playing.connect(audio.destination);
  playing.start();
}
