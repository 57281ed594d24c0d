import { describe, expect, test } from 'bun:test'
import { Database } from 'bun:sqlite'
import { TortureStage } from '../../../bench/torture/stage.ts'
import { eventually } from '../../../bench/torture/program.ts'
import { contact, texts } from './conversations.ts'

const MESSAGES = 20
const WITHIN_MS = 20_000
/** Long enough that most messages are waiting when the process ends. */
const ANSWER_MS = 60

const ENDS: Record<string, (stage: TortureStage) => Promise<unknown>> = {
  SIGTERM: ({ gateway }) => gateway.terminate(),
  'kill -9': ({ gateway }) => gateway.kill(),
}

const record = async ({ control }: TortureStage): Promise<string[]> =>
  (await control.messages({ direction: 'Outbound' })).map(({ text }) => text ?? '')

/** Returns the contacts in the order in which their first attempts began. */
function begun({ databasePath }: TortureStage): string[] {
  using database = new Database(databasePath, { readonly: true })
  const sql = 'SELECT to_number AS contact FROM send_attempts GROUP BY message_id ORDER BY min(seq)'
  return database
    .query<{ contact: string }, []>(sql)
    .all()
    .map((row) => row.contact)
}

async function openStage(): Promise<TortureStage> {
  return TortureStage.open({ extensions: 1, env: { RECONCILE_SETTLE: '500ms', PROVIDER_TIMEOUT: '500ms' } })
}

/** Sends the messages, ends the process while some wait, restarts it, and waits until all are sent. */
async function restartAmid(
  stage: TortureStage,
  end: (stage: TortureStage) => Promise<unknown>,
  to: (n: number) => string,
): Promise<void> {
  await stage.control.fault({ route: 'sms', calls: null, fault: { kind: 'delay', ms: ANSWER_MS } })
  for (const [n, body] of texts(MESSAGES).entries()) {
    const response = await stage.call('POST', '/v1/sms/send', { from: stage.numbers[0], to: to(n), body })
    expect(response.status).toBe(202)
  }
  expect((await record(stage)).length).toBeLessThan(MESSAGES)
  await end(stage)
  await stage.gateway.start()
  await eventually('The rest', WITHIN_MS, async () => ((await record(stage)).length >= MESSAGES ? true : null))
  expect(await stage.drained()).not.toBeNull()
}

describe.each(Object.entries(ENDS))('%s and a restart', (_name, end) => {
  test('messages of one conversation are sent once and in the order of acceptance', async () => {
    await using stage = await openStage()
    await restartAmid(stage, end, () => contact(0))
    expect(await record(stage)).toEqual(texts(MESSAGES))
  }, 30_000)

  test('calls for 20 contacts of one number begin in the order of acceptance', async () => {
    await using stage = await openStage()
    // Without a refusal, all calls would begin at once.
    const headers = { 'Retry-After': '1' }
    await stage.control.fault({ route: 'sms', fault: { kind: 'respond', status: 429, headers } })
    await restartAmid(stage, end, contact)
    expect(begun(stage)).toEqual(texts(MESSAGES).map((_, n) => contact(n)))
    expect((await record(stage)).toSorted()).toEqual(texts(MESSAGES).toSorted())
  }, 30_000)
})
