import type { ConsentsAnswer } from '../../messages/opt-outs/account-consents.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { Fault } from './fault.ts'

/** Whether the gateway learns of opt-outs made at RingCentral. Messages flow either way. */
export function checkConsents({ consents, lifecycle }: Pick<Gateway, 'consents' | 'lifecycle'>): string {
  if (!lifecycle.working) throw new Fault('unknown: no server is running', 'warn')
  const answers = consents.answers()
  if (answers.length === 0) return 'not read yet: the server asks for them a minute after an extension is connected'
  const refused = answers.filter(({ failure }) => failure !== null && failure.status !== 404)
  if (refused.length > 0) throw new Fault(refusedBy(refused), 'warn')
  const absent = answers.filter(({ failure }) => failure !== null)
  return [...(absent.length < answers.length ? [readIn(answers)] : []), ...(absent.length > 0 ? [NONE] : [])].join('; ')
}

const UNKNOWN =
  "the gateway learns of an opt-out made in RingCentral's app or by a carrier only when a message to that contact is not delivered"
const NONE = `RingCentral has no list of them for this account, so ${UNKNOWN}`

function refusedBy(refused: readonly ConsentsAnswer[]): string {
  const codes = refused.map(({ failure }) => [failure?.status, failure?.code].filter(Boolean).join(' '))
  return `RingCentral does not show them to this app (${[...new Set(codes)].join(', ')}), so ${UNKNOWN}: give the app the permission SMS in the developer console. sgw asks again once a day, and at each start`
}

function readIn(answers: readonly ConsentsAnswer[]): string {
  const sum = (of: (answer: ConsentsAnswer) => number): number => answers.reduce((all, one) => all + of(one), 0)
  const leftOut = sum((one) => one.leftOut)
  const others =
    leftOut === 0
      ? ''
      : `, and ${leftOut} left out: they name none of your numbers (one for a type of campaign, for example)`
  return `${sum(({ read }) => read)} read${others}`
}
