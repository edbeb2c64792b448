// The text of the benchmark's pages and tables: sentences and cells with numbers, names and symbols, as in real
// documents.

import { pick, type Dice } from "../../support/dice.ts";

const SENTENCES = [
  "The harbour office opens at # o'clock and closes when the last ferry has left.",
  "Payment is due within # days of the invoice date; later payments cost #.#% a month.",
  "Of the ## samples that arrived on Tuesday, only # could be analysed before the weekend.",
  "She wrote to the council twice, in March and in May, and never received an answer.",
  "Store the tablets below ## degrees, out of the reach of children, and away from light.",
  "Why do rivers bend? Because water on the outer bank is faster, and carries more away.",
  "Figure # shows the yield per hectare (in tonnes) for wheat, barley, rye and oats.",
  "Professor Quincy Adler's lecture on medieval bridges was attended by ### students.",
  "The quick brown fox jumps over the lazy dog while the band plays a jazz waltz.",
  "Please return the form, signed and dated, to Room ##, # Kingsway, before 1# June 20##.",
  "Our engineers replaced the pump, checked every valve, and found no further leaks.",
  "At first nobody believed him: a boat of that size had never crossed the northern straits.",
  "Turnover rose from $#,### to $##,### in a year, mostly because of exports to Mexico.",
  'Visitors who arrive by train should take the exit marked "North" and follow the canal.',
  "The committee met on 2# October, heard ## witnesses, and published its report in 20##.",
  "Mix the flour with butter and sugar, add two eggs, and bake it for ## minutes.",
  "A licence may be withdrawn if its holder fails to keep records for at least # years.",
  "Most of the damage was caused by moisture, which had entered through the broken roof.",
  "Version #.# fixes an error that could delete unsaved changes when the disk was full.",
  "Their house stood on a hill; from its windows you could see the whole valley below.",
  "The museum's oldest map, drawn about 15##, shows neither roads nor borders.",
  "Passengers in rows ## to ## are asked to board first, families with children included.",
  "It is hard to explain zero gravity to someone who has never let go of a heavy box.",
  "Half of the respondents (##.#%) said they would recommend the service to a friend.",
  "Check that the plug is dry, then press the green button until the lamp stops flashing.",
  "In the evening the wind turned, and by midnight the fishermen were all back in port.",
  "He sold #,### copies of the book, kept nothing for himself, and gave the rest away.",
  "Questions about equipment can be sent to help@example.org or to extension ####.",
  "The judge adjourned the hearing because one expert was ill and another had moved abroad.",
  "Nothing in this agreement limits liability for fraud, or for injury caused by negligence.",
] as const;

/** Returns several sentences in a row. */
export const paragraph = (roll: Dice, sentences: number): string =>
  Array.from({ length: sentences }, () => numbered(roll, pick(roll, SENTENCES))).join(" ");

/** Replaces each `#` with a digit. */
const numbered = (roll: Dice, text: string): string => text.replace(/#/g, () => String(1 + roll(9)));

interface Kind {
  readonly names: readonly [string, ...string[]];
  readonly align: "left" | "right" | "center";
  readonly cell: (roll: Dice) => string;
}

const WORDS = {
  first: ["Anna", "Boris", "Chloe", "David", "Elena", "Felix", "Greta", "Hamid", "Ingrid", "Jonas", "Keiko", "Luis"],
  last: ["Adler", "Brown", "Chavez", "Dubois", "Evans", "Fischer", "Garcia", "Hughes", "Ivanova", "Jensen", "Kumar"],
  city: ["Lisbon", "Oslo", "New York", "Hamburg", "Buenos Aires", "Kyoto", "Cape Town", "Zagreb", "Montreal", "Perth"],
  thing: [
    "Paper A4",
    "Wood screws",
    "Desk lamp",
    "Copper wire",
    "Printer ink",
    "Rubber boots",
    "Garden hose",
    "Oak shelf",
  ],
  month: ["January", "February", "March", "April", "June", "July", "August", "October", "November", "December"],
  state: ["open", "closed", "paid", "in transit", "delivered", "cancelled", "on hold", "draft"],
} as const;

const KINDS: readonly [Kind, ...Kind[]] = [
  {
    names: ["Name", "Contact", "Employee"],
    align: "left",
    cell: (roll) => `${pick(roll, WORDS.first)} ${pick(roll, WORDS.last)}`,
  },
  { names: ["City", "Branch", "Location"], align: "left", cell: (roll) => pick(roll, WORDS.city) },
  { names: ["Item", "Product", "Description"], align: "left", cell: (roll) => pick(roll, WORDS.thing) },
  { names: ["Month", "Period"], align: "left", cell: (roll) => pick(roll, WORDS.month) },
  { names: ["Status", "State"], align: "center", cell: (roll) => pick(roll, WORDS.state) },
  { names: ["Quantity", "Units", "Count"], align: "right", cell: (roll) => String(1 + roll(980)) },
  {
    names: ["Price", "Amount", "Total"],
    align: "right",
    cell: (roll) => `$${1 + roll(99)},${numbered(roll, "###.##")}`,
  },
  { names: ["Share", "Growth", "Change"], align: "right", cell: (roll) => `${1 + roll(99)}.${roll(10)}%` },
  {
    names: ["Date", "Due", "Delivered"],
    align: "left",
    cell: (roll) => `20${numbered(roll, "##")}-0${1 + roll(9)}-${11 + roll(17)}`,
  },
  {
    names: ["Code", "Number", "Reference"],
    align: "left",
    cell: (roll) => numbered(roll, `${pick(roll, ["AB", "KX", "QT", "MR"])}-####`),
  },
];

export interface Content {
  readonly rows: string[][];
  readonly align: readonly string[];
}

/** Returns rows of cells below a header row; the first column contains words. */
export function tableContent(roll: Dice, rows: number, columns: number): Content {
  const first = pick(roll, KINDS.slice(0, 3) as [Kind, ...Kind[]]);
  const kinds = [first];
  while (kinds.length < columns) {
    const kind = pick(roll, KINDS);
    if (!kinds.includes(kind)) kinds.push(kind);
  }
  return {
    rows: [
      kinds.map(({ names }) => pick(roll, names)),
      ...Array.from({ length: rows }, () => kinds.map(({ cell }) => cell(roll))),
    ],
    align: kinds.map(({ align }) => align),
  };
}
