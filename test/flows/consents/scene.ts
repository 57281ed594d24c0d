import { expect } from 'bun:test'
import type { NewConsent } from '../../../src/core/provider-changes.ts'
import { diagnose } from '../../../src/operator/doctor/diagnose.ts'
import { FROM, TO, type World } from '../../support/world.ts'
import { FaultCase } from '../fault-table/case.ts'
import { pass } from '../fault-table/passing-time.ts'

// RingCentral keeps who has opted out of the numbers of an account. What is changed there, this gateway learns from its list.

export const SECOND_MS = 1000
export const MINUTE_MS = 60 * SECOND_MS
export const HOUR_MS = 60 * MINUTE_MS
/** For hours that pass. Below the ten seconds in which a socket waits for its pong. */
export const STRIDE_MS = 5 * SECOND_MS
const MOST_OF_AN_HOUR_MS = 58 * MINUTE_MS
export const STRANGER = '+15555550142'

interface OptOut {
  number: string
  contact: string
  source: string
  since: string
}

export interface Scene extends AsyncDisposable {
  one: FaultCase
  world: World
  control: World['control']
  /** Minutes that pass one by one make hundreds of calls, which take long on a busy machine. A socket's pings do not wait for a jump. */
  mayJump: boolean
  /** The `opt_out` events, as `number contact in|out source`. */
  events: string[]
}

export async function openScene(
  consents: 'shown' | 'refused' | 'absent' = 'shown',
  events: 'webhook' | 'websocket' = 'webhook',
): Promise<Scene> {
  const one = await FaultCase.open({ env: { RC_EVENTS: events } })
  const { world } = one
  world.control.configure({ consents })
  const seen: string[] = []
  world.gateway.hub.subscribe((event) => {
    if (event.type !== 'opt_out') return
    seen.push(`${event.number} ${event.contact} ${event.optedOut ? 'out' : 'in'} ${event.source}`)
  })
  return {
    one,
    world,
    control: world.control,
    mayJump: events === 'webhook',
    events: seen,
    [Symbol.asyncDispose]: () => one[Symbol.asyncDispose](),
  }
}

export const searches = ({ control }: Scene): number => control.requests({ route: 'consents' }).length

/** Lets time pass until the whole list has been read once more. */
export async function untilRead(scene: Scene, withinMs = HOUR_MS + 2 * MINUTE_MS): Promise<void> {
  const before = searches(scene)
  const jumpMs = scene.mayJump && scene.one.openCalls === 0 && withinMs > HOUR_MS ? MOST_OF_AN_HOUR_MS : 0
  scene.one.clock.advance(jumpMs)
  // The list of those who are out, and that of those who are in again.
  await pass(scene.one, withinMs - jumpMs, () => (searches(scene) >= before + 2 ? true : null), STRIDE_MS)
  await pass(scene.one, MINUTE_MS, () => (scene.world.gateway.consents.answers().length > 0 ? true : null))
}

async function optOuts({ world }: Scene, key = world.key): Promise<OptOut[]> {
  return (await world.json<{ optOuts: OptOut[] }>('GET', '/v1/opt-outs?limit=100', { key })).body.optOuts
}

export const pairs = async (scene: Scene, key?: string): Promise<string[]> =>
  (await optOuts(scene, key)).map(({ number, contact, source }) => `${number} ${contact} ${source}`).toSorted()

/** A text comes in, so that there is a conversation. */
export async function textIn({ one, world, control }: Scene, from = TO, to = FROM, text = 'Hello'): Promise<void> {
  await control.injectSms({ from, to, text })
  const path = `/v1/sms/messages?direction=inbound&contact=${encodeURIComponent(from)}`
  await pass(one, MINUTE_MS, async () =>
    (await world.json<{ total: number }>('GET', path)).body.total > 0 ? true : null,
  )
}

export const setPolicy = ({ world }: Scene) => world.call('PUT', '/v1/opt-outs/policy', { body: { policy: 'block' } })

export const put = ({ world }: Scene, optedOut: boolean) =>
  world.call('PUT', '/v1/opt-outs', { body: { number: FROM, contact: TO, optedOut } })

/** What happens to a text. */
export async function sent({ one, world }: Scene, to = TO, from = FROM): Promise<unknown> {
  const id = await world.send({ to, from })
  const state = await pass(one, 5 * MINUTE_MS, async () => {
    const now = await world.status(id)
    return now['status'] === 'sent' || now['status'] === 'failed' ? now : null
  })
  return state['error'] ?? state['status']
}

/** The subscription to consents is made after the first list. */
export const refuseEvents = ({ control }: Scene): void =>
  control.fault({ route: 'subscription-create', calls: null, fault: { kind: 'respond', status: 403 } })

export const filtersOf = ({ control }: Scene): string[] =>
  control.subscriptions().flatMap(({ eventFilters }) => eventFilters.map((one) => one.slice(one.lastIndexOf('/') + 1)))

export const untilSubscribed = (scene: Scene): Promise<true> =>
  pass(scene.one, 5 * MINUTE_MS, () => (filtersOf(scene).includes('consents') ? true : null))

export const doctor = async ({ world }: Scene) =>
  (await diagnose(world.gateway)).find(({ check }) => check === 'consents')

export async function health({ world }: Scene): Promise<object[]> {
  return (await world.json<{ extensions: object[] }>('GET', '/v1/rc/extensions/health')).body.extensions
}

export async function storedContacts({ world }: Scene): Promise<string[]> {
  const { rows } = await world.gateway.database.gate.execute('SELECT contact FROM consents ORDER BY contact')
  return rows.map(({ contact }) => String(contact))
}

/** Connects an extension to a tenant, by default the first one, while the time stands still. */
export async function connectAlso({ world }: Scene, extensionId: string, tenant = world.app): Promise<void> {
  expect((await world.connect({ extensionId, tenantId: tenant.tenantId })).status).toBe(200)
}

export const out = (more: Partial<NewConsent> = {}): NewConsent => ({ from: FROM, to: TO, ...more })

export const PAIR = `${FROM} ${TO}`
