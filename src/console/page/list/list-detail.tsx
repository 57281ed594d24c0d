import type { ComponentChild } from 'preact'
import './list.css'
import { type LiveList, Rows } from './rows.tsx'

interface ListDetailProps<Row> {
  list: LiveList<Row>
  /** `Messages`; a screen reader says it. */
  name: string
  /** Another one is another list, which begins at its top. */
  listKey: string
  /** The row that is open, or that the keys are at; '' without one. */
  cursor: string
  draw: (row: Row) => ComponentChild
  head: ComponentChild
  /** What stands in place of rows. */
  empty: ComponentChild
  foot: ComponentChild
  /** What is open beside the list, or in its place; null if nothing is. */
  detail: ComponentChild | null
}

/** A list with what is open beside it. An arriving row moves neither what is visible nor what is open. */
export function ListDetail<Row>({ list, name, listKey, cursor, draw, ...parts }: ListDetailProps<Row>) {
  return (
    <div class={parts.detail === null ? 'list-detail' : 'list-detail open'}>
      <section class="stack list" aria-label={name} tabIndex={-1}>
        {parts.head}
        {list.shown.value.length === 0 ? (
          parts.empty
        ) : (
          <Rows key={listKey} list={list} label={`${name}, newest first`} cursor={cursor} draw={draw} />
        )}
        {parts.foot}
      </section>
      {parts.detail}
    </div>
  )
}
