// Things that belong together through others.

/** The numbers from 0 to `count`, grouped so that those that are tied, also through others, are in one group. */
export function groups(count: number, ties: Iterable<readonly [number, number]>): number[][] {
  const parent = Array.from({ length: count }, (_, at) => at);
  const root = (of: number): number => {
    let at = of;
    for (let above = parent[at] ?? at; above !== at; above = parent[at] ?? at) {
      parent[at] = parent[above] ?? above;
      at = above;
    }
    return at;
  };
  for (const [one, two] of ties) parent[root(one)] = root(two);
  const found = new Map<number, number[]>();
  for (let at = 0; at < count; at++) {
    const of = root(at);
    const group = found.get(of);
    if (group) group.push(at);
    else found.set(of, [at]);
  }
  return [...found.values()];
}
