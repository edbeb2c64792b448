// Texts that models may write.

/** All features of Markdown, and content that must be blocked. */
export const EVERYTHING = `## Sorting a list

Quicksort takes a **pivot** and puts what is smaller before it. It needs *O(n log n)* steps, mostly; see [the article](https://en.wikipedia.org/wiki/Quicksort).

\`\`\`python
def quicksort(items: list[int]) -> list[int]:
    """Sorted, smallest first."""
    if len(items) <= 1:
        return items  # nothing to do
    pivot, *rest = items
    return quicksort([x for x in rest if x < pivot]) + [pivot] + quicksort([x for x in rest if x >= pivot])
\`\`\`

1. Choose a pivot.
2. Split the rest with \`<\` and \`>=\`.
   - smaller before
   - larger behind

> It is rarely worth writing it yourself.

| Algorithm | Mean | Worst |
| --- | --- | ---: |
| Quicksort | n log n | n² |
| Mergesort | n log n | n log n |

- [x] read
- [ ] written
`;

/** Text from right to left, with words and code that are not. */
export const ARABIC = `الفرز السريع هو خوارزمية: تختار \`pivot()\` ثم تقسم القائمة.

1. اختر عنصرا.
2. قسم الباقي.

> نادرا ما تكتبه بنفسك.

\`\`\`js
sort(list);
\`\`\`

Then in English.
`;

export const HOSTILE = `<img src=x onerror="document.title='broken'"> <script>document.title='broken'</script>
[click](javascript:document.title='broken') ![](https://example.com/leak?secret=1)

<iframe src="https://example.com"></iframe><style>body { display: none }</style>

| <svg onload="document.title='broken'"> |
| --- |

\`\`\`html"><img src=x onerror=alert(1)>
<script>alert(1)</script>
\`\`\``;
