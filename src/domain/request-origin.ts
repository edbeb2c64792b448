/** Whose request it is and how long it is wanted, whatever it asks for. */
export interface RequestOrigin {
  /** Correlation id; also the handle for cancelling. */
  readonly id: string;
  /** Whose request it is: clients take turns. Absent: nobody's in particular. */
  readonly client?: string | undefined;
  /** Milliseconds since 1970 after which nobody wants an answer; of text, what there is by then is the answer. */
  readonly deadline?: number | undefined;
  /** Nobody waits for it: it takes what room others leave, and gives it back when they come. */
  readonly background?: true | undefined;
  /** It came through another svc already, and is answered here or not at all: so no circle of servers can come about. */
  readonly forwarded?: true;
}
