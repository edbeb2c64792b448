// Shows a model's text as formatted blocks; blocks that do not change are not rendered again.

import { useMemo, useState } from "preact/hooks";
import type { Block } from "../logic/markdown.ts";
import { Act } from "./act.tsx";
import { copyText } from "./browser.ts";
import { usePage } from "./context.ts";

export function Markdown({ text }: { readonly text: string }) {
  const { toBlocks } = usePage();
  const blocks = useMemo(() => toBlocks(text), [text]);
  return (
    <div class="markdown">
      {blocks.map((block, index) => (
        <BlockView key={index} block={block} />
      ))}
    </div>
  );
}

function BlockView({ block: { html, code } }: { readonly block: Block }) {
  const { sanitised } = usePage();
  return useMemo(() => {
    const content = <div class="block" dir="auto" dangerouslySetInnerHTML={{ __html: sanitised(html) }} />;
    if (!code) return content;
    return (
      <div class="code">
        <div class="code-head">
          <span>{code.language || "text"}</span>
          <CopyButton text={code.text} label="Copy code" />
        </div>
        {content}
      </div>
    );
  }, [html, code?.language]);
}

export function CopyButton({ text, label }: { readonly text: string; readonly label: string }) {
  const [state, setState] = useState<"" | "done" | "refused">("");
  const copy = async () => {
    const end = await copyText(text).then(
      () => "done" as const,
      () => "refused" as const,
    );
    setState(end);
    setTimeout(() => setState(""), end === "done" ? 1500 : 5000);
  };
  const isDone = state === "done";
  return (
    <>
      <Act icon={isDone ? "check" : "copy"} label={isDone ? "Copied" : label} onClick={() => void copy()} />
      {state === "refused" && (
        <span class="error" role="alert">
          The browser does not allow copying.
        </span>
      )}
    </>
  );
}
