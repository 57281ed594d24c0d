import { fillDisk, signalLitestream } from '../deployment.ts'
import { until } from '../world.ts'
import type { Takeovers } from './takeovers.ts'

// Takeovers from a holder that lives, but whose lease is worth nothing. Each resolves with the milliseconds until messages are accepted again.

/** Litestream is stopped, and continues after the takeover. */
export async function litestreamHangs(drill: Takeovers): Promise<number> {
  const { active } = await drill.roles()
  const [from, hung, { pid }] = [performance.now(), active.generation, active.deployment]
  signalLitestream(pid, 'SIGSTOP')
  const takenMs = await drill.acceptsAgain(from, hung)
  // It may have ended with its gateway.
  if (active.generation === hung) signalLitestream(pid, 'SIGCONT')
  return takenMs
}

export async function litestreamKilled(drill: Takeovers): Promise<number> {
  const { active } = await drill.roles()
  const [from, lost] = [performance.now(), active.generation]
  active.deployment.killLitestream()
  return drill.acceptsAgain(from, lost)
}

export async function diskFull(drill: Takeovers): Promise<number> {
  const { active } = await drill.roles()
  const [from, full] = [performance.now(), active.generation]
  fillDisk(active.deployment.pid)
  return drill.acceptsAgain(from, full)
}

/** The lease goes to the other gateway; then somebody puts back the version of the one before. */
export async function leasePutBack(drill: Takeovers): Promise<number> {
  const { active } = await drill.roles()
  const lease = leaseOf(active.deployment.env())
  const older = await lease.text()
  await active.deployment.command('lease', 'give')
  const later = await until(
    () => drill.roles().then((roles) => (roles.active === active ? null : roles.active)),
    60_000,
  )
  const [from, holder] = [performance.now(), later.generation]
  await lease.write(older)
  return drill.acceptsAgain(from, holder)
}

function leaseOf(env: Record<string, string>): Bun.S3File {
  const { hostname, pathname } = new URL(env['LITESTREAM_REPLICA_URL'] ?? '')
  const client = new Bun.S3Client({
    bucket: hostname,
    endpoint: env['LITESTREAM_ENDPOINT'] ?? '',
    region: env['LITESTREAM_REGION'] ?? '',
    accessKeyId: env['LITESTREAM_ACCESS_KEY_ID'] ?? '',
    secretAccessKey: env['LITESTREAM_SECRET_ACCESS_KEY'] ?? '',
  })
  return client.file(`${pathname.replace(/^\/+|\/+$/g, '')}/lease.json`)
}
