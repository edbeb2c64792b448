// The voice's reader: as the original reads, and safe for any text. Needs the data that the build makes with pip.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { builtPhonemizer } from "./built-voice.ts";

const reader = builtPhonemizer();
if (reader === undefined)
  console.log("the reader of texts is not tested: the build left out the voice (see its output)");

const phonemes = (text: string): string => reader?.phonemes(text) ?? "";

test.skipIf(!reader)("150 demanding lines are read as the original reads them", async () => {
  const golden: [string, string][] = await Bun.file(join(import.meta.dir, "../fixtures/speech/phonemes.json")).json();
  expect(golden).toHaveLength(150);
  expect(golden.map(([line]) => [line, phonemes(line)])).toEqual(golden);
});

test.skipIf(!reader)("what a word is and what follows it decide how it sounds", () => {
  expect(phonemes("I read it.")).not.toBe(phonemes("I have read it."));
  expect(phonemes("the end, the start")).toBe("ði ˈɛnd, ðə stˈɑɹt");
  expect(phonemes("I used to run.")).toContain("jˈust tə");
  expect(phonemes("I used two runs.")).toContain("jˈuzd");
});

test.skipIf(!reader)("names behind which no numeral stands keep their letters", () => {
  expect(phonemes("King Charles")).toBe("kˈɪŋ ʧˈɑɹlz");
  expect(phonemes("Louis XIV")).toBe(phonemes("Louis the fourteenth"));
  expect(phonemes("Grade C")).toBe("ɡɹˈAd sˈi");
  expect(phonemes("James L. Brooks")).toContain("ˈɛl");
  expect(phonemes("George V. Higgins")).not.toContain(phonemes("fifth"));
});

test.skipIf(!reader)("the pronoun is no numeral", () => {
  expect(phonemes("the book I bought")).toBe("ðə bˈʊk ˌI bˈɔt");
  const pronouns = [
    "For the most part I agree, in part I was right.",
    "The book I bought, a chapter I read and this part I like.",
    "The class I took, every level I reached.",
    "I told Mark I was late.",
  ];
  expect(pronouns.filter((text) => phonemes(text).includes(phonemes("one")))).toEqual([]);
  const numbers = "a phase I trial, the type I error, a class I railroad, the Mark I was";
  expect(phonemes(numbers)).toBe(phonemes(numbers.replaceAll(" I ", " 1 ")));
  expect(phonemes("Part I begins, in part I.")).toBe(phonemes("Part 1 begins, in part 1."));
});

test.skipIf(!reader)("one digit after the point of an amount counts tens of cents", () => {
  expect(phonemes("It costs $3.5.")).toBe(phonemes("It costs $3.50."));
  expect(phonemes("£0.5")).toBe(phonemes("£0.50"));
  expect(phonemes("$3.05")).not.toBe(phonemes("$3.5"));
  expect(phonemes("$0.075 per token")).toBe("zˈɪɹO pYnt zˈɪɹO sˈɛvən fˈIv dˈɑləɹz pɜɹ tˈOkᵊn");
});

test.skipIf(!reader)("numbers at the end of a sentence are read as elsewhere", () => {
  expect(phonemes("See pages 10-20.")).toBe(phonemes("See pages 10 to 20."));
  expect(phonemes("Add 3/4.")).toBe(phonemes("Add three quarters."));
  expect(phonemes("Call 555-1234.")).toBe(phonemes("Call 5 5 5, 1 2 3 4."));
  expect(phonemes("It grew 5-10%.")).toBe(phonemes("It grew 5 to 10%."));
  expect(phonemes("1.5–2.5 hours, 1.5-2 km")).toBe(phonemes("1.5 to 2.5 hours, 1.5 to 2 kilometers"));
});

test.skipIf(!reader)("a currency belongs to one amount", () => {
  expect(phonemes("I paid $5, 3 times.")).toBe(phonemes("I paid 5 dollars, 3 times."));
  expect(phonemes("It costs $2.5bn.")).toBe(phonemes("It costs 2.5 billion dollars."));
  expect(phonemes("It costs $1.5T.")).toBe(phonemes("It costs 1.5 trillion dollars."));
  expect(phonemes("a $20 T-shirt, £5 K-Cup")).toBe(phonemes("a 20 dollars T-shirt, 5 pounds K-Cup"));
  expect(phonemes("$20 T, a $2k-plan")).toBe(phonemes("20 trillion dollars, a 2 thousand dollars-plan"));
});

