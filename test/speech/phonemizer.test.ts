// The voice's reader: as the original reads, and safe for any text. Needs the data that the build makes with pip.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { builtPhonemizer } from "./built-voice.ts";

const reader = await builtPhonemizer();
if (reader === undefined)
  console.log("the reader of texts is not tested: the build left out the voice (see its output)");

const phonemes = async (text: string): Promise<string> => (await reader?.phonemes(text)) ?? "";
const all = (texts: readonly string[]): Promise<string[]> => Array.fromAsync(texts, (text) => phonemes(text));

test.skipIf(!reader)("150 demanding lines are read as the original reads them", async () => {
  const golden: [string, string][] = await Bun.file(join(import.meta.dir, "../fixtures/speech/phonemes.json")).json();
  expect(golden).toHaveLength(150);
  expect(await Array.fromAsync(golden, async ([line]) => [line, await phonemes(line)])).toEqual(golden);
});

test.skipIf(!reader)("what a word is and what follows it decide how it sounds", async () => {
  expect(await phonemes("I read it.")).not.toBe(await phonemes("I have read it."));
  expect(await phonemes("the end, the start")).toBe("ði ˈɛnd, ðə stˈɑɹt");
  expect(await phonemes("I used to run.")).toContain("jˈust tə");
  expect(await phonemes("I used two runs.")).toContain("jˈuzd");
});

test.skipIf(!reader)("names behind which no numeral stands keep their letters", async () => {
  expect(await phonemes("King Charles")).toBe("kˈɪŋ ʧˈɑɹlz");
  expect(await phonemes("Louis XIV")).toBe(await phonemes("Louis the fourteenth"));
  expect(await phonemes("Grade C")).toBe("ɡɹˈAd sˈi");
  expect(await phonemes("James L. Brooks")).toContain("ˈɛl");
  expect(await phonemes("George V. Higgins")).not.toContain(await phonemes("fifth"));
});

test.skipIf(!reader)("the pronoun is no numeral", async () => {
  expect(await phonemes("the book I bought")).toBe("ðə bˈʊk ˌI bˈɔt");
  const pronouns = [
    "For the most part I agree, in part I was right.",
    "The book I bought, a chapter I read and this part I like.",
    "The class I took, every level I reached.",
    "I told Mark I was late.",
  ];
  const one = await phonemes("one");
  expect((await all(pronouns)).filter((read) => read.includes(one))).toEqual([]);
  const numbers = "a phase I trial, the type I error, a class I railroad, the Mark I was";
  expect(await phonemes(numbers)).toBe(await phonemes(numbers.replaceAll(" I ", " 1 ")));
  expect(await phonemes("Part I begins, in part I.")).toBe(await phonemes("Part 1 begins, in part 1."));
});

test.skipIf(!reader)("one digit after the point of an amount counts tens of cents", async () => {
  expect(await phonemes("It costs $3.5.")).toBe(await phonemes("It costs $3.50."));
  expect(await phonemes("£0.5")).toBe(await phonemes("£0.50"));
  expect(await phonemes("$3.05")).not.toBe(await phonemes("$3.5"));
  expect(await phonemes("$0.075 per token")).toBe("zˈɪɹO pYnt zˈɪɹO sˈɛvən fˈIv dˈɑləɹz pɜɹ tˈOkᵊn");
});

test.skipIf(!reader)("numbers at the end of a sentence are read as elsewhere", async () => {
  expect(await phonemes("See pages 10-20.")).toBe(await phonemes("See pages 10 to 20."));
  expect(await phonemes("Add 3/4.")).toBe(await phonemes("Add three quarters."));
  expect(await phonemes("Call 555-1234.")).toBe(await phonemes("Call 5 5 5, 1 2 3 4."));
  expect(await phonemes("It grew 5-10%.")).toBe(await phonemes("It grew 5 to 10%."));
  expect(await phonemes("1.5–2.5 hours, 1.5-2 km")).toBe(await phonemes("1.5 to 2.5 hours, 1.5 to 2 kilometers"));
});

test.skipIf(!reader)("a currency belongs to one amount", async () => {
  expect(await phonemes("I paid $5, 3 times.")).toBe(await phonemes("I paid 5 dollars, 3 times."));
  expect(await phonemes("It costs $2.5bn.")).toBe(await phonemes("It costs 2.5 billion dollars."));
  expect(await phonemes("It costs $1.5T.")).toBe(await phonemes("It costs 1.5 trillion dollars."));
  expect(await phonemes("a $20 T-shirt, £5 K-Cup")).toBe(await phonemes("a 20 dollars T-shirt, 5 pounds K-Cup"));
  expect(await phonemes("$20 T, a $2k-plan")).toBe(await phonemes("20 trillion dollars, a 2 thousand dollars-plan"));
});

