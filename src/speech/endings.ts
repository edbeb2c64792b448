// Adds the sounds of -s, -ed and -ing to a word's phonemes, in American English.

/** Vowels after which a t becomes a flap: "waiting". */
const BEFORE_FLAP = "AIOWYiuæɑəɛɪɹʊʌ";

export function withS(stem: string): string {
  if (/[ptkfθ]$/u.test(stem)) return `${stem}s`;
  return /[szʃʒʧʤ]$/u.test(stem) ? `${stem}ᵻz` : `${stem}z`;
}

export function withEd(stem: string): string {
  if (/[pkfθʃsʧ]$/u.test(stem)) return `${stem}t`;
  if (stem.endsWith("d")) return `${stem}ᵻd`;
  if (!stem.endsWith("t")) return `${stem}d`;
  if (stem.length < 2) return `${stem}ɪd`;
  return isFlapped(stem) ? `${stem.slice(0, -1)}ɾᵻd` : `${stem}ᵻd`;
}

export function withIng(stem: string): string {
  return isFlapped(stem) ? `${stem.slice(0, -1)}ɾɪŋ` : `${stem}ɪŋ`;
}

const isFlapped = (stem: string): boolean =>
  stem.length > 1 && stem.endsWith("t") && BEFORE_FLAP.includes(stem.charAt(stem.length - 2));
