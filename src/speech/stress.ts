// Stress in phonemes: each phoneme is a character; the marks ˈ (primary) and ˌ (secondary) precede the stressed vowel.

export const PRIMARY = "ˈ";
export const SECONDARY = "ˌ";
const VOWELS = new Set("AIOQWYaiuæɑɒɔəɛɜɪʊʌᵻ");
const CONSONANTS = new Set("bdfhjklmnpstvwzðŋɡɹɾʃʒʤʧθ");
/** Sounds that take twice as long. */
const LONG = new Set("AIOQWYʤʧ");
const PAUSES = new Set(";:,.!?—…");

/** Stress of a word: -2 none, -1 and -0.5 at most weak, 0 and 0.5 moderate, 2 strong. */
export type Stress = -2 | -1 | -0.5 | 0 | 0.5 | 2;

/** Changes the stress of a word's phonemes; undefined changes nothing. */
export function applyStress(phonemes: string, stress: Stress | undefined): string {
  if (stress === undefined) return phonemes;
  const hasPrimary = phonemes.includes(PRIMARY);
  const hasSecondary = phonemes.includes(SECONDARY);
  if (stress === -2) return phonemes.replaceAll(PRIMARY, "").replaceAll(SECONDARY, "");
  if (stress === -1 || (stress <= 0 && hasPrimary)) {
    return phonemes.replaceAll(SECONDARY, "").replaceAll(PRIMARY, SECONDARY);
  }
  if (hasPrimary) return phonemes;
  if (hasSecondary) return stress === 2 ? phonemes.replaceAll(SECONDARY, PRIMARY) : phonemes;
  if (stress < 0) return phonemes;
  const vowel = Array.from(phonemes).findIndex((sound) => VOWELS.has(sound));
  if (vowel < 0) return phonemes;
  return phonemes.slice(0, vowel) + (stress === 2 ? PRIMARY : SECONDARY) + phonemes.slice(vowel);
}

/** Returns the duration of the phonemes, in short sounds. */
export function weight(phonemes: string): number {
  return Array.from(phonemes).reduce((sum, sound) => sum + (LONG.has(sound) ? 2 : 1), 0);
}

/** Returns the first sound: a vowel, a consonant, or "pause" for such a mark; undefined when there is no sound. */
export function beginning(phonemes: string): "vowel" | "consonant" | "pause" | undefined {
  for (const sound of phonemes) {
    if (PAUSES.has(sound)) return "pause";
    if (VOWELS.has(sound)) return "vowel";
    if (CONSONANTS.has(sound)) return "consonant";
  }
  return undefined;
}
