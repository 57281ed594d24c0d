import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { connectedServer } from '../server/connected-server.ts'
import { sgw, startServer, temporaryFolder } from '../support/process.ts'
import { FROM, until } from '../support/world.ts'

const COUNT = 400
const LIMITS = { FROM_LIMIT_PER_MINUTE: '100000', EXTENSION_LIMIT_PER_MINUTE: '100000' }

const FAILED = `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${COUNT - 1})
  INSERT INTO messages (id, job_id, tenant_id, app_id, direction, from_number, to_number, body, status, error, error_code, created_at, updated_at)
  SELECT printf('msg_%012x', i), printf('job_%016x', i), apps.tenant_id, apps.id, 'outbound', '+15555550777', printf('+1555556%04d', i), 'text ' || i, 'failed',
    'Message expired before it could be sent', 'expired', ?1 + i, ?1 + i FROM n CROSS JOIN apps WHERE apps.name = 'First app' RETURNING tenant_id`

/** Stores failed messages, and returns their tenant. */
function store(url: string): string {
  using database = new Database(url.replace('file:', ''))
  const [row] = database.query<{ tenant_id: string }, [number]>(FAILED).all(Date.now() - COUNT)
  return row?.tenant_id ?? ''
}

test('a gateway that is killed while it sends failed messages again sends each of them once after the restart', async () => {
  using folder = temporaryFolder()
  const { simulator, server, env, run } = await connectedServer(folder.database)
  const taken = (): (string | null)[] => simulator.control.messages({ direction: 'Outbound' }).map(({ text }) => text)
  try {
    server.kill('SIGTERM')
    await server.ended()
    const tenantId = store(folder.database)
    const again = ['messages', 'resend', '--failed-since', '1h', '--from', FROM, '--tenant', tenantId, '--yes']
    const killed = await startServer({ ...env, ...LIMITS, PORT: String(server.port) })
    const command = sgw(again, env)
    await until(() => taken().length > 0)
    killed.kill('SIGKILL')
    await killed.ended()
    await command
    expect(taken().length).toBeLessThan(COUNT)
    await using _next = await startServer({ ...env, ...LIMITS, PORT: String(server.port) })
    const { resent, left } = (await run(...again)) as unknown as { resent: number; left: { alreadyResent: number } }
    expect(resent + left.alreadyResent).toBe(COUNT)
    expect(left.alreadyResent).toBeGreaterThan(0)
    await until(() => taken().length >= COUNT, 60_000)
    expect(new Set(taken()).size).toBe(COUNT)
    expect(await run('messages', 'list', '--limit', '1', '--tenant', tenantId)).toMatchObject({ total: 2 * COUNT })
    expect(taken()).toHaveLength(COUNT)
  } finally {
    await simulator.stop()
  }
}, 120_000)
