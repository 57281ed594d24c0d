import { open } from '../state/address.ts'
import { privacy, singleKeys, timeZone } from '../state/settings.ts'
import { panel } from './panel.ts'

/** What a view does with a key; it returns false if the key means nothing there. */
type KeyHandler = (key: string) => boolean

let viewHandler: KeyHandler = () => false

/** The view's own keys, until the returned function is called. */
export function onViewKey(handler: KeyHandler): () => void {
  viewHandler = handler
  return () => {
    if (viewHandler === handler) viewHandler = () => false
  }
}

/** `g` and then a letter goes to a view. */
const GO: Readonly<Record<string, () => void>> = {
  o: () => open('overview'),
  m: () => open('messages'),
  c: () => open('conversations'),
  w: () => open('webhooks'),
  n: () => open('numbers'),
  a: () => open('apps'),
}
const GO_WITHIN_MS = 1500

const PAGE_KEYS: Readonly<Record<string, () => void>> = {
  '?': () => void (panel.value = 'keys'),
  p: () => void (privacy.value = privacy.value === 'on' ? 'off' : 'on'),
  u: () => void (timeZone.value = timeZone.value === 'utc' ? 'local' : 'utc'),
  '/': focusSearch,
}

/** Single keys, anywhere but in a field. They can be switched off. */
export function followKeys(): void {
  let wentAt = -GO_WITHIN_MS
  addEventListener('keydown', (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === 'k') {
      event.preventDefault()
      return focusSearch()
    }
    if (
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      isTyping(event) ||
      document.querySelector('dialog[open]') !== null
    )
      return
    const isLetter = event.key.length === 1
    if (isLetter && singleKeys.value === 'off') return
    if (event.key === 'g') wentAt = event.timeStamp
    const run = event.timeStamp - wentAt < GO_WITHIN_MS ? GO[event.key] : undefined
    const isDone = run === undefined ? viewHandler(event.key) : (run(), true)
    if (!isDone) PAGE_KEYS[event.key]?.()
    if (isDone || PAGE_KEYS[event.key] !== undefined) event.preventDefault()
  })
}

const isTyping = ({ target }: Event): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/** Focuses the search field of the view; from another view, goes to Messages first. */
export function focusSearch(): void {
  const find = (): HTMLElement | null => document.querySelector<HTMLElement>('[data-search]')
  if (find() !== null) return find()?.focus()
  open('messages')
  requestAnimationFrame(() => find()?.focus())
}