test.skipIf(!reader)("zeros before a number are read", () => {
  expect(phonemes("agent 007, room 054.")).toBe(phonemes("agent zero zero seven, room zero five four."));
  expect(phonemes("code 0123")).toBe(phonemes("code zero one two three"));
  expect(phonemes("0.5")).toBe("zˈɪɹO pYnt fˈIv");
});

test.skipIf(!reader)("zeros at the end of a number are read, but not in a time", () => {
  expect(phonemes("Python 3.10")).toBe("pˈIθˌɑn θɹˈi pYnt wˈʌn zˈɪɹO");
  expect(phonemes("1.0 mi")).toBe("wˈʌn pYnt zˈɪɹO mˈIlz");
  expect(phonemes("18:14:03.000")).toBe(phonemes("18:14:03"));
});

test.skipIf(!reader)("hyphens of all kinds are hyphens, and those for line breaks are none", () => {
  expect(phonemes("a well\u2010known 10\u201112")).toBe(phonemes("a well-known 10-12"));
  expect(phonemes("soft\xadware up\u200bset")).toBe(phonemes("software upset"));
});

test.skipIf(!reader)("a dot at the beginning of a word is read", () => {
  expect(phonemes("Use .NET and .5 more")).toBe(phonemes("Use dot NET and 0.5 more"));
});

test.skipIf(!reader)("a long word that no dictionary has is read to its end", () => {
  expect(phonemes("Donaudampfschifffahrtsgesellschaftskapitän")).toEndWith("kəpˌɪtˌɛn");
  expect(phonemes("xq".repeat(120)).length).toBeGreaterThan(240);
});

test.skipIf(!reader)("in a sentence of capitals only acronyms are spelled", () => {
  expect(phonemes("IT WAS A DARK AND STORMY NIGHT")).toStartWith("ˈɪt w");
  expect(phonemes("THE GPU USB PORT")).toContain(phonemes("USB"));
  expect(phonemes("I work at NASA with USB.")).toBe("ˌI wˈɜɹk æt nˈæsə wɪð jˌuˌɛsbˈi.");
});

test.skipIf(!reader)("mixed numbers, scores and sizes differ from dates", () => {
  expect(phonemes("1 1/2 cups")).toBe(phonemes("1 and a half cups"));
  expect(phonemes("2¾ cups")).toBe(phonemes("2 and 3 quarters cups"));
  expect(phonemes("10/10 and 17/20")).toBe(phonemes("10 out of 10 and 17 out of 20"));
  expect(phonemes("1/16 inch")).toBe(phonemes("one sixteenth inch"));
  expect(phonemes("on 3/4 or 9/11, 05/06")).toBe(phonemes("on March fourth or September eleventh, May sixth"));
});

test.skipIf(!reader)("a day belongs to its month only as a whole number, and a range of days is one", () => {
  expect(phonemes("In March 1,200 left")).toBe("ɪn mˈɑɹʧ wˈʌn θˈWzᵊnd tˈu hˈʌndɹəd lˈɛft");
  expect(phonemes("In May 12-year-olds")).toContain("twˈɛlv jˈɪɹ");
  expect(phonemes("rose 3.14 March")).toBe("ɹˈOz θɹˈi pYnt wˈʌn fˈɔɹ mˈɑɹʧ");
  expect(phonemes("June 10-12, 2025")).toBe(phonemes("June tenth to twelfth, 2025"));
  expect(phonemes("on 3rd–5th of Mar. 2025")).toBe(phonemes("on the third to fifth of March 2025"));
  expect(phonemes("We met on 14 March.")).toBe(phonemes("We met on the fourteenth of March."));
  expect(phonemes("Oct 31-Nov 2, 2025")).toBe(phonemes("October thirty-first to November second, 2025"));
  expect(phonemes("30 March – 2 April.")).toBe(phonemes("the thirtieth of March to the second of April."));
});

test.skipIf(!reader)("units of the kitchen and of physics have names", () => {
  expect(phonemes("5 m, 3 L, 1 g")).toBe(phonemes("5 meters, 3 liters, 1 gram"));
  expect(phonemes("1/2 tsp or 1 1/2 tbsp")).toBe(phonemes("one half teaspoon or 1 and a half tablespoons"));
  expect(phonemes("50 \u03bcg, 3 \xb5s, 5 \u03bcL")).toBe(phonemes("50 micrograms, 3 microseconds, 5 microliters"));
  expect(phonemes("20 m², 5 m/s")).toBe(phonemes("20 square meters, 5 meters per second"));
});

