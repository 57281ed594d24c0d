import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'

type Take = (files: Iterable<File>) => void

/** What a browser offers first. Some browsers then convert a photo in a format that phones do not accept. */
const ACCEPT = 'image/jpeg,image/png,image/gif,image/webp,image/bmp,image/tiff,video/*,audio/*,.pdf,.vcf,.ics,.txt'

/** Opens the system's file picker. */
export function AttachButton({ take }: { take: Take }) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <button type="button" class="button quiet" onClick={() => input.current?.click()}>
        Attach
      </button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        accept={ACCEPT}
        aria-label="Files to attach"
        onChange={({ currentTarget }) => {
          take(currentTarget.files ?? [])
          // The same file can be chosen again after it was removed.
          currentTarget.value = ''
        }}
      />
    </>
  )
}

/** Takes files that are dropped anywhere on the page, which a browser would otherwise open. Says whether files are being dragged over it. */
export function useDrop(take: Take | null) {
  const isOver = useSignal(false)
  useEffect(() => {
    const drag = (event: DragEvent): void => {
      if (take === null || !event.dataTransfer?.types.includes('Files')) return
      event.preventDefault()
      isOver.value = event.type === 'dragover'
      if (event.type === 'drop') take(event.dataTransfer.files)
    }
    const names = ['dragover', 'dragleave', 'drop'] as const
    for (const name of names) document.addEventListener(name, drag)
    return () => names.forEach((name) => document.removeEventListener(name, drag))
  })
  return isOver
}

/** Pasted files. Text that an office program copies also comes with a picture of it. */
export const pastedFiles = ({ clipboardData }: ClipboardEvent): readonly File[] =>
  clipboardData === null || clipboardData.getData('text/plain') !== '' ? [] : [...clipboardData.files]
