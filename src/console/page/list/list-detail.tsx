import { useSignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { onViewKey } from '../frame/keys.ts'
import { type Load, Loaded } from '../frame/loaded.tsx'
import { Button } from '../parts/button.tsx'
import { copyText } from '../parts/copy.tsx'
import { isPhoneWide } from '../parts/media.ts'
import { address, open, param, refine } from '../state/address.ts'
import type { View } from '../state/view-names.ts'
import { closeRow } from './cursor.ts'
import './list.css'
import type { PagedList } from './paged-list.ts'
import { Rows } from './rows.tsx'

/** What a row is drawn with. */
export interface Marks {
  isOpen: boolean
  isCursor: boolean
}

/** The open item can move to the adjacent rows. */
interface OpenedParts {
  move: (step: number) => void
  /** Whether a person opened it. */
  takesFocus: boolean
  close: () => void
}

interface ListDetailProps<Row, Props> {
  view: View
  list: PagedList<Row>
  /** `Messages`, for screen readers. */
  name: string
  /** The page's title, if it is not the name. */
  title?: string
  /** A different key is a different list, which begins at its top. */
  listKey: string
  /** The key of what the address opens, by default its `id`; '' if it opens nothing. Read again at each key press. */
  opened?: () => string
  /** The parameters of the address that open the row of a key; for '', those that open nothing. */
  paramsOf?: (key: string) => Record<string, string>
  /** The text to copy for the open item; by default its key. */
  copied?: (key: string) => string
  /** What the view's own keys do. */
  keys?: Readonly<Record<string, () => void>>
  draw: (row: Row, marks: Marks) => ComponentChild
  head: ComponentChild
  /** The content if there are no rows. */
  empty: ComponentChild
  /** The content that replaces existing rows; null without it. */
  instead?: ComponentChild | null
  foot: ComponentChild
  /** The open item beside the list or in its place, from a separate file; null if nothing is open. */
  detail: { name: string; class?: string; load: Load<Props & OpenedParts>; props: Props } | null
}

/** A list, its keys, and the open item beside it. A new row moves neither the visible rows nor the open item. */
export function ListDetail<Row, Props extends object>(props: ListDetailProps<Row, Props>) {
  const { list, name, title = name, detail, draw } = props
  const { id, cursor, move, close } = useKeys(props)
  useEffect(() => void (document.title = `${title} – sgw`), [])
  const { takesFocus, aside } = useFocus(id)
  const rows = props.instead || (
    <Rows
      key={props.listKey}
      list={list}
      label={`${name}, newest first`}
      cursor={id || cursor.value}
      draw={(row) => draw(row, { isOpen: list.keyOf(row) === id, isCursor: list.keyOf(row) === cursor.value })}
    />
  )
  return (
    <div class={classOf(detail !== null)}>
      <section class="stack list" aria-label={name} tabIndex={-1}>
        {props.head}
        {list.shown.value.length === 0 ? props.empty : rows}
        {props.foot}
      </section>
      {detail !== null && (
        <aside
          key={id}
          class={detail.class ?? 'detail'}
          aria-label={detail.name}
          tabIndex={-1}
          ref={aside}
          onKeyDown={leaveField}
        >
          <Loaded load={detail.load} props={{ ...detail.props, move, takesFocus, close }} around={failedWith(close)} />
        </aside>
      )}
    </div>
  )
}

/** What a person opens takes the focus; what is open when the page is loaded does not. */
function useFocus(id: string) {
  const aside = useRef<HTMLElement>(null)
  const atLoad = useRef<string | null>(id)
  if (id !== atLoad.current) atLoad.current = null
  const takesFocus = id !== atLoad.current
  useEffect(() => {
    if (takesFocus) aside.current?.focus()
  }, [id])
  return { takesFocus, aside }
}

/** Esc in a field moves the focus to where single keys work. */
function leaveField({ key, target, currentTarget }: KeyboardEvent): void {
  if (key === 'Escape' && target instanceof Element && target.matches('input, textarea'))
    (currentTarget as HTMLElement).focus()
}

/** In place of an open item whose file could not be loaded. On a phone, there is no visible list to return to. */
const failedWith = (close: () => void) => (failure: ComponentChild) => (
  <>
    {failure}
    <Button text="Back to the list" class="button quiet" run={close} />
  </>
)

/** Beside an open item, and on a phone, a row has room for only a few words. */
const classOf = (isOpen: boolean): string =>
  `list-detail${isOpen ? ' open' : ''}${isOpen || isPhoneWide.value ? ' narrow' : ''}`

/** The next page is loaded this many rows before the end of the loaded ones. */
const LOAD_AHEAD_ROWS = 5

/** The open item, and what keys and buttons do with it and with the cursor. */
function useKeys<Row>(props: Omit<ListDetailProps<Row, never>, 'detail'>) {
  const { view, list, keys = {}, copied, opened = () => param('id'), paramsOf = (id) => ({ id }) } = props
  const cursor = useSignal('')
  /** Moves the cursor to the next or previous row. With an open one, that row opens in its place. */
  const move = (step: number): void => {
    const rows = list.shown.value
    const at = rows.findIndex((row) => list.keyOf(row) === (opened() || cursor.value))
    const next = rows[at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + step))]
    if (next === undefined) return
    cursor.value = list.keyOf(next)
    if (opened() !== '') refine(paramsOf(cursor.value))
    if (at + step >= rows.length - LOAD_AHEAD_ROWS) void list.loadMore()
  }
  const close = (): void => closeRow(opened(), paramsOf(''))
  /** False if the key means nothing to a list. */
  const runKey = (key: string): boolean => {
    const id = opened()
    if (keys[key] !== undefined) keys[key]()
    else if (list.step?.(key) === true) return true
    else if (key === 'j') move(1)
    else if (key === 'k') move(-1)
    else if (key === 'Enter' && cursor.value !== '' && cursor.value !== id && !isOnControl())
      open(view, { ...address.value.params, ...paramsOf(cursor.value) })
    else if (key === 'Escape' && id !== '') close()
    else if (key === 'c' && id !== '') void copyText(copied?.(id) ?? id)
    else return false
    return true
  }
  useEffect(() => onViewKey(runKey))
  return { id: opened(), cursor, move, close }
}

/** Whether Enter means something else. Otherwise, it opens the row at the cursor, wherever the focus is. */
const isOnControl = (): boolean => document.activeElement?.matches('a:not(.row), button, summary') === true
