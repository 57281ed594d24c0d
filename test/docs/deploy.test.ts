import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROJECT } from '../support/program.ts'

const read = (path: string): string => readFileSync(join(PROJECT, path), 'utf8')

/** Folders that a page or a file names as the location of a backup. */
const namedIn = (path: string): string[] =>
  [...read(path).matchAll(/file:\/\/(\/(?!FOLDER)[\w/]+)/g)].map(([, folder = '']) => folder)

test('every folder that is named for a backup is writable under the systemd unit or in Compose', () => {
  const underUnit = /^ReadWritePaths=-(\S+)$/m.exec(read('deploy/sgw.service'))?.[1] ?? 'none'
  const inCompose = /\$\{SGW_BACKUPS:-backups\}:(\/\w+)/.exec(read('compose.yaml'))?.[1] ?? 'none'
  const named = ['docs/backup.md', 'docs/install.md', '.env.example', 'compose.yaml', 'deploy/sgw.service'].flatMap(
    namedIn,
  )
  expect(named).toContain(underUnit)
  expect(named).toContain(`${inCompose}/sgw`)
  expect(named.filter((folder) => folder !== underUnit && folder !== `${inCompose}/sgw`)).toEqual([])
})

test('the systemd unit takes from the service what it does not need, and nothing that it does', () => {
  const unit = read('deploy/sgw.service')
  const set = new Map([...unit.matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]))
  const on =
    'NoNewPrivileges PrivateTmp PrivateDevices PrivateMounts ProtectHome ProtectClock ProtectHostname ProtectKernelLogs ' +
    'ProtectKernelTunables ProtectKernelModules ProtectControlGroups RestrictNamespaces RestrictRealtime RestrictSUIDSGID ' +
    'LockPersonality RemoveIPC'
  for (const name of on.split(' ')) expect([name, set.get(name)]).toEqual([name, 'true'])
  expect(Object.fromEntries(set)).toMatchObject({
    UMask: '0077',
    CapabilityBoundingSet: '',
    ProtectSystem: 'strict',
    ProtectProc: 'invisible',
    SystemCallArchitectures: 'native',
    SystemCallFilter: '@system-service',
    SystemCallErrorNumber: 'EPERM',
  })
  // Without netlink the addresses of this machine cannot be listed, and a webhook to the gateway's own port was a 500.
  expect(set.get('RestrictAddressFamilies')?.split(' ')).toContain('AF_NETLINK')
  // Bun compiles while it runs.
  expect(set.has('MemoryDenyWriteExecute')).toBe(false)
})

test("the image's folders belong to its user, so that volumes mounted over them do, too", () => {
  const dockerfile = read('Dockerfile')
  expect(dockerfile).toMatch(/mkdir \/data \/backups && chown bun:bun \/data \/backups/)
  expect(dockerfile.indexOf('chown bun:bun')).toBeLessThan(dockerfile.indexOf('USER bun'))
})

test('the manual, the image and the tests use the same Litestream', () => {
  const version = /litestream@v([\d.]+)/.exec(read('test/support/litestream.ts'))?.[1] ?? ''
  expect(read('Dockerfile')).toContain(`FROM docker.io/litestream/litestream:${version} `)
  expect(read('docs/install.md')).toContain(`litestream-${version}-linux-x86_64.tar.gz`)
  expect(read('docs/backup.md')).toContain(`Litestream ${version} or later`)
})

interface Compose {
  services: Record<
    string,
    { logging?: { driver: string; options: Record<string, string> }; healthcheck?: Record<string, unknown> }
  >
}

test('Compose bounds the log of every service, and passes the commit to the image, which says what it was built from', () => {
  const { services } = Bun.YAML.parse(read('compose.yaml')) as Compose
  for (const [name, { logging }] of Object.entries(services))
    expect([name, logging?.driver, Object.keys(logging?.options ?? {})]).toEqual([
      name,
      'json-file',
      ['max-size', 'max-file'],
    ])
  expect(services).toMatchObject({ sgw: { build: { args: { COMMIT: '${COMMIT:-}' } }, image: '${SGW_IMAGE:-sgw}' } })
  const [, , final = ''] = read('Dockerfile')
    .split(/^FROM /m)
    .slice(1)
  for (const name of ['COMMIT', 'VERSION']) expect(final).toContain(`ARG ${name}=`)
  expect(final).toContain('org.opencontainers.image.revision="$COMMIT"')
  expect(final).toContain('org.opencontainers.image.version="$VERSION"')
})

test('Compose has the health check of the image, which an image in OCI format loses', () => {
  const { services } = Bun.YAML.parse(read('compose.yaml')) as Compose
  const [, interval, timeout, period, command = ''] =
    /^HEALTHCHECK --interval=(\S+) --timeout=(\S+) --start-period=(\S+) CMD (.*)$/m.exec(read('Dockerfile')) ?? []
  expect(services['sgw']?.healthcheck).toEqual({
    test: ['CMD', ...(JSON.parse(command) as string[])],
    interval,
    timeout,
    start_period: period,
  })
})
