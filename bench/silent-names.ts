import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Bench, Row } from './bench.ts'

/** For `sh -c`. Arguments: the file for /etc/resolv.conf, then the program and its arguments. */
const IN_NETWORK = 'ip link set lo up && mount --bind "$1" /etc/resolv.conf && shift && exec "$@"'
const LEAST_RIGHTS = ['unshare', '--map-root-user', '--mount', '--net', 'sh', '-c', IN_NETWORK, 'sh']

export const silentNames: Bench = { name: 'silent names', run: runSilentNames }

/**
 * One tenant's webhooks go to 100 names for which the DNS server sends no answer. The bench measures the effect on another
 * tenant, with names resolved by getaddrinfo as in release 1.0, and as the gateway resolves them now. Each case runs in a
 * network of its own whose only DNS server is silent. This needs Linux with user namespaces (`unshare`) and `ip`.
 */
async function runSilentNames(): Promise<Row[]> {
  return [...(await rowsOf('getaddrinfo')), ...(await rowsOf('gateway'))]
}

async function rowsOf(resolver: string): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'sgw-bench-'))
  try {
    const settings = join(folder, 'resolv.conf')
    writeFileSync(settings, 'nameserver 127.0.0.1\n')
    const program = join(import.meta.dir, 'support/silent-names.ts')
    const command = [...LEAST_RIGHTS, settings, process.execPath, program, resolver]
    const child = Bun.spawn(command, { stdout: 'pipe', stderr: 'inherit' })
    const text = await new Response(child.stdout).text()
    if ((await child.exited) !== 0) throw new Error('Cannot measure silent names: unshare, ip or the program failed')
    return JSON.parse(text) as Row[]
  } finally {
    rmSync(folder, { recursive: true })
  }
}
