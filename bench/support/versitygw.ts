import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { goProgram } from '../../test/support/go-program.ts'
import { LoggedProgram, freePort } from '../../test/support/program.ts'
import { until } from '../../test/support/world.ts'

/** An independent S3 server over a folder, as the destination of a backup. */
export interface S3Server extends AsyncDisposable {
  /** The name in the table. */
  name: string
  /** The variables that an operator sets for a backup to this server. */
  environment: Record<string, string>
}

/** Returns null if Go is not installed. */
export async function startVersitygw(): Promise<S3Server | null> {
  const command = goProgram('github.com/versity/versitygw/cmd/versitygw@v1.8.0')
  if (command === null) return null
  const folder = mkdtempSync(join(tmpdir(), 'sgw-versitygw-'))
  // Each folder is a bucket.
  mkdirSync(join(folder, 'objects/backups'), { recursive: true })
  const port = freePort()
  const [access, secret] = ['bench', crypto.getRandomValues(new Uint8Array(30)).toBase64({ alphabet: 'base64url' })]
  const program = new LoggedProgram({
    command: [
      command,
      '--access',
      access,
      '--secret',
      secret,
      '--port',
      `127.0.0.1:${port}`,
      'posix',
      join(folder, 'objects'),
    ],
    env: {},
    cwd: folder,
    log: join(folder, 'log'),
  })
  const url = `http://127.0.0.1:${port}`
  await until(async () => (await fetch(url).catch(() => null)) !== null, 10_000)
  return {
    name: 's3 (versitygw)',
    environment: {
      LITESTREAM_REPLICA_URL: 's3://backups/sgw',
      LITESTREAM_ENDPOINT: url,
      LITESTREAM_REGION: 'us-east-1',
      LITESTREAM_ACCESS_KEY_ID: access,
      LITESTREAM_SECRET_ACCESS_KEY: secret,
    },
    async [Symbol.asyncDispose]() {
      await program.kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
