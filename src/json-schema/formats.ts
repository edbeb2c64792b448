// Regular expressions for `format`s. Each matches only valid strings of its format, but for the total length of host names
// and addresses and for Punycode, which it cannot check; some leave out rare valid ones.

const WHOLE_DAYS =
  "[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))";
const LEAP_DAYS = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29";
const DATE = `(?:${WHOLE_DAYS}|${LEAP_DAYS})`;
const CLOCK = "(?:[01][0-9]|2[0-3]):[0-5][0-9]";
/** Without leap seconds. */
const TIME = `${CLOCK}:[0-5][0-9](?:\\.[0-9]{1,9})?(?:Z|[+-]${CLOCK})`;

const LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?";
const HOST = `${LABEL}(?:\\.${LABEL})*`;
const ATOM = "[\\w!#$%&'*+/=?^`{|}~-]+";
const EMAIL = `${ATOM}(?:\\.${ATOM})*@${LABEL}(?:\\.${LABEL})+`;

const OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])";
const HEXTET = "[0-9a-fA-F]{1,4}";
const IPV6_ENDS = Array.from({ length: 6 }, (_, left) => `(?:${HEXTET}:){${left + 1}}(?::${HEXTET}){1,${6 - left}}`);
const IPV6 = `(?:(?:${HEXTET}:){7}${HEXTET}|${IPV6_ENDS.join("|")}|::(?:${HEXTET}(?::${HEXTET}){0,6})?|(?:${HEXTET}:){1,7}:)`;

const PERCENT = "%[0-9A-Fa-f]{2}";
/** Returns URIs, which need more than a scheme here, and references. `letters`: the letters that they may have besides. */
function uri(letters = "") {
  const chars = (more: string) => `(?:[\\w.~!$&'()*+,;=${more}${letters}-]|${PERCENT})`;
  const char = chars(":@");
  const path = `(?:/${char}*)*`;
  const end = `(?:\\?${chars(":@/?")}*)?(?:#${chars(":@/?")}*)?`;
  const server = `(?:${chars(":")}*@)?(?:${chars("")}+|\\[${IPV6}\\])(?::[0-9]{1,5})?`;
  const absolute = `[A-Za-z][A-Za-z0-9+.-]*:(?://(?:${server}${path}|(?:/${char}*)+)|/?${char}+${path})`;
  const relative = `(?://${server}${path}|/(?:${char}+${path})?|${chars("@")}+${path})?`;
  return { absolute: absolute + end, reference: `(?:${absolute}|${relative})${end}` };
}
const URI = uri();
const IRI = uri(
  "\\u00a0-\\ud7ff\\uf900-\\ufdcf\\ufdf0-\\uffef\\u{10000}-\\u{1fffd}\\u{20000}-\\u{2fffd}\\u{30000}-\\u{3fffd}",
);

const NAME = `(?:\\w|${PERCENT})+`;
const VARIABLE = `${NAME}(?:\\.${NAME})*(?:\\*|:[1-9][0-9]{0,3})?`;
const URI_TEMPLATE = `(?:[^\\x00-\\x20"'%<>\\\\^\`{|}\\x7f-\\x9f]|${PERCENT}|\\{[+#./;?&]?${VARIABLE}(?:,${VARIABLE})*\\})*`;

const DAYS = "(?:[0-9]{1,5}Y(?:[0-9]{1,3}M(?:[0-9]{1,3}D)?)?|[0-9]{1,4}M(?:[0-9]{1,3}D)?|[0-9]{1,5}D)";
const HOURS = "(?:[0-9]{1,5}H(?:[0-9]{1,3}M(?:[0-9]{1,3}S)?)?|[0-9]{1,4}M(?:[0-9]{1,3}S)?|[0-9]{1,5}S)";
const POINTER = "(?:/(?:[^~/]|~[01])*)*";

const sources: Readonly<Record<string, string>> = {
  date: DATE,
  time: TIME,
  "date-time": `${DATE}T${TIME}`,
  duration: `P(?:[0-9]{1,4}W|${DAYS}(?:T${HOURS})?|T${HOURS})`,
  email: EMAIL,
  hostname: HOST,
  ipv4: `(?:${OCTET}\\.){3}${OCTET}`,
  ipv6: IPV6,
  uri: URI.absolute,
  "uri-reference": URI.reference,
  iri: IRI.absolute,
  "iri-reference": IRI.reference,
  "uri-template": URI_TEMPLATE,
  uuid: "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}",
  "json-pointer": POINTER,
  "relative-json-pointer": `(?:0|[1-9][0-9]{0,8})(?:#|${POINTER})`,
};

const FORMATS: ReadonlyMap<string, string> = new Map(Object.entries(sources));
/** Formats of JSON Schema that no grammar can follow. Names that JSON Schema does not define constrain nothing. */
const INEXPRESSIBLE = new Set(["regex", "idn-email", "idn-hostname"]);

/** Returns a regular expression for whole strings of a format, or undefined when there is none. */
export function formatPattern(format: string): string | undefined {
  const source = FORMATS.get(format);
  return source === undefined ? undefined : `^${source.includes("|") ? `(?:${source})` : source}$`;
}

export const isKnownFormat = (format: string): boolean => FORMATS.has(format) || INEXPRESSIBLE.has(format);
