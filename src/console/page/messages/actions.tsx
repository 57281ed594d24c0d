import { useSignal } from '@preact/signals'
import { type NewMessage, SgwError, type Timeline } from '../../../client/client.ts'
import { hasPhone } from '../frame/views.ts'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { Icon } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'
import { PhoneNumber } from '../parts/phone-number.tsx'
import { copyText } from '../parts/copy.tsx'
import { GATEWAY, address, addressOf, open } from '../state/address.ts'
import { client } from '../state/caller.ts'
import { clockTime } from '../state/clock.ts'
import { standing } from '../state/standing.ts'
import { focusDetail } from '../list/cursor.ts'
import { CancelMessage } from './cancel-message.tsx'
import { Cure } from '../parts/authorize-button.tsx'
import { type ListRow, attachmentsText, contactOf, ownNumberOf } from './row.ts'
import { asCurl, asTypeScript } from './snippets.ts'
import { cureOf, failsAgain } from './words.ts'

interface ActionsProps {
  row: ListRow
  timeline: Timeline | null
}

/** What a person can do with a message. Sending it again comes last if it is known to be useless. */
export function Actions({ row, timeline }: ActionsProps) {
  const asked = useSignal<'again' | 'cancel' | null>(null)
  const close = (): void => void (asked.value = null)
  const isUseless = failsAgain(row, timeline)
  const again = row.direction === 'outbound' && (row.status === 'sent' || row.status === 'failed') && (
    <Button
      text="Send again as new…"
      class={isUseless ? 'button quiet' : 'button'}
      run={() => (asked.value = 'again')}
    />
  )
  return (
    <div class="actions">
      {row.direction === 'outbound' && row.status === 'queued' && (
        <Button text="Cancel message…" class="button danger" run={() => (asked.value = 'cancel')} />
      )}
      <Cure way={cureOf(row, standing.value?.extensions)} />
      {!isUseless && again}
      <CopyMenu row={row} />
      <ConversationLink row={row} />
      {isUseless && again}
      {asked.value === 'again' && <SendAgain row={row} close={close} />}
      {asked.value === 'cancel' && (
        <CancelMessage to={row.to} cancel={() => cancelMessage(row.messageId)} close={close} />
      )}
    </div>
  )
}

async function cancelMessage(messageId: string): Promise<void> {
  await client.value?.sms.cancel(messageId)
  // The event removes the button that has the focus after the dialog.
  requestAnimationFrame(focusDetail)
}

const ConversationLink = ({ row }: { row: ListRow }) => (
  <a
    class="button quiet"
    title={hasPhone.value ? 'Show on the phone' : 'Show the conversation'}
    href={addressOf('conversations', { number: ownNumberOf(row), contact: contactOf(row) })}
  >
    <Icon name={hasPhone.value ? 'phone' : 'conversations'} />
    {hasPhone.value ? 'Phone' : 'Conversation'}
  </a>
)

const CopyMenu = ({ row }: { row: ListRow }) => (
  <Menu
    class={row.direction === 'inbound' ? 'button' : 'button quiet'}
    items={[
      { label: 'curl', run: () => void copyCall(row, asCurl) },
      { label: 'TypeScript', run: () => void copyCall(row, asTypeScript) },
      { label: 'Link', run: () => void copyText(linkTo(row)) },
      { label: 'JSON', run: () => void copyText(JSON.stringify(row, null, 2)) },
    ]}
  >
    <Icon name="copy" />
    Copy as
    <Icon name="down" />
  </Menu>
)

const copyCall = async (row: ListRow, as: typeof asCurl): Promise<boolean> =>
  copyText(as(await listed(row).catch(() => row), GATEWAY))

/** A link to this view with this message. It fixes the end of the list, so that everyone who opens it sees the same rows. */
const linkTo = (row: ListRow): string =>
  new URL(
    addressOf('messages', { before: new Date().toISOString(), ...address.value.params, id: row.messageId }),
    location.href,
  ).href

/** The media of an outbound message; null for a plain text. */
async function mediaOf({ messageId, direction, attachments }: ListRow): Promise<string[] | null> {
  if (direction === 'inbound' || !attachments) return null
  return ((await client.value?.sms.attachments(messageId)) ?? []).map(({ attachmentId }) => attachmentId)
}

function SendAgain({ row, close }: { row: ListRow; close: () => void }) {
  const send = async (): Promise<void> => {
    const { to, from, body, userId } = await listed(row)
    // Every field of a send, so that the compiler reports a new one. The scheduled time of the message has passed.
    const again: Required<Omit<NewMessage, 'sendAt'>> = { to, from, body, userId, mediaIds: await mediaOf(row) }
    const sent = await client.value?.sms.send(again).catch(explainMedia)
    if (sent !== undefined) open('messages', { id: sent.messageId })
  }
  return (
    <Confirm title="Send again as new" button="Send again" run={send} close={close}>
      A new message with the same {sameOf(row)} goes to <PhoneNumber value={row.to} />.{' '}
      {row.status === 'sent'
        ? `The first one was sent at ${clockTime(row.updatedAt)}, so the recipient gets it twice.`
        : `The first one failed at ${clockTime(row.updatedAt)} and stays failed.`}
    </Confirm>
  )
}

/** `text`, `attachment`, `text and 2 attachments`. */
function sameOf({ body, attachments }: ListRow): string {
  const files = attachmentsText(attachments).replace(/^1 /, '')
  return [body !== '' || files === '' ? 'text' : '', files].filter(Boolean).join(' and ')
}

/** Media is kept for a day after the last message with it has ended. */
function explainMedia(error: unknown): never {
  if (error instanceof SgwError && error.message === 'Media not found')
    throw new Error('Its attachments are no longer kept. Attach the files again in the conversation')
  throw error
}

/** A message that a link opened has only the fields of its status: no user, no time. The list has all of them. */
async function listed(row: ListRow): Promise<ListRow> {
  if (row.appId !== '') return row
  const { from, to, createdAt, messageId } = row
  const found = await client.value?.sms
    .list({ from, to, startDate: createdAt, endDate: createdAt, include: 'delivery' })
    .page(1)
  return found?.messages.find((message) => message.messageId === messageId) ?? row
}
