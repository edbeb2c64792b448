// The languages of speech recognition and their codes, as in Whisper's vocabulary.

import { fieldError } from "./errors.ts";
import { wordTable } from "./word-table.ts";

const NAMES = wordTable(`
  af afrikaans, am amharic, ar arabic, as assamese, az azerbaijani, ba bashkir, be belarusian, bg bulgarian,
  bn bengali, bo tibetan, br breton, bs bosnian, ca catalan, cs czech, cy welsh, da danish, de german, el greek,
  en english, es spanish, et estonian, eu basque, fa persian, fi finnish, fo faroese, fr french, gl galician,
  gu gujarati, ha hausa, haw hawaiian, he hebrew, hi hindi, hr croatian, ht haitian creole, hu hungarian, hy armenian,
  id indonesian, is icelandic, it italian, ja japanese, jw javanese, ka georgian, kk kazakh, km khmer, kn kannada,
  ko korean, la latin, lb luxembourgish, ln lingala, lo lao, lt lithuanian, lv latvian, mg malagasy, mi maori,
  mk macedonian, ml malayalam, mn mongolian, mr marathi, ms malay, mt maltese, my myanmar, ne nepali, nl dutch,
  nn nynorsk, no norwegian, oc occitan, pa punjabi, pl polish, ps pashto, pt portuguese, ro romanian, ru russian,
  sa sanskrit, sd sindhi, si sinhala, sk slovak, sl slovenian, sn shona, so somali, sq albanian, sr serbian,
  su sundanese, sv swedish, sw swahili, ta tamil, te telugu, tg tajik, th thai, tk turkmen, tl tagalog, tr turkish,
  tt tatar, uk ukrainian, ur urdu, uz uzbek, vi vietnamese, yi yiddish, yo yoruba, yue cantonese, zh chinese
`);

/** The codes in NAMES for language tags with another spelling: newer, older or narrower ones. */
const OTHER_CODES = wordTable("nb no, jv jw, fil tl, iw he, in id, ji yi, cmn zh");

const CODES = new Map(Object.entries(NAMES).map(([code, name]) => [name, code]));

/**
 * Returns the code for a language tag (`de`, `de-AT`, `pt_BR`) or an English name (`german`); undefined for an unknown
 * language.
 */
function languageCode(name: string): string | undefined {
  const wanted = name.trim().toLowerCase();
  const [tag = ""] = wanted.split(/[-_]/, 1);
  const code = OTHER_CODES[tag] ?? tag;
  return Object.hasOwn(NAMES, code) ? code : CODES.get(wanted);
}

/** Returns the English name of a language in lower case, or the code if its name is unknown. */
export const languageName = (code: string): string => NAMES[code] ?? code;

/**
 * Returns the code of the language that a request field names; undefined if it must be detected. Throws SvcError
 * `invalid_value` for an unknown language.
 */
export function spokenLanguage(name: string | null | undefined, param: string): string | undefined {
  if (!name || name === "auto") return undefined;
  const code = languageCode(name);
  if (code !== undefined) return code;
  const rule = "must be a language that speech is recognised in, as en, pt-BR or german";
  throw fieldError("invalid_value", param, `${rule}; got a string of length ${name.length}`);
}
