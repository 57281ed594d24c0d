import type { World } from './world.ts'

/** How texts failed: why, from which number, and when the newest did. */
interface Failure {
  code: string
  text: string
  from: string
  agoMs?: number
}

/** Texts that failed, each to a contact of its own: the first of them the newest. */
export async function addFailed(
  { gateway, tenantId, app }: World,
  count: number,
  { code, text, from, agoMs = 0 }: Failure,
): Promise<void> {
  for (let index = 0; index < count; index++) {
    const at = gateway.clock.now() - agoMs - index * 47_000
    const to = `+1503555${String(1100 + index)}`
    await gateway.database.gate.execute({
      sql: `INSERT INTO messages (id, job_id, tenant_id, app_id, direction, from_number, to_number, body, status, error, error_code, created_at, updated_at)
        SELECT 'msg_' || lower(hex(randomblob(6))), 'job_0', ?1, ?2, 'outbound', ?3, ?4, ?5, 'failed', ?6, ?7, ?8, ?8`,
      args: [tenantId, app.appId, from, to, 'We have an earlier time: today at 16:30. Reply YES.', text, code, at],
    })
  }
}