test.skipIf(!reader)("zeros before a number are read", async () => {
  expect(await phonemes("agent 007, room 054.")).toBe(await phonemes("agent zero zero seven, room zero five four."));
  expect(await phonemes("code 0123")).toBe(await phonemes("code zero one two three"));
  expect(await phonemes("0.5")).toBe("zˈɪɹO pYnt fˈIv");
});

test.skipIf(!reader)("zeros at the end of a number are read, but not in a time", async () => {
  expect(await phonemes("Python 3.10")).toBe("pˈIθˌɑn θɹˈi pYnt wˈʌn zˈɪɹO");
  expect(await phonemes("1.0 mi")).toBe("wˈʌn pYnt zˈɪɹO mˈIlz");
  expect(await phonemes("18:14:03.000")).toBe(await phonemes("18:14:03"));
});

test.skipIf(!reader)("hyphens of all kinds are hyphens, and those for line breaks are none", async () => {
  expect(await phonemes("a well\u2010known 10\u201112")).toBe(await phonemes("a well-known 10-12"));
  expect(await phonemes("soft\xadware up\u200bset")).toBe(await phonemes("software upset"));
});

test.skipIf(!reader)("a dot at the beginning of a word is read", async () => {
  expect(await phonemes("Use .NET and .5 more")).toBe(await phonemes("Use dot NET and 0.5 more"));
});

test.skipIf(!reader)("a long word that no dictionary has is read to its end", async () => {
  expect(await phonemes("Donaudampfschifffahrtsgesellschaftskapitän")).toEndWith("kəpˌɪtˌɛn");
  expect((await phonemes("xq".repeat(120))).length).toBeGreaterThan(240);
});

test.skipIf(!reader)("in a sentence of capitals only acronyms are spelled", async () => {
  expect(await phonemes("IT WAS A DARK AND STORMY NIGHT")).toStartWith("ˈɪt w");
  expect(await phonemes("THE GPU USB PORT")).toContain(await phonemes("USB"));
  expect(await phonemes("I work at NASA with USB.")).toBe("ˌI wˈɜɹk æt nˈæsə wɪð jˌuˌɛsbˈi.");
});

test.skipIf(!reader)("mixed numbers, scores and sizes differ from dates", async () => {
  expect(await phonemes("1 1/2 cups")).toBe(await phonemes("1 and a half cups"));
  expect(await phonemes("2¾ cups")).toBe(await phonemes("2 and 3 quarters cups"));
  expect(await phonemes("10/10 and 17/20")).toBe(await phonemes("10 out of 10 and 17 out of 20"));
  expect(await phonemes("1/16 inch")).toBe(await phonemes("one sixteenth inch"));
  expect(await phonemes("on 3/4 or 9/11, 05/06")).toBe(
    await phonemes("on March fourth or September eleventh, May sixth"),
  );
});

test.skipIf(!reader)("a day belongs to its month only as a whole number, and a range of days is one", async () => {
  expect(await phonemes("In March 1,200 left")).toBe("ɪn mˈɑɹʧ wˈʌn θˈWzᵊnd tˈu hˈʌndɹəd lˈɛft");
  expect(await phonemes("In May 12-year-olds")).toContain("twˈɛlv jˈɪɹ");
  expect(await phonemes("rose 3.14 March")).toBe("ɹˈOz θɹˈi pYnt wˈʌn fˈɔɹ mˈɑɹʧ");
  expect(await phonemes("June 10-12, 2025")).toBe(await phonemes("June tenth to twelfth, 2025"));
  expect(await phonemes("on 3rd–5th of Mar. 2025")).toBe(await phonemes("on the third to fifth of March 2025"));
  expect(await phonemes("We met on 14 March.")).toBe(await phonemes("We met on the fourteenth of March."));
  expect(await phonemes("Oct 31-Nov 2, 2025")).toBe(await phonemes("October thirty-first to November second, 2025"));
  expect(await phonemes("30 March – 2 April.")).toBe(await phonemes("the thirtieth of March to the second of April."));
});

