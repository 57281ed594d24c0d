import { join } from 'node:path'
import { controlSocketPath } from '../../src/operator/backup/settings.ts'

/** Replaces the control socket of a Litestream 0.5.18 that started 90 s ago, beside the `sgw.db` of a folder. */
export function controlSocket(folder: string): AsyncDisposable & { uploadedAt: number | null } {
  const startedAt = new Date(Date.now() - 90_000).toISOString()
  const litestream = {
    uploadedAt: Date.now() as number | null,
    [Symbol.asyncDispose]: () => server.stop(true),
  }
  const server = Bun.serve({
    unix: controlSocketPath(join(folder, 'sgw.db')),
    fetch: ({ url }) => {
      if (new URL(url).pathname === '/info') return Response.json({ started_at: startedAt })
      const { uploadedAt } = litestream
      const last = uploadedAt === null ? {} : { last_sync_at: new Date(uploadedAt).toISOString() }
      return Response.json({ databases: [{ path: 'sgw.db', status: 'replicating', ...last }] })
    },
  })
  return litestream
}
