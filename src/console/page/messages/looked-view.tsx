import { type Signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { PAGE_ROWS } from '../list/paged-list.ts'
import { Button } from '../parts/button.tsx'
import { Masked } from '../parts/masked.tsx'
import { count, now, rowTime } from '../state/clock.ts'
import type { MessageList } from './list-state.ts'

/** One click searches with this many requests. Of the twenty requests a minute that nobody clicked for, a live list needs the others. */
const MAX_PAGES = 10

/** Searches the messages of the filter for a text, newest first. It shows how far it has searched, and what to press. */
export default function Looked({ list }: { list: MessageList }) {
  const { isLoading, hasMore, error } = list
  const isLooking = useSignal(true)
  const isLoaded = !isLoading.value
  useEffect(() => {
    if (isLoaded) void look(list, PAGE_ROWS, isLooking)
    return () => void (isLooking.value = false)
  }, [list, isLoaded])
  const text = isLooking.value ? progressText(list) : resultText(list)
  // If no message contains it, the heading below says so.
  const isSaidBelow = !isLooking.value && !hasMore.value && list.shown.value.length === 0 && hereText(list) === ''
  return (
    <p class={isSaidBelow && error.value === '' ? 'hidden' : 'dim list-note'}>
      <Masked text={text} hides={list.filter.text} />{' '}
      {isLooking.value ? (
        <Button text="Stop" class="link" run={() => (isLooking.value = false)} />
      ) : (
        <>
          {error.value !== '' && <span class="bad">{error.value} </span>}
          {hasMore.value && (
            <Button
              text="Search further"
              class="link"
              run={() => look(list, list.shown.value.length + PAGE_ROWS, isLooking)}
            />
          )}
        </>
      )}
      <span class="hidden" role="status">
        {isLooking.value ? '' : text}
      </span>
    </p>
  )
}

/** Reads older messages page by page, until `enough` are found, the click has used its requests, or `isLooking` is false. */
async function look(list: MessageList, enough: number, isLooking: Signal<boolean>): Promise<void> {
  isLooking.value = true
  for (let page = 0; page < MAX_PAGES && isLooking.value && list.shown.value.length < enough; page++) {
    const before = list.older.value
    await list.loadMore()
    if (list.older.value === before || list.error.value !== '') break
  }
  isLooking.value = false
}

const progressText = (list: MessageList): string =>
  list.total.value === null
    ? `Searching for “${list.filter.text}”.`
    : `Searching for “${list.filter.text}”: ${lookedText(list)}.`

function resultText(list: MessageList): string {
  const { filter, total, hasMore, shown } = list
  if (total.value === null) return ''
  const found = shown.value.length
  const isIn = `“${filter.text}” is in ${found === 0 ? 'none' : count(found)} of `
  if (hasMore.value) return `${isIn}the ${lookedText(list)}.`
  return `${isIn}${total.value === 1 ? 'the one message' : `all ${count(total.value)} messages`}${hereText(list)}.`
}

/** `1,000 newest of 4,118 messages, back to 22 Nov 14:02`. */
function lookedText(list: MessageList): string {
  const { total, older, rows } = list
  const last = rows.value.at(-1)
  const back = last === undefined ? '' : `, back to ${rowTime(last.createdAt, now.peek())}`
  return `${count((total.value ?? 0) - older.value)} newest of ${count(total.value)} messages${hereText(list)}${back}`
}

/** Other filters leave fewer messages to search. */
const hereText = ({ filter }: MessageList): string => (Object.keys(filter).length > 1 ? ' of this filter' : '')
