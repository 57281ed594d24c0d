import { type Signal, useSignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { SgwError, type ExtensionHealth, type FailureGroup } from '../../../client/client.ts'
import { Confirm } from '../parts/confirm.tsx'
import { Icon } from '../parts/icon.tsx'
import type { IconName } from '../parts/icon-paths.ts'
import { spokenNumber } from '../parts/phone-number.tsx'
import { me, operator } from '../state/caller.ts'
import { capital, clockTime, count, duration } from '../state/clock.ts'
import { useLoading } from '../state/loading.ts'
import { queryOf } from './filters.ts'
import type { MessageList } from './list-state.ts'

interface ResendProps {
  group: FailureGroup
  list: MessageList
  extensions: readonly ExtensionHealth[]
  note: (text: string) => void
  close: () => void
}

const HOUR_MS = 3_600_000
/** Sending from each message's own number fails again. */
const NEEDS_NUMBER: readonly string[] = ['unknown_number', 'no_media']

/** Asks before messages are sent again: from which number, what is left out, and how long it will take. */
export function Resend({ group, list, extensions, note, close }: ResendProps) {
  const { failure } = group
  const needsNumber = NEEDS_NUMBER.includes(failure)
  const choices = choicesFor(group, extensions)
  const from = useSignal(needsNumber ? (choices[0]?.number ?? '') : '')
  const leavesOld = useSignal(false)
  const options = (isYoung: boolean) => ({
    from: from.value || undefined,
    maxAgeMinutes: isYoung ? HOUR_MS / 60_000 : undefined,
  })
  const { value, error } = useLoading(async () => {
    const wishes = await wishesFor(list, group)
    const counts = (isYoung: boolean) => resend(wishes, { ...options(isYoung), dryRun: true })
    const [all, young] = await Promise.all([counts(false), counts(true)])
    return { wishes, all, young }
  }, [list, failure, from.value])
  const known = value.value
  const now = leavesOld.value ? known?.young : known?.all
  const ready = now?.resent ?? 0
  const run = async (): Promise<void> => {
    if (ready === 0) throw new SgwError('There is nothing to send')
    note(doneText(await resend(known?.wishes ?? [], options(leavesOld.value))))
  }
  const button = ready === 0 ? 'Send again' : `Send ${count(ready)} again`
  return (
    <Confirm title={`Send ${texts(group.count - group.resent)} again`} button={button} run={run} close={close}>
      <p>As new messages of the same apps, in their order. The failed ones stay failed.</p>
      <From {...{ from, choices, needsNumber }} />
      {error.value !== '' && <p class="bad">{error.value}</p>}
      {known !== null && now !== undefined && (
        <ul aria-live="polite">
          <Old leavesOld={leavesOld} old={known.young.tooOld} />
          <LeftOut {...now} />
          {ready > 0 && <Fact icon="sent">{timeText(ready, rateOf(extensions, from.value))}.</Fact>}
        </ul>
      )}
    </Confirm>
  )
}

const texts = (number: number): string => (number === 1 ? 'one text' : `${count(number)} texts`)

/** What happened to messages that were to be sent again, as `POST /v1/operator/messages/resend` counts it. */
const NONE = { resent: 0, refused: 0, optedOut: 0, tooOld: 0, cancelled: 0, alreadyResent: 0, notFailed: 0 }
type Counts = typeof NONE
type Answer = Pick<Counts, 'resent' | 'refused'> & { left: Partial<Counts> }

const PAGE = 100
const MOST_NAMED = 1000

/**
 * Requests for the messages of a group, exactly as the list's filter finds them: named one by one, oldest first. More than a thousand are named
 * by their reason alone, which no other filter may narrow.
 */
async function wishesFor(list: MessageList, { failure, count: all }: FailureGroup): Promise<readonly object[]> {
  const { state: _, appId, ...narrowed } = queryOf(list.filter, list.apps)
  if (all > MOST_NAMED && Object.keys(narrowed).length === 0) return [{ failure, appId }]
  if (all > MOST_NAMED) throw new SgwError('Remove the filters, or use sgw messages resend')
  const ids: string[] = []
  const messages = list.sgw.sms.list({ ...narrowed, appId, state: 'failed', failure, limit: PAGE })
  for await (const { messageId } of messages) ids.unshift(messageId)
  return Array.from({ length: Math.ceil(ids.length / PAGE) }, (_each, index) => ({
    failure,
    messageIds: ids.slice(index * PAGE, (index + 1) * PAGE),
  }))
}

async function resend(wishes: readonly object[], options: object): Promise<Counts> {
  const sum = { ...NONE }
  for (const wish of wishes) {
    const body = { ...wish, ...options, tenantId: me.value?.tenantId }
    const answer = await operator.value?.request<Answer>('POST', '/v1/operator/messages/resend', { body })
    const counts = { ...answer, ...answer?.left }
    for (const name of Object.keys(sum) as (keyof Counts)[]) sum[name] += counts[name] ?? 0
  }
  return sum
}

const choicesFor = ({ failure }: FailureGroup, extensions: readonly ExtensionHealth[]) =>
  extensions
    .filter(({ status }) => status === 'active')
    .flatMap(({ name, phoneNumbers, numbers = [] }) =>
      phoneNumbers.flatMap((number) => {
        const canSendMedia = numbers.find(({ phoneNumber }) => phoneNumber === number)?.canSendMedia === true
        if (failure === 'no_media' && !canSendMedia) return []
        return { number, label: name === null ? spokenNumber(number) : `${spokenNumber(number)}, ${name}` }
      }),
    )

interface FromProps {
  from: Signal<string>
  choices: ReturnType<typeof choicesFor>
  /** Whether none may be sent from its own number. */
  needsNumber: boolean
}

const From = ({ from, choices, needsNumber }: FromProps) => (
  <label class="asked">
    From
    <select class="field" value={from.value} onChange={({ currentTarget }) => void (from.value = currentTarget.value)}>
      {!needsNumber && <option value="">each text’s own number</option>}
      {needsNumber && choices.length === 0 && <option value="">No number can send them</option>}
      {choices.map(({ number, label }) => (
        <option key={number} value={number}>
          {label}
        </option>
      ))}
    </select>
  </label>
)

function Old({ old, leavesOld }: { old: number; leavesOld: Signal<boolean> }) {
  if (old === 0) return null
  const [are, them, they] = old === 1 ? ['is', 'it', 'it says'] : ['are', 'them', 'they say']
  return (
    <Fact icon="waiting" class="warn">
      {count(old)}{' '}
      {leavesOld.value
        ? `older than an hour ${are} left out. `
        : `${are} older than an hour: what ${they} may be over. `}
      <button
        type="button"
        class="link"
        aria-pressed={leavesOld.value}
        onClick={() => void (leavesOld.value = !leavesOld.value)}
      >
        {leavesOld.value ? 'Send these, too' : `Leave ${them} out`}
      </button>
    </Fact>
  )
}

const Fact = ({ icon, class: kind = '', children }: { icon: IconName; class?: string; children: ComponentChild }) => (
  <li class="fact">
    <span class={kind}>
      <Icon name={icon} />
    </span>
    <span class="dim">{children}</span>
  </li>
)

function LeftOut({ optedOut, alreadyResent, cancelled, refused }: Counts) {
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

function doneText({ resent, ...left }: Counts): string {
  const out = Object.values(left).reduce((sum, number) => sum + number, 0)
  const rest = out === 0 ? '' : `, ${count(out)} left out`
  return `${capital(texts(resent))} sent again at ${clockTime(Date.now())}${rest}.`
}
