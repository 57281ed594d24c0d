import { expect, test } from 'bun:test'
import { Deployment } from '../../support/deployment.ts'
import { HAS_LITESTREAM } from '../../support/litestream.ts'
import { S3Stub } from '../../support/s3-stub.ts'
import { FAULTS, type FaultKind } from '../../support/standby/kinds.ts'
import { type TakeoverCosts, Takeovers } from '../../support/standby/takeovers.ts'

// The short form of bench/takeover.ts. A standby needs Litestream 0.5.18: with Go installed, test/support/litestream.ts builds it.

const PRELOADS = `${import.meta.dir}/../../support/standby/preloads`
const WITHOUT_CHECK = `${PRELOADS}/without-check.ts`
const WITHOUT_COMPARISON = `${PRELOADS}/without-comparison.ts`
const KINDS = [
  'machine paused',
  'machine and disk lost',
  'killed again during a migration',
  'an older lease put back',
  'sgw lease give',
] as const
/** Two histories come last: what a person gives up is no longer compared. */
const AROUND = [
  'start without the lease',
  'late upload of a killed holder',
  'holder an hour ahead',
  'two histories, more in the file that goes',
] as const
const MAX_PAUSES = 8
const NOTHING_BROKEN: Partial<TakeoverCosts> = {
  lost: 0,
  twice: 0,
  outOfOrder: 0,
  stuck: 0,
  events: 0,
  gaps: 0,
  inboundMissing: 0,
  inboundTwice: 0,
  postedTwice: 0,
}

async function takeovers(kinds: readonly FaultKind[], preloads: readonly string[]): Promise<TakeoverCosts> {
  await using stub = new S3Stub({ pageSize: 1000 })
  await using seenByOther = new S3Stub(stub.behaviour, stub)
  await using drill = await Takeovers.start({
    environment: {},
    storages: [stub, seenByOther],
    roundTripMs: 5,
    connections: 8,
    preloads,
  })
  for (const kind of kinds) await FAULTS[kind](drill)
  return await drill.costs()
}

if (HAS_LITESTREAM) {
  test('no takeover under load loses, repeats or reorders what was accepted, or hides an event from a client who follows', async () => {
    const costs = await takeovers(KINDS, [])
    expect(costs).toMatchObject(NOTHING_BROKEN)
    expect(costs.accepted).toBeGreaterThan(0)
    expect(costs.posted).toBeGreaterThan(0)
  }, 240_000)

  test('what goes around the lease, or meets a wrong clock, loses nothing under load that nobody was told of', async () => {
    const costs = await takeovers(AROUND, [])
    expect(costs).toMatchObject(NOTHING_BROKEN)
    expect(costs.accepted).toBeGreaterThan(costs.givenUp)
    expect(costs.givenUp).toBeGreaterThan(0)
  }, 300_000)

  test('without a check of the lease after each upload a paused machine loses messages, which the drill sees', async () => {
    // A pause that comes between two uploads costs nothing, so there are several.
    let lost = 0
    for (let tries = 0; lost === 0 && tries < MAX_PAUSES; tries++)
      ({ lost } = await takeovers(['machine paused'], [WITHOUT_CHECK]))
    expect(lost).toBeGreaterThan(0)
  }, 240_000)

  test('a takeover that takes the copy it keeps ready, whatever that has, loses messages, which the drill sees', async () => {
    const { lost } = await takeovers(['lease given while the copy is behind'], [WITHOUT_COMPARISON])
    expect(lost).toBeGreaterThan(0)
  }, 240_000)
} else {
  test('a standby is refused with an older Litestream, and the message says which one to install', async () => {
    await using stub = new S3Stub()
    await using deployment = await Deployment.create({ ...stub.environment(), DURABILITY: 'replica', STANDBY: 'on' })
    const { code, stderr } = await deployment.enter({ RECONCILE_SETTLE: '30s' })
    expect({ code, stderr }).toEqual({ code: 78, stderr: expect.stringContaining('install 0.5.18 or later') })
  })
}
