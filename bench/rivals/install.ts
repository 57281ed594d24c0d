import { bullmq, installBullmq } from './bullmq.ts'
import { kannel } from './kannel.ts'

/** Installs packages of Debian and npm for `bun run bench --install-rivals`. Installed programs are not changed. */
export function installRivals(): void {
  const packages = [
    ...(kannel('file').missing() === null ? [] : ['kannel']),
    ...(Bun.which('redis-server') ? [] : ['redis-server']),
  ]
  if (packages.length > 0) {
    run(['apt-get', 'update', '-qq'])
    run(['apt-get', 'install', '-y', '-qq', '--no-install-recommends', ...packages])
  }
  if (bullmq.missing() !== null) installBullmq()
}

function run(command: string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  Bun.spawnSync(command, { env, stdout: 'inherit', stderr: 'inherit' })
}