test.skipIf(!reader)("the dot of a unit or of a part of a book is no stop", () => {
  expect(phonemes("He is 6 ft. tall.")).toBe(phonemes("He is 6 feet tall."));
  expect(phonemes("5 ft. 3 in. of rope")).toBe(phonemes("5 feet 3 inches of rope"));
  expect(phonemes("a 12-oz. can, 1,200 sq. ft. of it")).toBe(phonemes("a 12 ounce can, 1,200 square feet of it"));
  expect(phonemes("He ran 5 km. We ran 6.")).toBe(phonemes("He ran 5 kilometers. We ran 6."));
  expect(phonemes("Op. 9, Eq. 3")).toBe(phonemes("Opus 9, Equation 3"));
  const whole = [
    "He is 5 ft. 3 in. tall, est. 1990, see Op. 9, Eq. 3.",
    "It took 2 hrs. 30 minutes for 10 lbs. 8 ounces.",
    "He is 6 ft. 2.",
  ];
  expect(whole.flatMap((line) => reader?.sentences(line))).toEqual(whole);
  expect(phonemes("He is 6 ft. 2.")).toBe(phonemes("He is 6 feet 2."));
  expect(phonemes("2 hrs. 30 min. later")).toBe(phonemes("2 hours 30 minutes later"));
  expect(reader?.sentences("It took 5 hrs. 20 people came.")).toEqual(["It took 5 hrs.", "20 people came."]);
});

test.skipIf(!reader)("an amount stays one beside a unit or a word that no dictionary has", () => {
  expect(phonemes("$2,000-Xyzzyq")).toBe(phonemes("2,000 dollars Xyzzyq"));
  expect(phonemes("$2,500/yr, $5 million/year.")).toBe(phonemes("2,500 dollars per year, 5 million dollars per year."));
  expect(phonemes("$0.50/kWh, $3/kg, €5/month")).toBe(
    phonemes("50 cents per kilowatt hour, 3 dollars per kilogram, 5 euros per month"),
  );
  expect(phonemes("a 1,500-kg load")).toBe(phonemes("a 1,500 kilogram load"));
  expect(phonemes("5 mg/dL, 10 mg/kg/day, 100 MB/s")).toBe(
    phonemes("5 milligrams per deciliter, 10 milligrams per kilogram per day, 100 megabytes per second"),
  );
});

test.skipIf(!reader)("the point of a number in a name is read", () => {
  expect(phonemes("GPT-3.5")).toBe("ʤˌipˌitˈi θɹˈi pYnt fˈIv");
  expect(phonemes("USB3.2")).toBe("jˌuˌɛsbˈi θɹˈi pYnt tˈu");
  expect(phonemes("test2.pdf")).not.toContain("pYnt");
  expect(phonemes("version 1.10.3")).toBe(phonemes("version one ten three"));
});

test.skipIf(!reader)("a point in time is a date, a time and its distance from UTC", () => {
  const day = "November 29th, 2026, eighteen fourteen";
  expect(phonemes("at 2026-11-29T18:14:03Z today")).toBe(phonemes(`at ${day} and three seconds U T C today`));
  expect(phonemes("2026-11-29T18:14+02:00.")).toBe(phonemes(`${day} U T C plus 2.`));
  expect(phonemes("2026-11-29T18:14-03:30")).toBe(phonemes(`${day} U T C minus 3 30`));
  expect(phonemes("18:14:03.250")).toBe(phonemes("eighteen fourteen and three point two five seconds"));
});

test.skipIf(!reader)("sums are no ranges or dates, and comparisons keep their meaning", () => {
  expect(phonemes("10 - 4 = 6, 7-2=5")).toBe(phonemes("10 minus 4 equals 6, 7 minus 2 equals 5"));
  expect(phonemes("10/2=5")).toBe(phonemes("10 divided by 2 equals 5"));
  expect(phonemes("1/2 = 50%")).toBe(phonemes("one half equals 50%"));
  expect(phonemes("a != b")).toBe(phonemes("a not equal to b"));
  expect(phonemes("a -> b")).toBe(phonemes("a to b"));
});

