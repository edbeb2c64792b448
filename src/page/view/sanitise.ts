// The only way to add markup to the page: its content security policy rejects all other HTML text.

import DOMPurify from "dompurify";

const TAGS =
  "p br hr h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code span strong em del a table thead tbody tr th td sup sub";
const ATTRIBUTES = ["href", "target", "rel", "class", "align", "start"];

/** Removes everything from HTML that could run or load. */
export const sanitised = (html: string): string =>
  DOMPurify.sanitize(html, {
    ALLOWED_TAGS: TAGS.split(" "),
    ALLOWED_ATTR: ATTRIBUTES,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    RETURN_TRUSTED_TYPE: true,
    // The result is a TrustedHTML in browsers that support it.
  }) as unknown as string;
