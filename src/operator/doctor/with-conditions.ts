import type { Mute } from '../../core/firing-alert.ts'
import { muteOf, mutedText } from '../alerts/mutes.ts'
import { type Condition, textOf } from '../conditions/condition.ts'
import type { Judgement } from '../conditions/judge.ts'
import { type Finding, failedFinding, finding } from './finding.ts'

/** The probes of these checks also see what makes a condition, in its current state. */
const SAME: readonly string[] = ['disk', 'provider', 'clock', 'lease']
/** More lines would hide the other checks. */
const MAX_TOLD = 10

/** Adds conditions to the checks they belong to, or that all is well; checks without a probe come last. */
export function withConditions(
  probed: readonly Finding[],
  judgements: readonly Judgement[],
  mutes: readonly Mute[] = [],
): Finding[] {
  const probes = new Set(probed.map(({ check }) => check))
  const checks = judgements.flatMap(({ source, found }) => [
    ...(source.allWell === undefined ? [] : [source.check]),
    ...(found ?? []).map(({ check = source.check }) => check),
  ])
  const others = [...new Set(checks).difference(probes)].map((check) => finding(check, 'ok', ''))
  return [...probed, ...others].map((one) => withThoseOf(one, judgements, mutes))
}

function withThoseOf(probed: Finding, judgements: readonly Judgement[], mutes: readonly Mute[]): Finding {
  const { check, level, detail } = probed
  const unknown = judgements.find(({ source, found }) => source.check === check && found === null)
  if (unknown !== undefined && level !== 'fail') return failedFinding(check, unknown.error)
  const well = judgements.flatMap(({ source }) => (source.check === check ? (source.allWell ?? []) : []))
  const conditions = judgements.flatMap(({ source, found }) =>
    (found ?? [])
      .filter((condition) => (condition.check ?? source.check) === check)
      .map((condition) => ({ ...condition, mute: muteOf(mutes, source.alert, condition) })),
  )
  if (level !== 'ok' && (conditions.length === 0 || SAME.includes(check))) return probed
  if (conditions.length === 0) return finding(check, 'ok', [...new Set([detail, ...well])].filter(Boolean).join('; '))
  const besides = level === 'ok' ? [] : [detail]
  const isFailure = (besides.length > 0 && level === 'fail') || conditions.some((one) => one.level !== 'warn')
  return finding(check, isFailure ? 'fail' : 'warn', [...told(conditions), ...besides].join(' '))
}

function told(conditions: readonly MaybeMuted[]): string[] {
  const more = conditions.length - MAX_TOLD
  return [...conditions.slice(0, MAX_TOLD).map(sentencesOf), ...(more > 0 ? [`And ${more} more.`] : [])]
}

type MaybeMuted = Condition & { mute: Mute | undefined }

const sentencesOf = ({ mute, ...condition }: MaybeMuted): string =>
  mute === undefined ? textOf(condition) : `${textOf(condition)} ${mutedText(mute)}`
