import type { ComponentChild } from 'preact'
import { Button } from '../parts/button.tsx'
import { LoadFailed } from '../parts/load-failed.tsx'
import { refine } from '../state/address.ts'
import type { PagedList } from './paged-list.ts'

interface NoRowsProps<Row> {
  list: PagedList<Row>
  /** `Messages`: what is loading or could not be loaded. */
  name: string
  /** What will be here, and how to fill it. */
  children: ComponentChild
}

/** The content in place of rows: a skeleton while they load, an error, or the view's words for an empty list. */
export function NoRows<Row>({ list, name, children }: NoRowsProps<Row>) {
  if (list.isLoading.value)
    return <div class="rows skeleton" role="status" aria-busy="true" aria-label={`${name} are loading`} />
  if (list.error.value !== '')
    return <LoadFailed what={`The ${name.toLowerCase()}`} error={list.error.value} again={() => void list.load()} />
  return <>{children}</>
}

interface NothingFoundProps {
  /** Why the list is empty. */
  text: ComponentChild
  /** `messages`. */
  noun: string
  /** The words of the filters that are removed. */
  words: readonly string[]
  /** Where else to search for it. */
  children?: ComponentChild
}

/** In place of rows if a filter finds nothing. */
export const NothingFound = ({ text, noun, words, children }: NothingFoundProps) => (
  <div class="stack empty">
    <h2>{text}</h2>
    {children}
    <Button text={`Show all ${noun}`} run={() => refine(Object.fromEntries(words.map((word) => [word, ''])))} />
  </div>
)
