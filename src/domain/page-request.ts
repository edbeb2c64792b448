/** Which page of a list is wanted. */
export interface PageRequest {
  readonly limit: number;
  readonly order: "asc" | "desc";
  /** Id of the item before the first that is wanted. */
  readonly after: string | undefined;
}
