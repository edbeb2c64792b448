import { expect, test } from "bun:test";
import { joinUnspaced } from "../../src/recognition/unspaced.ts";

/** Returns words of one line, each 20 pixels high; `gaps`: the space in front of each. */
const line = (...words: readonly (readonly [text: string, gap: number])[]) => {
  let x = 0;
  return words.map(([text, gap]) => {
    const width = text.length * 20;
    x += gap + width;
    return { text, confidence: 1, box: { x: x - width, y: 0, width, height: 20 }, line: 0, block: 0 };
  });
};
const texts = (words: ReturnType<typeof line>) => joinUnspaced(words).map(({ text }) => text);

test("Chinese and Japanese text read in pieces becomes one word; words with spaces stay separate", () => {
  expect(texts(line(["人", 0], ["工", 2], ["智能", 4], ["，", 1], ["很好", 12]))).toEqual(["人工智能，很好"]);
  expect(texts(line(["今日", 0], ["は", 2], ["コーヒー", 2], ["を", 2]))).toEqual(["今日はコーヒーを"]);
  expect(texts(line(["使用", 0], ["Bun", 4], ["1.4", 6], ["编译", 4]))).toEqual(["使用", "Bun", "1.4", "编译"]);
  expect(texts(line(["안녕", 0], ["여러분", 4]))).toEqual(["안녕", "여러분"]);
});

test("a space as wide as a character, or another line, keeps words separate", () => {
  expect(texts(line(["东京", 0], ["大阪", 20]))).toEqual(["东京", "大阪"]);
  const [first, second] = line(["东", 0], ["京", 1]);
  expect(joinUnspaced([first ?? expect.unreachable(), { ...(second ?? expect.unreachable()), line: 1 }])).toHaveLength(
    2,
  );
});

test("a joined word has the confidence of its characters, and its box contains all of them", () => {
  const words = line(["人工", 0], ["智", 2]).map((word, at) => ({ ...word, confidence: at === 0 ? 1 : 0.4 }));
  const [word] = joinUnspaced(words);
  expect(word?.confidence).toBeCloseTo(0.8);
  expect(word?.box).toEqual({ x: 0, y: 0, width: 62, height: 20 });
});