test.skipIf(!reader)("units of the kitchen and of physics have names", async () => {
  expect(await phonemes("5 m, 3 L, 1 g")).toBe(await phonemes("5 meters, 3 liters, 1 gram"));
  expect(await phonemes("1/2 tsp or 1 1/2 tbsp")).toBe(await phonemes("one half teaspoon or 1 and a half tablespoons"));
  expect(await phonemes("50 \u03bcg, 3 \xb5s, 5 \u03bcL")).toBe(
    await phonemes("50 micrograms, 3 microseconds, 5 microliters"),
  );
  expect(await phonemes("20 m², 5 m/s")).toBe(await phonemes("20 square meters, 5 meters per second"));
});

test.skipIf(!reader)("the dot of a unit or of a part of a book is no stop", async () => {
  expect(await phonemes("He is 6 ft. tall.")).toBe(await phonemes("He is 6 feet tall."));
  expect(await phonemes("5 ft. 3 in. of rope")).toBe(await phonemes("5 feet 3 inches of rope"));
  expect(await phonemes("a 12-oz. can, 1,200 sq. ft. of it")).toBe(
    await phonemes("a 12 ounce can, 1,200 square feet of it"),
  );
  expect(await phonemes("He ran 5 km. We ran 6.")).toBe(await phonemes("He ran 5 kilometers. We ran 6."));
  expect(await phonemes("Op. 9, Eq. 3")).toBe(await phonemes("Opus 9, Equation 3"));
  const whole = [
    "He is 5 ft. 3 in. tall, est. 1990, see Op. 9, Eq. 3.",
    "It took 2 hrs. 30 minutes for 10 lbs. 8 ounces.",
    "He is 6 ft. 2.",
  ];
  expect(whole.flatMap((line) => reader?.sentences(line))).toEqual(whole);
  expect(await phonemes("He is 6 ft. 2.")).toBe(await phonemes("He is 6 feet 2."));
  expect(await phonemes("2 hrs. 30 min. later")).toBe(await phonemes("2 hours 30 minutes later"));
  expect(reader?.sentences("It took 5 hrs. 20 people came.")).toEqual(["It took 5 hrs.", "20 people came."]);
});

test.skipIf(!reader)("an amount stays one beside a unit or a word that no dictionary has", async () => {
  expect(await phonemes("$2,000-Xyzzyq")).toBe(await phonemes("2,000 dollars Xyzzyq"));
  expect(await phonemes("$2,500/yr, $5 million/year.")).toBe(
    await phonemes("2,500 dollars per year, 5 million dollars per year."),
  );
  expect(await phonemes("$0.50/kWh, $3/kg, €5/month")).toBe(
    await phonemes("50 cents per kilowatt hour, 3 dollars per kilogram, 5 euros per month"),
  );
  expect(await phonemes("a 1,500-kg load")).toBe(await phonemes("a 1,500 kilogram load"));
  expect(await phonemes("5 mg/dL, 10 mg/kg/day, 100 MB/s")).toBe(
    await phonemes("5 milligrams per deciliter, 10 milligrams per kilogram per day, 100 megabytes per second"),
  );
});

test.skipIf(!reader)("the point of a number in a name is read", async () => {
  expect(await phonemes("GPT-3.5")).toBe("ʤˌipˌitˈi θɹˈi pYnt fˈIv");
  expect(await phonemes("USB3.2")).toBe("jˌuˌɛsbˈi θɹˈi pYnt tˈu");
  expect(await phonemes("test2.pdf")).not.toContain("pYnt");
  expect(await phonemes("version 1.10.3")).toBe(await phonemes("version one ten three"));
});

test.skipIf(!reader)("a point in time is a date, a time and its distance from UTC", async () => {
  const day = "November 29th, 2026, eighteen fourteen";
  expect(await phonemes("at 2026-11-29T18:14:03Z today")).toBe(
    await phonemes(`at ${day} and three seconds U T C today`),
  );
  expect(await phonemes("2026-11-29T18:14+02:00.")).toBe(await phonemes(`${day} U T C plus 2.`));
  expect(await phonemes("2026-11-29T18:14-03:30")).toBe(await phonemes(`${day} U T C minus 3 30`));
  expect(await phonemes("18:14:03.250")).toBe(await phonemes("eighteen fourteen and three point two five seconds"));
});

test.skipIf(!reader)("sums are no ranges or dates, and comparisons keep their meaning", async () => {
  expect(await phonemes("10 - 4 = 6, 7-2=5")).toBe(await phonemes("10 minus 4 equals 6, 7 minus 2 equals 5"));
  expect(await phonemes("10/2=5")).toBe(await phonemes("10 divided by 2 equals 5"));
  expect(await phonemes("1/2 = 50%")).toBe(await phonemes("one half equals 50%"));
  expect(await phonemes("a != b")).toBe(await phonemes("a not equal to b"));
  expect(await phonemes("a -> b")).toBe(await phonemes("a to b"));
});

