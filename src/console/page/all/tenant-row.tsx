import { BELL_OFF, mutedText } from '../facts/mute.tsx'
import type { IconName } from '../parts/icon-paths.ts'
import { Icon } from '../parts/icon.tsx'
import { ChangeStatus } from '../setup/change-status.tsx'
import { WAITING } from '../facts/facts-of.ts'
import { addressOf } from '../state/address.ts'
import { count, dayOf, now, rowTime, shortTime, utcTime } from '../state/clock.ts'
import { type TableRow, badOf } from './columns.ts'
import type { TenantState } from './standing-of-all.ts'

interface RowProps {
  row: TableRow
  /** The row's number in the entire table, as `aria-rowindex` counts. */
  index: number
  /** The highest bar of all tenants. */
  highest: number
}

/** One tenant: what is wrong, since when, its figures, and one button. */
export function TenantRow({ row, index, highest }: RowProps) {
  const { tenant, has, since } = row
  const [icon, kind, word] = markOf(row)
  return (
    <tr aria-rowindex={index}>
      <td class={kind}>
        {icon === null ? '–' : <Icon name={icon} />}
        <span class="hidden">{word}</span>
      </td>
      <th scope="row">
        <a class="tenant-name" dir="auto" href={viewOf(row)} title={tenant.name}>
          {tenant.name}
        </a>
      </th>
      <td class="of-trouble">
        <p class="tenant-what">
          <What {...row} />
        </p>
      </td>
      <td class="of-since">{since !== '' && <Since at={since} />}</td>
      <Figures row={row} highest={highest} />
      <td class="of-button">
        {tenant.status === 'suspended' ? (
          <ChangeStatus apps={0} extensions={0} {...has} {...tenant} />
        ) : (
          <View row={row} />
        )}
      </td>
    </tr>
  )
}

/**
 * Texts, bars, and what went wrong, also in color if the row says so. On a phone, figures that are 0 are left out. A tenant that was never used
 * has no figures.
 */
function Figures({ row: { tenant, texts, facts, has }, highest }: Omit<RowProps, 'index'>) {
  const bad = badOf(tenant)
  const isUnused = has?.extensions === 0 && texts + tenant.waiting + bad === 0
  const lookOf = (value: number, key: string, kind: string): string =>
    value === 0 ? 'not-on-phone' : facts.some((fact) => fact.key === `${tenant.tenantId} ${key}`) ? kind : ''
  const figure = (name: string, value: number, word: string, look: string) => (
    <td class={`of-${name} ${look}`}>
      {isUnused ? '–' : count(value)}
      <span class="tenant-unit"> {word}</span>
    </td>
  )
  return (
    <>
      {figure('texts', texts, texts === 1 ? 'text' : 'texts', isUnused ? 'not-on-phone' : '')}
      <td class="of-peak">
        <Bars buckets={tenant.buckets} highest={highest} />
      </td>
      {figure('failed', bad, 'failed', lookOf(bad, 'failures', 'bad'))}
      {figure('waiting', tenant.waiting, 'waiting', lookOf(tenant.waiting, WAITING, 'warn'))}
      {figure('lost', tenant.neverArrived, 'never arrived', lookOf(tenant.neverArrived, 'webhooks', 'bad'))}
    </>
  )
}

type Mark = readonly [icon: IconName | null, kind: string, word: string]

const MARKS: Readonly<Record<Exclude<TenantState, 'bad' | 'waits'>, Mark>> = {
  suspended: ['optedOut', 'warn', 'Suspended'],
  inactive: ['cancelled', 'dim', 'Deactivated'],
  unconnected: [null, 'dim', 'Not connected'],
  muted: [BELL_OFF, 'dim', 'Muted'],
  fine: ['sent', 'dim', 'Fine'],
}

const markOf = ({ state, facts: [worst] }: TableRow): Mark =>
  state === 'bad' || state === 'waits'
    ? [worst?.icon ?? null, worst?.kind ?? '', worst?.kind === 'bad' ? 'Needs action' : 'Needs attention']
    : MARKS[state]

/** The tenant's own overview; Setup if it has no app to act as. */
const viewOf = ({ tenant: { tenantId }, has }: TableRow): string =>
  has?.apps === 0 ? addressOf('tenants') : addressOf('overview', { tenant: tenantId })

function What({ tenant: { status }, state, facts, muted }: TableRow) {
  if (state === 'inactive') return <span class="dim">Deactivated.</span>
  if (state === 'unconnected') return <span class="dim">No number is connected yet.</span>
  if (state === 'muted') return <span class="dim">Muted {mutedText(muted.flatMap(({ alerts = [] }) => alerts))}.</span>
  return (
    <>
      {status === 'suspended' && (
        <>
          <span class="warn">Suspended</span> by the operator.
        </>
      )}
      {facts.map(({ kind, short }, index) => (
        <span class={index === 0 && state !== 'suspended' ? kind : ''}> {short}.</span>
      ))}
    </>
  )
}

/** The day is enough in a narrow column. */
const Since = ({ at }: { at: string }) => (
  <time dateTime={at} title={utcTime(at)}>
    {dayOf(at) === dayOf(now.peek()) ? shortTime(at) : rowTime(at, now.peek()).replace(/ \d\d:\d\d$/, '')}
  </time>
)

const BARS_HEIGHT = 20

/** One path for all bars. Their heights grow with the square root, so that those of a quiet tenant are visible beside a busy one. */
const Bars = ({ buckets, highest }: { buckets: readonly number[]; highest: number }) => (
  <svg class="tenant-bars" viewBox={`0 0 96 ${BARS_HEIGHT}`} aria-hidden="true">
    <path
      d={buckets
        .map((value, index) => {
          const height = value === 0 ? 1 : 2 + Math.round((BARS_HEIGHT - 2) * Math.sqrt(value / highest))
          return `M${4 * index + 2} ${BARS_HEIGHT}v-${height}`
        })
        .join('')}
    />
  </svg>
)

function View({ row }: { row: TableRow }) {
  const { tenant, has, facts } = row
  if (tenant.status === 'inactive') return null
  const [text, href] =
    has?.apps === 0
      ? ['Create app', addressOf('tenants')]
      : facts.length > 0
        ? ['View', viewOf(row)]
        : has?.extensions === 0
          ? ['Connect', addressOf('numbers', { tenant: tenant.tenantId })]
          : ['', '']
  return text === '' ? null : (
    <a class="button" href={href} aria-label={`${text}: ${tenant.name}`}>
      {text}
    </a>
  )
}
