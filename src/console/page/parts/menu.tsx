import './menu.css'
import { type Signal, useSignal } from '@preact/signals'
import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

export interface MenuItem {
  label: string
  hint?: string
  isChosen?: boolean
  run(): void
}

interface MenuProps {
  /** What the button is called, if its content does not say it. */
  label?: string
  items: readonly MenuItem[]
  opened?: () => void
  class?: string
  children: ComponentChildren
}

/** A button that opens a menu. Arrow keys move, Enter chooses, Esc closes and returns the focus. */
export function Menu({ label, items, opened, class: className = 'button quiet', children }: MenuProps) {
  const isOpen = useSignal(false)
  const root = useRef<HTMLDivElement>(null)
  const close = (): void => {
    isOpen.value = false
    root.current?.querySelector('button')?.focus()
  }
  const toggle = (): void => {
    isOpen.value = !isOpen.value
    if (isOpen.value) opened?.()
  }
  useFocusInside(root, isOpen)
  return (
    <div class="menu" ref={root}>
      <button
        type="button"
        class={className}
        aria-haspopup="menu"
        aria-expanded={isOpen.value}
        aria-label={label}
        onClick={toggle}
      >
        {children}
      </button>
      {isOpen.value && (
        <ul class="floating menu-items" role="menu" onKeyDown={(event) => onMenuKey(event, close)}>
          {items.map((item) => (
            <ItemButton key={item.label} item={item} close={close} />
          ))}
        </ul>
      )}
    </div>
  )
}

/** While the menu is open, it has the focus, and a click elsewhere closes it. */
function useFocusInside(root: RefObject<HTMLElement | null>, isOpen: Signal<boolean>): void {
  useEffect(() => {
    if (!isOpen.value) return
    root.current?.querySelector<HTMLElement>('[role^=menuitem]')?.focus()
    const leave = (event: Event): void => {
      if (event.target instanceof Node && root.current?.contains(event.target) !== true) isOpen.value = false
    }
    document.addEventListener('pointerdown', leave)
    return () => document.removeEventListener('pointerdown', leave)
  }, [isOpen.value])
}

const ItemButton = ({ item, close }: { item: MenuItem; close: () => void }) => (
  <li role="none">
    <button
      type="button"
      class="item"
      role={item.isChosen === undefined ? 'menuitem' : 'menuitemradio'}
      aria-checked={item.isChosen}
      tabIndex={-1}
      onClick={() => {
        close()
        item.run()
      }}
    >
      <span>{item.label}</span>
      {item.hint !== undefined && <span class="dim small">{item.hint}</span>}
    </button>
  </li>
)

function onMenuKey(event: KeyboardEvent, close: () => void): void {
  const items = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('[role^=menuitem]')]
  const at = items.findIndex((item) => item === document.activeElement)
  const steps: Partial<Record<string, number>> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }
  const next = steps[event.key]
  if (event.key === 'Escape' || event.key === 'Tab') close()
  else if (next !== undefined) items.at(next % items.length)?.focus()
  else return
  event.stopPropagation()
  if (event.key !== 'Tab') event.preventDefault()
}
