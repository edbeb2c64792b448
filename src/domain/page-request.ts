/** The requested page of a list. */
export interface PageRequest {
  readonly limit: number;
  readonly order: "asc" | "desc";
  /** Id of the item before the first item of the page; undefined: the page starts the list. */
  readonly after: string | undefined;
}
