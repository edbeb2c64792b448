// Starts the page.

import { render } from "preact";
import { createMarkdown } from "./logic/markdown.ts";
import { Api } from "./state/api.ts";
import { History } from "./state/history.ts";
import { Kept } from "./state/kept.ts";
import { Session } from "./state/session.ts";
import { Watch } from "./state/watch.ts";
import { App } from "./view/app.tsx";
import { PageContext } from "./view/context.ts";
import { applyTheme } from "./view/theme.ts";

const kept = new Kept("localStorage");
applyTheme(kept);
const api = new Api();
const session = new Session(api, kept);
const speech = { stop: () => {} };
const page = { api, kept, session, watch: new Watch(api), toBlocks: createMarkdown(), speech };
// Without a database, as in some private windows, everything but the history works.
await History.open((change) => void session.changedElsewhere(change))
  .then((history) => session.chats.use(history))
  .then(() => session.restoreAnswers())
  .catch(() => {});
// Browsers discard hidden tabs without a further word, and end a request before they hide a tab to reload it.
addEventListener("visibilitychange", () => document.hidden && session.keepAnswers());
addEventListener("beforeunload", () => session.keepAnswers());
render(
  <PageContext.Provider value={page}>
    <App />
  </PageContext.Provider>,
  document.body,
);
await session.loadModels();
