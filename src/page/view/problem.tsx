// An error message; nothing when the text is empty.

export const Problem = ({ text }: { readonly text: string | undefined }) =>
  text ? (
    <p class="error" role="alert">
      {text}
    </p>
  ) : null;
