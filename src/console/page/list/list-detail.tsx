import { useSignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useEffect } from 'preact/hooks'
import { onViewKey } from '../frame/keys.ts'
import { type Load, Loaded } from '../frame/loaded.tsx'
import { copyText } from '../parts/copy.tsx'
import { isPhoneWide } from '../parts/media.ts'
import { address, open, param, refine } from '../state/address.ts'
import type { View } from '../state/view-names.ts'
import { closeRow, isOnControl, moveRows, useIsOpened } from './cursor.ts'
import './list.css'
import { type LiveList, Rows } from './rows.tsx'

/** What a row is drawn with. */
export interface Marks {
  isOpen: boolean
  isCursor: boolean
}

/** The open item can move to the adjacent rows. */
export interface OpenedParts {
  move: (step: number) => void
  /** Whether a person opened it. */
  takesFocus: boolean
  close: () => void
}

interface ListDetailProps<Row, Props> {
  view: View
  list: LiveList<Row>
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
  detail: { name: string; load: Load<Props & OpenedParts>; props: Props } | null
}

/** A list, its keys, and the open item beside it. A new row moves neither the visible rows nor the open item. */
export function ListDetail<Row, Props extends object>(props: ListDetailProps<Row, Props>) {
  const { list, name, title = name, detail, opened = idOpened, paramsOf = byId } = props
  const cursor = useSignal('')
  const id = opened()
  const takesFocus = useIsOpened(id)
  const move = (step: number): void =>
    moveRows(list, cursor, opened(), step, (row) => refine(paramsOf(list.keyOf(row))))
  const shut = (): void => closeRow(opened(), paramsOf(''))
  const step = (by: number): void => (list.step ?? move)(by)
  useEffect(
    () => onViewKey((key) => runKey(key, cursor.value, { ...props, opened, paramsOf, move: step, shut })),
    [list],
  )
  useEffect(() => void (document.title = `${title} – sgw`), [])
  return (
    <div class={classOf(detail !== null)}>
      <section class="stack list" aria-label={name} tabIndex={-1}>
        {props.head}
        <ListRows {...props} id={id} cursor={cursor.value} />
        {props.foot}
      </section>
      {detail !== null && (
        <Loaded
          load={detail.load}
          props={{ ...detail.props, move, takesFocus, close: shut }}
          around={(failure) => <FailedDetail name={detail.name} failure={failure} close={shut} />}
        />
      )}
    </div>
  )
}

interface ListRowsProps<Row> extends Pick<
  ListDetailProps<Row, never>,
  'list' | 'name' | 'listKey' | 'draw' | 'empty' | 'instead'
> {
  id: string
  cursor: string
}

/** The rows, or the content in their place. */
function ListRows<Row>({ list, name, listKey, draw, empty, instead, id, cursor }: ListRowsProps<Row>) {
  if (list.shown.value.length === 0) return <>{empty}</>
  if (instead) return <>{instead}</>
  return (
    <Rows
      key={listKey}
      list={list}
      label={`${name}, newest first`}
      cursor={id || cursor}
      draw={(row) => {
        const key = list.keyOf(row)
        return draw(row, { isOpen: key === id, isCursor: key === cursor })
      }}
    />
  )
}

interface FailedDetailProps {
  /** What should be here. */
  name: string
  failure: ComponentChild
  close: () => void
}

/** In place of an open item whose file could not be loaded. On a phone, there is no visible list to return to. */
const FailedDetail = ({ name, failure, close }: FailedDetailProps) => (
  <aside class="detail-failed" aria-label={name}>
    {failure}
    <button type="button" class="button quiet" onClick={close}>
      Back to the list
    </button>
  </aside>
)

/** Beside an open item, and on a phone, a row has room for only a few words. */
const classOf = (isOpen: boolean): string =>
  `list-detail${isOpen ? ' open' : ''}${isOpen || isPhoneWide.value ? ' narrow' : ''}`

const idOpened = (): string => param('id')
const byId = (id: string): Record<string, string> => ({ id })

interface KeyParts extends Pick<ListDetailProps<never, never>, 'view' | 'copied' | 'keys'> {
  opened: () => string
  paramsOf: (key: string) => Record<string, string>
  move: (step: number) => void
  shut: () => void
}

/** What a list does with a key. False if the key means nothing to a list. */
function runKey(key: string, cursor: string, parts: KeyParts): boolean {
  const { view, keys, opened, paramsOf, copied, move, shut } = parts
  const id = opened()
  if (keys?.[key] !== undefined) keys[key]()
  else if (key === 'j') move(1)
  else if (key === 'k') move(-1)
  else if (key === 'Enter' && cursor !== '' && cursor !== id && !isOnControl())
    open(view, { ...address.value.params, ...paramsOf(cursor) })
  else if (key === 'Escape' && id !== '') shut()
  else if (key === 'c' && id !== '') void copyText(copied?.(id) ?? id)
  else return false
  return true
}
