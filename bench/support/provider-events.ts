import { Database } from 'bun:sqlite'
import { createSecrets } from '../../src/core/secrets.ts'
import { Stage, type StageOptions } from '../torture/stage.ts'

const TOKEN = 'a-verification-token-of-this-bench'
const EXTENSION = '629890016'
const FIRST_ID = 3_062_991_000_000

/** A stage whose provider events the bench can make itself: the real token is a secret between gateway and provider. */
export async function openEventStage(options: StageOptions = {}): Promise<Stage> {
  const key = crypto.getRandomValues(new Uint8Array(32))
  const env = { ...options.env, ENCRYPTION_KEYS: key.toBase64() }
  const stage = await Stage.open({ extensions: 1, numbersPerExtension: 1, ...options, env })
  using database = new Database(stage.databasePath)
  database.run('PRAGMA busy_timeout = 5000')
  database.run(
    `INSERT INTO subscriptions (id, tenant_id, extension_id, provider_id, token_hash, status, created_at)
      SELECT 'sub_bench', tenant_id, '${EXTENSION}', 'bench', ?1, 'active', 0 FROM apps LIMIT 1`,
    [createSecrets([key]).hash(TOKEN)],
  )
  return stage
}

/** Numbers for events that nobody has seen yet. */
export class EventIds {
  #next = FIRST_ID

  take(count: number): number[] {
    this.#next += count
    return Array.from({ length: count }, (_, index) => this.#next - count + index)
  }
}

/** The whole HTTP request of an event, as the platform POSTs it. */
export function eventRequest(id: number, path = '/v1/webhooks/provider'): string {
  const body = eventBody(id)
  return [
    `POST ${path} HTTP/1.1`,
    'Host: gateway',
    `Verification-Token: ${TOKEN}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    `\r\n${body}`,
  ].join('\r\n')
}

const eventBody = (id: number): string =>
  JSON.stringify({
    uuid: String(id),
    event: `/restapi/v1.0/account/809640016/extension/${EXTENSION}/message-store/instant?type=SMS`,
    timestamp: '2026-11-21T02:31:45.034Z',
    subscriptionId: 'bench',
    ownerId: EXTENSION,
    body: {
      id: String(id),
      to: [{ phoneNumber: '+15555550100', name: 'Alice', target: true }],
      from: {
        phoneNumber: '+15555550123',
        phoneNumberInfo: { countryCode: '1', nationalDestinationCode: '555', subscriberNumber: '5550123' },
      },
      type: 'SMS',
      creationTime: '2026-11-21T02:31:45.028Z',
      direction: 'Inbound',
      subject: `Message ${id}, of an ordinary length, as people send them every day.`,
      messageStatus: 'Received',
      eventType: 'Create',
    },
  })
