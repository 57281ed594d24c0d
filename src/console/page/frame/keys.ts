import { open } from '../state/address.ts'
import { hasAll } from '../state/caller.ts'
import { singleKeys, togglePrivacy, toggleZone } from '../state/settings.ts'
import type { View } from '../state/view-names.ts'
import { panel } from './panel.ts'
import { troubles } from './views.ts'

/** What a view does with a key; returns false if the key means nothing there. */
type KeyHandler = (key: string) => boolean

let viewHandler: KeyHandler = () => false

/** Sets the view's own keys, until the returned function is called. */
export function onViewKey(handler: KeyHandler): () => void {
  viewHandler = handler
  return () => {
    if (viewHandler === handler) viewHandler = () => false
  }
}

/** `g` and then a letter goes to a view. */
const GO: Readonly<Partial<Record<string, View>>> = {
  o: 'overview',
  m: 'messages',
  c: 'conversations',
  w: 'webhooks',
  n: 'numbers',
  a: 'apps',
  t: 'all',
}
const GO_WITHIN_MS = 1500

const PAGE_KEYS: Readonly<Record<string, () => void>> = {
  '?': () => void (panel.value = 'keys'),
  p: togglePrivacy,
  u: toggleZone,
  '/': focusSearch,
}

/** Single keys, except in a field. They can be turned off. */
export function followKeys(): void {
  let wentAt = -GO_WITHIN_MS
  addEventListener('keydown', (event) => {
    const isCommand = event.ctrlKey || event.metaKey
    if (isCommand && event.key === 'k') {
      event.preventDefault()
      return focusSearch()
    }
    if (isCommand || event.altKey || isTyping(event) || document.querySelector('dialog[open]')) return
    const isLetter = event.key.length === 1
    if (isLetter && singleKeys.value === 'off') return
    if (event.key === 'g') wentAt = event.timeStamp
    const view = event.timeStamp - wentAt < GO_WITHIN_MS ? GO[event.key] : undefined
    if (view !== undefined && (view !== 'all' || hasAll.value))
      open(view, { tenant: troubles.value[view]?.tenantId ?? '' })
    const isDone = view !== undefined || viewHandler(event.key)
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
