import { describe, expect, test } from 'bun:test'
import type { MessageStatus } from '../../src/db/schema/messages.ts'
import type { MessageSnapshot } from './message-snapshot.ts'
import { OrderChecker } from './order-checker.ts'

const ANN = '+15551110001'
const BEN = '+15551110002'

interface Course {
  /** Which message is cancelled, when, and whose it is. */
  cancelled?: number
  at?: number
  tenant?: string
  /** The recipients of the first three messages. */
  to?: [string, string, string]
}

describe('the checker of the order, when the third message begins while the second one waits', () => {
  test('lets it pass a conversation whose earlier message was cancelled when it was about to begin', () => {
    expect(violationsOf({ cancelled: 0 })).toEqual([])
  })

  test('lets it pass a conversation that was held by another tenant of the number', () => {
    // The order of two tenants is not that of acceptance.
    expect(violationsOf({ cancelled: 3, tenant: 'tenant_1' })).toEqual([])
  })

  test('does not if nothing was cancelled before', () => {
    expect(violationsOf({})).toEqual([OVERTAKEN])
  })

  test('does not if the cancellation is long ago', () => {
    expect(violationsOf({ cancelled: 0, at: -200 })).toEqual([OVERTAKEN])
  })

  test('does not if the cancelled message was of another conversation', () => {
    expect(violationsOf({ cancelled: 0, to: [BEN, ANN, BEN] })).toEqual([OVERTAKEN])
  })

  test('does not if the cancelled message came after the one that waits', () => {
    expect(violationsOf({ cancelled: 3 })).toEqual([OVERTAKEN])
  })

  test('never within a conversation', () => {
    expect(violationsOf({ cancelled: 0, to: [ANN, ANN, ANN] })).toEqual([OVERTAKEN])
  })
})

const OVERTAKEN = 'msg_2 began although msg_1 of tenant_0 +15550000001 came before it'

/** Without `cancelled`, the first message has ended long ago. The fourth one is of the second one's conversation. */
function violationsOf({ cancelled, at = 95, tenant = 'tenant_0', to = [ANN, ANN, BEN] }: Course): string[] {
  const violations: string[] = []
  const checker = new OrderChecker((text) => violations.push(text))
  checker.currentBoot = 'boot'
  const messages = [...to, to[1]].map((recipient, index) =>
    message(index, recipient, index === cancelled ? tenant : 'tenant_0'),
  )
  for (const one of messages) {
    checker.committed([one], [], -1000)
    checker.acknowledged(one.id)
  }
  const endsAt = (index: number): number => (index === cancelled ? at : -500)
  const ending = [0, ...(cancelled === 3 ? [3] : [])].toSorted((one, other) => endsAt(one) - endsAt(other))
  for (const index of ending) checker.committed([changed(messages[index], 'failed')], [], endsAt(index))
  const attempt = { seq: 1, messageId: 'msg_2', bootId: 'boot', isOpen: true, isRefused: false }
  checker.committed([changed(messages[2], 'sending')], [attempt], 100)
  return violations
}

const message = (index: number, to: string, tenantId: string): MessageSnapshot => ({
  seq: index + 1,
  id: `msg_${index}`,
  status: 'queued',
  rcMessageId: null,
  error: null,
  tenantId,
  from: '+15550000001',
  to,
  text: 'Hello',
  hasMedia: false,
  jobs: 1,
})

function changed(one: MessageSnapshot | undefined, status: MessageStatus): MessageSnapshot {
  if (one === undefined) throw new Error('No such message')
  return { ...one, status }
}
