import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { hasPhone } from '../frame/views.ts'
import { addressOf, refine } from '../state/address.ts'
import { CopyButton } from '../parts/copy.tsx'
import { asCurl } from './snippets.ts'
import { problemOf } from './filter-problem.ts'
import { FILTER_NAMES } from './filter.ts'
import type { MessageList } from './list-state.ts'

/** A skeleton stands only after so long, so that a fast answer does not flicker. */
const SKELETON_AFTER_MS = 150

/** What stands in place of rows: a skeleton while they load, an error, or what will be here and how to fill it. */
export function EmptyList({ list }: { list: MessageList }) {
  if (list.isLoading.value) return <Skeleton />
  const problem = problemOf(list.filter)
  if (problem !== null) return <NothingFound problem={problem} />
  if (list.error.value !== '')
    return (
      <div class="empty">
        <h2>The messages could not be loaded.</h2>
        <p class="dim">{list.error.value}</p>
        <button type="button" class="button" onClick={() => void list.load()}>
          Try again
        </button>
      </div>
    )
  return Object.keys(list.filter).length > 0 ? <NothingFound /> : <NoMessages />
}

const NothingFound = ({ problem }: { problem?: string }) => (
  <div class="empty">
    <h2>{problem ?? 'No message matches this filter.'}</h2>
    <button
      type="button"
      class="button"
      onClick={() => refine(Object.fromEntries(FILTER_NAMES.map((name) => [name, ''])))}
    >
      Show all messages
    </button>
  </div>
)

const FIRST_CALL = asCurl(
  { direction: 'outbound', messageId: '', from: '+15555550100', to: '+15555550199', body: 'Hello' },
  location.origin,
)

const NoMessages = () => (
  <div class="empty">
    <p class="dim">Texts that your apps send or receive appear here, each with its outcome.</p>
    {hasPhone.value && (
      <a class="button primary" href={addressOf('phone')}>
        Send the first text
      </a>
    )}
    <div class="empty-command">
      <pre>{FIRST_CALL}</pre>
      <CopyButton text={FIRST_CALL} label="Copy the command" />
    </div>
  </div>
)

function Skeleton() {
  const isShown = useSignal(false)
  useEffect(() => {
    const timer = setTimeout(() => void (isShown.value = true), SKELETON_AFTER_MS)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div class="rows" aria-busy="true" aria-label="Messages are loading">
      {isShown.value && Array.from({ length: 12 }, (_, index) => <div key={index} class="skeleton-row" />)}
    </div>
  )
}
