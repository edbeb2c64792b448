// Forms of digits and marks are written out before anything else is read.

import { expect, test } from "bun:test";
import { spokenForms } from "../../src/speech/spoken-forms.ts";

/** Compares each text with its expected form. */
function expectForms(forms: Readonly<Record<string, string>>): void {
  expect(Object.fromEntries(Object.keys(forms).map((text) => [text, spokenForms(text)]))).toEqual({ ...forms });
}

test("telephone numbers are read digit by digit in all usual notations", () => {
  expectForms({
    "Call 555-123-4567.": "Call 5 5 5, 1 2 3, 4 5 6 7.",
    "Call 555-1234, now": "Call 5 5 5, 1 2 3 4, now",
    "(555) 123-4567": "5 5 5, 1 2 3, 4 5 6 7",
    "+1 555 123 4567": "plus 1, 5 5 5, 1 2 3, 4 5 6 7",
    "+1 (555) 123-4567": "plus 1, 5 5 5, 1 2 3, 4 5 6 7",
    "+44 20 7946 0958!": "plus 4 4, 2 0, 7 9 4 6, 0 9 5 8!",
    "1-800-555-1234": "1, 8 0 0, 5 5 5, 1 2 3 4",
    "555.123.4567": "5 5 5, 1 2 3, 4 5 6 7",
    "(or 555-1234)": "(or 5 5 5, 1 2 3 4)",
    "1555-123-4567-89": "1555-123-4567-89",
    "+5": "+5",
    "call 570-1200, Tel. 350-1550": "call 5 7 0, 1 2 0 0, Tel. 3 5 0, 1 5 5 0",
    "Call us at 570-1200.": "Call us at 5 7 0, 1 2 0 0.",
    "Call 570-1200 as soon as this week": "Call 5 7 0, 1 2 0 0 as soon as this week",
    "We call 500-1000 people.": "We call 500-1000 people.",
    "phone 100-1500 users": "phone 100-1500 users",
    "500-1000 words, $500-1000": "500-1000 words, 500 to $1000",
    "800-555-1230, 800-1230": "8 0 0, 5 5 5, 1 2 3 0, 8 0 0, 1 2 3 0",
  });
});

test("amounts of money have their sign in front and once in a range", () => {
  expectForms({
    "20€, 5 USD, EUR 5.50.": "€20, $5, €5.50.",
    "-$20 or +€5": "minus $20 or plus €5",
    "$10-$20": "10 to $20",
    "$10–20.": "10 to $20.",
    "5-20 €": "5 to €20",
    "$2m-$3m, $2 m-$3 m": "$2m to $3m, $2 m to $3 m",
    "US$20, A$3 million, C$5m": "$20, 3 million Australian dollars, 5 million Canadian dollars",
    "$5 - 3": "$5 - 3",
    "cost-$5": "cost-$5",
    "$5 $10 $HOME": "$5 $10 $HOME",
  });
});

test("opening hours and days are read as spans", () => {
  expectForms({
    "Open 9am-5pm.": "Open 9 A.M. to 5pm.",
    "9–11 a.m. or 10:00-11:30": "9 to 11 a.m. or 10:00 to 11:30",
    "Mon-Fri, Tue/Thu": "Monday to Friday, Tuesday and Thursday",
    "Jan–Mar": "January to March",
    "Mon to Fri; Wed, Sat Jan 5; he Sat": "Monday to Friday; Wednesday, Saturday Jan 5; he Sat",
    "Sun-Times": "Sun-Times",
    "I am 5 amps": "I am 5 amps",
  });
});

test("addresses have their dots and slashes as words", () => {
  expectForms({
    "See www.example.com.": "See W W W dot example dot com.",
    "https://svc.dev/a/b-c.html, and": "svc dot dev slash a slash b dash c dot html, and",
    "github.com/": "github dot com",
    "Hello.there, a.com": "Hello.there, a dot com",
    "Ask j.doe@svc.dev.": "Ask j dot doe at svc dot dev.",
    "node.js or U.S. or e.g. this": "node.js or U.S. or e.g. this",
    "Use .NET": "Use dot NET",
    "Take .5 of it...": "Take 0.5 of it...",
  });
});

