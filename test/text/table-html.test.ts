import { expect, test } from "bun:test";
import { tableHtml } from "../../src/text/table-html.ts";

test("the header has the rows above the named ones, and merged cells stay merged", () => {
  const html = tableHtml({
    box: { x: 0, y: 0, width: 1, height: 1 },
    rows: [
      ["Name", "Sums", ""],
      ["", "net", "gross"],
      ["<a> & b", "1", "2"],
      ["", "3", "4 5"],
    ],
    columnCount: 3,
    headers: ["Name", "Sums net", "Sums gross"],
    rowObjects: [{}, {}],
    mergedCells: [
      { row: 0, column: 0, rowSpan: 2, columnSpan: 1 },
      { row: 0, column: 1, rowSpan: 1, columnSpan: 2 },
      { row: 2, column: 0, rowSpan: 2, columnSpan: 1 },
    ],
    averageConfidence: 1,
    csv: "",
  });
  expect(html).toBe(
    "<table>" +
      '<tr><th rowspan="2">Name</th><th colspan="2">Sums</th></tr>' +
      "<tr><th>net</th><th>gross</th></tr>" +
      '<tr><td rowspan="2">&lt;a&gt; &amp; b</td><td>1</td><td>2</td></tr>' +
      "<tr><td>3</td><td>4 5</td></tr>" +
      "</table>",
  );
});
