// Finds groups of rules of a GBNF grammar that reach one another. Hundreds of thousands of rules may be nested.

/**
 * Returns the strongly connected components of a graph, given as the targets of each node. Each component comes after
 * all components that it reaches. Tarjan's algorithm, without recursion.
 */
export function components(graph: readonly (readonly number[])[]): number[][] {
  const found: number[][] = [];
  const order = new Int32Array(graph.length).fill(-1);
  const lowest = new Int32Array(graph.length);
  const next = new Int32Array(graph.length);
  const isOpen = new Uint8Array(graph.length);
  const open: number[] = [];
  let count = 0;
  for (let start = 0; start < graph.length; start++) {
    if (order[start] !== -1) continue;
    const path = [start];
    for (let node = path.at(-1); node !== undefined; node = path.at(-1)) {
      if (order[node] === -1) {
        order[node] = lowest[node] = count++;
        open.push(node);
        isOpen[node] = 1;
      }
      const target = graph[node]?.[next[node] as number];
      if (target !== undefined) {
        next[node] = (next[node] as number) + 1;
        if (order[target] === -1) path.push(target);
        else if (isOpen[target]) lowest[node] = Math.min(lowest[node] as number, order[target] as number);
        continue;
      }
      path.pop();
      const parent = path.at(-1);
      if (parent !== undefined) lowest[parent] = Math.min(lowest[parent] as number, lowest[node] as number);
      if (lowest[node] !== order[node]) continue;
      const component = open.splice(open.lastIndexOf(node));
      for (const member of component) isOpen[member] = 0;
      found.push(component);
    }
  }
  return found;
}
