import { isoTime } from '../../core/clock.ts'
import { HOUR_MS } from '../../core/limits.ts'
import type { Gateway } from '../../messages/gateway.ts'
import type { ConsentsAnswer, ConsentsFailure } from '../../messages/opt-outs/account-consents.ts'
import { Fault } from './fault.ts'

type Context = Pick<Gateway, 'clock' | 'config' | 'consents' | 'lifecycle' | 'provider'>

/** Whether the gateway learns of opt-outs made at RingCentral. Messages flow either way. */
export function checkConsents(gateway: Context): string {
  const { clock, consents, lifecycle } = gateway
  if (!lifecycle.working) throw new Fault('unknown: no server is running', 'warn')
  const answers = consents.answers()
  const failing = consents.failures().filter(({ since }) => clock.now() - since >= HOUR_MS)
  const refused = answers.filter(({ failure }) => failure !== null && failure.status !== 404)
  const told = [...failing.map((one) => failingText(gateway, one)), ...(refused.length > 0 ? [refusedBy(refused)] : [])]
  if (told.length > 0) throw new Fault(told.join(' '), 'warn')
  if (answers.length === 0) return 'not read yet: the server asks for them a minute after an extension is connected'
  const absent = answers.filter(({ failure }) => failure !== null)
  return [...(absent.length < answers.length ? [readIn(answers)] : []), ...(absent.length > 0 ? [NONE] : [])].join('; ')
}

const UNKNOWN =
  "the gateway learns of an opt-out made in RingCentral's app or by a carrier only when a message to that contact is not delivered"
const NONE = `RingCentral has no list of them for this account, so ${UNKNOWN}`

function failingText({ provider, config }: Context, { accountId, since, failure }: ConsentsFailure): string {
  const codes = codesOf(failure)
  // Sends need the same permission.
  const isStanding = failure !== null && provider.isStanding(failure)
  const fix = isStanding ? provider.fixOf(failure, 'send', config.publicUrl) : ASK
  const why = codes === '' ? '' : ` (${codes})`
  return `Reading the list of account ${accountId} has failed since ${isoTime(since)}${why}, so ${UNKNOWN}. ${fix} sgw tries again every 10 minutes.`
}

const ASK = "If RingCentral's status page shows no trouble, ask its support."

function refusedBy(refused: readonly ConsentsAnswer[]): string {
  const codes = new Set(refused.map(({ failure }) => codesOf(failure)))
  return `RingCentral does not show them to this app (${[...codes].join(', ')}), so ${UNKNOWN}: give the app the permission SMS in the developer console. sgw asks again once a day, and at each start`
}

const codesOf = (failure: ConsentsFailure['failure']): string =>
  [failure?.status, failure?.code].filter(Boolean).join(' ')

function readIn(answers: readonly ConsentsAnswer[]): string {
  const sum = (of: (answer: ConsentsAnswer) => number): number => answers.reduce((all, one) => all + of(one), 0)
  const leftOut = sum((one) => one.leftOut)
  const others =
    leftOut === 0
      ? ''
      : `, and ${leftOut} left out, because they name none of your numbers (such as one for a type of campaign)`
  return `${sum(({ read }) => read)} read${others}`
}