test("abbreviations of streets follow a name, those of titles precede it", () => {
  expectForms({
    "12 Main St. Apt 5": "12 Main Street Apartment 5",
    "221 Baker St, London": "221 Baker Street, London",
    "12 St. James Ave. near": "12 St. James Avenue near",
    "5 42nd St": "5 42nd Street",
    "Park Ave and 5th St": "Park Avenue and 5th Street",
    "Elm Dr. and": "Elm Drive and",
    "Dr. Smith, the Dr. at home": "Dr. Smith, the Dr. at home",
    "In 1904 St. Louis": "In 1904 St. Louis",
    "In 2020 Professor Dr. Li": "In 2020 Professor Dr. Li",
    "I live at 5 Elm St. She left.": "I live at 5 Elm Street. She left.",
  });
});

test("heights, fractions of one character and names with digits or signs have words", () => {
  expectForms({
    "6'2\" tall": "6 foot 2 tall",
    "5'11, 6 ft 2 in": "5 foot 11, 6 ft 2 inches",
    "the 80's": "the 80's",
    "1½ cups, ⅔, ½5": "1 1/2 cups, 2/3, 1/2 5",
    "−5 and 7−3": " minus 5 and 7 minus 3",
    "C# and F#, #5": "C sharp and F sharp, #5",
    "v2.1, v2": "v 2 point 1, v2",
    "CO2, H₂O, C6H12O6": "C O 2, H 2 O, C 6 H 12 O 6",
    "B2B, H2H, MP3, HTML5, CC0": "B2B, H2H, MP3, HTML5, CC0",
    "24/7, 50/50": "24 7, 50 50",
    "rated 4.5/5": "rated 4.5 out of 5",
    "3x faster, 2x4": "3 times faster, 2x4",
    'a 5" screen, "it is 5" he said': 'a 5 inch screen, "it is 5" he said',
    '"it is 5" he said': '"it is 5" he said',
    "max. 10, Min. 5, 5 min. 3": "maximum 10, Minimum 5, 5 min. 3",
    "LEAVE THE US TO US": "LEAVE THE U.S. TO US",
  });
});

test("sums and comparisons have words", () => {
  expectForms({
    "10 - 4 - 2 = 4": "10 minus 4 minus 2 = 4",
    "$10 - 4, pages 5-10, 2020-2021 = bad": "$10 - 4, pages 5-10, 2020-2021 = bad",
    "-5 - 3 = -8": "-5 minus 3 = -8",
    "max 12/4 = 3, 1/2 + 1/3 = 5/6": "max 12 divided by 4 = 3, 1/2 + 1/3 = 5/6",
    "5 x 3 = 15, 5 * 3, 3*4": "5 times 3 = 15, 5 times 3, 3 times 4",
    "1920 x 1080, **5** 3": "1920 by 1080, **5** 3",
    "10⁶, 2³² or 10⁻⁶": "10 to the power of 6, 2 to the power of 32 or 10 to the power of  minus 6",
    "x⁻¹, 2¹⁰, H⁺, e⁻, 2019¹": "x to the power of  minus 1, 2 to the power of 10, H⁺, e⁻, 2019",
    "1e-5, 1.5E-10, UTC-8": "1 times 10 to the power of -5, 1.5 times 10 to the power of -10, UTC minus 8",
    "0x1e-5, name-5": "0x1e-5, name-5",
    "x², m³, xⁿ, word⁵": "x², m³, xⁿ, word⁵",
    "x >= 5, y<=3": "x greater than or equal to 5, y less than or equal to 3",
    "a => b, a --> b, ====": "a → b, a --> b, ====",
    "√16 ≠ 5": " square root of 16 not equal to 5",
  });
});

test("commas and spaces between digits make a number only in groups", () => {
  expectForms({
    "1,2,3 and 1.5,2.5": "1, 2, 3 and 1.5, 2.5",
    "0,5 or 3,14": "0, 5 or 3, 14",
    "1,234,567.5, 12,34,567": "1,234,567.5, 12,34,567",
    "$1 234 567, 12 000": "$1,234,567, 12 000",
    "5 100 200 3000, 1 000 000.": "5 100 200 3000, 1,000,000.",
  });
});
