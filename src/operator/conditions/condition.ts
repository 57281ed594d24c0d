import type { FiringAlert } from '../../core/firing-alert.ts'
import type { TroubledExtension } from '../../messages/gateway-state/extensions.ts'
import type { Gateway } from '../../messages/gateway.ts'
import type { FaultLevel } from '../doctor/fault.ts'

/** Something that is wrong now. The doctor, status, alerts and console all read it from here. */
export interface Condition {
  /** The id of the affected thing, after its tenant's if two tenants may have the same id; absent: the gateway itself. */
  subject?: string
  /** What is wrong with which thing, without the last period. */
  what: string
  /** What to do about it, in whole sentences. */
  fix: string
  /** The text of the post when it is over. */
  overText: string
  /** Ids and figures for programs. */
  detail: FiringAlert['detail']
  /** The doctor's check that shows it, if it is not the one of the source. */
  check?: string
  /** For the doctor. Default: `fail`. */
  level?: FaultLevel
  /** When it began, epoch milliseconds; absent if only the time of the first check is known. */
  since?: number
  /** How long it must last to become an alert, because it often ends without help. Default 0; `Infinity`: it never becomes an alert. */
  holdMs?: number
}

/** Finds all conditions of one name. If it rejects, their state is unknown. */
export interface ConditionSource {
  alert: string
  /** The doctor's check that shows them. */
  check: string
  /** What its check says while nothing is wrong, after the words of the check's probe, if it has one. Default: nothing. */
  allWell?: string
  find(gateway: Gateway, round: Round): Promise<readonly Condition[]>
}

/** Data that the sources of one round share. */
export interface Round {
  /** Reads it once. */
  troubled(): Promise<readonly TroubledExtension[]>
}

/** The complete text, for a chat or a terminal. */
export const textOf = ({ what, fix }: Pick<Condition, 'what' | 'fix'>): string => `${what}. ${fix}`.trim()

/** The subject of conditions of the gateway itself. */
export const GATEWAY = 'gateway'

/** The public id of the affected thing: `detail` names its tenant. */
export const subjectOf = ({ subject = GATEWAY }: Pick<Condition, 'subject'>): string =>
  subject.slice(subject.lastIndexOf('/') + 1)

/** An outage may affect thousands of things, which would fill the state and the chat, and one tenant must not hide the others. */
export const MAX_OF_TENANT = 20
export const MAX_OF_SOURCE = 200
