import { describe, expect, test } from 'bun:test'
import { FROM, type World } from '../../support/world.ts'
import { FaultCase } from '../fault-table/case.ts'
import { pass } from '../fault-table/passing-time.ts'
import { record, sendEach, texts, untilSent } from './conversations.ts'

const MINUTE_MS = 60_000
const BOBS = '+15555550102'
const REFUSED = "Provider rejected the message: Phone number doesn't belong to extension (MSG-304)"
const MSG_304 = {
  errorCode: 'MSG-304',
  message: "Phone number doesn't belong to extension",
  errors: [{ errorCode: 'MSG-304', message: "Phone number doesn't belong to extension" }],
}

interface Extensions {
  alice: string
  bob: string
}

/** Connects a second extension of the tenant. */
async function connectBob({ world }: FaultCase): Promise<Extensions> {
  const alice = world.control.extensions()[0]?.extensionId ?? ''
  const { extensionId: bob } = world.control.addExtension({ name: 'Bob', numbers: [BOBS] })
  expect((await world.connect({ extensionId: bob })).status).toBe(200)
  return { alice, bob }
}

/** Moves the first extension's number to the second one at the provider. */
function moveNumber({ control }: World, { alice, bob }: Extensions): void {
  control.removeNumber({ extensionId: alice, phoneNumber: FROM })
  control.addNumber({ extensionId: bob, phoneNumber: FROM, features: ['SmsSender'] })
}

const sendsOf = ({ control }: World, extensionId: string): number[] =>
  control.requests({ route: 'sms', extensionId }).map(({ status }) => status ?? 0)

describe('a number that moved to another extension', () => {
  test('is looked up once, and waiting messages are sent by that extension, in order', async () => {
    await using one = await FaultCase.open()
    const { world } = one
    const extensions = await connectBob(one)
    await pass(one, 2 * MINUTE_MS, () => (world.control.subscriptions().length === 2 ? true : null))
    moveNumber(world, extensions)
    world.control.clearRequests()
    await sendEach(world, texts(5))
    await untilSent(one, 5, 2 * MINUTE_MS)
    expect(record(world)).toEqual(texts(5))
    expect(sendsOf(world, extensions.bob)).toEqual([200, 200, 200, 200, 200])
    expect(sendsOf(world, extensions.alice)).toHaveLength(1)
    expect(world.control.requests({ route: 'phone-number' })).toHaveLength(2)
  })

  test('sends by that extension even if its old extension was revoked', async () => {
    await using one = await FaultCase.open()
    const { world } = one
    const extensions = await connectBob(one)
    await pass(one, 2 * MINUTE_MS, () => (world.control.subscriptions().length === 2 ? true : null))
    moveNumber(world, extensions)
    world.control.revokeTokens({ extensionId: extensions.alice })
    await sendEach(world, texts(5))
    await untilSent(one, 5, 2 * MINUTE_MS)
    expect(record(world)).toEqual(texts(5))
    expect(sendsOf(world, extensions.bob)).toEqual([200, 200, 200, 200, 200])
  })
})

describe('a number that no extension has', () => {
  test('fails with the provider’s words if its extension still lists it', async () => {
    await using one = await FaultCase.open()
    const { world } = one
    await connectBob(one)
    world.control.fault({ route: 'sms', calls: null, fault: { kind: 'respond', status: 403, body: MSG_304 } })
    const id = await world.send()
    expect(await one.ended(id, 2 * MINUTE_MS)).toMatchObject({ status: 'failed', error: REFUSED })
    expect(await one.attempts(id)).toHaveLength(1)
  })

  test('fails as not registered if no extension lists it', async () => {
    await using one = await FaultCase.open()
    const { world } = one
    const { alice } = await connectBob(one)
    world.control.removeNumber({ extensionId: alice, phoneNumber: FROM })
    world.control.fault({ route: 'sms', fault: { kind: 'respond', status: 403, body: MSG_304 } })
    const id = await world.send()
    const error = `Phone number ${FROM} is not registered in this provider account`
    expect(await one.ended(id, 2 * MINUTE_MS)).toMatchObject({ status: 'failed', error })
  })

  test('fails as revoked if its extension is revoked and no other one has it', async () => {
    await using one = await FaultCase.open()
    const { world } = one
    const { alice } = await connectBob(one)
    world.control.revokeTokens({ extensionId: alice })
    const id = await world.send()
    const error = 'Extension not connected — re-authorize via invite link'
    expect(await one.ended(id, 2 * MINUTE_MS)).toMatchObject({ status: 'failed', error })
    expect(record(world)).toEqual([])
  })
})
