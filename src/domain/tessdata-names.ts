// Maps language tags to the names of Tesseract's trained data.

import { own } from "./own.ts";
import { wordTable } from "./word-table.ts";

/** By ISO 639-1 code. Languages that are not listed have the same three letters in both, or no trained data. */
const NAMES = wordTable(`
  af afr, am amh, ar ara, as asm, az aze, be bel, bg bul, bn ben, bo bod, br bre, bs bos, ca cat, co cos, cs ces,
  cy cym, da dan, de deu, dv div, dz dzo, el ell, en eng, eo epo, es spa, et est, eu eus, fa fas, fi fin, fo fao,
  fr fra, fy fry, ga gle, gd gla, gl glg, gu guj, he heb, hi hin, hr hrv, ht hat, hu hun, hy hye, id ind, is isl,
  it ita, iu iku, ja jpn, jv jav, ka kat, kk kaz, km khm, kn kan, ko kor, ky kir, la lat, lb ltz, lo lao, lt lit,
  lv lav, mi mri, mk mkd, ml mal, mn mon, mr mar, ms msa, mt mlt, my mya, nb nor, ne nep, nl nld, nn nor, no nor,
  oc oci, or ori, pa pan, pl pol, ps pus, pt por, qu que, ro ron, ru rus, sa san, sd snd, si sin, sk slk, sl slv,
  sq sqi, sr srp, su sun, sv swe, sw swa, ta tam, te tel, tg tgk, th tha, ti tir, tl tgl, to ton, tr tur, tt tat,
  ug uig, uk ukr, ur urd, uz uzb, vi vie, yi yid, yo yor, zh chi_sim
`);

/** Tags whose script, or a region that implies it, decides the name. The script precedes the region in a tag. */
const WRITTEN = wordTable(`
  zh-hans chi_sim, zh-hant chi_tra, zh-tw chi_tra, zh-hk chi_tra, zh-mo chi_tra, sr-latn srp_latn, az-cyrl aze_cyrl,
  uz-cyrl uzb_cyrl
`);

/** Tags for kinds of Chinese, with the subtags that they imply: Mandarin, and Cantonese as written in Hong Kong. */
const CHINESE: ReadonlyMap<string, readonly string[]> = new Map([
  ["cmn", []],
  ["yue", ["hk"]],
]);

/** A name of trained data: eng, chi_sim_vert, Latin. */
const DATA_NAME = /^[A-Za-z]+(_[A-Za-z]+)*$/;

/**
 * Returns the name of the trained data for a language tag (`de-AT`, `zh-Hant-TW`) or for such a name itself; undefined
 * for anything else.
 */
export function tessdataName(tag: string): string | undefined {
  if (tag.length > 40) return undefined;
  const [given = "", ...named] = tag.toLowerCase().split(/[-_]/);
  const implied = CHINESE.get(given);
  const language = implied ? "zh" : given;
  const subtags = [...named, ...(implied ?? [])];
  const written = subtags.map((subtag) => WRITTEN[`${language}-${subtag}`]).find((name) => name !== undefined);
  const name = written ?? own(NAMES, language);
  if (name !== undefined) return name;
  if (DATA_NAME.test(tag)) return tag;
  // Three letters with subtags, such as a region.
  return /^[a-z]{3}$/.test(language) && subtags.every((subtag) => /^[a-z0-9]+$/.test(subtag)) ? language : undefined;
}
