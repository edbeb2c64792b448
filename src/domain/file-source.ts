/** The file of a request that was not sent as multipart: a path on the server, or base64; `field`: its request field. */
export type FileSource =
  | { readonly kind: "path"; readonly path: string; readonly field: string }
  | { readonly kind: "data"; readonly data: string; readonly field: string };
