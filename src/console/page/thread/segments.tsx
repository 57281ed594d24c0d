import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Preview } from '../../../client/client.ts'
import { client } from '../state/caller.ts'

const COUNT_AFTER_MS = 400

/** How many SMS a text takes and why, as the gateway counts it; nothing until that is known. */
export function Segments({ text }: { text: string }) {
  const preview = useSignal<Preview | null>(null)
  const sgw = client.value
  useEffect(() => {
    if (text === '' || sgw === null) return void (preview.value = null)
    const timer = setTimeout(() => {
      void sgw.sms.preview(text).then(
        (answer) => void (preview.value = answer),
        () => undefined,
      )
    }, COUNT_AFTER_MS)
    return () => clearTimeout(timer)
  }, [text, sgw])
  return <>{preview.value === null ? '\u00a0' : <Size {...preview.value} />}</>
}

/** `1 segment, GSM-7, 65 of 160 characters`, `2 segments, UCS-2 because of “ő”, 80 of 134 characters`. */
function Size({ segments, encoding, characters, nonGsmCharacters: [cause] }: Preview) {
  const [alone, part] = encoding === 'GSM-7' ? [160, 153] : [70, 67]
  return (
    <>
      {segments === 1 ? '1 segment' : `${segments} segments`}, {encoding}
      {cause !== undefined && (
        <>
          {' '}
          because of <bdi class="mask">{visible(cause)}</bdi>
        </>
      )}
      , {characters} of {segments === 1 ? alone : segments * part} characters
    </>
  )
}

/** An invisible character, such as a zero-width space, by its code. */
const visible = (character: string): string =>
  /[\p{C}\p{Z}\p{M}]/u.test(character)
    ? `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
    : `“${character}”`
