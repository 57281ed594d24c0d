/** A sentence that quotes what is searched for: privacy mode hides that, as the text or number that it is of. */
export const Masked = ({ text, hides }: { text: string; hides: string | undefined }) =>
  hides ? (
    <span>{text.split(hides).map((part, index) => [index > 0 && <span class="mask">{hides}</span>, part])}</span>
  ) : (
    <>{text}</>
  )
