/** A sentence that quotes a search. Privacy mode hides the quoted text or number. */
export const Masked = ({ text, hides }: { text: string; hides: string | undefined }) =>
  hides ? (
    <span>{text.split(hides).map((part, index) => [index > 0 && <span class="mask">{hides}</span>, part])}</span>
  ) : (
    <>{text}</>
  )
