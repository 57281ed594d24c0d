import type { ExtensionHealth } from '../../../client/client.ts'
import { hasPhone } from '../frame/views.ts'
import { Empty, NoNumber } from '../parts/empty.tsx'
import { NothingFound } from '../list/no-rows.tsx'
import { GATEWAY, addressOf } from '../state/address.ts'
import { type Filter, WORDS, problemOf } from './filters.ts'
import { asCurl } from './snippets.ts'

interface EmptyViewProps {
  /** Null until they are known. */
  extensions: readonly ExtensionHealth[] | null
  filter: Filter
}

/** A list without rows. */
export const EmptyView = ({ extensions, filter }: EmptyViewProps) =>
  Object.keys(filter).length > 0 ? (
    <NothingFound text={problemOf(filter) ?? 'No message matches this filter.'} noun="messages" words={WORDS} />
  ) : (
    <NoMessages extensions={extensions} />
  )

/** What will be here, and how to fill it. Nothing can be sent before a number is connected, so that comes first. */
function NoMessages({ extensions }: { extensions: readonly ExtensionHealth[] | null }) {
  const number = extensions?.flatMap(({ phoneNumbers }) => phoneNumbers)[0]
  if (extensions !== null && number === undefined) return <NoNumber />
  return (
    <Empty text="Texts that your apps send or receive appear here, each with its outcome." command={firstCall(number)}>
      {number !== undefined && (
        <a class="button primary" href={addressOf('conversations')}>
          {hasPhone.value ? 'Send the first text' : 'Write the first text'}
        </a>
      )}
    </Empty>
  )
}

const firstCall = (from: string | undefined): string | null =>
  from === undefined
    ? null
    : asCurl({ direction: 'outbound', messageId: '', from, to: '+15555550199', body: 'Hello' }, GATEWAY)