test.skipIf(!reader)("Greek letters have names, and ohms are a unit", () => {
  expect(phonemes("the σ of α, 2π")).toBe(phonemes("the sigma of alpha, 2 pi"));
  expect(phonemes("5 Ω, a 10 kΩ resistor")).toBe(phonemes("5 ohms, a 10 kilohms resistor"));
});

test.skipIf(!reader)("digits with commas or spaces are one number only in groups of thousands", () => {
  expect(phonemes("1,2,3")).toBe(phonemes("1, 2, 3"));
  expect(phonemes("1 000 000, 12\u202f000")).toBe(phonemes("1 million, 12 thousand"));
});

test.skipIf(!reader)("what belongs to kings may have a numeral", () => {
  expect(phonemes("Henry VIII's wives")).toBe(phonemes("Henry the eighth's wives"));
  expect(phonemes("Grade C's")).toContain(phonemes("C's"));
});

test.skipIf(!reader)("an answer is no abbreviation of number", () => {
  expect(phonemes("The answer is no.")).toBe(`${phonemes("The answer is no")}.`);
  expect(phonemes("see no. 5")).toBe(phonemes("see number 5"));
});

test.skipIf(!reader)("words that look like titles or abbreviations stay words", () => {
  expect(phonemes("Gen Z and Gen. Li")).toBe(phonemes("Jen Z and General Li"));
  expect(phonemes("Gen Powell, Lt Col O'Neill")).toBe(phonemes("General Powell, Lieutenant Colonel O'Neill"));
  const titles = ["general", "representative", "reverend", "honorable"].map(phonemes);
  const words =
    "Gen Alpha, Gen Zs, Gen Zers, 3rd Gen Ryzen, 12th-Gen Intel, Next Gen Stats, Rev B2, Rev Limit, Rep Count, Hon Hai";
  expect(titles.filter((title) => phonemes(words).includes(title))).toEqual([]);
  expect(phonemes("a 10 Ft Wave")).not.toContain(phonemes("fort"));
  expect(phonemes("Ft Worth, Dr Li")).toBe(phonemes("Fort Worth, Dr. Li"));
  expect(phonemes("It is the Sun.")).toBe(phonemes("It is the sun."));
  expect(phonemes("I met Jan.")).not.toContain(phonemes("January"));
  expect(phonemes("special ed.")).toBe(`${phonemes("special Ed")}.`);
  expect(phonemes("We meet on Sun.")).toBe(phonemes("We meet on Sunday."));
  expect(phonemes("the 2nd ed.")).toBe(phonemes("the 2nd edition."));
});

test.skipIf(!reader)("the dot of an abbreviation also ends the sentence", () => {
  const texts = ["at 5 p.m.", "in the U.S.", "plan B.", "I met Jan."];
  expect(texts.map((text) => phonemes(text).slice(-3))).toEqual(["ɛm.", "ɛs.", "ˈi.", "æn."]);
  expect(phonemes("He left (at 5 p.m.)")).toEndWith("m)");
});

test.skipIf(!reader)("a link is read without its target, a picture as its description", () => {
  const plain = phonemes("see the docs here");
  expect(phonemes("see [the docs](https://example.com/a_(b)?c) here")).toBe(plain);
  expect(phonemes("see [![the docs](a.png)](https://example.com) here")).toBe(plain);
  expect(phonemes("see [the docs](/fɔ/) here")).toBe(plain);
});

test.skipIf(!reader)("markup and commands are read as text, characters without sound are passed over", () => {
  expect(phonemes('<break time="3s"/>')).toContain("bɹˈAk");
  expect(phonemes("$(reboot) `ls`")).toContain("ɹˈibˌut");
  expect(phonemes("no\u{1f600}\u{1f469}\u200d\u{1f467} \u{fe0f}way")).toBe(phonemes("no way"));
  expect(["", " \n", "\0\x07\x1b", "\ud800\udc00\ud800", "\u{1f600}"].map(phonemes)).toEqual(["", "", "", "", ""]);
});

test.skipIf(!reader)("the acoustic model gets phonemes by their numbers", () => {
  expect(phonemes("😀")).toBe("");
  expect(reader?.ids("həlˈO 漢.")).toEqual([0, 50, 83, 54, 156, 31, 16, 4, 0]);
});
