import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { FailureGroup } from '../../../client/client.ts'
import { Cure } from '../parts/authorize-button.tsx'
import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { LoadFailed } from '../parts/load-failed.tsx'
import { stepTo } from '../parts/step-to.ts'
import { address, addressOf, param, refine } from '../state/address.ts'
import { count, now, rowTime, shortTime } from '../state/clock.ts'
import { useLoading } from '../state/loading.ts'
import { standing } from '../state/standing.ts'
import { queryOf } from './filters.ts'
import type { MessageList } from './list-state.ts'
import { MessageRow } from './message-row.tsx'
import { reasonsOf, wayOf, wordsOf } from './reasons.ts'
import { Resend } from './resend.tsx'
import { withNumbers } from '../parts/with-numbers.tsx'
import './reasons.css'

/** The parts of the view about reasons: its sentence, the switch beside the tabs, and the content in place of the rows. */
export type ReasonsPart = 'head' | 'by' | 'rows'

interface ReasonsProps {
  part: ReasonsPart
  list: MessageList
  isByReason: boolean
}

export default function Reasons({ part, list, isByReason }: ReasonsProps) {
  if (part === 'head') return <Head list={list} />
  return part === 'rows' ? <Groups list={list} /> : <GroupBy isByReason={isByReason} />
}

/** The cause of most failures, in one sentence. */
function Head({ list }: { list: MessageList }) {
  const groups = reasonsOf(list).value.value ?? []
  const total = groups.reduce((sum, group) => sum + group.count, 0)
  const [first] = groups
  return <h1 class="sentence">{first === undefined ? 'Failed messages' : <Cause group={first} total={total} />}</h1>
}

function Cause({ group, total }: { group: FailureGroup; total: number }) {
  const all = group.count === total
  const failures =
    total === 1
      ? 'One failure'
      : all
        ? `All ${count(total)} failures`
        : `${count(group.count)} of ${count(total)} failures`
  return (
    <>
      <a class="link" href={listOf(group)}>
        {failures}
      </a>
      {total === 1 ? ': ' : ' have one cause: '}
      {withNumbers(wordsOf(group).cause)}.
    </>
  )
}

const listOf = ({ failure }: FailureGroup): string =>
  addressOf('messages', { ...address.value.params, failure, group: '', id: '' })

const GroupBy = ({ isByReason }: { isByReason: boolean }) => (
  <div class="segmented reasons-by" role="group" aria-label="Group by">
    <span aria-hidden="true">Group by</span>
    <button type="button" aria-pressed={isByReason} onClick={() => refine({ group: '', failure: '' })}>
      Reason
    </button>
    <button type="button" aria-pressed={!isByReason} onClick={() => refine({ group: 'none' })}>
      None
    </button>
  </div>
)

/** Failures by reason: whether sending again helps, and what to do. The most frequent reason is open. */
function Groups({ list }: { list: MessageList }) {
  const { value, error, load } = reasonsOf(list)
  const total = list.total.value
  useEffect(() => void (total !== null && load()), [list, total])
  // The rows, which these replace, begin at their top again.
  useEffect(() => {
    list.isAtTop = true
    void list.seen()
    list.step = (key) => stepTo(key, '.reasons :is(h2 button, a)')
    return () => void (list.step = undefined)
  }, [list])
  const opened = useSignal<string | null>(null)
  const groups = value.value
  if (groups === null)
    return error.value === '' ? null : <LoadFailed what="The reasons" error={error.value} again={() => void load()} />
  const current = opened.value ?? groups[0]?.failure ?? ''
  return (
    <div class="rows scroller reasons" tabIndex={-1} role="region" aria-label="Failed messages by reason">
      {groups.map((group) => (
        <Group
          key={group.failure}
          {...{ group, list }}
          isOpen={group.failure === current}
          toggle={() => void (opened.value = group.failure === current ? '' : group.failure)}
        />
      ))}
    </div>
  )
}

