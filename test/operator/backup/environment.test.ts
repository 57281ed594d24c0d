import { expect, test } from 'bun:test'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { authorityWarning } from '../../../src/operator/backup/settings.ts'
import { runSgw } from '../../support/cli.ts'
import { temporaryFolder } from '../../support/process.ts'

test('Litestream gets its own variables and those of its storage, and none of the gateway’s secrets', async () => {
  using folder = temporaryFolder()
  const program = folder.file('litestream')
  writeFileSync(program, `#!/bin/sh\nenv >> ${folder.file('seen')}\n`)
  chmodSync(program, 0o700)
  writeFileSync(folder.file('key'), 'storage-key-in-a-file')
  const given = {
    LITESTREAM_COMMAND: program,
    LITESTREAM_REPLICA_URL: `file://${folder.file('replica')}`,
    LITESTREAM_SECRET_ACCESS_KEY_FILE: folder.file('key'),
    AWS_PROFILE: 'backup',
    AZURE_CLIENT_ID: 'azure-client',
    GOOGLE_APPLICATION_CREDENTIALS: '/etc/google.json',
    https_proxy: 'http://proxy.example.com',
    SSL_CERT_FILE: '/etc/ca.pem',
  }
  const secrets = {
    ENCRYPTION_KEYS: crypto.getRandomValues(new Uint8Array(32)).toBase64(),
    RC_CLIENT_ID: 'client-of-ours',
    RC_CLIENT_SECRET: 'client-key-of-ours',
    ALERT_URL: 'https://chat.example.com/hook-of-ours',
    SOMETHING_ELSE: 'no-business-of-litestream',
    // Litestream would refuse to start.
    AWS_CA_BUNDLE: '/etc/aws-authorities.pem',
  }
  await runSgw(['restore', '--check'], { ...given, ...secrets, DATABASE_URL: folder.database })
  const seen = readFileSync(folder.file('seen'), 'utf8')
  const { LITESTREAM_SECRET_ACCESS_KEY_FILE: _file, ...passed } = given
  for (const [name, value] of Object.entries(passed)) expect(seen).toContain(`${name}=${value}`)
  expect(seen).toContain('LITESTREAM_SECRET_ACCESS_KEY=storage-key-in-a-file')
  expect(seen).toMatch(/^LITESTREAM_DATABASE=.*sgw\.db$/m)
  expect(seen).toMatch(/^PATH=/m)
  for (const [name, value] of Object.entries(secrets)) {
    expect(seen).not.toContain(name)
    expect(seen).not.toContain(value)
  }
})

test('a start with AWS_CA_BUNDLE alone is warned that the storage of the backup may not be trusted', () => {
  const warningFor = (values: Record<string, string>): string | null => authorityWarning({ values, readFile: () => '' })
  expect(warningFor({})).toBeNull()
  expect(warningFor({ AWS_CA_BUNDLE: '/etc/ca.pem' })).toContain('name the file in SSL_CERT_FILE')
  expect(warningFor({ AWS_CA_BUNDLE: '/etc/ca.pem', SSL_CERT_FILE: '/etc/ca.pem' })).toBeNull()
})
