// Phonemes are characters; the marks ˈ (primary) and ˌ (secondary stress) stand before the vowel they belong to.

export const PRIMARY = "ˈ";
export const SECONDARY = "ˌ";
const VOWELS = new Set("AIOQWYaiuæɑɒɔəɛɜɪʊʌᵻ");
const CONSONANTS = new Set("bdfhjklmnpstvwzðŋɡɹɾʃʒʤʧθ");
/** Sounds that take twice as long. */
const LONG = new Set("AIOQWYʤʧ");
const PAUSES = new Set(";:,.!?—…");

/** How strongly a word is stressed: -2 not at all, -1 and -0.5 at most weakly, 0 and 0.5 somewhat, 2 strongly. */
export type Stress = -2 | -1 | -0.5 | 0 | 0.5 | 2;

/** The phonemes of a word with its stress changed. Undefined stress changes nothing. */
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

/** How long the phonemes take, in short sounds. */
export function weight(phonemes: string): number {
  return Array.from(phonemes).reduce((sum, sound) => sum + (LONG.has(sound) ? 2 : 1), 0);
}

/** Whether the phonemes begin with a vowel: "pause" for a mark of one, undefined when there is no sound in them. */
export function beginning(phonemes: string): "vowel" | "consonant" | "pause" | undefined {
  for (const sound of phonemes) {
    if (PAUSES.has(sound)) return "pause";
    if (VOWELS.has(sound)) return "vowel";
    if (CONSONANTS.has(sound)) return "consonant";
  }
  return undefined;
}
