import type { ExtensionHealth } from '../../../client/client.ts'
import { hasPhone } from '../frame/views.ts'
import { Empty, NoNumber } from '../parts/empty.tsx'
import { GATEWAY, addressOf, refine } from '../state/address.ts'
import { WORDS } from './filters.ts'
import { asCurl } from './snippets.ts'

interface EmptyViewProps {
  /** Null until they are known. */
  extensions: readonly ExtensionHealth[] | null
  /** Why the filter can find nothing; null if it can. */
  problem: string | null
  isFiltered: boolean
}

/** A list without rows. */
export const EmptyView = ({ extensions, problem, isFiltered }: EmptyViewProps) =>
  isFiltered ? (
    <NothingFound problem={problem ?? 'No message matches this filter.'} />
  ) : (
    <NoMessages extensions={extensions} />
  )

const NothingFound = ({ problem }: { problem: string }) => (
  <div class="stack empty">
    <h2>{problem}</h2>
    <button type="button" class="button" onClick={() => refine(Object.fromEntries(WORDS.map((name) => [name, ''])))}>
      Show all messages
    </button>
  </div>
)

/** What will be here, and how to fill it. Nothing can be sent before a number is connected, so that comes first. */
function NoMessages({ extensions }: { extensions: readonly ExtensionHealth[] | null }) {
  const number = extensions?.flatMap(({ phoneNumbers }) => phoneNumbers)[0]
  if (extensions !== null && number === undefined) return <NoNumber />
  return (
    <Empty text="Texts that your apps send or receive appear here, each with its outcome." command={firstCall(number)}>
      {hasPhone.value && number !== undefined && (
        <a class="button primary" href={addressOf('conversations')}>
          Send the first text
        </a>
      )}
    </Empty>
  )
}

const firstCall = (from: string | undefined): string | null =>
  from === undefined
    ? null
    : asCurl({ direction: 'outbound', messageId: '', from, to: '+15555550199', body: 'Hello' }, GATEWAY)
