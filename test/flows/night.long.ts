import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { untilDrained } from '../support/backup-loss.ts'
import { Deployment, NUMBER } from '../support/deployment.ts'
import { finished } from '../support/program.ts'
import { until } from '../support/world.ts'

interface StoredMessage {
  messageId: string
  text: string
}

/** Runs a self-hosted gateway through one night, with real processes, the real Litestream and a lost volume. */
test('no message is lost or sent twice over deployment, kill -9, loss of the volume, restore, upgrade and stop', async () => {
  await using receiver = webhookReceiver()
  await using deployment = await Deployment.create()
  await deployment.start()
  await deployment.connect(receiver.url)

  const evening = await traffic(deployment, 'evening')
  await untilDrained(deployment)
  await Bun.sleep(SYNCED_MS)

  // All processes are killed while messages are under way, and the machine is lost.
  const midnight = traffic(deployment, 'midnight')
  await until(async () => (await atProvider(deployment)).some(({ text }) => text.startsWith('midnight')))
  await deployment.crash(true)
  const acknowledged = [...evening.acknowledged, ...(await midnight).acknowledged]
  deployment.loseVolume()
  const missed = await inject(deployment, 'while it was down')

  await deployment.start({ REQUIRE_RESTORE: '1' })
  expect(deployment.output()).toContain('restored from a backup')
  await untilDrained(deployment)
  await expectNothingTwice(deployment)
  for (const { messageId } of evening.acknowledged) expect(await statusOf(deployment, messageId)).toBe('sent')

  // An upgrade: another build of the program starts and finishes the waiting messages.
  await deployment.stop()
  const folder = mkdtempSync(join(tmpdir(), 'sgw-upgrade-'))
  try {
    expect((await finished([process.execPath, 'scripts/build.ts', '--out', folder], {})).code).toBe(0)
    deployment.install([join(folder, 'sgw')])
    await deployment.start()
    const morning = await traffic(deployment, 'morning')
    acknowledged.push(...morning.acknowledged)
    await untilDrained(deployment)

    // Every inbound message is stored once, and each delivery has one id.
    const injected = [...evening.injected, ...(await midnight).injected, ...morning.injected, missed]
    const stored = await until(async () => {
      const ids = await inboundIds(deployment)
      return ids.length >= injected.length ? ids : null
    }, 10_000)
    expect(stored.toSorted()).toEqual(injected.toSorted())
    await until(() => receiver.ids.size >= injected.length)
    expect(receiver.ids.size).toBe(injected.length)

    await expectNothingTwice(deployment)
    await deployment.stop()
    const total = await deployment.command<{ ok: boolean; rows: number }>('restore', '--check')
    expect(total.ok).toBe(true)
    expect(total.rows).toBe(
      await deployment.command<{ restored: boolean }>('restore').then(() => countRows(deployment)),
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}, 90_000)

/** Long enough for a copy, because Litestream copies once a second. */
const SYNCED_MS = 2500

const MESSAGES = 30

interface Traffic {
  acknowledged: StoredMessage[]
  /** Provider ids of inbound messages. */
  injected: string[]
}

/** Sends and receives in parallel. Requests without an answer, because the gateway was killed, are not counted. */
async function traffic(deployment: Deployment, name: string): Promise<Traffic> {
  const seen: Traffic = { acknowledged: [], injected: [] }
  const one = async (number: number): Promise<void> => {
    const text = `${name} ${number}`
    const response = await deployment
      .call('POST', '/v1/sms/send', { from: NUMBER, to: '+15557770001', body: text })
      .catch(() => null)
    const answer = (await response?.json().catch(() => null)) as { messageId: string } | null
    if (response?.status === 202 && answer !== null) seen.acknowledged.push({ messageId: answer.messageId, text })
    if (number % 3 === 0) seen.injected.push(await inject(deployment, text))
  }
  for (let number = 0; number < MESSAGES; number += 3)
    await Promise.all([one(number), one(number + 1), one(number + 2)])
  return seen
}

async function inject(deployment: Deployment, text: string): Promise<string> {
  const sms = { from: '+15558880001', to: NUMBER, text }
  return (await deployment.simulator.control<{ messageId: string }>('injectSms', sms)).messageId
}

const atProvider = (deployment: Deployment): Promise<StoredMessage[]> =>
  deployment.simulator.control('messages', { direction: 'Outbound', limit: 100_000 })

/** Every text is used once, so a text that the provider has twice was sent twice. */
async function expectNothingTwice(deployment: Deployment): Promise<void> {
  const texts = (await atProvider(deployment)).map(({ text }) => text)
  expect(texts.length).toBe(new Set(texts).size)
}

async function statusOf(deployment: Deployment, messageId: string): Promise<string> {
  const response = await deployment.call('GET', `/v1/sms/status/${messageId}`)
  return ((await response.json()) as { status: string }).status
}

interface MessagePage {
  messages: { rcMessageId: string }[]
  total: number
}

async function inboundIds(deployment: Deployment): Promise<string[]> {
  const response = await deployment.call('GET', '/v1/sms/messages?direction=inbound&limit=100')
  return ((await response.json()) as MessagePage).messages.map((message) => message.rcMessageId)
}

/** Reads the file, because no server runs. */
async function countRows(deployment: Deployment): Promise<number> {
  const { Database } = await import('bun:sqlite')
  const database = new Database(deployment.database)
  try {
    return database.query<{ count: number }, []>('SELECT count(*) AS count FROM messages').get()?.count ?? -1
  } finally {
    database.close()
  }
}

function webhookReceiver() {
  const ids = new Set<string>()
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => {
      ids.add(request.headers.get('webhook-id') ?? '')
      return new Response(null)
    },
  })
  return { ids, url: `http://127.0.0.1:${server.port}/hook`, [Symbol.asyncDispose]: () => server.stop(true) }
}
