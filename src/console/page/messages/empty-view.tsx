import { hasPhone } from '../frame/views.ts'
import { Empty, NoNumber } from '../parts/empty.tsx'
import { Masked } from '../parts/masked.tsx'
import { NothingFound } from '../list/no-rows.tsx'
import { GATEWAY, addressOf } from '../state/address.ts'
import { standing } from '../state/standing.ts'
import { WORDS } from './filters.ts'
import type { MessageList } from './list-state.ts'
import { problemOf } from './problem.ts'
import { asCurl } from './snippets.ts'

/** A list without rows; null where no filter is. Digits that end no contact's number can be words of a text. */
export default function EmptyView({ list }: { list: MessageList | null }) {
  if (list === null || Object.keys(list.filter).length === 0) return <NoMessages />
  const { filter } = list
  const { ends, text } = filter
  return (
    <NothingFound text={<Masked text={whyNone(list)} hides={text ?? ends} />} noun="messages" words={WORDS}>
      {ends !== undefined && text === undefined && !isTooWide(list) && (
        <a class="button" href={addressOf('messages', { ...filter, ends: '', text: ends })}>
          <Masked text={`Search texts for “${ends}”`} hides={ends} />
        </a>
      )}
    </NothingFound>
  )
}

const isTooWide = ({ error }: MessageList): boolean => error.value.includes('too many contacts')

/** Claims nothing about messages that were not searched. */
function whyNone(list: MessageList): string {
  const { filter, hasMore } = list
  const problem = problemOf(filter)
  if (problem !== null) return problem
  if (isTooWide(list)) return `More than 100 contacts end with ${filter.ends ?? ''}. Type more of the number.`
  if (filter.text !== undefined) return hasMore.value ? 'Nothing found so far.' : `No message has “${filter.text}”.`
  const isByEnd = filter.ends !== undefined && Object.keys(filter).length === 1
  return isByEnd
    ? `No message is with a number that ends with ${filter.ends ?? ''}.`
    : 'No message matches this filter.'
}

/** What will be here, and how to fill it. Nothing can be sent until a number is connected, so that comes first. */
function NoMessages() {
  const numbers = standing.value?.extensions.flatMap(({ phoneNumbers }) => phoneNumbers)
  const from = numbers?.[0]
  if (numbers?.length === 0) return <NoNumber />
  const first = { direction: 'outbound', messageId: '', to: '+15555550199', body: 'Hello' } as const
  return (
    <Empty
      text="Texts that your apps send or receive appear here, each with its outcome."
      command={from === undefined ? null : asCurl({ ...first, from }, GATEWAY)}
    >
      {from !== undefined && (
        <a class="button primary" href={addressOf('conversations')}>
          {hasPhone.value ? 'Send the first text' : 'Write the first text'}
        </a>
      )}
    </Empty>
  )
}
