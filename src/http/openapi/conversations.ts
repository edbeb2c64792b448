// API description: conversations that responses continue.

import { badRequest, pageQuery, tooLarge, type Operations } from "./operation.ts";

const NOT_STORED = "No conversation with this id is stored.";
const NO_ITEM = "No conversation with this id is stored, or it has no item with this id.";
const errors = {
  400: badRequest,
  413: `${tooLarge("100 MiB")} A conversation is larger than --stored-responses-mb, or has more than 10,000 items.`,
};
const withItems = {
  ...errors,
  404: "`not_found`: the conversation, or the item that an item_reference names, is not stored.",
};

export const conversationsOperations: Operations = {
  "POST /v1/conversations": {
    summary: "Create a conversation that responses can continue",
    description: `Items have the form of POST /v1/responses. A response whose conversation field names this conversation
continues it: the items come before its input, and when the response is completed or incomplete, its input and output
are added. Responses that run at the same time are added in the order in which they end.

Conversations are kept in memory, with the same limits on number and size as responses (--stored-responses,
--stored-responses-mb), and are lost when the server ends. Those that changed longest ago are evicted first. A request
without a body makes an empty conversation.`,
    answers: { 200: "The conversation." },
    errors: { ...errors, 404: "`not_found`: the item that an item_reference names is not stored." },
    example: { items: [{ role: "user", content: "My name is Bob." }] },
  },
  "GET /v1/conversations/{id}": {
    summary: "Fetch a conversation",
    answers: { 200: "The conversation, without its items." },
    errors: { 404: NOT_STORED },
  },
  "POST /v1/conversations/{id}": {
    summary: "Replace a conversation's metadata",
    answers: { 200: "The conversation." },
    errors: { ...errors, 404: NOT_STORED },
    example: { metadata: { topic: "demo" } },
  },
  "DELETE /v1/conversations/{id}": {
    summary: "Delete a conversation with its items",
    description: "Running responses continue but are not added to it.",
    answers: { 200: "The conversation is deleted." },
    errors: { 404: NOT_STORED },
  },
  "POST /v1/conversations/{id}/items": {
    summary: "Add items to a conversation",
    answers: { 200: "The items as they are stored; an item whose id is empty or taken gets a new id." },
    errors: withItems,
    example: { items: [{ role: "user", content: "I live in Paris." }] },
  },
  "GET /v1/conversations/{id}/items": {
    summary: "List a conversation's items",
    query: pageQuery("an item"),
    answers: { 200: "One page of items." },
    errors: { 400: badRequest, 404: NO_ITEM },
  },
  "GET /v1/conversations/{id}/items/{item}": {
    summary: "Fetch an item of a conversation",
    answers: { 200: "The item." },
    errors: { 404: NO_ITEM },
  },
  "DELETE /v1/conversations/{id}/items/{item}": {
    summary: "Remove an item from a conversation",
    answers: { 200: "The conversation." },
    errors: { 404: NO_ITEM },
  },
};
