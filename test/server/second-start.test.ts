import { expect, test } from 'bun:test'
import { runGateway } from '../../src/server/run.ts'
import { createWorld, recordedLog } from '../support/world.ts'

for (const start of ['development', 'production without ENCRYPTION_KEYS'])
  test(`a second start waits for the process that uses the database, and names it: ${start}`, async () => {
    const env = { NODE_ENV: 'production', HOST: '127.0.0.1', PUBLIC_URL: '', ENCRYPTION_KEYS: '' }
    await using world = await createWorld(start === 'development' ? {} : { env })
    const { log, lines } = recordedLog()
    const second = runGateway({ config: world.gateway.config, log, lockWaitMs: 1 })
    expect(await second.catch(({ message }: Error) => message)).toContain(`(pid ${process.pid})`)
    const waits = lines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ msg }) => /waiting/.test(String(msg)))
    expect(waits).toMatchObject([
      { level: 'warn', pid: process.pid, msg: 'another process uses the database: waiting for it to end' },
    ])
  })
