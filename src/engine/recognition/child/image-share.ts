// Measures how much of a PDF page is covered by images.

import type { Box } from "../../../domain/recognition.ts";
import { chain, projectBox, translation, type Projection } from "../../../recognition/projection.ts";
import type { Pdfium } from "./pdfium.ts";

/** Most objects that are counted: more than any page has that is meant to be read. */
const MOST_OBJECTS = 200_000;
/** Type numbers of a page's objects. */
const [IMAGE, FORM] = [3, 5];

/** Returns the share of a page's area under images, also those in forms: scans come in strips and in forms. */
export function imageShare(pdfium: Pdfium, page: number): number {
  const { functions } = pdfium;
  return pdfium.within(24, (scratch) => {
    functions._FPDF_GetPageBoundingBox(page, scratch);
    const [x = 0, top = 0, right = 0, y = 0] = pdfium.floats(scratch, 4);
    const paper = { width: right - x, height: top - y };
    let [seen, covered] = [0, 0];
    const add = (count: number, objectAt: (index: number) => number, place: Projection): void => {
      for (let index = 0; index < count && seen < MOST_OBJECTS; index++) {
        seen++;
        const object = objectAt(index);
        const type = functions._FPDFPageObj_GetType(object);
        if (type === IMAGE) {
          const { width, height } = projectBox(place, boundsOf(pdfium, object, scratch), paper);
          covered += width * height;
        }
        if (type !== FORM) continue;
        const within = chain(matrixOf(pdfium, object, scratch), place);
        const at = (part: number) => functions._FPDFFormObj_GetObject(object, part);
        add(functions._FPDFFormObj_CountObjects(object), at, within);
      }
    };
    const at = (index: number) => functions._FPDFPage_GetObject(page, index);
    add(functions._FPDFPage_CountObjects(page), at, translation(-x, -y));
    return Math.min(1, covered / (paper.width * paper.height));
  });
}

/** Returns the bounds of an object in the coordinates of its parent; an empty box if it has none. */
function boundsOf(pdfium: Pdfium, object: number, scratch: number): Box {
  const [left, bottom, right, top] = [scratch, scratch + 4, scratch + 8, scratch + 12];
  const isThere = pdfium.functions._FPDFPageObj_GetBounds(object, left, bottom, right, top) !== 0;
  const [x = 0, y = 0, x2 = x, y2 = y] = isThere ? pdfium.floats(scratch, 4) : [];
  return { x, y, width: x2 - x, height: y2 - y };
}

/** Returns the transformation of a form's points to the coordinates of its parent. */
function matrixOf(pdfium: Pdfium, form: number, scratch: number): Projection {
  pdfium.functions._FPDFPageObj_GetMatrix(form, scratch);
  const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = pdfium.floats(scratch, 6);
  return [a, c, e, b, d, f, 0, 0, 1];
}