test.skipIf(!reader)("Greek letters have names, and ohms are a unit", async () => {
  expect(await phonemes("the σ of α, 2π")).toBe(await phonemes("the sigma of alpha, 2 pi"));
  expect(await phonemes("5 Ω, a 10 kΩ resistor")).toBe(await phonemes("5 ohms, a 10 kilohms resistor"));
});

test.skipIf(!reader)("digits with commas or spaces are one number only in groups of thousands", async () => {
  expect(await phonemes("1,2,3")).toBe(await phonemes("1, 2, 3"));
  expect(await phonemes("1 000 000, 12\u202f000")).toBe(await phonemes("1 million, 12 thousand"));
});

test.skipIf(!reader)("what belongs to kings may have a numeral", async () => {
  expect(await phonemes("Henry VIII's wives")).toBe(await phonemes("Henry the eighth's wives"));
  expect(await phonemes("Grade C's")).toContain(await phonemes("C's"));
});

test.skipIf(!reader)("an answer is no abbreviation of number", async () => {
  expect(await phonemes("The answer is no.")).toBe(`${await phonemes("The answer is no")}.`);
  expect(await phonemes("see no. 5")).toBe(await phonemes("see number 5"));
});

test.skipIf(!reader)("words that look like titles or abbreviations stay words", async () => {
  expect(await phonemes("Gen Z and Gen. Li")).toBe(await phonemes("Jen Z and General Li"));
  expect(await phonemes("Gen Powell, Lt Col O'Neill")).toBe(
    await phonemes("General Powell, Lieutenant Colonel O'Neill"),
  );
  const titles = await all(["general", "representative", "reverend", "honorable"]);
  const words =
    "Gen Alpha, Gen Zs, Gen Zers, 3rd Gen Ryzen, 12th-Gen Intel, Next Gen Stats, Rev B2, Rev Limit, Rep Count, Hon Hai";
  const read = await phonemes(words);
  expect(titles.filter((title) => read.includes(title))).toEqual([]);
  expect(await phonemes("a 10 Ft Wave")).not.toContain(await phonemes("fort"));
  expect(await phonemes("Ft Worth, Dr Li")).toBe(await phonemes("Fort Worth, Dr. Li"));
  expect(await phonemes("It is the Sun.")).toBe(await phonemes("It is the sun."));
  expect(await phonemes("I met Jan.")).not.toContain(await phonemes("January"));
  expect(await phonemes("special ed.")).toBe(`${await phonemes("special Ed")}.`);
  expect(await phonemes("We meet on Sun.")).toBe(await phonemes("We meet on Sunday."));
  expect(await phonemes("the 2nd ed.")).toBe(await phonemes("the 2nd edition."));
});

test.skipIf(!reader)("the dot of an abbreviation also ends the sentence", async () => {
  const texts = ["at 5 p.m.", "in the U.S.", "plan B.", "I met Jan."];
  expect((await all(texts)).map((text) => text.slice(-3))).toEqual(["ɛm.", "ɛs.", "ˈi.", "æn."]);
  expect(await phonemes("He left (at 5 p.m.)")).toEndWith("m)");
});

test.skipIf(!reader)("a link is read without its target, a picture as its description", async () => {
  const plain = await phonemes("see the docs here");
  expect(await phonemes("see [the docs](https://example.com/a_(b)?c) here")).toBe(plain);
  expect(await phonemes("see [![the docs](a.png)](https://example.com) here")).toBe(plain);
  expect(await phonemes("see [the docs](/fɔ/) here")).toBe(plain);
});

test.skipIf(!reader)("markup and commands are read as text, characters without sound are passed over", async () => {
  expect(await phonemes('<break time="3s"/>')).toContain("bɹˈAk");
  expect(await phonemes("$(reboot) `ls`")).toContain("ɹˈibˌut");
  expect(await phonemes("no\u{1f600}\u{1f469}\u200d\u{1f467} \u{fe0f}way")).toBe(await phonemes("no way"));
  expect(await all(["", " \n", "\0\x07\x1b", "\ud800\udc00\ud800", "\u{1f600}"])).toEqual(["", "", "", "", ""]);
});

test.skipIf(!reader)("the acoustic model gets phonemes by their numbers", async () => {
  expect(await phonemes("😀")).toBe("");
  expect(reader?.ids("həlˈO 漢.")).toEqual([0, 50, 83, 54, 156, 31, 16, 4, 0]);
});
