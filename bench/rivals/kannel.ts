import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toContestantCore } from '../support/cores.ts'
import { freePort } from '../../test/support/program.ts'
import { eventually } from '../torture/program.ts'
import { type Contestant, type Message, requests } from './contestant.ts'
import { type Process, listening, startProcess } from './process.ts'

const START_MS = 10_000
/** Calls that wait for the provider's answer. Kannel's default is 10. */
const PENDING = 512

/** Debian's Kannel 1.4: bearerbox and smsbox, with an HTTP SMSC. Its stores write without a flush. */
export const kannel = (store: 'file' | 'spool'): Contestant => ({
  name: `Kannel, ${store} store`,
  missing: () => (Bun.which('bearerbox') && Bun.which('smsbox') ? null : 'apt-get install kannel'),
  async start({ provider, env }) {
    await using started = new AsyncDisposableStack()
    const folder = mkdtempSync(join(tmpdir(), 'sgw-bench-kannel-'))
    started.defer(() => rmSync(folder, { recursive: true, force: true }))
    const ports = { admin: freePort(), boxes: freePort(), smsc: freePort(), http: freePort() }
    const pids = await startBoxes(started, folder, { store, ports, providerUrl: provider.url, env })
    const ended = started.move()
    return {
      port: ports.http,
      pids,
      request: requests(sendRequest),
      stored: async () => Number(/<sms>.*?<sent><total>(\d+)/s.exec(await status(ports.admin))?.[1] ?? 0),
      [Symbol.asyncDispose]: () => ended.disposeAsync(),
    }
  },
})

interface Ports {
  admin: number
  boxes: number
  smsc: number
  http: number
}

interface Settings {
  store: 'file' | 'spool'
  ports: Ports
  providerUrl: string
  env: Record<string, string>
}

/** Starts bearerbox first, because smsbox connects to it. Returns their pids. */
async function startBoxes(started: AsyncDisposableStack, cwd: string, settings: Settings): Promise<number[]> {
  const { ports, env } = settings
  const path = join(cwd, 'kannel.conf')
  const location = join(cwd, 'store')
  if (settings.store === 'spool') mkdirSync(location)
  writeFileSync(path, configuration(settings, location))
  const start = (box: string): Process => {
    const child = startProcess([box, path], { cwd, env })
    started.defer(() => child.end())
    return child
  }
  const bearerbox = start('bearerbox')
  await eventually('The start of bearerbox', START_MS, () => listening(ports.boxes))
  const smsbox = start('smsbox')
  await eventually('The start of smsbox', START_MS, async () =>
    (await listening(ports.http)) && (await status(ports.admin)).includes('<type>smsbox</type>') ? true : null,
  )
  for (const { pid } of [bearerbox, smsbox]) toContestantCore(pid)
  return [bearerbox.pid, smsbox.pid]
}

const status = async (port: number): Promise<string> =>
  (await fetch(`http://127.0.0.1:${port}/status.xml?password=bench`)).text()

const sendRequest = ({ from, to, body }: Message): string => {
  const query = new URLSearchParams({ username: 'bench', password: 'bench', from, to, text: body })
  return `GET /cgi-bin/sendsms?${query.toString()} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`
}

const configuration = ({ store, ports, providerUrl }: Settings, location: string): string => `
group = core
admin-port = ${ports.admin}
admin-password = bench
admin-allow-ip = "127.0.0.1"
smsbox-port = ${ports.boxes}
box-allow-ip = "127.0.0.1"
store-type = ${store}
store-location = "${location}"
log-level = 4

group = smsc
smsc = http
smsc-id = provider
system-type = generic
send-url = "${providerUrl}/send?to=%p&from=%P&text=%b"
port = ${ports.smsc}
connect-allow-ip = "127.0.0.1"
status-success-regex = "Queued"
max-pending-submits = ${PENDING}

group = smsbox
bearerbox-host = 127.0.0.1
sendsms-port = ${ports.http}
sendsms-chars = "0123456789+"
log-level = 4

group = sendsms-user
username = bench
password = bench
max-messages = 5
concatenation = true
`
