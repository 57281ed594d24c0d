import { useSignal } from '@preact/signals'
import { Icon } from './icon.tsx'

const SHOWN_MS = 1200

/** An icon that copies a text; it becomes a check for a moment. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const isCopied = useSignal(false)
  const copy = async (): Promise<void> => {
    if (!(await copyText(text))) return
    isCopied.value = true
    setTimeout(() => void (isCopied.value = false), SHOWN_MS)
  }
  return (
    <button
      type="button"
      class="icon-button tiny"
      aria-label={isCopied.value ? 'Copied' : label}
      title={label}
      onClick={() => void copy()}
    >
      <Icon name={isCopied.value ? 'sent' : 'copy'} />
    </button>
  )
}

/** Copies to the clipboard; false if the browser refuses, as on a page that is neither HTTPS nor local. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copyBySelection(text)
  }
}

/** The old method, which also works on plain HTTP. */
function copyBySelection(text: string): boolean {
  const area = document.createElement('textarea')
  area.value = text
  area.className = 'hidden'
  document.body.append(area)
  area.select()
  // oxlint-disable-next-line typescript/no-deprecated -- the clipboard API needs HTTPS, and consoles on a home network have none
  const isDone = document.execCommand('copy')
  area.remove()
  return isDone
}
