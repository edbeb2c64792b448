// Sentences about people in the vocabulary that svc-mini was trained on, and the JSON that they describe.

export interface Person {
  readonly name: string;
  readonly age: number;
  readonly city: string;
  readonly job: string;
  readonly email: string;
  readonly phone: string;
}

const NAMES = ["Tom", "Anna", "Bob", "Lisa", "Max", "Emma", "Paul", "Mia"] as const;
const CITIES = ["Paris", "Rome", "Berlin", "Madrid", "London", "Vienna", "Oslo", "Tokyo"] as const;
const JOBS = ["teacher", "doctor", "nurse", "farmer", "pilot", "baker", "lawyer"] as const;

const at = <T>(list: readonly [T, ...T[]], index: number): T => list[index % list.length] ?? list[0];

/** Returns the person with this number; numbers below several thousand give different people. */
export function person(number: number): Person {
  const name = at(NAMES, number);
  return {
    name,
    age: 20 + ((number * 7) % 60),
    city: at(CITIES, number * 3 + Math.floor(number / 8)),
    job: at(JOBS, number * 5),
    email: `${name.toLowerCase()}${100 + ((number * 37) % 900)}@example.com`,
    phone: `${100 + ((number * 131) % 900)}-${100 + ((number * 257) % 900)}`,
  };
}

/** Returns a text with the values of these fields; `name` comes first. */
export function describePerson(one: Person, keys: readonly (keyof Person)[]): string {
  const says: Record<keyof Person, string> = {
    name: "",
    age: `is ${one.age} years old`,
    city: `lives in ${one.city}`,
    job: `works as a ${one.job}`,
    email: `has the email ${one.email}`,
    phone: `has the phone number ${one.phone}`,
  };
  const parts = keys.filter((key) => key !== "name").map((key) => says[key]);
  const last = parts.pop() ?? "";
  return `${one.name} ${parts.length > 0 ? `${parts.join(", ")} and ` : ""}${last}.`;
}

/** Joins keys as in "name, age and city". */
export const listKeys = (keys: readonly string[]): string => `${keys.slice(0, -1).join(", ")} and ${keys.at(-1)}`;

/** Returns the values of these fields, as an answer must have them. */
export const pickFields = (one: Person, keys: readonly (keyof Person)[]): Record<string, unknown> =>
  Object.fromEntries(keys.map((key) => [key, one[key]]));
