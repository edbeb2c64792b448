// The place in the page that the URL's fragment names.

export interface Place {
  readonly view: "chat" | "watch";
  /** The shown chat; absent for a new one. */
  readonly id?: string;
}

export const hashOf = ({ view, id }: Place): string => (view === "watch" ? "#watch" : id ? `#chat/${id}` : "#chat");

export function placeOf(hash: string): Place {
  const [view, id] = hash.replace(/^#/, "").split("/", 2);
  if (view === "watch") return { view };
  return { view: "chat", ...(id && { id }) };
}
