import { type Signal, useSignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { SgwError, type ExtensionHealth, type FailureGroup } from '../../../client/client.ts'
import { segmentsOf } from '../../../client/segments.ts'
import { Confirm } from '../parts/confirm.tsx'
import { Icon } from '../parts/icon.tsx'
import type { IconName } from '../parts/icon-paths.ts'
import { spokenNumber } from '../parts/phone-number.tsx'
import { address, addressOf } from '../state/address.ts'
import { appName, me, operator } from '../state/caller.ts'
import { clockTime, count, duration } from '../state/clock.ts'
import { useLoading } from '../state/loading.ts'
import type { MessageList } from './list-state.ts'
import type { ListRow } from './row.ts'
import { type Meant, type Resent, meantBy, resend } from './resend-calls.ts'

interface ResendProps {
  group: FailureGroup
  list: MessageList
  extensions: readonly ExtensionHealth[]
  /** Says in the group what was done. */
  note: (text: string) => void
  close: () => void
}

const HOUR_MS = 3_600_000
/** Sending from each message's own number fails again. */
const NEEDS_NUMBER: readonly string[] = ['unknown_number', 'no_media']

/** Asks before messages are sent again: from which number, what is left out, and how long it will take. */
export function Resend({ group, list, extensions, note, close }: ResendProps) {
  const choices = choicesFor(group, extensions)
  const from = useSignal(NEEDS_NUMBER.includes(group.failure) ? (choices[0]?.number ?? '') : '')
  const leavesOld = useSignal(false)
  const meant = useLoading(() => meantBy(list, group), [list, group.failure])
  const counts = useLoading(() => countsOf(meant.value.value, from.value), [meant.value.value, from.value])
  const known = counts.value.value
  const now = known === null ? null : leavesOld.value ? known.young : known.all
  const ready = now?.resent ?? 0
  const open = group.count - group.resent
  const run = async (): Promise<void> => {
    if (ready === 0) throw new SgwError('There is nothing to send')
    note(doneText(await call(meant.value.value, from.value, { dryRun: false, leavesOld: leavesOld.value })))
  }
  const button = ready === 0 ? 'Send again' : `Send ${count(ready)} again`
  return (
    <Confirm title={`Send ${texts(open)} again`} button={button} run={run} close={close}>
      <p class="dim">As new messages of {appsOf(meant.value.value)}, in their order. The failed ones stay failed.</p>
      <From {...{ from, choices }} isOwnPossible={!NEEDS_NUMBER.includes(group.failure)} />
      {meant.error.value + counts.error.value !== '' && <p class="bad">{meant.error.value || counts.error.value}</p>}
      {known !== null && now !== null && (
        <ul aria-live="polite">
          <Old {...{ group, leavesOld, close }} old={known.young.left.tooOld} />
          <LeftOut {...now} />
          {ready > 0 && (
            <Fact icon="sent">
              {timeText(ready, rateOf(extensions, from.value))}
              {segmentsText(namedRows(meant.value.value, leavesOld.value), now)}.
            </Fact>
          )}
        </ul>
      )}
    </Confirm>
  )
}

const texts = (number: number): string => (number === 1 ? 'one text' : `${count(number)} texts`)

/** The numbers that can send now. */
function choicesFor({ failure }: FailureGroup, extensions: readonly ExtensionHealth[]) {
  const canSend = ({ number, canSendMedia }: { number: string; canSendMedia: boolean | null }): boolean =>
    number !== '' && (failure !== 'no_media' || canSendMedia === true)
  return extensions
    .filter(({ status }) => status === 'active')
    .flatMap(({ name, phoneNumbers, numbers = [] }) =>
      phoneNumbers.map((number) => ({
        number,
        label: name === null ? spokenNumber(number) : `${spokenNumber(number)}, ${name}`,
        canSendMedia: numbers.find(({ phoneNumber }) => phoneNumber === number)?.canSendMedia ?? null,
      })),
    )
    .filter(canSend)
}

interface FromProps {
  from: Signal<string>
  choices: ReturnType<typeof choicesFor>
  /** Whether each may be sent from its own number. */
  isOwnPossible: boolean
}

const From = ({ from, choices, isOwnPossible }: FromProps) => (
  <label class="asked">
    From
    <select class="field" value={from.value} onChange={({ currentTarget }) => void (from.value = currentTarget.value)}>
      {isOwnPossible && <option value="">each text’s own number</option>}
      {!isOwnPossible && choices.length === 0 && <option value="">No number can send them</option>}
      {choices.map(({ number, label }) => (
        <option key={number} value={number}>
          {label}
        </option>
      ))}
    </select>
  </label>
)

interface OldProps extends Pick<ResendProps, 'group' | 'close'> {
  old: number
  leavesOld: Signal<boolean>
}

/** An old text may no longer apply. */
const Old = ({ group, old, leavesOld, close }: OldProps) =>
  old === 0 ? null : (
    <Fact icon="waiting" class="warn">
      {leavesOld.value
        ? `${count(old)} older than an hour ${old === 1 ? 'is' : 'are'} left out. `
        : `${count(old)} ${old === 1 ? 'is' : 'are'} older than an hour: what ${old === 1 ? 'it says' : 'they say'} may be over. `}
      <a class="link" href={oldOnes(group)} onClick={close}>
        Look at {old === 1 ? 'it' : 'them'}
      </a>{' '}
      <button
        type="button"
        class="link"
        aria-pressed={leavesOld.value}
        onClick={() => void (leavesOld.value = !leavesOld.value)}
      >
        {leavesOld.value ? 'Send these, too' : `Leave ${old === 1 ? 'it' : 'them'} out`}
      </button>
    </Fact>
  )

const oldOnes = ({ failure }: FailureGroup): string => {
  const before = new Date(Date.now() - HOUR_MS).toISOString()
  return addressOf('messages', { ...address.value.params, failure, before, group: '', id: '' })
}

const Fact = ({ icon, class: kind = '', children }: { icon: IconName; class?: string; children: ComponentChild }) => (
  <li class="fact">
    <span class={kind}>
      <Icon name={icon} />
    </span>
    <span class="dim">{children}</span>
  </li>
)

/** What would be sent: of all messages, and of those that are at most an hour old. */
async function countsOf(meant: Meant | null, from: string): Promise<{ all: Resent; young: Resent } | null> {
  if (meant === null) return null
  const [all, young] = await Promise.all([
    call(meant, from, { dryRun: true, leavesOld: false }),
    call(meant, from, { dryRun: true, leavesOld: true }),
  ])
  return { all, young }
}

async function call(
  meant: Meant | null,
  from: string,
  { dryRun, leavesOld }: { dryRun: boolean; leavesOld: boolean },
): Promise<Resent> {
  const [sgw, tenantId] = [operator.value, me.value?.tenantId]
  if (meant === null || sgw === null || !tenantId) throw new SgwError('Remove the filters, or use sgw messages resend')
  return resend(sgw, meant, {
    tenantId,
    dryRun,
    ...(from === '' ? {} : { from }),
    ...(leavesOld ? { maxAgeMinutes: HOUR_MS / 60_000 } : {}),
  })
}

/** The apps whose messages they are. */
function appsOf(meant: Meant | null): string {
  const names = new Set(meant?.rows?.map(({ appId }) => appName(appId)) ?? [])
  return names.size === 1 ? [...names].join('') || 'the same app' : 'the same apps'
}

/** What does not go out, and why. */
function LeftOut({ left: { optedOut, alreadyResent, cancelled }, refused }: Resent) {
  const parts: [number, string][] = [
    [optedOut, `to ${optedOut === 1 ? 'a contact' : 'contacts'} who opted out`],
    [alreadyResent, 'already sent again'],
    [cancelled, 'cancelled'],
  ]
  return (
    <>
      {parts.map(([number, words]) =>
        number === 0 ? null : (
          <Fact key={words} icon="sent">
            {count(number)} {words} {number === 1 ? 'is' : 'are'} left out.
          </Fact>
        ),
      )}
      {refused > 0 && (
        <Fact icon="failed" class="bad">
          {count(refused)} cannot be sent: their app is not active, or their files are gone.
        </Fact>
      )}
    </>
  )
}

/** Messages a minute: of the number, or of the slowest one if each message has its own. */
const rateOf = (extensions: readonly ExtensionHealth[], from: string): number =>
  Math.min(
    ...extensions
      .filter(({ phoneNumbers }) => from === '' || phoneNumbers.includes(from))
      .map(({ windowLimit }) => windowLimit),
  )

const timeText = (messages: number, rate: number): string =>
  Number.isFinite(rate) && rate > 0
    ? `About ${duration(Math.max(1000, Math.ceil((messages * 60) / rate) * 1000)).replace('.0 s', ' s')} at ${count(rate)} a minute`
    : 'How long it takes is not known'

/** How many segments they have. For named messages that are left out, only their count is known. */
function segmentsText(rows: readonly ListRow[], { resent }: Resent): string {
  const segments = rows.reduce((sum, { body, attachments }) => sum + (attachments ? 1 : segmentsOf(body)), 0)
  if (segments === 0) return ''
  return `; ${rows.length === resent ? '' : 'up to '}${segments === 1 ? 'one segment' : `${count(segments)} segments`}`
}

/** The named messages, without the old ones if those are left out. */
const namedRows = (meant: Meant | null, leavesOld: boolean): readonly ListRow[] =>
  (meant?.rows ?? []).filter(({ createdAt }) => !leavesOld || Date.parse(createdAt) >= Date.now() - HOUR_MS)

function doneText({ resent, refused, left }: Resent): string {
  const out = Object.values(left).reduce((sum, number) => sum + number, refused)
  const rest = out === 0 ? '' : `, ${count(out)} left out`
  return `${capitalTexts(resent)} sent again at ${clockTime(Date.now())}${rest}.`
}

const capitalTexts = (number: number): string => (number === 1 ? 'One text' : `${count(number)} texts`)
