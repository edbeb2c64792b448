// Regular expressions for `format`s. Each matches only valid strings of its format; some leave out rare valid ones.

const WHOLE_DAYS =
  "[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))";
const LEAP_DAYS = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29";
const DATE = `(?:${WHOLE_DAYS}|${LEAP_DAYS})`;
const CLOCK = "(?:[01][0-9]|2[0-3]):[0-5][0-9]";
/** Without leap seconds. */
const TIME = `${CLOCK}:[0-5][0-9](?:\\.[0-9]{1,9})?(?:Z|[+-]${CLOCK})`;

const LABEL = "[a-z0-9]{1,15}(?:-[a-z0-9]{1,15}){0,2}";
const HOST = `${LABEL}(?:\\.${LABEL}){0,3}`;
const DOMAIN = `(?:${LABEL}\\.){1,3}[a-z]{2,15}`;
const LOCAL_PART = "[A-Za-z0-9_]{1,20}(?:[.+-][A-Za-z0-9_]{1,20}){0,2}";

const OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])";
const HEXTET = "[0-9a-fA-F]{1,4}";
const IPV6_ENDS = Array.from({ length: 6 }, (_, left) => `(?:${HEXTET}:){${left + 1}}(?::${HEXTET}){1,${6 - left}}`);
const IPV6 = `(?:(?:${HEXTET}:){7}${HEXTET}|${IPV6_ENDS.join("|")}|::(?:${HEXTET}(?::${HEXTET}){0,6})?|(?:${HEXTET}:){1,7}:)`;

const PATH_CHARS = "(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-F]{2})";
const QUERY = `(?:\\?(?:${PATH_CHARS}|[/?])*)?`;
const FRAGMENT = `(?:#(?:${PATH_CHARS}|[/?])*)?`;
const WEB = `(?:https?|ftp|wss?)://${HOST}(?::[1-9][0-9]{0,3})?(?:/${PATH_CHARS}*)*${QUERY}${FRAGMENT}`;
const OTHER_URI = `(?:mailto:${LOCAL_PART}@${DOMAIN}|tel:[+]?[0-9]{3,15}|urn:[a-z0-9]{2,15}:${PATH_CHARS}+)`;
const URI = `(?:${WEB}|${OTHER_URI})`;
const RELATIVE = `(?:/(?:${PATH_CHARS}+(?:/${PATH_CHARS}*)*)?)?${QUERY}${FRAGMENT}`;

const DAYS = "(?:[0-9]{1,5}Y(?:[0-9]{1,3}M(?:[0-9]{1,3}D)?)?|[0-9]{1,4}M(?:[0-9]{1,3}D)?|[0-9]{1,5}D)";
const HOURS = "(?:[0-9]{1,5}H(?:[0-9]{1,3}M(?:[0-9]{1,3}S)?)?|[0-9]{1,4}M(?:[0-9]{1,3}S)?|[0-9]{1,5}S)";
const POINTER = "(?:/(?:[^~/]|~[01])*)*";

const sources: Readonly<Record<string, string>> = {
  date: DATE,
  time: TIME,
  "date-time": `${DATE}T${TIME}`,
  duration: `P(?:[0-9]{1,4}W|${DAYS}(?:T${HOURS})?|T${HOURS})`,
  email: `${LOCAL_PART}@${DOMAIN}`,
  hostname: HOST,
  ipv4: `(?:${OCTET}\\.){3}${OCTET}`,
  ipv6: IPV6,
  uri: URI,
  "uri-reference": `(?:${URI}|${RELATIVE})`,
  uuid: "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}",
  "json-pointer": POINTER,
  "relative-json-pointer": `(?:0|[1-9][0-9]{0,8})(?:#|${POINTER})`,
};

/** Formats that accept every string of another format; the other format's expression is used. */
const narrower: Readonly<Record<string, string>> = {
  "idn-email": "email",
  "idn-hostname": "hostname",
  iri: "uri",
  "iri-reference": "uri-reference",
  "uri-template": "uri",
};

const FORMATS: ReadonlyMap<string, string> = new Map([
  ...Object.entries(sources),
  ...Object.entries(narrower).map(([name, other]): [string, string] => [name, String(sources[other])]),
]);
/** Formats of JSON Schema that no grammar can follow. Names that JSON Schema does not define constrain nothing. */
const INEXPRESSIBLE = new Set(["regex"]);

/** Returns a regular expression for whole strings of a format, or undefined when there is none. */
export function formatPattern(format: string): string | undefined {
  const source = FORMATS.get(format);
  return source === undefined ? undefined : `^${source.includes("|") ? `(?:${source})` : source}$`;
}

export const isKnownFormat = (format: string): boolean => FORMATS.has(format) || INEXPRESSIBLE.has(format);
