// What went wrong, in a sentence; nothing where nothing did.

export const Problem = ({ text }: { readonly text: string | undefined }) =>
  text ? (
    <p class="error" role="alert">
      {text}
    </p>
  ) : null;