interface GroupProps {
  group: FailureGroup
  list: MessageList
  isOpen: boolean
  toggle: () => void
}

function Group({ group, isOpen, toggle, list }: GroupProps) {
  const extensions = standing.value?.extensions
  const isAsked = useSignal(false)
  const done = useSignal('')
  const note = (text: string): void => {
    done.value = text
    void reasonsOf(list).load()
  }
  return (
    <section class={isOpen ? 'reason open' : 'reason'}>
      <GroupHead {...{ group, isOpen, toggle }} ask={() => void (isAsked.value = true)} />
      {done.value !== '' && (
        <p class="line dim list-note" role="status">
          <Icon name="sent" />
          {done.value}
        </p>
      )}
      {isAsked.value && extensions !== undefined && (
        <Resend {...{ group, list, extensions, note }} close={() => void (isAsked.value = false)} />
      )}
      {isOpen && <Newest {...{ group, list }} />}
    </section>
  )
}

interface GroupHeadProps extends Pick<GroupProps, 'group' | 'isOpen' | 'toggle'> {
  ask: () => void
}

/** The reason, whether sending again helps, how many, from when to when, and what to press. */
function GroupHead({ group, isOpen, toggle, ask }: GroupHeadProps) {
  const { title, again } = wordsOf(group)
  const way = wayOf(group, standing.value?.extensions)
  return (
    <div class="columns reason-head">
      <span class="bad">
        <Icon name="failed" />
      </span>
      <div>
        <h2>
          <button type="button" aria-expanded={isOpen} onClick={toggle}>
            {withNumbers(title)}
          </button>
        </h2>
        <p class="dim">
          {again}
          {way === 'ask' && ' An operator of the gateway can send them again.'}
          {group.resent > 0 && ` ${count(group.resent)} ${group.resent === 1 ? 'was' : 'were'} sent again.`}
        </p>
      </div>
      <b>{count(group.count)}</b>
      <span class="dim">{timesOf(group)}</span>
      <div class="actions">
        <Act {...{ group, isOpen, ask }} />
      </div>
    </div>
  )
}

function timesOf({ firstAt, lastAt }: FailureGroup): string {
  const at = now.peek()
  const [first, last] = [firstAt, lastAt].map((time) => rowTime(time, at))
  if (first === last) return shortTime(lastAt)
  const isToday = !first?.includes(' ') && !last?.includes(' ')
  return isToday ? `${shortTime(firstAt)} – ${shortTime(lastAt)}` : `${first} – ${last}`
}

function Act({ group, isOpen, ask }: Omit<GroupHeadProps, 'toggle'>) {
  const extensions = standing.value?.extensions
  const way = wayOf(group, extensions)
  const number = extensions?.find(({ status }) => status === 'revoked')?.extensionNumber
  if (way !== 'resend') return <Cure way={way} {...(number ? { extension: `extension ${number}` } : {})} />
  const text = `Resend ${count(group.count - group.resent)}…`
  return <Button text={text} class={isOpen ? 'button primary' : 'button'} run={ask} />
}

function Newest({ group, list }: Pick<GroupProps, 'group' | 'list'>) {
  const query = { ...queryOf(list.filter, list.apps), failure: group.failure, include: 'delivery' as const }
  const { value, error, again } = useLoading(
    () => list.sgw.sms.list({ ...query, limit: 5 }).page(1),
    [list, group.failure, group.count],
  )
  if (error.value !== '') return <LoadFailed what="The newest of them" error={error.value} again={again} />
  const more = group.count - (value.value?.messages.length ?? 0)
  return (
    <ol>
      {value.value?.messages.map((row) => (
        <li key={row.messageId}>
          <MessageRow row={row} isOpen={row.messageId === param('id')} isCursor={false} />
        </li>
      ))}
      {value.value !== null && more > 0 && (
        <li class="dim list-note">
          <a class="link" href={listOf(group)}>
            {count(more)} more
          </a>
        </li>
      )}
    </ol>
  )
}
