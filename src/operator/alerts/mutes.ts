import { isoTime } from '../../core/clock.ts'
import type { FiringAlert, Mute } from '../../core/firing-alert.ts'
import { type Condition, subjectOf } from '../conditions/condition.ts'

/** A thing that can be muted, as the API shows it. */
export type Muted = Pick<Mute, 'alert' | 'subject'>

export const isSame = (one: Muted, other: Muted): boolean => one.alert === other.alert && one.subject === other.subject

const isOf = (muted: Muted, alert: string, condition: Pick<Condition, 'subject'>): boolean =>
  isSame(muted, { alert, subject: subjectOf(condition) })

export const fires = (muted: Muted, firing: readonly FiringAlert[]): boolean =>
  firing.some((one) => isOf(muted, one.alert, one))

/** The mute of an alert; undefined if it is not muted. */
export const muteOf = (
  mutes: readonly Mute[],
  alert: string,
  condition: Pick<Condition, 'subject'>,
): Mute | undefined => mutes.find((mute) => isOf(mute, alert, condition))

/** The mutes that have not ended. */
export const liveMutes = (mutes: readonly Mute[], firing: readonly FiringAlert[], now: number): Mute[] =>
  mutes.filter((mute) => (mute.until === null ? fires(mute, firing) : mute.until > now))

/** Until the alert is over. */
export const OVER = 'over'

/** The end of a mute, in the API's form. */
export const untilText = ({ until }: Pick<Mute, 'until'>): string => (until === null ? OVER : isoTime(until))

/** The end of a mute, as a sentence. */
export const mutedText = ({ until, by }: Mute): string =>
  `This is muted until ${until === null ? 'it is over' : isoTime(until)} (${by}).`
